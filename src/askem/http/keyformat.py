"""The written form of a key: `askem_<id>_<secret><checksum>`, 68 characters.

- id: 12 of a-z and 2-7 (60 random bits). Public: lists and logs name a key by it.
- secret: 43 base62 digits, 256 random bits.
- checksum: CRC-32 of everything before it, 6 base62 digits. It guards nothing: it tells a typo
  from a key nobody knows, and lets scanners for leaked secrets recognise a key without asking.
"""

from __future__ import annotations

import re
import secrets
import zlib

KEY_PATTERN = r"askem_[a-z2-7]{12}_[0-9A-Za-z]{49}"
"""Every key matches; scanners may put word boundaries around it."""
ID_PATTERN = r"[a-z2-7]{12}"
PREFIX = "askem_"
ID_SLICE = slice(len(PREFIX), len(PREFIX) + 12)
"""Where the id stands in a key."""

_BASE32 = "abcdefghijklmnopqrstuvwxyz234567"
_BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_SECRET_BITS, _SECRET_DIGITS, _CHECKSUM_DIGITS = 256, 43, 6


def new_key() -> tuple[str, str]:
    """(id, key), from the system's source of randomness."""
    key_id = "".join(secrets.choice(_BASE32) for _ in range(12))
    secret = _base62(secrets.randbits(_SECRET_BITS), _SECRET_DIGITS)
    body = f"{PREFIX}{key_id}_{secret}"
    return key_id, body + _checksum(body)


def is_intact(key: str) -> bool:
    """Whether `key` has the form and the checksum of a key; says nothing about who knows it."""
    if not re.fullmatch(KEY_PATTERN, key):
        return False
    return key.endswith(_checksum(key[:-_CHECKSUM_DIGITS]))


def looks_mistyped(key: str) -> bool:
    """Whether `key` was meant to have this form (its beginning does), and has not."""
    return bool(re.match(rf"askem_{ID_PATTERN}_", key)) and not is_intact(key)


def _checksum(body: str) -> str:
    return _base62(zlib.crc32(body.encode()), _CHECKSUM_DIGITS)


def _base62(number: int, digits: int) -> str:
    """`number` in base 62, the highest digit first, filled up with zeros to `digits`."""
    out = []
    for _ in range(digits):
        number, digit = divmod(number, 62)
        out.append(_BASE62[digit])
    return "".join(reversed(out))
