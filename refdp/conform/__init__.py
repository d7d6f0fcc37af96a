"""Tapes, vectors, a runner and certificates of runs: a faster implementation held against refdp."""
