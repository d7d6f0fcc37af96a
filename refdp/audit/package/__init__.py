"""The audit of an installed package by one file: what it claims, where it is entered, and what was found.

    report = audit_package(Path("audit.toml"))
    report.verdict, report.ok, report.findings, report.coverage

`docs/audit-package.md` has the file's schema; `refdp audit package audit.toml` is the command.
"""

from refdp.audit.package.report import PackageReport
from refdp.audit.package.run import audit_package

__all__ = ["PackageReport", "audit_package"]
