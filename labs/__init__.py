"""Labs: find the bug, repair it, prove it. `python -m labs` prints what is refused and accepted, see README.md."""
