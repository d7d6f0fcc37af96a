"""The papers' tables and figures, run again: `python -m benchmarks.reproduce [paper ...]`."""
