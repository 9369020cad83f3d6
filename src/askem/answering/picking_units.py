"""What of a passage can be picked, each with what it is read under."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from askem.answering.passage_units import Span, Unit, is_section, units_of
from askem.answering.sentence_clutter import body_start, is_clutter
from askem.text.analysis import tokens

MIN_WORDS = 2
"""Of a row, an item or code; a sentence needs more (`sentence_clutter`)."""
_WORD = re.compile(r"[^\W_]+")


@dataclass(frozen=True, slots=True)
class Candidate:
    unit: Unit
    start: int
    """Behind the labels that a sentence may open with."""
    spans: tuple[Span, ...]
    """Of the sentences that it may be shown with, itself at `at`; empty for other units."""
    at: int
    around: frozenset[str]
    """Analysed words of what it is read under."""


def candidates(text: str, *, steps: bool) -> Iterator[Candidate]:
    """The units of a passage that a reader could use, in order.

    With `steps`, a numbered list is one unit, its lead-in included; else each item is one.
    """
    units = units_of(text)
    if steps:
        units = _with_steps(units)
    paragraphs = _paragraphs(text, units)
    before: frozenset[str] = frozenset()
    for unit in units:
        if unit.kind == "context":
            before = frozenset()
            continue
        prose = unit.kind == "sentence"
        start = unit.start
        if prose and not is_section(text):
            start += body_start(text[start : unit.end])
        terms = frozenset(tokens(text[start : unit.end]))
        if _usable(text[start : unit.end], unit):
            spans = paragraphs.get(unit.start, ())
            around = frozenset(tokens(" ".join(text[a:b] for a, b in _around(unit, units))))
            at = spans.index(unit.span) if spans else 0
            yield Candidate(unit, start, spans, at, around | before if prose else around)
        before = terms if prose else frozenset()


def led_by(unit: Unit, units: tuple[Unit, ...]) -> Unit | None:
    """The first unit of the list, table or code that a sentence leads in."""
    if unit.kind != "sentence":
        return None
    return next((u for u in units if u.group and unit.span in u.context), None)


def _around(unit: Unit, units: tuple[Unit, ...]) -> tuple[Span, ...]:
    led = led_by(unit, units)
    return (*unit.context, led.group) if led and led.group else unit.context


def _usable(text: str, unit: Unit) -> bool:
    return (
        not is_clutter(text) if unit.kind == "sentence" else len(_WORD.findall(text)) >= MIN_WORDS
    )


def _with_steps(units: tuple[Unit, ...]) -> tuple[Unit, ...]:
    merged: list[Unit] = []
    for unit in units:
        if not (unit.numbered and unit.group):
            merged.append(unit)
        elif merged and merged[-1].kind == "steps" and merged[-1].span == unit.group:
            continue
        else:
            if merged and merged[-1].start == unit.group[0]:
                merged.pop()  # the sentence that leads in
            start, end = unit.group
            merged.append(replace(unit, start=start, end=end, kind="steps"))
    return tuple(merged)


def _paragraphs(text: str, units: tuple[Unit, ...]) -> dict[int, tuple[Span, ...]]:
    """Of each sentence, by its start, the sentences of its paragraph."""
    paragraphs: list[list[Span]] = []
    last: Unit | None = None
    for unit in units:
        if unit.kind == "sentence":
            joined = last and last.kind == "sentence" and "\n" not in text[last.end : unit.start]
            if not joined:
                paragraphs.append([])
            paragraphs[-1].append(unit.span)
        last = unit
    return {start: tuple(spans) for spans in paragraphs for start, _ in spans}
