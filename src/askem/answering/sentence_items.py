"""What of a sentence is looked up: its content words, numbers and names with their weights."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass

from askem.answering.indexed import Indexed
from askem.answering.lexemes import Lexeme, lexemes
from askem.answering.negation import is_cue
from askem.answering.weights import Weight
from askem.text.analysis import tokens


@dataclass(frozen=True, slots=True)
class Item:
    place: int
    """Index in the sentence's lexemes."""
    lexeme: Lexeme
    weight: float
    """0 for a repeat of an earlier item."""


@dataclass(frozen=True, slots=True)
class Sentence:
    text: str
    lexemes: tuple[Lexeme, ...]
    items: tuple[Item, ...]

    @property
    def mass(self) -> float:
        return sum(item.weight for item in self.items)


@dataclass(frozen=True, slots=True)
class Found:
    """An item and the places of the passage's lexemes at which it stands, rising."""

    item: Item
    places: tuple[int, ...]

    def near(self, place: int, within: int) -> bool:
        at = bisect_left(self.places, place - within)
        return at < len(self.places) and self.places[at] <= place + within


def read_sentence(text: str, weight: Weight) -> Sentence:
    words = tuple(lexemes(text))
    seen: set[tuple[str, ...]] = set()
    items = []
    for place, lexeme in enumerate(words):
        if lexeme.terms and not is_cue(lexeme):
            value = 0.0 if lexeme.terms in seen else _weigh(lexeme, weight)
            seen.add(lexeme.terms)
            items.append(Item(place, lexeme, value))
    return Sentence(text, words, tuple(items))


def look_up(items: Iterable[Item], passage: Indexed) -> list[Found]:
    return [Found(item, passage.find(item.lexeme)) for item in items]


def neighbours(found: list[Found], place: int, number: int = 4) -> list[Found]:
    """The content words of the passage that are nearest to a place of the sentence."""
    own = {terms for f in found if f.item.place == place for terms in [f.item.lexeme.terms]}
    others = [f for f in found if f.places and f.item.lexeme.terms not in own]
    return sorted(others, key=lambda f: abs(f.item.place - place))[:number]


def _weigh(lexeme: Lexeme, weight: Weight) -> float:
    """An identifier weighs what its rarest part does ("SARS-CoV-2": "cov")."""
    parts = tokens(lexeme.word) if lexeme.identifier else lexeme.terms
    return max(map(weight, parts or lexeme.terms))
