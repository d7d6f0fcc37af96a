"""No text of `tests.prove.hostile` is proved, and what was mended for them refuses what it is about and no more."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("z3", reason="the extra proofs is not installed")
pytest.importorskip("cvc5", reason="the extra proofs is not installed")

import z3

from refdp.data.nothing import Nothing
from refdp.data.population import Advance, Begin, Place, Refresh
from refdp.data.records import Schema
from refdp.errors import InvalidParameter
from refdp.faces.registry import paper
from refdp.papers import sgbdt
from refdp.papers.fedgbdt import WHOLE
from refdp.prove import charged, magnitudes, open, reading, releases
from refdp.prove.asking import Solvers, unknowns
from refdp.prove.keeping import changed, state
from refdp.prove.magnitudes import FAR, Nature, too_far
from refdp.prove.peeking import peeks
from refdp.prove.reading import Proof, prove
from tests.mutants.harness import Mutant, applied
from tests.mutants.matrix import FEATURES, TARGETS
from tests.prove import hostile_twentyfirst as latest
from tests.prove.attacks import SMALL, paper_of
from tests.prove.hostile import AT_FIRST, HOSTILE, SIBLINGS
from tests.prove.hostile_eighteenth import EIGHTEENTH, STEPS
from tests.prove.hostile_eighth import EIGHTH
from tests.prove.hostile_eighth import HONEST as HONEST_EIGHTH
from tests.prove.hostile_eleventh import ELEVENTH
from tests.prove.hostile_eleventh import HONEST as HONEST_ELEVENTH
from tests.prove.hostile_fifteenth import FIFTEENTH
from tests.prove.hostile_fifth import FIFTH
from tests.prove.hostile_fortieth import FORTIETH
from tests.prove.hostile_fourteenth import FOURTEENTH
from tests.prove.hostile_fourth import FOURTH
from tests.prove.hostile_further import FURTHER
from tests.prove.hostile_nineteenth import NINETEENTH
from tests.prove.hostile_ninth import HONEST as HONEST_NINTH
from tests.prove.hostile_ninth import NINTH
from tests.prove.hostile_second import SECOND
from tests.prove.hostile_seventeenth import ANYWHERE, LABELS, LARGE, OPEN, SEVENTEENTH
from tests.prove.hostile_seventh import HONEST, SEVENTH
from tests.prove.hostile_sixteenth import SIXTEENTH
from tests.prove.hostile_sixth import SIXTH
from tests.prove.hostile_tenth import HONEST as HONEST_TENTH
from tests.prove.hostile_tenth import TENTH
from tests.prove.hostile_third import THIRD
from tests.prove.hostile_thirteenth import HONEST as HONEST_THIRTEENTH
from tests.prove.hostile_thirteenth import THIRTEENTH
from tests.prove.hostile_thirtieth import THIRTIETH
from tests.prove.hostile_thirtyeighth import THIRTYEIGHTH
from tests.prove.hostile_thirtyfifth import HONEST as HONEST_THIRTYFIFTH
from tests.prove.hostile_thirtyfifth import IGNORED, THIRTYFIFTH
from tests.prove.hostile_thirtyfirst import THIRTYFIRST
from tests.prove.hostile_thirtyfourth import HONEST as HONEST_THIRTYFOURTH
from tests.prove.hostile_thirtyfourth import THIRTYFOURTH
from tests.prove.hostile_thirtyninth import CLIPPED, SCARCE, SIZED, THIRTYNINTH
from tests.prove.hostile_thirtysecond import ANYWHERE as ABOVE_ONE
from tests.prove.hostile_thirtysecond import FLOATS, THIRTYSECOND
from tests.prove.hostile_thirtyseventh import THIRTYSEVENTH
from tests.prove.hostile_thirtysixth import HONEST as HONEST_THIRTYSIXTH
from tests.prove.hostile_thirtysixth import METERED, THIRTYSIXTH
from tests.prove.hostile_thirtythird import THIRTYTHIRD
from tests.prove.hostile_twelfth import HONEST as HONEST_TWELFTH
from tests.prove.hostile_twelfth import TWELFTH
from tests.prove.hostile_twentieth import TWENTIETH
from tests.prove.hostile_twentyeighth import TWENTYEIGHTH
from tests.prove.hostile_twentyfifth import TWENTYFIFTH
from tests.prove.hostile_twentyfirst import TWENTYFIRST
from tests.prove.hostile_twentyfourth import TWENTYFOURTH
from tests.prove.hostile_twentyninth import TWENTYNINTH
from tests.prove.hostile_twentysecond import CROWDED, NARROW, QUOTIENTS, TWENTYSECOND
from tests.prove.hostile_twentyseventh import TWENTYSEVENTH
from tests.prove.hostile_twentysixth import HONEST as HONEST_TWENTYSIXTH
from tests.prove.hostile_twentysixth import TWENTYSIXTH
from tests.prove.hostile_twentythird import DIVIDED, TWENTYTHIRD
from tests.prove.page import AR, read


@pytest.fixture(scope="module")
def solvers() -> Solvers:
    return Solvers()


@pytest.fixture(autouse=True)
def whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """What a text keeps in a dictionary of its module is taken out again, and files that it writes are nobody's."""
    monkeypatch.chdir(tmp_path)
    yield
    WHOLE.pop("calls", None)  # type: ignore[call-overload]


def slowly(mutants: tuple[Mutant, ...]) -> list[Any]:
    """Parameters of a test; DPBoost's of the first twelve attacks take a second or two each."""
    return [pytest.param(one, id=one.name, marks=[pytest.mark.statistics] if paper_of(one) == "dpboost" else [])
            for one in mutants]  # fmt: skip


LATER = (
    *THIRTEENTH,
    *FOURTEENTH,
    *FIFTEENTH,
    *SIXTEENTH,
    *SEVENTEENTH,
    *EIGHTEENTH,
    *NINETEENTH,
    *TWENTIETH,
    *TWENTYFIRST,
    *TWENTYSECOND,
    *TWENTYTHIRD,
    *TWENTYFOURTH,
    *TWENTYFIFTH,
    *TWENTYSIXTH,
    *TWENTYSEVENTH,
    *TWENTYEIGHTH,
    *TWENTYNINTH,
    *THIRTIETH,
    *THIRTYFIRST,
    *THIRTYSECOND,
    *THIRTYTHIRD,
    *THIRTYFOURTH,
    *THIRTYFIFTH,
    *THIRTYSIXTH,
    *THIRTYSEVENTH,
    *THIRTYEIGHTH,
)


@pytest.mark.parametrize("mutant", [pytest.param(one, id=one.name) for one in LATER])
def test_a_text_that_hides_a_state_or_pays_too_little_is_not_proved(solvers: Solvers, mutant: Mutant) -> None:
    """One like it is proved where nothing is hidden: `HONEST` of the thirteenth attack."""
    name = paper_of(mutant)
    with applied(mutant.patches):  # type: ignore[arg-type]
        found = read(name, {**SMALL[name], **mutant.settings}, solvers, briefly=True)
    assert found.verdict == "NOT PROVED"
    assert all(one.reason for one in found.failures)


def test_a_step_of_any_size_is_refused_by_hosts(solvers: Solvers) -> None:
    """So that a text with one is proved, and stops where released values alone say so."""
    (mutant,) = STEPS
    with applied(mutant.patches):  # type: ignore[arg-type]
        assert read("dpboost", {**SMALL["dpboost"], **mutant.settings}, solvers, briefly=True).verdict == "PROVED"
    host = Nothing()
    for step in (Begin(None, (0,)), Refresh(("g",)), Place(np.zeros((1, 2)))):  # type: ignore[arg-type]
        host.tell(step)
    with pytest.raises(InvalidParameter, match="too far"):
        host.tell(Advance(np.array([[1e307, 0.0]]), 1.0))


@pytest.mark.parametrize(
    ("mutant", "anywhere"),
    [pytest.param(*OPEN, ANYWHERE, id="example"), pytest.param(*latest.OPEN, latest.ANYWHERE, id="floats"),
     *(pytest.param(one, ABOVE_ONE, id=one.name) for one in FLOATS)],
)  # fmt: skip
def test_an_open_parameter_is_not_below_its_own_example_or_floats_alone(
    solvers: Solvers, mutant: Mutant, anywhere: Any
) -> None:
    params = paper("dpboost").params({"epsilon": 1.0, **AR, **SMALL["dpboost"], **mutant.settings}, as_published=False)
    with applied(mutant.patches):  # type: ignore[arg-type]
        found = prove("dpboost", params, Schema(FEATURES, TARGETS["regression"]), solvers=solvers, anywhere=anywhere)
    assert found.verdict == "NOT PROVED"


@pytest.mark.parametrize(
    ("mutant", "anywhere"), [pytest.param(*one, id=one[0].name) for one in (*THIRTYNINTH, *FORTIETH)]
)
def test_a_text_that_is_right_at_the_ends_of_a_range_alone_is_not_proved(
    solvers: Solvers, monkeypatch: pytest.MonkeyPatch, mutant: Mutant, anywhere: Any
) -> None:
    """Without the readings at the ends, which show none of them."""
    monkeypatch.setattr(reading, "ends", lambda *_: ())
    found = _anywhere(solvers, mutant, anywhere)
    assert found.verdict == "NOT PROVED" and all(one.reason for one in found.failures)


def _anywhere(solvers: Solvers, mutant: Mutant, anywhere: Any) -> Proof:
    name, settings = paper_of(mutant), {key: one for key, one in mutant.settings.items() if key != "target"}
    params = paper(name).params({"epsilon": 1.0, **AR, **settings}, as_published=False)
    with applied(mutant.patches):  # type: ignore[arg-type]
        schema = Schema(FEATURES, TARGETS["regression"])
        return prove(name, params, schema, solvers=solvers, briefly=True, anywhere=anywhere)


def _at_ends(terms: list[Any]) -> Iterator[dict[str, tuple[float, float]]]:
    """Sizes at the ends of ranges alone."""
    own = {str(one): magnitudes.ranges[str(one)] for one in unknowns(terms).values() if str(one) in magnitudes.ranges}
    for end in (0, 1):
        yield {name: (math.log2(ends[end]), math.log2(ends[end])) for name, ends in own.items()}


@pytest.mark.parametrize(
    ("case", "owner", "name", "instead"),
    [pytest.param(CLIPPED[0], open, "TIMES", 0, id="what is rounded before a comparison"),
     pytest.param(SCARCE[0], releases, "_has_room", lambda *_: "", id="the least of a bound"),
     pytest.param(SIZED[0], magnitudes, "_pieces", _at_ends, id="sizes within a range"),
     pytest.param(FORTIETH[0], charged, "rounded", lambda *_: 0, id="what is rounded of noise")],
)  # fmt: skip
def test_each_check_within_a_range_is_needed(
    solvers: Solvers, monkeypatch: pytest.MonkeyPatch, case: Any, owner: Any, name: str, instead: Any
) -> None:
    monkeypatch.setattr(reading, "ends", lambda *_: ())
    monkeypatch.setattr(owner, name, instead)
    assert _anywhere(solvers, *case).verdict == "PROVED"


@pytest.mark.parametrize(
    ("mutant", "schema"),
    [
        pytest.param(*LABELS, LARGE, id="beyond 2^20"),
        pytest.param(*latest.LABELS, latest.LARGE, id="up to 2^20"),
        *(pytest.param(one, NARROW, id=one.name) for one in QUOTIENTS),
    ],
)
def test_labels_of_a_large_range_have_few_digits(solvers: Solvers, mutant: Mutant, schema: Schema) -> None:
    params = paper("dpboost").params({"epsilon": 1.0, **AR, **SMALL["dpboost"], **mutant.settings}, as_published=False)
    with applied(mutant.patches):  # type: ignore[arg-type]
        found = prove("dpboost", params, schema, solvers=solvers, briefly=True)
    assert found.verdict == "NOT PROVED"


def test_payments_to_a_contribution_that_keeps_no_accounts_are_refused(
    monkeypatch: pytest.MonkeyPatch, solvers: Solvers
) -> None:
    """As hosts do, whatever the records are."""
    monkeypatch.delattr(sgbdt.Contribution, "charged")
    monkeypatch.setattr("refdp.prove.syntax.otherwise_made", lambda *_: iter(()))  # which would tell of that
    (failure,) = read("sgbdt", METERED, solvers, briefly=True).failures
    assert failure.reason.startswith("payments to a contribution that keeps no accounts")


def test_what_float64_rounds_is_divided_by_no_released_number(solvers: Solvers) -> None:
    (mutant,) = DIVIDED
    with applied(mutant.patches):  # type: ignore[arg-type]
        settings = {"epsilon": 1.0, **AR, **SMALL["grove"], **mutant.settings}
        schema = Schema(FEATURES, TARGETS[settings.pop("target")])
        params = paper("grove").params(settings, as_published=False)
        found = prove("grove", params, schema, solvers=solvers, briefly=True)
    assert found.verdict == "NOT PROVED" and found.failures[0].reason.endswith("rounds of sums of many records")


def test_a_text_is_read_as_numpy_warns_at_first(solvers: Solvers) -> None:
    with applied(IGNORED.patches), np.errstate(all="ignore"):  # type: ignore[arg-type]
        params = paper("grove").params({"epsilon": 1.0, **AR, **SMALL["grove"]}, as_published=False)
        found = prove("grove", params, Schema(FEATURES, TARGETS["binary"]), solvers=solvers, briefly=True)
    assert found.verdict == "NOT PROVED" and "a warning would tell" in found.failures[0].reason


def test_sums_of_two_statistics_are_not_large_together(solvers: Solvers) -> None:
    (mutant,) = CROWDED
    with applied(mutant.patches):  # type: ignore[arg-type]
        params = paper("grove").params({"epsilon": 1.0, **AR, **SMALL["grove"], **mutant.settings}, as_published=False)
        found = prove("grove", params, Schema(FEATURES, TARGETS["binary"]), solvers=solvers, briefly=True)
    assert found.verdict == "NOT PROVED" and "what float64 rounds" in found.failures[0].reason


@pytest.mark.parametrize("mutant", slowly((*HOSTILE, *SIBLINGS, *FURTHER, *SECOND, *THIRD, *FOURTH, *FIFTH, *SIXTH,
                                           *SEVENTH, *EIGHTH, *NINTH, *TENTH, *ELEVENTH, *TWELFTH)))  # fmt: skip
def test_a_hostile_text_is_not_proved(solvers: Solvers, mutant: Mutant) -> None:
    assert {*AT_FIRST} < {one.name for one in HOSTILE}
    name = paper_of(mutant)
    with applied(mutant.patches):  # type: ignore[arg-type]
        found = read(name, {**SMALL[name], **mutant.settings}, solvers, briefly=True)
    assert found.verdict == "NOT PROVED"
    assert all(one.reason for one in found.failures)


PRIVATE = (*HONEST, *HONEST_EIGHTH, *HONEST_NINTH, *HONEST_TENTH, *HONEST_ELEVENTH, *HONEST_TWELFTH,
           *HONEST_THIRTEENTH, *HONEST_TWENTYSIXTH, *HONEST_THIRTYFOURTH, *HONEST_THIRTYFIFTH,
           *HONEST_THIRTYSIXTH)  # fmt: skip


@pytest.mark.parametrize("mutant", [pytest.param(one, id=one.name) for one in PRIVATE])
def test_a_text_of_the_like_that_is_private_is_proved(solvers: Solvers, mutant: Mutant) -> None:
    name = paper_of(mutant)
    with applied(mutant.patches):  # type: ignore[arg-type]
        found = read(name, {**SMALL[name], **mutant.settings}, solvers, briefly=True)
    assert (found.verdict, found.failures) == ("PROVED", ())


@pytest.mark.usefixtures("on_grid")
def test_formulas_that_make_large_what_is_rounded_are_told() -> None:
    x, n = z3.Reals("x n")
    lost, tenth = x / z3.Q(49, 1) * z3.Q(49, 1) - x, z3.Q(1, 10)
    assert too_far([lost]) == "" and too_far([lost * z3.Q(2**23, 1)]) == ""
    assert too_far([lost * z3.Q(2**40, 1)]).endswith("what float64 rounds large")
    assert too_far([lost / (n * z3.Q(1, 2**60))]).endswith("what float64 rounds large")
    assert too_far([(x + z3.Q(10**9, 1)) * tenth]).endswith("what float64 rounds large")
    assert too_far([x * z3.Q(2**60, 1)]) == "", "a power of two rounds nothing"
    assert too_far([z3.If(x == n, x, n)]) == "" and too_far([z3.If(x + z3.Q(1, 2) - n > 0, x, n)]) == ""
    assert too_far([z3.If(x * tenth >= n * tenth, x * tenth, n * tenth)]) == "", "the larger of two"
    assert too_far([z3.If(x * tenth < 0, -(x * tenth), x * tenth)]) == "", "a size"
    for compared in (
        2 * x + z3.Q(1, 2**24) > n,
        lost == 0,
        lost != 0,
        x + tenth > n,
        z3.And(x > 0, lost > 0),
        x * tenth >= n * tenth,
    ):
        assert too_far([z3.If(compared, x, n)]).endswith("numbers that float64 rounds")


@pytest.mark.usefixtures("on_grid")
def test_formulas_whose_float64_value_is_far_from_the_real_one_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = z3.Reals("x y")
    large = z3.Q(2**62, 1)
    assert too_far([x + large - large]).startswith("a formula that adds numbers of such different sizes")
    assert too_far([z3.Q(0, 1) * (x * large * large * large * large)]).endswith("could overflow")
    assert too_far([x / z3.Q(1, 2**210)]).endswith("could overflow")
    assert too_far([x * x * x * x * x * y * y * y * y]).endswith("could overflow")
    assert too_far([x * x * x * x * y * y * y * y]) == ""
    assert too_far([(x * x / (y * y + 1) + z3.Q(1, 1000) * x), z3.If(x > y, x * large, y)]) != ""
    monkeypatch.setattr(magnitudes, "natures", {"n of these": Nature(natural=True)})
    n = z3.Real("n of these")
    assert too_far([(x * x / (n + 1) + z3.Q(1, 1000) * x), z3.If(x > y, x * large, y)]) == ""


def test_what_float64_rounds_of_sums_of_many_records_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y, n, large = z3.Real("x of these"), z3.Real("y of those"), z3.Real("n of these"), z3.Q(2**12, 1)
    of = {"x of these": Nature(over="these"), "y of those": Nature(over="those")}
    counts = {"n of these": Nature(natural=True, records=True, over="these")}
    monkeypatch.setattr(magnitudes, "natures", of | counts)
    kept = [x / (n + 1), x * x / (n + z3.Q(1, 1000)), x / (n + 1) + n - n, n * large - n * large,
            (x * 3 - x) / (n * 4 + 1) * large]  # fmt: skip
    lost = [x / (n + 1) + n * large - n * large, (x / (n + 1) + n - n) * large, x * x / (x + 1) + x * x / (n + 1),
            (y * 3 - y) / (n + 1) * large, (x * y) / (n + 1), (x * 3 - x) * (1 / (n + 1)) * large,
            (x * 3 - x) / (n * n) * large, (x * 3 - x) / (z3.Q(1, 2) + n / (n + 1)) * large]  # fmt: skip
    assert [too_far([one], FAR) for one in kept] == [""] * 5
    assert [too_far([one]) for one in lost] == [""] * len(lost)
    for one in lost:
        assert too_far([one], FAR).endswith("what float64 rounds of sums of many records"), one
    larger, smaller = z3.If(n >= 1, n, 1), z3.If(n >= 1, 1, n)
    for divisor in (larger, z3.If(z3.Q(1, 1) <= n, n, 1)):
        assert too_far([x * x / divisor], FAR) == ""
        assert too_far([y * y / divisor], FAR) != "", "these can be few where those are many"
    for divisor in (smaller + 1, z3.If(x >= 1, x, 1)):
        assert too_far([x * x / divisor], FAR).endswith("of sums of many records")
    monkeypatch.setattr(magnitudes, "natures", of | {"n of these": Nature(natural=True, over="these")})
    assert too_far([x * x / (n + z3.Q(1, 1000))], FAR) != "", "another sum need not be large where x is"


def test_sums_over_different_records_are_of_many_and_of_few(monkeypatch: pytest.MonkeyPatch) -> None:
    x, n, m = z3.Real("x of these"), z3.Real("n of these"), z3.Real("m of those")
    natures = {name: Nature(natural=True, records=True, over=name[5:]) for name in ("n of these", "m of those")}
    monkeypatch.setattr(magnitudes, "natures", natures | {"x of these": Nature(over="these")})
    both, of_few = n + m * 8 + 1, m / (m + 1) / (m + 1)
    told = "what float64 rounds of sums of many records"
    assert too_far([x * x / both], FAR) == "" and too_far([x * x / both * 2**9], FAR).endswith(told)
    assert too_far([(x * 3 - x) * of_few], FAR) == "" and too_far([(x * 3 - x) * of_few * 2**9], FAR).endswith(told)
    assert too_far([(x * 3 - x) * (n / (n + 1) / (n + 1)) * 2**9], FAR) == "", "of as many"
    few = n * z3.Q(1, 2**17)
    between = x * 3 * few / (few + 1) / (few + 1) / (few + 1) / (few + 1) / (few + 1) / (few + 1)
    assert too_far([between * 2**4], FAR) == "" and too_far([between * 2**20], FAR).endswith(told)


def test_sums_have_as_many_digits_as_float64(monkeypatch: pytest.MonkeyPatch) -> None:
    """2^26 records of up to 2^3 each have 2^53 steps, the difference of two such sums twice as many."""
    x, y, c = z3.Reals("x y c")
    for added, one, two in ((2.0, True, True), (2.1, True, False), (3.0, True, False), (3.1, False, False)):
        natures = {name: Nature(over="these", added=added) for name in ("x", "y")}
        monkeypatch.setattr(magnitudes, "natures", natures | {"c": Nature(added=added)})
        assert (too_far([x * 2**14], FAR) == "") is one and (too_far([(x - y) * 2**14], FAR) == "") is two
        assert too_far([c * 2**14], FAR) == "", "of one record"


@pytest.mark.usefixtures("on_grid")
def test_steps_of_the_grid_choose_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    x, y = z3.Reals("x y")
    monkeypatch.setattr(magnitudes, "natures", {"x": Nature(stepped=-24.0)})
    assert too_far([z3.If(x >= y, x, y)]) == "" == too_far([z3.If(x >= 0, x, -x)]) == too_far([x >= y])
    assert too_far([z3.If(x >= y, y, x + 1)]).endswith("numbers that float64 rounds")
    assert magnitudes.step_of(x >= y) == math.inf and magnitudes.step_of(x * 4) == -22 and magnitudes.is_off(x)
    assert not magnitudes.is_off(y) and magnitudes.is_off(y * 3) and magnitudes.is_off(y * z3.Q(2**210, 1))


@pytest.mark.usefixtures("on_grid")
def test_public_numbers_have_their_sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    x, q = z3.Reals("x q")
    assert magnitudes.orders(np.array([0.0, -8.0, 0.5])) == (-1.0, 3.0) and magnitudes.orders(np.zeros(2)) == (0.0, 0.0)
    monkeypatch.setattr(magnitudes, "natures", {"q": Nature(free=(-1.0, 3.0))})
    assert magnitudes.order_of(q * q) == 6.0 and magnitudes.order_of(x / q) == 1.0
    assert (magnitudes.error_of(x * 3 / q), magnitudes.error_of(x * 3 * q)) == pytest.approx((-49.4, -47.4), abs=0.3)


def test_a_container_that_outlives_a_run_is_looked_at() -> None:
    before = state(None, None)
    assert not changed(before, None, None)
    try:
        WHOLE["calls"] = ()  # type: ignore[index]
        assert changed(before, None, None)
    finally:
        del WHOLE["calls"]  # type: ignore[arg-type]
    assert not changed(before, None, None)
    array = np.zeros(2)
    before = state({"kept": [array]}, None)
    array[1] = 1.0
    assert not changed(before, None, None)  # it is reached no more
    held = {"kept": [array]}
    before = state(held, None)
    array[1] = 2.0
    assert changed(before, held, None)


@pytest.mark.parametrize(
    "line",
    ["np.random.random()", "np.seterr(over='raise')", "np.set_printoptions(9)", "np.datetime64('now')", "other = np",
     "numbers.Generic('x', f)", "f.register(int, g)", "minimum._kinds", "from refdp.data.numbers import _exp",
     "from refdp.data.numbers import Generic", "np.errstate(under='raise')", "np.errstate(all=how)", "e = np.errstate",
     "np.errstate(**how)",
     "from numpy import random", "import numpy", "f.cache_info()", "losses.np.zeros(3)",
     "str(x)", "f'{f(x)}'", "f'{np}'", "'%s' % x", "'{}'.format(x)", "list({1, 2})", "set(x) | y",
     "np.empty(3)", "np.empty((2, n))", "np.ndarray(3)", "np.empty_like(x)"],
)  # fmt: skip
def test_what_answers_otherwise_from_run_to_run_is_no_part_of_a_text(line: str) -> None:
    assert peeks(f"import numpy as np\n{line}\n")
    assert not peeks(
        "import numpy as np\nx = np.zeros(3)\nwith np.errstate(over='ignore'):\n    y = np.clip(x, 0, 1)\n"
    )


def test_classes_without_the_name_of_a_module_are_looked_past(monkeypatch: pytest.MonkeyPatch) -> None:
    """Some library's class says where it is by a property; the reading met it among refdp's modules."""
    import refdp.papers.fedgbdt as text

    monkeypatch.setattr(text, "strange", type("Strange", (), {"__module__": property(lambda _: "")}), raising=False)
    assert not changed(state(None, None), None, None)
