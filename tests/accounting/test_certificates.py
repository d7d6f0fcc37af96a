"""The independent checker: certificates hold, altered ones do not, and random plans are enclosed by its balls."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from account_plans import ADD_REMOVE, exponential, gaussian, laplace, plan, release, sampled_gaussian
from flint import arb
from typer.testing import CliRunner

from proofs import accounting
from proofs.accounting import Part, Rejected, both_directions, check, digest, main
from refdp.accounting import account
from refdp.accounting.certificates import certificate
from refdp.errors import InvalidParameter
from refdp.noise.mechanisms import DiscreteLaplace, Gaussian, Laplace
from refdp.privacy.events import Event, Plan, Repeat, Sequential, Subsample

PLANS = {
    "gaussian": (gaussian(1.0), 1e-6),
    "gaussians": (gaussian(30.0, 1000), 1e-12),
    "laplace": (laplace(2.0), 1e-3),
    "laplaces": (laplace(20.0, 60), 1e-9),
    "steps": (plan(Repeat(release(DiscreteLaplace(8.0, 1.0), 3.0), 12)), 1e-5),
    "answers": (plan(Repeat(release(DiscreteLaplace(4.0, 1.0)), 300)), 1e-6),
    "sampled answers": (plan(Repeat(Subsample(0.1, release(DiscreteLaplace(2.0, 1.0))), 400)), 1e-6),
    "two kinds": (plan(Repeat(release(Laplace(20.0)), 100), Repeat(release(Gaussian(20.0)), 100)), 1e-5),
    "three kinds": (
        plan(
            Repeat(release(Laplace(20.0)), 10),
            Repeat(release(DiscreteLaplace(9.0, 1.0), 2.0), 20),
            Repeat(release(Gaussian(7.0)), 9),
        ),
        1e-8,
    ),
    "sampled laplace": (plan(Repeat(Subsample(0.1, release(Laplace(1.0))), 100)), 1e-4),
}


@pytest.mark.parametrize("name", PLANS)
def test_certificates_hold(name: str) -> None:
    whole, delta = PLANS[name]
    text = json.dumps(certificate(whole, delta))
    lower, upper = check(text)
    assert lower <= upper <= lower * (1 + 1e-4)
    bound = account(whole, delta=delta)
    assert (lower, upper) == (bound.lower, bound.upper)


def test_a_flipped_digit_is_rejected() -> None:
    """Every digit of the file once; and figures that are too good, under a digest that fits them."""
    fields = certificate(PLANS["two kinds"][0], 1e-5)
    text = json.dumps(fields)
    for index, letter in enumerate(text):
        if letter.isdigit():
            with pytest.raises(Rejected):
                check(text[:index] + str((int(letter) + 1) % 10) + text[index + 1 :])
    del fields["digest"]
    for name, factor in (("upper", "0.99999"), ("lower", "1.00001"), ("delta", "0.9999"), ("delta", "1.0001")):
        wrong = {**fields, name: str(Fraction(float(Fraction(fields[name]) * Fraction(factor))))}
        with pytest.raises(Rejected, match=r"not shown|ends are not in order"):
            check(json.dumps({**wrong, "digest": digest(wrong)}))


HOSTILE: dict[str, tuple[dict[str, object], dict[str, object]]] = {
    "another kind": ({}, {"kind": "pure"}),
    "a shift where there is none": ({}, {"shift": 2}),
    "a field of the part that says nothing": ({}, {"note": "one release only"}),
    "a field that says nothing": ({"plan": "another"}, {}),
    "no such relation": ({"relation": "none"}, {}),
    "no parts": ({"parts": []}, {}),
    "ends in reverse": ({"lower": "3", "upper": "2"}, {}),
    "an end below zero": ({"lower": "-1"}, {}),
    "no number": ({"upper": "nan"}, {}),
    "infinity": ({"upper": "inf"}, {}),
    "a float": ({"upper": 2.5}, {}),
    "an end between floats": ({"upper": "25/3"}, {}),
    "a number too long to read": ({}, {"size": "1e100000000"}),
    "a truth for a count": ({}, {"count": True}),
    "more often than floats count": ({}, {"count": 2**54}),
    "a rate of zero": ({}, {"rate": "0"}),
    "a rate above one": ({}, {"rate": "2"}),
    "delta one": ({"delta": "1"}, {}),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_certificates_are_rejected_whatever_their_digest(name: str) -> None:
    fields = certificate(laplace(20.0, 60), 1e-9)
    del fields["digest"]
    whole, part = HOSTILE[name]
    wrong = {**fields, "parts": [{**fields["parts"][0], **part}], **whole}
    with pytest.raises(Rejected):
        check(json.dumps({**wrong, "digest": digest(wrong)}))


def test_fields_stated_twice_samples_of_replaced_records_and_half_a_file_are_rejected() -> None:
    text = json.dumps(certificate(laplace(20.0, 60), 1e-9))
    assert check(text)
    for wrong in (text[:-9], text.replace('"upper"', '"upper": "1/8", "upper"'), "[" * 10**5, "null"):
        with pytest.raises(Rejected, match="not a certificate"):
            check(wrong)
    fields = certificate(plan(Repeat(Subsample(0.1, release(DiscreteLaplace(2.0, 1.0))), 5)), 1e-6)
    del fields["digest"]
    wrong_fields = {**fields, "relation": "replace-one"}
    with pytest.raises(Rejected, match="are not covered"):
        check(json.dumps({**wrong_fields, "digest": digest(wrong_fields)}))


def test_the_checker_needs_neither_refdp_nor_numpy() -> None:
    code = "import sys, proofs.accounting; print(sorted({'refdp', 'numpy', 'scipy'} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
    source = Path(sys.modules["proofs.accounting"].__file__ or "").read_text(encoding="utf-8")
    assert len(source.splitlines()) <= 300


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from refdp.faces.cli import app

    path = tmp_path / "out.json"
    done = CliRunner().invoke(
        app, ["account", "--laplace", "20x30", "--delta", "1e-5", "--certificate", str(path), "--json"]
    )
    assert done.exit_code == 0, done.output
    assert main([str(path)]) == 0
    assert "holds: epsilon is between" in capsys.readouterr().out
    path.write_text(path.read_text(encoding="utf-8").replace("laplace", "pure"), encoding="utf-8")
    assert main([str(path)]) == 1
    assert main([str(tmp_path / "none.json")]) == 1


@pytest.mark.parametrize("whole", [exponential(0.1, 3), sampled_gaussian(0.1, 1.0, 3)])
def test_what_the_checker_does_not_know_is_refused(whole: Plan) -> None:
    with pytest.raises(InvalidParameter, match="a certificate for"):
        certificate(whole, 1e-6)
    with pytest.raises(InvalidParameter, match="nothing to certify"):
        certificate(laplace(1.0), 0.999)


def random_parts(generator: np.random.Generator) -> list[tuple[Event, Part]]:
    """A few kinds of releases that the checker can enclose, with its own description of them."""
    family = generator.integers(4)
    size = float(10 ** generator.uniform(-1.5, 0.5))
    count = int(10 ** generator.uniform(0, 1.4))
    exact = Fraction(1) / Fraction(1 / size)
    if family == 0:
        return [(Repeat(release(Laplace(1 / size)), count), Part("laplace", exact, count))]
    step = Repeat(release(DiscreteLaplace(1 / size, 1.0)), count)
    if family == 1:
        return [(step, Part("discrete-laplace", exact, count))]
    if family == 2:
        rate = float(generator.uniform(0.01, 0.95))
        event = Repeat(Subsample(rate, release(DiscreteLaplace(1 / size, 1.0))), count)
        return [(event, Part("discrete-laplace", exact, count, 1, Fraction(rate)))]
    sd = 1 / (size * math.sqrt(count) * float(generator.uniform(0.5, 2)))
    found: list[tuple[Event, Part]] = [(release(Gaussian(sd)), Part("gaussian", (1 / Fraction(sd)) ** 2, 1))]
    found.append((Repeat(release(Laplace(1 / size)), count), Part("laplace", exact, count)))
    if generator.random() < 0.5:
        found.append((step, Part("discrete-laplace", exact, count)))
    return found


def enclosed(generator: np.random.Generator) -> float:
    """One random plan at a random δ: both questions against the balls; the width relative to ε."""
    found = random_parts(generator)
    whole = Plan(ADD_REMOVE, Sequential(tuple(event for event, _ in found)))
    parts = [part for _, part in found]
    delta = float(10 ** generator.uniform(-12, -2))
    bound = account(whole, delta=delta)
    if bound.upper > 0:
        truth = max(float(ball.upper()) for ball in both_directions(parts, Fraction(bound.upper)))
        assert truth <= delta * (1 + 1e-12), (parts, delta, bound)
    if bound.lower > 0:
        truth = max(float(ball.lower()) for ball in both_directions(parts, Fraction(bound.lower)))
        assert truth >= delta * (1 - 1e-12), (parts, delta, bound)
        back = account(whole, epsilon=bound.lower)
        assert back.lower <= truth * (1 + 1e-12)
        assert back.upper >= truth * (1 - 1e-12)
    return (bound.upper - bound.lower) / max(bound.upper, 1e-3)


def test_random_plans_against_balls() -> None:
    generator = np.random.default_rng(19)
    widths = [enclosed(generator) for _ in range(60)]
    assert np.quantile(widths, 0.9) <= 1e-4


@pytest.mark.statistics
def test_thousands_of_random_plans_against_balls() -> None:
    generator = np.random.default_rng(20)
    for _ in range(5000):
        enclosed(generator)


@pytest.mark.parametrize("first", [True, False])
def test_a_ball_that_is_no_number_shows_nothing(first: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """The greatest of a number and NaN is the number where it comes first."""
    text = json.dumps(certificate(*PLANS["answers"]))
    check(text)
    small, large, nothing = arb("1e-9"), arb("1e-3"), arb("nan")

    def balls(parts: list[Part], epsilon: Fraction) -> list[arb]:
        known = small if epsilon == upper else large
        return [known, nothing] if first else [nothing, known]

    upper = Fraction(check(text)[1])
    monkeypatch.setattr(accounting, "both_directions", balls)
    with pytest.raises(Rejected, match="is not shown to be at most"):
        check(text)
    monkeypatch.setattr(accounting, "both_directions", lambda parts, epsilon: [nothing])
    with pytest.raises(Rejected):
        check(text)
