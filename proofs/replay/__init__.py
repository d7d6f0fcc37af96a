"""Recorded runs of the five papers, computed again by Coq from the programs that the theorems are about."""
