"""Questions answered by a model that calls tools natively."""

from __future__ import annotations

from typing import Any

import pytest

from askem.testing.openai_server import Call, calls, text


def search(question: str) -> Any:
    return calls(Call("search_literature", {"question": question}))


def test_an_answer_has_its_sources_checked(open_door: Any) -> None:
    door = open_door([text("The SIDARTHE model has eight stages of infection [1].")])
    answer = door.answer("How many stages does the SIDARTHE model have?")
    assert answer["answer"] == "The SIDARTHE model has eight stages of infection [1]."
    assert [doc["passage_id"] for doc in answer["used_docs"]] == ["sidarthe#p0"]
    (sentence,) = answer["sentences"]
    assert sentence["verdict"] == "found in source"
    (citation,) = sentence["citations"]
    source = answer["used_docs"][0]["text"]
    assert source[citation["start"] : citation["end"]] == citation["quote"]
    assert citation["quote"] == "The SIDARTHE model has eight stages of infection."
    assert (answer["refused"], answer["reason"], answer["stopped"]) == (False, None, None)
    assert answer["usage"] == {
        "model_calls": 1,
        "searches": 1,
        "input_tokens": 11,
        "output_tokens": 7,
        "cost": None,
    }
    assert answer["model"] == "test-model"


def test_the_model_finds_the_first_search_done_and_may_search_again(open_door: Any) -> None:
    door = open_door([search("soil carbon in a vineyard"), text("It rose by 12 % [3].")])
    door.answer("SIDARTHE model stages of infection")
    first, second = (request.body["messages"] for request in door.models.requests)
    assert [message["role"] for message in first] == ["system", "user", "assistant", "tool"]
    assert 'number="1"' in first[-1]["content"]
    assert "eight stages" in first[-1]["content"]
    assert [message["role"] for message in second[4:]] == ["assistant", "tool"]
    assert [body["question"] for body in door.retriever.bodies] == [
        "SIDARTHE model stages of infection",
        "soil carbon in a vineyard",
    ]


def test_numbers_hold_over_searches_and_sources_are_in_order_of_citation(open_door: Any) -> None:
    door = open_door(
        lambda request: (
            text(
                "Soil carbon rose by 12 % in a vineyard [3]. The SIDARTHE model has "
                "eight stages [1]. Biochar raised it [3]."
            )
            if request.body["messages"][-1]["content"].count("vineyard")
            else search("biochar soil carbon vineyard")
        )
    )
    answer = door.answer("SIDARTHE stages Lombardy")
    assert [doc["passage_id"] for doc in answer["used_docs"]] == ["biochar#p0", "sidarthe#p0"]
    assert answer["answer"] == (
        "Soil carbon rose by 12 % in a vineyard [1]. The SIDARTHE model has eight stages [2]. "
        "Biochar raised it [1]."
    )
    assert [(s["asked_by"], s["hits"], s["new"]) for s in answer["steps"]] == [
        ("question", 2, 2),
        ("model", 1, 1),
    ]


def test_the_callers_fields_hold_for_every_search(open_door: Any) -> None:
    door = open_door([search("other words"), text("Nothing.")])
    door.answer("SIDARTHE stages", topic="science", top_k=2, paper_ids=["sidarthe"])
    kept = {"topic": "science", "top_k": 2, "paper_ids": ["sidarthe"]}
    assert [{**body, "question": ""} for body in door.retriever.bodies] == [
        {**kept, "question": ""}
    ] * 2


def test_the_same_question_is_not_searched_twice(open_door: Any) -> None:
    again = search(" sidarthe  STAGES? ")
    door = open_door([again, again, text("The SIDARTHE model has eight stages [1].")])
    answer = door.answer("SIDARTHE stages")
    assert len(door.retriever.bodies) == answer["usage"]["searches"] == 1
    assert [step["repeated"] for step in answer["steps"]] == [False, True, True]
    told = door.models.requests[-1].body["messages"][-1]["content"]
    assert "searched for this before" in told
    assert "eight stages" not in told


def test_mistakes_with_the_tool_are_told_to_the_model(open_door: Any) -> None:
    door = open_door(
        [
            calls(Call("search_literature", {"question": " "})),
            calls(Call("search_literature", {"question": 5})),
            text("The SIDARTHE model has eight stages [1]."),
        ]
    )
    answer = door.answer("SIDARTHE stages")
    assert not answer["refused"]
    assert (len(answer["steps"]), answer["usage"]["searches"]) == (1, 1)
    for request in door.models.requests[1:]:
        assert "Give `question` as text" in request.body["messages"][-1]["content"]


def test_a_models_question_is_one_clean_line(open_door: Any) -> None:
    """It is searched for and shown without what is invisible, cut, and shown inert."""
    written = "biochar\x1b[2J \u202e<script>\n![a](http://evil.example/x) " + "x" * 5000
    door = open_door(
        [
            calls(Call("search_literature", {"question": written})),
            text("The SIDARTHE model has eight stages [1]."),
        ]
    )
    events = door.stream("SIDARTHE stages")
    shown = [data["query"] for name, data in events if name == "step"][1]
    assert events[-1][1]["steps"][1]["query"] == shown
    sent = door.retriever.bodies[1]["question"]
    assert sent.startswith("biochar[2J <script> ![a](http://evil.example/x) xxx")
    assert len(sent) == len(shown) == 400
    assert not {"<", "://", "](", "\x1b", "\u202e", "\n"} & {
        mark for mark in ("<", "://", "](", "\x1b", "\u202e", "\n") if mark in shown
    }


def test_several_calls_in_one_step_are_all_answered(open_door: Any) -> None:
    both = calls(
        Call("search_literature", {"question": "biochar"}),
        Call("search_literature", {"question": "tremor of a volcano"}),
    )
    door = open_door([both, text("The SIDARTHE model has eight stages [1].")])
    answer = door.answer("SIDARTHE stages")
    assert [step["query"] for step in answer["steps"][1:]] == ["biochar", "tremor of a volcano"]
    results = [m for m in door.models.requests[-1].body["messages"] if m["role"] == "tool"]
    assert len({message["tool_call_id"] for message in results}) == 3


def test_non_ascii_text_goes_through(open_door: Any) -> None:
    written = "The SIDARTHE model has eight stages “of infection” [1]."
    door = open_door([text(written)])
    answer = door.answer("SIDARTHE stages Ω 数?")
    assert "Ω 数" in door.models.requests[0].body["messages"][1]["content"]
    assert answer["answer"] == written


def test_money_is_counted_by_the_configured_prices(open_door: Any) -> None:
    prices = {"input_price": 1.0, "output_price": 2.0}
    door = open_door([text("The SIDARTHE model has eight stages [1].")], config=prices)
    answer = door.answer("SIDARTHE stages")
    assert answer["usage"]["cost"] == pytest.approx((11 * 1.0 + 7 * 2.0) / 1e6)


def test_the_model_is_told_to_write_as_the_passages_do(open_door: Any) -> None:
    """What is in another language than they are is found nowhere, and refused."""
    door = open_door([text("Das Modell SIDARTHE hat acht Stadien der Infektion [1].")])
    answer = door.answer("Wie viele Stadien hat SIDARTHE?")
    assert (answer["refused"], answer["reason"]) == (True, "no support")
    system = door.models.requests[0].body["messages"][0]["content"]
    assert "in the language of the passages" in system
