"""Running heads, page numbers and stamps, told by repetition, position and shape."""

from __future__ import annotations

import re
from collections import Counter

_EDGE_LINES = 4
_MAX_CHARS = 200
_DIGITS = re.compile(r"\d+")
_SPACES = re.compile(r"\s+")
_PAGE_NUMBER = re.compile(
    r"(?:p(?:age|\.)?\s*)?[-\u2013\u2014|\s]*(?:\d{1,4}|e\d{1,7}|[ivxl]{1,6})"
    r"(?:\s*(?:/|of)\s*\d{1,4})?[-\u2013\u2014|\s]*",
    re.IGNORECASE,
)
_CAPTION = re.compile(r"(?:supplementary |extended data )?(?:fig|table|scheme|box)", re.IGNORECASE)
# "Downloaded from ... on 3 May 2020", "Accessed by ... at 10:50", "This copy was printed ..."
_STAMP = re.compile(
    r"(?=.*\b(?:downloaded|accessed|retrieved|printed|provided|licen[sc]ed|received for)\b)"
    r"(?=.*\b(?:from|by|to|on|at|for)\b)(?=.*(?:\d{1,2}:\d{2}|\b(?:19|20)\d\d\b|https?:|www\.))"
    r".{10,200}",
    re.IGNORECASE,
)
# "Arnold et al.", "Arnold et al. Journal 12 (2019)", "Journal Name 2019, 12, 345"
_RUNNING_HEAD = re.compile(
    r"[A-Z][\w'\u2019-]+ (?:et al\.?|and [A-Z][\w'\u2019-]+)"
    r"(?:[ ,:|].{0,60}\(?(?:19|20)\d\d\)?.{0,12})?"
    r"|[A-Z][\w.]*(?: [\w.&]+){0,6} \d{1,4}(?:\(\d+\))?[:,]? ?(?:[\d\u2013-]+ ?)?\((?:19|20)\d\d\)"
    r"|[A-Z][\w.]*(?: [\w.&]+){0,6},? (?:19|20)\d\d[,;] ?\d{1,4}(?:\(\d+\))?[,:;] ?[\w\u2013-]+"
)


def remove_furniture(pages: list[list[str]]) -> list[list[str]]:
    """The pages without the lines that belong to the page and not to the paper.

    Dropped are: lines that recur, digits aside, at the head or foot of several pages, also
    where they drifted to a block of their own; page numbers; and, at the edge or alone, lines
    shaped like a stamp or a running head. A line that begins as a caption does is kept. What
    is dropped leaves an empty line where it stood alone, and nothing where text runs on.
    """
    candidates = _candidates(pages)
    recurring = _recurring_keys(pages, candidates)
    return [
        _without(page, indices, recurring) for page, indices in zip(pages, candidates, strict=True)
    ]


def _key(line: str) -> str:
    return _SPACES.sub(" ", _DIGITS.sub("#", line)).strip().lower()


def _edge_indices(page: list[str]) -> set[int]:
    filled = [index for index, line in enumerate(page) if line.strip()]
    return {*filled[:_EDGE_LINES], *filled[-_EDGE_LINES:]}


def _is_alone(page: list[str], index: int) -> bool:
    before = index == 0 or not page[index - 1].strip()
    return before and (index + 1 == len(page) or not page[index + 1].strip())


def _candidates(pages: list[list[str]]) -> list[set[int]]:
    """Per page, the lines that may be furniture: at its edges, or in a block of their own."""
    found: list[set[int]] = []
    for page in pages:
        alone = {i for i, line in enumerate(page) if line.strip() and _is_alone(page, i)}
        # Without page marks the edges are not a page's; only small blocks can be told.
        found.append(alone | (_edge_indices(page) if len(pages) > 1 else _small_blocks(page)))
    return found


def _small_blocks(page: list[str]) -> set[int]:
    """Lines of blocks of two lines, such as a running head of authors and journal."""
    return {
        first
        for index in range(len(page) - 1)
        if page[index].strip() and page[index + 1].strip()
        if index == 0 or not page[index - 1].strip()
        if index + 2 == len(page) or not page[index + 2].strip()
        for first in (index, index + 1)
    }


def _recurring_keys(pages: list[list[str]], candidates: list[set[int]]) -> set[str]:
    """Keys of lines that recur on pages; without page marks, often within the one page."""
    counts: Counter[str] = Counter()
    for page, indices in zip(pages, candidates, strict=True):
        keys = [_key(page[index]) for index in indices if len(page[index]) <= _MAX_CHARS]
        counts.update(set(keys) if len(pages) > 1 else keys)
    least = max(2, round(0.2 * len(pages))) if len(pages) > 1 else 3
    return {
        key
        for key, count in counts.items()
        if count >= least and re.search(r"[a-z]{3}", key) and not _CAPTION.match(key)
    }


def _without(page: list[str], candidates: set[int], recurring: set[str]) -> list[str]:
    dropped = {
        index
        for index in candidates
        if _key(page[index]) in recurring or _has_furniture_shape(page[index].strip())
    }
    return [line for index, line in enumerate(page) if index not in dropped]


def _has_furniture_shape(line: str) -> bool:
    if len(line) > _MAX_CHARS or _CAPTION.match(line):
        return False
    plain = _SPACES.sub(" ", line)
    return any(shape.fullmatch(plain) for shape in (_PAGE_NUMBER, _STAMP, _RUNNING_HEAD))
