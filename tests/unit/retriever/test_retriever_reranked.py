"""A reranker behind the routes: what is asked for, what is in effect, and what is told."""

from __future__ import annotations

from typing import Any

import pytest

from askem.testing.inprocess import AppRunner

Q: dict[str, Any] = {"question": "SIDARTHE model", "top_k": 9}


def search(door: AppRunner, **more: object) -> Any:
    response = door.request("POST", "/search", json={**Q, **more})
    assert response.status_code == 200, response.text
    return response.json()


@pytest.mark.parametrize(
    ("settings", "asked", "in_effect"),
    [
        ({}, None, 3),
        ({}, 2, 2),
        ({}, 0, 0),
        ({"rerank_top_k": 1}, None, 1),
        ({"rerank_top_k": 0}, None, 0),
        ({"rerank_top_k": 0}, 2, 2),
    ],
)
def test_the_request_decides_before_the_setting(
    open_app: Any, settings: dict[str, int], asked: int | None, in_effect: int
) -> None:
    door = open_app(reranker="fake", **settings)
    answer = search(door, rerank_top_k=asked)
    expected = settings.get("rerank_top_k", 20) if asked is None else asked
    assert answer["rerank_top_k"] == expected
    assert answer["reranked"] == in_effect
    read = [hit["rerank_score"] for hit in answer["hits"] if hit["rerank_score"] is not None]
    assert len(read) == in_effect
    assert read == sorted(read, reverse=True)


def test_the_bare_list_comes_in_the_same_order_with_the_rankings_scores(open_app: Any) -> None:
    door = open_app(reranker="fake")
    answer = search(door)
    response = door.request("POST", "/hybrid", json=Q)
    assert response.headers["askem-reranked"] == "3"
    bare = response.json()
    assert [hit["passage_id"] for hit in bare] == [hit["passage_id"] for hit in answer["hits"]]
    plain = search(door, rerank_top_k=0)
    scores = {hit["passage_id"]: hit["score"] for hit in plain["hits"]}
    assert {hit["passage_id"]: hit["score"] for hit in bare} == scores
    without = door.request("POST", "/hybrid", json={**Q, "rerank_top_k": 0})
    assert "askem-reranked" not in without.headers


def test_mode_vector_is_not_reranked(open_app: Any) -> None:
    answer = search(open_app(reranker="fake"), mode="vector")
    assert (answer["rerank_top_k"], answer["reranked"]) == (0, 0)


def test_without_a_reranker_the_field_is_refused_above_zero(door: AppRunner) -> None:
    assert search(door)["rerank_top_k"] == search(door, rerank_top_k=0)["rerank_top_k"] == 0
    response = door.request("POST", "/hybrid", json={**Q, "rerank_top_k": 5})
    assert response.status_code == 422
    (error,) = response.json()["errors"]
    assert error["field"] == "rerank_top_k"
    assert "no reranker" in error["message"]


@pytest.mark.parametrize("value", [-1, 201, 1.5, "5"])
def test_rerank_top_k_is_a_whole_number_in_its_range(door: AppRunner, value: object) -> None:
    response = door.request("POST", "/hybrid", json={**Q, "rerank_top_k": value})
    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == ["rerank_top_k"]
