"""Blocks whose sentence stops in the middle, put before the blocks that carry it on.

Columns, floats and notes cut a paragraph in two and place the halves apart; often the second
half comes later on the page or opens the next one, and in interleaved columns it may even
stand before the first. Candidates are scored by the word across the cut, by word pairs which
the document has elsewhere, and by distance, and taken best first.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING

from askem.text.dehyphenate import Vocabulary, join_pieces
from askem.text.paragraphs import Block, Kind
from askem.text.sentences import ends_sentence

if TYPE_CHECKING:
    from collections.abc import Sequence


_WORD = re.compile(r"[^\W_]+(?:[-\u2010\u2011][^\W_]+)*")
_FUNCTION_END = re.compile(
    r"(?:,|\b(?:a|an|the|of|in|on|at|to|by|for|from|with|and|or|as|is|are|was|were|be|been|has|have|"
    r"had|that|which|who|whose|than|into|between|during|after|their|its|our|this|these|not|nor|but|"
    r"via|per|using|including|both|within|without|against|among|through|under|over|can|could|may|"
    r"might|will|would|should|when|where|while|if|we|it|they|also|more|most|such|each))$",
    re.IGNORECASE,
)
_BROKEN = re.compile(r"[^\W_][-\u2010\u2011\u00ad]$")
_ADDRESS_END = re.compile(r"(?:https?:|www\.|doi|@)\S*$|[Ll]icen[cs]e: ?\S+$")
_LOWER_START = re.compile(r"[^\w\s]{0,2}[a-z\u00df-\u00ff\u03b1-\u03c9]")
_LABEL_START = re.compile(
    r"\(?(?:[a-z]|[ivx]{1,4}|\d{1,2})[.)]\s|[a-z]{1,2}[A-Z]|\d+(?:\.\d+)*\.?\s[A-Z]"
)
_SENTENCE_START = re.compile(
    r"(?:The|This|These|Those|We|Our|In|It|Its|However|Here|For|A|An|As|At|By|After|Although|They|"
    r"There|When|While|With|From|On|To|All|Both|But|If|Moreover|Furthermore|Thus|Therefore|"
    r"Similarly|Since|Among|During|Finally|Recently|Additionally|Because)\b"
)
_TAIL_CHARS = 80
_REACH_BLOCKS = 40
_THRESHOLD = 0.3


def restore_order(blocks: Sequence[Block], vocabulary: Vocabulary) -> list[Block]:
    """Join the blocks that are halves of one paragraph; the others keep their order.

    Returns:
        Blocks, no more than given. A joined paragraph stands where its first half stood;
        what came between the halves follows it. No word is lost or repeated.
    """
    links = _choose(_candidates(blocks, vocabulary))
    joined: list[Block] = []
    continuations = set(links.values())
    for index, block in enumerate(blocks):
        if index in continuations:
            continue
        text, following = block.text, links.get(index)
        while following is not None:
            text = join_pieces(text, blocks[following].text, vocabulary)
            following = links.get(following)
        joined.append(replace(block, text=text))
    return joined


def _choose(candidates: list[tuple[float, int, int]]) -> dict[int, int]:
    """Links first half -> second half, best first, each block at most once on either side."""
    links: dict[int, int] = {}
    taken: set[int] = set()
    for _, first, second in sorted(candidates, key=lambda item: (-item[0], item[1], item[2])):
        if first in links or second in taken or _reaches(links, second, first):
            continue
        links[first] = second
        taken.add(second)
    return links


def _reaches(links: dict[int, int], start: int, goal: int) -> bool:
    node: int | None = start
    while node is not None:
        if node == goal:
            return True
        node = links.get(node)
    return False


@dataclass(frozen=True, slots=True)
class _Ends:
    """What a block shows at its two ends, and where it stands on its page."""

    page: int
    from_top: int  # blocks of text above it
    from_foot: int  # blocks of text below it
    open_ended: bool
    dangling: bool  # stops at a word or mark that must go on
    broken: bool  # stops inside a word
    last_word: str
    first_word: str  # as written
    openness: float  # how much its beginning looks like mid-sentence; 0 where it cannot be


def _candidates(blocks: Sequence[Block], vocabulary: Vocabulary) -> list[tuple[float, int, int]]:
    ends = _all_ends(blocks)
    pairs = _word_pairs(blocks)
    found: list[tuple[float, int, int]] = []
    for first, left in enumerate(ends):
        if not left.open_ended:
            continue
        reach = range(max(0, first - _REACH_BLOCKS), min(len(ends), first + _REACH_BLOCKS))
        for second in reach:
            right = ends[second]
            if second == first or not (right.openness and 0 <= right.page - left.page <= 1):
                continue
            if right.openness >= _OPEN or (left.dangling and second > first):
                score = right.openness + left.dangling + _seam(left, right, pairs, vocabulary)
                score -= _distance(left, right, second - first)
                if score > _THRESHOLD:
                    found.append((score, first, second))
    return found


def _all_ends(blocks: Sequence[Block]) -> list[_Ends]:
    sizes = Counter(block.page for block in blocks if block.kind is Kind.TEXT)
    seen: Counter[int] = Counter()
    ends: list[_Ends] = []
    for block in blocks:
        above = seen[block.page]
        seen[block.page] += block.kind is Kind.TEXT
        ends.append(_ends(block, above, sizes[block.page] - above - 1))
    return ends


def _ends(block: Block, from_top: int, from_foot: int) -> _Ends:
    tail = block.text[-_TAIL_CHARS:]
    words = _WORD.findall(tail)
    first = _WORD.match(block.text, 0, _TAIL_CHARS)
    broken = _BROKEN.search(tail) is not None
    return _Ends(
        page=block.page,
        from_top=from_top,
        from_foot=from_foot,
        open_ended=is_open_ended(block),
        dangling=broken or _FUNCTION_END.search(tail) is not None,
        broken=broken,
        last_word=words[-1].lower() if words else "",
        first_word=first[0] if first else "",
        openness=_openness(block),
    )


def is_open_ended(block: Block) -> bool:
    """Whether the block stops in mid-sentence."""
    if block.kind is not Kind.TEXT:
        return False
    if _BROKEN.search(block.text[-3:]):
        return True
    return not ends_sentence(block.text) and not _ADDRESS_END.search(block.text[-200:])


_OPEN = 1.0


def _openness(block: Block) -> float:
    text = block.text
    if block.kind is not Kind.TEXT or _SENTENCE_START.match(text):
        return 0.0
    if _LABEL_START.match(text) or text.startswith(("http", "www.")):
        return 0.1
    if text[0] in ")]%,;" or _LOWER_START.match(text):
        return 2.0
    return 1.2 if text[0].isdigit() or text[0] in "([" else 0.3


def _distance(left: _Ends, right: _Ends, step: int) -> float:
    """Penalty for the way from one half to the other.

    A column goes on at the head of a column: near the top of the next page, or in interleaved
    columns near the top of the same one. Across a float the way is short and forward.
    """
    if right.page > left.page:
        return min(1.6, 0.15 * right.from_top) + min(1.0, 0.1 * left.from_foot)
    if step > 0:
        return min(1.8, 0.15 * (right.from_top - left.from_top - 1))
    return 0.7 + min(1.0, 0.15 * right.from_top) + min(0.6, 0.1 * left.from_foot)


def _seam(
    left: _Ends, right: _Ends, pairs: Counter[tuple[str, str]], vocabulary: Vocabulary
) -> float:
    """Evidence from the words on both sides of the cut."""
    if not left.last_word or not right.first_word:
        return 0.0
    first_word = right.first_word.lower()
    stands_alone = vocabulary.words[first_word] > 1  # else it may be the rest of a word
    if left.broken:
        whole = vocabulary.words[left.last_word + first_word]
        compound = vocabulary.words[f"{left.last_word}-{first_word}"]
        return 4.0 if whole or compound else 0.0 if stands_alone else 1.5
    fragment = right.openness > _OPEN and first_word.isalpha() and not vocabulary.words[first_word]
    evidence = min(2.0, 1.0 * pairs[left.last_word, right.first_word])
    return evidence - (1.0 if fragment else 0.0)


def _word_pairs(blocks: Sequence[Block]) -> Counter[tuple[str, str]]:
    """Neighbouring words in the document, the first lower-cased, the second as written."""
    pairs: Counter[tuple[str, str]] = Counter()
    for block in blocks:
        words = _WORD.findall(block.text)
        pairs.update((word.lower(), after) for word, after in pairwise(words))
    return pairs
