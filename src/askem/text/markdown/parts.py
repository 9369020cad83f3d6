"""Cutting a section that is too long for a passage, between blocks where possible."""

from __future__ import annotations

from collections.abc import Iterator

from askem.text.markdown.blocks import Block

MAX_CHARS = 1500
"""Of a part, its heading path apart: some 250 words. Only a single row may be longer: a code block,
an item of a list, a sentence."""


def parts_of(blocks: list[Block], max_chars: int = MAX_CHARS) -> list[str]:
    """The blocks' texts, as few parts as hold them in order."""
    parts: list[str] = []
    current = ""
    for block in blocks:
        for piece in [block.text] if len(block.text) <= max_chars else _pieces(block, max_chars):
            if current and len(current) + len(piece) + 2 > max_chars:
                parts.append(current)
                current = ""
            current = f"{current}\n\n{piece}" if current else piece
    return [*parts, current] if current else parts


def _pieces(block: Block, max_chars: int) -> Iterator[str]:
    """A block that does not fit one part, cut between rows, each piece under the block's head."""
    begin = 0
    for end in range(1, len(block.rows) + 1):
        if end == len(block.rows) or len(block.cut(begin, end + 1)) > max_chars:
            yield block.cut(begin, end)
            begin = end
