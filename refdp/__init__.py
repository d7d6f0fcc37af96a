"""refdp: a reference for differentially private gradient boosted trees."""

__version__ = "0.1.0"
