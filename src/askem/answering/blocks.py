"""Blocks of a markdown answer, with offsets: what one line or several lines are."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

BlockKind = Literal["prose", "heading", "row", "code"]

_FENCE = re.compile(r"[ \t]*(```+|~~~+)")  # at any depth: items of lists hold code
_HEADING = re.compile(r"[ \t]{0,3}#{1,6}(?:[ \t]|$)")
_BOLD_LINE = re.compile(r"[ \t]*(\*\*|__)(?!\s)[^*_]{1,120}(?<![\s.!?])\1:?[ \t]*$")
_RULE = re.compile(r"[ \t]*(?:[-=*_][ \t]*){3,}$")
_BORDER = re.compile(r"(?=[^-]*-)[ \t:|-]+$")
_ITEM = re.compile(
    r"[ \t]*(?:>[ \t]?)*(?:[-*+\u2022\u2013][ \t]+|\(?(?:\d{1,3}|[ivx]{1,4}|[a-z])\)[ \t]+"
    r"|\d{1,3}\.[ \t]+|(?:[-*+\u2022\u2013]|\d{1,3}[.)])[ \t]*$)"
)
_LINE = re.compile(r"[^\n]*\n?")


@dataclass(frozen=True, slots=True)
class Block:
    """text[start:end]; text[body:end] is without a list label or the marks of a heading."""

    start: int
    body: int
    end: int
    kind: BlockKind


@dataclass(frozen=True, slots=True)
class _Line:
    text: str
    start: int

    @property
    def end(self) -> int:
        return self.start + len(self.text.rstrip())

    @property
    def first(self) -> int:
        """Offset of what is not white space."""
        return self.start + len(self.text) - len(self.text.lstrip())


def blocks(text: str) -> Iterator[Block]:
    """Blocks in order; every character that is not white space lies in exactly one."""
    lines = [_Line(m[0].rstrip("\n"), m.start()) for m in _LINE.finditer(text) if m[0]]
    at = 0
    while at < len(lines):
        after = _after_code(lines, at) or _after_line(lines, at)
        if after:
            yield from _single(lines, at, after)
        else:
            after = _after_prose(lines, at)
            yield _prose(lines[at], lines[after - 1].end)
        at = after


def _after_code(lines: list[_Line], at: int) -> int:
    """Index after the fence's end; 0 where there is no fence. An open fence ends the answer."""
    fence = _FENCE.match(lines[at].text)
    if not fence:
        return 0
    for index in range(at + 1, len(lines)):
        if lines[index].text.strip().startswith(fence[1]):
            return index + 1
    return len(lines)


def _after_line(lines: list[_Line], at: int) -> int:
    """Index after a line that is a block by itself; 0 where it is prose."""
    return at + 1 if not lines[at].text.strip() or _line_kind(lines, at) else 0


def _line_kind(lines: list[_Line], at: int) -> BlockKind | None:
    text = lines[at].text
    if _HEADING.match(text) or _BOLD_LINE.match(text) or _RULE.match(text):
        return "heading"
    if not text.lstrip().startswith("|"):
        return None
    following = lines[at + 1].text if at + 1 < len(lines) else ""
    is_head = "|" in following and _BORDER.match(following)
    return "heading" if is_head or _BORDER.match(text) else "row"


def _single(lines: list[_Line], at: int, after: int) -> Iterator[Block]:
    line, end = lines[at], max(line.end for line in lines[at:after])
    if line.text.strip() or after > at + 1:
        kind = _line_kind(lines, at) if after == at + 1 and not _FENCE.match(line.text) else "code"
        body = line.first
        heading = _HEADING.match(line.text)
        if heading:
            body = min(end, line.start + heading.end())
        yield Block(line.first, body, end, kind or "code")


def _after_prose(lines: list[_Line], at: int) -> int:
    """A paragraph or item goes on until a blank line, an item or another block begins."""
    index = at + 1
    while index < len(lines):
        line = lines[index].text
        if not line.strip() or _ITEM.match(line) or _FENCE.match(line) or _line_kind(lines, index):
            break
        index += 1
    return index


def _prose(line: _Line, end: int) -> Block:
    item = _ITEM.match(line.text)
    body = min(end, line.start + item.end()) if item else line.first
    return Block(line.first, body, end, "prose")
