"""Symbols that stand for what a question asks for: "the dispersion parameter k", later "k"."""

from __future__ import annotations

import re
from collections.abc import Iterable

from askem.text.analysis import STOP_WORDS, tokens

_WORDS = re.compile(r"(\w{3,}) \(?([^\W\d_][^\W_]?)\b(?!['\u2019.])")


def symbols_of(text: str, asked: Iterable[str]) -> frozenset[str]:
    """Symbols of one or two characters that stand right behind an `asked` term in a text."""
    wanted = set(asked)
    return frozenset(
        symbol
        for word, symbol in _WORDS.findall(text)
        if symbol.lower() not in STOP_WORDS and not wanted.isdisjoint(tokens(word))
    )


def has_symbol(text: str, symbols: Iterable[str]) -> bool:
    """Whether one of the symbols is a word of the text, in the same case."""
    return any(re.search(rf"(?<![\w-]){re.escape(symbol)}(?![\w-])", text) for symbol in symbols)
