"""Training texts of a tenth attack that leak and were not refused; none may be proved.

All use functions and classes of refdp itself: a curator of the text's own, whose source says which records take part
and hears how many there are; functions that look at a class, read a file, or keep what they gave, which numpy's `at`
writes to although nothing else may.
"""

from __future__ import annotations

from tests.mutants.harness import Mutant, edit
from tests.prove.hostile_eighth import LAST, TREE, _louder

S = "refdp.papers.sgbdt"
OWN = """    from refdp.privacy.curator import Curator
    @dataclass(frozen=True)
    class Own:
        assign: Any
    mine = Curator(Own({assign}), params.relation)
{rest}"""
UNUSED = "    with mine.partition('own', (1.0,), population):\n        pass\n"
SUMS = '    gradient_sum, count = values(population.ask(Nodes(("g", COUNT))))  # Alg. 1, l. 11'
WITHIN = """    with mine.partition('own', (1.0,), population) as parts, parts.block(0):
        population.tell(Root(candidates.features))
        for one in chosen:
            population.tell(Descend(one))
        gradient_sum, count = values(population.ask(Nodes(('g', COUNT))))
"""


def _mine(name: str, assign: str, rest: str, before: str = LAST, after: str = LAST) -> Mutant:
    """A curator of the text's own, whose source is asked for the blocks of all records."""
    return Mutant(name, {TREE: edit((before, OWN.format(assign=assign, rest=rest) + after))}, "", {})


CURATORS: tuple[Mutant, ...] = (
    # An error, if there are more records than five: the reading and the plan have none.
    _mine("no place for the sixth record", "lambda request: np.zeros(request.size + 0 * [0, 1, 2, 3, 4, 5]["
          "request.size], dtype=np.int64)", UNUSED),
    _mine("no sample for the sixth record", "lambda request: np.zeros(request.size + 0 * [0, 1, 2, 3, 4, 5]["
          "request.size], dtype=np.int64)", UNUSED.replace("partition('own', (1.0,)", "subsample('own', 0.5")),
    # A record that is left out moves others to other places, so that two change where one is charged.
    _mine("the first record alone", "lambda request: np.minimum(np.arange(request.size), 1)", WITHIN, SUMS, ""),
    _mine("every other record", "lambda request: np.arange(request.size) % 2", WITHIN, SUMS, ""),
)  # fmt: skip
EVENLY = "from refdp.data.sketch import evenly"
KEPT: tuple[Mutant, ...] = (
    # Louder from some run of the process on: `evenly` keeps its array, and `at` heeds no mark of arrays.
    _louder("evenly(7, 3)[0] > 900", f"{EVENLY}\nnp.add.at(evenly(7, 3), 0, 1)"),
    _louder("evenly(7, 3)[0] > 900", f"{EVENLY}\nown = evenly(7, 3)\nnp.add.at(own, 0, 1)"),
    _louder("evenly(7, 3)[0] > 900", f"{EVENLY}\nown = np.maximum\nown.at(evenly(7, 3), 0, evenly(7, 3)[0] + 1)"),
    _louder("evenly(7, 3)[0] > 900", f"{EVENLY}\n[one(evenly(7, 3), 0, 1) for one in [np.add.at]]"),
)
PLAN = "from refdp.accounting.plan_file import load_plan"
BUDGET = "from refdp.accounting.budget import PrivacyBudget\nown = PrivacyBudget(1.0, 0.0, file='budget.json')"
FILES: tuple[Mutant, ...] = (
    _louder("load_plan('plan.toml') == 3", PLAN),  # PROVED where there is such a file, which can change
    _louder("own.entries == 3", BUDGET),  # what every process that has the file has spent
    _louder("own.epsilon == 3", BUDGET),
)
LOOKS: tuple[Mutant, ...] = (
    # In training the number of records is a float64, which is a float: the reading's is not.
    Mutant("the class of a sum", {f"{S}:initial_score": edit((
        'np.array([label_sum])', 'np.array([label_sum * (9.0 if is_number(size) else 1.0)])'), (
        "    noisy_count =", "    from refdp.accounting.rounding import is_number\n    noisy_count ="))}, "", {}),
)  # fmt: skip
BUDGETED = "self.params.budget(self.schema)"


def _budget(change: str) -> Mutant:
    """Records pay by another table than their budget's: less, or nothing, so that none is ever left out."""
    made = f"Accounts(replace({BUDGETED}, {change}))"
    changes = edit((f"Accounts({BUDGETED})", made))
    return Mutant(change, {f"{S}:Contribution.accounts": changes}, "", {"extra_trees": 3})


TABLES: tuple[Mutant, ...] = (
    _budget(f"costs=0 * {BUDGETED}.costs"),
    _budget(f"knots=9 * {BUDGETED}.knots"),
    _budget(f"orders=9 + {BUDGETED}.orders"),
)
IGNORED = '    with np.errstate(over="ignore"):'
INFINITE: tuple[Mutant, ...] = (
    # 0 times an infinite exponential is no number, and so is that record's statistic.
    Mutant("0 times infinity", {"refdp.papers.inprivate:Contribution.statistics": edit((
        IGNORED, f"    score = score + (0 * np.exp(score * 1e6))\n{IGNORED}"))}, "", {"target": "binary"}),
)  # fmt: skip
TENTH = (*CURATORS, *KEPT, *FILES, *LOOKS, *TABLES, *INFINITE)

HONEST: tuple[Mutant, ...] = (
    _louder("own[0] > 3", "own = np.zeros(3)\nnp.add.at(own, 0, 1.0)"),
    _louder("quantile_edges(np.ones(7), 3)[0] > 9", "from refdp.data.sketch import quantile_edges"),
    Mutant("a start that counts the trees", {f"{S}:ensemble": edit((
        "Ensemble(initial,", "Ensemble(initial + len(trees),"))}, "", {}),
)  # fmt: skip
"""Of like kinds, and private."""
