"""Running heads and feet at the edges of marked pages, told by kind and not by recurrence.

A short paper has each head once or twice, too seldom to be told by being repeated. What tells
it is that it stands outermost on its page and looks like a head.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from askem.text.paragraphs import is_named_heading
from askem.text.sentences import ends_sentence
from askem.text.stamps import is_stamp

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence


_MAX_EDGE_LINES = 4  # that may go from one edge
_MAX_CHARS = 200
_MAX_PART_CHARS = 80
_MAX_FRONT_LINES = 12
_MIN_TITLE_WORDS = 3
_STEM_CHARS = 6
_GAP = re.compile(r"\s{4,}")
_SPACES = re.compile(r"\s+")
_WORD = re.compile(r"[^\W\d_]{4,}")
_BROKEN_WORD = re.compile(r"[-\u2010\u00ad]\s*\n\s*")
_BARE_NUMBER = re.compile(r"\d{1,5}")
_CAPTION = re.compile(r"(?:supplementary |extended data )?(?:fig|table|scheme|box)", re.IGNORECASE)
_NAME = r"(?:[^\W\d_a-z]\.[ -]?){0,3}[^\W\d_a-z][\w'\u2019-]+"
# "C. Moss et al.", "MOSS ET AL.: SHELLS OF RIVERS"
_ET_AL = re.compile(
    rf"(?:\d{{1,5}}[ |]+)?{_NAME}(?:(?:,| and| &) {_NAME}){{0,2}},? (?:et al|ET AL)\b\.?"
    r"(?:\s?[:/|\u2013\u2014-] .{3,80})?(?:[ |]+\d{1,5})?"
)
# "River Notes 14", "River Notes 14 (2019) 3-17"
_JOURNAL = re.compile(
    r"[^\W\d_a-z][\w.]*(?: [\w.&]+){0,5},? \d{1,4}(?: ?\((?:19|20)\d\d\))?(?:[:, ]+[\d\u2013-]+)?"
)
_SEPARATED = re.compile(r"\S.{2,} [-\u2013\u2014|/\u00b7\u2022] .{2,}")


@dataclass(frozen=True, slots=True)
class _Paper:
    """What the first page and the headings tell about the heads to expect."""

    front_stems: frozenset[str]
    capital_headings: bool  # or no headings known: capitals then tell nothing


def edge_furniture(pages: list[list[str]], known: list[set[int]]) -> list[set[int]]:
    """Indices of the head and foot lines of each page.

    Args:
        pages: the lines of each page.
        known: of each page, the lines that are furniture already; they are looked past.
    """
    paper = _describe(pages)
    numbers = _consecutive(pages, known)
    found = [
        _peel(page, reversed(_text_lines(page, skip)), paper, counted, head=False)
        for page, skip, counted in zip(pages, known, numbers, strict=True)
    ]
    for number, page in enumerate(pages):
        skip = known[number] | found[number]
        before = _last_text(pages[number - 1], known[number - 1] | found[number - 1])
        is_open = number > 0 and bool(before) and not ends_sentence(before)
        found[number] |= _peel(
            page,
            iter(_text_lines(page, skip)),
            paper if number else None,
            numbers[number],
            head=True,
            after_open=is_open,
        )
    return found


def _text_lines(page: list[str], skip: set[int]) -> list[int]:
    return [i for i, line in enumerate(page) if line.strip() and i not in skip]


def _last_text(page: list[str], skip: set[int]) -> str:
    indices = _text_lines(page, skip)
    return page[indices[-1]].strip() if indices else ""


def _describe(pages: list[list[str]]) -> _Paper:
    front: list[str] = []
    for line in pages[0]:
        if is_named_heading(line.strip()) or len(front) == _MAX_FRONT_LINES:
            break
        if line.strip():
            front.append(line.strip())
    text = "\n".join(front)
    stems = frozenset(_stems(text) + _stems(_BROKEN_WORD.sub("", text)))
    headings = [
        heading for page in pages for line in page if is_named_heading(heading := line.strip())
    ]
    return _Paper(stems, not headings or any(map(str.isupper, headings)))


def _stems(text: str) -> list[str]:
    return [word[:_STEM_CHARS].lower() for word in _WORD.findall(text)]


def _peel(
    page: list[str],
    inwards: Iterator[int],
    paper: _Paper | None,
    counted: set[int],
    *,
    head: bool,
    after_open: bool = False,
) -> set[int]:
    """Lines from an edge inwards, as long as each is furniture."""
    order = list(islice(inwards, _MAX_EDGE_LINES + 1))
    found: set[int] = set()
    for place, index in enumerate(order[:_MAX_EDGE_LINES]):
        inner = page[order[place + 1]] if place + 1 < len(order) else ""
        beside = index + 1 if head else index - 1
        alone = not (0 <= beside < len(page) and page[beside].strip())
        cuts_sentence = after_open and inner.strip()[:1].islower()
        line = page[index]
        if not (
            is_stamp(line)
            or (_may_be_head(line) and index in counted and (alone or _GAP.search(line.strip())))
            or (_may_be_head(line) and _looks_like_head(line, inner, alone))
            or (
                paper and alone and _may_be_head(line) and _is_of(line, inner, paper, cuts_sentence)
            )
        ):
            break
        found.add(index)
    return found


def _may_be_head(line: str) -> bool:
    plain = line.strip()
    return (
        len(plain) <= _MAX_CHARS
        and not plain[0].islower()
        and not _CAPTION.match(plain)
        and not is_named_heading(plain)
        and (not plain.endswith((".", ",", ";", "?", "!")) or plain.lower().endswith("et al."))
    )


def _looks_like_head(line: str, inner: str, alone: bool) -> bool:
    plain = _SPACES.sub(" ", line).strip()
    if _ET_AL.fullmatch(plain):
        return True
    if _has_gap_of_head(line):
        return not _has_gap_of_head(inner) and (alone or not _GAP.search(inner.strip()))
    ends = plain.split(" ")
    numbered = any(_BARE_NUMBER.fullmatch(end) for end in (ends[0], ends[-1]))
    return alone and numbered and _SEPARATED.fullmatch(plain) is not None


def _has_gap_of_head(line: str) -> bool:
    """Whether a wide gap parts a page number, a journal or authors from the rest."""
    parts = _GAP.split(line.strip())
    if not 2 <= len(parts) <= 3 or any(len(part) > _MAX_PART_CHARS for part in parts):
        return False
    ends = (parts[0], parts[-1])
    return sum(map(str.isalpha, line)) >= _STEM_CHARS and any(
        shape.fullmatch(end) for end in ends for shape in (_BARE_NUMBER, _ET_AL, _JOURNAL)
    )


def _is_of(line: str, inner: str, paper: _Paper, cuts_sentence: bool) -> bool:
    """Whether a line has the running title or the authors, or capitals that headings lack."""
    plain = line.strip()
    stems = _stems(plain)
    if not stems or ends_sentence(plain):
        return False
    if plain.isupper() and (cuts_sentence or not paper.capital_headings):
        return True
    parts = [_stems(part) for part in _GAP.split(plain)]
    if len(parts) == 2 and (cuts_sentence or not _GAP.search(inner.strip())):
        return any(len(part) > 1 and paper.front_stems.issuperset(part) for part in parts)
    enough = len(stems) >= (1 if cuts_sentence else _MIN_TITLE_WORDS)
    return enough and paper.front_stems.issuperset(stems)


def _consecutive(pages: list[list[str]], known: list[set[int]]) -> list[set[int]]:
    """Outermost lines that begin or end with a number which counts on with the pages."""
    found: list[set[int]] = [set() for _ in pages]
    for place in (0, -1):
        ends: list[tuple[int, frozenset[int]]] = []
        for page, skip in zip(pages, known, strict=True):
            lines = _text_lines(page, skip)
            index = lines[place] if lines else -1
            ends.append((index, _end_numbers(page[index]) if lines else frozenset()))
        for number, (index, values) in enumerate(ends):
            if any(_counts_on(values, ends, number, step) for step in (-2, -1, 1, 2)):
                found[number].add(index)
    return found


def _counts_on(
    values: frozenset[int], ends: Sequence[tuple[int, frozenset[int]]], number: int, step: int
) -> bool:
    other = number + step
    return 0 <= other < len(ends) and any(value + step in ends[other][1] for value in values)


def _end_numbers(line: str) -> frozenset[int]:
    """The bare numbers at the ends of a line that is not part of a paragraph."""
    words = line.split()
    if not _GAP.search(line.strip()) and len(words) > 12:
        return frozenset()
    return frozenset(int(word) for word in (words[0], words[-1]) if _BARE_NUMBER.fullmatch(word))
