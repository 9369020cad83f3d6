"""Splitting a text into pieces that fit an encoder's window, so that nothing is cut off."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable
from itertools import pairwise

from askem.text.sentences import sentence_spans

Offsets = list[tuple[int, int]]
"""Start and end of each token in the text, in characters."""


def windows_of(text: str, offsets_of: Callable[[str], Offsets], limit: int) -> list[str]:
    """`split_into_windows` for a tokeniser: every piece, tokenised by itself, fits the window."""
    offsets = offsets_of(text)
    if len(offsets) <= limit:
        return [text]
    # A piece cut within a word may tokenise to more tokens than it had there: look again.
    pieces = split_into_windows(text, offsets, limit)
    return [window for piece in pieces for window in windows_of(piece, offsets_of, limit)]


def passage_windows(text: str, offsets_of: Callable[[str], Offsets], limit: int) -> list[str]:
    """`windows_of` for a passage. A first line with a blank one after it, a section's heading path,
    stands at the head of every window, unless it would take more than half of one."""
    path, blank, body = text.partition("\n\n")
    head = f"{path}\n\n"
    taken = len(offsets_of(head)) if blank and "\n" not in path else limit
    if taken > limit // 2 or len(offsets_of(text)) <= limit:
        return windows_of(text, offsets_of, limit)
    return [head + window for window in windows_of(body, offsets_of, limit - taken)]


def split_into_windows(text: str, offsets: Offsets, limit: int) -> list[str]:
    """Pieces of `text` of at most `limit` tokens that cover all of it, cut at sentences.

    `offsets` are those of the text's own tokens (no special ones). A sentence longer than the
    window is cut between tokens. A text that fits comes back whole.
    """
    if len(offsets) <= limit:
        return [text]
    starts = [start for start, _ in offsets]
    count = _token_counter(starts)
    windows: list[tuple[int, int]] = []
    for begin, end in _contiguous(sentence_spans(text), len(text)):
        if windows and count(windows[-1][0], end) <= limit:
            windows[-1] = (windows[-1][0], end)
        else:
            windows.extend(_cut(begin, end, starts, limit))
    return [piece for piece in (text[b:e].strip() for b, e in windows) if piece]


def _contiguous(spans: list[tuple[int, int]], length: int) -> list[tuple[int, int]]:
    """Spans stretched so that each begins where the one before it ends and all text is covered."""
    if not spans:
        return [(0, length)]
    edges = [0, *(begin for begin, _ in spans[1:]), length]
    return list(pairwise(edges))


def _token_counter(starts: list[int]) -> Callable[[int, int], int]:
    return lambda begin, end: bisect_left(starts, end) - bisect_left(starts, begin)


def _cut(begin: int, end: int, starts: list[int], limit: int) -> list[tuple[int, int]]:
    """One sentence as spans of at most `limit` tokens, cut where a token starts."""
    first, last = bisect_left(starts, begin), bisect_left(starts, end)
    cuts = [starts[i] for i in range(first + limit, last, limit)]
    edges = [begin, *cuts, end]
    return list(pairwise(edges))
