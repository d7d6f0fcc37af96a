"""`pytest --refdp`: privacy assertions of a test suite, and audit.toml files as tests.

Tests marked `refdp`, and those that use the fixture `refdp`, run with --refdp alone, since they take many runs; every
file audit.toml that is collected is then audited, one test for each entry point.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import pytest

if TYPE_CHECKING:
    from refdp.audit.blackbox import Bound

WHY = "privacy is tested with --refdp"
AUDIT = "audit.toml"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options."""
    group = parser.getgroup("refdp", "differential privacy")
    group.addoption("--refdp", action="store_true", help="run tests of differential privacy, and audit.toml files")
    group.addoption("--refdp-samples", type=int, default=20_000, help="most runs a side of one assertion")
    group.addoption(
        "--refdp-false-alarm", type=float, default=1e-9, help="chance that a private mechanism fails one assertion"
    )


def pytest_configure(config: pytest.Config) -> None:
    """The marker, so that strict suites know it."""
    config.addinivalue_line("markers", "refdp: a test of differential privacy, run with --refdp")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Skip what is not asked for."""
    if config.getoption("--refdp"):
        return
    for item in items:
        if item.get_closest_marker("refdp") or "refdp" in getattr(item, "fixturenames", ()):
            item.add_marker(pytest.mark.skip(reason=WHY))


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    """Audits, with --refdp alone."""
    if file_path.name == AUDIT and parent.config.getoption("--refdp"):
        return AuditFile.from_parent(parent, path=file_path)
    return None


class AuditFile(pytest.File):
    """One audit.toml."""

    def collect(self) -> Iterator[pytest.Item]:
        """A test for each entry point."""
        from refdp.audit.package.scope import read

        for entry in read(self.path).entries:
            yield EntryPoint.from_parent(self, name=entry.name)


class EntryPoint(pytest.Item):
    """One entry point of an audit: it fails for a violation that accepted.json beside the file does not accept."""

    def runtest(self) -> None:
        """Audit it. Errors: Violated."""
        from refdp.audit.package import audit_package

        accepted = self.path.with_name("accepted.json")
        report = audit_package(self.path, only=self.name, baseline=accepted if accepted.is_file() else None)
        if report.status == 1:
            raise Violated("\n\n".join(
                f"{one.cause.title} [{one.group}, {one.severity}]\n{one.location}\n{one.evidence}\n{one.contradicts}\n"
                f"{one.witness.code}"
                for one in report.violations if not one.accepted
            ))  # fmt: skip
        if report.status == 3:
            pytest.skip(f"{report.verdict}: {report.sentence}")

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The findings alone, without refdp's own frames."""
        if isinstance(excinfo.value, Violated):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, int, str]:
        """Where it stands."""
        return self.path, 0, f"audit: {self.name}"


class Violated(AssertionError):
    """An audit found a violation."""


SEEN = "refdp"
"""Property of a test's report, which workers send on: a lower bound that an assertion gave, claimed epsilon, runs."""


@dataclass(frozen=True)
class Checks:
    """`refdp.testing` with the options of the command line, and a seed that follows from the test's name."""

    name: str
    samples: int
    false_alarm: float
    seen: list[tuple[str, object]] = field(default_factory=list)

    def assert_dp(self, mechanism: Any, pair: Any, epsilon: float, delta: float = 0.0, **settings: Any) -> Bound:
        """`refdp.testing.assert_dp`; `settings` go before the options."""
        from refdp.testing import assert_dp

        chosen = {
            "samples": self.samples,
            "false_alarm": self.false_alarm,
            "seed": zlib.crc32(self.name.encode()),
            **settings,
        }
        bound = assert_dp(mechanism, pair, epsilon, delta, **chosen)
        self.seen.append((SEEN, [float(bound.lower), float(epsilon), int(bound.samples)]))  # a worker sends no others
        return bound

    def assert_sensitivity(
        self, function: Callable[[Any], Any], pairs: Iterable[Any], bound: float, *, norm: Literal[1, 2, "max"] = 1
    ) -> float:
        """`refdp.testing.assert_sensitivity`."""
        from refdp.testing import assert_sensitivity

        return assert_sensitivity(function, pairs, bound, norm=norm)

    def assert_noninterference(self, build: Callable[[Any, Any], Any], pair: Any, released: Iterable[Any]) -> int:
        """`refdp.testing.assert_noninterference`."""
        from refdp.testing import assert_noninterference

        return assert_noninterference(build, pair, released)


@pytest.fixture
def refdp(request: pytest.FixtureRequest) -> Checks:
    """Privacy assertions."""
    config = request.config
    return Checks(
        request.node.nodeid,
        config.getoption("--refdp-samples"),
        config.getoption("--refdp-false-alarm"),
        request.node.user_properties,
    )


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """What was tried and not refuted, with the bound: a test that passes proves nothing."""
    reports = [one for kind in terminalreporter.stats.values() for one in kind if getattr(one, "when", "") == "call"]
    seen = [(one.nodeid, *told) for one in reports for name, told in one.user_properties if name == SEEN]
    if seen:
        terminalreporter.section("refdp: lower bounds of epsilon (no proof of privacy)")
        for name, lower, epsilon, runs in seen:
            terminalreporter.write_line(f"{name}: epsilon >= {lower:.3g}, claimed {epsilon:g}, {runs} runs a side")
