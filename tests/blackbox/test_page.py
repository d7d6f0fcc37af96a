"""The report as a page: self-contained, complete, and shown by a browser where there is one."""

from __future__ import annotations

import html
import json
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import refdp
from refdp.audit import page_blackbox, page_replay, page_words
from refdp.audit.page_chances import bars, chances, times
from refdp.audit.page_sources import function_line, release_line
from refdp.audit.replay import Violation
from refdp.audit.report import REPLAYABLE, SCHEMAS, audit_paper, neighbours
from refdp.audit.tradeoff import curve_from
from refdp.faces import cli, registry
from refdp.ledger import claims
from refdp.privacy.events import Relation, releases
from tests.blackbox import foreign
from tests.thinned import thinned

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
FOREIGN = "tests.blackbox.foreign:"
Call = Callable[..., tuple[int, Any, str]]


@pytest.fixture
def call(capsys: pytest.CaptureFixture[str]) -> Call:
    """Run the command line with --json: status, document, standard error."""

    def run(*arguments: str) -> tuple[int, Any, str]:
        status = cli.run(["audit", *arguments, "--json"])
        shown = capsys.readouterr()
        return status, json.loads(shown.out), shown.err

    return run


@pytest.fixture
def pair(tmp_path: Path) -> str:
    path = tmp_path / "pair.json"
    path.write_text(json.dumps({"first": [[0.25], [1.0]], "second": [[0.25]]}))
    return str(path)


@pytest.fixture(autouse=True)
def coarse_curves(monkeypatch: pytest.MonkeyPatch) -> None:
    """Curves of fewer runs: a page is looked at, not how exact its figures are."""
    monkeypatch.setattr(page_replay, "PAIRS", 2)
    monkeypatch.setattr(page_replay, "RUNS", 20)


_AUDITED: dict[str, Any] = {}


@pytest.fixture
def audited_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One audit of the same settings serves every page that is made of it."""

    def kept(paper: Any, params: Any, count: int, seed: int, **more: Any) -> Any:
        key = f"{paper.name} {params!r} {count} {seed}"
        assert more["records"] is None
        if key not in _AUDITED:
            _AUDITED[key] = audit_paper(paper, params, count, seed, **more)
        return _AUDITED[key]

    monkeypatch.setattr("refdp.audit.report.audit_paper", kept)


class Outline(HTMLParser):
    """Texts by id, headings, drawings, and whatever would be loaded from elsewhere."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: dict[str, str] = {}
        self.open: list[tuple[str, str]] = []
        self.drawings, self.paths = 0, 0
        self.loaded: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.drawings += tag == "svg"
        self.paths += tag == "path"
        self.loaded += [
            f"{tag} {n}={v}" for n, v in attributes if n in ("src", "href", "xlink:href") and v and v[0] != "#"
        ]
        self.loaded += [tag] * (tag in ("script", "link", "iframe", "object", "embed"))
        if tag not in ("meta", "br", "path", "use", "rect"):
            self.open.append((tag, given.get("id") or (tag if tag in ("h2", "title") else "")))

    def handle_endtag(self, tag: str) -> None:
        while self.open and self.open.pop()[0] != tag:
            continue

    def handle_data(self, data: str) -> None:
        for _, name in self.open:
            if name:
                self.texts[name] = self.texts.get(name, "") + data + " "


def outline(document: str) -> Outline:
    found = Outline()
    found.feed(document)
    return found


def check(document: str, verdict: str, drawings: int = 2) -> Outline:
    """What every report has to have."""
    found = outline(document)
    assert verdict in found.texts["verdict"] and "\n" not in found.texts["verdict"].strip()
    assert found.drawings == drawings and found.paths > 40
    assert found.loaded == []
    assert not re.search(r"url\((?!#)|@import", document)
    for heading in ("Claim against finding", "Trade-off curve", "Privacy loss", "Method", "Limits", "How to reproduce"):
        assert heading in found.texts["h2"]
    assert "epsilon" in found.texts["facts"] and found.texts["limits"] and "refdp" in found.texts["reproduce"]
    return found


def test_a_page_that_loads_something_is_noticed() -> None:
    """The mutants that `check` is there for."""
    page = '<html><body><p id="verdict">fine</p><img src="https://example.org/x.png"><script>1</script></body></html>'
    assert outline(page).loaded == ["img src=https://example.org/x.png", "script"]
    with pytest.raises(AssertionError):
        check(page, "fine")


def browsed(path: Path, *more: str) -> str | None:
    """The page as a headless browser sees it; None without a browser."""
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if browser is None:
        return None
    flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--virtual-time-budget=2000"]
    flags += [f"--user-data-dir={path.parent / 'profile'}", *more, "--dump-dom", path.as_uri()]
    return subprocess.run([browser, *flags], capture_output=True, text=True, check=True, timeout=120).stdout


REACH = """<script>document.documentElement.style.width = "400px";
const parts = [...document.querySelectorAll("h1, h2, p, th, td, li, svg, pre, figcaption")];
document.body.dataset.reach = Math.max(...parts.map(part => part.getBoundingClientRect().right));</script></body>"""


def test_a_narrow_screen_shows_all_of_the_page(call: Call, pair: str, tmp_path: Path) -> None:
    """At 400 pixels nothing lies beyond the right edge."""
    path = tmp_path / "report.html"
    arguments = ["--pair", pair, "--epsilon", "1", "--samples", "400", "--html", str(path)]
    call("--callable", FOREIGN + "reused", *arguments)
    path.write_text(path.read_text().replace("</body>", REACH))
    seen = browsed(path, "--window-size=400,900")
    if seen is not None:
        reach = re.search(r'data-reach="([0-9.]+)"', seen)
        assert reach is not None and 300 < float(reach[1]) <= 400


def test_the_report_of_a_function(call: Call, pair: str, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    arguments = ["--pair", pair, "--epsilon", "1", "--samples", "2000", "--html", str(path)]
    status, document, _ = call("--callable", FOREIGN + "half_the_noise", *arguments)
    assert status == 1 and not document["ok"]
    text = path.read_text()
    found = check(text, f"epsilon is at least {document['lower_bound']:.4g}")
    assert "half_the_noise" in found.texts["title"] and "foreign.py:" in found.texts["findings"]
    assert document["event"] in found.texts["facts"]
    again = call(*found.texts["reproduce"].split()[2:])[1]
    assert {k: v for k, v in again.items() if k != "seconds"} == {k: v for k, v in document.items() if k != "seconds"}
    seen = browsed(path)
    if seen is not None:
        check(seen, f"epsilon is at least {document['lower_bound']:.4g}")


@pytest.mark.usefixtures("audited_once")
def test_the_report_of_a_paper(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    quick = ["--pairs", "3", "--set", "trees=2", "depth=1", "bins=4"]
    status, document, _ = call("dpboost", "--as-published", *quick, "--html", str(path))
    assert status == 1
    text = path.read_text()
    found = check(text, "dpboost is not (1, 0) private", drawings=4)
    assert all(violation["release"] in found.texts["findings"] for violation in document["violations"])
    assert "refdp/papers/dpboost" in found.texts["findings"]
    assert f"refdp {refdp.__version__}, numpy" in text and "Settings: epsilon 1.0, relation add-remove" in text
    again = found.texts["reproduce"].split()
    _AUDITED.clear()  # what follows is another audit, in full
    assert again[:4] == ["refdp", "audit", "dpboost", "--as-published"]
    assert call(*again[2:])[1] == document
    assert call("dpboost", *quick, "--html", str(path))[0] == 0
    check(path.read_text(), "No violation of (1, 0) privacy of dpboost", drawings=3)
    seen = browsed(path)
    if seen is not None:
        check(seen, "No violation of (1, 0) privacy of dpboost", drawings=3)


# --- The findings of a paper, in full ---------------------------------------------------------------------------------

SMALL = ("--pairs", "3", "--set", "trees=2", "depth=1", "bins=4")
PUBLISHED = ("dpboost", "--as-published", *SMALL)


@pytest.mark.usefixtures("audited_once")
def test_a_finding_is_told_in_words_with_its_claims_statement_and_its_witness(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    _, document, _ = call(*PUBLISHED, "--html", str(path))
    text = html.unescape(path.read_text())
    assert "the candidate that splits each node of level 0" in text and "ensemble 0" in text
    for violation in document["violations"]:
        if violation["claim"]:
            assert claims.get(violation["claim"]).statement in text
        assert page_words.KINDS[violation["kind"]] in text
        witness = violation["witness"]
        assert all(f"{value:.17g}" in text for value in witness["new_x"][:2])
    assert text.count("first only") == len(document["violations"])


def stated(kind: str, declared: float | None, observed: float | None) -> Violation:
    return Violation(kind, "ensemble 0/leaves", declared, observed, observed, "", {})


def test_two_bars_of_chances_lead() -> None:
    found = chances([stated("sensitivity", 1.0, 9.0), stated("cost", 1.0, 1.1217)], 2.0, None)
    assert found is not None and (found.allowed, found.seen) == (1.0, 1.1217)
    text = html.unescape(bars(found))
    assert "Some outcome is 3.07 times as likely with one data set as with another that differs in one record" in text
    assert "what this release is charged allows 2.72 times" in text and 'class="over"' in text
    assert "width:100%" in text and f"width:{100 * math.exp(1 - 1.1217):.4g}%" in text
    whole = chances([stated("cost", 0.1, 0.9), stated("loss", 1.0, 1.5)], 1.0, None)
    assert whole is not None and whole.by == "the claim" and whole.seen == 1.5


def test_bars_say_no_more_than_was_found() -> None:
    assert chances([stated("sensitivity", 1.0, 2.0), stated("control flow", None, None)], 1.0, 0.5) is None
    assert chances([], 1.0, None) is None and chances([], math.inf, 0.5) is None
    quiet = chances([], 1.0, 0.5)
    assert quiet is not None and "In the runs that were replayed, no outcome could be more than 1.65 times" in bars(
        quiet
    )
    assert "over" not in bars(quiet).partition("<p>")[0]
    endless = chances([stated("loss", 1.0, math.inf)], 1.0, None)
    assert endless is not None and "never gives" in bars(endless) and "without bound" in bars(endless)
    assert times(40.0) == "e^40 times"


def test_every_release_and_kind_of_the_five_papers_has_words() -> None:
    for name in registry.PAPERS:
        paper = registry.paper(name)
        for published in (False, True):
            params = paper.params({"epsilon": 1.0, "relation": "add-remove"}, as_published=published)
            for release in releases(paper.plan(params, SCHEMAS[1]).event):
                assert "the release" not in page_words.release_in_words(release.name), (name, release.name)
    words = "the candidate that splits each node of level 2 (the root is level 0); output 1, tree 3 of ensemble 0"
    assert page_words.release_in_words("score 1/ensemble 0 3/splits of level 2") == words
    assert page_words.release_in_words("tree 3/odd") == "the release 'odd'; tree 3"


@pytest.mark.usefixtures("audited_once")
@pytest.mark.parametrize("paper", thinned(["dpboost", "sgbdt", "inprivate"]))
def test_the_curve_is_that_of_a_pair_that_violates(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, paper: str
) -> None:
    drawn: list[tuple[Any, Any]] = []

    def noted(paper: Any, params: Any, pair: Any, seed: int, progress: Any) -> Any:
        drawn.append((params, pair.witness()))
        return np.zeros(9), np.zeros(9)

    monkeypatch.setattr(page_replay, "losses_on", noted)
    small = {"dpboost": SMALL, "sgbdt": ("--pairs", "3", "--set", "trees=2", "depth=1")}.get(paper, ("--pairs", "3"))
    _, document, _ = call(paper, "--as-published", *small, "--html", str(tmp_path / "report.html"))
    ((params, witness),) = drawn
    shown = [violation for violation in document["violations"] if witness.items() <= violation["witness"].items()]
    replayable = REPLAYABLE.get(paper, {})  # readings as printed that no replay can follow are exchanged in the figures
    settings = [violation["witness"]["params"] for violation in shown]
    given = json.loads(json.dumps(asdict(params)))
    assert shown and any(all(one[name] == given[name] for name in given if name not in replayable) for one in settings)
    assert f"the pair of the finding &quot;{shown[0]['kind']} at" in (tmp_path / "report.html").read_text()


@pytest.mark.usefixtures("audited_once")
def test_without_a_violation_the_curve_is_that_of_the_worst_pair(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "report.html"
    assert call("dpboost", *SMALL, "--html", str(path))[0] == 0
    assert "the pair of the greatest loss" in path.read_text()


def test_a_secret_assignment_states_no_loss_and_is_not_drawn() -> None:
    pair = next(neighbours(None, Relation.ADD_REMOVE, 0))
    secret = Violation("assignment", "ensemble 0", None, None, None, "", pair.witness())
    assert page_replay.drawn_violation([secret]) is None
    cost = replace(secret, kind="cost", loss=0.25)
    drawn = page_replay.drawn_violation([secret, replace(cost, kind="options", loss=None), cost])
    assert drawn is not None and drawn[0] == cost and drawn[1].witness() == pair.witness()


# --- Nothing is lost to a picture -------------------------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [PUBLISHED, ("--callable", FOREIGN + "half_the_noise", "--pair", "PAIR")])
def test_what_figures_need_is_looked_for_before_the_work(
    call: Call, pair: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    def worked(*_: Any, **__: Any) -> Any:
        raise AssertionError("the work has begun")

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.setattr("refdp.audit.report.audit_paper", worked)
    monkeypatch.setattr("refdp.faces.commands.blackbox.bound_from", worked)
    path = tmp_path / "report.html"
    given = (pair if argument == "PAIR" else argument for argument in arguments)
    status, document, errors = call(*given, "--html", str(path))
    assert (status, document) == (2, {"error": "--html: figures need matplotlib; install refdp[plots]"})
    assert errors.count("\n") == 1 and not path.exists()


@pytest.mark.usefixtures("audited_once")
@pytest.mark.parametrize("failure", [ValueError("a broken\nfont"), KeyboardInterrupt()])
@pytest.mark.parametrize("arguments", [PUBLISHED, ("--callable", FOREIGN + "half_the_noise", "--pair", "PAIR")])
def test_findings_are_not_lost_to_a_picture(
    call: Call, pair: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...], failure: Any
) -> None:
    """The page has all but the figures, and the reason; so has standard output, and the status."""

    def broken(*_: Any) -> Any:
        raise failure

    monkeypatch.setattr("refdp.audit.page_replay.losses_on", broken)
    monkeypatch.setattr("refdp.audit.page_blackbox.estimated_losses", broken)
    path = tmp_path / "report.html"
    given = (pair if argument == "PAIR" else argument for argument in arguments)
    more = () if "PAIR" not in arguments else ("--epsilon", "1", "--samples", "2000")
    status, document, _ = call(*given, *more, "--html", str(path))
    assert status == 1 and not document["ok"]
    found = outline(path.read_text())
    assert found.drawings == 0 and found.texts["findings"]
    reason = "ValueError: a broken font" if isinstance(failure, ValueError) else "drawing them was interrupted"
    assert found.texts["undrawn"].strip() == f"There are no figures: {reason}"


@pytest.mark.usefixtures("audited_once")
@pytest.mark.parametrize(("published", "status"), [(True, 1), (False, 2)])
def test_findings_are_not_lost_to_a_full_disk(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, published: bool, status: int
) -> None:
    """The one document is that of the findings; a page that was asked for and is not there is no success."""

    def full(*_: Any, **__: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("refdp.audit.page_replay.losses_on", lambda *_: (np.zeros(9), np.zeros(9)))
    monkeypatch.setattr(Path, "write_text", full)
    arguments = ["dpboost", *["--as-published"] * published, *SMALL, "--html", str(tmp_path / "report.html")]
    found, document, errors = call(*arguments)
    assert (found, document["ok"]) == (status, not published)
    assert "cannot be written: No space left on device" in errors


def test_releases_are_found_in_the_source() -> None:
    package = Path(str(refdp.__file__)).parent
    for paper, release in (
        ("dpboost", "ensemble 0 1/leaves"),
        ("dpboost", "splits of level 3"),
        ("dpxgboost", "counts of level 12"),
        ("fedgbdt", "Hessian histogram 2"),
        ("sgbdt", "labels"),
    ):
        line = release_line(package, paper, release)
        assert line.startswith(f"refdp/papers/{paper}"), line
        assert "release" in line
    assert release_line(package, "dpboost", "no such thing at all") == ""
    assert re.fullmatch(r"foreign\.py:\d+", function_line(foreign.reused))
    assert set(registry.PAPERS) >= {"dpboost", "sgbdt"}


# --- the command line -------------------------------------------------------------------------------------------------


def test_a_correct_function(call: Call, pair: str) -> None:
    """False alarms: 1e-6 of the bound, 1e-9 of the structural checks."""
    status, document, progress = call(
        "--callable", FOREIGN + "noisy_sum", "--pair", pair, "--epsilon", "1", "--samples", "2000"
    )
    assert status == 0 and document["ok"] and document["structural"] == []
    assert {"ok", "lower_bound", "confidence", "samples", "event", "structural"} <= set(document)
    assert 0.3 < document["lower_bound"] <= 1.0 and document["samples"] == 2_000
    assert "epsilon >=" in progress


def test_confidence_delta_and_resume(call: Call, pair: str, tmp_path: Path) -> None:
    options = ["--pair", pair, "--epsilon", "4", "--delta", "0.2", "--confidence", "0.9", "--samples", "800"]
    options += ["--no-structural", "--resume", str(tmp_path / "runs.jsonl")]
    first = call("--callable", FOREIGN + "half_the_noise", *options)[1]
    second = call("--callable", FOREIGN + "half_the_noise", *options)[1]
    assert first["confidence"] == 0.9 and first["delta"] == 0.2
    assert {k: v for k, v in first.items() if k != "seconds"} == {k: v for k, v in second.items() if k != "seconds"}


def test_structural_findings_are_told(call: Call, pair: str) -> None:
    status, document, _ = call("--callable", FOREIGN + "reused", "--pair", pair, "--epsilon", "1", "--samples", "400")
    assert status == 1
    assert document["structural"] and {"kind", "where", "evidence", "meaning"} <= set(document["structural"][0])


@pytest.mark.parametrize(
    ("function", "words"), [("talking", ("training on", "raw")), ("ending", ("held", "at the end"))]
)
def test_what_the_function_prints_is_no_part_of_the_report(pair: str, function: str, words: tuple[str, str]) -> None:
    arguments = ["--callable", FOREIGN + function, "--pair", pair, "--epsilon", "1", "--samples", "200", "--jobs", "2"]
    command = [sys.executable, "-c", "from refdp.faces.cli import main; main()", "audit", *arguments, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["ok"] and all(word in done.stderr for word in words)


def test_a_function_that_leaves_its_folder(
    call: Call, pair: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    arguments = ["--pair", pair, "--epsilon", "1", "--samples", "200", "--html", "page.html", "--resume", "runs.jsonl"]
    assert call("--callable", FOREIGN + "wandering", *arguments)[0] == 0
    assert (tmp_path / "page.html").is_file() and (tmp_path / "runs.jsonl").is_file()


def test_errors_on_one_side_are_told_not_raised(call: Call, pair: str) -> None:
    status, document, _ = call(
        "--callable", FOREIGN + "refusing", "--pair", pair, "--epsilon", "1", "--samples", "2000"
    )
    assert status == 1 and "error" in document["event"]
    assert "raises" in [one["where"] for one in document["structural"]]


def test_what_is_no_violation_by_itself_does_not_fail_the_audit(call: Call, tmp_path: Path) -> None:
    path = tmp_path / "pair.json"
    rows = [[-1.0]] * 12 + [[1.0]] * 12
    path.write_text(json.dumps({"first": rows[::-1], "second": [[0.0], *rows[:0:-1]]}))
    arguments = ["--callable", FOREIGN + "by_position", "--pair", str(path), "--epsilon", "2", "--samples", "400"]
    status, document, _ = call(*arguments, "--outliers")
    (found,) = document["structural"]
    assert found["kind"] == "positional partition" and not found["violation"]
    assert status == 0 and document["ok"]


def test_last_bits_can_be_left_out(call: Call, pair: str, tmp_path: Path) -> None:
    options = ["--callable", FOREIGN + "floating_sum", "--pair", pair, "--epsilon", "1.2", "--samples", "4000"]
    seen, left_out = call(*options), call(*options, "--no-low-bits")
    assert seen[0] == 1 and "lowest set bit" in seen[1]["event"]
    assert left_out[0] == 0 and left_out[1]["ok"] and left_out[1]["structural_calls"] >= 300
    call(*options, "--no-low-bits", "--html", str(tmp_path / "report.html"))
    assert "lowest set bit" not in (tmp_path / "report.html").read_text()


def test_the_band_holds_at_every_look_at_which_an_audit_may_stop(
    call: Call, pair: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With 3 looks (after 1000, 2000 and 4000 runs) each is given a third of the error."""
    seen: list[float] = []

    def noted(first: Any, second: Any, confidence: float, **more: Any) -> Any:
        seen.append(confidence)
        return curve_from(first, second, confidence, **more)

    monkeypatch.setattr(page_blackbox, "curve_from", noted)
    arguments = ["--callable", FOREIGN + "half_the_noise", "--pair", pair, "--epsilon", "1", "--samples", "4000"]
    call(*arguments, "--html", str(tmp_path / "report.html"))
    assert seen == [pytest.approx(1 - 0.01 / 3)]


def test_no_all_clear_where_nothing_could_have_been_found(call: Call, pair: str, tmp_path: Path) -> None:
    """Of 200 runs none shows a violation of epsilon 9, of exact numbers, whose structure is told, nor of noise."""
    (tmp_path / "exact.py").write_text("def exact(records, seed):\n    return [len(records), seed % 97]\n")
    sizes = tmp_path / "sizes.json"
    sizes.write_text(json.dumps({"first": [[1.0], [0.0]], "second": [[1.0]]}))
    sys.path.insert(0, str(tmp_path))
    try:
        for name, given in ((FOREIGN + "noisy_sum", pair), ("exact:exact", str(sizes))):
            for more in ((), ("--no-structural",)):
                options = ["--callable", name, "--pair", given, "--epsilon", "9", "--samples", "200", *more]
                status, told, _ = call(*options)
                assert status == 3 and told["verdict"] == "NOT EXAMINED" and not told["ok"]
                assert told["structural_calls"] == (0 if more else 300)
                rows = {row["what"]: row for row in told["coverage"]}
                assert "too few runs to show a violation of epsilon 9" in rows["composition"]["reason"]
                assert rows["sampler"]["verdict"] == rows["state between calls"]["verdict"] == "NOT EXAMINED"
                kinds = [(one["kind"], one["violation"]) for one in told["structural"]]
                assert (("exact statistic", False) in kinds) is (name == "exact:exact" and not more)
        status, told, _ = call("--callable", "exact:exact", "--pair", str(sizes), "--epsilon", "0", "--samples", "1000")
        assert status == 1 and told["lower_bound"] > 0
        status, told, _ = call("--callable", "exact:exact", "--pair", str(sizes), "--epsilon", "1", "--delta", "0.999",
                               "--samples", "1000")  # fmt: skip
        assert status == 3 and not any(one["violation"] for one in told["structural"])
    finally:
        sys.path.remove(str(tmp_path))


def test_people_see_the_evidence(capsys: pytest.CaptureFixture[str], pair: str) -> None:
    options = ["--pair", pair, "--epsilon", "1.2", "--samples", "4000"]
    assert cli.run(["audit", "--callable", FOREIGN + "refusing", *options]) == 1
    assert "first ValueError: too many records" in " ".join(capsys.readouterr().out.split())
    assert cli.run(["audit", "--callable", FOREIGN + "floating_sum", *options]) == 1
    assert "--no-low-bits" in capsys.readouterr().out


def test_people_see_the_finding(capsys: pytest.CaptureFixture[str], pair: str) -> None:
    arguments = ["audit", "--callable", FOREIGN + "half_the_noise", "--pair", pair, "--epsilon", "1"]
    assert cli.run([*arguments, "--samples", "2000"]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "is not (1, 0) private: epsilon is at least" in shown and "runs a side" in shown


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "PAPER, --trainer or --callable is needed; papers are dpboost"),
        (["--callable", FOREIGN + "noisy_sum"], "--pair FILE"),
        (["--callable", "nothing", "--pair", "PAIR"], "module:function is needed"),
        (["--callable", FOREIGN + "no_such", "--pair", "PAIR"], "no_such"),
        (["dpboost", "--callable", FOREIGN + "noisy_sum", "--pair", "PAIR"], "are about papers"),
        (["dpboost", "--samples", "10"], "--callable, which is not given"),
        (["--callable", FOREIGN + "noisy_sum", "--pair", "BAD"], '"second"'),
        (["--callable", FOREIGN + "noisy_sum", "--pair", "FAR"], "neighbours differ in one record"),
        (["--callable", FOREIGN + "noisy_sum", "--pair", "TWO"], "2 of 2 and 2 records are not in the other data set"),
        (["--callable", FOREIGN + "noisy_sum", "--pair", "DEEP"], "with numbers is needed"),
        (["--callable", FOREIGN + "leaving", "--pair", "PAIR"], "it ended the program with status 1"),
        (["--callable", FOREIGN + "noisy_sum", "--pair", "PAIR", "--confidence", "1"], "confidence = 1"),
        (["--callable", FOREIGN + "noisy_sum", "--pair", "PAIR", "--samples", "5"], "samples = 5"),
        (["--callable", FOREIGN + "noisy_sum", "--pair", "PAIR", "--epsilon", "-1"], "epsilon = -1"),
    ],
)
def test_bad_input(call: Call, pair: str, tmp_path: Path, arguments: list[str], message: str) -> None:
    (tmp_path / "bad.json").write_text('{"first": [[1.0]]}')
    (tmp_path / "far.json").write_text('{"first": [[1.0], [2.0], [3.0]], "second": [[1.0]]}')
    (tmp_path / "two.json").write_text('{"first": [[1.0], [2.0]], "second": [[3.0], [4.0]]}')
    (tmp_path / "deep.json").write_text("[" * 100_000)
    files = {"PAIR": pair} | {name: str(tmp_path / f"{name.lower()}.json") for name in ("BAD", "FAR", "TWO", "DEEP")}
    status, document, errors = call(*(files.get(argument, argument) for argument in arguments))
    assert status == 2
    assert message in document["error"] and errors.startswith("refdp: ") and errors.count("\n") == 1


def test_infinite_losses_are_counted_and_not_drawn() -> None:
    from refdp.audit.page import loss_figure

    figure = loss_figure(np.array([0.1, 0.5, np.inf]), None, 1.0, "Losses.")
    assert "1 of 3 losses are infinite" in figure.caption and "<svg" in figure.svg
    assert "<svg" in loss_figure(np.array([np.inf]), None, np.inf, "Losses.").svg


def test_impossible_replays_state_no_losses() -> None:
    """As published, DPBoost's ensembles make every replay impossible, and what differs is secret."""
    from refdp.audit.page_replay import losses_on

    paper = registry.paper("dpboost")
    params = paper.params(
        {"epsilon": "1", "trees": "2", "depth": "1", "bins": "4", "relation": "add-remove"}, as_published=True
    )
    first, second = losses_on(paper, params, next(neighbours(None, Relation.ADD_REMOVE, 0)), 0)
    assert np.isnan(first).all() and np.isnan(second).all()
