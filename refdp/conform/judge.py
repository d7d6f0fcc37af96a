"""The verdict on one answer to one vector."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from scipy import stats

from refdp.conform.compare import Difference, differences, same_number
from refdp.conform.plain import array_in, floated
from refdp.errors import InvalidParameter


@dataclass(frozen=True)
class Judgement:
    """outcome: "passed", "acceptable", "failed" or "skipped"; reason: of what is not passed."""

    outcome: str
    reason: str = ""
    difference: Difference | None = None


PASSED = Judgement("passed")
LOOSE = 16
"""How many times what an accountant gives an epsilon may be at most: releases whose epsilons are added stay below."""


def judge(test: dict[str, Any], kind: str, answer: dict[str, Any]) -> Judgement:
    """answer: {"output": ...}, {"refused": reason}, {"skip": reason} or {"error": reason}."""
    if "error" in answer:
        return Judgement("failed", str(answer["error"]))
    given = [name for name in ("output", "refused", "skip") if name in answer]
    if len(given) != 1 or not (given[0] == "output" or isinstance(answer[given[0]], str)):
        told = " and ".join(given) or "none of them"
        return Judgement("failed", "an output, or a reason to refuse or skip as text, is needed",
                         Difference("", "one of output, refused, skip", told))  # fmt: skip
    if "skip" in answer:
        return Judgement("skipped", answer["skip"])
    if test["result"] == "invalid":
        if "refused" in answer:
            return PASSED
        return Judgement("failed", f"accepted: {test['comment']}", Difference("", "refused", "accepted"))
    if "refused" in answer:
        refused = answer["refused"]
        return Judgement(
            "failed", f"refused a valid input: {refused}", Difference("", "an output", f"refused: {refused}")
        )
    try:
        found = {"account": _account, "statistical": _statistical}.get(kind, _compared)(test, answer["output"])
    except InvalidParameter as error:
        return Judgement("failed", str(error), Difference("", "an answer in the form of the specification", "another"))
    return found


def _compared(test: dict[str, Any], output: Any) -> Judgement:
    found = list(differences(test["expect"], output, int(test.get("tolerance", {}).get("ulps", 0))))
    wrong = [one for one in found if not one.acceptable]
    if wrong:
        return Judgement("failed", "another value", wrong[0])
    written = all(same_number(one.expected, one.got) for one in found)
    return PASSED if written else Judgement("acceptable", "within the tolerance", found[0])


def _account(test: dict[str, Any], output: Any) -> Judgement:
    epsilon = floated(output.get("epsilon") if isinstance(output, dict) else None)
    lower, upper = floated(test["expect"]["lower"]), floated(test["expect"]["upper"])
    if not epsilon >= lower:
        return Judgement("failed", "below what the releases cost", Difference("epsilon", test["expect"], epsilon))
    if epsilon == np.inf:
        return Judgement("failed", "no bound at all", Difference("epsilon", test["expect"], epsilon))
    if epsilon > LOOSE * upper:
        reason = f"above {LOOSE} times what the releases cost: no bound that is of use"
        return Judgement("failed", reason, Difference("epsilon", test["expect"], epsilon))
    return PASSED if epsilon <= upper else Judgement("acceptable", "sound, but not tight")


def _statistical(test: dict[str, Any], output: Any) -> Judgement:
    law, count = test["expect"]["law"], test["input"]["count"]
    draws = array_in(output.get("values") if isinstance(output, dict) else None).ravel()
    if len(draws) != count:
        return Judgement("failed", "another number of draws", Difference("values", count, len(draws)))
    if not np.isfinite(draws).all():
        return Judgement("failed", "draws that are no numbers", Difference("values", law, "inf or nan"))
    if law[0].startswith("discrete-") and not (draws == np.rint(draws)).all():
        return Judgement("failed", "draws that are no whole numbers", Difference("values", law, "others"))
    chance = drawn_so(law, draws)
    if not chance >= float(test["expect"]["error"]):
        return Judgement(
            "failed", f"not of law {law}: probability {chance:.3g}", Difference("values", law, f"p {chance:.3g}")
        )
    return PASSED


def repeats(first: dict[str, Any], second: dict[str, Any]) -> bool:
    """Whether two answers with fresh draws of one law share draws: entry by entry, or values that no two should share.

    Independent draws agree in one of five entries at most, of the discrete laws that are asked, and of others in none.
    """
    draws = [array_in(one["output"]["values"]).ravel() for one in (first, second)]
    size = min(len(one) for one in draws)
    shared = np.mean(draws[0][:size] == draws[1][:size])
    if not all((one == np.rint(one)).all() for one in draws):
        shared = max(shared, len(np.intersect1d(draws[0], draws[1])) / size)
    return bool(shared > 0.5)


def drawn_so(law: list[Any], draws: Any) -> float:
    """A p-value of draws of a law: the worst of tests of its shape, its scale, what is related, and repetitions."""
    name = law[0]
    plain: dict[str, Any] = {"laplace": stats.laplace, "normal": stats.norm, "gumbel": stats.gumbel_r,
                             "exponential": stats.expon}  # fmt: skip
    if name in plain:
        uniform = plain[name].cdf(draws)
        again = float(len(np.unique(np.abs(draws))) >= len(draws) * 0.999)
    else:
        uniform, again = _between(name, Fraction(law[1]), np.asarray(draws, dtype=np.float64)), 1.0
    shape = float(stats.kstest(uniform, "uniform").pvalue)
    tails = 2 * np.minimum(uniform, 1 - uniform)
    size = -2 * np.log(np.maximum(tails, 1e-300)).sum()
    scale = float(2 * min(stats.chi2.cdf(size, 2 * len(draws)), stats.chi2.sf(size, 2 * len(draws))))
    related = min(_related(uniform), _related(tails), _far(uniform), _far(tails), _mirrored(uniform), _mirrored(tails))
    return min(9 * shape, 9 * scale, 9 * related, 9 * _even(tails), 1.0 if again else 0.0)


def _related(uniform: Any) -> float:
    """How likely independent uniform numbers have neighbours that go together, or against each other, as much."""
    middle = np.asarray(uniform) - 0.5
    count = max(len(middle) - 1, 1)
    return 2 * float(stats.norm.sf(abs(12 * (middle[1:] * middle[:-1]).sum()) / count**0.5))


def _far(uniform: Any) -> float:
    """The same at any distance up to three quarters of them: blocks that come again, a half that is minus the other."""
    count = len(uniform)
    most = 3 * count // 4
    if most < 1:
        return 1.0
    power = np.abs(np.fft.rfft(np.asarray(uniform) - 0.5, 2 * count)) ** 2
    together = np.abs(12 * np.fft.irfft(power)[1 : most + 1]) / np.sqrt(count - np.arange(1, most + 1))
    return 2 * most * float(stats.norm.sf(together.max()))


def _mirrored(uniform: Any) -> float:
    """The same of places that lie as far before a middle as after it, for all middles with many such pairs."""
    count = len(uniform)
    middle, sums = np.asarray(uniform) - 0.5, np.arange(2 * count - 1)
    pairs = (np.minimum(sums, 2 * count - 2 - sums) + 1) // 2
    many = pairs >= max(count // 8, 1)
    if not many.any():
        return 1.0
    together = np.fft.irfft(np.fft.rfft(middle, 2 * count) ** 2, 2 * count)[: 2 * count - 1]
    together[::2] -= middle**2  # a place with itself
    size = np.abs(6 * together[many]) / np.sqrt(pairs[many])
    return 2 * int(many.sum()) * float(stats.norm.sf(size.max()))


def _even(uniform: Any) -> float:
    """How likely numbers of independent draws in equal parts are as uneven, or as even: draws that come again in any
    order are twice as uneven, where parts are not far narrower than the steps of a law."""
    count = len(uniform)
    parts = min(count // 50, 1000)
    if parts < 2:
        return 1.0
    found = np.bincount(np.minimum((np.asarray(uniform) * parts).astype(np.int64), parts - 1), minlength=parts)
    square = float(((found - count / parts) ** 2).sum() * parts / count)
    return 2 * float(min(stats.chi2.cdf(square, parts - 1), stats.chi2.sf(square, parts - 1)))


def _between(name: str, parameter: Fraction, draws: Any) -> Any:
    """The middle of each whole number's step of the distribution function, moved by fixed uniform numbers inside it."""
    scale = float(parameter) if name == "discrete-laplace" else float(parameter) ** 0.5
    reach = int(60 * scale) + 60
    points = np.arange(-reach, reach + 1)
    weight = np.exp(-np.abs(points) / scale) if name == "discrete-laplace" else np.exp(-((points / scale) ** 2) / 2)
    before = np.concatenate([[0.0], np.cumsum(weight / weight.sum())])
    place = np.clip(draws.astype(np.int64) + reach, 0, 2 * reach)
    inside = np.random.default_rng(0).random(len(draws))
    return before[place] + inside * (before[place + 1] - before[place])
