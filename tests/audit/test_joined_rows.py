"""Rows of a coverage table about one subject, joined: by enumeration of all verdicts, deciding or not."""

from __future__ import annotations

from itertools import product

import pytest

from refdp.audit.verdicts import SUBJECTS, Row, Verdict, completed, exit_status, is_ok, summary

ORDER = [Verdict.VIOLATION, Verdict.NOT_EXAMINED, Verdict.NOT_FOUND, Verdict.HOLDS]


def joined(*rows: Row) -> Row:
    found = {row.what: row for row in completed(rows)}
    assert list(found) == [*SUBJECTS, *(name for name in found if name not in SUBJECTS)]
    return found[rows[0].what]


@pytest.mark.parametrize("decide", list(product([True, False], repeat=3)))
def test_the_weakest_of_what_decides_and_every_violation(decide: tuple[bool, ...]) -> None:
    """A violation is one even in a row that decides nothing; where nothing decides all rows count.

    Beside a violation it is told why what decides was not examined.
    """
    assert list(Verdict) == ORDER
    for words in product(ORDER, repeat=3):
        rows = [
            Row("time", word, f"r{k}", f"p{k}", does) for k, (word, does) in enumerate(zip(words, decide, strict=True))
        ]
        asked = [word for word, does in zip(words, decide, strict=True) if does] or list(words)
        due = Verdict.VIOLATION if Verdict.VIOLATION in words else min(asked, key=ORDER.index)
        beside = [row.reason for row in rows if row.decides and row.verdict is Verdict.NOT_EXAMINED]
        left = "; ".join(beside) if due is Verdict.VIOLATION else ""
        assert joined(*rows) == Row("time", due, "r0; r1; r2", "p0; p1; p2", any(decide), left)


def test_equal_reasons_are_told_once_and_empty_powers_not_at_all() -> None:
    rows = [
        Row("own", Verdict.HOLDS, "a", ""),
        Row("own", Verdict.HOLDS, "b", "p"),
        Row("own", Verdict.HOLDS, "a", "p"),
    ]
    assert joined(*rows) == Row("own", Verdict.HOLDS, "a; b", "p", True)
    bare = next(row for row in completed(rows) if row.what == SUBJECTS[0])
    assert bare == Row(SUBJECTS[0], Verdict.NOT_EXAMINED, "nothing looked at it", "", True)


def test_a_summary_is_of_what_decides_and_every_violation() -> None:
    for words in product(ORDER, repeat=2):
        for decide in product([True, False], repeat=2):
            rows = [Row("x", word, "", "", does) for word, does in zip(words, decide, strict=True)]
            asked = [w for w, does in zip(words, decide, strict=True) if does or w is Verdict.VIOLATION]
            assert summary(rows) is min(asked, key=ORDER.index, default=Verdict.NOT_EXAMINED)
    assert [exit_status(word) for word in ORDER] == [1, 3, 0, 0]
    assert [is_ok(word) for word in ORDER] == [False, False, True, True]
