"""InPrivate Digging among owners: what a view costs, and what measuring an advance costs and guarantees."""

from __future__ import annotations

import sympy

from proofs.checker.evidence import Identity, Proved
from proofs.checker.proposition import ADD_REMOVE, REPLACE_ONE, Proposition
from proofs.checker.statements import AtMost, Real, reals
from proofs.checker.tightness import Tight
from proofs.inprivate.splits import AR, RO
from refdp.data.numbers import absolute
from refdp.protocols import quality

SUMMAND = (Real("S"), Real("a"), Real("b"), Real("p"), Real("E"))
"""A sum of other records' changes, a record's errors before and after, the tolerance and the cut."""

PROPOSITIONS = (
    *(
        Proposition(
            f"inprivate/owners{suffix}",
            "section VI-B, repaired",
            "For neighbours that differ in one record of one owner, all owners' trees cost that owner's own releases.",
            relation,
            evidence=(
                Proved(
                    AtMost(
                        reals("a p q b t"),
                        lambda a, p, b: a * p * b,
                        lambda a, q, b, t: t * (a * q * b),
                        lambda a, p, q, b, t: (a >= 0, b >= 0, p >= 0, q >= 0, p <= t * q),
                    ),
                    label="densities a, b of the other owners, given all trees before theirs, are the same on both",
                ),
            ),
            argument="An owner's step sees earlier trees and its own records alone. Who has records at several owners "
            "pays at each.",
        )
        for suffix, relation in (("", ADD_REMOVE), ("-replace-one", REPLACE_ONE))
    ),
    Proposition(
        "inprivate/advance-sum",
        "section VI-B, repaired",
        "The sum of changes of the error beyond p, each cut to [-E, E], changes by at most E when a record is added.",
        ADD_REMOVE,
        about=(quality.error_change, quality.advance_sensitivity),
        evidence=(
            Proved(
                AtMost(
                    SUMMAND,
                    lambda S, a, b, p, E: absolute((S + quality.error_change(a, b, p, E)) - S),
                    lambda E: quality.advance_sensitivity(E, AR),
                    lambda E: E > 0,
                ),
                tight=Tight(
                    "E",
                    "for a record whose error falls by E + p",
                    at=lambda E, p: {"S": 0, "a": E + absolute(p) + p, "b": absolute(p)},
                    near={"S": 0, "a": 1, "b": 0, "p": 0, "E": 1},
                    given=lambda E: E > 0,
                ),
            ),
        ),
    ),
    Proposition(
        "inprivate/advance-sum-replace-one",
        "section VI-B, repaired",
        "The sum of changes of the error beyond p, each cut to [-E, E], changes by at most 2 E when one is replaced.",
        REPLACE_ONE,
        about=(quality.error_change, quality.advance_sensitivity),
        evidence=(
            Proved(
                AtMost(
                    (*SUMMAND, Real("c"), Real("d")),
                    lambda S, a, b, c, d, p, E: absolute(
                        (S + quality.error_change(a, b, p, E)) - (S + quality.error_change(c, d, p, E))
                    ),
                    lambda E: quality.advance_sensitivity(E, RO),
                    lambda E: E > 0,
                ),
                tight=Tight(
                    "2 E",
                    "from a fall of E + p to a rise of E - p",
                    at=lambda E, p: {
                        "S": 0,
                        "a": E + absolute(p) + p,
                        "b": absolute(p),
                        "c": absolute(p) + p,
                        "d": E + absolute(p),
                    },
                    near={"S": 0, "a": 1, "b": 0, "c": 0, "d": 1, "p": 0, "E": 1},
                    given=lambda E: E > 0,
                ),
            ),
        ),
    ),
    Proposition(
        "inprivate/control-margin",
        "section VI-B, repaired",
        "Laplace noise of scale b is above b log(1 / (2 beta)) with probability beta, for 0 < beta <= 1/2.",
        about=(quality.margin,),
        evidence=(
            Identity(
                "b t",
                lambda b, t: sympy.exp(-quality.margin(b, t) / b) / 2,
                lambda t: t,
                positive=True,
                label="the upper tail exp(-x/b)/2 of the Laplace law at the margin",
            ),
        ),
        gloss="A tree that worsens the total error on the checking owner's records by more than the margin passes "
        "with probability at most beta, one that improves it by more is refused with at most that.",
    ),
)
