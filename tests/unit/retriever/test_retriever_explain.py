"""`/explain`: figures that add up to what `/search` says of the same passage."""

from __future__ import annotations

from typing import Any

import pytest

from askem.testing.inprocess import AppRunner

QUESTION = "What does the SIDARTHE model say of transmission?"
FIRST = "sidarthe-lombardy#p0"


def explained(door: AppRunner, passage_id: str = FIRST, **more: Any) -> Any:
    body = {"question": QUESTION, "passage_id": passage_id, **more}
    response = door.request("POST", "/explain", json=body)
    assert response.status_code == 200, response.text
    return response.json()


def hits(door: AppRunner, **more: Any) -> list[Any]:
    body = {"question": QUESTION, "top_k": 100, **more}
    found: list[Any] = door.request("POST", "/search", json=body).json()["hits"]
    return found


@pytest.mark.parametrize("nearest_top_k", [0, 100])
@pytest.mark.parametrize("ranking", ["proximity", "blend", "rrf", "distance"])
def test_every_hit_is_explained_by_the_figures_of_the_search(
    door: AppRunner, ranking: str, nearest_top_k: int
) -> None:
    asked: dict[str, Any] = {"ranking": ranking, "nearest_top_k": nearest_top_k}
    for place, hit in enumerate(hits(door, **asked), start=1):
        why = explained(door, hit["passage_id"], **asked)
        assert why["passage"]["text"] == hit["text"]
        shares = sum(term["share"] for term in why["sparse"]["terms"])
        assert shares == pytest.approx(hit["bm25"], abs=1e-4)
        assert why["sparse"]["bm25"] == pytest.approx(hit["bm25"], abs=1e-9)
        assert why["sparse"]["rank"] == hit["sparse_rank"]
        assert why["dense"]["distance"] == pytest.approx(hit["distance"], abs=1e-6)
        assert why["dense"]["rank"] == hit["dense_rank"]
        assert why["ranking"]["rank"] == place
        assert why["ranking"]["score"] == pytest.approx(hit["score"], abs=1e-9)
        assert arithmetic(why["ranking"]) == pytest.approx(hit["score"], abs=1e-4)


def arithmetic(view: Any) -> float:
    """The formulas as the reference has them."""
    p = view["parts"]
    match view["ranking"]:
        case "proximity":
            lexical = p["bm25"] + p["cluster"] + p["pair_weight"] * p["pairs"]
            return float(lexical / p["scale"] + p["cosine_weight"] * p["cosine"])
        case "blend":
            dense = p["dense_weight"]
            return float((1 - dense) * p["bm25_normalised"] + dense * p["cosine_normalised"])
        case "rrf":
            return float(1 / (p["k"] + p["sparse_rank"]) + 1 / (p["k"] + p["dense_rank"]))
    return float(p["cosine"])


def test_a_term_is_counted_as_it_stands_there(door: AppRunner) -> None:
    terms = {term["term"]: term for term in explained(door)["sparse"]["terms"]}
    assert (terms["sidarth"]["tf"], terms["sidarth"]["document_frequency"]) == (1, 2)
    assert (terms["transmiss"]["tf"], terms["transmiss"]["share"]) == (0, 0.0)


def test_what_the_screening_did_not_reach_says_by_how_much(door: AppRunner) -> None:
    last = hits(door)[-1]["passage_id"]
    why = explained(door, last, screening_top_k=1)
    assert why["ranking"] is None
    assert why["dense"]["rank"] is None
    assert not why["sparse"]["screened"]
    assert why["sparse"]["rank"] > 1
    assert why["sparse"]["last_screened"] > why["sparse"]["bm25"] > 0


def test_a_passage_without_any_of_the_terms(door: AppRunner) -> None:
    why = explained(door, "paper.with.dots-1#p0")
    assert (why["sparse"]["bm25"], why["sparse"]["rank"]) == (0.0, None)
    assert 0 <= why["dense"]["distance"] <= 2


def test_the_filters_that_keep_it_out_are_named(door: AppRunner) -> None:
    why = explained(door, topic="volcano", doc_type="figure", paragraph_terms=["SIDARTHE"])
    assert why["excluded_by"] == ["topic", "doc_type"]
    assert why["ranking"] is None
    assert not why["beyond_distance"]
    assert explained(door, distance=0.0)["beyond_distance"]


def test_steering_is_seen_before_and_after(door: AppRunner) -> None:
    plain = explained(door)["dense"]
    assert plain["distance"] == pytest.approx(plain["unsteered"], abs=1e-6)
    steered = explained(door, move_to="volcano tremor", move_to_weight=0.9)["dense"]
    assert steered["unsteered"] == pytest.approx(plain["unsteered"], abs=1e-6)
    assert steered["distance"] > plain["distance"]


def test_a_question_without_content_words_was_not_screened(door: AppRunner) -> None:
    why = explained(door, question="what is it?")
    assert why["sparse"] is None
    assert why["ranking"] is None


def test_the_short_form_is_a_link(door: AppRunner) -> None:
    params = {"q": QUESTION, "passage_id": FIRST, "screening_top_k": "50", "ranking": "rrf"}
    response = door.request("GET", "/explain", params=params)
    assert response.status_code == 200
    assert response.json() == explained(door, screening_top_k=50, ranking="rrf")


@pytest.mark.parametrize(
    ("params", "status", "field"),
    [
        ({"q": QUESTION, "passage_id": "nowhere#p0"}, 404, None),
        ({"q": QUESTION, "passage_id": "é"}, 404, None),
        ({"q": "  ", "passage_id": FIRST}, 422, "question"),
        ({"q": QUESTION}, 422, "passage_id"),
        ({"q": QUESTION, "passage_id": FIRST, "ranking": "best"}, 422, "ranking"),
        ({"q": QUESTION, "passage_id": FIRST, "screening_top_k": "0"}, 422, "screening_top_k"),
        ({"q": QUESTION, "passage_id": FIRST, "depth": "3"}, 422, "depth"),
    ],
)
def test_what_does_not_fit_is_named(
    door: AppRunner, params: dict[str, str], status: int, field: str | None
) -> None:
    response = door.request("GET", "/explain", params=params)
    assert response.status_code == status
    if field:
        assert [error["field"] for error in response.json()["errors"]] == [field]


def test_what_joined_is_shown_as_not_screened(door: AppRunner) -> None:
    params = {"q": "stages", "passage_id": "paper.with.dots-1#p0", "nearest_top_k": "100"}
    response = door.request("GET", "/explain", params=params)
    assert response.status_code == 200, response.text
    why = response.json()
    assert why["dense"]["joined"]
    assert not why["sparse"]["screened"]
    assert why["ranking"]["parts"]["bm25"] == 0
    params.pop("nearest_top_k")
    plain = door.request("GET", "/explain", params=params).json()
    assert (plain["dense"]["joined"], plain["ranking"]) == (False, None)
