"""Columns that were laid out side by side with spaces, put one below the other."""

from __future__ import annotations

import re
from collections import Counter

_MIN_LINES = 5
_MIN_SHORT_LINES = 3  # on a page that need only agree with the one before
_MIN_SHARED_RATIO = 0.25
_MIN_COLUMN_CHARS = 15
_ALTERNATING = re.compile(r"(?:xb){3,}(?=x)")
_GAP = re.compile(r"\S(\s{2,})(?=\S)")


def unroll_pages(pages: list[list[str]]) -> list[list[str]]:
    """The pages in reading order; a page too short to show its gutter has the last page's."""
    unrolled: list[list[str]] = []
    gutter = None
    for page in pages:
        lines = [line.expandtabs().rstrip() for line in page]
        unrolled.append(unroll_columns(lines, expected=gutter))
        gutter = find_gutter(lines) or gutter
    return unrolled


def unroll_columns(lines: list[str], max_cuts: int = 2, expected: int | None = None) -> list[str]:
    """One page's lines in reading order.

    Where enough lines leave the same strip of at least two characters free in mid-page, the
    page is cut there: left column, then right column, between lines that run across. A page
    without such a strip comes back as it is, unless none of its lines crosses the gutter that
    is expected there. A column may be cut again (three in a row), at most max_cuts deep.
    """
    lines = [line.expandtabs().rstrip() for line in lines]
    gutter = find_gutter(lines) if max_cuts else None
    if gutter is None and expected is not None and _fits(lines, expected):
        gutter = expected
    if gutter is None:
        return lines
    ordered: list[str] = []
    left: list[str] = []
    right: list[str] = []
    for line in lines:
        sides = _cut(line, gutter)
        if sides is None:
            both = [*_close_up(left), "", *_close_up(right), ""]
            ordered += [*both, line, ""] if left or right else [line]
            left, right = [], []
        else:
            left.append(sides[0])
            right.append(sides[1])
    columns = (unroll_columns(_close_up(column), max_cuts - 1) for column in (left, right))
    return [*ordered, *next(columns), "", *next(columns)]


def find_gutter(lines: list[str]) -> int | None:
    """The offset at which the right column begins, or None for a page in one column."""
    filled = [line for line in lines if line.strip()]
    starts: Counter[int] = Counter()
    for line in filled:
        starts.update(match.end() for match in _GAP.finditer(line))
        indent = len(line) - len(line.lstrip())
        if indent > _MIN_COLUMN_CHARS:
            starts[indent] += 1
    best, best_lines = None, 0
    for offset, _ in starts.most_common(12):
        if sum(len(line[:offset].strip()) >= _MIN_COLUMN_CHARS for line in filled) < _MIN_LINES:
            continue  # nothing to the left: an indent
        shared = sum(_shares(line, offset) for line in filled)
        crossed = sum(_cut(line, offset) is None for line in filled)
        if shared > best_lines and crossed <= shared // 2:
            best, best_lines = offset, shared
    if best is None or best_lines < max(_MIN_LINES, _MIN_SHARED_RATIO * len(filled)):
        return None
    return best


def _fits(lines: list[str], gutter: int) -> bool:
    """Whether some lines of a short page share a gutter and none crosses it."""
    filled = [line for line in lines if line.strip()]
    shared = sum(bool(line[:gutter].strip()) and _shares(line, gutter) for line in filled)
    return shared >= _MIN_SHORT_LINES and all(_cut(line, gutter) is not None for line in filled)


def _shares(line: str, offset: int) -> bool:
    """Whether running text begins at offset, behind a gap and running text or nothing."""
    left, right = line[:offset], line[offset:]
    if not left.endswith("  ") or not right[:1].strip() or len(right) < _MIN_COLUMN_CHARS:
        return False
    return not left.strip() or len(left.strip()) >= _MIN_COLUMN_CHARS


def _cut(line: str, gutter: int) -> tuple[str, str] | None:
    """The line's left and right part, or None when it runs across the gutter."""
    if len(line) <= gutter:
        # Nothing on the right, unless the left overruns into it.
        return (line, "") if len(line) < gutter + 2 else None
    if line[max(0, gutter - 2) : gutter].strip() == "":
        return line[:gutter].rstrip(), line[gutter:]
    for match in _GAP.finditer(line, max(0, gutter - 12), gutter + 8):
        return line[: match.start() + 1], line[match.end() :]
    return None


def _close_up(column: list[str]) -> list[str]:
    """Without the empty lines that only mark where the other column's lines stand between."""
    shape = "".join("x" if line.strip() else "b" for line in column)
    dropped: set[int] = set()
    for match in _ALTERNATING.finditer(shape):
        dropped.update(range(match.start() + 1, match.end(), 2))
    return [line for index, line in enumerate(column) if index not in dropped]
