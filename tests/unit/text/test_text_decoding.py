"""Bytes to clean text, each repair counted."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askem.text.decoding import clean, decode


@pytest.mark.parametrize(
    ("data", "text", "encoding"),
    [
        ("na\u00efve \u00b5g".encode(), "na\u00efve \u00b5g", "utf-8"),
        (b"\xef\xbb\xbfmussel", "mussel", "utf-8"),
        ("\ufeffma\u00df".encode("utf-16-le"), "ma\u00df", "utf-16-le"),
        ("\ufeffma\u00df".encode("utf-16-be"), "ma\u00df", "utf-16-be"),
        (b"", "", "utf-8"),
    ],
)
def test_unicode_encodings(data: bytes, text: str, encoding: str) -> None:
    decoded = decode(data)
    assert (decoded.text, decoded.encoding, decoded.repairs) == (text, encoding, {})


def test_other_bytes_are_read_as_cp1252_and_counted() -> None:
    decoded = decode(b"caf\xe9 \x93quoted\x94")
    assert decoded.text == "caf\u00e9 \u201cquoted\u201d"
    assert decoded.encoding == "cp1252"
    assert decoded.repairs == {"latin1": 3}


def test_the_bytes_cp1252_lacks_do_not_raise() -> None:
    decoded = decode(b"a\xe9\x81\x8d\x8f\x90\x9dz")
    assert decoded.text == "a\u00e9z"
    assert decoded.repairs == {"latin1": 6, "control": 5}


def test_an_encoded_surrogate_is_repaired_without_giving_up_utf8() -> None:
    decoded = decode("\u00b5g ".encode() + b"\xed\xa0\x80" + " \u03b2".encode())
    assert decoded.text == "\u00b5g \ufffd \u03b2"
    assert decoded.encoding == "utf-8"
    assert decoded.repairs == {"lone_surrogate": 1}


def test_an_encoded_surrogate_pair_is_the_character_it_stood_for() -> None:
    assert decode(b"\xed\xa0\xb5\xed\xb1\x80").text == "\U0001d440"


def test_a_truncated_utf16_file_keeps_what_can_be_read() -> None:
    decoded = decode("\ufeffab".encode("utf-16-le") + b"c")
    assert decoded.text == "ab\ufffd"
    assert decoded.repairs == {"undecodable": 1}


@pytest.mark.parametrize(
    ("text", "repaired", "kind"),
    [
        ("a\x00b", "ab", "nul"),
        ("a\x07b\x1bc", "abc", "control"),
        ("x\ud835", "x\ufffd", "lone_surrogate"),
        ("in\u200bvisible \u202eright", "invisible right", "zero_width_or_bidi"),
        ("e\ufb03cient \ufb01lter", "efficient filter", "ligature"),
    ],
)
def test_each_repair_is_counted_by_kind(text: str, repaired: str, kind: str) -> None:
    decoded = clean(text)
    assert decoded.text == repaired
    assert list(decoded.repairs) == [kind]


def test_line_ends_become_newlines() -> None:
    assert clean("a\r\nb\rc\u2028d\te\ff").text == "a\nb\nc\nd\te\ff"


def test_signs_with_a_meaning_of_their_own_are_kept() -> None:
    text = "10\u00b2 \u00b5m, co\u00ad\nop, H\u2082O"
    assert clean(text).text == text


def test_letters_are_composed() -> None:
    assert clean("o\u0308l").text == "\u00f6l"


@given(st.binary(max_size=300))
def test_any_bytes_decode_to_clean_text(data: bytes) -> None:
    assert_clean(decode(data).text)


@given(st.text(st.characters(), max_size=200))
def test_any_text_is_cleaned_and_cleaning_again_changes_nothing(text: str) -> None:
    cleaned = clean(text).text
    assert_clean(cleaned)
    assert clean(cleaned).text == cleaned


def assert_clean(text: str) -> None:
    for char in text:
        assert char in "\n\t\f" or unicodedata.category(char) not in {"Cc", "Cs"}
        assert char not in "\u200b\u200e\u202e\u2066\ufeff\ufb01"
    assert unicodedata.is_normalized("NFC", text)
