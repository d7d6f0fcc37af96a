"""Certified runs: right ones pass, and each mistake that a run can show is named."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from refdp.audit.verdicts import Verdict
from refdp.conform import certify, implied, tape_file
from refdp.conform.follow import on_grid
from refdp.conform.implied import smallest_scale_error
from refdp.faces import cli, registry
from refdp.noise.mechanisms import DiscreteLaplace, Exponential
from refdp.papers import dpboost, fedgbdt, sgbdt
from refdp.privacy.curator import Array, Curator, Request
from refdp.privacy.events import Relation
from refdp.privacy.replay import Recorder
from refdp.privacy.sources import SampleSource
from tests.identity.running import records

DATA = {"target": "binary", "rows": 120, "numeric": 2, "categories": [], "missing": 0.0, "seed": 3}
PARAMS = {
    "dpboost": dpboost.Params(4.0, Relation.ADD_REMOVE, trees=8, trees_per_ensemble=4, depth=4, bins=6),
    "fedgbdt": fedgbdt.Params(epsilon=4.0, relation=Relation.ADD_REMOVE, trees=8, depth=4, bins=6),
    "sgbdt": sgbdt.Params(epsilon=4.0, relation=Relation.ADD_REMOVE, trees=8, depth=3),
}  # fmt: skip


class Wrong(SampleSource):
    """Noise with a mistake: a factor of it, or of the last tree's, the same again, or turned over, or none at all."""

    factor, last, again, turned, bare = 1.0, 1.0, False, False, False
    kept: dict[Any, Array] = {}

    def release(self, request: Request) -> Array:
        output = super().release(request)
        mechanism, value = request.mechanism, request.value
        right = self.factor == self.last == 1 and not (self.again or self.turned or self.bare)
        if right or isinstance(mechanism, Exponential) or value is None:
            return output
        if self.bare:
            return np.array(value)
        if self.again:
            return on_grid(mechanism, value + self.kept.setdefault(value.shape, output - value))
        if self.turned:
            kept = self.kept.pop(value.shape, None)
            return on_grid(
                mechanism, value - (self.kept.setdefault(value.shape, value - output) if kept is None else kept)
            )
        end = self.last if request.path[-2:] == ("ensemble 1 3", "leaves") else 1.0
        return on_grid(mechanism, value + self.factor * end * (output - value))


def ran(paper: str, seed: int, params: Any = None, source: Any = None, **wrong: Any) -> tuple[tape_file.Tape, str]:
    """Transcript and model of one run."""
    params, data = params or PARAMS[paper], records(DATA)
    if source is None:
        source = Wrong(np.random.default_rng(seed), record=True)
        for name, value in wrong.items():
            setattr(source, name, value)
    source.kept = {}
    recorder = Recorder(source, params.relation)
    model = registry.paper(paper).module.train(params, data, Curator(recorder, params.relation))
    text = tape_file.tape_text(tape_file.header_of(paper, params, data), source.tape, recorder.transcript)
    header, *entries = map(json.loads, text.splitlines())
    return tape_file.Tape(header, tuple(entries)), model.to_json()


def verdicts(tapes: list[Any], models: list[str]) -> dict[str, Verdict]:
    found = certify.certify(tapes, records(DATA), models)
    return {row.what: row.verdict for row in found.rows} | {"all": found.verdict}


@pytest.mark.parametrize("noise", ["discrete", "floating"])
@pytest.mark.parametrize("paper", PARAMS)
def test_right_runs_pass(paper: str, noise: Any) -> None:
    params = replace(PARAMS[paper], noise=noise)
    tapes, models = zip(*(ran(paper, seed, params) for seed in range(3)), strict=True)
    found = certify.certify(tapes, records(DATA), models)
    assert found.verdict is Verdict.NOT_FOUND and found.ok and found.status == 0, found.to_dict()
    assert {"plan", "mechanisms", "true values", "published object"} <= {
        row.what for row in found.rows if row.verdict is Verdict.HOLDS
    }
    assert all(row.power for row in found.rows if row.verdict is Verdict.NOT_FOUND)
    plan = next(row for row in found.rows if row.what == "plan")
    assert "for what they claim: epsilon 4, " in plan.reason and plan.reason.endswith("add-remove")


@pytest.mark.parametrize(
    ("wrong", "what"),
    [
        ({"factor": 0.6}, "Laplace: scale"),
        ({"factor": 1.7}, "Laplace: no other error in it"),
        ({"again": True}, "freshness"),
        ({"turned": True}, "freshness"),
        ({"last": 0.05}, "Laplace: scale in every place"),
        ({"bare": True}, "noise is there at all"),
    ],
)
def test_wrong_noise_is_found_from_outputs_alone(wrong: dict[str, Any], what: str) -> None:
    params = replace(PARAMS["dpboost"], noise="floating")
    runs = [ran("dpboost", seed, params, **wrong) for seed in range(4)]
    assert verdicts([tape for tape, _ in runs], [model for _, model in runs])[what] is Verdict.VIOLATION


Rule = Callable[[dict[Any, Array], Array], Array]


class Ruled(SampleSource):
    """Noise in units of its scale by a rule, from what is kept and fresh noise of any shape."""

    rule: Rule
    kept: dict[Any, Array]

    def release(self, request: Request) -> Array:
        output = super().release(request)
        mechanism, value = request.mechanism, np.asarray(request.value)
        if isinstance(mechanism, Exponential):
            return output
        unit: Any = getattr(mechanism, "sd", None) or getattr(mechanism, "scale", None)
        noise = type(self).rule(self.kept, (output - value) / unit) * unit  # type: ignore[call-arg, arg-type]
        step = getattr(mechanism, "step", 0.0) or 2.0 ** (math.floor(math.log2(unit)) - 32)
        return np.asarray(np.rint((value + noise) / step) * step)


def every_second(kept: dict[Any, Array], noise: Array, sign: float = 1.0) -> Array:
    """The noise of the release before."""
    if "last" in kept:
        return sign * kept.pop("last")
    return kept.setdefault("last", noise)


def moved_on(kept: dict[Any, Array], noise: Array) -> Array:
    """One stream, of which each release begins one value later."""
    flat = noise.ravel()
    kept["flat"] = np.concatenate([kept["flat"][1:], flat[:1]]) if "flat" in kept else flat
    return kept["flat"].reshape(noise.shape)


def half_of_the_last(kept: dict[Any, Array], noise: Array) -> Array:
    flat = noise.ravel().copy()
    half = len(flat) // 2
    flat[half:] = kept.pop("half") if "half" in kept else kept.setdefault("half", flat[half:])
    return flat.reshape(noise.shape)


def without_mean(kept: dict[Any, Array], noise: Array) -> Array:
    return noise - noise.mean(axis=-1, keepdims=True)


def rescaled(kept: dict[Any, Array], noise: Array) -> Array:
    """Of the right variance."""
    return without_mean(kept, noise) * math.sqrt(noise.shape[-1] / (noise.shape[-1] - 1))


def without_means_of_subtrees(kept: dict[Any, Array], noise: Array) -> Array:
    parts = noise.reshape(-1, 4)
    return (math.sqrt(4 / 3) * (parts - parts.mean(axis=1, keepdims=True))).reshape(noise.shape)


def shared_part(kept: dict[Any, Array], noise: Array) -> Array:
    """Half of the variance is one number for all values of a statistic: differences have half of the noise."""
    return (noise + noise[..., :1]) / math.sqrt(2)


def one_for_both(kept: dict[Any, Array], noise: Array) -> Array:
    return np.broadcast_to(noise[:1], noise.shape)


def mirrored(kept: dict[Any, Array], noise: Array) -> Array:
    return np.array([noise[0], -noise[0][::-1]])


def by_rule(rule: Rule, paper: str, seeds: int, **settings: Any) -> certify.Certified:
    params = {"trees": 8, "bins": 6, "depth": 4, **settings}
    made: Any = (
        dpboost.Params(4.0, Relation.ADD_REMOVE, trees_per_ensemble=4, **params)
        if paper == "dpboost"
        else fedgbdt.Params(epsilon=4.0, relation=Relation.ADD_REMOVE, **params)
    )
    runs = []
    for seed in range(seeds):
        source = type("Ruling", (Ruled,), {"rule": rule})(np.random.default_rng(seed), record=True)
        runs.append(ran(paper, seed, made, source))
    return certify.certify([tape for tape, _ in runs], records(DATA), [model for _, model in runs])


@pytest.mark.parametrize("noise", ["discrete", "floating"])
@pytest.mark.parametrize(
    ("rule", "paper", "depth", "what"),
    [
        (every_second, "fedgbdt", 1, "freshness"),
        (lambda kept, noise: every_second(kept, noise, -1.0), "fedgbdt", 1, "freshness"),
        (every_second, "dpboost", 2, "freshness"),
        (moved_on, "fedgbdt", 4, "freshness"),
        (half_of_the_last, "fedgbdt", 4, "freshness"),
        (one_for_both, "fedgbdt", 4, "freshness"),
        (lambda kept, noise: -one_for_both(kept, noise) * [[1], [-1]], "fedgbdt", 2, "freshness"),
        (mirrored, "fedgbdt", 4, "freshness"),
        (without_mean, "fedgbdt", 5, "sums of noise"),
        (rescaled, "fedgbdt", 3, "sums of noise"),
        (rescaled, "dpboost", 4, "sums of noise"),
        (without_means_of_subtrees, "fedgbdt", 5, "sums of noise"),
        (shared_part, "fedgbdt", 5, "sums of noise"),
    ],
)
def test_noise_that_cancels_is_found(rule: Rule, paper: str, depth: int, what: str, noise: Any) -> None:
    found = by_rule(rule, paper, 3, depth=depth, noise=noise)
    row = next(row for row in found.rows if row.what == what)
    assert row.verdict is Verdict.VIOLATION and found.status == 1, found.to_dict()


def test_noise_by_the_rule_of_no_change_passes() -> None:
    """What the others are tried with changes nothing else."""
    for noise in ("discrete", "floating"):
        assert by_rule(lambda kept, noise: noise, "fedgbdt", 3, noise=noise).verdict is Verdict.NOT_FOUND


@pytest.mark.parametrize("factor", [0.1, 1.0])
def test_few_draws_are_not_examined(factor: float) -> None:
    """Of two or four draws a tenth of the noise cannot be seen; the row says how many runs would do."""
    for depth, runs in ((1, 46), (2, 23)):
        params = replace(PARAMS["dpboost"], trees=1, trees_per_ensemble=1, depth=depth, noise="floating")
        tape, model = ran("dpboost", 1, params, factor=factor)
        found = certify.certify([tape], records(DATA), [model])
        row = next(row for row in found.rows if row.what == "Laplace: scale")
        assert row.verdict is Verdict.NOT_EXAMINED and row.decides and f": {runs} such runs are needed" in row.reason
        assert found.status == 3 and not found.ok


def test_a_law_of_few_draws_beside_one_of_many_does_not_decide() -> None:
    """S-GBDT's first count and labels are two draws a run."""
    tape, model = ran("sgbdt", 1)
    rows = {row.what: row for row in certify.certify([tape], records(DATA), [model]).rows}
    assert rows["Laplace: scale"].verdict is Verdict.NOT_EXAMINED and not rows["Laplace: scale"].decides
    assert rows["Gaussian: scale"].verdict is Verdict.NOT_FOUND


def test_few_choices_are_not_examined() -> None:
    params = replace(PARAMS["dpboost"], trees=4, depth=5, bins=6, noise="floating")
    few = [implied.Released("s", Exponential(1.0), np.zeros((33, 4)), np.arange(33) % 4, None, None)]
    (row,) = [row for row in certify._noise([few], 1e-6) if row.verdict is not Verdict.NOT_FOUND]
    assert row.what == "choice: law" and row.verdict is Verdict.NOT_EXAMINED and row.decides
    runs = [ran("dpboost", seed, params) for seed in range(2)]
    assert verdicts([tape for tape, _ in runs], [model for _, model in runs])["choice: law"] is Verdict.NOT_FOUND


def test_leaves_without_noise_are_named() -> None:
    tape, model = ran("dpboost", 1, replace(PARAMS["dpboost"], noise="floating"), bare=True)
    found = certify.certify([tape], records(DATA), [model])
    row = next(row for row in found.rows if row.what == "noise is there at all")
    assert "without any noise: score 0/ensemble 0 0/leaves" in row.reason


class Forgetful(SampleSource):
    """Publishes noisy leaves and moves its scores without their noise."""

    def release(self, request: Request) -> Array:
        output = super().release(request)
        self.published.append(output)
        return output if isinstance(request.mechanism, Exponential) else np.array(request.value)

    published: list[Array]


def forgetful(seed: int) -> tape_file.Tape:
    params = replace(PARAMS["dpboost"], noise="floating", epsilon=200.0, trees=20)
    source = Forgetful(np.random.default_rng(seed), record=True)
    source.published = []
    tape, _ = ran("dpboost", seed, params, source)
    outputs = iter(source.published)
    entries = []
    for entry in tape.entries:
        kept = {key: value for key, value in entry.items() if key != "value"}
        if entry["kind"] == "release":
            noisy = next(outputs)
            if "index" not in entry:
                kept["output"] = tape_file.array_out(noisy)
        entries.append(kept)
    return tape_file.Tape(tape.header, tuple(entries))


def test_scores_that_move_without_noise_are_found() -> None:
    found = verdicts([forgetful(seed) for seed in range(4)], [])
    assert found["scores move by released values"] is Verdict.VIOLATION


Change = Callable[[dict[str, Any]], dict[str, Any]]


def changed(tape: tape_file.Tape, place: int, change: Change) -> tape_file.Tape:
    entries = list(tape.entries)
    entries[place] = change(entries[place])
    return tape_file.Tape(tape.header, tuple(entries))


@pytest.mark.parametrize(
    ("place", "change", "what", "reason"),
    [
        (-1, lambda e: {**e, "mechanism": {**e["mechanism"], "scale": "0x1p-9"}}, "mechanisms", "scale"),
        (1, lambda e: {**e, "mechanism": {**e["mechanism"], "coefficient": "0x1p+9"}}, "mechanisms", "coefficient"),
        (-1, lambda e: {**e, "mechanism": {**e["mechanism"], "name": "Gaussian"}}, "mechanisms", "is due"),
        (-1, lambda e: {**e, "value": e["output"]}, "true values", "is told"),
        (-1, lambda e: {**e, "path": ["elsewhere"]}, "plan", "elsewhere"),
        (-1, lambda e: {**e, "output": {**e["output"], "values": ["0x1.1p-30"] * 16}}, "plan", "not on the grid"),
        (
            1,
            lambda e: {**e, "output": {**e["output"], "values": ["0x1p+0", "0x1.1p-9"]}},
            "plan",
            "none of the options",
        ),
    ],
)
def test_what_is_not_of_the_text_is_a_violation(place: int, change: Change, what: str, reason: str) -> None:
    tape, model = ran("dpboost", 5)
    found = certify.certify([changed(tape, place, change)], records(DATA), [model])
    row = next(row for row in found.rows if row.what == what)
    assert row.verdict is Verdict.VIOLATION and reason in row.reason and found.status == 1


@pytest.mark.parametrize("off", [2.0**-40, 1e-12])
def test_floats_off_the_grid_of_their_noise_are_none_of_the_noise(off: float) -> None:
    """What is beside it can be the true value, a few digits lower than anybody looks."""

    def told(entry: dict[str, Any]) -> dict[str, Any]:
        values = [(float.fromhex(one) + off * float.fromhex(two)).hex() for one, two in zip(
            entry["output"]["values"], entry["value"]["values"], strict=True)]  # fmt: skip
        return {**entry, "output": {**entry["output"], "values": values}}

    tape, model = ran("dpboost", 5, replace(PARAMS["dpboost"], noise="floating"))
    assert certify.certify([tape], records(DATA), [model]).verdict is not Verdict.VIOLATION
    found = certify.certify([changed(tape, -1, told)], records(DATA), [model])
    row = next(row for row in found.rows if row.what == "plan")
    assert row.verdict is Verdict.VIOLATION and "not on the grid" in row.reason


def test_a_model_that_does_not_follow_is_a_violation() -> None:
    tape, model = ran("dpboost", 5)
    assert verdicts([tape], [ran("dpboost", 6)[1]])["published object"] is Verdict.VIOLATION
    assert verdicts([tape], [model[:-9]])["published object"] is Verdict.VIOLATION
    nothing = certify.certify([tape], records(DATA))
    assert nothing.verdict is Verdict.NOT_EXAMINED and nothing.status == 3


def test_a_transcript_that_is_cut_off_or_too_long_is_no_run() -> None:
    tape, model = ran("dpboost", 5)
    for entries in (tape.entries[:-1], (*tape.entries, tape.entries[-1])):
        assert verdicts([tape_file.Tape(tape.header, entries)], [model])["plan"] is Verdict.VIOLATION


def test_the_power_that_is_told() -> None:
    """2% of 64 000 Laplace draws is 5 deviations; a tenth of the draws sees three times as much."""
    assert smallest_scale_error("Laplace", 64_000, 1e-6) == pytest.approx(0.0238, rel=0.03)
    assert smallest_scale_error("Laplace", 128_000, 5e-7) < 0.02
    assert smallest_scale_error("Gaussian", 64_000, 1e-6) < smallest_scale_error("Laplace", 32_000, 1e-6)


TRAIN = ["train", "dpboost", "--data", "breast_cancer", "--epsilon", "2", "--set", "trees=4", "depth=4", "bins=4"]


def test_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tapes, models = ([tmp_path / f"{number}.{end}" for number in (1, 2)] for end in ("jsonl", "json"))
    for tape, model in zip(tapes, models, strict=True):
        seed = ["--seed", tape.stem]
        assert cli.run([*TRAIN, *seed, "--record", str(tape), "--private", "--out", str(model), "--json"]) == 0
    capsys.readouterr()
    given = ["certify", *map(str, tapes), "--data", "breast_cancer", "--json"]
    given += [part for model in models for part in ("--model", str(model))]
    assert cli.run(given) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["verdict"] == "NOT FOUND" and {"what", "verdict", "power"} <= set(said["checks"][0])
    model.write_text(model.read_text().replace('"trees": 4', '"trees": 5'))
    assert cli.run(given) == 1
    assert cli.run(["certify", str(tape), "--data", "diabetes"]) == 2


@pytest.mark.statistics
def test_a_scale_two_per_cent_too_small_is_found() -> None:
    """20 transcripts of 50 trees of depth 7: 128 000 draws, error rate 1e-6; the right ones pass."""
    params = replace(PARAMS["dpboost"], trees=50, trees_per_ensemble=50, depth=7, noise="floating")
    for factor, verdict in ((0.98, Verdict.VIOLATION), (1.0, Verdict.NOT_FOUND)):
        tapes = [ran("dpboost", k, params, factor=factor)[0] for k in range(20)]
        assert verdicts(tapes, [])["Laplace: scale"] is verdict


@pytest.mark.parametrize("noise", ["discrete", "floating"])
def test_a_run_is_counted_once(noise: Any) -> None:
    """Six copies of one short run would show what the noise of six is; so would a program of a fixed seed."""
    params = replace(PARAMS["dpboost"], noise=noise, depth=2, trees=2)
    tape, model = ran("dpboost", 1, params)
    again, same = ran("dpboost", 1, params)
    other, third = ran("dpboost", 2, params)
    assert verdicts([tape, other], [model, third])["freshness"] is Verdict.NOT_FOUND
    for tapes, models in (([tape] * 6, [model] * 6), ([tape, other, again], [model, third, same])):
        assert verdicts(tapes, models)["freshness"] is Verdict.VIOLATION
    found = certify.certify([tape, other, again], records(DATA))
    assert any(row.reason.startswith("run 3 has every output of run 1;") for row in found.rows)


def test_choices_alone_may_come_again() -> None:
    """Two runs whose noise has few values may be the same by chance."""
    wide = DiscreteLaplace(1.0, 2.0)
    one = implied.Released("leaves", wide, np.zeros(8), np.zeros(8), None, None)
    choice = implied.Released("split", Exponential(1.0), np.zeros((1, 2)), np.array([0]), None, None)
    assert implied.again([[one, choice], [one, choice]]) is None and implied.again([[choice], [choice]]) is None
    narrow = replace(one, mechanism=DiscreteLaplace(1.0, 1e-6))
    found = implied.again([[choice], [narrow], [narrow]])
    assert found is not None and found.seen == "run 3 has every output of run 2" and found.chance < found.allowed
