"""docs/audit-figures.md from what is kept."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from tests.audit.figures import alarms, plans, power
from tests.audit.figures.kept import load, programs
from tests.audit.test_plans import DELTA

PAGE = Path(__file__).parents[3] / "docs" / "audit-figures.md"
HEAD = """# What audits were held against

**{verdict}**

| question | answer |
|---|---|
| is an honest plan accused, and too little noise found | [composition with a delta](#composition-with-a-delta) |
| how often is something correct accused | [false alarms](#false-alarms) |
| how small a violation is found | [power](#power) |

Written by `python -m tests.audit.figures` from the results that it keeps; no figure is typed by hand.
What cheats of every kind look like to an audit is on [the zoo of trainers](audit-zoo.md).
"""


def write() -> bool:
    """Write the page; whether nothing that is kept is a false alarm or a miss."""
    kept = [load(name) for name in ("plans", "alarms", "power")]
    parts = [one(rows) for one, rows in zip((_plans, _alarms, _power), kept, strict=True)]
    right = all(right for _, right in parts)
    verdict = "nothing correct is accused, and every plan with too little noise is" if right else "some are wrong"
    head = HEAD.format(verdict=f"Of {sum(map(len, kept))} audits that are kept, {verdict}.")
    PAGE.write_text("\n".join([head, *(text for text, _ in parts)]), encoding="utf-8")
    return right


def _plans(kept: dict[str, dict[str, Any]]) -> tuple[str, bool]:
    rows = list(kept.values())
    accused = sum(bool(row["honest"]) for row in rows)
    named = sum("composition" in row["cheat"] for row in rows)
    disagree = sum(not (row["lower"] <= DELTA * (1 + 1e-9) and row["upper"] <= 1.02 * DELTA) for row in rows)
    text = f"""## Composition with a delta

{len(rows)} of {plans.COUNT} random plans: 1 to 30 releases of one or two kinds of noise (Laplace, Gaussian,
discrete Laplace), at changing scales and sensitivities, delta {DELTA:g}. The accountant gives the epsilon; the audit
charges the pair that changes every release by its sensitivity. *Enclosure*: of delta at that epsilon, over delta.
*Replayed*: the plan as a trainer, one pair.

| releases | plans | epsilon | upper end of the enclosure / delta, greatest | accused as declared | with noise 1.01 times too small: lower end / delta, least | accused |
|---|---|---|---|---|---|---|
"""  # noqa: E501
    for low, high in ((1, 5), (6, 10), (11, 20), (21, 30)):
        own = [row for row in rows if low <= row["releases"] <= high]
        if own:
            epsilons = [row["epsilon"] for row in own]
            text += (f"| {low} to {high} | {len(own)} | {min(epsilons):.3g} to {max(epsilons):.3g} "
                     f"| {max(row['upper'] for row in own) / DELTA:.5f} | {sum(bool(row['honest']) for row in own)} "
                     f"| {min(row['less'] for row in own) / DELTA:.4f} "
                     f"| {sum('composition' in row['cheat'] for row in own)} |\n")  # fmt: skip
    text += f"\nFalse accusations: {accused}. Too little noise accused: {named} of {len(rows)}. "
    text += f"Enclosures that do not agree with the accountant: {disagree}.\n"
    text += f"Judged: {programs(rows)}.\n"
    return text, accused == 0 and named == len(rows) and disagree == 0


def _alarms(kept: dict[str, dict[str, Any]]) -> tuple[str, bool]:
    rows = list(kept.values())
    if not rows:
        return "## False alarms\n\nNone of the audits was run.\n", True
    accused = [row for row in rows if row["accused"] or row["verdict"] == "VIOLATION"]
    text = f"""## False alarms

{len(rows)} of {alarms.COUNT} audits of what is correct, each with a seed of its own, were run. Accused: {len(accused)}.
No alarm among {len(rows)} says that the rate is below {_most(len(rows), len(accused)):.2g} with 95%. The first {alarms.FIRST // 2} replays
have {alarms.PAIRS} pairs and {alarms.STEPS} in short, the others {alarms.FEWER} pairs; runs are {alarms.RUNS:,} a side, confidence 1 - 1e-6.
Judged: {programs(rows)}.

| audits of | how many | of how many kinds | ended with | accused | seconds |
|---|---|---|---|---|---|
"""  # noqa: E501
    for way, what in alarms.KINDS.items():
        own = [row for key, row in kept.items() if alarms.way_of(int(key))[0] == way]
        words = Counter(row["verdict"] for row in own)
        text += (f"| {what} | {len(own)} | {len({row['name'] for row in own})} "
                 f"| {', '.join(f'{word} {count}' for word, count in sorted(words.items()))} "
                 f"| {sum(row in accused for row in own)} | {sum(row['seconds'] for row in own):.0f} |\n")  # fmt: skip
    text += "\nReplays end with NOT EXAMINED: so few pairs do not reach numbers of records from 50 on, which is said.\n"
    if accused:
        text += "\n" + "".join(f"- {row['name']}: {row['accused']}\n" for row in accused)
    return text, not accused


def _most(audits: int, alarms_seen: int) -> float:
    """The greatest rate at which so few alarms have a chance of 5%, by Clopper and Pearson."""
    from scipy import stats

    return float(stats.beta.ppf(0.95, alarms_seen + 1, max(audits - alarms_seen, 1)))


def _power(kept: dict[str, dict[str, Any]]) -> tuple[str, bool]:
    text = """## Power

Cheats whose size is a setting, made smaller until the audit no longer names them at their cause (4 pairs, 12 for
secret samples, where a coin decides what shows; no search).

| kind | size | smallest found | next, not found |
|---|---|---|---|
"""
    right = True
    for name in (*power.KINDS, *power.BLACK_BOX):
        own = [row for row in kept.values() if row["name"] == name]
        if not own:
            continue
        seen, missed = [row["size"] for row in own if row["found"]], [row["size"] for row in own if not row["found"]]
        what = power.KINDS[name].what if name in power.KINDS else "relative lack of the scale of a Laplace count"
        right = right and bool(seen)
        smallest = f"{min(seen):g}" if seen else "none"
        text += f"| {name} | {what} | {smallest} | {f'{max(missed):g}' if missed else ''} |\n"
    return text, right
