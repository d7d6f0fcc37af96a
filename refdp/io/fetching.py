"""Data sets that come through scikit-learn: two that it brings along, others from OpenML, downloaded once."""

from __future__ import annotations

import os
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from refdp.data.records import Categorical
from refdp.errors import InvalidRecords
from refdp.io.domains import Domains
from refdp.io.tables import Column, Table

Fetched = tuple[Table, str, Domains]

BUNDLED = ("breast_cancer", "diabetes")


@dataclass(frozen=True)
class OpenML:
    """A data set at OpenML: its id, our names of its columns in order, the target last, and the target's classes.

    unknown: the category that stands for a missing value where the original data use one.
    """

    id: int
    columns: tuple[str, ...]
    classes: tuple[str, ...] = ()
    unknown: str = ""


_ADULT = """age workclass fnlwgt education education-num marital-status occupation relationship race sex
capital-gain capital-loss hours-per-week native-country income"""
_BANK = """age job marital education default balance housing loan contact day month duration campaign pdays previous
poutcome y"""
_CREDIT = "LIMIT_BAL SEX EDUCATION MARRIAGE AGE PAY_0 PAY_2 PAY_3 PAY_4 PAY_5 PAY_6"
_AMOUNTS = [f"{kind}_AMT{month}" for kind in ("BILL", "PAY") for month in range(1, 7)]
_COVTYPE = """Elevation Aspect Slope Horizontal_Distance_To_Hydrology Vertical_Distance_To_Hydrology
Horizontal_Distance_To_Roadways Hillshade_9am Hillshade_Noon Hillshade_3pm Horizontal_Distance_To_Fire_Points"""
_FLAGS = [f"Wilderness_Area{i}" for i in range(1, 5)] + [f"Soil_Type{i}" for i in range(1, 41)]
_ABALONE = "Sex,Length,Diameter,Height,Whole weight,Shucked weight,Viscera weight,Shell weight,Rings"

OPENML = {
    "adult": OpenML(1590, tuple(_ADULT.split()), ("<=50K", ">50K"), unknown="?"),
    "abalone": OpenML(183, tuple(_ABALONE.split(","))),
    "covtype": OpenML(1596, (*_COVTYPE.split(), *_FLAGS, "Cover_Type"), tuple("1234567")),
    "bank_full": OpenML(1461, tuple(_BANK.split()), ("1", "2")),
    "credit_default": OpenML(42477, (*_CREDIT.split(), *_AMOUNTS, "default payment next month"), ("0", "1")),
}


def fetch(name: str) -> Fetched:
    """The table of a data set, its target, and the domains of its categorical columns."""
    if name == "breast_cancer":
        return _breast_cancer()
    return _diabetes() if name == "diabetes" else _openml(name, OPENML[name])


def _breast_cancer() -> Fetched:
    from sklearn.datasets import load_breast_cancer

    bunch = load_breast_cancer()
    classes = tuple(str(label) for label in bunch.target_names)
    columns: dict[str, Column] = {str(f): bunch.data[:, i] for i, f in enumerate(bunch.feature_names)}
    columns["diagnosis"] = [classes[label] for label in bunch.target]
    return (
        Table("breast_cancer", columns),
        "diagnosis",
        {"diagnosis": (Categorical("diagnosis", classes), "documented")},
    )


def _diabetes() -> Fetched:
    from sklearn.datasets import load_diabetes

    bunch = load_diabetes(scaled=False)  # the scaled columns are standardised with the records' own means
    columns: dict[str, Column] = {f: bunch.data[:, i] for i, f in enumerate(bunch.feature_names)}
    columns["sex"] = [f"{code:.0f}" for code in columns["sex"]]
    columns["target"] = bunch.target
    return Table("diabetes", columns), "target", {"sex": (Categorical("sex", ("1", "2")), "definition")}


def _openml(name: str, known: OpenML) -> Fetched:
    bunch = _downloaded(name, known.id)
    *names, target = known.columns
    if len(bunch.feature_names) != len(names):
        raise InvalidRecords(f"{name}: OpenML gave {len(bunch.feature_names)} features, {len(names)} are known")
    columns: dict[str, Column] = {}
    domains: Domains = {}
    for i, (theirs, ours) in enumerate(zip(bunch.feature_names, names, strict=True)):
        columns[ours] = np.asarray(bunch.data[:, i], dtype=np.float64)
        declared = (bunch.categories or {}).get(theirs)
        if declared is not None:
            columns[ours] = _texts(columns[ours], declared, known.unknown)
            extra = {known.unknown} - {"", *declared}
            domains[ours] = Categorical(ours, (*declared, *extra)), "documented"
    columns[target] = ["" if label is None else str(label) for label in bunch.target]
    if known.classes:
        domains[target] = Categorical(target, known.classes), "documented"
    return Table(name, columns), target, domains


def _downloaded(name: str, data_id: int) -> Any:
    from sklearn.datasets import fetch_openml

    cache = Path(os.environ.get("REFDP_CACHE") or Path.home() / ".cache" / "refdp")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # about each try that failed; the error below says it once
            return fetch_openml(data_id=data_id, as_frame=False, parser="liac-arff", data_home=cache)
    except (OSError, ValueError) as error:  # no network, or an answer that is not what the server promised
        hint = "REFDP_DATA can name a directory that has it"
        raise InvalidRecords(f"{name}: cannot be fetched from OpenML (id {data_id}): {error}; {hint}") from error


def _texts(indices: Any, categories: list[str], unknown: str) -> list[str]:
    return [unknown if np.isnan(index) else categories[int(index)] for index in indices]
