"""Analysed tokens as the engine holds them: words to search, numbers to place them by."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterable, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

_LONGEST = 100
"""Characters of the longest token that is indexed as it is: the engine's tokenizer cuts at 255."""


def word(token: str) -> str:
    """The indexed form; '#' occurs in no token, so that a stand-in is no other token."""
    return token if len(token) <= _LONGEST else f"#{_digest(token).hex()}"


def words(tokens: Iterable[str]) -> str:
    return " ".join(map(word, tokens))


@lru_cache(maxsize=200_000)
def number(token: str) -> int:
    """64 bits of a hash: two words of a corpus do not share them in practice."""
    return int.from_bytes(_digest(token), "little", signed=True)


def pack(tokens: Sequence[str]) -> str:
    """A passage's tokens in order, eight bytes each, as base64."""
    return base64.b64encode(np.array(list(map(number, tokens)), dtype="<i8").tobytes()).decode()


def unpack(packed: Iterable[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """All passages' tokens, one after another, and how many each has."""
    blobs = [base64.b64decode(text) for text in packed]
    lengths = np.array([len(blob) // 8 for blob in blobs], dtype=np.int64)
    return np.frombuffer(b"".join(blobs), dtype="<i8"), lengths


def _digest(token: str) -> bytes:
    return hashlib.blake2b(token.encode("utf-8", "surrogatepass"), digest_size=8).digest()
