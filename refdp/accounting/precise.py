"""The normal distribution to sixty digits, by the standard library alone: the judge of the floating formulas."""

from __future__ import annotations

from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext

DIGITS = 60
_PI = Decimal("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899")
Number = Decimal | float


def _context(digits: int) -> Context:
    return Context(prec=digits, Emax=MAX_EMAX, Emin=MIN_EMIN)


def gaussian_delta(mu: Number, epsilon: Number) -> Decimal:
    """δ = Φ(μ/2 - ε/μ) - e^ε Φ(-μ/2 - ε/μ)   (Balle, Wang 2018, Theorem 8; Dong, Roth, Su 2022, Corollary 2.13)."""
    with localcontext(_context(DIGITS + 10)):
        mu, epsilon = Decimal(mu), Decimal(epsilon)
        near, far = epsilon / mu - mu / 2, epsilon / mu + mu / 2
        if epsilon > 10**17:  # e^ε is beyond Decimals; e^ε φ(far) = φ(near)
            return _tail(near) - _density(near) * _mills(far)
        return _tail(near) - epsilon.exp() * _tail(far)


def _tail(x: Decimal) -> Decimal:
    if x < 0:
        return 1 - _tail(-x)
    density = _density(x)
    return Decimal("0.5") - density * _series(x) if x < 9 else density * _mills(x)


def _density(x: Decimal) -> Decimal:
    return (-x * x / 2).exp() / (2 * _PI).sqrt()


def _series(x: Decimal) -> Decimal:
    """(Φ(x) - 1/2) / φ(x) = sum_k x^(2k+1) / (1·3·…·(2k+1)); positive terms, summed until they vanish.

    Up to x = 9 the subtraction from 1/2 loses 19 of the digits; `_tail` therefore carries twenty more here.
    """
    with localcontext(_context(DIGITS + 40)) as context:
        term = total = x
        odd = 1
        while term > total.scaleb(-context.prec):
            odd += 2
            term = term * x * x / odd
            total += term
        return total


def _mills(x: Decimal) -> Decimal:
    """P(Z > x) / φ(x) for x >= 9: Laplace's continued fraction 1/(x + 1/(x + 2/(x + 3/(x + …)))), 400 levels."""
    tail = x
    for level in range(400, 0, -1):
        tail = x + level / tail
    return 1 / tail
