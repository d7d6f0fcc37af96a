"""`make demo`: DPBoost as published and repaired on data bundled with scikit-learn, with certificates and audits."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from rich.console import Console, Group, RenderableType
from rich.rule import Rule
from rich.table import Table
from rich.text import Text

from refdp.audit.report import SMALL, Report, audit_paper
from refdp.data.records import Interval
from refdp.faces import prediction, registry
from refdp.faces.commands.audit_run import audit_page
from refdp.faces.commands.certificates import certificate_page
from refdp.faces.commands.output import bar, figure
from refdp.faces.training import source_for, train
from refdp.io import datasets
from refdp.io.datasets import Dataset
from refdp.ledger.certificate import Certificate
from refdp.privacy.events import Relation

DATA = ("breast_cancer", "diabetes")
EPSILONS = (2.0, 10.0)
RUNS = 3
PAIRS = 18

Row = tuple[str, Certificate | None, list[dict[str, float | None]]]


def main() -> None:
    """Train, certify and audit."""
    console, start = Console(), time.perf_counter()
    console.print("Trains, certifies and audits: one minute on an idle machine, three on a busy one; Ctrl-C ends it.")
    console.print(Rule("DPBoost (Li et al., AAAI 2020): as published and repaired"))
    certificates: dict[str, Certificate] = {}
    for name in DATA:
        dataset = datasets.load(name)
        rows = compared(dataset)
        console.print(metrics_table(dataset, rows))
        certificates |= {label: c for label, c, _ in rows if c is not None and c.claimed.epsilon == EPSILONS[0]}
    for label, certificate in certificates.items():
        console.print(Text(f"\n{label}", style="bold"), certificate_page(certificate))
    console.print(Rule("replay audit"))
    for published in (True, False):
        console.print(audited(DATA[0], published=published), "")
    console.print(Text(f"{time.perf_counter() - start:.0f} seconds", style="dim"))


def compared(dataset: Dataset) -> list[Row]:
    """Metrics on held-out records of a guess, of training without privacy, and of both variants at each epsilon."""
    training, held_out = datasets.train_test(dataset)
    paper, records = registry.paper("dpboost"), training.records()
    rows: list[Row] = [("guess, no model", None, [guess(training, held_out)])]
    variants: list[tuple[str, dict[str, Any], bool]] = [("no privacy", {"epsilon": 1.0, "scheme": "np"}, False)]
    for epsilon in EPSILONS:
        variants.append((f"published, epsilon {epsilon:g}", {"epsilon": epsilon}, True))
        variants.append((f"repaired, epsilon {epsilon:g}", {"epsilon": epsilon}, False))
    with bar(f"training on {dataset.name}") as progress:
        for number, (label, settings, published) in enumerate(variants):
            params = paper.params({"relation": Relation.ADD_REMOVE, **settings}, as_published=published)
            results = []
            for repetition in range(RUNS):
                run = train(paper, params, records, source_for(params, None))
                results.append(prediction.metrics(run.model, held_out))
                progress(number * RUNS + repetition + 1, len(variants) * RUNS)
            rows.append((label, run.certificate, results))
    return rows


def guess(training: Dataset, held_out: Dataset) -> dict[str, float | None]:
    """The metrics of the mean label, or of the most frequent class."""
    if isinstance(held_out.target, Interval):
        residual = held_out.y - training.y.mean()
        return {"rmse": float(np.sqrt(np.mean(residual**2))), "mae": float(np.mean(np.abs(residual)))}
    frequent = np.bincount(training.y.astype(np.intp)).argmax()
    return {"auc": 0.5, "error": float(np.mean(held_out.y != frequent))}


def metrics_table(dataset: Dataset, rows: list[Row]) -> RenderableType:
    """Mean and standard deviation over the runs beside the two epsilons of the certificate."""
    names = list(rows[0][2][0])
    title = f"{dataset.name}: {len(dataset.y)} records, {len(dataset.features)} features, a fifth held out"
    table = Table(title=title, title_justify="left")
    table.add_column("training", no_wrap=True)
    for name in ("claimed", "established", *names):
        table.add_column(name, justify="right")
    for label, certificate, results in rows:
        table.add_row(label, *_epsilons(certificate), *(_spread(results, name) for name in names))
    return Group(Text(), table)


def _epsilons(certificate: Certificate | None) -> tuple[str, Text]:
    if certificate is None:
        return "", Text()
    claimed, established = certificate.claimed.epsilon, certificate.established.epsilon
    style = "green" if np.isfinite(established) and established <= claimed * (1 + 1e-9) else "red"
    return figure(claimed), Text(figure(established), style=style)


def _spread(results: list[dict[str, float | None]], name: str) -> str:
    values = np.array([result[name] for result in results], dtype=np.float64)
    spread = float(f"{values.std():.1g}")
    return f"{values.mean():.3g}" + (f" ± {spread:g}" if spread > 1e-9 * abs(values.mean()) else "")


def audited(name: str, *, published: bool) -> RenderableType:
    """The replay audit of one variant on subsets of a data set."""
    paper, label = registry.paper("dpboost"), "as published" if published else "repaired"
    params = paper.params({**SMALL, "epsilon": EPSILONS[0], "relation": Relation.ADD_REMOVE}, as_published=published)
    with bar(f"replaying DPBoost {label}") as progress:
        report: Report = audit_paper(paper, params, PAIRS, 0, records=datasets.load(name).records(), progress=progress)
    return audit_page(f"DPBoost {label} on {name}, {params.relation.value} neighbours", report)


if __name__ == "__main__":
    main()
