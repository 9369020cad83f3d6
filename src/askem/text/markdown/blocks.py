"""What stands under a heading, as blocks that say where they may be cut."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from textwrap import indent

from markdown_it.tree import SyntaxTreeNode

from askem.text.markdown.inline import html_text, inline_text
from askem.text.sentences import sentence_spans

_MAX_LEAD_CHARS = 400


@dataclass(frozen=True, slots=True)
class Block:
    """A block is cut between its rows only: sentences, items of a list, rows of a table; a code
    fence is one row. `head` stands before the first row, and again before whatever row a further
    part begins with: a table's header, the sentence that leads a list in."""

    rows: tuple[str, ...]
    joiner: str = "\n"
    head: str = ""

    @property
    def text(self) -> str:
        return self.cut(0, len(self.rows))

    def cut(self, begin: int, end: int) -> str:
        """The rows from `begin` to before `end`, under the head."""
        return self.head + self.joiner.join(self.rows[begin:end])


def blocks_of(nodes: list[SyntaxTreeNode]) -> list[Block]:
    """The blocks of neighbouring nodes, those that a sentence with a colon leads in under it."""
    found: list[Block] = []
    for block in [block for node in nodes for block in _blocks(node)]:
        lead = ""
        if found and _is_prose(found[-1]) and not _is_prose(block):
            found[-1:], lead = _lead_in(found[-1])
        found.append(replace(block, head=f"{lead}\n\n{block.head}") if lead else block)
    return found


def _blocks(node: SyntaxTreeNode) -> Iterator[Block]:
    match node.type:
        case "paragraph" | "heading":  # a heading within a quotation opens no section
            yield from _prose(inline_text(node.children[0]) if node.children else "")
        case "fence" | "code_block":
            yield Block((_fence(node),))
        case "html_block":
            yield from _prose(html_text(node.content))
        case "table":
            yield _table(node)
        case "bullet_list" | "ordered_list":
            if items := tuple(_items(node)):
                yield Block(items)
        case "hr":
            return
        case _:  # a quotation
            yield from blocks_of(node.children)


def _fence(node: SyntaxTreeNode) -> str:
    """A code block between marks that its content cannot close."""
    longest = max(map(len, re.findall(r"`+", node.content)), default=0)
    mark = "`" * max(3, longest + 1)
    return f"{mark}{_language(node)}\n{node.content.removesuffix(chr(10))}\n{mark}"


def _language(node: SyntaxTreeNode) -> str:
    info = node.info if node.type == "fence" else ""
    return "" if "`" in info else " ".join(info.split())


def _prose(text: str) -> Iterator[Block]:
    if text:
        yield Block(tuple(text[begin:end] for begin, end in sentence_spans(text)), " ")


def _is_prose(block: Block) -> bool:
    return block.joiner == " "


def _lead_in(block: Block) -> tuple[list[Block], str]:
    """What of a paragraph that ends in a colon stays a paragraph, and what leads in."""
    if not block.text.endswith(":"):
        return [block], ""
    if len(block.text) <= _MAX_LEAD_CHARS:
        return [], block.text
    *before, lead = block.rows
    if not before or len(lead) > _MAX_LEAD_CHARS:
        return [block], ""
    return [replace(block, rows=tuple(before))], lead


def _table(node: SyntaxTreeNode) -> Block:
    header, *rows = [_row(row) for part in node.children for row in part.children]
    columns = "|".join("---" for _ in node.children[0].children[0].children)
    head = f"{header}\n|{columns}|"
    return Block(tuple(rows), head=f"{head}\n") if rows else Block((head,))


def _row(row: SyntaxTreeNode) -> str:
    cells = [inline_text(cell.children[0]) if cell.children else "" for cell in row.children]
    return "| " + " | ".join(cell.replace("|", r"\|") for cell in cells) + " |"


def _items(node: SyntaxTreeNode) -> Iterator[str]:
    number = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
    for item in node.children:
        mark = "-" if number is None else f"{number}."
        number = None if number is None else number + 1
        inner = "\n".join(block.text for block in blocks_of(item.children))
        if inner:
            yield f"{mark} {indent(inner, ' ' * (len(mark) + 1)).lstrip()}"
