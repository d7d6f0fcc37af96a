"""Privacy mutants of InPrivate Digging: each must be caught, and located at the release it concerns."""

from __future__ import annotations

from tests.mutants.harness import Mutant

PAPER = "refdp.papers.inprivate"
FORMULAS = "refdp.papers.inprivate_formulas"

_BLOCK = "with blocks.block(number) as rows:"
_CLIPPED = "return on_grid(clip(found, grid_floor(params.residual_bound)))"
_LEAVES = 'noisy = curator.release("leaves", leaf.mechanism, sums, sensitivity=leaf.declared)  # Alg. 1, l. 12'
_TREE = "return Tree(np.concatenate(chosen), coefficients(params, leaf.mechanism, noisy))"
_TURN = "for number in range(len(shares)):  # Alg. 2, l. 3"


def _mutant(name: str, old: str, new: str, located: str, module: str = PAPER, **settings: object) -> Mutant:
    return Mutant(name, ((module, old, new),), located, dict(settings))


MUTANTS = (
    _mutant("residual range of log loss taken as 1", _CLIPPED, "return on_grid(found)", "splits of level 0"),
    _mutant(
        "residual range of square loss taken as 1",
        _CLIPPED,
        "return on_grid(found)",
        "splits of level 0",
        target="regression",
    ),
    _mutant(
        "candidates from averaged triples",
        'if params.candidates != "triples":',
        "if False:",
        "splits of level 0",
    ),
    _mutant(
        "epsilon_1 spent at every level",
        'if params.level_budget == "share":',
        "if False:",
        "splits of level 0",
    ),
    _mutant(
        "rounds that reuse records",
        _BLOCK,
        _BLOCK + "\n                rows = np.ones(len(rows), dtype=bool)",
        "splits of level 0",
    ),
    _mutant(
        "unequal halves by index",
        _BLOCK,
        _BLOCK + "\n                rows = np.arange(len(rows)) * len(shares) // len(rows) == number",
        "splits of level 0",
    ),
    _mutant(
        "halves of exact sizes",
        "sizes = [int(share * records.size) for share in shares] if by_size(params) else None",
        "sizes = [int(share * records.size) for share in shares]",
        "owner and round",
    ),
    _mutant(
        "exact leaf counts passed on",
        _TREE,
        _TREE.replace("noisy)", "np.array([noisy[0], sums[1]]))"),
        "model",
        target="regression",
    ),
    _mutant(
        "coefficients without noise where a leaf is empty",
        _TREE,
        "return Tree(np.concatenate(chosen), np.where(sums[1] == 0, 0.0, coefficients(params, leaf.mechanism, noisy)))",
        "model",
    ),
    _mutant(
        "stopping on private accuracy",
        _TURN,
        _TURN + "\n            if number > 1 and np.mean(labels * scores > 0) > 0.5:\n                break",
        "splits of level 0",
    ),
    _mutant("leaf queries without noise", _LEAVES, "noisy = sums", "leaves"),
    _mutant(
        "one query of a leaf charged for both",
        "return records_changed(relation) * Fraction(9, 4)",
        "return records_changed(relation) * Fraction(1)",
        "leaves",
        module=FORMULAS,
    ),
    _mutant(
        "curvature counted twice",
        "second = None if isinstance(schema.target, Interval) else on_grid(curvature(errors))",
        "second = None if isinstance(schema.target, Interval) else on_grid(2 * curvature(errors))",
        "leaves",
    ),
    _mutant(
        "gain sensitivity without the factor 4",
        "bound = float(gain_range(proved_bound(params, schema), relation))",
        "bound = float(gain_range(proved_bound(params, schema), relation)) / 4",
        "splits of level 0",
    ),
    _mutant(
        "replace-one charged as add-remove",
        "return 1 if relation is Relation.ADD_REMOVE else 2",
        "return 1",
        "splits of level 0",
        module=FORMULAS,
        relation="replace-one",
    ),
    _mutant(
        "whole budget for every class",
        "def train_tree(params: Params, schema: Schema, mine: Binned, errors: Floats, curator: Curator) -> Tree:\n"
        '    """Algorithm 1. errors: residuals, multiples of the grid, shape (rows,)."""\n'
        "    epsilon = params.epsilon / schema.scores",
        "def train_tree(params: Params, schema: Schema, mine: Binned, errors: Floats, curator: Curator) -> Tree:\n"
        '    """Algorithm 1. errors: residuals, multiples of the grid, shape (rows,)."""\n'
        "    epsilon = params.epsilon",
        "splits of level 0",
        target="three",
        owners=1,
    ),
    _mutant(
        "labels scaled by the range of the data",
        "return found if isinstance(schema.target, Interval) else 2 * found - 1",
        "return 2 * (found - found.min()) / max(float(np.ptp(found)), 1e-9) - 1",
        "leaves",
        target="regression",
    ),
    _mutant(
        "scores from true leaf sums",
        _TREE,
        "return Tree(np.concatenate(chosen), coefficients(params, leaf.mechanism, sums))",
        "model",
    ),
)
