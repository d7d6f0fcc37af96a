"""The projection of measured engines: its law on made-up figures, and the page is what the program writes."""

from __future__ import annotations

import pytest

from benchmarks.projection import PAGE, Run, projected, runs, written

MADE_UP = f"""1000000 rows of 20 features in 16 partitions, 2 workers of one thread, 50 trees of depth 4; 2 cores.

| program | loading, s | driver, s | workers, s | memory, s | ratio | wall, s | rounds | sent | back | peak | model |
{"|---" * 12}|
| a paper | 4.0 | 1.0 | 5.0 | 3.0 | 2.00 | 28 | 200 | 2000 | 400 | 238 | equal |
| xgboost.dask, not private | 0.0 | 1.0 | 12.2 | - | - | 36 | - | - | - | 290 | - |
"""


def test_the_law() -> None:
    (run,) = runs(MADE_UP)
    assert run == Run("a paper", 10**6, 20, 2, 50, 4.0, 1.0, 5.0, 200, 2000, 400)
    # 10^7 rows a worker: 4e-6 s a row; 1e-7 s a row and tree; 400 rounds of 100 messages at 2.5 ms; 1 kB and 200 B each
    assert projected(run) == pytest.approx([40.0, 100.0, 100.0, 240.0, 40.0, 8.0])


def test_the_page_has_the_projection_of_its_own_tables() -> None:
    page = PAGE.read_text(encoding="utf-8")
    assert len(runs(page)) >= 3
    assert written(page) == page
    assert written(page.replace("| 5.1 | 1.0 | 4.3 |", "| 5.1 | 1.0 | 43 |")) != page
