"""Preprocessors: the text of a file in, its passages out, by a versioned id.

A preprocessor never changes under its id: what it makes decides the ids of passages in the
stores, so a better algorithm gets a new id.
"""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Protocol

from askem.errors import InvalidInput
from askem.models import DocType
from askem.text.decoding import clean
from askem.text.dehyphenate import build_vocabulary, join_lines
from askem.text.furniture import remove_furniture
from askem.text.layout import unroll_pages
from askem.text.line_numbers import strip_line_numbers
from askem.text.packing import MAX_WORDS, cut_paragraph, pack
from askem.text.paragraphs import Block, Kind, column_blocks
from askem.text.reading_order import restore_order
from askem.text.references import reference_indices
from askem.text.sections import Section
from askem.text.sentences import ends_sentence

_BLANK_LINES = re.compile(r"\n\s*\n|\f")
_MAX_WRAPPED_CHARS = 250  # three columns laid out side by side are about 200 wide
_MAX_FIGURE_WORDS = 400


class Preprocessor(Protocol):
    """A pure function from the text of one file to its passages, in reading order."""

    @property
    def preprocessor_id(self) -> str:
        """The name and version under which passages of this make are stored."""
        ...

    def __call__(self, text: str) -> list[str]:
        """Passages: non-empty, the same for the same text; one line each but for sections, whose
        first line is their heading path. Never raises."""
        ...


class UnknownPreprocessor(LookupError):
    """No preprocessor has this id."""

    def __init__(self, preprocessor_id: str) -> None:
        known = ", ".join(PREPROCESSOR_IDS)
        super().__init__(f"unknown preprocessor {preprocessor_id!r}; known: {known}")
        self.preprocessor_id = preprocessor_id


class _Papers:
    preprocessor_id = "papers-v1"

    def __call__(self, text: str) -> list[str]:
        blocks = paper_blocks(clean(text).text)
        return pack([(block.text, block.kind is Kind.HEADING) for block in blocks])


class _Paragraphs:
    preprocessor_id = "paragraphs-v1"

    def __call__(self, text: str) -> list[str]:
        text = clean(text).text.strip()
        blocks = _BLANK_LINES.split(text)
        parts = blocks if len(blocks) > 1 else text.split("\n")
        return [joined for part in parts if (joined := _one_line(part))]


class _Figures:
    preprocessor_id = "figures-v1"

    def __call__(self, text: str) -> list[str]:
        lines = clean(text).text.replace("\f", "\n").split("\n")
        caption = join_lines(lines, build_vocabulary(lines))
        return cut_paragraph(caption, _MAX_FIGURE_WORDS, MAX_WORDS)


class _Markdown:
    preprocessor_id = "markdown-v1"

    def __call__(self, text: str) -> list[str]:
        return [section.text for section in self.sections(text, "")]

    def sections(self, text: str, fallback_title: str) -> list[Section]:
        # Brings markdown-it with it, which only the extra `markdown` installs.
        from askem.text.markdown import sections_of

        return sections_of(text, fallback_title)


def _one_line(block: str) -> str:
    return " ".join(
        stripped for line in block.replace("\t", " ").split("\n") if (stripped := line.strip())
    )


_PREPROCESSORS: dict[str, Preprocessor] = {
    made.preprocessor_id: made for made in (_Papers(), _Paragraphs(), _Figures(), _Markdown())
}
PREPROCESSOR_IDS: tuple[str, ...] = tuple(_PREPROCESSORS)
_DEFAULTS: dict[DocType, str] = {
    "paragraph": "papers-v1",
    "figure": "figures-v1",
    "section": "markdown-v1",
}


def get_preprocessor(preprocessor_id: str) -> Preprocessor:
    """The preprocessor of that id.

    `papers-v1` mends text torn from PDFs and makes passages of about 100 to 250 words;
    `paragraphs-v1` keeps the paragraphs of the file; `figures-v1` takes a file as one caption;
    `markdown-v1` makes the sections of a handbook's page.

    Raises:
        UnknownPreprocessor: no preprocessor has that id.
    """
    try:
        return _PREPROCESSORS[preprocessor_id]
    except KeyError:
        raise UnknownPreprocessor(preprocessor_id) from None


def chosen_preprocessor(doc_type: DocType, preprocessor_id: str | None = None) -> str:
    """The id asked for, or the default of the type.

    Raises InvalidInput where it does not make passages of that type: sections, which have names,
    come of `markdown-v1` alone, and nothing else does.
    """
    chosen = preprocessor_id or _DEFAULTS[doc_type]
    if (doc_type == "section") != (chosen == _DEFAULTS["section"]):
        raise InvalidInput(
            "preprocessor",
            f"{chosen} makes no passages of doc_type {doc_type}; leave it out for "
            f"{_DEFAULTS[doc_type]}",
        )
    return chosen


def paper_blocks(text: str) -> list[Block]:
    """A paper's paragraphs and headings in reading order, without furniture and references."""
    wrapped = is_wrapped(text)
    pages = [page.split("\n") for page in text.split("\f")]
    if wrapped:
        pages = [strip_line_numbers(page) for page in remove_furniture(pages)]
        pages = unroll_pages(pages)
    vocabulary = build_vocabulary([line for page in pages for line in page])
    blocks: list[Block] = []
    for number, page in enumerate(pages):
        blocks += column_blocks(page, number, vocabulary, wrapped)
    references = reference_indices([block.text for block in blocks], torn=wrapped)
    blocks = [block for index, block in enumerate(blocks) if index not in references]
    return restore_order(blocks, vocabulary) if wrapped else blocks


def is_wrapped(text: str) -> bool:
    """Whether lines were cut to a width: many neighbours stop and go on in mid-sentence."""
    lines = [line.strip() for line in text.replace("\f", "\n\n").split("\n")]
    filled = [line for line in lines if line]
    if len(filled) < 4:
        return False
    lengths = sorted(len(line) for line in filled)
    if lengths[int(0.95 * (len(lengths) - 1))] > _MAX_WRAPPED_CHARS:
        return False
    running = sum(
        bool(line and following) and not ends_sentence(line) for line, following in pairwise(lines)
    )
    return running >= 0.2 * len(filled)
