"""A passage as units that can be shown and cited one by one: sentences, list items, table rows,
code.

A paper's paragraph is one line, and its units are its sentences. A section of a handbook
(`docs/handbooks.md`) has the path of its headings on the first line, then blocks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal

from askem.answering.blocks import Block, blocks
from askem.answering.sentence_joints import announces
from askem.text.sentences import sentence_spans

Kind = Literal["sentence", "item", "row", "code", "steps", "context"]
"""Of a unit; "steps" is a whole numbered list, "context" what is never shown alone: the path of
headings, the head of a table."""

Span = tuple[int, int]

_NUMBERED = re.compile(r"\(?\d{1,3}[.)]")
_MAX_LEAD_CHARS = 200
_DEPTH = 2
"""Columns from which a line belongs to the item above it."""


@dataclass(frozen=True, slots=True)
class Unit:
    """text[start:end] of a passage."""

    start: int
    end: int
    kind: Kind
    context: tuple[Span, ...] = ()
    """What it is read under: the path of headings, a table's head, the sentence that leads in."""
    group: Span | None = None
    """The whole list or table that it is of, with the sentence that leads in."""
    numbered: bool = False
    """An item of a list whose order counts."""

    @property
    def span(self) -> Span:
        return self.start, self.end


def is_section(text: str) -> bool:
    """Whether a text has lines that mean something; paragraphs of papers have one."""
    return "\n" in text.strip()


@lru_cache(maxsize=256)
def units_of(text: str) -> tuple[Unit, ...]:
    """The units of a passage in order, apart from each other; never raises for any text.

    Every letter and digit lies in one, but for the labels of lists, the marks of headings and
    the borders of tables.
    """
    if not is_section(text):
        return tuple(Unit(start, end, "sentence") for start, end in sentence_spans(text))
    path = _path(text)
    context = (path.span,) if path else ()
    below = path.end if path else 0
    found = [block for block in blocks(text) if block.start >= below and block.start < block.end]
    units = [path] if path else []
    for group in _groups(text, found):
        lead = _lead(text, group, units)
        units.extend(_of_group(text, group, context, lead))
    return tuple(units)


def _path(text: str) -> Unit | None:
    """The first line where a blank one follows and no full stop ends it."""
    start = len(text) - len(text.lstrip())
    line, _, rest = text[start:].partition("\n")
    line = line.rstrip()
    blank = rest.partition("\n")[0].strip() == ""
    return Unit(start, start + len(line), "context") if blank and not line.endswith(".") else None


def _groups(text: str, found: list[Block]) -> Iterator[list[Block]]:
    """Blocks that are one thing: a list with what its items hold, a table, else a single block."""
    group: list[Block] = []
    for block in found:
        if group and not _goes_on(text, group, block):
            yield group
            group = []
        group.append(block)
    if group:
        yield group


def _goes_on(text: str, group: list[Block], block: Block) -> bool:
    first, last = group[0], group[-1]
    apart = "\n" in text[last.end : block.start].strip(" \t").removeprefix("\n")
    if first.body > first.start and first.kind == "prose":
        inside = _column(text, block.start) >= _DEPTH
        return inside or (block.body > block.start and block.kind == "prose" and not apart)
    return _is_table(text, first) and _is_table(text, block) and not apart


def _column(text: str, start: int) -> int:
    return start - (text.rfind("\n", 0, start) + 1)


def _is_table(text: str, block: Block) -> bool:
    return block.kind != "code" and text.startswith("|", block.start)


def _lead(text: str, group: list[Block], units: list[Unit]) -> Unit | None:
    """The sentence before a list or table that announces it, or before code if it is short."""
    last = units[-1] if units else None
    if last is None or last.kind != "sentence":
        return None
    short = group[0].kind == "code" and last.end - last.start <= _MAX_LEAD_CHARS
    return last if short or announces(text[last.start : last.end]) else None


def _of_group(
    text: str, group: list[Block], context: tuple[Span, ...], lead: Unit | None
) -> Iterator[Unit]:
    first, last = group[0], group[-1]
    led = (*context, lead.span) if lead else context
    whole = (lead.start if lead else first.start, last.end)
    if _is_table(text, first):
        yield from _rows(group, led, whole)
    elif first.kind == "code":
        yield Unit(first.start, first.end, "code", led, whole)
    elif first.body > first.start and first.kind == "prose":
        yield from _items(text, group, led, whole)
    else:
        for start, end in sentence_spans(text[first.body : first.end]):
            yield Unit(first.body + start, first.body + end, "sentence", context)


def _rows(group: list[Block], led: tuple[Span, ...], whole: Span) -> Iterator[Unit]:
    head = next((block for block in group if block.kind == "heading"), None)
    read_under = (*led, (head.start, head.end)) if head else led
    for block in group:
        if block.kind == "heading":
            yield Unit(block.start, block.end, "context")
        else:
            yield Unit(block.start, block.end, "row", read_under, whole)


def _items(text: str, group: list[Block], led: tuple[Span, ...], whole: Span) -> Iterator[Unit]:
    """Each outer item with all that it holds."""
    outer = _column(text, group[0].start)
    numbered = bool(_NUMBERED.match(text, group[0].start))
    item: Unit | None = None
    for block in group:
        if item and _column(text, block.start) > outer:
            item = replace(item, end=block.end)
            continue
        if item:
            yield item
        item = Unit(block.body, block.end, "item", led, whole, numbered)
    if item:
        yield item
