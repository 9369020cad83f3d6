"""A page as sections: a heading, the path of headings to it, and what stands under it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache

from markdown_it import MarkdownIt
from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from askem.text.decoding import clean
from askem.text.markdown.anchors import Anchors
from askem.text.markdown.blocks import Block, blocks_of
from askem.text.markdown.front_matter import split_front_matter, title_of
from askem.text.markdown.inline import inline_text
from askem.text.markdown.parts import parts_of
from askem.text.sections import Section

PATH_SEPARATOR = " > "
_MAX_HEADING_CHARS = 120
_MAX_NESTING = 60
"""Of lists and quotations; markdown-it drops what lies deeper."""


@dataclass(slots=True)
class _Open:
    """A heading and what has been read under it."""

    level: int
    headings: tuple[str, ...]
    """The path of headings down to this one."""
    nodes: list[SyntaxTreeNode] = field(default_factory=list)
    has_sections: bool = False


def sections_of(text: str, fallback_title: str = "") -> list[Section]:
    """The sections of a page in order, long ones in parts. Never raises for any text.

    A section's text begins with the path of headings on a line of its own. The path begins with
    the page's title: the front matter's, or the only heading of level 1 where it comes first, or
    both where they differ; where there is neither, `fallback_title`. A heading over nothing but
    other sections makes none of its own.
    """
    fields, body = split_front_matter(clean(text).text.replace("\f", "\n").lstrip("\n"))
    nodes = _parsed(body)
    opened = _opened(nodes)
    named = _title_heading(nodes)
    title = title_of(fields) or (named if named and _only_one(nodes) else fallback_title)
    anchors = Anchors()
    return [section for found in opened for section in _sections(found, title, named, anchors)]


@cache
def _parser() -> MarkdownIt:
    options = {"maxNesting": _MAX_NESTING}
    return MarkdownIt("commonmark", options).enable(["table", "strikethrough"])


def _parsed(body: str) -> list[SyntaxTreeNode]:
    lines = body.split("\n")
    nodes = SyntaxTreeNode(_parser().parse(body)).children
    return [_as_written(node, lines) if _too_deep(node) else node for node in nodes]


def _too_deep(node: SyntaxTreeNode) -> bool:
    return any(inner.level >= _MAX_NESTING - 1 for inner in node.walk())


def _as_written(node: SyntaxTreeNode, lines: list[str]) -> SyntaxTreeNode:
    """A code block of the node's lines, in place of what was dropped."""
    content = "\n".join(lines[slice(*(node.map or ()))])
    return SyntaxTreeNode([Token("fence", "code", 0, content=content)]).children[0]


def _opened(nodes: list[SyntaxTreeNode]) -> list[_Open]:
    found = [_Open(0, ())]
    path: list[_Open] = []
    for node in nodes:
        if node.type != "heading":
            found[-1].nodes.append(node)
            continue
        level = int(node.tag[1:])
        heading = _heading(node)
        path = [above for above in path if above.level < level]
        for above in path:
            # One without words may come to nothing, and the headings above with it.
            above.has_sections = above.has_sections or bool(heading)
        parents = path[-1].headings if path else ()
        path.append(_Open(level, (*parents, heading)))
        found.append(path[-1])
    return found


def _heading(node: SyntaxTreeNode) -> str:
    return inline_text(node.children[0]) if node.children else ""


def _title_heading(nodes: list[SyntaxTreeNode]) -> str | None:
    """The text of the page's first heading where it is of level 1."""
    first = next((node for node in nodes if node.type == "heading"), None)
    return _heading(first) if first is not None and first.tag == "h1" else None


def _only_one(nodes: list[SyntaxTreeNode]) -> bool:
    return sum(node.type == "heading" and node.tag == "h1" for node in nodes) == 1


def _sections(found: _Open, title: str, named: str | None, anchors: Anchors) -> Iterator[Section]:
    headings = found.headings
    # The document's id stands for its title.
    below = headings[1:] if len(headings) > 1 and headings[0] == named else headings
    anchor = anchors.name(below)
    blocks = [*_long_heading(headings), *blocks_of(found.nodes)]
    if not blocks and (found.has_sections or not headings or not headings[-1]):
        return
    path = _path(title, headings)
    for number, part in enumerate(parts_of(blocks) or [""], start=1):
        yield Section(
            text=f"{path}\n\n{part}" if path and part else path or part,
            anchor=anchor if number == 1 else f"{anchor}.{number}",
        )


def _path(title: str, headings: tuple[str, ...]) -> str:
    titles = [title] if title and not (headings and _alike(title, headings[0])) else []
    return PATH_SEPARATOR.join(_shortened(part) for part in (*titles, *headings) if part)


def _alike(title: str, heading: str) -> bool:
    plain = [re.sub(r"\W+", "", text).lower() for text in (title, heading)]
    return plain[0] == plain[1]


def _shortened(heading: str) -> str:
    if len(heading) <= _MAX_HEADING_CHARS:
        return heading
    return heading[:_MAX_HEADING_CHARS].rsplit(" ", 1)[0] + " …"


def _long_heading(headings: tuple[str, ...]) -> list[Block]:
    """A heading that its path cannot hold stands in full under it."""
    long = headings and len(headings[-1]) > _MAX_HEADING_CHARS
    return [Block((headings[-1],), " ")] if long else []
