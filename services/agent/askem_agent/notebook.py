"""What a run has seen: passages with short numbers that hold until its end, and the searches."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from askem.answering.models import Repair, Seen, Source
from askem.http.answers import PassageOut

MAX_SHOWN_CHARS = 24_000
"""Of passages in one observation; those beyond it are neither shown nor numbered."""


@dataclass(frozen=True, slots=True)
class Found:
    """One search: its measures, and its passages as `/hybrid` gave them."""

    seen: Seen
    docs: tuple[PassageOut, ...]
    note: str | None = None
    """What was unusual about it, for the caller."""


@dataclass(frozen=True, slots=True)
class Observation:
    """A search as the model sees it."""

    query: str
    seen: Seen
    """Without passages that were left out for their length."""
    numbers: tuple[int, ...]
    """Parallel to `seen.sources`."""
    new: frozenset[int]
    """Those of `numbers` that no earlier observation had."""
    omitted: int = 0
    note: str | None = None

    def numbered(self) -> list[tuple[int, Source]]:
        return list(zip(self.numbers, self.seen.sources, strict=True))


class Notebook:
    """For one run, in one task."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {}
        self._docs: dict[int, PassageOut] = {}
        self._sources: dict[int, Source] = {}
        self._observations: dict[str, Observation] = {}

    def known(self, query: str) -> Observation | None:
        """What the same question brought before; case, spaces and closing marks do not matter."""
        return self._observations.get(_normalised(query))

    def add(self, query: str, found: Found) -> Observation:
        shown = _shown(found.docs)
        new = []
        numbers = []
        for doc, source in zip(found.docs[:shown], found.seen.sources[:shown], strict=True):
            number = self._numbers.setdefault(doc.passage_id, len(self._numbers) + 1)
            if number not in self._docs:
                self._docs[number], self._sources[number] = doc, source
                new.append(number)
            numbers.append(number)
        seen = _with_sources(found.seen, found.seen.sources[:shown])
        observation = Observation(
            query, seen, tuple(numbers), frozenset(new), len(found.docs) - shown, found.note
        )
        self._observations[_normalised(query)] = observation
        return observation

    @property
    def seen(self) -> list[Seen]:
        """Every search, in order."""
        return [observation.seen for observation in self._observations.values()]

    def source(self, number: int) -> Source | None:
        """The passage of that number; None: no such number was given out."""
        return self._sources.get(number)

    def doc(self, passage_id: str) -> PassageOut:
        return self._docs[self._numbers[passage_id]]

    def first_docs(self, limit: int) -> tuple[PassageOut, ...]:
        """The best passages of the first search."""
        first = next(iter(self._observations.values()), None)
        return tuple(self._docs[number] for number in (first.numbers if first else ())[:limit])

    @property
    def repairs(self) -> tuple[Repair, ...]:
        """Of all searches, each once."""
        return tuple(dict.fromkeys(repair for seen in self.seen for repair in seen.repairs))


def _normalised(query: str) -> str:
    return re.sub(r"\s+", " ", query).strip(" ?!.").casefold()


def _shown(docs: Sequence[PassageOut]) -> int:
    """How many of the passages fit; at least one."""
    room = MAX_SHOWN_CHARS
    for count, doc in enumerate(docs):
        room -= len(doc.text)
        if room < 0:
            return max(count, 1)
    return len(docs)


def _with_sources(seen: Seen, sources: tuple[Source, ...]) -> Seen:
    return seen if len(sources) == len(seen.sources) else replace(seen, sources=sources)
