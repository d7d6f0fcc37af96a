"""Whole small runs of Grove, and what every release was about, against a loop over records and trees."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from refdp.data.kernels import GRID
from refdp.data.records import Categorical, Classes, Interval, Numeric, Records, Schema, make_records
from refdp.own import grove
from refdp.privacy.curator import Curator
from refdp.privacy.events import Relation
from refdp.privacy.sources import SampleSource

FEATURES = (Numeric("x", 0, 1), Categorical("c", ("a", "b", "d")), Numeric("z", -2, 2))
SCHEMAS = {"two": Schema(FEATURES, Classes((4, 7))), "three": Schema(FEATURES, Classes((3, 5, 9))),
           "real": Schema(FEATURES, Interval(-3, 5)),
           "words": Schema((FEATURES[1], Categorical("d", ("u", "v", "w"))), Classes(("no", "yes")))}  # fmt: skip


class Noted(SampleSource):
    """Keeps the exact values of what is released, and what came out."""

    def __init__(self) -> None:
        super().__init__(np.random.default_rng(3), exact=True)
        self.exact: list[tuple[str, np.ndarray[Any, Any], np.ndarray[Any, Any]]] = []
        self.drawn: list[tuple[str, np.ndarray[Any, Any]]] = []

    def release(self, request: Any) -> Any:
        given = np.array(request.value)
        found = super().release(request)
        self.exact.append((request.name, given, np.array(found)))
        return found

    def draw(self, request: Any) -> Any:
        found = super().draw(request)
        self.drawn.append((request.name, np.array(found)))
        return found


def records(schema: Schema) -> Records:
    rng = np.random.default_rng(1)
    x = np.column_stack(
        [
            rng.uniform(f.low, f.high, 40) if isinstance(f, Numeric) else 1.0 * rng.integers(0, 3, 40)
            for f in schema.features
        ]
    )
    x[0, 0], x[5, -1] = np.nan, np.nan
    target = schema.target
    y = rng.integers(0, len(target.values), 40) if isinstance(target, Classes) else rng.uniform(-3, 5, 40)
    return make_records(schema, x, np.asarray(y, dtype=float))


def leaf_of(row: list[float], splits: list[list[float]], schema: Schema) -> int:
    """Level by level: at or above a threshold right, of the category right, without a value left."""
    node = 0
    while node < len(splits):
        f, value = int(splits[node][0]), splits[node][1]
        right = row[f] >= value if isinstance(schema.features[f], Numeric) else row[f] == value
        node = 2 * node + 1 + int(right and not math.isnan(row[f]))
    return node - len(splits)


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_run_is_that_of_a_loop_over_records(name: str) -> None:
    schema = SCHEMAS[name]
    trees = 12 if name == "real" else 3
    params = grove.Params(8.0, Relation.ADD_REMOVE, trees=trees, depth=3, bins=4, rows=2000)
    assert params.early(schema) == (1 if name == "real" else 0)
    data, source = records(schema), Noted()
    model = grove.train(params, data, Curator(source, params.relation))
    rows, classes = data.x.tolist(), schema.scores
    released, drawn = iter(source.exact), iter(source.drawn)
    features = grove.numeric(schema)
    candidates = grove.coarse_cells(schema, features, closer=True)
    absent = np.zeros(len(features))
    for look in ("coarse", "fine") if features else ():
        path, exact, noisy = next(released)
        fine, counts = candidates, []
        for f in features:
            column, own = [row[f] for row in rows], fine.thresholds[f].tolist()
            place = [0 if math.isnan(v) else 1 + sum(v >= t for t in own) for v in column]
            counts += [place.count(k) for k in range(len(own) + 2)]
        assert path == f"{look} histograms" and exact.tolist() == counts
        deviation = math.sqrt(len(features)) / (params.mu() * math.sqrt(0.1 / 2))
        assert params.rows > 15 * deviation
        absent += grove.missing_values(fine, features, noisy) / 2
        if look == "coarse":
            candidates = grove.between(schema, fine, features, noisy, deviation)
        else:
            candidates = grove.quantiles(params, schema, fine, features, noisy, deviation)
            candidates = grove.parting_missing(schema, candidates, features, absent, deviation / math.sqrt(2))
    path, exact, noisy = next(released)
    if name == "real":
        label, bins = (2 * (data.y + 3) / 8 - 1).tolist(), params.histogram_bins(schema, params.label_share(schema))
        assert path == "labels"
        assert exact.tolist() == [sum(min(int((v + 1) / 2 * bins), bins - 1) == k for v in label) for k in range(bins)]
        centre, unit = grove.centre_and_unit(params, schema, noisy)
        path, exact, noisy = next(released)
        share = params.nearby_share(schema)
        bins, left = params.histogram_bins(schema, share), [min(max((v - centre) / unit, -1), 1) for v in label]
        place = [min(int((one + 1) / 2 * bins), bins - 1) for one in left]
        assert path == "labels nearby" and exact.tolist() == [place.count(k) for k in range(bins)]
        centre, unit = grove.nearby(centre, unit, noisy, 1.5 / (params.mu() * math.sqrt(share)), params.rows)
        initial: tuple[float, ...] = (centre,)
        cut = unit
    else:
        label, unit = data.y.tolist(), 1.0
        assert path == "classes" and exact.tolist() == [label.count(k) for k in range(max(classes, 2))]
        initial = grove.log_odds(classes, noisy)
    scores = [[initial[k]] * 40 for k in range(classes)]
    learnt, first = grove.nothing_learnt(schema), 0
    assert params.first_part(schema) > 0

    def summed(k: int, leaf: list[int], leaves: int) -> Any:
        sums = [[0.0, 0.0] for _ in range(leaves)]
        for i in range(40):
            if name == "real":
                g, h = round(min(max((scores[0][i] - label[i]) / cut, -1), 1) / GRID) * GRID, 1.0
            else:
                own = label[i] == (k if classes > 1 else 1)
                g = 1 / (1 + math.exp(-scores[k][i])) - float(own)
                h = round(abs(g) * (1 - abs(g)) / GRID) * GRID
                most = 0.5 if own or classes == 1 else 0.4 / math.sqrt(classes - 1)
                g, h = round(min(max(g, -most), most) / GRID) * GRID, min(h, most * (1 - most))
            sums[leaf[i]][0] += g
            sums[leaf[i]][1] += h
        return pytest.approx(np.array(sums), abs=40 * GRID)

    for f in range(len(schema.features)):
        shapes, numeric = grove.shapes_of(params, schema, candidates, f), isinstance(schema.features[f], Numeric)
        leaf = [leaf_of(row, shapes[0].tolist(), schema) for row in rows]
        if not numeric:
            leaf = [0 if math.isnan(row[f]) else 1 + int(row[f]) for row in rows]
        path, exact, all_noisy = next(released)
        assert path.startswith(f"feature {f}/bins")
        for k in range(classes):
            assert exact[:, 2 * k : 2 * k + 2] == summed(k, leaf, 2 ** params.first_levels(schema) if numeric else 4)
            noisy = all_noisy[:, 2 * k : 2 * k + 2]
            learnt, values = grove.bin_values(params, schema, learnt, k, f, noisy, unit)
            own = model.outputs[k].trees[first : first + len(shapes)]
            assert all(np.array_equal(tree.splits, splits) for tree, splits in zip(own, shapes, strict=True))
            wanted = [values] if numeric else [[0.0, one] for one in values[1:]]
            assert [tree.leaves.tolist() for tree in own] == [pytest.approx(list(one)) for one in wanted]
            for i in range(40):
                missing = not numeric and leaf[i] == 0
                scores[k][i] += 0.0 if missing else 0.7 * values[leaf[i]]
        first += len(shapes)
    padding = params.padding(schema)
    for number in range(trees):
        if name == "real" and number == 1:
            path, exact, noisy = next(released)
            left = [min(max((y - s) / unit, -1), 1) for y, s in zip(label, scores[0], strict=True)]
            place = [min(int((one + 1) / 2 * len(exact)), len(exact) - 1) for one in left]
            assert path == "residuals" and exact.tolist() == [place.count(k) for k in range(len(exact))]
            assert len(exact) == params.histogram_bins(schema, params.residual_share(schema))
            cut = grove.narrower(unit, noisy, 1.5 / (params.mu() * math.sqrt(0.04)), params.rows)
            padding, unit = padding * cut / unit, cut
        (what, which), (where_name, where) = next(drawn), next(drawn)
        assert (what, where_name) == (f"tree {number}/features", f"tree {number}/values")
        splits = grove.random_tree(params, schema, candidates, learnt, number, which, where)
        leaf = [leaf_of(row, splits.tolist(), schema) for row in rows]
        path, exact, all_noisy = next(released)
        assert path.startswith(f"tree {number}/leaves") and exact.shape == (8, 2 * classes)
        for k in range(classes):
            assert exact[:, 2 * k : 2 * k + 2] == summed(k, leaf, 8)
            noisy = all_noisy[:, 2 * k : 2 * k + 2]
            learnt = grove.learnt_from(params, schema, learnt, splits, noisy, params.deviation(schema))
            values = grove.leaf_values(noisy, padding, unit)
            assert np.array_equal(model.outputs[k].trees[first + number].splits, splits)
            assert model.outputs[k].trees[first + number].leaves == pytest.approx(values)
            for i in range(40):
                scores[k][i] += params.shrinkage * values[leaf[i]]
    if name == "real":
        path, exact, noisy = next(released)
        left = [round(min(max(s - y, -1), 1) / GRID) * GRID for y, s in zip(label, scores[0], strict=True)]
        assert path == "left by all trees" and exact.tolist() == [pytest.approx(sum(left), abs=40 * GRID), 40.0]
        s = math.sqrt(1 + 0.3**2) / (params.mu() * math.sqrt(0.02))
        added = -noisy[0] / max(noisy[1], 10 * s + 1) if abs(noisy[0]) > 3 * s * (1 + 1e-6) else 0.0
        initial, scores = (initial[0] + added,), [[one + added for one in scores[0]]]
    assert next(released, None) is None and next(drawn, None) is None
    for k in range(classes):
        assert (
            model.outputs[k].initial == pytest.approx(initial[k], rel=1e-9)
            and model.outputs[k].weights == (0.7,) * first + (params.shrinkage,) * trees
        )
    raw = np.array(scores).T
    expected = raw if name != "real" else (raw[:, 0] + 1) / 2 * 8 - 3
    assert grove.predict(model, data.x) == pytest.approx(expected)
