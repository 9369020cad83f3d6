"""Files that are no text of a paper fail and say what they are."""

from __future__ import annotations

import random

import pytest

from askem.ingestion.nottext import not_text
from askem.text.decoding import decode

FRENCH = "L'été, la sévérité de l'épidémie a été réévaluée à l'hôpital où l'équipe opérait. "
PROSE = "The growth of the outbreak slowed after the second week of distancing. "


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"%PDF-1.7\n1 0 obj", "PDF"),
        (b"PK\x03\x04 word/document.xml", "ZIP"),
        (b"\xd0\xcf\x11\xe0 old office", "office"),
        (b"\x1f\x8b\x08 packed", "gzip"),
        (random.Random(1).randbytes(20_000), "not text"),
        (b"abc\x01\x02\x03" * 100, "control"),
        (b"\0" * 1000, "1,000 NUL"),
        (b"abc\0def" * 100, "100 NUL"),
        ((PROSE * 5).encode("utf-16-le"), "UTF-16 or UTF-32 without a mark"),
        ((PROSE * 5).encode("utf-16-be"), "UTF-16 or UTF-32 without a mark"),
        ((FRENCH * 5).encode("utf-32-le"), "UTF-16 or UTF-32 without a mark"),
        (("気候と感染の関係を調べた。" * 50).encode("shift_jis"), "convert it"),
        (("Связь климата и инфекции изучена. " * 50).encode("cp1251"), "convert it"),
    ],
)
def test_what_is_no_text_is_named(data: bytes, said: str) -> None:
    problem = not_text(data, decode(data))
    assert problem is not None
    assert said in problem


@pytest.mark.parametrize(
    "data",
    [
        b"",
        PROSE.encode(),
        (FRENCH * 20).encode("cp1252"),
        ("気候と感染の関係を調べた。" * 50).encode(),
        ("\ufeff" + PROSE).encode("utf-16"),
        ("\ufeff" + FRENCH).encode("utf-32-be"),
        (PROSE * 3 + "\x00\x0b" + PROSE * 3).encode(),
        b"\xed\xa0\x80 " + PROSE.encode() * 5,
    ],
)
def test_what_may_be_text_passes(data: bytes) -> None:
    assert not_text(data, decode(data)) is None
