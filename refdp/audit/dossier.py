"""A dossier: every question of an evaluation after NIST SP 800-226, answered from one certificate or audit report.

An answer is proved, tested, assumed or not examined, and a question that the document says nothing about is not
examined: nothing is filled in. Source of the questions: NIST SP 800-226, Guidelines for Evaluating Differential Privacy
Guarantees (2025), whose factors are put as eleven questions here.
"""

from __future__ import annotations

import html
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from refdp.audit import dossier_figures
from refdp.audit.page import STYLE
from refdp.audit.verdicts import Row, Verdict, completed, is_ok, summary
from refdp.errors import InvalidParameter
from refdp.faces import registry
from refdp.ledger import claims as ledger
from refdp.privacy.events import Relation


class Word(StrEnum):
    """How a question is answered, from the weakest to the strongest."""

    NOT_EXAMINED = "not examined"
    ASSUMED = "assumed"
    TESTED = "tested"
    PROVED = "proved"


@dataclass(frozen=True)
class Answer:
    """One question. holds: False where the evidence contradicts what is claimed. evidence: what the answer rests on."""

    topic: str
    question: str
    word: Word
    text: str
    evidence: tuple[str, ...] = ()
    holds: bool = True

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {**vars(self), "word": str(self.word), "evidence": list(self.evidence)}


QUESTIONS: Mapping[str, str] = {
    "unit of privacy": "Whom does the guarantee protect: one record, one person, or a group?",
    "model": "Who sees the records before noise is added: a trusted curator, the participants, or nobody?",
    "parameters": "What are epsilon and delta, and does the program keep them?",
    "mechanism": "Which noise is drawn, and does it have the law and the scale that its cost supposes?",
    "composition": "Do all releases together cost what is claimed?",
    "sampling": "Is privacy gained by samples or partitions, and do they have the secrecy and law that this needs?",
    "floating point": "Do rounding and the numbers' last bits give away what ideal noise would hide?",
    "side channels": "Do errors, warnings, time, files or state tell more than the released values?",
    "sensitivity": "Can one unit change what noise is added to by more than is declared?",
    "utility": "How good is the result, and was that measured without spending more?",
    "access": "Who can reach records, seeds and unreleased values?",
}
ROWS: Mapping[str, Sequence[str]] = {
    "parameters": ("composition", "published object"),
    "mechanism": ("noise law and scale", "sampler"),
    "composition": ("composition",),
    "sampling": ("secret randomness", "scopes"),
    "floating point": ("floating point",),
    "side channels": ("side channels", "state between calls", "control flow", "time"),
    "sensitivity": ("releases",),
}
"""The rows of a coverage table that answer a question; all of them have to."""
WORDS = {
    Verdict.HOLDS: Word.PROVED,
    Verdict.NOT_FOUND: Word.TESTED,
    Verdict.VIOLATION: Word.TESTED,
    Verdict.NOT_EXAMINED: Word.NOT_EXAMINED,
}


@dataclass(frozen=True)
class Dossier:
    """All answers about one subject. source: the kind of document they come from."""

    subject: str
    source: str
    answers: tuple[Answer, ...]

    @property
    def holds(self) -> bool:
        """Whether nothing in the document contradicts the claim; that is no proof."""
        return all(answer.holds for answer in self.answers)

    @property
    def sentence(self) -> str:
        """The whole in a sentence."""
        counts = ", ".join(f"{count} {word}" for word, count in self.counts.items() if count)
        said = "" if self.holds else " The evidence contradicts the claim: " + ", ".join(
            answer.topic for answer in self.answers if not answer.holds
        ) + "."  # fmt: skip
        return f"{self.subject}: of {len(self.answers)} questions {counts}.{said}"

    @property
    def counts(self) -> dict[str, int]:
        """How many questions have each answer, the strongest first."""
        return {str(word): sum(answer.word is word for answer in self.answers) for word in reversed(Word)}

    def to_dict(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "subject": self.subject,
            "source": self.source,
            "holds": self.holds,
            "sentence": self.sentence,
            "counts": self.counts,
            "answers": [answer.to_dict() for answer in self.answers],
        }


def dossier(document: Any) -> Dossier:
    """From what `refdp train`, `refdp audit` or `refdp audit package` prints with --json, or a certificate alone.

    Errors: InvalidParameter for any other document, and for one that contradicts itself.
    """
    if isinstance(document, Mapping):
        if "coverage" in document and {"certificate", "releases"} & document.keys():
            raise InvalidParameter("a certificate and an audit report in one document: each needs a dossier of its own")
        if isinstance(document.get("certificate"), Mapping):
            return _of_certificate(document["certificate"], document)
        if {"claimed", "established", "releases"} <= document.keys():
            return _of_certificate(document, {})
        if isinstance(document.get("coverage"), list) and "verdict" in document:
            return _of_report(document)
    raise InvalidParameter(
        "no certificate and no audit report: what `refdp train --json`, `refdp audit --json` or "
        "`refdp audit package --json` prints is needed"
    )


def _of_certificate(certificate: Mapping[str, Any], run: Mapping[str, Any]) -> Dossier:
    try:
        claims = _held_against_the_ledger(
            (str(one["id"]), str(one["verdict"])) for key in ("claims", "rests_on") for one in certificate.get(key, [])
        )
        relation, releases = str(certificate["relation"]), list(certificate["releases"])
        claimed, established = (
            {name: float(certificate[key][name]) for name in ("epsilon", "delta")} for key in ("claimed", "established")
        )
        assumptions = [str(one) for one in certificate.get("assumptions", [])]
        own = {str(one["claim"]): claims.get(str(one["claim"]), "") for one in releases}
        mechanisms = list(dict.fromkeys(f"{one['mechanism']} ({one['name']})" for one in releases))
        held = dossier_figures.held(releases, claims, **established)
        stated = [str(one["id"]) for one in certificate.get("claims", [])]
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InvalidParameter(f"certificate: {error!r} is missing or no number") from error
    for name, one in (("claimed", claimed), ("established", established)):
        if one["epsilon"] < 0 or not 0 <= one["delta"] < 1:
            raise InvalidParameter(f"certificate: {name} {one}: epsilon from 0 on and delta from 0 to 1 are needed")
    paper = str(certificate.get("paper", ""))
    if run.get("paper", paper) != paper and paper:
        raise InvalidParameter(f"certificate of {paper!r} in a document about {run['paper']!r}")
    if relation not in list(Relation):
        raise InvalidParameter(f"certificate: relation {relation!r}: {' or '.join(Relation)} is needed")
    selected = [name for name in claims if name in ledger.OF_SELECTIONS]
    scores = {str(one["claim"]) for one in releases if selected and one["name"] == "score"}
    begins = f"composition/{paper}-" if paper in registry.OWN else f"{paper}/"
    foreign = sorted({name for name in (*stated, *own) if name.partition("/")[0] in {*registry.PAPERS} - {paper}}
                     | {name for name in own.keys() - scores if not name.startswith(begins)})  # fmt: skip
    if paper in (*registry.PAPERS, *registry.OWN) and foreign:
        raise InvalidParameter(f"certificate of {paper!r} with claims of another paper: {', '.join(foreign)}")
    kept = all(established[name] <= claimed[name] * (1 + 1e-9) for name in claimed)
    composed = _matching(claims, lambda name: name.startswith("composition/") or name.endswith("/run"))
    sampled = _matching(claims, lambda name: "subsampl" in name)
    others = [name for name in own if _about_others(name, relation)]
    dealt = _matching(claims, lambda name: any(word in name for word in PARTS))
    inside = bool(sampled) and (relation == Relation.REPLACE_ONE or any("replace-one" in one for one in sampled))
    laws = _matching(claims, lambda name: name.split("/")[-1] in LAWS)
    if not releases:
        composed, laws = {}, {}  # of what the document does not list, nothing is known
    weakest = _weakest(claims.values()) if stated else Word.NOT_EXAMINED
    ideal = [one for one in assumptions if any(word in one for word in ("float", "rounded", "ideal", "grid"))]
    beside = [one for one in assumptions if any(word in one for word in ("time", "refused", "memory", "message"))]
    apart = [one for one in assumptions if "public figures alone" in one or "without noise" in one]
    metrics = _mapping(run.get("metrics"))
    said = f"epsilon {established['epsilon']:g}, delta {established['delta']:g} are established, says the document: " \
           "the figures are not computed again here"  # fmt: skip
    answers = {
        "unit of privacy": (Word.ASSUMED, f"one record, {relation}; that a person has one record is not checked",
                            tuple(apart)),
        "model": (Word.ASSUMED, "a trusted curator holds the records; released values alone leave it", ()),
        "parameters": (
            min(weakest, Word.ASSUMED, key=list(Word).index) if kept else weakest,
            f"epsilon {claimed['epsilon']:g}, delta {claimed['delta']:g} are claimed; {said}",
            tuple(f"{name}: {verdict}" for name, verdict in claims.items()),
        ),
        "mechanism": (Word.NOT_EXAMINED if held.unheld else _weakest(laws.values()),
                      f"{len(mechanisms)} kinds of releases: {'; '.join([*mechanisms, *held.wrong])}"
                      + (f"; held against no charge: {', '.join(held.unheld)}" if held.unheld else ""), _listed(laws)),
        "composition": (_weakest(composed.values()), "; ".join(
            [f"{len(releases)} releases, composed by the accountant", *[SELECTED] * bool(selected),
             *filter(None, [held.total])]), _listed(composed)),
        "sampling": (
            (_weakest({**sampled, **dealt}.values()), _credited(sampled, dealt), _listed({**sampled, **dealt}))
            if sampled or dealt
            else (Word.ASSUMED, "no sample is credited, as the document has it: no claim about one is named", ())
            if composed
            else (Word.NOT_EXAMINED, "the certificate says nothing about it, nor about composition", ())
        ),
        "floating point": (
            (Word.ASSUMED, "what is computed in floating point is told among the assumptions", tuple(ideal))
            if ideal
            else (Word.NOT_EXAMINED, "the certificate says nothing about it", ())
        ),
        "side channels": (
            (Word.ASSUMED, "the certificate leaves them out and says so", tuple(beside))
            if beside
            else (Word.NOT_EXAMINED, "the certificate says nothing about them; see `refdp audit`", ())
        ),
        "sensitivity": (
            min(_weakest(own.values()), Word.ASSUMED, key=list(Word).index) if others and inside
            else _weakest(own.values()),
            f"{len(own)} declarations, each by a claim"
            + (f"; about other neighbours{' inside samples, it is assumed' if inside else ''}: {', '.join(others)}"
               if others else ""),
            _listed(own),
        ),
        "utility": (
            (Word.TESTED, "measured on a part held out; the figures themselves are "
             "computed from records without noise", tuple(f"{name} {value}" for name, value in metrics.items()))
            if metrics
            else (Word.NOT_EXAMINED, "no figures in the document", ())
        ),
        "access": (Word.NOT_EXAMINED, "no program can say who may read the records, the seed or the machine", ()),
    }  # fmt: skip
    broken = {
        topic for topic, known in (
            ("sensitivity", own), ("composition", composed), ("mechanism", laws), ("sampling", {**sampled, **dealt}),
            ("parameters", claims),
        ) if "REFUTED" in known.values()
    }  # fmt: skip
    contradicts = {"mechanism": held.wrong, "parameters": not kept, "composition": held.total,
                   "sensitivity": others and not inside}  # fmt: skip
    broken |= {topic for topic, wrong in contradicts.items() if wrong}
    name = str(run.get("paper") or certificate.get("paper") or "a certificate")
    return Dossier(name, "certificate", tuple(
        Answer(topic, QUESTIONS[topic], *answers[topic], holds=topic not in broken)
        for topic in QUESTIONS
    ))  # fmt: skip


SELECTED = (
    "that is one run with its score, of a random number of such runs, which is secret: the best of them costs what "
    "Theorem 2 of Papernot and Steinke (2022) says, and what is established is about all of them"
)
"""Of a selection's certificate."""
PARTS = ("/partition-", "/unused-records")
"""In names of claims that secret parts cost what the dearest does, or less where a record may be in none."""


def _credited(sampled: Mapping[str, str], dealt: Mapping[str, str]) -> str:
    """What privacy is gained by, as the claims say; how many parts there are is on no line."""
    said = ["a secret sample is credited"] if sampled else []
    said += ["a secret partition of the records is credited, where the run has more than one part"] if dealt else []
    unused = any("unused" in name for name in dealt)
    return "; ".join([*said, *(["so is that a record may be in no part"] if unused else [])])


LAWS = ("laplace", "discrete-laplace", "gaussian", "discrete-gaussian", "exponential-range", "exponential")


def _about_others(name: str, relation: str) -> bool:
    """Whether a declared sensitivity is about other neighbours than the certificate."""
    known = ledger.everything()
    return name in known and known[name].relation in list(Relation) and known[name].relation != relation


def _of_report(report: Mapping[str, Any]) -> Dossier:
    try:
        told = [
            Row(
                str(row["what"]),
                Verdict(row["verdict"]),
                str(row["reason"]),
                decides=row.get("decides", True) is not False,
            )
            for row in report["coverage"]
        ]
        rows = {row.what: (row.verdict, row.reason) for row in completed(told)} if told else {}
        listed = [Verdict.VIOLATION] if report.get("violations") or _lost_more(report) else []
        verdict = min(Verdict(report["verdict"]), summary(told), *listed, key=list(Verdict).index)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InvalidParameter(f"coverage: {error!r}; rows with what, verdict and reason are needed") from error
    if "ok" in report and report["ok"] is not is_ok(Verdict(report["verdict"])):
        raise InvalidParameter(f"an audit report that says {report['verdict']} and ok {report['ok']!r}")
    claim, package = _mapping(report.get("claim")), _mapping(report.get("package"))
    subject = " ".join(filter(None, [str(package.get("name", "")), str(package.get("version", ""))])) or str(
        report.get("paper") or "an audited program"
    )
    if left_out := report.get("left_out"):
        subject += f" without its entry points {', '.join(map(str, left_out))}"
    claims = _claims(report, claim)
    answers = []
    for topic, question in QUESTIONS.items():
        if topic in ROWS:
            answers.append(_of_rows(topic, question, rows))
        elif topic in ("unit of privacy", "model"):
            text = f"{_by_entry(*claims, _of_whom)}: as the audit was told"
            other = "as claimed; an audit sees a program with all records at hand"
            answers.append(Answer(topic, question, Word.ASSUMED, text if topic == "unit of privacy" else other))
        else:
            answers.append(Answer(topic, question, Word.NOT_EXAMINED, "an audit of privacy does not look at it"))
    place = list(QUESTIONS).index("parameters")
    own = answers[place]
    broken = verdict is Verdict.VIOLATION
    text = f"claimed {_by_entry(*claims, _how_much)}: {verdict}. {own.text}"
    answers[place] = Answer(own.topic, own.question, Word.TESTED if broken else own.word, text, own.evidence,
                            not broken)  # fmt: skip
    return Dossier(subject, "audit report", tuple(answers))


def _claims(report: Mapping[str, Any], claim: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """The report's own claim, and the claim of each entry point by its name, which is what was audited."""
    own = {"epsilon": report.get("claimed_epsilon", "as claimed"), "delta": report.get("claimed_delta", 0.0),
           "relation": report.get("relation", "the relation of the audit"), **claim}  # fmt: skip
    listed = report.get("entries")
    entries = [_mapping(one) for one in listed] if isinstance(listed, list) else []
    return own, {str(one.get("name", "")): {**own, **_mapping(one.get("claim"))} for one in entries}


def _how_much(claim: Mapping[str, Any]) -> str:
    return f"epsilon {claim['epsilon']}" + (f", delta {claim['delta']}" if claim["delta"] != 0 else "")


def _of_whom(claim: Mapping[str, Any]) -> str:
    return f"{claim.get('unit', 'one record')}, {claim['relation']} neighbours"


def _by_entry(
    whole: Mapping[str, Any], entries: Mapping[str, Mapping[str, Any]], said: Callable[[Mapping[str, Any]], str]
) -> str:
    """What is said of the whole claim; where entry points have others, which of them has which."""
    told: dict[str, list[str]] = {}
    for name, claim in entries.items():
        told.setdefault(said(claim), []).append(name)
    if set(told) <= {said(whole)}:
        return said(whole)
    nothing = f"; {said(whole)} of none" * (said(whole) not in told)
    return "; ".join(f"{words} of {', '.join(names)}" for words, names in told.items()) + nothing


def _lost_more(report: Mapping[str, Any]) -> bool:
    """Whether a replay lost more privacy than a claim without delta allows. Errors: ValueError or TypeError."""
    lost, claimed = report.get("max_loss"), report.get("claimed_epsilon")
    if lost is None or claimed is None or float(report.get("claimed_delta", 0.0)) > 0:
        return False
    return not float(lost) <= float(claimed) * (1 + 1e-9) + 1e-9


VERDICTS = ("REFUTED", "OPEN", "CONDITIONAL", "ARGUED", "PROVED")
"""Of claims, from the weakest to the strongest."""


def _held_against_the_ledger(told: Iterable[tuple[str, str]]) -> dict[str, str]:
    """The weakest of what a document says of each claim, all of its rows, and of what the ledger says now."""
    found: dict[str, str] = {}
    for name, word in told:
        known = [one if one in VERDICTS else "OPEN" for one in (word, ledger.verdict(name), found.get(name, word))]
        found[name] = min(known, key=VERDICTS.index)
    return found


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _of_rows(topic: str, question: str, rows: Mapping[str, tuple[Verdict, str]]) -> Answer:
    """The weakest row that belongs to a question, all of them told."""
    found = [(name, *rows.get(name, (Verdict.NOT_EXAMINED, "no row in the report"))) for name in ROWS[topic]]
    word = min((WORDS[verdict] for _, verdict, _ in found), key=list(Word).index)
    broken = [name for name, verdict, _ in found if verdict is Verdict.VIOLATION]
    evidence = tuple(f"{name}: {verdict}; {reason}" for name, verdict, reason in found)
    left = [name for name, verdict, _ in found if verdict is Verdict.NOT_EXAMINED]
    text = f"a violation was found: {', '.join(broken)}" if broken else (
        f"not looked at: {', '.join(left)}" if left else "looked at, nothing found"
    )  # fmt: skip
    return Answer(topic, question, Word.TESTED if broken else word, text, evidence, not broken)


def _weakest(verdicts: Iterable[str]) -> Word:
    """Of verdicts of claims: proved if all are PROVED; assumed where one is argued in prose or conditional.

    A REFUTED one decides: an exact witness proves that it is false.
    """
    found = set(verdicts)
    if "REFUTED" in found:
        return Word.PROVED
    if not found or not found <= {"PROVED", "ARGUED", "CONDITIONAL"}:
        return Word.NOT_EXAMINED
    return Word.PROVED if found == {"PROVED"} else Word.ASSUMED


def _matching(claims: Mapping[str, str], wanted: Callable[[str], bool]) -> dict[str, str]:
    return {name: verdict for name, verdict in claims.items() if wanted(name)}


def _listed(claims: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{name}: {verdict or 'not in the certificate'}" for name, verdict in claims.items())


COLOURS = {Word.PROVED: "ok", Word.TESTED: "ok", Word.ASSUMED: "open", Word.NOT_EXAMINED: ""}


def page(found: Dossier, command: str) -> str:
    """The dossier as one page, without scripts, nothing loaded."""
    say = html.escape
    rows = []
    for answer in found.answers:
        evidence = "".join(f"<li>{say(one)}</li>" for one in answer.evidence)
        listed = f"<details><summary>rests on {len(answer.evidence)}</summary><ul>{evidence}</ul></details>"
        rows.append(
            f'<tr class="{COLOURS[answer.word] if answer.holds else "bad"}"><th>{say(answer.topic)}</th>'
            f"<td>{say(answer.question)}</td>"
            f"<td class=word>{answer.word}{'' if answer.holds else ', contradicted'}</td>"
            f"<td>{say(answer.text)}{listed if evidence else ''}</td></tr>"
        )
    title = f"Dossier of {found.subject}"
    own = (
        ".word { font-weight: 600; } @media (max-width: 40rem) { "
        "#answers tr, #answers td, #answers th { display: block; } #answers tr { padding: .6rem 0; } "
        "#answers tr:first-child { display: none; } }"
    )
    return (
        f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{say(title)}</title>'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><style>{STYLE}{own}</style></head><body>'
        f"<h1>{say(title)}</h1>"
        f'<p class="verdict {"open" if found.holds else "bad"}" id="verdict">{say(found.sentence)}</p>'
        f"<p>From one {say(found.source)}. Proved: by a machine, for the formula that is named. Tested: looked at on "
        "data, with what would have shown told in the report. Assumed: stated, and not checked here. Not examined: the "
        "document says nothing.</p>"
        '<table id="answers"><tr><th>about</th><th>question</th><th>answer</th><th>what is known</th></tr>'
        f"{''.join(rows)}</table><p>Questions after NIST SP 800-226.</p>"
        f'<h2>How to reproduce</h2><pre id="reproduce">{say(command)}</pre></body></html>\n'
    )
