"""The array kernels against one-row-at-a-time references in rational numbers, and mistakes that must be caught."""

from __future__ import annotations

import math
import tracemalloc
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from types import ModuleType
from typing import Any

import kernel_reference as reference
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from refdp.data import kernels

SMALL_CHUNKS = ("_CHUNK = 1 << 17", "_CHUNK = 7")
ALWAYS_JOINT = ("codes.shape[1] // 16", "codes.shape[1] * 1000")
ALWAYS_FOLLOWED = ("_SELECTED_DEPTH = 5", "_SELECTED_DEPTH = 0")
VARIANTS = {
    "as shipped": kernels,
    "small chunks": reference.variant(SMALL_CHUNKS),
    "joint": reference.variant(ALWAYS_JOINT),
    "joint, small chunks": reference.variant(SMALL_CHUNKS, ALWAYS_JOINT),
    "every row followed, small chunks": reference.variant(SMALL_CHUNKS, ALWAYS_FOLLOWED),
}
every_variant = pytest.mark.parametrize("module", VARIANTS.values(), ids=VARIANTS.keys())


@dataclass(frozen=True)
class Case:
    """A small problem: codes (feature, row), the bins of each feature, a node for each row, and two statistics."""

    bins: list[int]
    codes: list[list[int]]
    node: list[int]
    nodes: int
    stats: list[Any]

    def arrays(self) -> tuple[Any, Any, Any, int, list[Any]]:
        stats = [None if stat is None else np.array(stat) for stat in self.stats]
        codes = np.array(self.codes, dtype=np.uint8)
        return codes, kernels.bin_offsets(self.bins), np.array(self.node, dtype=np.int32), self.nodes, stats


@st.composite
def cases(draw: Callable[..., Any]) -> Case:
    rows, bins = draw(st.integers(1, 40)), draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    seed, scale = draw(st.integers(0, 2**32 - 1)), draw(st.sampled_from([0.0, 2.0**-24, 1.0, 512.0]))
    nodes = draw(st.sampled_from([2, 4, 8]))
    rng = np.random.default_rng(seed)
    codes = [rng.integers(0, size, rows).tolist() for size in bins]
    on_grid = (np.rint(rng.uniform(-1, 1, rows) * 2**24) / 2**24 * scale).tolist()
    other = rng.uniform(0, 1, rows).round(3).tolist() if draw(st.booleans()) else [0.5] * rows
    stats = draw(st.permutations([on_grid, None, [round(x * 2**24) / 2**24 for x in other]]))
    return Case(bins, codes, rng.integers(-3, nodes, rows).tolist(), nodes, stats[: draw(st.integers(1, 3))])


def as_fractions(sums: Any) -> Any:
    return [as_fractions(entry) for entry in sums] if getattr(sums, "ndim", 0) else Fraction(float(sums))


def check_bin_sums(module: ModuleType, case: Case) -> None:
    codes, offsets, node, nodes, stats = case.arrays()
    expected = reference.bin_sums(case.codes, case.bins, case.node, nodes, case.stats)
    assert as_fractions(module.bin_sums(codes, offsets, node, nodes, stats)) == expected


def check_subtraction(module: ModuleType, case: Case) -> None:
    codes, offsets, node, nodes, stats = case.arrays()
    table = module.BinSums.prepare(codes, offsets)
    parents = table.sums(np.where(node < 0, node, node // 2), nodes // 2, stats)
    expected = reference.bin_sums(case.codes, case.bins, case.node, nodes, case.stats)
    assert as_fractions(table.sums(node, nodes, stats, parents)) == expected


def check_leaf_sums(module: ModuleType, case: Case) -> None:
    _, _, node, nodes, stats = case.arrays()
    expected = reference.leaf_sums(case.node, nodes, case.stats)
    assert as_fractions(module.leaf_sums(node, nodes, stats)) == expected


def check_route(module: ModuleType, case: Case) -> None:
    codes, _, node, nodes, _ = case.arrays()
    rng = np.random.default_rng(len(case.node))
    feature = rng.integers(0, len(case.bins), nodes)
    code = rng.integers(0, np.array(case.bins)[feature])
    categorical = rng.random(nodes) < 0.5
    after = module.route(codes, node, feature, code, categorical)
    rows = [list(row) for row in zip(*case.codes, strict=True)]
    splits = feature.tolist(), code.tolist(), categorical.tolist()
    assert after.tolist() == [reference.child(row, k, *splits) for row, k in zip(rows, case.node, strict=True)]


def check_leaf_index(module: ModuleType, case: Case) -> None:
    codes = case.arrays()[0]
    rng = np.random.default_rng(len(case.node))
    for depth in (3, 7):  # all nodes asked, and every row followed
        feature = rng.integers(0, len(case.bins), 2**depth - 1)
        code = rng.integers(0, np.array(case.bins)[feature])
        categorical = rng.random(2**depth - 1) < 0.5
        expected = []
        for row in zip(*case.codes, strict=True):
            leaf = 0
            for level in range(depth):
                nodes = slice(2**level - 1, 2 ** (level + 1) - 1)
                arrays = (array[nodes].tolist() for array in (feature, code, categorical))
                leaf = reference.child(list(row), leaf, *arrays)
            expected.append(leaf)
        assert module.leaf_index(codes, feature, code, categorical, depth).tolist() == expected


CHECKS = [check_bin_sums, check_subtraction, check_leaf_sums, check_route, check_leaf_index]


@every_variant
@pytest.mark.parametrize("check", CHECKS)
def test_equals_the_reference(module: ModuleType, check: Callable[[ModuleType, Case], None]) -> None:
    @settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow], derandomize=True)
    @given(cases())
    def run(case: Case) -> None:
        check(module, case)

    run()


MISTAKES: dict[str, tuple[Any, str, str]] = {
    "the larger child is summed as if it were the parent": (
        check_subtraction,
        "smaller ^ 1] = parents",
        "smaller] = parents",
    ),
    "the sibling is the parent itself": (check_subtraction, "= parents - total[:, smaller]", "= parents"),
    "rows of no node are summed": (check_bin_sums, "return node >= 0", "return node >= -9"),
    "packed sums of negative values lose a count": (check_bin_sums, "sums + (1 << (self.shift - 1))", "sums"),
    "packed statistic off by one grid step": (
        check_bin_sums,
        "(1 << shift) - _TO_GRID_BITS",
        "(1 << shift) + 1 - _TO_GRID_BITS",
    ),
    "packed field one bit too narrow": (check_bin_sums, ".bit_length() + 1 if fits", ".bit_length() - 1 if fits"),
    "a mixed radix of the wrong feature": (
        check_bin_sums,
        "enumerate(bins[1:], first + 1)",
        "enumerate(bins[:-1], first + 1)",
    ),
    "marginals exchanged": (check_bin_sums, "if a != kept", "if a == kept or joint.ndim == 2"),
    "nodes overlap in the joint histogram": (check_bin_sums, "size, dtype=narrow", "size - 1, dtype=narrow"),
    "rows of no node in leaf 0": (check_leaf_sums, "np.maximum(node[rows], -1) + 1", "np.maximum(node[rows], 0) + 1"),
    "a value on the threshold's own code goes right": (check_route, "else codes[f] > c for", "else codes[f] >= c for"),
    "the path is read from its end": (check_route, "in reversed(range(", "in list(range("),
    "rows that were out come in": (check_route, "np.where(out, parent, below)", "np.where(out & False, parent, below)"),
    "rows of the sibling are summed": (
        check_subtraction,
        "found: Flags = node == chosen[0]",
        "found = node != chosen[0]",
    ),
    "two sums exchanged": (check_bin_sums, "(sums.real, sums.imag)", "(sums.imag, sums.real)"),
    "the first level is skipped": (check_leaf_index, "nodes = slice(2**level - 1,", "nodes = slice(2**level,"),
    "a followed value on the threshold's own code": (check_leaf_index, "Flags = seen > bound", "Flags = seen >= bound"),
    "followed missing values match a category": (check_leaf_index, "(seen == bound) & (seen > 0)", "(seen == bound)"),
    "the halves of a level exchanged": (check_leaf_index, "left ^ (above & (", "right ^ (above & ("),
    "missing values match a category": (check_leaf_index, "== (c or -1)", "== c"),
}


@pytest.mark.parametrize(("check", "old", "new"), MISTAKES.values(), ids=MISTAKES.keys())
def test_mistakes_are_caught(check: Callable[[ModuleType, Case], None], old: str, new: str) -> None:
    module = reference.variant(ALWAYS_JOINT, (old, new))

    @settings(max_examples=40, deadline=None, derandomize=True, database=None)
    @given(cases())
    def run(case: Case) -> None:
        check(module, case)

    with pytest.raises((AssertionError, ValueError, IndexError, ExceptionGroup)):
        run()


@given(
    st.lists(st.floats(-10, 10) | st.just(math.nan), max_size=30), st.lists(st.integers(-9, 9), max_size=6, unique=True)
)
def test_encode_ordered(values: list[float], at: list[int]) -> None:
    thresholds = sorted(float(t) for t in at)
    column = np.array([*values, *thresholds], dtype=np.float64)
    codes = kernels.encode_ordered(column, np.array(thresholds))
    assert codes.dtype == np.uint8
    assert codes.tolist() == [reference.encode(x, thresholds) for x in column]
    on_the_left = 1 + np.searchsorted(thresholds, column, side="left")
    assert not thresholds or codes.tolist() != on_the_left.tolist(), "a test that cannot tell <= from < is none"


def test_codes_of_many_bins_need_two_bytes() -> None:
    thresholds = np.arange(255.0)
    codes = kernels.encode_ordered(np.array([np.nan, -1.0, 0.0, 254.0, 1e9]), thresholds)
    assert codes.dtype == np.uint16
    assert codes.tolist() == [0, 1, 2, 256, 256]
    assert kernels.encode_ordered(np.array([1e9]), thresholds[:254]).tolist() == [255]
    assert kernels.encode_categories(np.array([np.nan, 0.0, 254.0]), 255).tolist() == [0, 1, 255]
    assert kernels.encode_categories(np.array([255.0]), 256).dtype == np.uint16


def large_case(rows: int = 150_000) -> tuple[Any, Any, Any, int, list[Any]]:
    rng = np.random.default_rng(1)
    bins = [33, 33, 3, 300, 2, 2]
    codes = np.stack([rng.integers(0, size, rows) for size in bins]).astype(np.uint16)
    gradient = np.rint(rng.uniform(-1, 1, rows) * 2**24) / 2**24
    node = rng.choice(8, rows, p=[0.6, 0.2, 0.1, 0.05, 0.02, 0.01, 0.01, 0.01]).astype(np.int32)
    return codes, kernels.bin_offsets(bins), node, 8, [gradient, None]


def test_order_of_rows_changes_no_byte() -> None:
    codes, offsets, node, nodes, stats = large_case()
    order = np.random.default_rng(2).permutation(len(node))
    here = kernels.bin_sums(codes, offsets, node, nodes, stats)
    there = kernels.bin_sums(codes[:, order], offsets, node[order], nodes, [stats[0][order], None])
    assert here.tobytes() == there.tobytes()
    assert kernels.leaf_sums(node, nodes, stats).tobytes() == (
        kernels.leaf_sums(node[order], nodes, [stats[0][order], None]).tobytes()
    )
    off_grid = np.random.default_rng(3).uniform(-1, 1, len(node))
    assert kernels.leaf_sums(node, nodes, [off_grid]).tobytes() != (
        kernels.leaf_sums(node[order], nodes, [off_grid[order]]).tobytes()
    ), "off the grid the order is seen: the comparison can fail"


def test_every_way_to_sum_gives_the_same_bytes() -> None:
    codes, offsets, node, nodes, stats = large_case()
    bins = np.diff(offsets)
    plain = np.zeros((2, nodes, offsets[-1]))
    for s, stat in enumerate(stats):
        for f, size in enumerate(bins):
            sums = np.bincount(node.astype(np.intp) * size + codes[f], stat, minlength=nodes * size)
            plain[s, :, offsets[f] : offsets[f + 1]] = sums.reshape(nodes, size)
    for module in (kernels, reference.variant(("_CHUNK = 1 << 17", "_CHUNK = 997"))):
        table = module.BinSums.prepare(codes, offsets)
        parents = table.sums(node // 2, nodes // 2, stats)
        assert table.sums(node, nodes, stats).tobytes() == plain.tobytes()
        assert table.sums(node, nodes, stats, parents).tobytes() == plain.tobytes()


@pytest.mark.parametrize("scale", [1.0, 2.0**10, 2.0**24, 2.0**30, 1e300, 0.1])
def test_statistics_beyond_the_packed_range_are_still_summed(scale: float) -> None:
    """Exactly while float64 can (whole multiples, few rows), otherwise to rounding; never wrapped around."""
    rng, rows = np.random.default_rng(5), 5000
    codes = rng.integers(0, 3, (2, rows)).astype(np.uint8)
    stat = rng.integers(-3, 4, rows) * scale
    sums = kernels.bin_sums(codes, kernels.bin_offsets([3, 3]), np.zeros(rows, dtype=np.int32), 1, [stat, None])
    counts = np.concatenate([np.bincount(column, minlength=3) for column in codes])
    expected = np.concatenate([np.bincount(column, stat / scale, minlength=3) for column in codes]) * scale
    np.testing.assert_allclose(sums[0, 0], expected, rtol=1e-12)
    assert sums[1, 0].tolist() == counts.tolist()


def test_non_finite_statistics_are_not_hidden() -> None:
    codes, node = np.array([[0, 1, 1]], dtype=np.uint8), np.zeros(3, dtype=np.int32)
    sums = kernels.bin_sums(codes, kernels.bin_offsets([2]), node, 1, [np.array([1.0, math.nan, 2.0]), None])
    assert sums[0, 0, 0] == 1
    assert math.isnan(sums[0, 0, 1])
    assert sums[1, 0].tolist() == [1, 2]


def test_no_rows_and_no_selected_rows() -> None:
    offsets = kernels.bin_offsets([2, 3])
    for rows in (0, 4):
        codes, node = np.zeros((2, rows), dtype=np.uint8), np.full(rows, -1, dtype=np.int32)
        sums = kernels.bin_sums(codes, offsets, node, 2, [np.ones(rows), None])
        assert sums.shape == (2, 2, 5)
        assert not sums.any()
        assert kernels.leaf_sums(node, 2, [None]).tolist() == [[0, 0]]


def test_memory_beyond_the_input() -> None:
    """At most 4 times the binned matrix and 100 bytes a row, for everything a level of a tree needs."""
    rows, features = 200_000, 20
    rng = np.random.default_rng(0)
    codes, gradient = rng.integers(0, 33, (features, rows)).astype(np.uint8), np.ones(rows)
    offsets, splits = kernels.bin_offsets([33] * features), np.zeros(4, dtype=np.intp)
    tracemalloc.start()
    table = kernels.BinSums.prepare(codes, offsets)
    node = np.zeros(rows, dtype=np.int32)
    parents = None
    for level in range(3):
        parents = table.sums(node, 2**level, [gradient, None], parents)
        node = kernels.route(codes, node, splits, splits + 16, splits > 0)
    kernels.leaf_sums(node, 8, [gradient, None])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak <= 4 * codes.nbytes + 100 * rows, f"{peak / rows:.0f} bytes a row"


PARTS = (2.0**-18, 2.0**-24, 2.0**-28)
"""Beside a threshold, within what is compared and outside."""


def _thresholds(kind: int, generator: np.random.Generator) -> np.ndarray[Any, Any]:
    count = int(generator.integers(1, 40))
    if kind == 0:
        return np.unique(generator.random(count))
    if kind == 1:
        width, low = generator.choice([1e-300, 1e-3, 1.0, 1e6, 1e300]), generator.choice([0.0, 5.0, -1e3])
        return np.unique(np.arange(1, count + 1) / (count + 1) * width + low)
    return np.unique(np.exp(3 * generator.normal(size=count)) if kind == 2 else generator.integers(-3, 3, count) / 4)


def test_guessed_codes_are_those_of_a_search() -> None:
    """Equally spaced thresholds are found by arithmetic, others by a search; codes are those of a search always."""
    generator, guessed = np.random.default_rng(0), 0
    for number in range(400):
        thresholds = _thresholds(number % 4, generator)
        beside = [thresholds, np.nextafter(thresholds, np.inf), np.nextafter(thresholds, -np.inf)]
        spread = generator.normal(size=17000) * np.ptp(thresholds) + thresholds.mean()
        beside += [thresholds + part * np.ptp(thresholds) * generator.normal(size=len(thresholds)) for part in PARTS]
        ends = [np.nan, -0.0, 0.0, 1e308, -1e308, np.inf, -np.inf]
        column = np.concatenate([*beside, spread, ends])
        expected = np.where(np.isnan(column), 0, 1 + np.searchsorted(thresholds, column, side="right"))
        assert np.array_equal(kernels.encode_ordered(column, thresholds), expected)
        guessed += kernels._line(thresholds) is not None
    assert 100 < guessed < 350
