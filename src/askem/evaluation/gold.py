"""From labels to the ids a run is measured by."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Protocol

from askem.errors import AskemError
from askem.evaluation.sets import EvalSet, Gold, LabelledQuestion
from askem.http.answers import StoredPassage
from askem.models import Passage

GoldIds = Mapping[str, tuple[frozenset[str], ...]]
"""Question id to one set of right ids for each gold entry."""
_PAGE = 10_000


class MissingGold(AskemError):
    """Labels that name what the corpus does not hold: the set and the corpus do not fit."""


TORN = "(torn apart)"
"""In place of the ids of a quote that no passage holds; no passage has this one."""


class PaperPassages(Protocol):
    """What gold is looked up in: a store's reader, or a server."""

    def paper_passages(
        self, paper_id: str, *, limit: int, offset: int
    ) -> Sequence[Passage | StoredPassage]:
        """Empty for a paper that is not there."""
        ...


def resolve(labelled: EvalSet, reader: PaperPassages, *, tears: bool = False) -> GoldIds:
    """The right ids of each answerable question, one set for each of its gold entries.

    In a set measured by papers they are paper ids, else passage ids. Raises MissingGold naming
    the questions; with `tears`, what is missing is `TORN`, and nothing is raised.
    """
    corpus = _Corpus(reader, labelled.unit == "paper")
    resolved: dict[str, tuple[frozenset[str], ...]] = {}
    missing: list[str] = []
    for question in labelled.answerable:
        found = tuple(frozenset(corpus.ids(gold)) for gold in question.gold)
        missing += [
            f"{question.id} ({_name(gold)})"
            for gold, ids in zip(question.gold, found, strict=True)
            if not ids
        ]
        resolved[question.id] = tuple(ids or frozenset((TORN,)) for ids in found)
    if missing and not tears:
        more = f" and {len(missing) - 5} more" if len(missing) > 5 else ""
        raise MissingGold(f"gold that the corpus does not hold: {'; '.join(missing[:5])}{more}")
    return resolved


def all_found(question: LabelledQuestion, gold: GoldIds, ids: Iterable[str]) -> bool:
    """Whether `ids` hold what the question needs: any gold entry, or every one."""
    got = set(ids)
    hits = [bool(right & got) for right in gold[question.id]]
    return any(hits) if question.any else all(hits)


class _Corpus:
    """Passages by paper, read once each."""

    def __init__(self, reader: PaperPassages, papers_only: bool) -> None:
        self._reader = reader
        self._papers_only = papers_only
        self._texts: dict[str, list[tuple[str, str, str]]] = {}

    def ids(self, gold: Gold) -> list[str]:
        paper_id = gold.paper_id or gold.passage_id.rpartition("#")[0]
        passages = self._passages(paper_id)
        if self._papers_only:
            return [paper_id] if passages else []
        if gold.passage_id:
            return [i for i, _, _ in passages if i == gold.passage_id]
        quote = f" {_tokens(gold.quote)} "
        return [
            i
            for i, doc_type, text in passages
            if not gold.quote or (doc_type == gold.doc_type and quote in text)
        ]

    def _passages(self, paper_id: str) -> list[tuple[str, str, str]]:
        if paper_id not in self._texts:
            found = self._reader.paper_passages(paper_id, limit=_PAGE, offset=0)
            self._texts[paper_id] = [
                (p.passage_id, p.doc_type, f" {_tokens(p.text)} ") for p in found
            ]
        return self._texts[paper_id]


def _tokens(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


def _name(gold: Gold) -> str:
    return gold.passage_id or f"{gold.paper_id}: {gold.quote or 'any passage'}"
