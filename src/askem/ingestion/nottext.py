"""Telling files that are no text, or text of an encoding nobody declared, from papers."""

from __future__ import annotations

from askem.text.decoding import Decoded

_MAX_CONTROL_SHARE = 0.02
_MAX_FOREIGN_SHARE = 0.3
"""Western languages in Windows-1252 have some 5 % of letters beyond ASCII, at most 15 %; text of
other scripts that is read as Windows-1252 is made of little else."""

_MAGIC = {
    b"%PDF": "a PDF; take its text out first, for example with pdftotext -layout",
    b"PK\x03\x04": "a ZIP archive or an office document, not text",
    b"\xd0\xcf\x11\xe0": "an office document, not text",
    b"\x1f\x8b": "a gzip file, not text",
}


def not_text(data: bytes, decoded: Decoded) -> str | None:
    """Why the bytes are no text of a paper; None where they may be."""
    for magic, what in _MAGIC.items():
        if data.startswith(magic):
            return what
    length = max(len(decoded.text), 1)
    if "latin1" in decoded.repairs:
        foreign = sum(not character.isascii() for character in decoded.text)
        if foreign > _MAX_FOREIGN_SHARE * length:
            return "not text, or neither UTF-8, UTF-16 with a mark nor Windows-1252: convert it"
    nul = decoded.repairs.get("nul", 0)
    if nul > _MAX_CONTROL_SHARE * (length + nul):
        return (
            f"not text, or UTF-16 or UTF-32 without a mark: {nul:,} NUL characters; convert it to "
            "UTF-8"
        )
    stray = sum(decoded.repairs.get(kind, 0) for kind in ("control", "undecodable"))
    if stray > _MAX_CONTROL_SHARE * length:
        return f"not text: {stray:,} control or undecodable characters"
    return None
