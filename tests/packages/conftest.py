"""One audit of the small package `toy`, shared by the tests of what is made of it."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from refdp.audit.package import audit_package
from refdp.audit.package.report import PackageReport

TOY = Path(__file__).parent / "toy"


@pytest.fixture(scope="package")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(shutil.copytree(TOY, tmp_path_factory.mktemp("audit") / "toy"))


@pytest.fixture(scope="module", autouse=True)
def tidy() -> object:
    yield
    for name in ("toydp", "wrappers"):
        sys.modules.pop(name, None)


@pytest.fixture(scope="package")
def report(folder: Path) -> PackageReport:
    return audit_package(folder / "audit.toml", command="refdp audit package audit.toml")
