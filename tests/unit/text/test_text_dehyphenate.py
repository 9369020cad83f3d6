"""Lines joined, broken words mended by what the document shows."""

from __future__ import annotations

import pytest

from askem.text.dehyphenate import build_vocabulary, join_lines, reopen_joints


def joined(first: str, second: str, *document: str) -> str:
    lines = [*document, first, second]
    return join_lines([first, second], build_vocabulary(lines))


@pytest.mark.parametrize("hyphen", ["-", "\u2010", "\u00ad"])
def test_a_word_the_document_writes_unbroken_is_joined(hyphen: str) -> None:
    assert joined(f"the sedi{hyphen}", "ment sank", "all sediment was dry") == "the sediment sank"


def test_a_compound_the_document_hyphenates_stays_one() -> None:
    assert joined("a well-", "fed eel", "each well-fed animal") == "a well-fed eel"
    assert joined("a snow-", "fed brook", "a snow-fed lake") == "a snow-fed brook"


@pytest.mark.parametrize(
    ("first", "second", "result"),
    [
        ("sudden tem-", "perature drops", "sudden temperature drops"),
        ("the LPS-", "treated eels", "the LPS-treated eels"),
        ("of COVID-", "19 cases", "of COVID-19 cases"),
        ("the t-", "test of", "the t-test of"),
        ("by CD-", "HIT runs", "by CD-HIT runs"),
        ("EXPERI-", "MENTS", "EXPERIMENTS"),
        ("some self-", "made nets", "some self-made nets"),
        ("for pre-", "and post-flood", "for pre- and post-flood"),
        ("mud/", "sand beds", "mud/sand beds"),
        ("from 1998\u2013", "2004 only", "from 1998\u20132004 only"),
        ("see https://a.example/", "for more", "see https://a.example/ for more"),
        ("a plain", "line end", "a plain line end"),
        ("a soft\u00ad", "(hyphen)", "a soft (hyphen)"),
    ],
)
def test_rules_for_words_seen_nowhere_else(first: str, second: str, result: str) -> None:
    assert joined(first, second) == result


def test_an_ending_that_looks_like_a_conjunction_is_joined() -> None:
    assert joined("an inhibit-", "or was", "each inhibitor") == "an inhibitor was"
    assert joined("an inhibit\u00ad", "or was") == "an inhibitor was"


def test_two_words_of_the_document_are_a_compound() -> None:
    document = ("the stream rose", "each stream fell", "mussels filtered it")
    assert joined("the stream-", "filtered mud", *document) == "the stream-filtered mud"


def test_a_second_hyphen_character_shows_which_ones_the_authors_wrote() -> None:
    document = [f"line with a bro\u2010\nken wor\u2010\nd{n}" for n in range(4)]
    lines = [line for text in document for line in text.split("\n")]
    assert joined("sandy gravel-", "bank", *lines) == "sandy gravel-bank"
    assert joined("sandy grav\u2010", "elly", *lines) == "sandy gravelly"


def closing_document() -> list[str]:
    """Sixty lines of an extractor that never leaves a hyphen at a line end."""
    return ["an alder-fed stream and a mussel bed fed by mud"] * 60


def test_compounds_that_an_extractor_closed_up_are_opened_again() -> None:
    vocabulary = build_vocabulary([*closing_document(), "no alderfed pond"])
    assert join_lines(["no Alderfed pond"], vocabulary) == "no Alder-fed pond"


def test_compounds_seen_nowhere_else_are_opened_at_the_joint_of_an_overlong_line() -> None:
    lines = [
        *closing_document(),
        "many an eel could live in a shallow mudfed lake where alder grew",
    ]
    vocabulary = build_vocabulary(lines)
    assert reopen_joints(lines, 47, vocabulary)[-1].split()[8] == "mud-fed"


def test_nothing_is_opened_where_lines_do_end_in_hyphens() -> None:
    lines = [*closing_document(), "some sedi-", "ment", "no alderfed pond"]
    assert join_lines(lines[-1:], build_vocabulary(lines)) == "no alderfed pond"
