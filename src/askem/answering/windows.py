"""The few sentences of a passage that say most of a sentence's words."""

from __future__ import annotations

from dataclasses import dataclass

from askem.answering.indexed import Indexed
from askem.answering.sentence_items import Found

WIDEST = 3
"""Sentences of a passage that one sentence of an answer may draw on."""
_PRICE = 0.02
"""Coverage that a further sentence must bring."""


@dataclass(frozen=True, slots=True)
class Window:
    start: int
    end: int
    """passage.text[start:end]."""
    first: int
    after: int
    """Places first..after-1 of the passage's lexemes."""
    coverage: float
    """Share of the sentence's weight that stands in it or in its context, 0..1."""
    context: tuple[tuple[int, int], ...] = ()
    """(first, after last) places of what it is read under: it counts, and is not cited."""
    row: bool = False
    """Whether it is a row of a table."""

    def has(self, found: Found) -> bool:
        return self.holds(found) or any(
            first <= place < after for first, after in self.context for place in found.places
        )

    def holds(self, found: Found) -> bool:
        """Whether it stands in the window itself."""
        return any(self.first <= place < self.after for place in found.places)


def best_window(found: list[Found], passage: Indexed) -> Window | None:
    """None where the passage has no sentence or the items no weight.

    Of windows alike the shortest, then the first. A row of a table is a window by itself.
    """
    total = sum(f.item.weight for f in found)
    if not passage.sentences or total <= 0:
        return None
    weights = [f.item.weight / total for f in found]
    masks = _masks(found, passage)
    best, best_value = None, -1.0
    for size in range(1, WIDEST + 1):
        for at in range(len(masks) - size + 1):
            if size > 1 and not passage.rows.isdisjoint(range(at, at + size)):
                continue
            mask = masks[at] if size == 1 else _union(masks[at : at + size])
            coverage = sum(w for bit, w in enumerate(weights) if mask >> bit & 1)
            value = coverage - _PRICE * (size - 1)
            if value > best_value + 1e-9:
                best_value = value
                best = _window(passage, at, at + size - 1, coverage)
    return best


def coverage_of(found: list[Found]) -> float:
    """Share of the sentence's weight that stands anywhere in the passage, 0..1."""
    total = sum(f.item.weight for f in found) or 1.0
    return min(1.0, sum(f.item.weight for f in found if f.places) / total)


def whole(found: list[Found], passage: Indexed) -> Window:
    """All of a text as one window."""
    return Window(0, len(passage.text), 0, len(passage.lexemes), coverage_of(found))


def _window(passage: Indexed, first: int, last: int, coverage: float) -> Window:
    start, _, first_place, _ = passage.sentences[first]
    _, end, _, after = passage.sentences[last]
    context = tuple(dict.fromkeys(c for u in passage.contexts[first : last + 1] for c in u))
    return Window(
        start, end, first_place, after, min(1.0, coverage), context, first in passage.rows
    )


def _masks(found: list[Found], passage: Indexed) -> list[int]:
    """Of each sentence of the passage, the items in it or in its context as bits."""
    sentence_of = [-1] * len(passage.lexemes)  # the label of a list is in none
    for number, (_, _, first, after) in enumerate(passage.sentences):
        sentence_of[first:after] = [number] * (after - first)
    masks = [0] * len(passage.sentences)
    for bit, f in enumerate(found):
        for place in f.places:
            if sentence_of[place] >= 0:
                masks[sentence_of[place]] |= 1 << bit
    return [
        mask | _in_context(found, context)
        for mask, context in zip(masks, passage.contexts, strict=True)
    ]


def _in_context(found: list[Found], context: tuple[tuple[int, int], ...]) -> int:
    return sum(
        1 << bit
        for bit, f in enumerate(found)
        if any(first <= place < after for first, after in context for place in f.places)
    )


def _union(masks: list[int]) -> int:
    union = 0
    for mask in masks:
        union |= mask
    return union
