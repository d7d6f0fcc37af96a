"""Training texts of a seventh attack that leak and were not refused; none may be proved.

Their formulas and charges are right for real numbers. What differs is what Python and float64 do. The text of an object
has its class or its address in it, the order of a set is another one in every process, and an array that nobody filled
holds what was in memory before. What float64 rounds away is 0 for real numbers: multiplied by 2^60, or compared with 0,
it is a number of records' own. And as many releases as a released number says are charged as one.
"""

from __future__ import annotations

from tests.mutants.harness import Mutant, edit

D, F, S, OWNERS = (f"refdp.papers.{name}" for name in ("dpboost", "fedgbdt", "sgbdt", "inprivate"))
TREE, GROW, VALUES = f"{D}:train_single_tree", f"{S}:grow", f"{S}:leaf_values"
LAST = '    return Tree(np.concatenate(chosen), curator.release("leaves", for_leaves, value))'
GIVEN = "    return np.asarray(np.where(positive, value, 0.0))"
TREES = "        trees.append(Tree(splits, leaf_values(params, noisy)))"
LEAVES = 'Leaves(("g", "h")), lambda sums: sums[0].T)'
MORE = (
    '            with curator.subsample("sample", params.subsample, population):\n'
    f'                curator.release_sum("leaves", charge, population, {LEAVES}\n'
)


def _mutant(name: str, path: str, *changes: tuple[str, str], **settings: object) -> Mutant:
    return Mutant(name, {path: edit(*changes)}, "", dict(settings))


def _louder(condition: str, before: str = "pass") -> Mutant:
    """Leaves nine times as large, at the price of leaves, where a condition holds."""
    lines = "".join(f"    {line}\n" for line in before.splitlines())
    louder = f"{lines}    value = value * (9.0 if {condition} else 1.0)\n{LAST}"
    return _mutant(condition if before == "pass" else f"{before}: {condition}", TREE, (LAST, louder))


def _ordered(first: str, before: str = "pass") -> Mutant:
    """Louder in the half of all processes in which a set begins with another entry."""
    return _louder(f"({first}) == 'b'", before)


def _value(value: str) -> Mutant:
    """Other leaves, at the price of leaves."""
    return _mutant(value, TREE, (LAST, f"    value = {value}\n{LAST}"))


def _counted(test: str) -> Mutant:
    """One release more, which nobody pays, where a released value is above 100: the example is below."""
    return Mutant(f"as many as a released number says: {test}", {
        VALUES: edit((GIVEN, "    return int(noisy[0, 0] > 100)")),
        GROW: edit((TREES, f"        found = leaf_values(params, noisy)\n        if {test}:\n{MORE}"
                           "        trees.append(Tree(splits, np.zeros(2)))")),
    }, "", {})  # fmt: skip


SAID: tuple[Mutant, ...] = (
    _louder("'.memory.' in str(population)"),
    _louder("'.memory.' in f'{population}'"),
    _louder("'.memory.' in f'{population!r}'"),
    _louder("'.memory.' in '%s' % population"),
    _louder("'.memory.' in '{}'.format(population)"),
    _louder("'.memory.' in '{0!s}'.format(population)"),
    _louder("'.memory.' in format(population)"),
    _louder("'.memory.' in ascii(population)"),
    _louder("'.memory.' in str([population])"),
    _louder("'.memory.' in str(population.ask)"),
    _louder("'.memory.' in f'{population.tell}'"),
    _louder("'.memory.' in str(np.array(population))"),
    _louder("'.memory.' in str(Ensemble(0.0, (population,), ()))"),
    _louder("'.memory.' in str(Block(population, 1.0))"),
    _louder("'.memory.' in str(asdict(Block(population, 1.0)))"),
    _louder("'.memory.' in str(KeyError(population))"),
    _louder("'.memory.' in str(slice(population))"),
    _louder("'.memory.' in ''.join(map(str, [population]))"),
    _louder("'.memory.' in str(bytes(str(population), 'utf8'))"),
)  # fmt: skip
ADDRESSED: tuple[Mutant, ...] = (
    _louder("str(curator).endswith('12345670>')"),
    _louder("str(curator.release).endswith('12345670>>')"),
    _louder("str(leaf_value).endswith('12345670>')"),
    _louder("f'{gain}'.endswith('12345670>')"),
    _louder("f'{own}'.endswith('12345670>')", "own = gain"),
    _louder("f'{own}'.endswith('12345670>')", "own = lambda one: one"),
)
ORDERED: tuple[Mutant, ...] = (
    _ordered("list({'a', 'b'})[0]"),
    _ordered("tuple({'a', 'b'})[0]"),
    _ordered("{'a', 'b'}.pop()"),
    _ordered("[*{'a', 'b'}][0]"),
    _ordered("[one for one in {'a', 'b'}][0]"),
    _ordered("''.join({'a', 'b'})[0]"),
    _ordered("min({'a', 'b'}, key=lambda one: 0)"),
    _ordered("sorted({'a', 'b'}, key=lambda one: 0)[0]"),
    _ordered("first", "first, second = {'a', 'b'}"),
    _ordered("first", "for first in {'a', 'b'}:\n    break"),
    _ordered("list(dict.fromkeys({'a', 'b'}))[0]"),
    _ordered("list({one: 1 for one in {'a', 'b'}})[0]"),
    _ordered("list(set('ab'))[0]"),
    _ordered("list(frozenset('ab'))[0]"),
    _ordered("list({one for one in 'ab'})[0]"),
    _ordered("list({'a': 1}.keys() | {'b': 1}.keys())[0]"),
    _ordered("list(one | other)[0]", "one = {'a': 1}.keys()\nother = {'b': 1}.keys()"),
    _louder("list(set(asdict(params)))[0] == 'trees'"),
    _louder("list({Relation.ADD_REMOVE, Relation.REPLACE_ONE})[0] is Relation.REPLACE_ONE"),
    _louder("list({None, 1.5})[0] is None"),
    _louder("list({(1, 'a'), (2, 'b')})[0][0] == 2"),
    _louder("sum(({'a': 1.0, 'b': 1e16}[one] for one in ['a', *{'a', 'b'}]), -1e16) > 1"),
)
UNFILLED: tuple[Mutant, ...] = (
    # The value just given back to numpy's allocator is what the next array of its size begins with.
    _louder("np.empty(1)[0] == 1234.5"),
    _louder("np.empty_like([1.0])[0] == 1234.5"),
    _louder("np.ndarray((1,))[0] == 1234.5"),
    _value("value + 0 * np.empty(2)[0]"),
)
GONE = "(gradient_sum / 49.0 * 49.0 - gradient_sum)"
"""0 for real numbers; -2^-53 in float64 for a sum of 1, and 2^-27 for one of 2^26."""
LARGE: tuple[Mutant, ...] = (
    # A record of gradient 1 in an empty leaf moves the value by 128, and 0.91 are charged.
    _value(f"2.0**60 * {GONE}"),
    _value(f"2.0**40 * {GONE}"),
    _value(f"{GONE} * 2.0**30 * 2.0**30"),
    _value(f"{GONE} / 2.0**-60"),
    _value(f"{GONE} / (count * 2.0**-70 + 2.0**-70)"),
    _value(f"np.clip(2.0**60 * {GONE}, -clip, clip)"),
    _value(f"np.minimum(2.0**60 * np.maximum({GONE}, 0), clip)"),
    _value("2.0**60 * ((gradient_sum + 0.1) - 0.1 - gradient_sum)"),
    _value("1e17 * (gradient_sum * (count + 1) / (count + 1) - gradient_sum)"),
    _mutant("what is lost of leaf sums, multiplied", f"{F}:leaf_sums",
            ("sums[place])", "2.0**60 * (sums[place] / 49.0 * 49.0 - sums[place]))"), target="regression"),
    _mutant("what is lost of a count, multiplied", f"{S}:initial_score",
            ("np.array([size])", "np.array([2.0**60 * (size / 49.0 * 49.0 - size)])")),
    _mutant("what is lost of an owner's gains, multiplied", f"{OWNERS}:train_tree",
            ("        for_splits = params", "        utility = 2.0**60 * (left[0] / 49.0 * 49.0 - left[0])\n"
                                            "        for_splits = params")),
    _mutant("what is lost of a record's label, multiplied", f"{F}:Contribution.statistics",
            ("clip_gradient(on_grid(square_gradient(score, label)), bound)",
             "on_grid(2.0**60 * (label / 49.0 * 49.0 - label))"), target="regression"),
)  # fmt: skip
COMPARED: tuple[Mutant, ...] = (
    # Leaves move by 2, from one side of the clip to the other, and 0.91 are charged.
    _value("np.where((gradient_sum + 1e9) - 1e9 == gradient_sum, clip, -clip)"),
    _value("np.where(gradient_sum / 49 * 49 == gradient_sum, clip, -clip)"),
    _value("np.where(gradient_sum / 49 * 49 >= gradient_sum, clip, -clip)"),
    _value("np.where(gradient_sum * 0.1 + 0.1 - 0.1 == gradient_sum * 0.1, clip, -clip)"),
    _value("np.where((gradient_sum + 0.1) - 0.1 - gradient_sum > 0, clip, -clip)"),
    _value("np.where(np.abs((gradient_sum + 0.1) - 0.1 - gradient_sum) > 0, clip, -clip)"),
    _value("np.where((gradient_sum + 0.1) - 0.1 != gradient_sum, clip, -clip)"),
    _value("np.where(~((gradient_sum + 0.1) - 0.1 == gradient_sum), clip, -clip)"),
    _value("clip * (((gradient_sum + 0.1) - 0.1 == gradient_sum) * 1.0)"),
    _mutant("leaf sums by what is lost of them", f"{F}:leaf_sums",
            ("sums[place])", "np.where(sums[place] / 49.0 * 49.0 == sums[place], 1e9, 0.0))"), target="regression"),
)  # fmt: skip
COUNTED: tuple[Mutant, ...] = (_counted("len(np.arange(found))"), _counted("np.arange(found).size"))
SEVENTH = (*SAID, *ADDRESSED, *ORDERED, *UNFILLED, *LARGE, *COMPARED, *COUNTED)
HONEST: tuple[Mutant, ...] = (
    _value("np.clip(value * 1.0, -clip, clip)"),
    _value("value + 0 * np.maximum(count / 3, 1)"),
    _louder("'n' in {'a', 'b'}"),
    _louder("sorted(own.items())[0][0] == 'b'", "own = {'a': 1, 'b': 2}"),
    _mutant("a name that says which", TREE, ('"leaves", for_leaves', 'f"leaves {params.depth}", for_leaves')),
    _louder("f'{params.depth:d} {params.scheme:s}' > 'z'"),
    _value("np.where(gradient_sum > 0, value, value)"),
    _value("np.where(np.abs(gradient_sum + 0.5) > 2, value, value)"),
)
"""Of like kinds, and private."""
