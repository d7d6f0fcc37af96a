"""The prove reading: a paper's training text run once on unknown records, every release asked of two solvers."""
