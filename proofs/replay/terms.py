"""Numbers, lists and recorded requests as Coq terms over the rationals."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from refdp.data.candidates import Candidates
from refdp.data.records import Floats
from refdp.noise.mechanisms import DiscreteGaussian, DiscreteLaplace, Exponential, Gaussian, Laplace
from refdp.privacy.curator import Entry, Transcript


def number(value: float | Fraction) -> str:
    """The rational that a float is."""
    exact = Fraction(float(value)) if not isinstance(value, Fraction) else value
    return f"({exact.numerator} # {exact.denominator})"


def listed(items: Iterable[str]) -> str:
    """A list."""
    return "[" + "; ".join(items) + "]"


def numbers(values: Iterable[float]) -> str:
    """A list of numbers."""
    return listed(map(number, values))


def truth(value: bool) -> str:
    """A boolean."""
    return "true" if value else "false"


def record(features: Sequence[float], label: float) -> str:
    """A record, NaN being missing."""
    cells = ["None" if np.isnan(value) else f"Some {number(value)}" for value in features]
    return f"{{| features := {listed(cells)}; label := {number(label)} |}}"


def candidate(split: Sequence[float], categorical: Sequence[bool]) -> str:
    """A split (feature, value) or (feature, value, whether missing values go right)."""
    feature = int(split[0])
    side = truth(len(split) > 2 and split[2] != 0)
    return f"({feature}%nat, {truth(bool(categorical[feature]))}, {number(split[1])}, {side})"


def levels(splits: Floats, categorical: Sequence[bool]) -> str:
    """The splits of a whole tree, level by level."""
    depth = int(np.log2(len(splits) + 1))
    rows = [splits[2**level - 1 : 2 ** (level + 1) - 1] for level in range(depth)]
    return listed(listed(candidate(split, categorical) for split in row) for row in rows)


def labels_by_index(columns: Sequence[Floats]) -> tuple[list[float], list[str]]:
    """One number a record that stands for its labels of all scores; each score's label as a function of it."""
    if len(columns) == 1:
        return [float(value) for value in columns[0]], ["(fun r => label r)"]
    kinds = sorted(set(zip(*(column.tolist() for column in columns), strict=True)))
    which = [float(kinds.index(row)) for row in zip(*(column.tolist() for column in columns), strict=True)]
    functions = []
    for score in range(len(columns)):
        text = number(0.0)
        for index, kind in enumerate(kinds):
            text = f"if Qeq_bool (label r) {number(float(index))} then {number(kind[score])} else {text}"
        functions.append(f"(fun r => {text})")
    return which, functions


class Requests:
    """A transcript as what was assigned, what came out, and what was asked."""

    def __init__(self, transcript: Transcript, touched: int) -> None:
        """touched: coordinates of a release that can change, of each of which rounding adds a step."""
        self.certified = "true"
        """A further question about the parameters of the run."""
        self.assigned: list[str] = []
        self.outputs: list[str] = []
        self.expected: list[str] = []
        for entry in transcript.entries:
            if entry.request.kind == "assign":
                self._assigned(entry)
            elif entry.request.kind == "release":
                self.released(entry, touched)

    def _assigned(self, entry: Entry) -> None:
        law, output = entry.request.law, np.asarray(entry.output)
        weights = law[1] if law[0] == "partition" else (law[1],)
        self.everyone(weights, [int(block) if block >= 0 else len(weights) for block in output])

    def everyone(self, weights: Sequence[float], blocks: Sequence[int]) -> None:
        """An assignment of record slots to blocks; the rest is in none."""
        rest = 1 - sum(map(Fraction, weights))
        self.assigned.append(listed(f"{block}%nat" for block in blocks))
        self.expected.append(f"SeenBlocks {listed([*map(number, weights), number(rest)])} {len(blocks)}")

    def released(self, entry: Entry, touched: int) -> None:
        """A release: its output, and its value and scale as the text must have them."""
        mechanism, value = entry.request.mechanism, entry.value
        assert value is not None and mechanism is not None
        if isinstance(mechanism, Exponential):
            assert entry.index is not None
            self.outputs.append(f"Chosen {listed(f'{int(i)}%nat' for i in entry.index)}")
            rows = listed(numbers(row) for row in np.atleast_2d(value))
            self.expected.append(f"SeenChoice {number(mechanism.coefficient)} {rows}")
            return
        self.outputs.append(f"Noisy {numbers(np.ravel(self.arranged(entry.output)))}")
        values = np.ravel(self.arranged(value))
        if isinstance(mechanism, Laplace | DiscreteLaplace):
            least, most = _interval(entry, mechanism.scale, touched)
            self.expected.append(f"SeenLaplace {number(least)} {number(most)} {numbers(values)}")
            return
        assert isinstance(mechanism, Gaussian | DiscreteGaussian)
        deviations: Floats = np.broadcast_to(np.asarray(mechanism.sd, dtype=np.float64), value.shape)
        pairs = zip(np.ravel(self.arranged(deviations)), values, strict=True)
        self.expected.append("SeenNormal " + listed(self._normal(entry, sd, one, touched) for sd, one in pairs))

    def _normal(self, entry: Entry, deviation: float, value: float, touched: int) -> str:
        least, most = _interval(entry, deviation, touched)
        return f"({number(least)}, {number(most)}, {number(value)})"

    def arranged(self, values: Any) -> Any:
        """The order in which the text lists a release's values."""
        return values

    def arguments(self) -> str:
        """What `replays` takes after the program."""
        return f"{listed(self.assigned)} {listed(self.outputs)} {listed(self.expected)}"


def _interval(entry: Entry, scale: float, touched: int) -> tuple[float, float]:
    """Where the scale lies before rounding to the grid of discrete noise adds to the sensitivity."""
    mechanism, sensitivity = entry.request.mechanism, entry.request.sensitivity
    assert sensitivity is not None
    if not isinstance(mechanism, DiscreteLaplace | DiscreteGaussian) or sensitivity.norm == "whitened":
        return scale, scale
    added = touched + 1 if isinstance(mechanism, DiscreteLaplace) else touched**0.5
    fewer = touched - 1 if isinstance(mechanism, DiscreteLaplace) else touched**0.5
    steps = mechanism.step / sensitivity.bound
    return scale * (1 - added * steps), scale * (1 - fewer * steps)


def grid(candidates: Candidates) -> str:
    """All candidates."""
    return listed(candidate(split, candidates.categorical.tolist()) for split in candidates.values)
