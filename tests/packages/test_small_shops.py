"""Small packages that publish more than they say, each audited in full or by the stage that is to find it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from refdp.audit.package import audit_package, stages
from refdp.audit.package.report import PackageReport
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
