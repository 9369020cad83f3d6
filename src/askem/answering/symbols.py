"""Symbols that stand for what a question asks for: "the dispersion parameter k", later "k"."""

from __future__ import annotations

import re
from collections.abc import Collection

from askem.text.analysis import STOP_WORDS, tokens

_NAMED = re.compile(r"((?:[\w-]{3,} ){1,4})\(?([^\W\d_][^\W_]?)\b(?!['\u2019.])")


def meant_by_symbols(text: str, passage: str, asked: Collection[str]) -> frozenset[str]:
    """The `asked` terms that stand right before a symbol of one or two characters somewhere in
    the passage, where the text has the symbol."""
    meant: set[str] = set()
    for words, symbol in _NAMED.findall(passage):
        *_, last = words.split()
        named = any(term in asked for term in tokens(last)) and symbol.lower() not in STOP_WORDS
        if named and re.search(rf"(?<![\w-]){symbol}(?![\w-])", text):
            meant.update(term for term in tokens(words) if term in asked)
    return frozenset(meant)
