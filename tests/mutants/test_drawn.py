"""The random mutator: what it changes, that it tells killed from alive, and that it goes on where it stopped."""

from __future__ import annotations

import ast
import json
from pathlib import Path

import pytest

from tests.mutants import drawn
from tests.mutants.sites import Site, parses, sites

SOURCE = '''
def area(width: float, height: float, limits: dict[str, int] | None = None) -> float:
    """Never below 0."""
    if width <= 0 or limits is None:
        raise ValueError(f"{width + 1} given")
    sides = [max(0.0, width), -height]
    größe = sides[0] * scaled(sides, height, axis=0)
    return größe
'''


def made(kind: str) -> set[tuple[str, str]]:
    return {(site.old, site.new) for site in sites(SOURCE) if site.kind == kind}


def test_what_is_changed() -> None:
    assert made("boundary") == {("width <= 0", "(width < 0)")}
    assert made("comparison") == {("width <= 0", "(width >= 0)"), ("limits is None", "(limits is not None)")}
    assert made("condition") == {("width <= 0 or limits is None", "(width <= 0 and limits is None)")}
    assert made("limit removed") == {("max(0.0, width)", "0.0")}
    assert made("other limit") == {("max(0.0, width)", "min(0.0, width)")}
    assert made("sign") == {("-height", "height")}
    assert made("arithmetic") == {("sides[0] * scaled(sides, height, axis=0)",
                                   "(sides[0] / scaled(sides, height, axis=0))")}  # fmt: skip
    assert made("arguments") == {("scaled(sides, height, axis=0)", "scaled(height, sides, axis=0)")}
    assert made("axis") == {("scaled(sides, height, axis=0)", "scaled(sides, height, axis=1)")}
    assert {("return größe", f"return {name}") for name in ("width", "height", "limits", "sides")} == made(
        "returned name"
    )
    assert ("0", "1") in made("constant") and ("0.0", "-1.0") in made("constant")
    assert not any("given" in site.old for site in sites(SOURCE))


def test_a_mutant_differs_in_its_place_only() -> None:
    before = ast.dump(ast.parse(SOURCE))
    for site in sites(SOURCE):
        text = site.applied(SOURCE)
        assert parses(text) and ast.dump(ast.parse(text)) != before
        assert text.startswith(SOURCE[: site.start]) and text.endswith(SOURCE[site.end :])


def test_one_seed_draws_the_same_mutants_and_another_seed_others() -> None:
    first = drawn.drawn(20, 1, "refdp/privacy/ev")
    assert first == drawn.drawn(20, 1, "refdp/privacy/ev") != drawn.drawn(20, 2, "refdp/ev")
    assert len(set(first)) == 20 and {path for path, _ in first} == {"refdp/privacy/events.py"}


def test_tests_that_import_a_module_come_first_and_all_come() -> None:
    layers = drawn.ordered_tests("refdp/protocols/journal.py")
    assert "tests/inprivate/test_journal.py" in layers[0] and "tests/pages/test_links.py" in layers[-1]
    every = {path.relative_to(drawn.ROOT).as_posix() for path in (drawn.ROOT / "tests").rglob("test_*.py")}
    assert sorted(path for layer in layers for path in layer) == sorted(every)


def test_killed_and_survived_are_told_apart_and_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake dies of its test; a pair of brackets does not."""
    source = (drawn.ROOT / "refdp/privacy/events.py").read_text(encoding="utf-8")
    text = "self.proved if proved else self.declared"
    start = source.index(text)
    line = source[:start].count("\n") + 1
    wrong = Site("condition", line, start, start + len(text), text, "self.declared")
    same = Site("none", line, start, start + len(text), text, f"({text})")
    monkeypatch.setattr(drawn, "ordered_tests", lambda path: [["tests/core/test_events.py"]])
    mutants, file = (
        [("refdp/privacy/events.py", wrong), ("refdp/privacy/events.py", same)],
        tmp_path / "found" / "results.jsonl",
    )
    found = list(drawn.results(mutants, file, 120.0, 1, 0))
    assert [line["verdict"] for line in found] == ["killed", "survived"]
    assert "test_events" in found[0]["by"]
    monkeypatch.setattr(drawn, "outcome", lambda *_: pytest.fail("it was run before"))
    assert list(drawn.results(mutants, file, 120.0, 1, 0)) == found
    assert [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()] == found
    assert (drawn.ROOT / "refdp/privacy/events.py").read_text(encoding="utf-8") == source


def test_tests_that_end_without_a_word_have_killed_it(tmp_path: Path) -> None:
    """A mutant that ends the process, with status 0, before pytest has said what failed."""
    mutant = next(iter(drawn.drawn(1, 5, "refdp/privacy/events.py")))
    folder = drawn.copied(tmp_path)
    for status, said, verdict in ((0, "", "killed"), (0, "... [100%]", "survived"), (5, "", "survived")):
        answers = iter([(0, "")])  # of what follows the text; then of the tests
        found = drawn.outcome(
            folder, *mutant, 60.0, 1, -1, lambda *_, there=(status, said), first=answers: next(first, there)
        )
        assert found[0] == verdict, said


def test_what_is_kept_of_a_text_follows_it(tmp_path: Path) -> None:
    """Factors that change places in a paper's formula: no proof is stale, no page and no digest another."""
    folder, path = drawn.copied(tmp_path), "refdp/papers/dpboost.py"
    source = (folder / path).read_text(encoding="utf-8")
    swapped = source.replace("records_changed(relation) * one_record", "one_record * records_changed(relation)")
    assert swapped != source
    (folder / path).write_text(swapped, encoding="utf-8")
    look = """
from pathlib import Path
from refdp.conform import normative
from refdp.ledger import claims, fingerprint, proved
pages = [path.read_text(encoding="utf-8") for path in sorted(Path("docs/spec").glob("*.md"))]
print(sum(bool(one.stale()) for one in proved.kept()),
      sum(page != normative.page(page) for page in pages),
      sum(normative.digest("dpboost") not in path.read_text() for path in Path("conform/dpboost").glob("*.json")),
      sum(fingerprint.current(name) != kept for claim in claims.load() for name, kept in claim.about.items()))
"""
    before, after = drawn.execute(["-c", look], folder, 60.0), None
    assert drawn.execute(["-m", "tests.mutants.follow"], folder, 60.0)[0] == 0
    after = drawn.execute(["-c", look], folder, 60.0)
    assert before[0] == after[0] == 0 and all(int(count) for count in before[1].split()), before
    assert after[1].split() == ["0"] * 4


WARM = """
from pathlib import Path
import refdp
from tests.mutants import warm
warm.OTHERS = ("pytest", "numpy")
warm.warm()
folder = Path(FOLDER)
pytest = ["-m", "pytest", "-x", "-q", "-p", "no:cacheprovider", "tests/core/test_events.py"]
print(warm.execute(pytest, folder, 60.0)[0])
path = folder / "refdp/privacy/events.py"
path.write_text(path.read_text().replace("self.proved if proved else self.declared", "self.declared"))
status, output = warm.execute(pytest, folder, 60.0)
print(status, "FAILED tests/core/test_events.py" in output)
print(*warm.execute(["-c", "import refdp; print(refdp.__file__)"], folder, 60.0))
print(*warm.execute(["-c", "import sys; sys.exit(3)"], folder, 60.0))
print(warm.execute(["-c", "while True: pass"], folder, 1.0)[0])
own = "import resource as r; r.setrlimit(r.RLIMIT_CPU, (99, r.RLIM_INFINITY))"
print(warm.execute(["-c", own], folder, 60.0)[0])
"""


def test_warm_runs_see_the_copy_and_tell_killed_from_alive(tmp_path: Path) -> None:
    """Statuses of a run that passes, of a mutant, a program, one whose time is up, and one with a limit of its own."""
    folder = drawn.copied(tmp_path)
    status, output = drawn.execute(["-c", WARM.replace("FOLDER", repr(str(folder)))], drawn.ROOT, 120.0)
    assert status == 0, output
    assert output.split() == ["0", "1", "True", "0", str(folder / "refdp/__init__.py"), "3", "None", "0"]


def test_tests_that_name_the_function_come_first() -> None:
    path, name = "refdp/privacy/events.py", "test_events.py"
    line = (drawn.ROOT / path).read_text(encoding="utf-8").splitlines().index("class Sensitivity:") + 2
    assert drawn.around(path, line) == {"Sensitivity"}
    tests = ["tests/audit/test_grade.py", "tests/core/test_events.py", "tests/docs/test_site.py"]
    assert Path(drawn.portions(tests, path, line)[0][0]).name == name
    assert sorted(one for part in drawn.portions(tests * 9, path, line) for one in part) == sorted(tests * 9)
