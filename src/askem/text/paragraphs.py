"""Lines of a column to blocks: paragraphs, headings, asides."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass
from enum import Enum
from typing import TYPE_CHECKING

from askem.text.dehyphenate import Vocabulary, join_lines, reopen_joints
from askem.text.notes import CONTACT, lift_notes, without_contacts
from askem.text.sentences import ends_sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence


_MIN_INDENT, _MAX_INDENT = 2, 12  # characters by which a first line may be indented
UNWRAPPED = 10_000  # a width no line reaches: every line is a paragraph
_MAX_HEADING_CHARS = 110
_SHORT_LINE = 0.88  # of the width: the next word would have fitted
_NOTE_REACH = 6  # blocks
_SPREAD_WORDS = re.compile(
    r"(?:[A-Z]?[a-z]+,? ){0,3}[A-Z]?[a-z]+,|[a-z]+|(?:Department|University|Institute)(?: of)?"
)
_CONTACT_ANY = re.compile(CONTACT.pattern + r"|^correspondence\b", re.IGNORECASE)
_NUMBERING = re.compile(r"(?:\d{1,2}(?:\.\d{1,2})*\.?|[IVX]{1,4}\.|[A-Z]\.)\s+(?=[A-Z])")
_NAMED_HEADING = re.compile(
    r"(?:abstract|summary|(?:general )?introduction|background|(?:materials? and |patients and )?"
    r"methods?|methodology|results?|discussion|results and discussion|"
    r"discussion and conclusions?|conclusions?|concluding remarks|limitations|"
    r"acknowledge?ments?|funding|appendix(?: \w)?|(?:conflicts?|declaration) of interests?|"
    r"competing interests?|author contributions?|"
    r"(?:supplementary|supporting) (?:materials?|information|data)|"
    r"data availability(?: statement)?|"
    r"references?(?: cited)?|bibliography|literature cited|works cited|notes)\s*:?",
    re.IGNORECASE,
)
_DANGLING = re.compile(
    r"(?:[,(\u2010-]|\b(?:a|an|the|of|in|on|at|to|by|for|from|with|and|or|as|is|are|was|were|be|been|"
    r"has|have|had|that|which|who|than|into|between|during|after|their|its|our|this|these|not|"
    r"et|al|via|per|using|including|both|within|without|against|among|through|under|over))$",
    re.IGNORECASE,
)


class Kind(Enum):
    """What a block is for the order of reading."""

    TEXT = "text"
    HEADING = "heading"
    ASIDE = "aside"


@dataclass(frozen=True, slots=True)
class Block:
    """A run of text that stood together on a page (numbered from 0)."""

    text: str
    page: int
    kind: Kind


def column_blocks(
    lines: list[str], page: int, vocabulary: Vocabulary, wrapped: bool
) -> list[Block]:
    """The blocks of one page's lines, in order.

    Args:
        lines: lines in reading order; empty ones separate.
        page: the page's number, kept in the blocks.
        vocabulary: the document's words, for mending broken ones.
        wrapped: whether lines were wrapped to a width; if not, each line is a paragraph
            unless it stops and goes on in mid-sentence.
    """
    width = typical_width(lines) if wrapped else UNWRAPPED
    if wrapped:
        lines = reopen_joints(lift_notes(without_contacts(lines)), width, vocabulary)
    blocks: list[Block] = []
    for group in split_lines(lines, width):
        text = join_lines(group, vocabulary)
        blocks.append(Block(text, page, Kind.HEADING if is_heading(text) else Kind.TEXT))
    return gather_debris(blocks) if wrapped else blocks


def typical_width(lines: Iterable[str]) -> int:
    """The length in characters that full lines reach: the 80th percentile of long ones."""
    lengths = sorted(length for line in lines if (length := len(line.strip())) >= 25)
    return lengths[int(0.8 * (len(lengths) - 1))] if lengths else UNWRAPPED


def split_lines(lines: Sequence[str], width: int) -> list[list[str]]:
    """Groups of stripped lines, each a paragraph or a heading.

    Where no empty line parts them, a paragraph ends with a sentence in a line that had room
    for the next word, or before a line that is indented.
    """
    margin = _margin(lines)
    groups: list[list[str]] = []
    current: list[str] = []
    for raw in lines:
        line = raw.strip()
        indented = _MIN_INDENT <= _indent(raw) - margin <= _MAX_INDENT
        if current and (not line or _breaks(current, line, width, indented)):
            groups.append(current)
            current = []
        if line:
            current.append(line)
    return [*groups, current] if current else groups


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _margin(lines: Iterable[str]) -> int:
    """The indent that most lines have."""
    indents = Counter(_indent(line) for line in lines if line.strip())
    return indents.most_common(1)[0][0] if indents else 0


def _breaks(current: list[str], following: str, width: int, indented: bool) -> bool:
    """Whether a paragraph ends between its last line and the one that follows."""
    last = current[-1]
    if is_named_heading(following) or (len(current) == 1 and is_named_heading(last)):
        return True
    if following[0].islower():
        return False
    had_room = len(last) + 1 + len(following.split(maxsplit=1)[0]) <= _SHORT_LINE * width
    if not had_room:
        return indented and ends_sentence(last)
    if ends_sentence(last):
        return True
    if width == UNWRAPPED:
        return not _DANGLING.search(last[-20:])
    return len(current) == 1 and is_heading(last)


def is_named_heading(text: str) -> bool:
    """Whether a line is a section name that papers share, such as "2. Methods"."""
    body = _NUMBERING.sub("", text[:_MAX_HEADING_CHARS])
    return body[:1].isupper() and _NAMED_HEADING.fullmatch(body) is not None


def is_heading(text: str) -> bool:
    """Whether a block by itself reads as a heading: short, capitalised, without a stop."""
    if is_named_heading(text):
        return True
    body = _NUMBERING.sub("", text) if len(text) <= _MAX_HEADING_CHARS else ""
    words = body.split()
    if not 1 <= len(words) <= 12 or not body[0].isupper():
        return False
    if re.search(r"[.;,?!%=@/\d]$|https?:|\d{3}", body) or _DANGLING.search(body[-20:]):
        return False
    return sum(word[0].isalpha() for word in words) > 0.6 * len(words)


def gather_debris(blocks: list[Block]) -> list[Block]:
    """Runs of one- to three-word blocks (table cells, spread lines) as one aside each.

    Near a contact note such blocks are its torn-off words, and go with it.
    """
    notes = [i for i, b in enumerate(blocks) if _is_tiny(b, 5) and _CONTACT_ANY.search(b.text)]
    gathered: list[Block] = []
    run: list[Block] = []
    for index, block in enumerate(blocks):
        if notes and _belongs_to_note(block, _nearest(notes, index)):
            continue
        if _is_tiny(block, 3):
            run.append(block)
            continue
        gathered += [*_as_aside(run), block]
        run = []
    return gathered + _as_aside(run)


def _nearest(sorted_numbers: list[int], number: int) -> int:
    """The distance to the nearest of some sorted numbers."""
    place = bisect_left(sorted_numbers, number)
    return min(abs(number - near) for near in sorted_numbers[max(0, place - 1) : place + 1])


def _belongs_to_note(block: Block, distance: int) -> bool:
    if distance == 0:
        return True
    if distance <= _NOTE_REACH:
        return _is_tiny(block, 3)
    return _is_tiny(block, 4) and _SPREAD_WORDS.fullmatch(block.text) is not None


def _is_tiny(block: Block, words: int) -> bool:
    return len(block.text) < 80 and (
        len(block.text.split()) <= words and not is_named_heading(block.text)
    )


def _as_aside(run: list[Block]) -> list[Block]:
    if len(run) < 3:
        return run
    return [Block(" ".join(block.text for block in run), run[0].page, Kind.ASIDE)]
