"""Paragraphs to passages of a useful length, cut only between sentences where possible."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from askem.text.sentences import sentence_spans

if TYPE_CHECKING:
    from collections.abc import Sequence


MIN_WORDS = 100
MAX_WORDS = 250
TARGET_WORDS = 150
_CLAUSE_END = re.compile(r"[,;:)\u2013\u2014]$")


def pack(
    paragraphs: Sequence[tuple[str, bool]],
    min_words: int = MIN_WORDS,
    max_words: int = MAX_WORDS,
    target_words: int = TARGET_WORDS,
) -> list[str]:
    """Passages of at most max_words words, in the order of the paragraphs.

    Args:
        paragraphs: (text, is_heading); a heading opens the passage of what follows it.
        min_words: shorter paragraphs are merged with the next until they reach this.
        max_words: never exceeded; longer paragraphs are cut at sentences, evenly.
        target_words: the length aimed at when a paragraph has to be cut.

    Returns:
        Non-empty passages; their words, in order, are those of the paragraphs.
    """
    passages: list[str] = []
    current: list[str] = []
    size = 0
    heading_from = 0  # index in current from which only headings follow
    for text, is_heading in paragraphs:
        for piece in cut_paragraph(text, max_words, target_words):
            words = len(piece.split())
            full = size >= min_words if not is_heading else size >= min_words // 2
            if current and heading_from and (full or size + words > max_words):
                passages.append(" ".join(current[:heading_from]))
                current, heading_from = current[heading_from:], 0
                size = sum(len(part.split()) for part in current)
            if current and size + words > max_words:
                passages.append(" ".join(current))
                current, size, heading_from = [], 0, 0
            current.append(piece)
            size += words
            if not is_heading:
                heading_from = len(current)
    if current:
        passages.append(" ".join(current))
    return _merge_tail(passages, min_words, max_words)


def _merge_tail(passages: list[str], min_words: int, max_words: int) -> list[str]:
    if len(passages) > 1:
        before, last = (len(passage.split()) for passage in passages[-2:])
        if last < min_words and before + last <= max_words:
            return [*passages[:-2], f"{passages[-2]} {passages[-1]}"]
    return passages


def cut_paragraph(text: str, max_words: int, target_words: int) -> list[str]:
    """A paragraph whole if it fits, else in parts of nearly equal length, at sentences."""
    total = len(text.split())
    if total <= max_words:
        return [" ".join(text.split())] if total else []
    sentences: list[list[str]] = []
    for start, end in sentence_spans(text):
        sentences += _cut_sentence(text[start:end].split(), max_words)
    parts = max(2, round(total / target_words))
    return _balance(sentences, total / parts, max_words)


def _balance(sentences: list[list[str]], target: float, max_words: int) -> list[str]:
    parts: list[list[str]] = []
    current: list[str] = []
    done = 0  # words in finished parts
    for sentence in sentences:
        due = target * (len(parts) + 1) - done  # keeps later parts even when earlier ones drift
        over = len(current) + len(sentence) - due
        if current and (len(current) + len(sentence) > max_words or over > due - len(current)):
            parts.append(current)
            done += len(current)
            current = []
        current = current + sentence
    if current:
        parts.append(current)
    return [" ".join(part) for part in parts]


def _cut_sentence(words: list[str], max_words: int) -> list[list[str]]:
    """A sentence too long for any passage, cut after clauses or, failing that, anywhere."""
    pieces: list[list[str]] = []
    while len(words) > max_words:
        cut = max_words
        for index in range(max_words, max_words // 2, -1):
            if _CLAUSE_END.search(words[index - 1]):
                cut = index
                break
        pieces.append(words[:cut])
        words = words[cut:]
    return [*pieces, words] if words else pieces
