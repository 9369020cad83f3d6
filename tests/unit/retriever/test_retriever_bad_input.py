"""Every wrong request has one status and one field name, and none of them is a 5xx."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from askem.testing.inprocess import AppRunner

JSON = {"Content-Type": "application/json"}
Q: dict[str, Any] = {"question": "What is SIDARTHE model?"}
NAN, INF = float("nan"), float("inf")

BAD_FIELDS: list[tuple[str, Any, str]] = [
    ("question", "", "question"),
    ("question", " \t\n ", "question"),
    ("question", "x" * 4001, "question"),
    ("question", None, "question"),
    ("question", 5, "question"),
    ("question", ["x"], "question"),
    ("question", True, "question"),
    ("question", "a\x00b", "question"),
    ("question", "a\ud800b", "question"),
    ("question", "\udc00\ud800", "question"),
    ("top_k", 0, "top_k"),
    ("top_k", 101, "top_k"),
    ("top_k", -1, "top_k"),
    ("top_k", "5", "top_k"),
    ("top_k", True, "top_k"),
    ("top_k", 5.5, "top_k"),
    ("top_k", NAN, "top_k"),
    ("top_k", INF, "top_k"),
    ("top_k", 1e300, "top_k"),
    ("top_k", 10**200, "top_k"),
    ("top_k", [5], "top_k"),
    ("distance", -0.1, "distance"),
    ("distance", 2.1, "distance"),
    ("distance", NAN, "distance"),
    ("distance", INF, "distance"),
    ("distance", "0.5", "distance"),
    ("distance", False, "distance"),
    ("topic", "", "topic"),
    ("topic", "a b", "topic"),
    ("topic", "covid\n", "topic"),
    ("topic", "x" * 65, "topic"),
    ("topic", ["covid"], "topic"),
    ("topic", "\ud800", "topic"),
    ("doc_type", "table", "doc_type"),
    ("doc_type", "Paragraph", "doc_type"),
    ("doc_type", "", "doc_type"),
    ("doc_type", 1, "doc_type"),
    ("preprocessor_id", "", "preprocessor_id"),
    ("preprocessor_id", "x" * 129, "preprocessor_id"),
    ("preprocessor_id", "a\x00", "preprocessor_id"),
    ("article_terms", "HQ-M", "article_terms"),
    ("article_terms", [1], "article_terms[0]"),
    ("paragraph_terms", "SIDARTHE", "paragraph_terms"),
    ("paragraph_terms", [], "paragraph_terms"),
    ("paragraph_terms", [""], "paragraph_terms[0]"),
    ("paragraph_terms", ["ok", 5], "paragraph_terms[1]"),
    ("paragraph_terms", ["ok", None], "paragraph_terms[1]"),
    ("paragraph_terms", ["a\ud800"], "paragraph_terms[0]"),
    ("paragraph_terms", ["x"] * 101, "paragraph_terms"),
    ("paragraph_terms", {"a": 1}, "paragraph_terms"),
    ("paper_ids", "sidarthe-lombardy", "paper_ids"),
    ("paper_ids", [], "paper_ids"),
    ("paper_ids", ["../etc"], "paper_ids[0]"),
    ("paper_ids", ["ok", "a/b"], "paper_ids[1]"),
    ("paper_ids", ["a\n"], "paper_ids[0]"),
    ("paper_ids", [f"p{n}" for n in range(1001)], "paper_ids"),
    ("move_to", "", "move_to"),
    ("move_to", "x" * 4001, "move_to"),
    ("move_to", {"concepts": ["x"]}, "move_to"),
    ("move_to_weight", 0.5, "move_to_weight"),
    ("move_to_weight", 1.1, "move_to_weight"),
    ("move_to_weight", -0.1, "move_to_weight"),
    ("move_to_weight", NAN, "move_to_weight"),
    ("move_to_weight", "1", "move_to_weight"),
    ("move_away_from", "\x00", "move_away_from"),
    ("move_away_from_weight", 1, "move_away_from_weight"),
    ("screening_top_k", 0, "screening_top_k"),
    ("screening_top_k", 10_001, "screening_top_k"),
    ("screening_top_k", "100", "screening_top_k"),
    ("ranking", "best", "ranking"),
    ("ranking", ["rrf"], "ranking"),
    ("mode", "dense", "mode"),
    ("model_name", "gpt", "model_name"),
    ("Question", "x", "Question"),
    ("\ud800", 1, "\\ud800"),
    ("x" * 500, 1, "x" * 100 + "…"),
]


def fields(door: AppRunner, path: str, content: bytes, status: int = 422) -> list[str]:
    response = door.request("POST", path, content=content, headers=JSON)
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    body = response.json()
    assert body["status"] == status
    assert body["request_id"] == response.headers["x-request-id"]
    return [error["field"] for error in body["errors"]]


@pytest.mark.parametrize(
    ("name", "value", "field"), BAD_FIELDS, ids=[ascii(row)[:60] for row in BAD_FIELDS]
)
def test_a_bad_field_is_named_and_refused(
    door: AppRunner, name: str, value: Any, field: str
) -> None:
    assert fields(door, "/search", json.dumps({**Q, name: value}).encode()) == [field]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is not valid JSON"),
        (b"{", "is not valid JSON"),
        (b"\xff\xfe", "is not valid JSON"),
        (b'{"question": "\xed\xa0\x80"}', "is not valid JSON"),
        (b'{"question": "a\\ud8"}', "is not valid JSON"),
        (b"[" * 10_000 + b"]" * 10_000, "is not valid JSON"),
        (b'{"a":' * 10_000, "is not valid JSON"),
        (b'{"a":"\\ud800","b":' + b"[" * 10_000 + b"]" * 10_000 + b"}", "is not valid JSON"),
        (b"[]", "must be a JSON object"),
        (b"null", "must be a JSON object"),
        (b'"question"', "must be a JSON object"),
    ],
    ids=lambda value: ascii(value)[:30],
)
def test_a_bad_body_is_refused_as_a_whole(door: AppRunner, content: bytes, reason: str) -> None:
    response = door.request("POST", "/hybrid", content=content, headers=JSON)
    assert response.status_code == 422
    (error,) = response.json()["errors"]
    assert error["field"] == "body"
    assert reason in error["message"]


def test_bombs_are_refused(door: AppRunner) -> None:
    digits, broken = b'{"question":' + b"9" * 60_000 + b"}", b'"\\ud800' + b"[" * 60_000
    for bomb in (b"[" * 60_000, digits, broken):
        assert door.request("POST", "/hybrid", content=bomb, headers=JSON).status_code == 422


def test_fields_of_hybrid_are_unknown_to_vector(door: AppRunner) -> None:
    body = {**Q, "screening_top_k": 10, "ranking": "rrf", "mode": "hybrid"}
    assert fields(door, "/vector", json.dumps(body).encode()) == [
        "screening_top_k",
        "ranking",
        "mode",
    ]
    assert fields(door, "/hybrid", json.dumps({**Q, "mode": "hybrid"}).encode()) == ["mode"]


def test_at_most_twenty_errors_are_listed(door: AppRunner) -> None:
    body = {**Q, "paper_ids": ["/"] * 500}
    assert len(fields(door, "/vector", json.dumps(body).encode())) == 20


def test_what_was_sent_is_not_echoed(door: AppRunner) -> None:
    body = {**Q, "doc_type": "secret-value", "top_k": "secret-value"}
    assert "secret-value" not in door.request("POST", "/vector", json=body).text


@pytest.mark.parametrize(
    ("path", "field"),
    [
        ("/papers?limit=0", "limit"),
        ("/papers?limit=1001", "limit"),
        ("/papers?limit=", "limit"),
        ("/papers?limit=1_0", "limit"),
        ("/papers?limit=+5", "limit"),
        ("/papers?limit=" + "9" * 5000, "limit"),
        ("/papers?limit=%D9%A1", "limit"),
        ("/papers?topic=a%20b", "topic"),
        ("/papers?topic=%ED%A0%80", "topic"),
        ("/papers?after=../x", "after"),
        ("/papers?tpoic=covid", "tpoic"),
        ("/papers/sidarthe-lombardy?offset=-1", "offset"),
        ("/papers/sidarthe-lombardy?limit=true", "limit"),
    ],
)
def test_a_bad_parameter_is_named_and_refused(door: AppRunner, path: str, field: str) -> None:
    response = door.request("GET", path)
    assert response.status_code == 422
    assert [error["field"] for error in response.json()["errors"]] == [field]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/", 404),
        ("GET", "/docs", 404),
        ("GET", "/redoc", 404),
        ("POST", "/hybrid/", 404),
        ("GET", "/papers/nobody", 404),
        ("GET", "/papers/%00", 404),
        ("GET", "/papers/..%2F..%2Fetc", 404),
        ("GET", "/passages/nobody%23p0", 404),
        ("GET", "/passages/%ED%A0%80", 404),
        ("GET", "/passages/" + "x" * 5000, 404),
        ("GET", "/hybrid", 405),
        ("DELETE", "/topics", 405),
        ("POST", "/healthz", 405),
    ],
)
def test_other_refusals_are_problems_too(
    door: AppRunner, method: str, path: str, status: int
) -> None:
    response = door.request(method, path)
    assert response.status_code == status
    assert response.headers["content-type"] == "application/problem+json"
    assert set(response.json()) <= {"type", "title", "status", "detail", "request_id"}
    assert ("allow" in response.headers) == (status == 405)


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"Content-Type": "text/plain"},
        {"Content-Type": "application/x-www-form-urlencoded"},
        {"Content-Type": "application/jsonp"},
        {"Content-Type": "application/json; charset=latin-1"},
        {"Content-Type": "application/json", "Content-Encoding": "gzip"},
    ],
    ids=str,
)
def test_a_body_that_is_not_json_is_415(door: AppRunner, headers: dict[str, str]) -> None:
    response = door.request("POST", "/hybrid", content=json.dumps(Q), headers=headers)
    assert response.status_code == 415
    assert response.json()["detail"].startswith("Send the body")


def test_a_large_body_is_413(door: AppRunner) -> None:
    body = {"question": "x" * 70_000}
    response = door.request("POST", "/hybrid", json=body)
    assert response.status_code == 413
    assert response.headers["content-type"] == "application/problem+json"


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(exclude_categories=()), max_size=20)
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    max_leaves=6,
)
names = st.sampled_from([name for name, _, _ in BAD_FIELDS]) | st.text(max_size=10)
bodies = st.builds(
    lambda base, extra: json.dumps({**base, **extra}).encode(),
    st.sampled_from([{}, Q]),
    st.dictionaries(names, values, max_size=5),
)


@settings(max_examples=400, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    path=st.sampled_from(["/vector", "/hybrid", "/search"]),
    content=bodies | st.binary(max_size=60),
)
def test_no_body_whatever_is_a_server_error(door: AppRunner, path: str, content: bytes) -> None:
    response = door.request("POST", path, content=content, headers=JSON)
    assert response.status_code in (200, 422)
    response.json()
