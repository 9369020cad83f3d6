"""The reference list at the end of a paper, found by its heading and its looks."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


HEADING = re.compile(
    r"(?:(?:\d{1,2}|[IVX]{1,4})\.?\s+)?(?:list of |selected |cited )?"
    r"(?:references?(?: cited| list)?|r ?e ?f ?e ?r ?e ?n ?c ?e ?s|bibliography|"
    r"literature(?: cited)?|"
    r"works cited|references (?:and|&) notes|notes and references)\s*[:.]?",
    re.IGNORECASE,
)
_MARKS = re.compile(
    r"""\b(?:19|20)\d\d[a-z]?\b  # year
      | \b\d{1,4}\s?(?:\(\w{1,7}\))?\s?[:,]\s?e?\d+[\u2013-]\d+  # volume and pages
      | \b[A-Z][\w'\u2019-]{1,30},?\s(?:[A-Z]\.?[\s-]?){1,3}  # name, then initials
        (?=[,.;&]|\sand\b|\set\b)
      | \b(?:[A-Z]\.\s?){1,3}[A-Z][\w'\u2019-]{1,30}  # initials, then name
      | \bet\ al\b | \bdoi\b | https?:// | \bpp?\.\s?\d | \bIn:\s""",
    re.VERBOSE,
)
_DENSITY = 0.09  # marks a word; prose has about .02, with author-year citations .06
_PROSE_WORDS = 40  # a longer block after the list that has few marks is text again
_WINDOW_WORDS = 60  # after a heading, where evidence for a list is looked for
_MIN_SHARE = 0.6
_MIN_MARKS = 3
_SHORT_WORDS = 12
_MIN_RUN = 3
_MIN_RUN_ALONE = 6
_MAX_HEADING_CHARS = 60
_YEAR = re.compile(r"\b(?:19|20)\d\d[a-z]?\b")
_ENTRY = re.compile(
    r"\[?\d{1,3}[\].)]?\s+[A-Z]"
    r"|[A-Z][\w'\u2019-]{1,30},?\s(?:[A-Z]{1,3}\b|(?:[A-Z]\.\s?){1,3})[.,]?"
)


def reference_indices(texts: Sequence[str], torn: bool) -> set[int]:
    """Indices of the blocks that belong to the reference list, its heading included.

    A heading counts only when most of the words that follow it soon look like references, so
    a stray "References" near the beginning costs nothing. Prose after the list (an appendix,
    another column) is kept. With `torn`, runs of entries that column order put elsewhere go too.
    """
    looks = [_look(text) for text in texts]
    start = _heading_index(looks)
    listed = set() if start is None else _list_after(looks, start)
    return listed | _entry_runs(looks, certain=start is not None) if torn else listed


@dataclass(frozen=True, slots=True)
class _Look:
    words: int
    marks: int
    is_heading: bool
    is_entry: bool

    @property
    def is_reference_like(self) -> bool:
        return self.words > 0 and self.marks >= _DENSITY * self.words


def _look(text: str) -> _Look:
    words, marks = len(text.split()), len(_MARKS.findall(text))
    is_heading = len(text) < _MAX_HEADING_CHARS and HEADING.fullmatch(text.strip()) is not None
    dated = text[:1].isdigit() or text.startswith("[") or _YEAR.search(text) is not None
    is_entry = _ENTRY.match(text) is not None and dated and marks >= _DENSITY * words
    return _Look(words, marks, is_heading, is_entry)


def _list_after(looks: Sequence[_Look], start: int) -> set[int]:
    found = {start}
    undecided: list[int] = []  # short blocks: the list's if its entries go on behind them
    for index in range(start + 1, len(looks)):
        if looks[index].is_reference_like:
            found.update(undecided, [index])
            undecided = []
        elif looks[index].words < _PROSE_WORDS:
            undecided.append(index)
        else:
            undecided = []
    if len(found) + len(undecided) == len(looks) - start:
        found.update(undecided)
    return found


def _heading_index(looks: Sequence[_Look]) -> int | None:
    for index, look in enumerate(looks):
        if look.is_heading and _has_evidence(looks, index + 1):
            return index
    return None


def _has_evidence(looks: Sequence[_Look], start: int) -> bool:
    words = like = marks = 0
    for index in range(start, len(looks)):
        look = looks[index]
        counted = min(look.words, _WINDOW_WORDS - words)
        words += counted
        if look.is_reference_like:
            like += counted
            marks += look.marks
        if words == _WINDOW_WORDS:
            break
    return marks >= _MIN_MARKS and like >= _MIN_SHARE * words


def _entry_runs(looks: Sequence[_Look], certain: bool) -> set[int]:
    """Entries in a row, wherever column order put them.

    A single one is enough once a list is certain; else a heading makes a short run enough.
    """
    headings = {index for index, look in enumerate(looks) if look.is_heading}
    least = 1 if certain else _MIN_RUN if headings else _MIN_RUN_ALONE
    found: set[int] = set()
    run: list[int] = []
    pending: list[int] = []  # the short rest of an entry that was cut in two
    for index, look in enumerate([*looks, _END]):
        if look.is_entry:
            run += [*pending, index]
            pending = []
        elif run and look.words <= _SHORT_WORDS and not pending:
            pending.append(index)
        else:
            if len(run) >= least and sum(looks[i].marks for i in run) >= _MIN_RUN:
                found.update(run, [i for i in pending if looks[i].is_reference_like])
            run, pending = [], []
    return found | headings if found else found


_END = _Look(words=_SHORT_WORDS + 1, marks=0, is_heading=False, is_entry=False)
