"""No answer does anything in a renderer of markdown, with HTML and links of bare addresses on."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest
from markdown_it import MarkdownIt

from askem_agent.composing import compose
from askem_agent.inert import addresses, inert

HOSTILE = [
    "<img src=//evil.example>",
    "<script src=//e.x></script>",
    "<script>alert(1)</script>",
    "<ScRiPt\n>alert(1)</ScRiPt >",
    "<svg/onload=alert(1)>",
    "<iframe srcdoc='<script>alert(1)</script>'></iframe>",
    "<a href='javascript:alert(1)'>a</a>",
    "<p onclick=alert(1)>a</p>",
    "<!-- a --><b>x</b>",
    "<?php a ?>",
    "<![CDATA[ <img src=x> ]]>",
    "<https://evil.example/>",
    "<evil@evil.example>",
    "<5@evil.example>",
    "<javascript:alert(1)>",
    "![a](<http://evil.example/ (>)",
    "![\n](http://evil.example/x)",
    "[a](\nhttp://evil.example/x)",
    "[a [b]](http://evil.example/x)",
    "[a](http://evil.example/ 'title')",
    "![a][b]\n\n[b]: http://evil.example/x",
    "[b]\n\n[b]: <http://evil.example/x>",
    "[1]: http://evil.example/x",
    "[a][1](http://evil.example/x)",
    "[![a](http://evil.example/a)](http://evil.example/b)",
    "https://evil.example/login",
    "http://127.0.0.1/login",
    "//evil.example/x",
    "www.evil.example",
    "evil.example",
    "mail evil@evil.example or mailto:evil@host",
    "https&#58;//evil.example &lt;img src=x&gt;",
    "`a` \\<img src=x onerror=alert(1)\\>",
    "a <\nimg src=x onerror=alert(1)>",
    "[[evil]] ![[evil.png]]",
]
_HARMLESS = {"p", "blockquote", "ul", "ol", "li", "em", "strong", "code", "hr", "br", "pre"}


class _Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: set[str] = set()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.update({tag, *(name for name, _ in attrs)})


def tags(markdown: str) -> set[str]:
    """Tags and attributes of what is rendered."""
    parser = _Tags()
    parser.feed(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))
    return parser.found


@pytest.mark.parametrize("hostile", HOSTILE)
@pytest.mark.parametrize("around", ["{}", "- {}", "It is stable {} in rabbits"])
def test_nothing_hostile_is_rendered(notebook_of: Any, hostile: str, around: str) -> None:
    text = around.format(hostile)
    for written in (f"{text} [1].", f"{text} [1]", f"{text} [9]."):
        composed = compose(written, notebook_of([text]), unsupported="mark")
        assert tags(composed.text) <= _HARMLESS, composed.text
        assert not addresses(composed.text)
        assert not re.search(r"\w\.(?:example|png)", composed.text), composed.text
    assert tags(inert(text)) <= _HARMLESS


def test_the_inputs_are_hostile() -> None:
    """Most of them do something in the renderer as they are."""
    active = [text for text in HOSTILE if tags(text) & {"img", "a", "script", "svg", "iframe", "p"}]
    assert len(active) >= 30
    assert sum(bool(tags(text) - _HARMLESS) for text in HOSTILE) >= 15


@pytest.mark.parametrize(
    "text",
    [
        "It fell by 12 % (p <0.05, n = 40), and p < .01 in the others.",
        "Of [18F]FDG 5 mg/kg were given [see below]; e.g. the ratio was 1:2.",
        "The DOI is 10.1000/182. IL-6 and TNF-a rose, i.e. doubled: see Fig. 2.",
        "a <= b, and x<5%",
    ],
)
def test_what_papers_write_stays(text: str) -> None:
    assert inert(text) == text
