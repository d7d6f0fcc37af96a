"""What a kind of release is charged: planned with the declared sensitivity, established with the ledger's."""

from __future__ import annotations

from refdp.events import Charge, Relation, Release, Sensitivity
from refdp.mechanisms import Laplace

DECLARED, PROVED = (Sensitivity(bound, 1, f"paper/{bound}", Relation.ADD_REMOVE) for bound in (1.0, 2.0))


class DeclaredAlone(Charge):
    """The mutant: a certificate would establish whatever is claimed."""

    def release(self, name: str, proved: bool) -> Release:
        return super().release(name, False)


def plans_both(charge: Charge) -> bool:
    """Whether the declared sensitivity is planned, and the proved one where the ledger's is asked for."""
    planned, established = charge.release("leaves", False), charge.release("leaves", True)
    return (planned, established) == (
        Release("leaves", charge.mechanism, charge.declared),
        Release("leaves", charge.mechanism, charge.proved),
    )


def test_a_charge_plans_the_declared_and_establishes_the_proved_sensitivity() -> None:
    assert plans_both(Charge(Laplace(1.0), DECLARED, PROVED))
    assert not plans_both(DeclaredAlone(Laplace(1.0), DECLARED, PROVED))
