"""How keys, scopes and expiries are written."""

from __future__ import annotations

import re
import zlib

import pytest

from askem.errors import InvalidInput
from askem.http.keyformat import ID_SLICE, KEY_PATTERN, is_intact, looks_mistyped, new_key
from askem.http.scopes import parse_expiry, parse_scopes

NOON = 1_798_804_800  # 2027-01-01T12:00:00Z
BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


def test_a_key_has_its_documented_form() -> None:
    key_id, key = new_key()
    assert re.fullmatch(KEY_PATTERN, key)
    assert key[ID_SLICE] == key_id
    assert key.startswith(f"askem_{key_id}_")
    assert is_intact(key)
    assert not looks_mistyped(key)
    number = 0
    for digit in key[-6:]:
        number = number * 62 + BASE62.index(digit)
    assert number == zlib.crc32(key[:-6].encode())


def test_no_two_keys_share_anything() -> None:
    made = [new_key() for _ in range(200)]
    assert len({key_id for key_id, _ in made}) == 200
    assert len({key[19:62] for _, key in made}) == 200
    # The first digit of 43 takes 62 values in principle; a short secret would leave it "0".
    assert len({key[19] for _, key in made}) > 10


@pytest.mark.parametrize("place", [6, 17, 19, 40, 61, 62, 67])
def test_a_wrong_character_is_a_typo(place: int) -> None:
    _, key = new_key()
    other = "b" if key[place] != "b" else "c"
    assert not is_intact(key[:place] + other + key[place + 1 :])
    assert looks_mistyped(key[:place] + other + key[place + 1 :])


def test_what_is_no_key_of_this_form_is_no_typo_of_one() -> None:
    _, key = new_key()
    assert looks_mistyped(key[:-1])
    assert looks_mistyped(key + "x")
    for other in ("", "my-own-key-0123456789", "askem_" + "x-_" * 14 + "y", key.upper()):
        assert not is_intact(other)
        assert not looks_mistyped(other)


def test_scopes() -> None:
    assert parse_scopes("write, read,read") == ("read", "write")
    for text, message in (("", "one or more"), ("read,admin", "'admin'"), ("READ", "'READ'")):
        with pytest.raises(InvalidInput, match=message):
            parse_scopes(text)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("12h", NOON + 12 * 3600),
        ("90d", NOON + 90 * 86_400),
        ("2027-01-01", NOON + 12 * 3600),
        ("2027-01-31", NOON + 12 * 3600 + 30 * 86_400),
        ("2028-02-29", NOON + 12 * 3600 + 424 * 86_400),
    ],
)
def test_an_expiry(text: str, end: int) -> None:
    assert parse_expiry(text, NOON + 0.5) == end


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("2026-12-31", "in the past"),
        ("0001-01-01", "in the past"),
        ("0d", "in the past"),
        ("2027-02-29", "no day"),
        ("0000-01-01", "no day"),
        ("9999-12-31", "100 years"),
        ("999999999d", "100 years"),
        ("20270131", "90d"),
        ("2027-1-31", "90d"),
        ("-5d", "90d"),
        ("90", "90d"),
        ("1.5h", "90d"),
        ("90d ", "90d"),
        ("٩d", "90d"),
        ("", "90d"),
    ],
)
def test_an_expiry_that_cannot_be(text: str, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        parse_expiry(text, NOON)
