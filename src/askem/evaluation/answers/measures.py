"""What is measured of one answer. Pure functions; a question without an answer counts as zero."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from askem.evaluation.answers.client import Answer, Citation
from askem.evaluation.answers.texts import exact_match, occurrences, token_f1
from askem.evaluation.gold import GoldIds, all_found
from askem.evaluation.sets import LabelledQuestion, Unit

NAMES = (
    "answered",
    "gold cited",
    "in passage",
    "touched",
    "in quote",
    "EM",
    "F1",
    "cited P",
    "cited R",
    "supported",
)
"""answered: not refused. gold cited: a gold passage (all, where all are needed) is cited.
in passage: that, or the gold answer's words stand in a cited passage. in quote: the gold quote,
or where labels have none the gold answer's words, stand whole in the cited part of a passage;
touched: a part of them does. EM, F1: SQuAD's, against the gold answer. cited P, R: cited passages
that are gold, gold passages that are cited. supported: sentences that were found in source."""
RIGHT = ("in quote", "gold cited")
"""What tells a right answer from a wrong one: the first that the labels of all questions allow."""
_SLACK = 1
"""Characters: labels and quotes disagree about a full stop."""


def measure(
    question: LabelledQuestion, gold: GoldIds, answer: Answer, unit: Unit
) -> dict[str, float | None]:
    """Each of NAMES, 0..1; None where the question's labels say nothing about it."""
    if answer.refused:
        return {name: 0.0 if known else None for name, known in _known(question).items()}
    cited = _cited(answer, unit)
    found = all_found(question, gold, cited)
    right = frozenset().union(*gold[question.id])
    values = {
        "answered": 1.0,
        "gold cited": float(found),
        "in passage": float(found or _in_passage(question, answer)),
        "touched": float(_shown(question, gold, answer, unit, _touches)),
        "in quote": float(_shown(question, gold, answer, unit, _inside)),
        "EM": exact_match(answer.said, question.answer or ""),
        "F1": token_f1(answer.said, question.answer or ""),
        "cited P": len(right.intersection(cited)) / len(cited) if cited else 0.0,
        "cited R": _recall(question, gold, cited),
        "supported": _supported(answer),
    }
    return {name: values[name] if known else None for name, known in _known(question).items()}


def mean(values: Sequence[float | None]) -> float | None:
    """Over those that there are; None for none."""
    known = [value for value in values if value is not None]
    return sum(known) / len(known) if known else None


def _known(question: LabelledQuestion) -> dict[str, bool]:
    has_words = question.answer is not None or any(gold.quote for gold in question.gold)
    needs = {"touched": has_words, "in quote": has_words}
    needs |= dict.fromkeys(("EM", "F1"), question.answer is not None)
    return {name: needs.get(name, True) for name in NAMES}


def _cited(answer: Answer, unit: Unit) -> list[str]:
    ids = (d.paper_id if unit == "paper" else d.passage_id for d in answer.used_docs)
    return list(dict.fromkeys(ids))


def _in_passage(question: LabelledQuestion, answer: Answer) -> bool:
    return not any(gold.quote for gold in question.gold) and any(
        occurrences(doc.text, question.answer or "") for doc in answer.used_docs
    )


def _recall(question: LabelledQuestion, gold: GoldIds, cited: Sequence[str]) -> float:
    found = sum(bool(right.intersection(cited)) for right in gold[question.id])
    return float(found > 0) if question.any else found / len(gold[question.id])


def _supported(answer: Answer) -> float:
    verdicts = [sentence.verdict for sentence in answer.sentences]
    return verdicts.count("found in source") / len(verdicts) if verdicts else 0.0


_Fits = Callable[[Citation, tuple[int, int]], bool]


def _shown(
    question: LabelledQuestion, gold: GoldIds, answer: Answer, unit: Unit, fits: _Fits
) -> bool:
    """Whether a cited part fits each gold entry's words (one entry's, where any will do). Words
    without a quote count in every passage where they stand whole, else in gold passages alone."""
    docs = {doc.passage_id: doc for doc in answer.used_docs}
    names: Mapping[str, str] = {
        i: doc.paper_id if unit == "paper" else i for i, doc in docs.items()
    }
    shown = []
    for entry, right in zip(question.gold, gold[question.id], strict=True):
        words = entry.quote or question.answer or ""
        shown.append(
            any(
                (_inside if names[c.passage_id] not in right else fits)(c, span)
                for c in answer.citations
                for span in occurrences(docs[c.passage_id].text, words)
            )
        )
    return any(shown) if question.any else all(shown)


def _inside(citation: Citation, span: tuple[int, int]) -> bool:
    return citation.start <= span[0] + _SLACK and span[1] - _SLACK <= citation.end


def _touches(citation: Citation, span: tuple[int, int]) -> bool:
    return citation.start < span[1] and span[0] < citation.end
