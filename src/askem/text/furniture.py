"""Running heads, page numbers and stamps, told by repetition, position, kind and shape."""

from __future__ import annotations

import re
from collections import Counter
from itertools import pairwise

from askem.text.paragraphs import is_named_heading
from askem.text.running_heads import edge_furniture
from askem.text.stamps import stamp_indices

_EDGE_LINES = 4
_MAX_CHARS = 200
_MAX_CELL_CHARS = 25
_MIN_LETTERS = 10  # of a line that is furniture because it recurs in the running text
_MIN_RECURRENCES = 3  # in a file without page marks
_MIN_LINES_A_PAGE = 15
_DIGITS = re.compile(r"\d+")
_CELL_GAP = re.compile(r"\s{3,}")
_WHEN_OR_WHERE = re.compile(
    r"\b\d{1,2}:\d{2}\b|\u00a9|https?:|www\.|"
    r"\b(?:downloaded|copyright|licen[cs]ed?|rights reserved)\b",
    re.IGNORECASE,
)
_SPACES = re.compile(r"\s+")
_PAGE_NUMBER = re.compile(
    r"(?:p(?:age|\.)?\s*)?[-\u2013\u2014|\s]*(?:\d{1,4}|e\d{1,7}|[ivxl]{1,6})"
    r"(?:\s*(?:/|of)\s*\d{1,4})?[-\u2013\u2014|\s]*",
    re.IGNORECASE,
)
_CAPTION = re.compile(r"(?:supplementary |extended data )?(?:fig|table|scheme|box)", re.IGNORECASE)
# "Downloaded from ... on 3 May 2020", "Accessed by ... at 10:50", "This copy was printed ..."
_STAMP = re.compile(
    r"(?!(?-i:(?!https?:|www)[a-z]))(?!.*\b(?:was|were|been|be|we|they|and) (?:\w+ly )?"
    r"(?:downloaded|accessed|retrieved|printed|provided|licen[sc]ed|received))"
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
    r"(?:[:,]? ?[\d\u2013-]+)?"
    r"|[A-Z][\w.]*(?: [\w.&]+){0,6},? (?:19|20)\d\d[,;] ?\d{1,4}(?:\(\d+\))?[,:;] ?[\w\u2013-]+"
)


def remove_furniture(pages: list[list[str]]) -> list[list[str]]:
    """The pages without the lines that belong to the page and not to the paper.

    Dropped are: lines that recur, digits aside, at the head or foot of several pages, also
    where they drifted to a block of their own; page numbers; and, at the edge or alone, lines
    shaped like a stamp or a running head. A line that begins as a caption does is kept. What
    is dropped leaves an empty line where it stood alone, and nothing where text runs on.

    A file without page marks is one page: what recurs three times anywhere goes, and numbers
    by themselves that count on from page to page.
    """
    if len(pages) == 1:
        return [_without(pages[0], _unmarked_furniture(pages[0]))]
    stamps = [
        stamp_indices(page) | again for page, again in zip(pages, _repeated(pages), strict=True)
    ]
    candidates = [
        (_edge_indices(page) | _alone_indices(page)) - _table_rows(page) for page in pages
    ]
    recurring = _recurring_keys(pages, candidates)
    found = [
        stamped | {i for i in indices if _is_furniture(page[i], recurring)}
        for page, indices, stamped in zip(pages, candidates, stamps, strict=True)
    ]
    edges = edge_furniture(pages, found)
    return [
        _without(page, here | edge) for page, here, edge in zip(pages, found, edges, strict=True)
    ]


def _without(page: list[str], dropped: set[int]) -> list[str]:
    return [line for index, line in enumerate(page) if index not in dropped]


def _key(line: str) -> str:
    return _SPACES.sub(" ", _DIGITS.sub("#", line)).strip().lower()


def _edge_indices(page: list[str]) -> set[int]:
    filled = [index for index, line in enumerate(page) if line.strip()]
    return {*filled[:_EDGE_LINES], *filled[-_EDGE_LINES:]}


def _alone_indices(page: list[str]) -> set[int]:
    """Lines with none directly before or behind them."""
    filled = [False, *(bool(line.strip()) for line in page), False]
    return {i for i in range(len(page)) if filled[i : i + 3] == [False, True, False]}


def _table_rows(page: list[str]) -> set[int]:
    """Lines with short cells, of which one begins where one of the next row does."""
    filled = [(index, _cell_starts(line)) for index, line in enumerate(page) if line.strip()]
    return {
        index
        for (above, left), (below, right) in pairwise(filled)
        if left & right
        for index in (above, below)
    }


def _cell_starts(line: str) -> set[int]:
    if any(len(cell) > _MAX_CELL_CHARS for cell in _CELL_GAP.split(line.strip())):
        return set()
    indent = len(line) - len(line.lstrip())
    return {match.end() for match in _CELL_GAP.finditer(line.rstrip(), indent)}


def _recurring_keys(pages: list[list[str]], candidates: list[set[int]]) -> set[str]:
    """Keys of candidates that recur on a fifth of the pages, and on two at least.

    The name of a section must recur on half of them, and on three.
    """
    counts: Counter[str] = Counter()
    sections: set[str] = set()
    for page, indices in zip(pages, candidates, strict=True):
        counts.update({_key(page[i]) for i in indices if len(page[i]) <= _MAX_CHARS})
        sections.update(_key(page[i]) for i in indices if is_named_heading(page[i].strip()))
    least = max(2, round(0.2 * len(pages)))
    most = max(_MIN_RECURRENCES, (len(pages) + 1) // 2)
    return {
        key
        for key, count in counts.items()
        if count >= (most if key in sections else least)
        and re.search(r"[a-z]{3}", key)
        and not _CAPTION.match(key)
    }


def _repeated(pages: list[list[str]]) -> list[set[int]]:
    """Lines that stand, word for word, at any height of several pages.

    On half of the pages and three at least it may be any line of several words; on two pages it
    must name a date, a time or an address, since headings and phrases occur twice by chance.
    Table rows do not count.
    """
    texts = [[_SPACES.sub(" ", line).strip() for line in page] for page in pages]
    counts = Counter(text for page in texts for text in set(page))
    least = max(_MIN_RECURRENCES, (len(pages) + 1) // 2)

    def repeats(text: str, line: str) -> bool:
        if counts[text] < 2 or len(text) > _MAX_CHARS or _CAPTION.match(text):
            return False
        if sum(map(str.isalpha, text)) < _MIN_LETTERS or " " not in text:
            return False
        if _CELL_GAP.search(line.strip()) or is_named_heading(text):
            return False
        return counts[text] >= least or _WHEN_OR_WHERE.search(text) is not None

    return [
        {i for i, text in enumerate(page) if repeats(text, lines[i])}
        for page, lines in zip(texts, pages, strict=True)
    ]


def _is_furniture(line: str, recurring: set[str]) -> bool:
    return _key(line) in recurring or _has_shape(line, (_PAGE_NUMBER, _STAMP, _RUNNING_HEAD))


def _has_shape(line: str, shapes: tuple[re.Pattern[str], ...]) -> bool:
    if len(line) > _MAX_CHARS or _CAPTION.match(line):
        return False
    plain = _SPACES.sub(" ", line).strip()
    return any(shape.fullmatch(plain) for shape in shapes)


def _unmarked_furniture(page: list[str]) -> set[int]:
    keys = [_key(line) if len(line) <= _MAX_CHARS else "" for line in page]
    counts = Counter(keys)
    recurring = {
        key
        for key, count in counts.items()
        if count >= _MIN_RECURRENCES
        and " " in key
        and sum(map(str.isalpha, key)) >= _MIN_LETTERS
        and not _CAPTION.match(key)
    }
    found = {i for i in _alone_indices(page) if _is_furniture(page[i], recurring)}
    found.update(i for i, key in enumerate(keys) if key in recurring)
    return found | stamp_indices(page) | _page_number_chain(page)


def _page_number_chain(page: list[str]) -> set[int]:
    """Lines that are only a number, each a page's length on and one more than the last."""
    chain: list[tuple[int, int]] = []
    best: list[tuple[int, int]] = []
    for index, line in enumerate(page):
        if not re.fullmatch(r"\s*\d{1,5}\s*", line):
            continue
        number = int(line)
        if chain and index - chain[-1][0] < _MIN_LINES_A_PAGE:
            continue
        if chain and number - chain[-1][1] not in (1, 2):  # 2: heads may hide every other one
            chain = []
        chain = [*chain, (index, number)]
        best = max(best, chain, key=len)
    return {index for index, _ in best} if len(best) >= _MIN_RECURRENCES else set()
