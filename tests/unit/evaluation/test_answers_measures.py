"""What one answer is worth, by hand."""

from __future__ import annotations

from typing import Any

import pytest

from askem.evaluation.answers.client import Answer
from askem.evaluation.answers.measures import NAMES, mean, measure
from askem.evaluation.gold import GoldIds
from askem.evaluation.sets import Gold, LabelledQuestion

TEXTS = {"a#p0": "It rained. The bridge fell in 1902.", "b#p0": "Cork is light. It floats in 1902."}
QUOTED = LabelledQuestion(
    id="q",
    question="When did the bridge fall?",
    answer="In 1902.",
    gold=(Gold(paper_id="a", quote="bridge fell in 1902"),),
)
GOLD: GoldIds = {"q": (frozenset({"a#p0"}),)}


def answer(*cited: tuple[str, str, str], refused: bool = False) -> Answer:
    """Of (passage id, quote, verdict), a sentence each."""
    docs = [
        {
            "paper_id": i.partition("#")[0],
            "doc_type": "paragraph",
            "text": TEXTS[i],
            "cosmos_object_id": None,
            "paragraph_terms": [],
            "passage_id": i,
            "topics": [],
            "preprocessor_id": "paragraphs-v1",
            "order": 0,
            "distance": 0.1,
            "score": 1.5,
        }
        for i in dict.fromkeys(i for i, _, _ in cited)
    ]
    sentences = [{"text": q, "citations": [_cite(i, q)], "verdict": v} for i, q, v in cited]
    return Answer.model_validate(
        {
            "answer": "",
            "used_docs": docs,
            "sentences": sentences,
            "refused": refused,
            "reason": None,
            "found_instead": [],
            "confidence": None if refused else "low",
            "stopped": None,
            "steps": [],
            "usage": {},
            "timings": {},
            "model": "extractive",
        }
    )


def _cite(passage_id: str, quote: str) -> dict[str, Any]:
    start = TEXTS[passage_id].index(quote)
    return {"passage_id": passage_id, "quote": quote, "start": start, "end": start + len(quote)}


def test_a_right_answer_beside_a_needless_one() -> None:
    said = answer(
        ("a#p0", "The bridge fell in 1902.", "found in source"),
        ("b#p0", "Cork is light.", "partly found"),
    )
    values = measure(QUOTED, GOLD, said, "passage")
    tokens = "bridge fell in 1902 cork is light".split()
    assert values == {
        "answered": 1.0,
        "gold cited": 1.0,
        "in passage": 1.0,
        "touched": 1.0,
        "in quote": 1.0,
        "EM": 0.0,
        "F1": pytest.approx(2 * 2 / (len(tokens) + 2)),
        "cited P": 0.5,
        "cited R": 1.0,
        "supported": 0.5,
    }


def test_another_sentence_of_the_gold_passage_is_no_answer() -> None:
    values = measure(QUOTED, GOLD, answer(("a#p0", "It rained.", "found in source")), "passage")
    assert (values["gold cited"], values["touched"], values["in quote"]) == (1.0, 0.0, 0.0)


def test_a_part_of_the_gold_words_touches() -> None:
    values = measure(QUOTED, GOLD, answer(("a#p0", "fell in 1902.", "found in source")), "passage")
    assert (values["touched"], values["in quote"]) == (1.0, 0.0)


def test_a_refusal_counts_as_zero() -> None:
    assert measure(QUOTED, GOLD, answer(refused=True), "passage") == dict.fromkeys(NAMES, 0.0)


def test_without_a_quote_the_answers_words_count_in_any_passage() -> None:
    question = QUOTED.model_copy(update={"gold": (Gold(passage_id="a#p0"),)})
    said = answer(("b#p0", "It floats in 1902.", "found in source"))
    values = measure(question, GOLD, said, "passage")
    assert (values["gold cited"], values["in passage"], values["in quote"]) == (0.0, 1.0, 1.0)
    part = answer(("b#p0", "1902.", "found in source"))
    assert measure(question, GOLD, part, "passage")["touched"] == 0.0


def test_labels_that_say_nothing_give_no_value() -> None:
    question = QUOTED.model_copy(update={"gold": (Gold(paper_id="a"),), "answer": None})
    gold: GoldIds = {"q": (frozenset({"a"}),)}
    values = measure(question, gold, answer(("a#p0", "It rained.", "found in source")), "paper")
    assert [name for name, value in values.items() if value is None] == [
        "touched",
        "in quote",
        "EM",
        "F1",
    ]
    assert (values["gold cited"], values["cited P"]) == (1.0, 1.0)


@pytest.mark.parametrize(("either", "found", "recall"), [(True, 1.0, 1.0), (False, 0.0, 0.5)])
def test_where_all_gold_is_needed_half_is_not_found(
    either: bool, found: float, recall: float
) -> None:
    both = (*QUOTED.gold, Gold(paper_id="b", quote="Cork is light"))
    question = QUOTED.model_copy(update={"gold": both, "any": either})
    gold: GoldIds = {"q": (frozenset({"a#p0"}), frozenset({"b#p0"}))}
    said = answer(("a#p0", "The bridge fell in 1902.", "found in source"))
    values = measure(question, gold, said, "passage")
    assert (values["gold cited"], values["in quote"], values["cited R"]) == (found, found, recall)


def test_means_are_over_what_there_is() -> None:
    assert mean([1.0, None, 0.0]) == 0.5
    assert mean([None]) is None
