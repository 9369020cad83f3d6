"""An answer into units that can be checked one by one, with the passages they cite."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal

from askem.answering.blocks import Block, blocks
from askem.answering.markers import find_markers, without
from askem.text.sentences import sentence_spans

Kind = Literal["statement", "heading", "code", "empty"]
"""Of a unit of an answer; "empty" has no word (a rule, a bullet without text, a table's border)."""

_EMPHASIS = re.compile(r"\*+|(?<!\w)_+|_+(?!\w)|`+")
_LABEL_WORDS = 6


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
        """Code needs none, but where it names its source it is looked up there."""
        return self.kind == "statement" or (self.kind == "code" and bool(self.markers))


def split_answer(text: str) -> list[AnswerSentence]:
    """Units of an answer in order; every character that is not white space lies in one of them.

    Units are sentences, each list item's sentences, table rows, headings and fenced code.
    A marker that stands alone on a line belongs to the sentence or code before it.
    """
    units: list[AnswerSentence] = []
    for block in blocks(text):
        for start, body, end in _pieces(text, block):
            unit = _unit(text, block, start, body, end)
            before = units[-1] if units else None
            taker = before and before.kind in ("statement", "code")
            if before and taker and unit.markers and not unit.text:
                markers = tuple(dict.fromkeys(before.markers + unit.markers))
                units[-1] = replace(before, end=unit.end, markers=markers)
            else:
                units.append(unit)
    return units


def _pieces(text: str, block: Block) -> Iterator[tuple[int, int, int]]:
    """(start, start without list label, end) of the units of a block."""
    if block.kind != "prose":
        yield block.start, block.body, block.end
        return
    spans = _prose_spans(text[block.body : block.end])
    if not spans:
        yield block.start, block.end, block.end
    for index, (first, last) in enumerate(spans):
        start = first + block.body
        yield block.start if index == 0 else start, start, last + block.body


def _prose_spans(text: str) -> list[tuple[int, int]]:
    """Sentences of markdown prose: emphasis is no part of a word or a stop."""
    masked = _EMPHASIS.sub(lambda match: " " * len(match[0]), text)
    spans: list[tuple[int, int]] = []
    covered = 0
    for found, end in sentence_spans(masked):
        # Marks in a gap belong to the sentence that they touch, else to the one before.
        gap = text[covered:found]
        cut = len(gap) if gap[-1:].isspace() else _last_space(gap)
        if spans and gap[:cut].strip():
            spans[-1] = (spans[-1][0], covered + len(gap[:cut].rstrip()))
            start = covered + cut + _indent(gap[cut:])
        else:
            start = covered + _indent(text[covered:])
        spans.append((start, end))
        covered = end
    rest = text[covered:].rstrip()
    if rest and spans:
        spans[-1] = (spans[-1][0], covered + len(rest))
    elif rest:
        spans.append((_indent(text), len(rest)))
    return spans


def _indent(text: str) -> int:
    return len(text) - len(text.lstrip())


def _last_space(gap: str) -> int:
    return next((i + 1 for i in range(len(gap) - 1, -1, -1) if gap[i].isspace()), 0)


def _unit(text: str, block: Block, start: int, body: int, end: int) -> AnswerSentence:
    raw = text[body:end]
    found = [] if block.kind == "code" else find_markers(raw)
    plain = without(raw, found)
    if block.kind == "row":
        plain = ", ".join(cell.strip() for cell in plain.split("|") if cell.strip())
    markers = tuple(dict.fromkeys(number for marker in found for number in marker.numbers))
    return AnswerSentence(plain, start, end, markers, _kind(block, plain, markers))


def _kind(block: Block, plain: str, markers: tuple[int, ...]) -> Kind:
    if block.kind == "code":
        return "code"
    if not any(char.isalnum() for char in plain):
        return "empty"
    if block.kind == "heading":
        return "heading"
    label = plain.rstrip("*_ ").endswith(":") and len(plain.split()) <= _LABEL_WORDS
    return "heading" if label and not markers else "statement"
