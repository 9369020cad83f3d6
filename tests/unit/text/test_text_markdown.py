"""Pages to sections: paths, names, and what is never cut or lost."""

from __future__ import annotations

import re
from collections import Counter
from html.parser import HTMLParser
from textwrap import dedent

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from askem.models import SourceKey
from askem.text.decoding import clean
from askem.text.markdown import sections_of
from askem.text.markdown.blocks import Block
from askem.text.markdown.front_matter import split_front_matter
from askem.text.markdown.parts import MAX_CHARS, parts_of


def made(text: str, title: str = "") -> dict[str, str]:
    """Anchor to text; the text given may be indented."""
    sections = sections_of(dedent(text), title)
    found = {section.anchor: section.text for section in sections}
    assert len(found) == len(sections)
    return found


def body(text: str) -> str:
    """What one section holds under its path."""
    (found,) = sections_of(f"# T\n\n{text}")
    return found.text.removeprefix("T\n\n")


def test_the_path_of_headings_stands_first_on_a_line_of_its_own() -> None:
    page = """\
        # Runbook: settlement stall

        Intro.

        ## Recovery

        ### Steps

        Do this.

        ## Afterwards

        Write it down.
        """
    assert made(page) == {
        "runbook-settlement-stall": "Runbook: settlement stall\n\nIntro.",
        "recovery--steps": "Runbook: settlement stall > Recovery > Steps\n\nDo this.",
        "afterwards": "Runbook: settlement stall > Afterwards\n\nWrite it down.",
    }


def test_setext_headings_open_sections_and_headings_within_fences_do_not() -> None:
    page = "Title\n=====\n\nPart\n----\n\n```\n# no heading\n```\n"
    assert made(page) == {"part": "Title > Part\n\n```\n# no heading\n```"}


@pytest.mark.parametrize(
    ("page", "path"),
    [
        ("---\ntitle: Front\n---\n## A\n\nx", "Front > A"),
        ("---\ntitle: Front\n---\n# Head\n\n## A\n\nx", "Front > Head > A"),
        ("---\ntitle: error codes\n---\n# Error-codes\n\n## A\n\nx", "Error-codes > A"),
        ("## A\n\nx", "file > A"),
        ("# One\n\n# A\n\nx", "file > A"),
        ("x", "file"),
    ],
)
def test_where_the_title_comes_from(page: str, path: str) -> None:
    assert list(made(page, "file").values())[-1] == f"{path}\n\nx"


def test_what_is_no_front_matter_stays_in_the_page() -> None:
    for text in (
        "---\n: [\n---\nx",
        "---\njust words\n---\nx",
        "---\nno end",
        "a\n---\nb: c\n---\n",
    ):
        assert split_front_matter(text) == ({}, text)
    assert split_front_matter("---\n---\nx") == ({}, "x")
    assert split_front_matter("---\ntitle: 2024-13-45\n---") == ({"title": "2024-13-45"}, "")


def test_a_heading_over_sections_alone_makes_none() -> None:
    assert list(made("# T\n\n## A\n\n### B\n\nx\n\n## C\n")) == ["a--b", "c"]


def test_equal_headings_are_told_apart_by_their_path_then_by_number() -> None:
    page = "# T\n## A\n### Steps\n1\n## B\n### Steps\n2\n## B\n### Steps\n3"
    assert list(made(page)) == ["a--steps", "b--steps", "b--steps-2"]


@pytest.mark.parametrize("heading", ["P0", "fig-x", "Fig. x"])
def test_no_section_is_named_like_a_paragraph_or_a_figure(heading: str) -> None:
    (anchor,) = made(f"# T\n\n## {heading}\n\nx")
    assert anchor == f"section-{'p0' if heading == 'P0' else 'fig-x'}"


def test_nor_where_a_long_name_was_cut() -> None:
    (anchor,) = made(f"# T\n\n## Config-{'x' * 76}\n\nx")
    assert anchor == f"section-fig-{'x' * 76}"


def test_names_keep_letters_of_any_script_and_fit_the_stores() -> None:
    assert list(made("# T\n\n## Überblick & 概要\n\nx")) == ["überblick-概要"]
    (anchor,) = made(f"# T\n\n## {'概' * 300}\n\nx")
    assert len(SourceKey("a" * 128, "section").passage_id(0, f"{anchor}.99").encode()) <= 512


def test_a_heading_too_long_for_a_path_stands_in_full_under_it() -> None:
    heading = "word " * 40 + "end"
    (text,) = made(f"# T\n\n## {heading}\n\nx").values()
    path, full, rest = text.split("\n\n")
    assert path.endswith(" …")
    assert len(path) < 140
    assert (full, rest) == (heading, "x")


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("One\nline *wrapped*\nover `three`.", "One line wrapped over three."),
        (
            "See [the runbook](x.md) and <https://a.example>.",
            "See the runbook and https://a.example.",
        ),
        ("![The *plan*](plan.png)", "The plan"),
        ("a <!-- secret --> b", "a b"),
        ("<!--\nsecret\n-->\n\nx", "x"),
        ("<details><summary>More</summary>\n\nx\n\n</details>", "More\n\nx"),
        ("> A quote\n> goes on.", "A quote goes on."),
        ("a &amp; b\\\nc", "a & b c"),
        ("    code\n      more", "```\ncode\n  more\n```"),
        ("~~~sh\n```\n~~~", "````sh\n```\n````"),
        ("|A|B|\n|-|-|\n|1|x \\| y|", "| A | B |\n|---|---|\n| 1 | x \\| y |"),
        ("Do:\n\n3. one\n   - deep\n4. two", "Do:\n\n3. one\n   - deep\n4. two"),
        ("- Run:\n\n  ```\n  go\n\n  on\n  ```", "- Run:\n\n  ```\n  go\n\n  on\n  ```"),
    ],
)
def test_what_a_reader_sees_remains(page: str, text: str) -> None:
    assert body(page) == text


def test_long_sections_are_cut_between_blocks_and_the_parts_numbered() -> None:
    paragraphs = [f"{name} " + "word " * 150 + "end." for name in ("One", "Two", "Three")]
    found = made("# T\n\n## A\n\n" + "\n\n".join(paragraphs))
    assert list(found) == ["a", "a.2", "a.3"]
    assert [text.split("\n\n")[1] for text in found.values()] == paragraphs


def test_long_tables_and_lists_are_cut_between_rows_under_their_head() -> None:
    rows = [f"| QM-{n} | {'meaning ' * 5}|" for n in range(1000, 1080)]
    items = [f"- item {n} {'word ' * 8}" for n in range(80)]
    page = "\n".join(["# T", "", "## A", "", "Codes:", "", "|Code|What|", "|-|-|", *rows])
    page = "\n".join([page, "", "## B", "", "All of. These steps:", "", *items])
    for anchor, text in made(page).items():
        lead = "Codes:\n\n| Code | What |\n|---|---|\n| QM-" if anchor[0] == "a" else "These steps:"
        assert text.split("\n\n", 1)[1].removeprefix("All of. ").startswith(lead)
        assert len(text) <= MAX_CHARS + len("T > A\n\n")


def test_a_fence_stays_whole_and_with_its_lead_in() -> None:
    code = "\n".join(f"line {n}" for n in range(1000))
    found = made(f"# T\n\n{'word ' * 290}\n\nRun this:\n\n```\n{code}\n```\n\nAfter.")
    assert f"Run this:\n\n```\n{code}\n```" in list(found.values())[1]


def test_a_block_is_cut_only_where_it_has_to_be() -> None:
    block = Block(("aaaa", "bbbb", "cccc"), head="h:")
    assert parts_of([block], 20) == ["h:aaaa\nbbbb\ncccc"]
    assert parts_of([block], 12) == ["h:aaaa\nbbbb", "h:cccc"]
    assert parts_of([block], 1) == ["h:aaaa", "h:bbbb", "h:cccc"]


@pytest.mark.parametrize("mark", ["> ", "- "])
def test_what_is_nested_too_deep_for_the_parser_stands_as_it_was_written(mark: str) -> None:
    assert body(f"{mark * 25}x").endswith("x")
    assert f"```\n{mark * 100}x\n" in body(f"{mark * 100}x")
    assert " ".join(made(f"{mark * 2000}x\n\ny").values()).endswith(("y", "y\n```"))


# Properties

WORDS = st.text("abcdefgh0123QM-", min_size=1, max_size=8).filter(lambda w: w[0].isalnum())
LINE = st.lists(WORDS, min_size=1, max_size=30).map(" ".join)
CODE = st.text("ab#|`-* \n", max_size=60)
BLOCK = st.one_of(
    LINE,
    LINE.map(lambda line: f"{line}:"),
    CODE.map(lambda code: f"~~~\n{code}\n~~~"),
    st.lists(LINE, min_size=1, max_size=30).map(lambda rows: "\n".join(f"- {r}" for r in rows)),
    st.lists(LINE, max_size=30).map(
        lambda r: "\n".join(["|a|b|", "|-|-|", *(f"|{x}|y|" for x in r)])
    ),
    LINE.map(lambda line: f"> {line}"),
)
SECTION = st.tuples(st.integers(2, 4), LINE, st.lists(BLOCK, max_size=5))
MARKS = st.text("#-=*_`~>|[]()!<>&:;\\ \n\tab1.\u00e9\u6982\"'/-+{}\x0c", max_size=300)


def page_of(sections: list[tuple[int, str, list[str]]]) -> str:
    return "\n\n".join(
        "\n\n".join([f"{'#' * level} {heading}", *blocks]) for level, heading, blocks in sections
    )


class _Seen(HTMLParser):
    """The text of a document as a browser shows it."""

    def __init__(self) -> None:
        super().__init__()
        self.text: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self._hidden += tag in ("script", "style")

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        self.text.append("" if self._hidden else data)


def characters(text: str) -> Counter[str]:
    return Counter(character for character in text if character.isalnum())


@settings(max_examples=300, deadline=None)
@given(text=MARKS | st.text(max_size=200))
def test_any_text_is_taken_and_nothing_visible_of_it_is_lost(text: str) -> None:
    sections = sections_of(text)
    assert len({section.anchor for section in sections}) == len(sections)
    assert all(section.text.strip() for section in sections)
    if re.search(r"<[A-Za-z/?!]", text):
        return  # what of broken HTML is seen depends on the browser
    seen = _Seen()
    page = split_front_matter(clean(text).text.lstrip("\n"))[1]
    seen.feed(MarkdownIt("commonmark").enable(["table", "strikethrough"]).render(page))
    seen.close()
    lost = characters("".join(seen.text)) - characters("".join(s.text for s in sections))
    assert not lost


@settings(max_examples=100, deadline=None)
@given(sections=st.lists(SECTION, min_size=1, max_size=5))
def test_no_part_is_too_long_for_a_reason_other_than_one_row(
    sections: list[tuple[int, str, list[str]]],
) -> None:
    for section in sections_of(f"# T\n\n{page_of(sections)}"):
        assert section.text.startswith("T > ")
        assert len(section.text.partition("\n\n")[2]) <= MAX_CHARS


@settings(max_examples=100, deadline=None)
@given(codes=st.lists(CODE, min_size=1, max_size=4), before=LINE, long=st.booleans())
def test_a_fence_is_never_split(codes: list[str], before: str, long: bool) -> None:
    codes = [code * 60 if long else code for code in codes]
    page = "\n\n".join(f"{before}\n\n~~~~\n{code}\n~~~~" for code in codes)
    texts = [section.text for section in sections_of(f"# T\n\n{page}")]
    for code in codes:
        assert sum(f"\n{code}\n```" in text for text in texts) >= 1


@settings(max_examples=100, deadline=None)
@given(
    sections=st.lists(SECTION, min_size=2, max_size=5, unique_by=lambda s: s[1]),
    new=st.lists(BLOCK, max_size=5),
    heading=LINE.map(lambda line: f"{line} renamed"),
    data=st.data(),
)
def test_names_do_not_change_with_another_section(
    sections: list[tuple[int, str, list[str]]], new: list[str], heading: str, data: st.DataObject
) -> None:
    """Neither with its text nor, where it is no parent of theirs, with its heading."""
    flat = [(2, title, blocks) for _, title, blocks in sections]
    changed = data.draw(st.integers(0, len(flat) - 1))
    others = [s for i, s in enumerate(flat) if i != changed]
    edited = [*flat[:changed], (2, heading, new), *flat[changed + 1 :]]
    for page in (flat, edited):
        found = {s.anchor: s.text for s in sections_of(f"# T\n\n{page_of(page)}")}
        for other in others:
            alone = sections_of(f"# T\n\n{page_of([other])}")
            assert {s.anchor: s.text for s in alone}.items() <= found.items()
