"""Sections: passages with a name of their own within their document."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, runtime_checkable


@dataclass(frozen=True, slots=True)
class Section:
    """A section of a document, or a part of one.

    `text` begins with the path of headings on a line of its own, followed by a blank line;
    `anchor` is unique within the document: `platform-errors`, its parts `platform-errors.2` on.
    """

    text: str
    anchor: str


@runtime_checkable
class SectionPreprocessor(Protocol):
    """A preprocessor whose passages have names. A pure function of its arguments."""

    def sections(self, text: str, fallback_title: str) -> list[Section]:
        """Non-empty texts, unique anchors, in reading order; `fallback_title` names a document
        that has no title. Never raises."""
        ...
