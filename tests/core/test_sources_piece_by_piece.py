"""Sources of randomness one by one: what they draw, list, play and refuse."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from refdp.data.kernels import GRID
from refdp.errors import InvalidParameter
from refdp.noise.draws import Draws
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy import shares, sources, tape
from refdp.privacy.curator import Request
from refdp.privacy.sources import INDEX, NONE, STEPS, AccountSource, Coins, Listed, NoiselessSource, SampleSource
from refdp.privacy.tape import TapeSource
from tests.core.requests import VALUE, assign, draw, release


def test_laws_are_plain_data() -> None:
    assert sources.law_of(Draws("laplace", (2,))) == ("laplace",)
    assert sources.law_of(Draws("discrete-laplace", (2,), Fraction(2, 3))) == ("discrete-laplace", "2/3")
    found = sources.law_of(Draws("discrete-gaussian", (2,), (Fraction(2, 3), Fraction(4))))
    assert found == ("discrete-gaussian", ["2/3", "4"])
    assert sources.law_of(draw("choice", np.array([1.0, 2.0]))) == ("choice", [1.0, 2.0])
    assert Listed(("a", "b"), "release", NONE, np.zeros(0)).name == "a/b"


def test_public_laws() -> None:
    one, other = np.random.default_rng(1), np.random.default_rng(1)
    assert np.array_equal(sources.sample_law(one, ("uniform",), (2, 3)), other.random((2, 3)))
    assert np.array_equal(sources.sample_law(one, ("integers", 9), 50), other.integers(0, 9, 50))
    found = sources.sample_law(one, ("choice", [1.0, 3.0, 0.0]), 4000)
    assert set(found.tolist()) == {0, 1} and abs(found.mean() - 0.75) < 0.05
    with pytest.raises(InvalidParameter, match="unknown law"):
        sources.sample_law(one, ("normal",), 3)


def test_assignments_follow_their_laws() -> None:
    one, other = np.random.default_rng(2), np.random.default_rng(2)
    u = other.random(1000)
    found = sources.sample_assignment(one, assign("partition", (0.25, 0.5), size=(10, 100)))
    assert np.array_equal(found, np.where(u < 0.25, 0, np.where(u < 0.75, 1, -1))) and found.dtype == np.int64
    assert np.array_equal(
        sources.sample_assignment(one, assign("poisson", 0.3, size=50)), np.where(other.random(50) < 0.3, 0, -1)
    )
    for size, rate, taken in ((10, 0.35, 3), (10, 0.4, 4), (7, 0.99, 6), (5, 1.0, 5)):
        assert (sources.sample_assignment(one, assign("without-replacement", rate, size=size)) == 0).sum() == taken
    shared = sources.sample_assignment(one, assign("shares", (2, 3), size=9))
    assert np.bincount(shared + 1).tolist() == [4, 2, 3]
    assert np.bincount(sources.sample_assignment(one, assign("shares", (2, 3), size=5)) + 1).tolist() == [0, 2, 3]
    assert len(sources.sample_assignment(one, assign("shares", (2, 3), size=4))) == 4
    assert sources.sample_assignment(one, assign("partition", (1.0,))).tolist() == [0] * 12
    with pytest.raises(InvalidParameter, match="unknown law"):
        sources.sample_assignment(one, assign("uniform"))


@pytest.mark.parametrize(
    "law", [("partition", (0.25, 0.5)), ("poisson", 0.3), ("shares", (4, 9)), ("partition", (1.0,))]
)
def test_coins_of_a_part_are_those_of_the_whole(law: Any) -> None:
    coins = Coins(bytes(range(16)), law, 23)
    whole = np.asarray(coins)
    assert len(whole) == 23 and coins.count == 23
    for start, count in ((0, 5), (3, 4), (4, 9), (9, 14), (22, 1), (7, 0)):
        part = coins.part(start, count)
        assert np.array_equal(np.asarray(part), whole[start : start + count])
        assert np.array_equal(np.asarray(part.part(1, max(count - 1, 0))), whole[start + 1 : start + max(count, 1)])
        assert np.array_equal(np.asarray(Coins.from_json(part.to_json())), np.asarray(part))
        assert np.array_equal(sources.part_of(coins, start, count), sources.part_of(whole, start, count))
    assert Coins(coins.key, law, 23, 20).count == 3
    keys = [
        sources.key_of(secret, replace(assign(*law), serial=serial)) for secret in (b"x", b"y") for serial in (1, 2)
    ]
    assert len(set(keys)) == 4 and all(len(key) == 16 for key in keys)


def test_a_sample_lists_what_it_draws_and_a_tape_plays_it() -> None:
    """Every kind of request, with and without the exact choice; the public draws are those of the first child."""
    table = np.array([[0.0, 1.0, -np.inf], [5.0, 4.5, 4.0]])
    asked = [
        release(Laplace(2.0)),
        release(Gaussian((1.0, 2.0, 3.0))),
        release(DiscreteGaussian(4.0, 0.5)),
        release(DiscreteLaplace(4.0, 0.5)),
        release(Exponential(1.0), table),
        draw("uniform"),
        draw("integers", 7, size=(2, 3)),
        draw("choice", [1.0, 2.0]),
        assign("partition", (0.5, 0.25)),
        assign("poisson", 0.5, size=(3, 4)),
        assign("shares", (3, 4)),
    ]
    for exact in (False, True):
        source = SampleSource(np.random.default_rng(3), exact=exact, record=True)
        answers = [np.asarray(getattr(source, one.kind)(one)) for one in asked]
        assert [one.kind for one in source.tape] == [one.kind for one in asked]
        assert (source.tape[4].law == INDEX) is exact and source.tape[0].law == ("laplace",)
        player = TapeSource(source.tape)
        assert all(np.array_equal(getattr(player, one.kind)(one), a) for one, a in zip(asked, answers, strict=True))
        player.finish()
        public = np.random.default_rng(3).spawn(2)[0]
        assert np.array_equal(answers[5], public.random(5))
        quiet = SampleSource(np.random.default_rng(3), exact=exact)
        assert all(np.array_equal(getattr(quiet, one.kind)(one), a) for one, a in zip(asked, answers, strict=True))
        assert quiet.tape == []
    for missing in (release(None), release(Laplace(1.0), None)):
        with pytest.raises(InvalidParameter, match="mechanism and a value"):
            SampleSource(np.random.default_rng(3)).release(missing)


def test_keyed_coins_are_a_function_of_their_secret() -> None:
    one = assign("poisson", 0.5)
    plain = SampleSource(np.random.default_rng(4), assignments=b"s" * 16)
    listed = SampleSource(np.random.default_rng(5), assignments=b"s" * 16, record=True)
    coins = plain.assign(one)
    assert isinstance(coins, Coins) and coins.size == 12
    assert np.array_equal(listed.assign(one), np.asarray(coins)) and listed.tape[0].values.shape == (12,)
    third = SampleSource(np.random.default_rng(4), assignments=True)
    generator = np.random.default_rng(4)
    generator.spawn(2)
    assert third.assign(one) == Coins(sources.key_of(generator.spawn(1)[0].bytes(16), one), one.law, 12)


def test_sources_without_noise_or_records() -> None:
    table = np.array([[0.0, 1.0], [5.0, 4.5], [2.0, 2.0]])
    source = NoiselessSource(np.random.default_rng(1), record=True)
    assert np.array_equal(source.release(release(Laplace(1.0))), VALUE)
    assert source.release(release(Exponential(1.0), table)).tolist() == [1, 0, 0]
    assert [one.law for one in source.tape] == [NONE, NONE] and source.tape[0].values.size == 0
    player = TapeSource(source.tape)
    assert np.array_equal(player.release(release(Laplace(1.0))), VALUE)
    assert player.release(release(Exponential(1.0), table)).tolist() == [1, 0, 0]
    empty = AccountSource()
    assert empty.release(release(Laplace(1.0))).tolist() == [[0.0] * 3] * 2
    assert empty.release(release(Exponential(1.0), table)).tolist() == [0, 0, 0]
    assert empty.draw(draw("uniform", size=(2, 2))).tolist() == [[0.0, 0.0]] * 2
    assert empty.draw(draw("uniform")).dtype == np.float64 and empty.draw(draw("integers", 3)).dtype == np.int64
    assert empty.assign(assign("poisson", 0.5)).tolist() == [0] * 12
    with pytest.raises(InvalidParameter, match=r"at most 2\^57 steps"):  # before a run is charged, and not in it
        empty.release(release(DiscreteLaplace(2.0**60, 1.0)))


# --- Tapes ------------------------------------------------------------------------------------------------------------


def played(request: Request, law: Any, values: Any, **changed: Any) -> np.ndarray:
    entry = Listed(changed.get("path", request.path), changed.get("kind", request.kind), law, np.asarray(values))
    return np.asarray(getattr(TapeSource([entry]), request.kind)(request))


def test_tapes_of_sums_in_steps() -> None:
    steps = np.arange(6).reshape(2, 3)
    assert np.array_equal(played(release(DiscreteLaplace(4.0, 0.5)), STEPS, steps), VALUE + steps / 2)
    assert np.array_equal(played(release(Laplace(4.0)), STEPS, steps), VALUE + GRID * steps)
    noise = np.full((2, 3), 0.5)
    assert np.allclose(played(release(Gaussian(2.0)), ("normal", 9), noise), VALUE + 3.0)
    assert np.allclose(played(release(Gaussian(2.0)), ("normal",), noise), VALUE + 1.0)
    with pytest.raises(InvalidParameter, match="one deviation"):
        tape.together(Gaussian((1.0, 2.0)), 3)
    assert tape.together(Gaussian(2.0), 9) == Gaussian(6.0)


TABLE = np.array([[0.0, 1.0, -np.inf], [5.0, 4.5, 4.0]])


@pytest.mark.parametrize(
    ("request_", "law", "right", "wrong"),
    [
        (draw("integers", 7, size=2), ("integers", 7), [[0, 6]], [[-1, 0], [7, 0], [0], [0.0, 1.0]]),
        (draw("choice", [1.0, 2.0], size=2), ("choice", [1.0, 2.0]), [[0, 1]], [[2, 0], [-1, 0]]),
        (
            draw("uniform", size=2),
            ("uniform",),
            [[0.0, 1 - 2.0**-53]],
            [[1.0, 0.0], [-1e-9, 0.0], [0, 1], [math.nan, 0.0]],
        ),
        (
            assign("partition", (0.5, 0.2), size=(1, 3)),
            ("partition", [0.5, 0.2]),
            [[-1, 0, 1]],
            [[-2, 0, 0], [2, 0, 0], [0, 0]],
        ),
        (assign("shares", (1, 1), size=2), ("shares", [1, 1]), [[-1, 1]], [[2, 0]]),
        (assign("poisson", 0.5, size=2), ("poisson", 0.5), [[-1, 0]], [[1, 0]]),
        (release(Exponential(1.0), TABLE), INDEX, [[1, 2], [0, 0]], [[2, 0], [-1, 0], [0, 3], [0]]),
        (release(Laplace(1.0), np.zeros(2)), NONE, [np.zeros(0)], [np.zeros(1)]),
    ],
)
def test_a_tapes_values_are_those_that_the_law_allows(request_: Any, law: Any, right: Any, wrong: Any) -> None:
    for values in right:
        played(request_, law, values)
    for values in wrong:
        with pytest.raises(InvalidParameter, match="tape"):
            played(request_, law, values)


def test_a_tape_of_another_run_is_refused() -> None:
    one, values = draw("integers", 7, size=2), np.array([1, 2])
    for changed in ({"path": ("a", "x")}, {"kind": "assign"}):
        with pytest.raises(InvalidParameter, match="another run"):
            played(one, ("integers", 7), values, **changed)
    with pytest.raises(InvalidParameter, match="another run"):
        played(one, ("integers", 8), values)
    with pytest.raises(InvalidParameter, match="ends before"):
        TapeSource([]).draw(one)
    with pytest.raises(InvalidParameter, match="goes on"):
        TapeSource([Listed(("a",), "draw", ("uniform",), values)]).finish()
    TapeSource([]).finish()


# --- Shares -----------------------------------------------------------------------------------------------------------


class Network:
    """Participants of whom some answer."""

    def __init__(self, *present: bool) -> None:
        self.present, self.participants, self.least = np.array(present), len(present), 1


def sharing(honest: int, *present: bool, **more: Any) -> shares.Shares:
    generators = [np.random.default_rng(seed) for seed in range(len(present))]
    return shares.Shares(Network(*present), honest, np.random.default_rng(9), generators, **more)  # type: ignore[arg-type]


def test_shares_of_those_who_answer_are_added() -> None:
    """Over many entries the variance is that of so many shares; what is listed is the sum, in steps."""
    zeros = np.zeros((400, 3))
    for mechanism, step, variance in (
        (DiscreteGaussian(8.0, 0.5), 0.5, 64.0), (Gaussian((1.0, 2.0, 4.0)), GRID, None), (Laplace(2.0), GRID, 8.0),
        (DiscreteLaplace(4.0, 0.25), 0.25, 32.0), (DiscreteGaussian((8.0, 4.0, 2.0), 0.25), 0.25, None),
    ):  # fmt: skip
        listed: list[Listed] = []
        one = sharing(2, True, False, True, True, tape=listed)
        found = one.release(release(mechanism, zeros))
        assert one.network.least == 2 and listed[0].law == STEPS and np.allclose(listed[0].values * step, found)
        if variance is not None:
            assert found.var() == pytest.approx(1.5 * variance, rel=0.25)
        else:
            sds = np.array(mechanism.sd)  # type: ignore[union-attr]
            assert np.allclose(found.std(axis=0) / sds, math.sqrt(1.5), rtol=0.2)
        assert found.shape == (400, 3)


def test_shares_are_refused_where_they_do_not_hold() -> None:
    for honest, count in ((0, 3), (4, 3)):
        with pytest.raises(InvalidParameter, match="honest"):
            sharing(honest, *[True] * count)
    assert sharing(3, True, True, True).honest == 3 and sharing(1, True).honest == 1
    with pytest.raises(InvalidParameter, match="one each"):
        sharing(1, True, True, sizes=(3,))
    with pytest.raises(InvalidParameter, match="need their sizes"):
        sharing(1, True, True).assign(assign("poisson", 0.5))
    for mechanism in (Gaussian(2.0), Exponential(1.0)):
        with pytest.raises(InvalidParameter, match="allowed are Laplace and Gaussian"):
            sharing(1, True).release(release(mechanism))
    with pytest.raises(InvalidParameter, match="too coarse"):
        sharing(2, True, True).release(release(DiscreteGaussian(1.0, 0.5)))
    sharing(1, True).release(release(DiscreteGaussian(1.0, 0.5)))  # one share is the noise itself
    assert shares.share_deviation(6.0, 9) == math.nextafter(2.0, 3.0)
    assert shares.excess(0.3, 3, 4) == pytest.approx(
        10 * (math.exp(-2 * math.pi**2 * 0.09 / 2) + math.exp(-2 * math.pi**2 * 0.09 * 2 / 3)) * 4
    )
    assert shares.excess(0.3, 1, 4) == 0


def test_participants_toss_for_their_own_records() -> None:
    listed: list[Listed] = []
    one = sharing(1, True, True, sizes=(4, 3), tape=listed)
    found = one.assign(assign("without-replacement", 0.5, size=7))
    assert (found[:4] == 0).sum() == 2 and (found[4:] == 0).sum() == 1 and listed[0].law == ("without-replacement", 0.5)
    assert np.array_equal(one.draw(draw("uniform")), np.random.default_rng(9).random(5)) and len(listed) == 2


def test_local_noise_is_that_of_all_who_are_present() -> None:
    listed: list[Listed] = []
    one = shares.LocalSource(
        Network(True, False, True, True, True), np.random.default_rng(1), np.random.default_rng(2), listed
    )  # type: ignore[arg-type]
    found = one.release(release(Gaussian(3.0)))
    assert np.allclose(found, VALUE + 6 * np.random.default_rng(2).standard_normal((2, 3)))
    assert listed[0].law == ("normal", 4) and np.array_equal(
        one.draw(draw("uniform")), np.random.default_rng(1).random(5)
    )
    for mechanism in (Gaussian((1.0, 2.0, 3.0)), Laplace(1.0)):
        with pytest.raises(InvalidParameter, match="one deviation"):
            one.release(release(mechanism))
    with pytest.raises(InvalidParameter, match="no secret assignment"):
        one.assign(assign("poisson", 0.5))
