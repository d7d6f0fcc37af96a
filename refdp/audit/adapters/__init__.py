"""Adapters for packages that refdp did not write: which of their functions add noise, and how their trainers are run.

Each is optional: nothing is imported from a package before its adapter is. Versions are those of the extras in
pyproject.toml; dp-xgboost has its own environment, see `refdp.audit.adapters.dpxgboost`.
"""
