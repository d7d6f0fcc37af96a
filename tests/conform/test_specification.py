"""The pages of the specification: their code is the code, their numbers its numbers, and a program lives by them."""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest

from refdp.accounting import individual
from refdp.conform import files, normative, runner
from refdp.conform.files import TEXTS
from refdp.data.kernels import GRID
from refdp.data.numbers import DIGITS, SHARE_GRID
from refdp.noise.calibration import BITS, ORDERS, STEPS
from refdp.noise.draws import GRID_BITS
from refdp.own import grove
from refdp.papers import sgbdt
from tests.conform.test_runner import some

ROOT = Path(__file__).parents[2]
PAGES = {path.stem: path.read_text(encoding="utf-8") for path in sorted((ROOT / "docs" / "spec").glob("*.md"))}
EXCERPT = re.compile(r"<!-- code: (\S+) -->\n```python\n(.*?)```\n<!-- end -->", re.DOTALL)
EXCERPTS = [(page, *found) for page, text in PAGES.items() for found in EXCERPT.findall(text)]
CLIENT = ROOT / "conform" / "clients" / "boosted.cpp"


def constants(page: str) -> dict[str, str]:
    """The table of constants of a page."""
    table = PAGES[page].split("| constant | value |")[1].split("\n\n")[0]
    return dict(line[2:-2].split(" | ") for line in table.splitlines()[2:])


def test_every_paper_has_a_page_and_all_link_to_the_shared_one() -> None:
    assert set(PAGES) == {*TEXTS, "common"}
    assert all("(common.md)" in PAGES[paper] and f"({paper}.md)" in PAGES["common"] for paper in TEXTS)


@pytest.mark.parametrize(("page", "name", "text"), EXCERPTS, ids=[f"{page}-{name}" for page, name, _ in EXCERPTS])
def test_the_code_of_a_page_is_the_code(page: str, name: str, text: str) -> None:
    """`python -m refdp.conform.normative docs/spec` renews it. What pages show, the digest of the vectors covers."""
    assert normative.bare(text) == normative.bare(normative.source(name))
    papers = TEXTS if page == "common" else (page,)
    assert all(name in normative.names(paper) for paper in papers)


def test_every_excerpt_is_closed() -> None:
    assert len(EXCERPTS) == sum(text.count("<!-- code:") for text in PAGES.values()) > 60


def test_the_table_of_operations_names_the_fields_of_their_vectors() -> None:
    lines = PAGES["common"].split("## Operations")[1].split("\n\n")[2].splitlines()[2:]
    rows, seen = {line.split(" | ")[0][2:]: line.split(" | ")[1:] for line in lines}, set()
    for place in sorted((ROOT / "conform").glob("*/*.json")):
        document = json.loads(place.read_text(encoding="utf-8"))
        for one in document["tests"]:
            (name,) = one["operations"]
            given, told = (set(re.findall(r"\w+", cell)) for cell in rows[name])
            assert set(one["input"]) <= given, (name, place)
            assert document["kind"] != "node" or set(one["expect"]) <= told, (name, place)
            seen.add(name)
    assert seen == set(rows)


def test_comments_and_docstrings_are_not_normative() -> None:
    text = 'def f(x):\n    """Words."""\n    return x + 1  # a remark\n'
    assert normative.bare(text) == normative.bare(text.replace("Words", "Other words").replace("a remark", "another"))
    assert normative.bare(text) != normative.bare(text.replace("+ 1", "+ 2"))


def test_the_numbers_of_the_pages_are_those_of_the_code() -> None:
    told = constants("common")
    assert told["grid of statistics"] == f"2^{math.frexp(GRID)[1] - 1}"
    assert told["floating noise is rounded to so many bits below its scale"] == str(GRID_BITS)
    assert told["steps of discrete noise in a scale, at least"] == str(STEPS)
    assert told["grid of shares"] == f"2^{math.frexp(SHARE_GRID)[1] - 1}"
    assert told["significant bits of a mu from a search"] == str(BITS)
    assert constants("dpboost")["decimal digits for shares and clips"] == str(DIGITS)
    assert constants("fedgbdt")["Renyi orders"] == "1.25, 1.5, ..., 63, 128, 256, 512"
    assert np.array_equal(ORDERS, [*np.arange(5, 253) / 4, 128, 256, 512])
    assert constants("grove") == {
        "`COARSE`, `FINE`: thresholds of the coarse and the fine histograms": f"{grove.COARSE}, {grove.FINE}",
        "`CLOSER`, `PLAIN`: further coarse thresholds at these powers of 1/2, from so many deviations of a count on":
            f"{', '.join(map(str, grove.CLOSER))}; {grove.PLAIN}",
        "`PRESENCE`: chance of a first threshold that parts missing values": str(grove.PRESENCE),
        "`LABEL_BINS`: bins of histograms of labels and residuals, at most": str(grove.LABEL_BINS),
        "`FOLLOWED`, `NARROWER`: look at residuals from this ν on, after a tenth of T; what c has to be below":
            f"{grove.FOLLOWED}, {grove.NARROWER}",
        "`FEW`, `SOME`: ν below which the start of a regression has 0.3 and 0.15 of μ²": f"{grove.FEW}, {grove.SOME}",
        "`MOST`, `SPREAD`: part of the labels or residuals within c, and of n that a run of bins has to have; "
        "deviations within c": f"{grove.MOST}; {grove.SPREAD}",
        "`LAST_SHARE`, `BEYOND`: part of μ² of what all trees leave, deviations of its noise that it has to be above":
            f"{grove.LAST_SHARE}, {grove.BEYOND}",
        "`SCATTER`: v, scatter of a record: log loss, square loss": ", ".join(map(str, grove.SCATTER.values())),
        "`LARGEST_LEAF`: largest leaf, in units of c": str(grove.LARGEST_LEAF),
        "`CUT`, `OTHERS`: largest gradient of the log loss; of several classes, of the others' scores together": (
            f"{grove.CUT}; {grove.OTHERS}"),
        "`FIRST_STEP`: step of the first pass": str(grove.FIRST_STEP),
        "`SURE`: deviations of its noise that credit has to be above to steer a regression": str(grove.SURE),
        "`USUAL`, `LOOKED_AT`, `DEEP`: levels in use of first trees, how many trees, what more levels ask for": (
            f"{grove.USUAL}, {grove.LOOKED_AT}, {grove.DEEP}"),
    }  # fmt: skip
    told = constants("sgbdt")
    assert told == {
        "`ORDERS`: orders of the search": f"2, 3, ..., {individual.ORDERS[-1]:g}",
        "`FEW`: orders of its first part": "2 · 1000^(i/59), i = 0..59, rounded, repetitions dropped",
        '`JOINT`: orders of "joint", in the best one\'s': ", ".join(f"{one:g}" for one in individual.JOINT),
        "`KNOTS`: knots of a tabulated cost": str(individual.KNOTS),
        "`MARGIN`: relative room for rounding in costs": "1e-9",
        "distance of an initial probability from 0 and 1": "0.01", "`LARGEST`: largest sigma": "2^24",
    }  # fmt: skip
    assert np.array_equal(individual.FEW, np.unique(np.round(2 * 1000 ** (np.arange(60) / 59))))
    assert (individual.MARGIN, individual.LARGEST, sgbdt.NEAR_0) == (1e-9, 2.0**24, 0.01)


@pytest.fixture(scope="module")
def native(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The C++ client."""
    if (compiler := shutil.which("g++")) is None:
        pytest.skip("g++ is not installed")
    path = tmp_path_factory.mktemp("native") / "boosted"
    words = [compiler, "-O0", "-std=c++17", "-Wall", "-Wextra", "-Werror", "-ffp-contract=off", "-o", path, CLIENT]
    subprocess.run(words, check=True)
    return str(path)


@pytest.mark.parametrize("paper", ["dpboost", "fedgbdt", "sgbdt"])
def test_the_native_client_reaches_the_level_train(native: str, paper: str) -> None:
    report = runner.run(native, some(paper, EXACT, 12), timeout=30)
    assert report.total("failed") == 0 and report.total("passed") > 100, report.failures[:1]
    assert report.level(paper) == "train"


EXACT = tuple(kind for level in ("predict", "node", "train") for kind in files.LEVELS[level])
