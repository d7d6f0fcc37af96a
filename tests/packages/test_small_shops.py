"""Small packages that publish more than they say, each audited in full or by the stage that is to find it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from refdp.audit.package import audit_package, stages
from refdp.audit.package.findings import Witness
from refdp.audit.package.report import PackageReport
from refdp.audit.structural_state import read
from refdp.audit.verdicts import Verdict

HEAD = """
[package]
name = "shop"
version = "1.0"
import = "shop"
[claim]
statement = "eps-DP"
address = "shop"
epsilon = 1.0
"""
WRAPPERS = """
import numpy as np, shop
def stats(records, seed):
    return shop.stats(records[:, 0], np.random.default_rng(seed))
"""


def audited(folder: Path, shop: str, scope: str, wrappers: str = WRAPPERS, **options: Any) -> PackageReport:
    (folder / "shop.py").write_text("import numpy as np\n" + shop)
    (folder / "wrappers.py").write_text(wrappers)
    (folder / "audit.toml").write_text(HEAD + scope)
    return audit_package(folder / "audit.toml", **options)


LATEST = """
def stats(v, rng):
    return {"sum": float(np.round(np.clip(v, 0, 1).sum() + rng.laplace(0.0, 1.0), 0)), "latest": float(v[-1])}
"""
REPLACED = """relation = "replace-one"
[[entry]]
name = "stats"
callable = "wrappers:stats"
records = [[0.5], [0.25], [0.75], [0.125]]
bounds = [[0, 1]]
least = 2
samples = 0
"""


def test_the_last_record_is_replaced_too(tmp_path: Path) -> None:
    found = audited(tmp_path, LATEST, REPLACED, stages=("structural",))
    assert [(one.cause.name, one.where) for one in found.violations] == [("exact-statistic", "['latest']")]
    assert found.violations[0].pair.startswith("4 records, record 3 replaced by")


def test_of_slow_entries_the_last_pair_is_tried_and_no_other_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert len(audited(tmp_path, LATEST, REPLACED, stages=()).entries[0].pairs) == 4 + 3 + 3
    monkeypatch.setattr(stages, "SLOW", 0.0)
    found = audited(tmp_path, LATEST, REPLACED, stages=("structural",))
    told = found.entries[0].pairs
    assert len(told) == 5 and told[-1] == found.violations[0].pair == "4 records, record 3 replaced by [0.5]"


APART = """
rng = np.random.default_rng()
def laplace_noise(scale):
    return float(rng.laplace(0.0, scale))
def stats(v, seed):
    global rng
    rng = seed
    count = float(len(v))
    noisy = count + laplace_noise(2.0)
    return WHAT
"""
OPENED = """relation = "replace-one"
[[noise]]
function = "shop:laplace_noise"
law = "laplace"
caller = ["count"]
scale = "scale"
[[entry]]
name = "stats"
callable = "wrappers:stats"
first = "a.csv"
second = "b.csv"
samples = 0
"""


@pytest.mark.parametrize(
    ("what", "verdict"),
    [
        ('{"count": noisy, "mean": float(np.sum(v)) / noisy}', Verdict.NOT_EXAMINED),
        ('{"count": noisy, "more": 10**30 + int(np.sum(v))}', Verdict.VIOLATION),
        ('{"count": noisy, "half": (noisy - 1.7) / 3 + 0.1}', Verdict.NOT_FOUND),
        ('{"count": noisy, "sum": float(np.sum(v))}', Verdict.NOT_EXAMINED),
        ('{"count": noisy, "sum": float(np.sum(v - 1.7e9))}', Verdict.VIOLATION),
    ],
)
def test_a_leak_below_the_rounding_of_sums_is_no_all_clear(what: str, verdict: Verdict, tmp_path: Path) -> None:
    times = [1.7e9 + 37.0 * place for place in range(600)]
    for name, first in (("a", times[0] + 86_400.0), ("b", times[0])):
        (tmp_path / f"{name}.csv").write_text("\n".join(["time", *map(str, [first, *times[1:]])]))
    found = audited(tmp_path, APART.replace("WHAT", what), OPENED, stages=("replay",))
    told = next(row for row in found.coverage if row.what == "published object")
    assert told.verdict is verdict
    assert ("differs by less than 1e-07" in told.reason) is (verdict is Verdict.NOT_EXAMINED)


VISITS = """
def stats(v, rng):
    found = {"visits": len(v), "sum": float(np.round(np.clip(v, 0, 1).sum() + rng.laplace(0.0, SCALE), 0))}
    return found | EXTRA
"""
ADDED = """
[[entry]]
name = "stats"
callable = "wrappers:stats"
records = [[0.5], [0.25], [0.75]]
bounds = [[0, 1]]
samples = 500
"""


def shop_of(scale: float = 2.0, extra: str = "{}") -> str:
    return VISITS.replace("SCALE", str(scale)).replace("EXTRA", extra)


@pytest.fixture(scope="module")
def unwitnessed() -> Iterator[None]:
    """Nothing is run again in other processes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stages, "chosen", lambda *given: Witness("", False, False))
        yield


@pytest.fixture(scope="module")
def before(unwitnessed: None, tmp_path_factory: pytest.TempPathFactory) -> PackageReport:
    return audited(tmp_path_factory.mktemp("before"), shop_of(), ADDED)


def accepting(folder: Path, *findings: Any) -> Path:
    file = folder / "accepted.json"
    file.write_text(json.dumps({"accepted": [{"id": one.id, "reason": "public"} for one in findings]}))
    return file


def places(report: PackageReport) -> list[tuple[str, str, bool]]:
    return [(one.cause.name, one.where, bool(one.accepted)) for one in report.findings]


@pytest.mark.parametrize(
    ("shop", "more"),
    [
        (shop_of(), []),
        (shop_of(extra='{"largest": float(v.max())}'), [("exact-statistic", "['largest']", False)]),
        (shop_of(0.25), [("epsilon-exceeded", "beside ['visits']", False)]),
    ],
)
def test_an_accepted_exact_number_accepts_nothing_else(
    shop: str, more: Any, before: PackageReport, tmp_path: Path
) -> None:
    known = [("exact-statistic", "['visits']"), ("epsilon-exceeded", "returned value")]
    assert places(before) == [(*one, False) for one in known] and before.status == 1
    kept = None if more else tmp_path / "kept.jsonl"
    if kept is not None:
        audited(tmp_path, shop, ADDED, resume=kept)
    after = audited(tmp_path, shop, ADDED, baseline=accepting(tmp_path, *before.findings), resume=kept)
    assert {(*one, True) for one in known} | {*more} <= {*places(after)} and not after.stale
    assert after.status == (1 if more else 0) and after.verdict is Verdict.VIOLATION
    assert after.entries[0].figures["accepted"] == sorted(one.id for one in before.findings)


@pytest.mark.usefixtures("unwitnessed")
def test_what_an_accepted_bound_hides_is_not_examined(tmp_path: Path) -> None:
    """Nothing of the output is accepted that it could go on without."""
    noisy = 'def stats(v, rng):\n    return {"n": round(len(v) + rng.laplace(0.0, 0.25), 0)}\n'
    before = audited(tmp_path, noisy, ADDED)
    assert [one.cause.name for one in before.findings] == ["epsilon-exceeded"] and before.status == 1
    after = audited(tmp_path, noisy, ADDED, baseline=accepting(tmp_path, *before.findings))
    assert places(after) == [("epsilon-exceeded", "returned value", True)] and after.status == 3
    told = next(row for row in after.coverage if row.what == "composition")
    assert "ended with a bound that is accepted" in told.reason


def test_an_output_without_parts_is_read_as_a_whole() -> None:
    output = {"a": 1.0, "ab": 2.0, "b": [3.0, "x1"], "big": 10**30}
    run = stages.without_places(lambda rows, seed: output, ("['a']", "['b'][0]", "['big']"))
    made = run(None, 0)
    assert made["parts"] == {"['ab']": 2.0, "['b'][1]": "x1"}
    assert made["kinds"] == read(output).form and made["written"] == read(output).spelled
