"""Scores of sentences, and of a section's items, rows and code, as answers to a question, from
words alone.

L = rec + .7 ov2 + .5 ov + .4 fit: rec is the passage's score under the `proximity` ranking, ov the
share of the question's idf mass that stands in the sentence, ov2 the same over the sentence and
what it is read under (the one before it; in a section also the path of headings, the lead-in, the
head of the table), fit whether it has what the question asks for (a number, a name, a date).
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from askem.answering.models import Seen, Source
from askem.answering.passage_units import Unit, is_section
from askem.answering.picking_units import Candidate, candidates
from askem.answering.sentence_kinds import Kind, fit, kind_of
from askem.answering.symbols import meant_by_symbols
from askem.text.analysis import tokens

PASSAGES = 5
"""How many of a search's passages are read."""
OVERLAP2_WEIGHT = 0.7
OVERLAP_WEIGHT = 0.5
FIT_WEIGHT = 0.4
NAMED_WEIGHT = 0.4
"""Of codes and numbers of the question that a section's unit has; papers are full of both."""
PROCEDURE_FIT: Mapping[str, float] = {"steps": 1.0, "code": 0.6, "sentence": 0.3, "item": 0.3}
"""How well a section's units answer how something is done; rows do not."""
ACTION_FIT = 0.7
"""The same, but for rows, under a heading that promises it."""
_ACTION = re.compile(
    r"\b(?:mitigat|resol|recover|remed|fix|step|procedure|troubleshoot|diagnos|how to|what to do"
    r"|restor|action|repair|workaround|solution|instruction)",
    re.IGNORECASE,
)
_CODE = re.compile(r"(?=[\w-]*\d)\w+(?:-\w+)*")


@dataclass(frozen=True, slots=True)
class Scored:
    """A unit of a passage, for a sentence of a paper `spans[at]` of `source.text`."""

    source: Source
    unit: Unit
    spans: tuple[tuple[int, int], ...]
    """Of all sentences of the passage or, in a section, of the paragraph."""
    at: int
    start: int
    """Behind the labels that the sentence may open with."""
    terms: frozenset[str]
    """Analysed words, the question's and others."""
    overlap: float
    """Share of the question's idf mass, 0..1."""
    named: float
    """Share of the question's codes and numbers, 0..1; 0 in papers."""
    fit: float
    """How well it has what the question asks for, 0..1."""
    score: float

    @property
    def own(self) -> float:
        """The part of the score that tells the rows of one table apart."""
        return OVERLAP_WEIGHT * self.overlap + NAMED_WEIGHT * self.named

    @property
    def end(self) -> int:
        return self.unit.end

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]


def scored_sentences(question: str, search: Seen) -> list[Scored]:
    """The sentences of a search's best passages that a reader could use, best first."""
    kind = kind_of(question)
    found = [
        _scored(question, kind, search.idf, source, candidate)
        for source in search.sources[:PASSAGES]
        for candidate in candidates(source.text, steps=kind == "procedure")
    ]
    return sorted(found, key=lambda s: -s.score)


def _scored(
    question: str, kind: Kind, idf: Mapping[str, float], source: Source, candidate: Candidate
) -> Scored:
    text = source.text[candidate.start : candidate.unit.end]
    terms = frozenset(tokens(text))
    if kind == "value":
        terms |= meant_by_symbols(text, source.text, idf)
    overlap, overlap2 = share(terms, idf), share(terms | candidate.around, idf)
    in_section = is_section(source.text)
    named = _named(question, text) if in_section else 0.0
    if kind != "procedure":
        apt = fit(kind, question, text)
    else:
        apt = _procedure_fit(source.text, candidate.unit) if in_section else 0.0
    score = (
        source.score
        + OVERLAP2_WEIGHT * overlap2
        + OVERLAP_WEIGHT * overlap
        + NAMED_WEIGHT * named
        + FIT_WEIGHT * apt
    )
    return Scored(
        source,
        candidate.unit,
        candidate.spans,
        candidate.at,
        candidate.start,
        terms,
        overlap,
        named,
        apt,
        score,
    )


def _procedure_fit(section: str, unit: Unit) -> float:
    own = PROCEDURE_FIT.get(unit.kind, 0.0)
    heading = section.strip().partition("\n")[0].rpartition(" > ")[2]
    return max(own, ACTION_FIT) if own and _ACTION.search(heading) else own


def _named(question: str, text: str) -> float:
    """Share of the question's codes and numbers that stand in a text."""
    asked = codes_of(question)
    return len(asked & codes_of(text)) / len(asked) if asked else 0.0


def codes_of(text: str) -> set[str]:
    """The codes and numbers of a text (QM-4021, A-7, 6), lower case; the analyzer drops what has
    one character."""
    return {code.lower() for code in _CODE.findall(text)}


def share(terms: frozenset[str], idf: Mapping[str, float]) -> float:
    """Share of a question's idf mass that the terms hold, 0..1; 0 for a question without any."""
    scale = sum(idf.values())
    return sum(weight for term, weight in idf.items() if term in terms) / scale if scale else 0.0
