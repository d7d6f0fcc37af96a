"""Figures about audits, and docs/audit-figures.md of what is kept: `python -m tests.audit.figures [NAME [SECONDS]]`.

NAME: plans (200, about 5 minutes of a core), power (2 minutes), alarms (1,000 audits, about 20 minutes), or page alone;
all without a name. Results are kept line by line below `kept/`; the same command goes on where it was ended.
"""

from __future__ import annotations

import sys

from tests.audit.figures import alarms, plans, power
from tests.audit.figures.page import write

PARTS = {"plans": plans.run, "power": power.run, "alarms": alarms.run}


def main(name: str = "", seconds: str = "inf") -> int:
    """Run what is named, then write the page. Exit status 1 if what is kept shows a false alarm or a miss."""
    for part, run in PARTS.items():
        if name in ("", part):
            run(float(seconds))
    return int(not write())


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
