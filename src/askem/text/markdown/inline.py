"""What a reader sees of a line: markup off, links and images as their text."""

from __future__ import annotations

import html
import re

from markdown_it.tree import SyntaxTreeNode

# A comment that nothing closes runs on to the end, as browsers have it.
_COMMENT = re.compile(r"<!--.*?(?:-->|\Z)|<[?!].*?>", re.DOTALL)
_UNSEEN = re.compile(r"<(script|style)\b.*?(?:</\1\s*>|\Z)", re.DOTALL | re.IGNORECASE)
_TAG = re.compile(r"</?[A-Za-z][^<>]*>")
_BREAKS = ("softbreak", "hardbreak")


def inline_text(node: SyntaxTreeNode) -> str:
    """The text of a block's inline content, unwrapped to one line."""
    return " ".join(_text(node).split())


def html_text(content: str) -> str:
    """The text of a block of HTML: without comments, tags, scripts and styles."""
    content = _UNSEEN.sub(" ", _COMMENT.sub(" ", content))
    return " ".join(html.unescape(_TAG.sub(" ", content)).split())


def _text(node: SyntaxTreeNode) -> str:
    if node.type in _BREAKS:
        return " "
    if node.type == "html_inline":
        # A comment or a tag; `<br>` parts words, `<b>` does not.
        return " " if re.match(r"</?(?:br|p|div|li|td|tr)\b", node.content, re.IGNORECASE) else ""
    if node.children:
        return "".join(map(_text, node.children))
    return node.content
