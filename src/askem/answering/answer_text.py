"""An answer into units that can be checked one by one, with the passages they cite."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["statement", "heading", "code", "empty"]
"""Of a unit of an answer; "empty" has no word (a rule, a bullet without text, a table's border)."""


@dataclass(frozen=True, slots=True)
class AnswerSentence:
    """A sentence, list item or table row of an answer."""

    text: str
    """Without markers, list label and table bars; other markdown stays."""
    start: int
    end: int
    """The unit is answer[start:end], its label and markers included."""
    markers: tuple[int, ...]
    """Numbers of the passages it cites, >= 0, without repeats, in order."""
    kind: Kind

    @property
    def needs_citation(self) -> bool:
        return self.kind == "statement"


def split_answer(text: str) -> list[AnswerSentence]:
    """Units of an answer in order; every character that is not white space lies in one of them."""
    raise NotImplementedError
