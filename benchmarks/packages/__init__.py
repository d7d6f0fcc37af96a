"""Audits of packages that refdp did not write; `python -m benchmarks.packages` writes docs/audit-packages.md."""
