"""One leg's answer where the other's engine is out: only where asked for, and marked."""

from __future__ import annotations

from typing import Any

import pytest

from askem.errors import BackendUnavailable
from askem.testing.inprocess import AppRunner

Q: dict[str, Any] = {"question": "What is SIDARTHE model?"}
ENGINE_OF = {"screen": "elasticsearch", "snapshot": "elasticsearch", "search": "weaviate"}


def without(*calls: str) -> Any:
    """A hook that takes the engine behind these port calls away."""

    def hook(name: str) -> None:
        if name in calls:
            raise BackendUnavailable(ENGINE_OF[name], "no answer", retry_after_s=3)

    return hook


@pytest.mark.parametrize("call", ["screen", "search"])
@pytest.mark.parametrize("path", ["/hybrid", "/search"])
@pytest.mark.parametrize("extra", [{}, {"allow_degraded": False}, {"allow_degraded": None}])
def test_an_outage_is_an_error_unless_the_request_allows_it(
    open_app: Any, path: str, call: str, extra: dict[str, Any]
) -> None:
    answer = open_app(without(call)).request("POST", path, json={**Q, **extra})
    assert answer.status_code == 503
    assert answer.headers["Retry-After"] == "3"
    assert "Askem-Degraded" not in answer.headers


@pytest.mark.parametrize("path", ["/hybrid", "/search"])
def test_without_elasticsearch_the_answer_is_by_distance(open_app: Any, path: str) -> None:
    door: AppRunner = open_app(without("screen", "snapshot"))
    answer = door.request("POST", path, json={**Q, "allow_degraded": True})
    assert answer.status_code == 200
    assert answer.headers["Askem-Degraded"] == "elasticsearch"
    body = answer.json()
    hits = body if path == "/hybrid" else body["hits"]
    plain = door.request("POST", "/vector", json=Q).json()
    assert [hit["passage_id"] for hit in hits] == [hit["passage_id"] for hit in plain]
    assert [hit["distance"] for hit in hits] == [hit["distance"] for hit in plain]
    if path == "/search":
        assert body["degraded"] == ["elasticsearch"]
        assert (body["ranking"], body["snapshot"], body["screened"]) == ("distance", None, None)


@pytest.mark.parametrize("path", ["/hybrid", "/search"])
def test_without_weaviate_the_answer_is_by_bm25(open_app: Any, path: str) -> None:
    request = {**Q, "allow_degraded": True, "top_k": 2, "distance": 0.1}
    answer = open_app(without("search")).request("POST", path, json=request)
    assert answer.status_code == 200
    assert answer.headers["Askem-Degraded"] == "weaviate"
    body = answer.json()
    hits = body if path == "/hybrid" else body["hits"]
    assert len(hits) == 2
    assert [hit["distance"] for hit in hits] == [None, None]
    assert hits[0]["score"] >= hits[1]["score"] > 0
    if path == "/search":
        assert (body["degraded"], body["ranking"]) == (["weaviate"], "bm25")
        assert [hit["sparse_rank"] for hit in hits] == [1, 2]
        assert [hit["bm25"] for hit in hits] == [hit["score"] for hit in hits]


def test_without_both_there_is_no_answer(open_app: Any) -> None:
    door = open_app(without("screen", "search"))
    answer = door.request("POST", "/hybrid", json={**Q, "allow_degraded": True})
    assert answer.status_code == 503


def test_a_whole_answer_is_not_marked(open_app: Any) -> None:
    answer = open_app().request("POST", "/search", json={**Q, "allow_degraded": True})
    assert "Askem-Degraded" not in answer.headers
    body = answer.json()
    assert body["degraded"] == []
    assert body["snapshot"] is not None
    assert all(hit["distance"] is not None for hit in body["hits"])


def test_vector_has_nothing_to_go_without(open_app: Any) -> None:
    answer = open_app().request("POST", "/vector", json={**Q, "allow_degraded": True})
    assert answer.status_code == 422
