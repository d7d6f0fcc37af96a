"""Checks a certificate of `refdp account --certificate FILE` in ball arithmetic: python -m proofs.accounting FILE

Nothing of refdp, numpy or a fast Fourier transform is used. With M(z) = E_P[e^{zL}] of the composed loss L, x = ε and
c > 0, Poisson summation turns the contour integral of δ into a sum over points of one vertical line,

    Δ/(2π) Σ_k M(z_k) e^{-z_k x} / (z_k (z_k + 1)) = Σ_m δ(x + mT) e^{cmT},    z_k = c + ikΔ, T = 2π/Δ.

Every term on the right is at least 0. The terms m != 0 are bounded by Chernoff and by δ <= 1, what is cut off on the
left by the largest |M| beyond the cut. Losses that take a few values only are enumerated instead, and repeated plain
Laplace noise, whose transform hardly decays, is a finite sum of residues. What remains is a ball around δ(ε).
"""

from __future__ import annotations

import hashlib
import json
import math
import re
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

from flint import acb, arb, arb_series, ctx, fmpq

FORMAT = "refdp accounting certificate 1"
KINDS, RELATIONS = ("gaussian", "laplace", "discrete-laplace", "pure"), ("add-remove", "replace-one")
_POINTS = _OUTCOMES = 200_000
Transform = Callable[[Any], Any]
Law = tuple[Transform, Callable[[arb, arb], arb], int]
"""M of one release, a bound on |M(c + iy)| for all |y| >= Y, and how often."""


class Rejected(Exception):
    """The certificate does not hold, or cannot be checked."""


@dataclass(frozen=True)
class Part:
    """One kind of release: its parameter, how often, and the Poisson rate (1: not sampled)."""

    kind: str
    size: Fraction
    count: int
    shift: int = 1
    rate: Fraction = Fraction(1)

    @property
    def real(self) -> arb:
        """The parameter as a ball: μ² of Gaussian noise, else the largest loss (of one step, for discrete noise)."""
        return _ball(self.size)


def check(text: str) -> tuple[float, float]:
    """The ends (lower, upper) of a certificate that holds. Errors: Rejected."""
    try:
        data = json.loads(text, object_pairs_hook=_fields)
        stated, relation = data.pop("digest"), data["relation"]
        parts = [_part(row, RELATIONS.index(relation)) for row in data["parts"]] or [_part({}, 0)]
        lower, upper, delta = (_number(data[name]) for name in ("lower", "upper", "delta"))
    except (ValueError, KeyError, TypeError, AttributeError, ZeroDivisionError, RecursionError) as error:
        raise Rejected(f"not a certificate: {error!r}"[:300]) from error
    if stated != digest(data) or data.get("format") != FORMAT or len(data) != 6:
        raise Rejected("the digest, the format or the fields do not fit")
    if not (0 <= lower <= upper and 0 < delta < 1 and float(lower) == lower and float(upper) == upper):
        raise Rejected("the ends are not in order, or no floats")
    if not all(ball.upper() <= _ball(delta) for ball in both_directions(parts, upper)):
        raise Rejected(f"delta at {float(upper)!r} is not shown to be at most {float(delta)!r}")
    if lower > 0 and not any(ball.lower() >= _ball(delta) for ball in both_directions(parts, lower)):
        raise Rejected(f"delta at {float(lower)!r} is not shown to be at least {float(delta)!r}")
    return float(lower), float(upper)


def digest(data: dict[str, Any]) -> str:
    """SHA-256 of the canonical text of everything but the digest."""
    return hashlib.sha256(json.dumps(data, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def both_directions(parts: list[Part], epsilon: Fraction) -> list[arb]:
    """δ(ε) with the record in the first data set, and in the second where that differs."""
    sampled = any(part.rate < 1 for part in parts)
    return [delta_of(parts, epsilon, first) for first in ((True, False) if sampled else (True,))]


def delta_of(parts: list[Part], epsilon: Fraction, first: bool = True) -> arb:
    """A ball around δ(ε)."""
    with ctx.workprec(160):
        if all(part.kind in ("pure", "discrete-laplace") for part in parts) and _outcomes(parts) <= _OUTCOMES:
            return _enumerated(parts, _ball(epsilon), first)
        if len(parts) == 1 and parts[0].kind == "laplace" and parts[0].rate == 1 and parts[0].count <= 600:
            return _residues(parts[0], epsilon)
        coarse = all(part.kind != "gaussian" for part in parts)  # their transforms decay slowly
        laws = [(*transform_of(part, first), part.count) for part in parts]
        return summed(laws, _ball(epsilon), arb("1e-9" if coarse else "1e-24"))


def _fields(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    if len(fields := dict(pairs)) < len(pairs):
        raise ValueError(f"a field that is stated twice among {[name for name, _ in pairs]}")
    return fields


def _part(row: dict[str, Any], replaced: int) -> Part:
    part = Part(row["kind"], _number(row["size"]), row["count"], row.get("shift", 1), _number(row.get("rate", "1")))
    steps = {"shift"} if part.kind == "discrete-laplace" else {"kind"}
    whole = type(part.count) is int and type(part.shift) is int and 0 < part.count <= 2**53 and 0 < part.shift <= 2**12
    known = part.kind in KINDS and row.keys() - {"rate"} == {"kind", "size", "count"} | steps
    if not (known and whole and part.size > 0 and 0 < part.rate <= 1):
        raise ValueError(f"part {row!r}")
    if part.rate < 1 and (part.kind == "gaussian" or replaced):
        raise ValueError("sampled Gaussian noise, and samples under other relations than add-remove, are not covered")
    return part


def _number(text: str) -> Fraction:
    if not isinstance(text, str) or not re.fullmatch(r"[0-9]{1,308}(/[0-9]{1,330})?", text, re.ASCII):
        raise ValueError(f"number {str(text)[:40]!r}: allowed are fractions as text")
    return Fraction(text)


def _ball(value: Fraction) -> arb:
    return arb(fmpq(value.numerator, value.denominator))


def _atoms(part: Part, first: bool) -> list[tuple[arb, arb]]:
    """(loss, P-mass) of a part with few outcomes, sampled as stated."""
    r, n = part.real, part.shift if part.kind == "discrete-laplace" else 1
    norm = 1 / (1 + (-r).exp())
    inner = [(r * n, norm), (-r * n, (-r * n).exp() * norm)]
    inner += [(r * (n - 2 * z), (1 - (-r).exp()) * norm * (-r * z).exp()) for z in range(1, n)]
    if part.rate == 1:
        return inner
    q = _ball(part.rate)
    if first:
        return [((1 - q + q * loss.exp()).log(), p * (-loss).exp() * (1 - q + q * loss.exp())) for loss, p in inner]
    return [(-((1 - q + q * (-loss).exp()).log()), p) for loss, p in inner]


def _outcomes(parts: list[Part]) -> int:
    sizes = (2 if part.kind == "pure" else part.shift + 1 for part in parts)
    return math.prod(math.comb(part.count + k - 1, k - 1) for part, k in zip(parts, sizes, strict=True))


def _enumerated(parts: list[Part], epsilon: arb, first: bool) -> arb:
    total = arb(0)
    for loss, mass in _sums(parts, first):
        gain = 1 - (epsilon - loss).exp()
        if not gain < 0:  # at a boundary that the ball straddles, both readings are inside
            total += mass * (gain if gain > 0 else gain.union(arb(0)))
    return total


def _sums(parts: list[Part], first: bool) -> Iterator[tuple[arb, arb]]:
    """Every composed loss with its mass, by how often each outcome occurs."""
    if not parts:
        yield arb(0), arb(1)
        return
    each, rest = _atoms(parts[0], first), list(_sums(parts[1:], first))
    for counts in _splits(parts[0].count, len(each)):
        loss, mass, left = arb(0), arb(1), parts[0].count
        for (one, p), k in zip(each, counts, strict=True):
            loss, mass, left = loss + k * one, mass * math.comb(left, k) * p**k, left - k
        for other, weight in rest:
            yield loss + other, mass * weight


def _splits(total: int, kinds: int) -> Iterator[tuple[int, ...]]:
    if kinds == 1:
        yield (total,)
        return
    for k in range(total + 1):
        for rest in _splits(total - k, kinds - 1):
            yield (k, *rest)


def _residues(part: Part, epsilon: Fraction) -> arb:
    """n Laplace releases: M = e^{ez} (1 + z)/(1 + 2z) + e^{-e(z+1)} z/(1 + 2z), M^n / (z (z + 1)) term by term.

    The term of e^{az} is 0 if a <= 0 and else the sum of its residues at 0, -1 and, of order n, at -1/2.
    """
    n = part.count
    ctx.prec = 200 + 16 * n
    e, x, total = part.real, _ball(epsilon), arb(0)
    for k in range(n + 1):
        if (2 * k - n) * part.size <= epsilon:
            continue
        a = (2 * k - n) * e - x
        weight = math.comb(n, k) * (-(n - k) * e).exp()
        if k == n:
            total += weight  # the pole at 0, from z^{-1}
        if k == 0:
            total -= weight * (-a).exp() * (-1) ** (n - 1) / arb(-1) ** n
        ctx.cap = n
        up, down = arb_series([arb("0.5"), 1]), arb_series([arb("-0.5"), 1])
        series = _power(up, k - 1) * _power(down, n - k - 1) * (arb_series([0, a])).exp()
        total += weight * (-a / 2).exp() * series[n - 1] / arb(2) ** n
    return total


def _power(series: Any, exponent: int) -> Any:
    return 1 / series if exponent < 0 else series**exponent if exponent else arb_series([1])


def transform_of(part: Part, first: bool) -> tuple[Transform, Callable[[arb, arb], arb]]:
    e = part.real
    if part.kind == "gaussian":
        return (lambda z: (z * (z + 1) * e / 2).exp()), lambda c, y: ((c * (c + 1) - y * y) * e / 2).exp()
    if part.kind != "laplace":
        atoms = _atoms(part, first)
        return (lambda z: sum((p * (z * loss).exp() for loss, p in atoms), acb(0))), lambda c, y: sum(
            (p * (c * loss).exp() for loss, p in atoms), arb(0)
        )
    if part.rate == 1:
        return (
            lambda z: (z * e).exp() * (1 + z) / (1 + 2 * z) + (-(z + 1) * e).exp() * z / (1 + 2 * z),
            lambda c, y: ((c * e).exp() * (1 + 1 / y) + (-(c + 1) * e).exp() * (1 + 1 / y)) / 2,
        )
    q = _ball(part.rate)

    def ratio(loss: Any) -> Any:
        return 1 - q + q * loss.exp()

    def moment(w: Any) -> Any:
        """E_Q[(1 - q + q e^l)^w]: atoms at ±e, density e^{-(l+e)/2}/4 between."""

        def density(loss: Any, analytic: bool) -> Any:
            return (-(loss + e) / 2 + w * ratio(loss).log(analytic=analytic)).exp() / 4

        middle = acb.integral(density, acb(-e), acb(e))
        return ((w * ratio(e).log() - e).exp() + (w * ratio(-e).log()).exp()) / 2 + middle

    def beyond(c: arb, y: arb) -> arb:
        """Partial integration of the middle: at most 2 max(u)^{Re w + 1} max(e^{-(3l+e)/2}) / (4 q |w|)."""
        real = c + 1 if first else -c
        top = max(ratio(e) ** (real + 1), ratio(-e) ** (real + 1), key=lambda b: float(b.upper()))
        edges = ((real * ratio(e).log() - e).exp() + (real * ratio(-e).log()).exp()) / 2
        return edges + top * e.exp() / (2 * q * y)

    return (lambda z: moment(z + 1 if first else -z)), beyond


def summed(transforms: list[Law], x: arb, narrow: arb) -> arb:
    """A ball around δ(x) of relative radius `narrow` and rounding. Errors: Rejected where that takes too long."""

    def product(z: Any) -> Any:
        return math.prod((transform(z) ** count for transform, _, count in transforms), start=acb(1))

    def log_moment(c: float) -> float:
        return float(product(acb(c)).real.log().mid()) if c > 0 else 0.0

    c = _least(lambda c: log_moment(c) - c * float(x.mid()) - math.log(c) - math.log1p(c))
    spread = math.sqrt(max(1e-12, (log_moment(1.01 * c) - 2 * log_moment(c) + log_moment(0.99 * c)) / (0.01 * c) ** 2))
    log_size = log_moment(c) - c * float(x.mid())
    shift = min(c / 2, 6 / spread)
    ahead = log_moment(c + shift) - (c + shift) * float(x.mid())
    period = max((60 - log_size) / c, (60 + ahead - log_size) / shift)
    center, width = arb(c), 2 * arb.pi() / arb(period)
    scale = (-center * x).exp() / arb(period)
    total = scale * (product(acb(center)) / (center * (center + 1))).real
    for k in range(1, _POINTS):
        z = acb(center, k * width)
        total += 2 * scale * (product(z) * acb(0, -k * width * x).exp() / (z * (z + 1))).real
        if k & (k - 1) == 0 or k % 256 == 0:
            beyond = math.prod((bound(center, k * width) ** count for _, bound, count in transforms), start=arb(1))
            cut = 2 * scale * beyond / (k * width * width)
            if cut < abs(total) * narrow:
                break
    else:
        raise Rejected("the transform does not decay: no ball is narrow enough")
    lift = (-(center + arb(shift)) * x).exp() * product(acb(center + arb(shift))).real
    alias = lift / ((arb(shift) * arb(period)).exp() - 1) + 1 / ((center * arb(period)).exp() - 1)
    return total + cut.union(-cut) - alias.union(arb(0))


def _least(value: Callable[[float], float]) -> float:
    """A c > 0 near which the bound is least, by golden section in log c: any c would be sound."""
    low, high = math.log(1e-3), math.log(1e5)
    for _ in range(40):
        one, other = low + 0.382 * (high - low), low + 0.618 * (high - low)
        low, high = (one, high) if value(math.exp(other)) < value(math.exp(one)) else (low, other)
    return math.exp((low + high) / 2)


def main(arguments: list[str]) -> int:
    """0 if the certificate holds, 1 if it does not."""
    try:
        lower, upper = check(Path(arguments[0]).read_text(encoding="utf-8"))
    except (Rejected, OSError, ArithmeticError, ValueError, IndexError) as error:
        print(f"rejected: {error}")
        return 1
    print(f"holds: epsilon is between {lower!r} and {upper!r}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
