"""`python -m refdp` is the command `refdp`."""

from refdp.faces.cli import main

if __name__ == "__main__":
    main()
