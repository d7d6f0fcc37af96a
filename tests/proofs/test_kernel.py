"""The proofs in Coq: what is committed about them, and that a wrong proof, axiom or page is refused."""

from __future__ import annotations

import importlib
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from proofs import kernel
from proofs.checker.evidence import KernelChecked
from proofs.kernel import KernelError
from proofs.kernel_page import PAGE, definition, page

needs_coq = pytest.mark.skipif(not kernel.present(), reason=kernel.INSTALL)
Editor = Callable[[str, str, str], None]


@pytest.fixture
def edited(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Editor:
    """Replaces a text in a copy of the sources, which is then what is checked."""
    folder = tmp_path / "coq"
    shutil.copytree(kernel.FOLDER, folder)
    monkeypatch.setattr(kernel, "FOLDER", folder)
    monkeypatch.setattr(kernel, "SCRATCH", tmp_path / "scratch")

    def edit(name: str, old: str, new: str) -> None:
        text = (folder / name).read_text(encoding="utf-8")
        assert old in text
        (folder / name).write_text(text.replace(old, new), encoding="utf-8")

    return edit


def test_record_and_page_are_those_of_the_sources() -> None:
    record = kernel.committed()
    assert record["sources"] == kernel.sources()
    assert list(record["theorems"]) == kernel.names()
    assert page(record) == PAGE.read_text(encoding="utf-8")


def test_axioms_are_the_library_s_own() -> None:
    allowed = set(kernel.described()["axioms"])
    assert len(allowed) == 4
    for name, theorem in kernel.committed()["theorems"].items():
        assert set(theorem["axioms"]) <= allowed, name


def test_page_names_definitions_that_exist() -> None:
    assert "4" in definition("Program.gain_range")
    with pytest.raises(KeyError):
        definition("Program.no_such")


def test_page_names_functions_that_exist() -> None:
    for row in kernel.described()["line"]:
        for name in row["python"]:
            module, _, function = name.partition(":")
            assert callable(getattr(importlib.import_module(module), function)), name


def test_words_that_leave_something_unproved_are_refused(edited: Editor) -> None:
    edited("Privacy.v", "Proof. unfold near. lra. Qed.", "Admitted.")
    with pytest.raises(KernelError, match="Admitted"):
        kernel.compiled()


def test_without_coq_the_record_counts_only_for_its_sources(edited: Editor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "present", lambda: False)
    monkeypatch.setattr(kernel, "RECORD", kernel.FOLDER / "record.json")
    assert "Classical_Prop.classic" in kernel.axioms_of("DPBoost.add_remove")
    edited("Program.v", "times 4", "times 3")
    with pytest.raises(KernelError, match="differ"):
        kernel.axioms_of("DPBoost.add_remove")


def test_unknown_theorem_is_refused() -> None:
    with pytest.raises(KernelError, match=r"not in theorems\.toml"):
        kernel.axioms_of("DPBoost.every_run_is_private")


def test_evidence_compares_axioms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kernel, "present", lambda: False)
    name = "DPBoost.add_remove"
    axioms = tuple(kernel.committed()["theorems"][name]["axioms"])
    assert KernelChecked(name, axioms).check().result == "holds"
    assert "close (eps P)" in KernelChecked(name, axioms).formula()
    assert KernelChecked(name, axioms[1:]).check().result == "unknown"
    assert KernelChecked("DPBoost.everything", axioms).check().result == "unknown"


@needs_coq
def test_too_little_noise_has_no_proof(edited: Editor) -> None:
    edited("Program.v", "times 4 (mul b b)", "times 3 (mul b b)")
    with pytest.raises(KernelError, match="DPBoost"):
        kernel.compiled()


@needs_coq
def test_an_axiom_of_ours_is_found(edited: Editor, monkeypatch: pytest.MonkeyPatch) -> None:
    edited("Privacy.v", "Lemma near_0 e : near e 0 0.\nProof. unfold near. lra. Qed.",
           "Axiom near_0 : forall e, near e 0 0.")  # fmt: skip
    with pytest.raises(KernelError, match="Axiom"):
        kernel.compiled()
    monkeypatch.setattr(kernel, "FORBIDDEN", re.compile("Admitted"))  # the second look: Coq's own list
    directory = kernel.compiled()
    assert "near_0" in kernel.asked(directory, ["DPBoost.add_remove"])["DPBoost.add_remove"].axioms
    assert any(name.endswith("Privacy.near_0") for name in kernel.rechecked(directory))
