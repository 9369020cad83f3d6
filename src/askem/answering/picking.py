"""The sentences of passages that answer a question, chosen without a language model.

`docs/answers.md` has the measurements.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from askem.answering.models import Seen, Source
from askem.answering.passage_units import is_section
from askem.answering.picking_pieces import piece_of
from askem.answering.picking_scores import Scored, scored_sentences
from askem.answering.sentence_kinds import clauses_of, kind_of
from askem.text.analysis import question_terms

TOLERANCE = 0.5
"""How far below the best sentence of its search another may score and still be shown."""
PER_PASSAGE = 2
"""Most pieces of one passage."""
NEARLY = 0.02
"""How far below the own part of a shown row's score that of another may be."""
SAME_SHARE = 0.8
"""Share of the shorter sentence's terms that stand in another one which says the same."""


@dataclass(frozen=True, slots=True)
class Picked:
    """A piece of a passage to be shown: `source.text[start:end]` is `text`."""

    source: Source
    start: int
    end: int
    text: str
    score: float
    """Of its sentence: higher is better; one scale for all questions."""
    fit: float
    """How well its sentence has what the question asks for (a number, steps), 0..1."""
    lead: float
    """How far the score is above that of the search's next best sentence, picked or not; 0 for
    the last one."""


def pick(question: str, seen: Sequence[Seen], limit: int = 3) -> list[Picked]:
    """Up to `limit` pieces of passages that answer the question, in the order to be read.

    `seen` are all searches made for it, the question's own first; of several, the others give the
    last piece. Empty where no passage has a sentence worth showing.
    """
    if not seen:
        return []
    own = list(_candidates(question, seen[0]))
    later = [found for search in reversed(seen[1:]) for found in _candidates(question, search)]
    picked: list[Picked] = []
    chosen: list[Scored] = []
    for best in _best_of_clauses(question, seen[0]):
        _take([best], limit, chosen, picked)
    _take(own, limit - 1 if later else limit, chosen, picked)
    _take(later, len(picked) + 1, chosen, picked)
    _take(own, limit, chosen, picked)
    return picked[:limit]


def _best_of_clauses(question: str, search: Seen) -> Iterator[tuple[Scored, Picked]]:
    """For each of the questions that a question is made of, its best sentence, scored for the
    whole; none where it is one question."""
    clauses = clauses_of(question)
    if len(clauses) < 2:
        return
    asked = set(question_terms(question))
    pieces = {_place(s): (s, p) for s, p in _candidates(question, search, tolerance=math.inf)}
    for clause in clauses:
        others = asked - set(question_terms(clause))
        idf = {term: weight for term, weight in search.idf.items() if term not in others}
        for best in scored_sentences(clause, replace(search, idf=idf))[:1]:
            if _place(best) in pieces:
                yield pieces[_place(best)]


def _place(sentence: Scored) -> tuple[str, int]:
    return sentence.source.passage_id, sentence.start


def _take(
    candidates: Sequence[tuple[Scored, Picked]],
    limit: int,
    chosen: list[Scored],
    picked: list[Picked],
) -> None:
    """Adds candidates that show something new until there are `limit` pieces."""
    for sentence, piece in candidates:
        if len(picked) >= limit:
            return
        new = not any(_same(sentence, other) or _apter(other, sentence) for other in chosen)
        if new and _adds(piece, picked):
            chosen.append(sentence)
            beside = next((p for p in picked if _follows(p, piece) or _follows(piece, p)), None)
            if beside is None:
                picked.append(piece)
            else:
                picked[picked.index(beside)] = _joined(beside, piece)


def _follows(one: Picked, other: Picked) -> bool:
    """Whether a piece stands right behind another one in a paragraph of a section."""
    text = one.source.text
    same = one.source.passage_id == other.source.passage_id and is_section(text)
    return same and one.end <= other.start and text[one.end : other.start] == " "


def _joined(shown: Picked, piece: Picked) -> Picked:
    start, end = min(shown.start, piece.start), max(shown.end, piece.end)
    return replace(shown, start=start, end=end, text=shown.source.text[start:end])


def _candidates(
    question: str, search: Seen, tolerance: float = TOLERANCE
) -> Iterator[tuple[Scored, Picked]]:
    """Sentences within the tolerance of the search's best, each with its piece, best first."""
    sentences = scored_sentences(question, search)
    procedure = kind_of(question) == "procedure"
    for place, sentence in enumerate(sentences):
        if sentence.score < sentences[0].score - tolerance:
            return
        others = (s for s in sentences[place + 1 :] if not _same(sentence, s))
        following = next(others, sentence)
        start, end = piece_of(sentence, search.idf, first=place == 0, procedure=procedure)
        yield (
            sentence,
            Picked(
                source=sentence.source,
                start=start,
                end=end,
                text=sentence.source.text[start:end],
                score=sentence.score,
                fit=sentence.fit,
                lead=sentence.score - following.score,
            ),
        )


def _same(one: Scored, other: Scored) -> bool:
    """Whether two sentences say the same in nearly the same words; rows differ in one of many."""
    if one.unit.kind == other.unit.kind == "row":
        return one.text == other.text
    shorter = min(len(one.terms), len(other.terms))
    return len(one.terms & other.terms) >= SAME_SHARE * shorter


def _apter(chosen: Scored, other: Scored) -> bool:
    """Whether a row has more of the question than another one, which is then no answer."""
    rows = chosen.unit.kind == other.unit.kind == "row"
    return rows and chosen.own > other.own + NEARLY


def _adds(piece: Picked, picked: Sequence[Picked]) -> bool:
    """Whether a piece shows something new, of a passage that has not given enough already."""
    beside = [p for p in picked if p.source.passage_id == piece.source.passage_id]
    apart = all(piece.end <= p.start or p.end <= piece.start for p in beside)
    return apart and len(beside) < PER_PASSAGE
