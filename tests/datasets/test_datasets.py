"""Data sets: what is read is what the file says, bounds say where they come from, bad input has one clear error."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import sklearn.datasets

from refdp.data.records import Categorical, Classes, Interval, Numeric
from refdp.errors import InvalidParameter, InvalidRecords, PrivacyWarning
from refdp.io import domains, fetching
from refdp.io.datasets import folds, load, train_test
from refdp.io.domains import package_domains

PEOPLE = 'age,job,"home, town",income\n30,clerk,A,low\n,?,"B",high\n41.5,,C,low\n'
BOUNDS: dict[str, list[Any]] = {
    "age": [0, 120], "job": ["?", "clerk"], "home, town": ["A", "B"], "income": ["low", "high"],
}  # fmt: skip


@pytest.fixture(autouse=True)
def no_directory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("REFDP_DATA", raising=False)


def written(directory: Path, text: str, name: str = "people.csv") -> Path:
    path = directory / name
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_with_bounds(tmp_path: Path) -> None:
    people = load(written(tmp_path, PEOPLE), bounds=BOUNDS)
    assert people.features == (
        Numeric("age", 0, 120), Categorical("job", ("?", "clerk")), Categorical("home, town", ("A", "B")),
    )  # fmt: skip
    assert people.target == Classes(("low", "high"))
    assert (people.target_name, people.task, set(people.sources.values())) == ("income", "binary", {"given"})
    expected = [[30, 1, 0], [np.nan, 0, 1], [41.5, np.nan, np.nan]]  # an unknown category is missing, "?" is a category
    np.testing.assert_array_equal(people.x, expected)
    assert people.y.tolist() == [0, 1, 0]
    assert people.labels().tolist() == ["low", "high", "low"]
    assert people.columns()["job"].tolist() == ["clerk", "?", None]
    assert people.records().schema == people.schema()


def test_bounds_from_a_json_file_and_a_compressed_table(tmp_path: Path) -> None:
    path = tmp_path / "people.csv.gz"
    path.write_bytes(gzip.compress(PEOPLE.encode()))
    bounds = written(tmp_path, json.dumps(BOUNDS), "bounds.json")
    plain = load(written(tmp_path, PEOPLE), bounds=BOUNDS)
    assert load(path, bounds=bounds).x.tobytes() == plain.x.tobytes()


def test_what_is_read_off_the_records_is_said(tmp_path: Path) -> None:
    people = load(written(tmp_path, PEOPLE), bounds={"age": [0, 120]})
    assert people.observed == ("job", "home, town", "income")
    assert people.features[1] == Categorical("job", ("?", "clerk"))
    with pytest.raises(InvalidRecords, match=r"job, home, town, income were read off the records"):
        people.schema()
    with pytest.warns(PrivacyWarning, match="no privacy guarantee"):
        assert people.schema(allow_observed=True).names == ("age", "job", "home, town")


def test_a_target_without_bounds(tmp_path: Path) -> None:
    path = written(tmp_path, "x,flag,amount\n1,0,2.5\n2,1,3.5\n3,1,4.5\n")
    assert load(path).target == Interval(2.5, 4.5)
    flag = load(path, target="flag")
    assert (flag.target, flag.task, flag.observed) == (Classes(("0", "1")), "binary", ("x", "flag", "amount"))
    assert load(path, target="flag", bounds={"flag": ["1", "0"]}).y.tolist() == [1, 0, 0]
    assert load(path, target="flag", bounds={"flag": [0, 1]}).task == "regression", "two numbers are bounds"


FAULTS: dict[str, tuple[str, dict[str, Any], str]] = {
    "empty": ("", {}, "0 lines, a header and at least one record are needed"),
    "header only": ("a,b\n", {}, "1 lines, a header"),
    "unknown target": ("a,b\n1,2\n", {"target": "c"}, "no column 'c'; the first line of a file names its"),
    "bounds of an unknown column": ("a,b\n1,2\n", {"bounds": {"c": [0, 1]}}, "no column 'c'"),
    "text in a numeric column": (
        "a,b\n1,2\nx,3\n",
        {"bounds": {"a": [0, 1]}},
        "column 'a' holds text that is no number",
    ),
    "short record": ("a,b\n1,2\n3\n", {}, "record 2 has 1 fields, the header has 2"),
    "repeated name": ("a,a\n1,2\n", {}, "a column's name occurs more than once"),
    "missing label": ("a,b\n1,2\n3,\n", {"bounds": {"b": [0, 9]}}, "a value of target 'b' is missing or not a finite"),
    "NaN label": ("a,b\n1,nan\n", {"bounds": {"b": [0, 9]}}, "target 'b' is missing or not a finite number"),
    "unknown class": ("a,b\n1,x\n", {"bounds": {"b": ["y", "z"]}}, "is missing or not one of y, z"),
    "bounds that are no list": ("a,b\n1,2\n", {"bounds": {"a": 3}}, "a list of categories is needed, not 3"),
    "bounds that are no mapping": ("a,b\n1,2\n", {"bounds": [1]}, "is needed, not"),
    "no such bounds file": ("a,b\n1,2\n", {"bounds": "/nowhere/b.json"}, "/nowhere/b.json: cannot be read as JSON"),
}


@pytest.mark.parametrize(("text", "options", "message"), FAULTS.values(), ids=FAULTS.keys())
def test_bad_files_have_one_clear_error(tmp_path: Path, text: str, options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidRecords) as caught:
        load(written(tmp_path, text), **options)
    assert message in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("missing", ["", " ", "nan", "NaN", "NA", "?", "None", "null"])
@pytest.mark.parametrize("labels", [("yes", "no"), ("yes", "yes"), ("0", "1"), ("1", "1")])
@pytest.mark.parametrize("listed", [False, True])
def test_a_missing_label_is_refused_and_never_a_class(
    tmp_path: Path, missing: str, labels: tuple[str, str], listed: bool
) -> None:
    """Also where it would be the second of two values, and make two classes of one."""
    path = written(tmp_path, f'a,b\n1,{labels[0]}\n2,{labels[1]}\n3,"{missing}"\n')
    bounds = {"b": ["no", "yes", "0", "1"]} if listed else None
    with pytest.raises(InvalidRecords, match=r"target 'b'.* missing"):
        load(path, bounds=bounds)


@pytest.mark.parametrize("missing", ["", " ", "nan"])
def test_what_is_missing_is_no_category_of_a_feature_and_cannot_be_listed_as_one(tmp_path: Path, missing: str) -> None:
    path = written(tmp_path, f'a,b\nred,0\n"{missing}",1\nblue ,1\n')
    assert load(path).features == (Categorical("a", ("blue", "red")),)
    np.testing.assert_array_equal(load(path).x[:, 0], [1, np.nan, 0])
    for column in "ab":
        with pytest.raises(
            InvalidRecords, match=f"categories of '{column}': an empty text, blanks and NaN are missing"
        ):
            load(path, bounds={column: ["red", "blue", "0", "1", missing]})


def test_a_code_that_is_listed_is_a_class(tmp_path: Path) -> None:
    assert load(written(tmp_path, "a,b\n1,NA\n2,US\n"), bounds={"b": ["NA", "US"]}).y.tolist() == [0, 1]


def test_a_manifest_says_what_stands_for_a_missing_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its missing_token everywhere, its category_missing_code in labels; of features that is a category."""
    columns = [
        {"name": "kind", "kind": "categorical", "role": "feature", "categories": ["a", "?"]},
        {"name": "age", "kind": "numeric", "role": "feature"},
        {"name": "back", "kind": "categorical", "role": "target", "categories": ["yes", "?", "no"]},
    ]
    entry = {"name": "shop", "file": "shop.csv", "target": "back", "positive_label": "yes", "columns": columns}
    entry |= {"missing_token": "-", "category_missing_code": "?"}
    (tmp_path / "MANIFEST.json").write_text(json.dumps({"datasets": [entry]}))
    monkeypatch.setenv("REFDP_DATA", str(tmp_path))
    written(tmp_path, "kind,age,back\na,-,yes\n?,3,no\n-,4,no\n", "shop.csv")
    shop = load("shop")
    assert shop.target == Classes(("no", "yes"))
    np.testing.assert_array_equal(shop.x, [[0, np.nan], [1, 3], [np.nan, 4]])
    for label in ("?", "-", ""):
        written(tmp_path, f"kind,age,back\na,1,yes\na,2,no\na,3,{label}\n", "shop.csv")
        with pytest.raises(InvalidRecords, match="target 'back' is missing or not one of no, yes"):
            load("shop")


def test_unreadable_files(tmp_path: Path) -> None:
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(PEOPLE.encode())[:-12])
    (tmp_path / "plain.csv.gz").write_bytes(PEOPLE.encode())
    (tmp_path / "binary.csv").write_bytes(b"a,b\n\xff\xfe,2\n")
    for name in ("cut.csv.gz", "plain.csv.gz", "binary.csv", "absent.csv"):
        with pytest.raises(InvalidRecords, match="cannot be read as CSV"):
            load(tmp_path / name)
    with pytest.raises(InvalidRecords, match=r"'wine' is neither a file nor a known name: abalone, adult"):
        load("wine")


SECRETS: dict[str, tuple[bytes, str, dict[str, Any], str]] = {
    "labels": (b"a,b\n1,Alice\n2,Bob\n3,\n", "a.csv", {"bounds": {"a": [0, 9]}}, "target 'b' is missing"),
    "one label": (b"a,b\n1,Alice\n2,Alice\n", "a.csv", {"bounds": {"a": [0, 9]}}, "can be read off target 'b'"),
    "one number": (b"a,b\n1,7.125\n2,7.125\n", "a.csv", {"bounds": {"a": [0, 9]}}, "can be read off target 'b'"),
    "far labels": (
        b"a,b\n1,-5e307\n2,4.125e307\n3,1\n",
        "a.csv",
        {"bounds": {"a": [0, 9]}},
        "can be read off target 'b'",
    ),
    "far values": (b"a,b\n-1.5e308,1\n1.125e308,2\n", "a.csv", {"bounds": {"b": [0, 9]}}, "read off the values of 'a'"),
    "no header": (b"Alice,34\nBob,35\n", "a.csv", {"bounds": {"a": [0, 9]}}, "no column 'a'; the first line"),
    "no header, no target": (b"Alice,34\nBob,35\n", "a.csv", {"target": "b"}, "no column 'b'; the first line"),
    "no header, twice": (b"34,34\nBob,35\n", "a.csv", {}, "a column's name occurs more than once"),
    "bytes": (b"a,b\n1,Andr\xe9\n", "a.csv", {}, "cannot be read as CSV: it is not in UTF-8"),
    "no gzip": (b"34,Alice\n", "a.csv.gz", {}, "cannot be read as CSV: it is no whole gzip file"),
    "torn gzip": (gzip.compress(bytes(999))[:12] + b"34,Alice", "a.csv.gz", {}, "it is no whole gzip file"),
}


@pytest.mark.parametrize(("content", "name", "options", "message"), SECRETS.values(), ids=SECRETS.keys())
def test_no_message_has_anything_of_a_file_in_it(
    tmp_path: Path, content: bytes, name: str, options: dict[str, Any], message: str
) -> None:
    """Nor the error that it came from, which a traceback shows."""
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InvalidRecords) as caught:
        load(tmp_path / name, **options)
    said = str(caught.value).removeprefix(str(tmp_path))
    assert message in said and caught.value.__context__ is None
    assert not any(secret in said for secret in ("Alice", "Bob", "34", "35", "125", "e307", "5e+307", "xe9", "7."))


@pytest.mark.parametrize(
    ("text", "bounds", "said"),
    [
        ("a,b,c\n1,x,\n2,y,Alice\n", {"a": [0, 9]}, "for b, c; give"),
        ("a,b,c\n1,x,\n2,y,Alice\n", {}, "for 3 of its 3 columns; give"),
        ("34,Alice,1\n35,Bob,0\n", {"1": [0, 9]}, "for 2 of its 3 columns; give"),  # a number may be a value
    ],
)
def test_what_is_to_be_public_is_refused_before_any_value_is_looked_at(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, bounds: dict[str, Any], said: str
) -> None:
    monkeypatch.setattr("refdp.io.datasets.observed_domain", lambda *_: pytest.fail("looked at"))
    with pytest.raises(InvalidRecords, match=f"people.csv: no public bounds, categories or classes {said}"):
        load(written(tmp_path, text), bounds=bounds, public=True)


def test_what_a_manifest_observed_is_not_public(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest(tmp_path)
    monkeypatch.setenv("REFDP_DATA", str(tmp_path))
    with pytest.raises(InvalidRecords, match="shop: no public bounds, categories or classes for spent; give"):
        load("shop", public=True)
    assert load("shop", bounds={"spent": [0, 50]}, public=True).records().size == 2


def test_a_target_has_no_thresholds(tmp_path: Path) -> None:
    """So that its range may be narrower than a feature's, where it is given, kept and observed."""
    path, low = tmp_path / "times.csv", 1.7e15
    path.write_text("a,t\n" + "".join(f"{i / 60},{int(low) + i}\n" for i in range(60)), encoding="utf-8")
    public = load(path, bounds={"a": [0, 1], "t": [low, low + 1000]}).schema()
    assert public.target == Interval(low, low + 1000)
    assert domains.schema_from(domains.columns_of(public)) == public
    assert load(path).target == Interval(low, low + 59)
    with pytest.raises(InvalidParameter, match="distance is too small"):
        load(path, target="a", bounds={"a": [0, 1], "t": [low, low + 1000]}).schema()


def test_a_range_that_cannot_be_read_off_labels_quotes_none(tmp_path: Path) -> None:
    path = tmp_path / "far.csv"
    path.write_text("a,t\n1,-1.25e308\n2,1.5e308\n3,0\n", encoding="utf-8")
    with pytest.raises(InvalidRecords, match="no classes or range can be read off target 't'") as caught:
        load(path)
    assert "1.25e" not in str(caught.value) and "1.5e" not in str(caught.value)


def test_bounds_the_wrong_way_round(tmp_path: Path) -> None:
    with pytest.raises(InvalidParameter, match="finite low <= high"):
        load(written(tmp_path, "a,b\n1,2\n"), bounds={"a": [1, 0]})


@pytest.mark.parametrize("name", fetching.BUNDLED)
def test_bundled_data_have_public_bounds(name: str) -> None:
    dataset = load(name)
    assert not dataset.observed
    records = dataset.records()
    assert records.clamped <= 0.01 * records.x.size
    assert not np.isnan(records.x).any()


def test_bundled_data_are_those_of_scikit_learn() -> None:
    cancer, diabetes = load("breast_cancer"), load("diabetes")
    bunch = sklearn.datasets.load_breast_cancer()
    np.testing.assert_array_equal(cancer.x, bunch.data)
    np.testing.assert_array_equal(cancer.y, bunch.target)
    assert cancer.target == Classes(("malignant", "benign"))
    assert cancer.features[0] == Numeric("mean radius", 6.981, 28.11)
    raw = sklearn.datasets.load_diabetes(scaled=False)
    np.testing.assert_array_equal(diabetes.y, raw.target)
    np.testing.assert_array_equal(diabetes.x[:, 0], raw.data[:, 0])
    np.testing.assert_array_equal(diabetes.x[:, 1], raw.data[:, 1] - 1)
    assert diabetes.features[1] == Categorical("sex", ("1", "2"))
    with pytest.raises(InvalidRecords, match="its target is 'target'"):
        load("diabetes", target="bmi")


def manifest(directory: Path) -> None:
    """A directory as REFDP_DATA names it, with an identifier, a column of observed bounds, and a positive label."""
    (directory / "shop.csv.gz").write_bytes(gzip.compress(b"id,age,spent,kind,back\n7,20,3.5,a,yes\n8,,99,b,no\n"))
    both = {"min_source": "definition", "max_source": "definition"}
    columns = [
        {"name": "id", "kind": "categorical", "role": "identifier"},
        {"name": "age", "kind": "numeric", "role": "feature", "bounds": {"min": 0, "max": 120, **both}},
        {"name": "spent", "kind": "numeric", "role": "feature",
         "bounds": {"min": 0, "max": 99, "min_source": "definition", "max_source": "observed"}},
        {"name": "kind", "kind": "categorical", "role": "feature", "categories": ["a", "b"]},
        {"name": "back", "kind": "categorical", "role": "target", "categories": ["yes", "no"]},
    ]  # fmt: skip
    entry = {"name": "shop", "file": "shop.csv.gz", "target": "back", "positive_label": "yes", "columns": columns}
    (directory / "MANIFEST.json").write_text(json.dumps({"datasets": [entry]}))


def test_a_directory_with_a_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    manifest(tmp_path)
    monkeypatch.setenv("REFDP_DATA", str(tmp_path))
    shop = load("shop")
    assert shop.target == Classes(("no", "yes")), "the positive label is the last class"
    assert shop.y.tolist() == [1, 0]
    assert [feature.name for feature in shop.features] == ["age", "spent", "kind"]
    assert shop.observed == ("spent",), "a column is as public as its weaker bound"
    assert not load("shop", bounds={"spent": [0, 50]}).observed
    with monkeypatch.context() as mistaken:
        mistaken.setattr(domains, "_WEAKEST_FIRST", ("definition", "documented", "observed"))
        assert load("shop").observed == (), "taking the stronger bound's source would hide it"
    with pytest.raises(InvalidRecords, match=r"known name: abalone, adult, .*shop"):
        load("shop2")


def test_a_directory_without_a_manifest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REFDP_DATA", str(tmp_path))
    with pytest.raises(InvalidRecords, match=r"MANIFEST\.json: cannot be read as JSON"):
        load("adult")


def test_the_package_states_where_each_bound_comes_from() -> None:
    names = ["abalone", "adult", "bank_full", "breast_cancer", "cod_rna", "covtype", "credit_default", "diabetes"]
    for name in names:
        known = package_domains(name)
        assert known
        assert {source for _, source in known.values()} <= {"definition", "documented", "chosen"}
    assert package_domains("people.csv") == {}


def fake_openml(known: fetching.OpenML, categorical: dict[str, list[str]], row: list[float], label: Any) -> Any:
    names = [f"V{i}" for i in range(1, len(known.columns))]
    return lambda **_: SimpleNamespace(
        feature_names=names, data=np.array([row, row]), categories=categorical, target=np.array([label, label])
    )


def test_openml_answers_are_renamed_and_decoded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a network: the answer has the form that scikit-learn documents for as_frame=False."""
    row: list[float] = [39, 0, 500, 0, 13, 0, 1, 0, 0, 0, 2174, 0, 40, 0]
    row[1] = np.nan
    answer = fake_openml(fetching.OPENML["adult"], {"V2": ["Private"], "V7": ["Sales", "Tech-support"]}, row, ">50K")
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", answer)
    adult = load("adult", bounds={"fnlwgt": [0, 10]})
    assert adult.features[0] == Numeric("age", 17, 90)
    assert adult.features[1] == Categorical("workclass", ("Private", "?")), "adult marks unknowns with a category"
    assert adult.columns()["workclass"].tolist() == ["?", "?"]
    assert adult.columns()["occupation"].tolist() == ["Tech-support"] * 2
    assert adult.features[2] == Numeric("fnlwgt", 0, 10), "the caller's bounds come before the package's"
    assert (adult.target, adult.y.tolist()) == (Classes(("<=50K", ">50K")), [1, 1])
    answer = fake_openml(fetching.OPENML["abalone"], {"V1": ["M", "F", "I"]}, [0.0, *[0.5] * 7], "9")
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", answer)
    assert (load("abalone").target, load("abalone").y.tolist()) == (Interval(1, 29), [9, 9])
    for missing in (None, np.nan):
        answer = fake_openml(fetching.OPENML["adult"], {"V2": ["Private"], "V7": ["Sales", "Tech"]}, row, missing)
        monkeypatch.setattr(sklearn.datasets, "fetch_openml", answer)
        with pytest.raises(InvalidRecords, match="target 'income' is missing"):
            load("adult")
    answer = fake_openml(fetching.OPENML["abalone"], {"V1": ["M", "F", "I"]}, [0.0, *[0.5] * 7], "9")
    monkeypatch.setattr(sklearn.datasets, "fetch_openml", answer)
    with pytest.raises(InvalidRecords, match="OpenML gave 8 features, 54 are known"):
        load("covtype")


def test_openml_out_of_reach(monkeypatch: pytest.MonkeyPatch) -> None:
    def unreachable(**_: Any) -> None:
        raise OSError("no route to host")

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", unreachable)
    with pytest.raises(
        InvalidRecords, match=r"adult: cannot be fetched from OpenML \(id 1590\): no route to host; REFDP"
    ):
        load("adult")


def test_splits_are_deterministic_and_complete() -> None:
    dataset = load("diabetes")
    train, test = train_test(dataset, 0.25, seed=3)
    again = train_test(dataset, 0.25, seed=3)
    assert (train.x.tobytes(), test.y.tobytes()) == (again[0].x.tobytes(), again[1].y.tobytes())
    assert train_test(dataset, 0.25, seed=4)[1].y.tobytes() != test.y.tobytes()
    assert len(test.y) == 110
    assert sorted([*train.y, *test.y]) == sorted(dataset.y)
    parts = list(folds(load("breast_cancer"), 5, seed=1))
    assert sum(len(test.y) for _, test in parts) == 569
    assert all(abs(test.y.mean() - 357 / 569) < 0.01 for _, test in parts), "classes in equal shares"
    for size in (0, 1, -0.1, float("nan")):
        with pytest.raises(InvalidParameter, match="above 0 and below 1"):
            train_test(dataset, size)


def test_one_class_against_the_rest(tmp_path: Path) -> None:
    data = load(written(tmp_path, "a,b\n1,x\n2,y\n3,z\n"), bounds={"a": [0, 9], "b": ["x", "y", "z"]})
    assert data.task == "multiclass"
    binary = data.one_against_rest("y")
    assert (binary.task, binary.target, binary.y.tolist()) == ("binary", Classes(("not y", "y")), [0, 1, 0])
    with pytest.raises(InvalidParameter, match="class 'w'"):
        data.one_against_rest("w")
