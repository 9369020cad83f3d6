"""The check of a sentence against its passages: every rule, both ways."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from askem.answering.models import CheckedSentence, Source
from askem.answering.support import check
from askem.answering.weights import idf_over
from askem.text.sentences import sentence_spans

TRIAL = (
    "We treated 1,000 adults with COVID-19 in Wuhan. Remdesivir reduced mortality by 12 % within "
    "5\u20137 days at 1.5 \u00b5g/mL. No difference in viral load was seen for lopinavir. The drug "
    "was ineffective in children. Levels of IL-6 and TNF-\u03b1 increased twenty-five days after "
    "severe infection. Costs were 1.2 million dollars on 5 March 2020."
)
ZINC = "Zinc shortened fever by two days in elderly outpatients."


def source(text: str, key: str = "p1") -> Source:
    return Source(key, key, text, 1.0, None)


def checked(sentence: str, *texts: str) -> CheckedSentence:
    texts = texts or (TRIAL,)
    sources = [source(text, f"p{number}") for number, text in enumerate(texts, 1)]
    return check(sentence, sources)


@pytest.mark.parametrize(
    "sentence",
    [
        "Remdesivir reduced mortality by 12% within 5-7 days at 1.5 \u03bcg/mL.",
        "Mortality was reduced by twelve percent with remdesivir.",
        "We treated 1000 adults with COVID-19 in Wuhan.",
        "We treated 1\u202f000 adults with COVID19 in Wuhan.",
        "There was no difference in viral load for lopinavir.",
        "Viral load did not differ for lopinavir.",
        "The drug was not effective in children.",
        "Levels of IL6 and TNF-alpha increased 25 days after severe infection.",
        "Costs were 1,200,000 dollars on 2020-03-05.",
        "Costs were 1.20 million dollars on March 5th, 2020.",
    ],
)
def test_another_writing_of_the_same_is_found(sentence):
    result = checked(sentence)
    assert (result.verdict, result.missing) == ("found in source", ())


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("Remdesivir reduced mortality by 13 % within days.", "13 % is not in the passage"),
        ("We treated 10,000 adults with COVID-19.", "10,000 is not in the passage"),
        ("Costs were 1.2 billion dollars in March 2020.", "1.2 billion is not in the passage"),
        ("Remdesivir did not reduce mortality.", 'the passage does not negate "reduce"'),
        (
            "A difference in viral load was seen for lopinavir.",
            'the passage negates "difference", the sentence does not',
        ),
        (
            "The drug was effective in children.",
            'the passage says "ineffective", the sentence "effective"',
        ),
        (
            "Remdesivir increased mortality within days.",
            'the passage says "reduced", the sentence "increased"',
        ),
        (
            "Levels of IL-6 increased days before severe infection.",
            'the passage says "after", the sentence "before"',
        ),
    ],
)
def test_a_wrong_number_negation_or_direction_is_not_found(sentence, words):
    result = checked(sentence)
    assert result.verdict == "not found"
    assert words in result.missing


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        (
            "We treated 1,000 adults with COVID-19 in Milan.",
            'the name "Milan" is not in the passage',
        ),
        (
            "Levels of IL-8 and TNF-\u03b1 increased after severe infection.",
            'the name "IL-8" is not in the passage',
        ),
        (
            "Remdesivir reduced mortality by 1.2 million within days.",
            "1.2 million is in the passage, but not beside the rest of the sentence",
        ),
    ],
)
def test_a_name_or_number_that_is_not_near_is_partly_found(sentence, words):
    result = checked(sentence)
    assert result.verdict == "partly found"
    assert words in result.missing


HALT = "NW-4012 was abandoned after its particles were found to aggregate during thawing"
STUDY = f"{HALT}. NW-4021 is a vaccine that was given to many participants in two doses."


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        (f"{HALT}, which is false.", 'the passage does not say "is false"'),
        (f"Contrary to fact, {HALT}.", 'the passage does not say "Contrary to fact"'),
        (
            HALT.replace("abandoned", "continued"),
            'the passage says "abandoned", the sentence "continued"',
        ),
        (
            HALT.replace("thawing", "freezing"),
            'the passage says "thawing", the sentence "freezing"',
        ),
        (
            HALT.replace("abandoned", "approved").replace("aggregate", "be stable"),
            'the passage says "abandoned", the sentence "approved"',
        ),
    ],
)
def test_a_denial_or_an_opposite_predicate_is_not_found(sentence, words):
    result = checked(sentence, STUDY)
    assert result.verdict == "not found"
    assert words in result.missing


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        (
            f"The drug kills infants, and {HALT}.",
            '"drug", "kills", "infants" are not in the passage',
        ),
        (f"Few believe that {HALT}.", '"Few", "believe" are not in the passage'),
        (
            f"{HALT} and a year.",
            '"year" is not beside the rest of the sentence in the passage',
        ),
        (HALT.replace("was", "was hardly"), 'the passage does not negate "abandoned"'),
        (HALT.replace("was", "was barely"), 'the passage does not negate "abandoned"'),
        (
            HALT.replace("NW-4012", "NW-4021"),
            '"NW-4021" stands in another sentence than the rest, which names "NW-4012"',
        ),
    ],
)
def test_what_a_sentence_adds_to_its_source_is_named(sentence, words):
    text = f"{STUDY} It was well tolerated by all. The trial lasted a year."
    result = checked(sentence, text)
    assert result.verdict == "partly found"
    assert words in result.missing


def test_what_the_passage_calls_a_myth_is_not_plainly_found():
    result = checked("Zinc cures measles.", "It is a myth that zinc cures measles.")
    assert result.verdict == "partly found"
    assert result.missing == ('the passage says "is a myth", the sentence does not',)


@pytest.mark.parametrize(
    "sentence",
    [
        f"The authors report that {HALT}.",
        f"According to the study, {HALT}.",
        f"Therefore {HALT}.",
        "NW-4021 is a vaccine given to many participants in two doses.",
    ],
)
def test_who_says_it_and_how_it_is_joined_on_are_not_missed(sentence):
    assert checked(sentence, STUDY).verdict == "found in source"


def test_a_name_put_before_what_another_sentence_says_of_something_else_is_named():
    text = "NW-5 was abandoned in spring. Some people claim that vaccines kill infants."
    result = checked("NW-5 was abandoned because vaccines kill infants.", text)
    assert result.verdict == "partly found"
    assert '"NW-5" stands in another sentence than the rest' in result.missing


def test_a_name_in_the_heading_goes_with_what_is_under_it():
    text = "# NW-5\n\nDoses keep for six months. Frozen storage made vaccines clump."
    result = checked("Frozen storage made NW-5 vaccines clump, doses keep for six months.", text)
    assert not [words for words in result.missing if "another sentence" in words]


def test_it_in_the_place_of_a_name_is_no_other_name():
    text = "NW-5 is a lipid vaccine of 2020. It clumped into aggregates in frozen storage."
    sentence = "The lipid vaccine NW-5 clumped into aggregates in frozen storage."
    assert not [words for words in checked(sentence, text).missing if "another" in words]


def test_a_number_that_has_moved_inside_the_window_is_partly_found():
    text = (
        "In the first group of treated adults mortality fell by 12 percent during the winter; "
        "in a quite different second cohort of untreated children it rose by 30 percent."
    )
    assert checked("Mortality of treated adults fell by 12 percent.", text).missing == ()
    moved = checked("In the first group mortality of treated adults fell by 30 percent.", text)
    assert (moved.verdict, moved.missing) == (
        "partly found",
        ('"30" stands beside other words in the passage',),
    )


def test_a_rounded_number_is_partly_found():
    result = checked("Mortality was 76 % in adults.", "Mortality was 76.3 % in adults.")
    assert result.verdict == "partly found"
    assert result.missing == ("the passage says 76.3, the sentence 76 %",)


def test_lack_said_in_other_words_is_only_a_doubt():
    result = checked("Lack of zinc in mice causes fever.", "Zinc deficiency causes fever in mice.")
    assert result.verdict == "partly found"


def test_too_little_of_it_is_not_found_and_quotes_nothing():
    result = checked("Volcanoes emit sulphur dioxide over distant islands.")
    assert (result.verdict, result.citations) == ("not found", ())
    assert result.missing[0].startswith("most of it is not in the passage")


def test_half_of_it_is_partly_found_and_says_which_words_are_absent():
    result = checked("Remdesivir reduced mortality within days among pregnant women.")
    assert result.verdict == "partly found"
    assert '"pregnant"' in result.missing[0]


def test_the_quote_is_the_sentence_that_carries_it():
    result = checked("Remdesivir reduced mortality by 12 %.")
    [citation] = result.citations
    assert citation.quote.startswith("Remdesivir reduced")
    assert citation.quote.endswith("mL.")
    assert TRIAL[citation.start : citation.end] == citation.quote


def test_two_passages_may_carry_a_sentence_together():
    sentence = "Remdesivir reduced mortality by 12 %, and zinc shortened fever by 2 days."
    both = checked(sentence, TRIAL, ZINC)
    assert both.verdict == "found in source"
    assert {citation.passage_id for citation in both.citations} == {"p1", "p2"}
    assert checked(sentence, TRIAL).verdict != "found in source"


def test_a_passage_that_carries_nothing_is_no_citation():
    result = checked("Remdesivir reduced mortality by 12 %.", ZINC, TRIAL)
    assert result.verdict == "found in source"
    assert [citation.passage_id for citation in result.citations] == ["p2"]


def test_both_passages_that_carry_a_sentence_are_cited():
    result = checked("Zinc shortened fever by two days.", ZINC, f"Again: {ZINC}", TRIAL)
    assert {citation.passage_id for citation in result.citations} == {"p1", "p2"}


def test_what_is_longer_than_any_sentence_is_not_checked():
    result = checked("Zinc shortened fever " * 200, ZINC, TRIAL)
    assert (result.verdict, result.missing) == ("not found", ("it is too long to be checked",))


def test_no_passage_and_no_words_are_not_found():
    assert check("A fell.", []).missing == ("no passage is cited",)
    assert checked("It is so.").verdict == "not found"
    assert checked("").verdict == "not found"
    assert checked("Zinc helps.", "").verdict == "not found"


SOME = st.one_of(
    st.text(max_size=150),
    st.lists(
        st.sampled_from(
            "Zinc not no never 12 1,000 1.5 % IL-6 IL6 May March twenty-five million increased "
            "decreased \u03b1 TNF-\u03b1 . , ; - \u2013 2020-03-05 ineffective effective Wuhan "
            "10mg \u00b2 \u0661 \u2167 after fever".split()
        ),
        max_size=25,
    ).map(" ".join),
)


@given(SOME, st.lists(SOME, max_size=3))
def test_any_text_can_be_checked_and_quotes_are_slices(sentence, texts):
    sources = [source(text, str(number)) for number, text in enumerate(texts)]
    result = check(sentence, sources, idf_over(texts))
    assert (result.verdict == "found in source") == (result.missing == ())
    for citation in result.citations:
        text = texts[int(citation.passage_id)]
        assert text[citation.start : citation.end] == citation.quote


@given(SOME, st.sampled_from([". ", " ", "\n\n"]), SOME)
def test_a_verbatim_sentence_is_found(before, between, after):
    text = before + between + after
    for start, end in sentence_spans(text):
        result = check(text[start:end], [source(text)])
        assert result.verdict == "found in source"
