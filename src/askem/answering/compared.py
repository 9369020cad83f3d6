"""A sentence beside the part of a passage that is nearest to it, and what a rule finds there."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from askem.answering.indexed import Indexed
from askem.answering.negation import opposite
from askem.answering.sentence_items import Found, Sentence
from askem.answering.windows import Window

Rule = Literal["coverage", "number", "name", "moved", "negation", "direction", "word"]


@dataclass(frozen=True, slots=True)
class Finding:
    rule: Rule
    wrong: bool
    """Whether it alone makes the sentence "not found"; else "partly found"."""
    words: str
    """For a reader."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A sentence beside the part of a passage that is nearest to it."""

    sentence: Sentence
    passage: Indexed
    found: list[Found]
    window: Window

    def inside(self, found: Found) -> list[int]:
        """Places in the window."""
        return [p for p in found.places if self.window.first <= p < self.window.after]

    def other_words(self) -> dict[str, int]:
        """Words of the window, lower case, to a place of theirs."""
        window = range(self.window.first, self.window.after)
        return {self.passage.lexemes[place].word.lower(): place for place in window}


def opposite_in(found: Found, others: Mapping[str, int]) -> str | None:
    lexeme = found.item.lexeme
    return None if lexeme.name or lexeme.number else opposite(lexeme.word.lower(), others)
