"""Bytes or untrusted strings to clean text, with a count of what had to be repaired."""

from __future__ import annotations

import codecs
import re
import unicodedata
from collections import Counter
from dataclasses import dataclass, field

_BOMS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),  # before UTF-16 LE, whose mark it begins with
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_LIGATURES = {
    0xFB00: "ff",
    0xFB01: "fi",
    0xFB02: "fl",
    0xFB03: "ffi",
    0xFB04: "ffl",
    0xFB05: "st",
    0xFB06: "st",
}
_PAIR = re.compile("([\ud800-\udbff])([\udc00-\udfff])")
_SURROGATE = re.compile("[\ud800-\udfff]")
# Not \t \n \f; NUL apart, since it alone breaks stores that use C strings.
_CONTROL = re.compile("[\x01-\x08\x0b\x0e-\x1f\x7f-\x84\x86-\x9f]")
_LINE_BREAK = re.compile("\r\n|\r|\x85|\u2028|\u2029")
# Zero-width and bidi marks, joiners, annotation and tag characters; not U+00AD.
_INVISIBLE = re.compile(
    "[\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
_LIGATURE = re.compile("[\ufb00-\ufb06]")
_REPAIRABLE = re.compile(
    "[\x00-\x08\x0b\x0d-\x1f\x7f-\x9f\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f"
    "\ud800-\udfff\ufb00-\ufb06\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)


@dataclass(frozen=True, slots=True)
class Decoded:
    """Clean text and how it was reached.

    Attributes:
        text: NFC text: no NUL, surrogates, control characters other than newline, tab
            and form feed, zero-width or bidi characters; ligatures spelled out.
        encoding: the codec that read the bytes ("utf-8", "utf-16-le", "cp1252", ...), or
            "str" for text that was never bytes.
        repairs: kind of repair to number of characters repaired; no zero counts. Kinds:
            "nul", "control", "lone_surrogate", "zero_width_or_bidi", "ligature",
            "latin1" (bytes above 127 read as cp1252 or Latin-1) and "undecodable".
    """

    text: str
    encoding: str
    repairs: dict[str, int] = field(default_factory=dict)


def decode(data: bytes) -> Decoded:
    """Decode a text file of unknown encoding; never raises.

    A byte order mark wins; then UTF-8, where encoded surrogates (CESU-8, WTF-8) are repaired
    one by one; anything else is read as cp1252, its five undefined bytes as Latin-1.
    """
    repairs: Counter[str] = Counter()
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            text = _read_marked(data[len(mark) :], encoding, repairs)
            return Decoded(_clean(text, repairs), encoding, dict(repairs))
    try:
        text, encoding = data.decode("utf-8", "surrogatepass"), "utf-8"
    except UnicodeDecodeError:
        text, encoding = _read_legacy(data, repairs), "cp1252"
    return Decoded(_clean(text, repairs), encoding, dict(repairs))


def clean(text: str) -> Decoded:
    """Repair text that is already a string, such as a JSON body; never raises."""
    repairs: Counter[str] = Counter()
    return Decoded(_clean(text, repairs), "str", dict(repairs))


def _read_marked(data: bytes, encoding: str, repairs: Counter[str]) -> str:
    try:
        return data.decode(encoding, "surrogatepass")
    except UnicodeDecodeError:
        text = data.decode(encoding, "replace")
        repairs["undecodable"] += text.count("\ufffd")
        return text


def _read_legacy(data: bytes, repairs: Counter[str]) -> str:
    repairs["latin1"] += sum(byte > 127 for byte in data)
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return "".join(bytes((byte,)).decode("cp1252", "ignore") or chr(byte) for byte in data)


def _clean(text: str, repairs: Counter[str]) -> str:
    if text.isascii() and not _REPAIRABLE.search(text):
        return text
    if _REPAIRABLE.search(text):
        text = _PAIR.sub(_join_pair, _LINE_BREAK.sub("\n", text))
        for kind, pattern, replacement in (
            ("nul", re.compile("\x00"), ""),
            ("control", _CONTROL, ""),
            ("lone_surrogate", _SURROGATE, "\ufffd"),
            ("zero_width_or_bidi", _INVISIBLE, ""),
        ):
            text, count = pattern.subn(replacement, text)
            if count:
                repairs[kind] += count
        ligatures = len(_LIGATURE.findall(text))
        if ligatures:
            repairs["ligature"] += ligatures
            text = text.translate(_LIGATURES)
    return unicodedata.normalize("NFC", text)


def _join_pair(match: re.Match[str]) -> str:
    """Two surrogates in their right order are one character that CESU-8 wrote as two."""
    high, low = (ord(half) for half in match.groups())
    return chr(0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00))
