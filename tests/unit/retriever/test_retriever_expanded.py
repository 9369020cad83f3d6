"""`/hybrid` told to say how its hits were found, and what the searches say of repairs."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from askem.errors import BackendUnavailable
from askem.http.wire import SEARCH_MEDIA_TYPE
from askem.testing.inprocess import AppRunner

Q: dict[str, Any] = {"question": "What is SIDARTHE model?"}
MISSPELT: dict[str, Any] = {"question": "What is the SIDRATHE model?"}


def post(door: AppRunner, path: str, body: dict[str, Any], accept: str = "*/*") -> httpx.Response:
    response = door.request("POST", path, json=body, headers={"Accept": accept})
    assert response.status_code == 200, response.text
    return response


def test_by_default_the_list_stays_bare(door: AppRunner) -> None:
    response = post(door, "/hybrid", Q)
    assert isinstance(response.json(), list)
    assert response.headers["content-type"] == "application/json"
    assert response.headers["vary"] == "Accept"


def test_the_expanded_answer_is_the_one_of_search(door: AppRunner) -> None:
    body = {**Q, "top_k": 2, "topic": "covid", "move_to": "soil", "screening_top_k": 3}
    response = post(door, "/hybrid", body, f"{SEARCH_MEDIA_TYPE}, application/json;q=0.5")
    assert response.headers["content-type"] == SEARCH_MEDIA_TYPE
    assert response.headers["vary"] == "Accept"
    expanded, searched = response.json(), post(door, "/search", body).json()
    assert set(expanded.pop("timings_ms")) == set(searched.pop("timings_ms"))
    assert expanded == searched
    bare = post(door, "/hybrid", body).json()
    assert [hit["passage_id"] for hit in bare] == [hit["passage_id"] for hit in expanded["hits"]]


def test_the_bare_list_may_be_preferred(door: AppRunner) -> None:
    accept = f"{SEARCH_MEDIA_TYPE};q=0.5, application/json"
    assert isinstance(post(door, "/hybrid", Q, accept).json(), list)


def test_idf_belongs_to_the_terms_and_adds_up_to_the_scale(door: AppRunner) -> None:
    answer = post(door, "/search", {"question": "SIDARTHE model of unicorns"}).json()
    assert len(answer["idf"]) == len(answer["terms"]) == 3
    assert answer["idf"][2] == max(answer["idf"])
    assert answer["unknown_terms"] == ["unicorn"]
    assert sum(answer["idf"]) == pytest.approx(answer["score_scale"])


def test_the_nearest_passage_need_not_be_screened(door: AppRunner) -> None:
    body = {"question": "SIDARTHE", "move_to": "tremor of the volcano", "move_to_weight": 1}
    nearest = post(door, "/vector", {**body, "top_k": 1}).json()[0]
    answer = post(door, "/search", {**body, "distance": 0}).json()
    assert answer["hits"] == []
    assert answer["nearest_distance"] == pytest.approx(nearest["distance"])
    assert "nearest" in answer["timings_ms"]
    vector = post(door, "/search", {**body, "mode": "vector"}).json()
    assert vector["nearest_distance"] == pytest.approx(nearest["distance"])
    assert "nearest" not in vector["timings_ms"]
    nowhere = post(door, "/search", {**body, "paper_ids": ["unheard-of"]}).json()
    assert nowhere["nearest_distance"] is None


def test_the_bare_list_does_not_pay_for_the_nearest_passage(open_app: Any) -> None:
    called: list[str] = []
    door = open_app(called.append)
    called.clear()
    post(door, "/hybrid", Q)
    assert called.count("search") == 1
    post(door, "/search", Q)
    assert called.count("search") == 3


def test_without_the_dense_engine_there_is_no_nearest_distance(open_app: Any) -> None:
    def hook(name: str) -> None:
        if name == "search":
            raise BackendUnavailable("weaviate", "no answer")

    answer = post(open_app(hook), "/search", {**Q, "allow_degraded": True}).json()
    assert answer["nearest_distance"] is None
    assert answer["degraded"] == ["weaviate"]
    assert len(answer["idf"]) == 2


def test_a_repair_is_told(door: AppRunner) -> None:
    response = post(door, "/hybrid", MISSPELT)
    assert response.headers["askem-repairs"] == "SIDRATHE=SIDARTHE"
    plain = post(door, "/hybrid", Q).json()
    assert {hit["passage_id"] for hit in response.json()} == {hit["passage_id"] for hit in plain}
    answer = post(door, "/search", MISSPELT).json()
    assert answer["repairs"] == [{"word": "SIDRATHE", "read_as": "SIDARTHE"}]
    assert (answer["terms"], answer["unknown_terms"]) == (["sidarth", "model"], [])


def test_the_header_of_repairs_is_ascii(door: AppRunner) -> None:
    response = post(door, "/hybrid", {"question": "Sïdrathe model"})
    assert response.headers["askem-repairs"] == "S%C3%AFdrathe=SIDARTHE"


def test_nothing_is_told_where_nothing_was_repaired(door: AppRunner) -> None:
    assert "askem-repairs" not in post(door, "/hybrid", Q).headers
    assert "askem-repairs" not in post(door, "/vector", MISSPELT).headers
    assert post(door, "/search", {**MISSPELT, "mode": "vector"}).json()["repairs"] == []


@pytest.mark.parametrize(
    ("configured", "asked", "repaired"),
    [
        (True, None, True),
        (True, False, False),
        (False, None, False),
        (False, True, True),
    ],
)
def test_the_request_decides_before_the_setting(
    open_app: Any, configured: bool, asked: bool | None, repaired: bool
) -> None:
    door = open_app(repair=configured)
    answer = post(door, "/search", {**MISSPELT, "repair": asked}).json()
    assert bool(answer["repairs"]) == repaired
    assert answer["unknown_terms"] == ([] if repaired else ["sidrath"])


def test_repair_is_yes_or_no(door: AppRunner) -> None:
    response = door.request("POST", "/hybrid", json={**Q, "repair": "yes"})
    assert response.status_code == 422
    assert response.json()["errors"][0]["field"] == "repair"


FAR: dict[str, Any] = {"question": "SIDARTHE", "move_to": "tremor of the volcano", "top_k": 9}
"""Its nearest passages have no word of it."""


@pytest.mark.parametrize(
    ("configured", "asked", "joined"), [(0, None, 0), (0, 9, 5), (9, None, 5), (9, 0, 0)]
)
def test_the_nearest_join_where_the_request_or_the_setting_says_so(
    open_app: Any, configured: int, asked: int | None, joined: int
) -> None:
    door = open_app(nearest_top_k=configured)
    answer = post(door, "/search", {**FAR, "nearest_top_k": asked}).json()
    assert answer["nearest_top_k"] == (configured if asked is None else asked)
    assert (answer["screened"], answer["joined"]) == (2, joined)
    assert [hit["sparse_rank"] for hit in answer["hits"]].count(None) == joined
    bare = post(door, "/hybrid", {**FAR, "nearest_top_k": asked}).json()
    assert len(bare) == len(answer["hits"]) == 2 + joined


def test_mode_vector_joins_nothing(door: AppRunner) -> None:
    answer = post(door, "/search", {**FAR, "mode": "vector", "nearest_top_k": 9}).json()
    assert (answer["nearest_top_k"], answer["joined"]) == (0, 0)


@pytest.mark.parametrize("value", [-1, 1_001, 2.5, "20", True])
def test_nearest_top_k_is_a_whole_number_in_its_range(door: AppRunner, value: object) -> None:
    response = door.request("POST", "/hybrid", json={**Q, "nearest_top_k": value})
    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == ["nearest_top_k"]
