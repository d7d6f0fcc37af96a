"""The site's parts: its link checker finds what it is for, its reference shows docstrings, its pages are whole."""

from __future__ import annotations

import importlib.util
import math
import os
import re
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from proofs.tool.errata import in_print
from refdp.ledger.claims import committed

ROOT = Path(__file__).parents[2]
SITE = ROOT / "docs" / "site"
NEEDED = ("sphinx", "myst_nb", "pydata_sphinx_theme", "latex2mathml")


def test_make_test_installs_what_the_site_needs() -> None:
    """Else its test would be skipped wherever it runs by itself."""
    extras = re.findall(r"^EXTRAS := (.*)", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    assert "docs" in extras[0].split(",")
    declared = re.findall(r"^docs = (.*)", (ROOT / "pyproject.toml").read_text(encoding="utf-8"), re.MULTILINE)
    assert all(f'"{name.replace("_", "-")}' in declared[0] for name in NEEDED)


def module(name: str) -> ModuleType:
    """A module of docs/site, which is no package."""
    spec = importlib.util.spec_from_file_location(f"site_{name}", SITE / f"{name}.py")
    assert spec is not None and spec.loader is not None
    found = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(found)
    return found


links: Any = module("links")
picture: Any = module("picture")


def test_links_that_lead_nowhere_and_requests_to_other_hosts_are_found(tmp_path: Path) -> None:
    (tmp_path / "b.html").write_text('<h1 id="there">B</h1>')
    (tmp_path / "a.html").write_text(
        '<a href="b.html">1</a><a href="b.html#there">2</a><a href="https://example.org/">3</a>'
        '<a href="#top" id="top">4</a><img src="data:image/png;base64,AA">'
        '<a href="gone.html">5</a><a href="b.html#gone">6</a>'
        '<script src="https://cdn.example.org/x.js"></script><link rel="stylesheet" href="//fonts.example.org/f.css">'
    )
    assert sorted(links.problems(tmp_path)) == [
        "a.html: loads //fonts.example.org/f.css",
        "a.html: loads https://cdn.example.org/x.js",
        "a.html: no anchor b.html#gone",
        "a.html: no file gone.html",
    ]
    assert links.main(str(tmp_path)) == 1
    with pytest.raises(SystemExit, match="no page in"):
        links.main(str(tmp_path / "empty"))


def test_the_picture_says_what_code_and_ledger_say(tmp_path: Path) -> None:
    assert picture.change(1.0) == pytest.approx(-9730 / 3737)
    counts = picture.counted()
    assert sum(map(sum, counts.values())) == sum(claim.erratum is not None and in_print(claim) for claim in committed())
    text = (ROOT / "docs/index.md").read_text(encoding="utf-8")
    assert f"falls by {-picture.change(1.0):.2f} where Lemma 1 allows 0.996" in text
    if find_spec("matplotlib"):
        picture.draw(tmp_path / "front.png")
        assert (tmp_path / "front.png").stat().st_size > 10_000


PAGES = [
    path for path in sorted((ROOT / "docs").rglob("*.md"))
    if path.parent.name not in ("api", "reports", "spec") and path.name not in ("index.md", "lemma1.md")
]  # fmt: skip
"""The reference is made of docstrings. Letters to maintainers and
the specification have forms of their own, and so have the front page and the slider's."""


def test_a_specification_opens_with_its_verdict() -> None:
    """Its tables are of parameters, as long as they are."""
    pages = sorted((ROOT / "docs" / "spec").glob("*.md"))
    assert len(pages) == 7
    for page in pages:
        assert re.match(r"# [^\n]+\n\n\*\*[^*]+\.\*\*\n", page.read_text(encoding="utf-8")), page


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT / "docs")))
def test_a_page_opens_with_its_verdict_and_a_table_of_at_most_five_rows(path: Path) -> None:
    assert opening_faults(path.read_text(encoding="utf-8")) == ""


def opening_faults(text: str) -> str:
    """What is missing in the opening of a page; empty if nothing is."""
    head = text.split("\n\n")
    if not head[0].startswith("# "):
        return "no title"
    if len(head) < 3 or not head[1].startswith("**") or head[1].count("**") < 2:
        return "no verdict"
    rows = head[2].strip().split("\n")
    if not all(row.startswith("|") and row.endswith("|") for row in rows) or not set(rows[1]) <= set("|-: "):
        return "no table"
    return "" if len(rows) <= 7 else f"{len(rows) - 2} rows"


def test_openings_that_lack_something_are_found() -> None:
    table = "| a |\n|---|\n" + "| b |\n" * 5
    assert opening_faults(f"# T\n\n**V.**\n\n{table}\nmore") == ""
    for fault, text in {
        "no title": f"T\n\n**V.**\n\n{table}",
        "no verdict": f"# T\n\nV.\n\n{table}",
        "no table": "# T\n\n**V.**\n\nmore",
        "6 rows": f"# T\n\n**V.**\n\n{table}| b |",
    }.items():
        assert opening_faults(text) == fault


PROGRAMS = {
    "dpboost": "benchmarks/reproduce/statements/dpboost_text.py",
    "dpxgboost": "benchmarks/reproduce/statements/dpxgboost_text.py",
    "fedgbdt": "benchmarks/reproduce/page/fedgbdt.py",
    "inprivate": "benchmarks/reproduce/page/inprivate.py",
    "sgbdt": "benchmarks/reproduce/page/sgbdt.py",
    "speed": "benchmarks/speed.py",
    "speed-fedgbdt": "benchmarks/fedgbdt.py",
    "audit": "benchmarks/zoo.py",
    "audit-versus-replay": "benchmarks/blackbox_against_replay.py",
    "audit-packages-checks": "benchmarks/packages/page.py",
    "coq": "proofs/kernel_page.py",
}
"""Pages whose opening has no figure: it stands in the program that writes the page."""


@pytest.mark.parametrize("page", PROGRAMS)
def test_the_opening_is_that_of_the_program_which_writes_the_page(page: str) -> None:
    opening = "\n\n".join((ROOT / "docs" / f"{page}.md").read_text(encoding="utf-8").split("\n\n")[1:3])
    assert opening in (ROOT / PROGRAMS[page]).read_text(encoding="utf-8")


def test_the_glossary_has_every_term_that_its_table_names_and_no_links_to_nothing() -> None:
    text = (ROOT / "docs/glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^## (.+)$", text, flags=re.MULTILINE)
    assert len(terms) == len(set(terms)) >= 45
    assert "Forty-seven terms" in text and len(terms) == 47
    assert all(definition.strip() for definition in re.split(r"^## .+$", text, flags=re.MULTILINE)[1:])


@pytest.mark.skipif(not find_spec("docutils"), reason="needs refdp[docs]")
def test_the_first_use_of_a_term_is_linked_and_no_other() -> None:
    terms: Any = module("terms")
    known = terms.terms((ROOT / "docs/glossary.md").read_text(encoding="utf-8"))
    assert len(known) == 47 and set(terms.ALSO.values()) <= set(known)
    seen: set[str] = set()
    text = "Neighbours lose ε; a privacy loss is no loss. The exponential mechanism, a mechanism: ϵ, unneighbourly."
    parts = list(terms.pieces(text, terms.pattern(known), known, seen))
    assert "".join(part for part, _ in parts) == text
    assert [(part, term) for part, term in parts if term] == [
        ("Neighbours", "neighbour"), ("ε", "epsilon"), ("privacy loss", "privacy loss"),
        ("exponential mechanism", "exponential mechanism"), ("mechanism", "mechanism"),
    ]  # fmt: skip
    assert list(terms.pieces("Neighbours again", terms.pattern(known), known, seen)) == [("Neighbours again", "")]


def test_the_table_of_posteriors_is_right() -> None:
    text = (ROOT / "docs/choosing.md").read_text(encoding="utf-8")
    head, *rows = re.findall(r"^\| (chance before.*|\d+ %.*) \|$", text, flags=re.MULTILINE)
    budgets = [float(cell) for cell in re.findall(r"ε = ([\d.]+)", head)]
    assert len(rows) == 3
    for row in rows:
        before, *shown = (cell.strip().removesuffix(" %") for cell in row.split("|"))
        p = float(before) / 100
        for epsilon, cell in zip(budgets, shown, strict=True):
            after = 100 * p * math.exp(epsilon) / (p * math.exp(epsilon) + 1 - p)
            assert float(cell) == pytest.approx(after, abs=0.5 * 10 ** -len(cell.partition(".")[2]))


EXERCISES: dict[int, tuple[float, ...]] = {
    4: ((1.3 - 0.3) / 2,),
    9: (0.1 * math.e / (0.1 * math.e + 0.9),),
    13: (math.exp(4) / (math.exp(6) + math.exp(5) + math.exp(4)), math.log((1 / 3) * (math.e**2 + math.e + 1))),
    16: (81 / 11.1 - 100 / 10.1,),
    24: (math.log(1 + 0.1 * (math.e - 1)),),
    26: (0.02 * math.sqrt(50),),
}


def test_there_are_thirty_exercises_whose_numbers_are_right() -> None:
    text = (ROOT / "docs/teaching/exercises.md").read_text(encoding="utf-8")
    parts = re.split(r"^## Exercise (\d+)$", text, flags=re.MULTILINE)
    solutions = dict(zip(map(int, parts[1::2]), parts[2::2]))
    assert list(solutions) == list(range(1, 31))
    assert all(part.count("<details>") == part.count("</details>") == 1 for part in solutions.values())
    for number, values in EXERCISES.items():
        shown = [float(found) for found in re.findall(r"-?\d+\.\d+", solutions[number])]
        for value in values:
            assert any(found == pytest.approx(value, abs=6e-4) for found in shown), (number, value)


def test_the_sliders_compute_what_the_code_computes() -> None:
    script = (SITE / "static/lemma1.js").read_text(encoding="utf-8")
    assert "(n * m + g) ** 2 / (n + 1 + l) - (n * m) ** 2 / (n + l)" in script
    assert "(3 * l + 2) / ((l + 1) * (l + 2))" in script
    assert picture.change(1.0) == pytest.approx((10 * -1 + 1) ** 2 / 11.1 - 10**2 / 10.1)


@pytest.mark.skipif(not all(map(find_spec, NEEDED)), reason="needs refdp[docs]")
def test_the_site_builds_without_a_warning_and_without_dead_links(tmp_path: Path) -> None:
    """Notebooks are not run here; `make docs` and tests/notebooks run them."""
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-c", str(SITE), "-b", "html"]
    environment = os.environ | {"DOCS_EXECUTE": "off", "PYTHONPATH": str(ROOT)}
    subprocess.run([*command, str(ROOT), str(tmp_path / "site")], check=True, env=environment)
    assert list(links.problems(tmp_path / "site")) == []


@pytest.mark.skipif(not all(map(find_spec, NEEDED)), reason="needs refdp[docs]")
def test_the_reference_sets_errors_and_shapes_apart() -> None:
    api: Any = module("api")
    told = list(api.told("Sum of x*.\n\nMore.\n\n    code(1)\n\nErrors: ValueError for\n`x < 0`.\n\nThe end."))
    assert "Sum of x\\*." in told and "- **Errors**: ValueError for `x < 0`." in told and "The end." in told
    assert told[told.index("```python") + 1] == "code(1)"


def test_tables_and_numbered_lists_of_docstrings_stay_what_they_are() -> None:
    api: Any = module("api")
    told = list(
        api.told("| a_b | what |\n|---|---|\n| g* | one |\n\n1. First\nof two.\n2. Second.\n\nOf line\n2. no list.")
    )
    assert told == [r"| a\_b | what |", "|---|---|", r"| g\* | one |", "", "1. First of two.", "", "2. Second.", "",
                    "Of line 2. no list.", ""]  # fmt: skip
    assert all(f"refdp.{home}" in {name for _, name in api.PAGES.values()} for home in ("own.grove", "papers.sgbdt"))


def test_every_page_beside_reports_and_entries_has_a_place_in_the_sections() -> None:
    listed = set()
    for page in [*(ROOT / "docs").rglob("*.md"), *(ROOT / "labs").rglob("*.md")]:
        for block in re.findall(r"```\{toctree\}(.*?)```", page.read_text(encoding="utf-8"), re.DOTALL):
            names = [line for line in block.splitlines() if line and not line.startswith(":")]
            listed |= {(page.parent / line).resolve() for line in names}
    pages = {page.resolve().with_suffix("") for page in (ROOT / "docs").rglob("*.md")}
    own = {page for page in pages if page.parent.name not in ("reports", "api", "site") and page.name != "index"}
    assert own - listed == set()
