"""Parts of the plugin of pytest, each alone: options, seeds, what is skipped, and what audits say."""

from __future__ import annotations

import zlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from refdp import pytest_plugin, testing
from refdp.audit import package


def test_options_and_marker() -> None:
    options: dict[str, dict[str, Any]] = {}
    group = SimpleNamespace(addoption=lambda name, **given: options.update({name: given}))
    parser: Any = SimpleNamespace(getgroup=lambda *_: group)
    pytest_plugin.pytest_addoption(parser)
    assert list(options) == ["--refdp", "--refdp-samples", "--refdp-false-alarm"]
    assert [one.get("default") for one in options.values()] == [None, 20_000, 1e-9]
    assert [one.get("type") for one in options.values()] == [None, int, float]
    lines: list[Any] = []
    config: Any = SimpleNamespace(addinivalue_line=lambda *line: lines.append(line))
    pytest_plugin.pytest_configure(config)
    assert [(name, text.partition(":")[0]) for name, text in lines] == [("markers", "refdp")]


@pytest.mark.parametrize("asked", [False, True])
def test_what_is_skipped(asked: bool) -> None:
    """Tests with the marker or with the fixture, unless they are asked for; audit.toml is collected only then."""
    config: Any = SimpleNamespace(getoption=lambda name: asked)
    skipped = []

    def item(name: str, marked: bool, *fixtures: str) -> Any:
        return SimpleNamespace(
            fixturenames=fixtures,
            get_closest_marker=lambda marker: (marked and marker == "refdp") or None,
            add_marker=lambda mark: skipped.append((name, mark.kwargs["reason"])),
        )

    items = [item("plain", False, "tmp_path"), item("marked", True), item("fixture", False, "tmp_path", "refdp")]
    pytest_plugin.pytest_collection_modifyitems(config, [*items, SimpleNamespace(
        get_closest_marker=lambda _: None, add_marker=lambda mark: skipped.append(("bare", "")))])  # fmt: skip
    assert skipped == ([] if asked else [("marked", pytest_plugin.WHY), ("fixture", pytest_plugin.WHY)])


def test_audits_are_collected_where_they_are_asked_for(request: pytest.FixtureRequest) -> None:
    for asked in (False, True):
        config: Any = SimpleNamespace(getoption=lambda name, asked=asked: asked)
        for name in ("audit.toml", "other.toml"):
            made: list[Any] = []
            parent: Any = SimpleNamespace(config=config)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(pytest_plugin.AuditFile, "from_parent", lambda *given, **named: made.append(named) or "x")  # noqa: B023
                found = pytest_plugin.pytest_collect_file(Path("/a") / name, parent)
            assert (found == "x") == bool(made) == (asked and name == "audit.toml")


def entry(path: Path) -> Any:
    return SimpleNamespace(path=path, name="count")


def test_an_audits_status_is_a_tests(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """0 passes, 1 fails with what is not accepted, 3 is skipped; accepted.json is handed over where there is one."""
    path, asked, status = tmp_path / "audit.toml", [], [0]

    def violation(name: str, accepted: bool) -> Any:
        return SimpleNamespace(cause=SimpleNamespace(title=name), group="g", severity="s", location="l", evidence="e",
                               contradicts="c", witness=SimpleNamespace(code="w"), accepted=accepted)  # fmt: skip

    def audit(*given: Any, **named: Any) -> Any:
        asked.append((given, named))
        return SimpleNamespace(status=status[0], verdict="NOT EXAMINED", sentence="why",
                               violations=[violation("first", False), violation("second", True)])  # fmt: skip

    monkeypatch.setattr(package, "audit_package", audit)
    run: Any = pytest_plugin.EntryPoint.runtest
    run(entry(path))
    assert asked.pop() == ((path,), {"only": "count", "baseline": None})
    (tmp_path / "accepted.json").write_text("{}")
    run(entry(path))
    assert asked.pop()[1]["baseline"] == tmp_path / "accepted.json"
    status[0] = 1
    with pytest.raises(pytest_plugin.Violated, match=r"^first \[g, s\]\nl\ne\nc\nw$"):
        run(entry(path))
    status[0] = 3
    with pytest.raises(pytest.skip.Exception, match="NOT EXAMINED: why"):
        run(entry(path))
    place: Any = pytest_plugin.EntryPoint.reportinfo
    assert place(entry(path)) == (path, 0, "audit: count")


def test_assertions_have_the_options_and_a_seed_of_the_tests_name(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []

    def told(name: str) -> Any:
        def tell(*given: Any, **named: Any) -> Any:
            asked.append((name, given, named))
            return SimpleNamespace(lower=0.5, samples=77)

        return tell

    for name in ("assert_dp", "assert_sensitivity", "assert_noninterference"):
        monkeypatch.setattr(testing, name, told(name))
    checks = pytest_plugin.Checks("a::b", 500, 1e-6)
    assert checks.assert_dp("m", "p", 2.0).samples == 77
    seed = zlib.crc32(b"a::b")
    assert asked.pop() == (
        "assert_dp",
        ("m", "p", 2.0, 0.0),
        {"samples": 500, "false_alarm": 1e-6, "seed": seed},
    )
    checks.assert_dp("m", "p", 3.0, 0.1, samples=9, low_bits=False)
    assert asked.pop()[1:] == (("m", "p", 3.0, 0.1),
                               {"samples": 9, "false_alarm": 1e-6, "seed": seed, "low_bits": False})  # fmt: skip
    assert checks.seen == [("refdp", [0.5, 2.0, 77]), ("refdp", [0.5, 3.0, 77])]
    assert checks.assert_sensitivity(abs, [1], 2.0) is not None
    assert asked.pop() == ("assert_sensitivity", (abs, [1], 2.0), {"norm": 1})
    assert checks.assert_noninterference(max, "p", [3]) is not None
    assert asked.pop() == ("assert_noninterference", (max, "p", [3]), {})
    lines: list[str] = []
    for seen in ([], [("other", 1)], checks.seen):
        report = SimpleNamespace(when="call", nodeid="a::b", user_properties=seen)
        reporter = SimpleNamespace(
            section=lines.append, write_line=lines.append, stats={"passed": [report], "warnings": [object()]}
        )
        pytest_plugin.pytest_terminal_summary(reporter, SimpleNamespace())  # type: ignore[arg-type]
    assert lines[1:] == [f"a::b: epsilon >= 0.5, claimed {claimed}, 77 runs a side" for claimed in (2, 3)]
