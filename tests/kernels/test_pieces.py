"""Parts of the kernels one by one: which rows, which groups, which packing, and where a line stands for thresholds."""

from __future__ import annotations

import numpy as np
import pytest

from refdp.data import kernels
from refdp.data.kernels import GRID, BinSums, encode_ordered

LONG = (1 << 17) + 3  # one chunk and three rows


def test_equally_spaced_thresholds_are_a_line() -> None:
    """Slope 1/step and shift 2 - first/step: about i + 2 at threshold i."""
    assert kernels._line(np.array([3.0, 5.0, 7.0, 9.0])) == (0.5, 0.5)
    assert kernels._line(np.array([-1.0, -0.75])) == (4.0, 6.0)
    assert kernels._line(np.array([10.0, 12.0, 14.0])) == (0.5, -3.0)
    for none in ([], [1.0], [1.0, 2.0, 4.0], [0.0, 1.0, 1.99], [2.0, 1.0], [0.0, 5e-324], [0.0, np.inf]):
        assert kernels._line(np.array(none)) is None, none
    assert kernels._line(np.array([0.0, 1.0 + 2.0**-22, 2.0])) == (1.0, 2.0)  # nearer than is looked at twice
    assert kernels._line(np.array([0.0, 1.0 + 2.0**-19, 2.0])) is None


@pytest.mark.parametrize("thresholds", [[0.1, 0.2, 0.30000000000000004], np.arange(254.0), np.arange(255.0), [7.0], []])
def test_codes_by_a_line_are_those_of_comparisons(thresholds: list[float]) -> None:
    """On, just below and just above each threshold, far outside and missing; more than are handled at once."""
    cuts = np.asarray(thresholds, dtype=float)
    near = np.concatenate([cuts, np.nextafter(cuts, -9e9), np.nextafter(cuts, 9e9), [-1e300, 1e300, np.nan, np.inf,
                           -np.inf, 0.0]])  # fmt: skip
    values = np.resize(near, (1 << 14) + 5)
    expected = np.where(np.isnan(values), 0, 1 + (cuts[:, None] <= values).sum(axis=0))
    for column in (values, near):
        found = encode_ordered(column, cuts)
        np.testing.assert_array_equal(found, expected[: len(column)])
        assert found.dtype == (np.uint8 if len(cuts) <= 254 else np.uint16)


def test_features_are_joined_while_their_cells_are_few() -> None:
    """At most rows // 16 joint cells, and 2048."""

    def groups(bins: list[int], rows: int) -> list[tuple[int, ...]]:
        made = BinSums.prepare(np.zeros((len(bins), rows), dtype=np.uint8), kernels.bin_offsets(bins))
        assert made.total_bins == sum(bins)
        return [group.bins for group in made.groups]

    assert groups([3, 4, 5, 50], 960) == [(3, 4, 5), (50,)]
    assert groups([3, 4, 5, 50], 959) == [(3, 4), (5,), (50,)]
    assert groups([50, 2, 2], 64) == [(50,), (2, 2)] and groups([50, 2, 2], 63) == [(50,), (2,), (2,)]
    assert groups([2] * 12, 1 << 16) == [(2,) * 11, (2,)]
    assert groups([2048, 1, 3], 1 << 16) == [(2048, 1), (3,)] and groups([2049, 1], 1 << 16) == [(2049,), (1,)]


def test_a_group_is_one_feature_in_mixed_radix() -> None:
    codes = np.stack([np.arange(LONG) % size for size in (7, 2, 3, 5)]).astype(np.uint8)
    group = kernels._Group.join(codes, 1, (2, 3, 5))
    np.testing.assert_array_equal(group.codes, (codes[1].astype(int) * 3 + codes[2]) * 5 + codes[3])
    assert group.size == 30 and kernels._Group.join(codes, 2, (3,)).codes.base is codes
    weights = np.arange(LONG, dtype=float)
    slot = (np.arange(LONG) % 2).astype(np.int64)
    rows = kernels._Rows(slice(5, 1000), None, slot[5:1000])
    each = kernels._Pass((0,), weights[5:1000])
    (found,) = group.sums(rows, 2, kernels._starts(rows.slot, 2, 30), [each])
    expected = np.zeros((2, 10))
    for row in range(5, 1000):
        for offset, feature in ((0, 1), (2, 2), (5, 3)):
            expected[slot[row], offset + codes[feature, row]] += weights[row]
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("shift", [0, 1])
def test_rows_of_wanted_nodes_go_to_their_slots(shift: int) -> None:
    generator = np.random.default_rng(1)
    for nodes, chosen in ((4, [0, 1, 2, 3]), (4, [1, 2]), (4, [3]), (80, list(range(0, 80, 2))), (4, [0, 3])):
        wanted = np.isin(np.arange(nodes), chosen)
        for node in (generator.integers(-1, nodes, LONG), np.full(LONG, chosen[-1]), np.full(LONG, -1)):
            found = np.full(LONG, -1)
            for rows in kernels._selections(wanted, shift, node):
                np.testing.assert_array_equal(rows.of(node) >> shift, rows.slot)
                found[rows.of(np.arange(LONG))] = rows.slot
            np.testing.assert_array_equal(found, np.where(np.isin(node, chosen), node >> shift, -1))


def test_starts_of_cells_are_narrow_while_they_fit() -> None:
    slot = np.array([0, 1, 1, 0])
    assert kernels._starts(slot, 1, 9) is None
    for slots, size, kind in ((2, 1 << 15, np.uint16), (2, (1 << 15) + 1, np.intp), (4, 1 << 14, np.uint16)):
        found = kernels._starts(slot, slots, size)
        assert found is not None and found.dtype == kind and found.tolist() == [0, size, size, 0]


def test_a_value_and_a_count_are_one_integer_while_they_fit() -> None:
    """2^shift + x / GRID; 2^shift is above twice the largest possible sum."""
    for values in ([1.0, -2.5, 0.0], [3 * GRID, -GRID], [2.0**27 - 1, 1.0]):
        weights, shift = kernels._packed(np.array(values))
        most = int(len(values) * max(map(abs, values)) / GRID)
        assert shift == most.bit_length() + 1
        assert weights.tolist() == [2**shift + int(x / GRID) for x in values]
        total = np.zeros((2, 1))
        kernels._Pass((0, 1), weights, shift).add_to(total, np.array([weights.sum()]))
        kernels._Pass((0, 1), weights, shift).add_to(total, np.array([weights[-1]]))
        assert total.tolist() == [[sum(values) + values[-1]], [len(values) + 1]]
    for off in ([0.5 * GRID], [2.0**27], [1e300], [1.0, np.nextafter(1.0, 2)]):
        assert kernels._packed(np.array(off))[1] == 0, off
    for rows, shift in ((1 << 12, 0), (1 << 4, 24 + 27 + 4 + 1)):  # 13 + 65 bits are too many, 5 + 56 are not
        assert kernels._packed(np.full(rows, 2.0**27 - 1))[1] == shift


def test_statistics_share_passes() -> None:
    a, b, c = np.array([0.1, 0.2]), np.array([1.0, 2.0]), np.array([3.0, 5.0])

    def passes(*stats: object) -> list[tuple[tuple[int, ...], str, bool]]:
        return [(one.stats, one.weights.dtype.kind, one.shift > 0) for one in kernels._passes(stats, 2)]  # type: ignore[arg-type]

    assert passes(None) == [((0,), "i", False)] and passes(b) == [((0,), "f", False)]
    assert passes(None, b) == [((1, 0), "i", True)] and passes(a, None) == [((0,), "f", False), ((1,), "i", False)]
    assert passes(a, b) == [((0, 1), "c", False)] and passes(a, b, c) == [((0, 1), "c", False), ((2,), "f", False)]
    assert passes(b, None, a, c, None) == [((0, 1), "i", True), ((2, 3), "c", False), ((4,), "i", False)]
    both = kernels._passes([a, b], 2)[0].weights
    assert both.tolist() == [0.1 + 1j, 0.2 + 2j]
    total = np.zeros((2, 2))
    kernels._passes([a, b], 2)[0].add_to(total, both)
    assert total.tolist() == [[0.1, 0.2], [1.0, 2.0]]


def test_rows_are_handled_in_chunks() -> None:
    size = 1 << 17
    assert list(kernels._chunks(0)) == [] and list(kernels._chunks(1)) == [slice(0, 1)]
    assert list(kernels._chunks(2 * size + 1)) == [slice(0, size), slice(size, 2 * size), slice(2 * size, 2 * size + 1)]


@pytest.mark.parametrize("depth", [1, 2, 5, 6, 7])
def test_leaves_are_those_of_a_walk(depth: int) -> None:
    generator = np.random.default_rng(depth)
    inner, rows = 2**depth - 1, 200
    codes = np.stack([generator.integers(0, size, rows) for size in (4, 7, 3)]).astype(np.uint8)
    feature = generator.integers(0, 3, inner)
    code = generator.integers(0, 4, inner)
    categorical = np.array([False, False, True])[feature]
    expected = []
    for row in codes.T:
        node = 0
        for _ in range(depth):
            own, bound = row[feature[node]], code[node]
            right = own == bound and own > 0 if categorical[node] else own > bound
            node = 2 * node + 1 + bool(right)
        expected.append(node - inner)
    found = kernels.leaf_index(codes, feature, code, categorical, depth)
    assert found.tolist() == expected and found.dtype == (np.uint8 if depth <= 5 else np.int32)
    level = np.zeros(rows, dtype=np.int32)
    level[::7] = -1
    for above in range(depth):
        part = slice(2**above - 1, 2 ** (above + 1) - 1)
        level = kernels.route(codes, level, feature[part], code[part], categorical[part])
    assert level.tolist() == [-1 if k % 7 == 0 else leaf for k, leaf in enumerate(expected)]
