"""How many tokens a text may have, where the tokeniser is not known."""

from __future__ import annotations

import re
from collections.abc import Iterator

from askem.encoders.windows import Offsets

_LETTERS = 3
_PIECES = re.compile(rf"[A-Za-z]{{1,{_LETTERS}}}|\S")


def estimated_offsets(text: str) -> Offsets:
    """Places of tokens, more of them rather than fewer.

    Three ASCII letters of a word, each other ASCII character but white space, and each byte of
    any other character count as a token. English prose has 4 to 5 letters a token, so this says
    about half as much again as there are; byte-level tokenisers never give a character more
    tokens than it has bytes. Only letters in no language's order (gene sequences, base64) may
    have more tokens than estimated, by up to a half.
    """
    return list(_places(text))


def _places(text: str) -> Iterator[tuple[int, int]]:
    for match in _PIECES.finditer(text):
        start, end = match.span()
        for _ in range(len(match[0].encode("utf-8", "replace")) - 1 if end - start == 1 else 0):
            yield start, start
        yield start, end
