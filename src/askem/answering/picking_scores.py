"""Scores of sentences as answers to a question, from words alone.

L = rec + .7 ov2 + .5 ov + .4 fit: rec is the passage's score under the `proximity` ranking, ov the
share of the question's idf mass that stands in the sentence, ov2 the same over the sentence and
the one before it, fit whether it has what the question asks for (a number, a name, a date).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from askem.answering.models import Seen, Source
from askem.answering.sentence_clutter import body_start, is_clutter
from askem.answering.sentence_kinds import Kind, fit, kind_of
from askem.text.analysis import tokens
from askem.text.sentences import sentence_spans

PASSAGES = 5
"""How many of a search's passages are read."""
OVERLAP2_WEIGHT = 0.7
OVERLAP_WEIGHT = 0.5
FIT_WEIGHT = 0.4


@dataclass(frozen=True, slots=True)
class Scored:
    """A sentence of a passage: `spans[at]` of `source.text`."""

    source: Source
    spans: tuple[tuple[int, int], ...]
    """Of all sentences of the passage."""
    at: int
    start: int
    """Behind the labels that the sentence may open with."""
    terms: frozenset[str]
    """Analysed words, the question's and others."""
    overlap: float
    """Share of the question's idf mass, 0..1."""
    score: float

    @property
    def end(self) -> int:
        return self.spans[self.at][1]

    @property
    def text(self) -> str:
        return self.source.text[self.start : self.end]


def scored_sentences(question: str, search: Seen) -> list[Scored]:
    """The sentences of a search's best passages that a reader could use, best first."""
    kind = kind_of(question)
    found = [
        sentence
        for source in search.sources[:PASSAGES]
        for sentence in _of_passage(question, kind, search.idf, source)
    ]
    return sorted(found, key=lambda s: -s.score)


def _of_passage(
    question: str, kind: Kind, idf: Mapping[str, float], source: Source
) -> Iterator[Scored]:
    spans = tuple(sentence_spans(source.text))
    before: frozenset[str] = frozenset()
    for at, (labels, end) in enumerate(spans):
        start = labels + body_start(source.text[labels:end])
        text = source.text[start:end]
        terms = frozenset(tokens(text))
        if not is_clutter(text):
            overlap, overlap2 = share(terms, idf), share(terms | before, idf)
            score = (
                source.score
                + OVERLAP2_WEIGHT * overlap2
                + OVERLAP_WEIGHT * overlap
                + FIT_WEIGHT * fit(kind, question, text)
            )
            yield Scored(source, spans, at, start, terms, overlap, score)
        before = terms


def share(terms: frozenset[str], idf: Mapping[str, float]) -> float:
    """Share of a question's idf mass that the terms hold, 0..1; 0 for a question without any."""
    scale = sum(idf.values())
    return sum(weight for term, weight in idf.items() if term in terms) / scale if scale else 0.0
