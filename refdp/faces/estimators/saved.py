"""What an estimator takes with it when it is cloned, copied or saved."""

from __future__ import annotations

from typing import Any, Self

from refdp.accounting.budget import PrivacyBudget, ScopedBudget
from refdp.faces.repeats import related


class Saved:
    """Clones know whose they are. What is fitted is saved without the charges of a budget that is only in memory."""

    def __sklearn_clone__(self) -> Self:
        """As scikit-learn's; fits of all clones together can be told from fits of others."""
        made: Self = super().__sklearn_clone__()  # type: ignore[misc]
        related(self, made)
        return made

    def __getstate__(self) -> dict[str, Any]:
        """A budget that cannot go elsewhere is absent there: the model predicts, and another fit is refused.

        What is not fitted takes its budget as it is, so that workers in other processes refuse one without a file.
        """
        state: dict[str, Any] = super().__getstate__()  # type: ignore[assignment]
        budget = state.get("budget")
        if "model_" in state and isinstance(budget, PrivacyBudget | ScopedBudget):
            return state | {"budget": Left(budget)}
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Copies in this process have the budget itself."""
        budget = state.get("budget")
        super().__setstate__(state | {"budget": budget.budget} if isinstance(budget, Left) else state)  # type: ignore[misc]


class Left:
    """The budget of a fitted estimator: itself where it is copied, absent where it is pickled."""

    def __init__(self, budget: PrivacyBudget | ScopedBudget) -> None:
        self.budget = budget

    def __deepcopy__(self, _: Any) -> Left:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return Left, (self.budget.absent(),)
