"""Markers of citations as a model is told to write them: [1], [1, 2], [1][3], [1-3]."""

from __future__ import annotations

import re
from bisect import bisect_left
from dataclasses import dataclass

_MARKER = re.compile(
    r"\[\s{0,2}\d{1,3}(?:\s{0,2}[,;\u2013-]\s{0,2}\d{1,3}){0,30}\s{0,2}\](?!\()", re.ASCII
)
_RANGE = re.compile(r"(\d+)(?:\s*[\u2013-]\s*(\d+))?", re.ASCII)
_WIDEST_RANGE = 30
_BRACKETED = re.compile(r"\[(\s{0,2}\d[\d,;\s\u2013-]*)\]")
# What is quoted or code is another's text: its brackets are references of the paper.
_QUOTED = re.compile(r"\"[^\"]{1,600}\"|\u201c[^\u201d]{1,600}\u201d|`[^`]{1,200}`")


@dataclass(frozen=True, slots=True)
class Marker:
    """text[start:end] names the passages `numbers`."""

    start: int
    end: int
    numbers: tuple[int, ...]


def find_markers(text: str) -> list[Marker]:
    """The markers of one unit, in order.

    Brackets inside a quotation are the paper's own where the unit has markers outside it; where
    it has none, they are taken for the model's.
    """
    found = [Marker(m.start(), m.end(), _numbers(m[0])) for m in _MARKER.finditer(text)]
    quoted = [m.span() for m in _QUOTED.finditer(text)]
    starts = [start for start, _ in quoted]
    return [m for m in found if not _within(m, quoted, starts)] or found


def _within(marker: Marker, quoted: list[tuple[int, int]], starts: list[int]) -> bool:
    """Whether it stands in one of the quotations, which are in order and apart."""
    before = bisect_left(starts, marker.start) - 1
    return before >= 0 and marker.end < quoted[before][1]


def unbracketed(text: str) -> str:
    """Numbers in brackets as "(39)": of a paper they are works in its list or data, and beside
    our markers would pass for one."""
    return _BRACKETED.sub(r"(\1)", text)


def without(text: str, markers: list[Marker]) -> str:
    """The text with its markers and the blanks before them cut out."""
    kept, last = "", 0
    for marker in markers:
        kept += text[last : marker.start].rstrip(" \t\u00a0\u202f")
        last = marker.end
    return (kept + text[last:]).strip()


def _numbers(marker: str) -> tuple[int, ...]:
    """A range wider than 30 is none a model means: its ends alone are taken."""
    numbers: list[int] = []
    for first, last in _RANGE.findall(marker):
        low, high = int(first), int(last or first)
        wide = not 0 <= high - low <= _WIDEST_RANGE
        numbers += (low, high) if wide else range(low, high + 1)
    return tuple(dict.fromkeys(numbers))
