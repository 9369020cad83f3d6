"""Clients: what is sent, what comes back, and that no failure looks like an empty result."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator

import httpx
import pytest

from askem.errors import ConfigurationError
from askem.http import exchange
from askem.http.client import (
    AskemClient,
    AsyncAskemClient,
    ClientError,
    NotFoundError,
    Rejected,
    ServerFault,
    Unauthorized,
    Unavailable,
)
from askem.http.exchange import Busy
from askem.http.wire import (
    SEARCH_MEDIA_TYPE,
    HybridRequest,
    SearchRequest,
    SearchResponse,
    VectorRequest,
)

KEY = "right-key-0123456789"
Handler = Callable[[httpx.Request], httpx.Response]
HYBRID = HybridRequest(question="q")


def client(handler: Handler, timeout_s: float = 5.0) -> AskemClient:
    transport = httpx.MockTransport(handler)
    return AskemClient("http://test/", KEY, timeout_s=timeout_s, transport=transport)


def answering(status: int, body: object = None, **headers: str) -> Handler:
    return lambda request: httpx.Response(status, json=body, headers=headers)


def test_only_what_was_set_is_sent_and_the_key_goes_in_its_header() -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        return httpx.Response(200, json=[])

    with client(handler) as askem:
        assert askem.hybrid(HybridRequest(question=" q ", top_k=3)) == []
        assert askem.vector(VectorRequest(question="q")) == []
    assert json.loads(seen[0].content) == {"question": "q", "top_k": 3}
    assert json.loads(seen[1].content) == {"question": "q"}
    assert [request.url.path for request in seen] == ["/hybrid", "/vector"]
    assert all(request.headers["api-key"] == KEY for request in seen)
    assert all(KEY not in str(request.url) for request in seen)


HIT = {
    "paper_id": "a",
    "doc_type": "paragraph",
    "text": "t",
    "cosmos_object_id": None,
    "paragraph_terms": [],
    "passage_id": "a#p0",
    "topics": [],
    "preprocessor_id": "papers-v1",
    "order": 0,
    "distance": 0.2,
    "score": 1.5,
}
EXPANDED = {
    "hits": [{**HIT, "bm25": 2.0, "sparse_rank": 1, "dense_rank": 1}],
    "mode": "hybrid",
    "ranking": "proximity",
    "filters": dict.fromkeys(("topic", "doc_type", "preprocessor_id"))
    | {"paragraph_terms": [], "paper_ids": []},
    "max_distance": None,
    "steering": {
        "move_to": None,
        "move_to_weight": 0,
        "move_away_from": None,
        "move_away_from_weight": 0,
    },
    "screened": 1,
    "terms": ["infect"],
    "unknown_terms": [],
    "score_scale": 2.5,
    "timings_ms": {},
    "snapshot": None,
}
TELLING = {"idf": [2.5], "nearest_distance": 0.1, "repairs": [{"word": "x", "read_as": "y"}]}


@pytest.mark.parametrize("content_type", [SEARCH_MEDIA_TYPE, f"{SEARCH_MEDIA_TYPE}; charset=utf-8"])
def test_hybrid_search_is_read_by_the_answers_type(content_type: str) -> None:
    seen: list[httpx.Request] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request)
        body = {**EXPANDED, **TELLING}
        return httpx.Response(200, json=body, headers={"content-type": content_type})

    with client(handler) as askem:
        answer = askem.hybrid_search(HYBRID)
    assert isinstance(answer, SearchResponse)
    assert (answer.idf, answer.nearest_distance) == ((2.5,), 0.1)
    assert answer.repairs[0].read_as == "y"
    assert seen[0].url.path == "/hybrid"
    assert seen[0].headers["accept"] == f"{SEARCH_MEDIA_TYPE}, application/json;q=0.5"


def test_hybrid_search_takes_the_bare_list_of_a_server_that_knows_no_other() -> None:
    with client(answering(200, [HIT])) as askem:
        answer = askem.hybrid_search(HYBRID)
    assert isinstance(answer, list)
    assert answer[0].passage_id == "a#p0"


def test_hybrid_search_takes_no_shape_for_the_other() -> None:
    with client(answering(200, EXPANDED)) as askem, pytest.raises(ServerFault):
        askem.hybrid_search(HYBRID)
    listed = answering(200, [HIT], **{"content-type": SEARCH_MEDIA_TYPE})
    with client(listed) as askem, pytest.raises(ServerFault):
        askem.hybrid_search(HYBRID)


def test_an_older_servers_search_is_read() -> None:
    with client(answering(200, EXPANDED)) as askem:
        answer = askem.search(SearchRequest(question="q"))
    assert (answer.idf, answer.nearest_distance, answer.repairs) == ((), None, ())


def test_the_asynchronous_client_reads_both_forms_too() -> None:
    async def ask(handler: Handler) -> object:
        transport = httpx.MockTransport(handler)
        async with AsyncAskemClient("http://test", KEY, transport=transport) as askem:
            return await askem.hybrid_search(HYBRID)

    expanded = answering(200, EXPANDED, **{"content-type": SEARCH_MEDIA_TYPE})
    assert isinstance(asyncio.run(ask(expanded)), SearchResponse)
    assert isinstance(asyncio.run(ask(answering(200, [HIT]))), list)


def test_ids_are_escaped() -> None:
    seen: list[bytes] = []

    def handler(request: httpx.Request) -> httpx.Response:
        seen.append(request.url.raw_path)
        return httpx.Response(404, json={})

    with client(handler) as askem:
        for call in (lambda: askem.passage("a.b#fig-x.0"), lambda: askem.paper("../x?y", limit=5)):
            with pytest.raises(NotFoundError):
                call()
    assert seen == [b"/passages/a.b%23fig-x.0", b"/papers/..%2Fx%3Fy?limit=5&offset=0"]


def refusal(status: int, **fields: object) -> dict[str, object]:
    return {"title": "t", "status": status, "request_id": "id1", **fields}


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, Rejected),
        (401, Unauthorized),
        (403, Rejected),
        (404, NotFoundError),
        (413, Rejected),
        (422, Rejected),
        (429, Busy),
        (500, ServerFault),
        (502, Busy),
        (503, Busy),
        (504, Busy),
        (204, ServerFault),
        (302, ServerFault),
    ],
)
@pytest.mark.parametrize("problem", [True, False])
def test_every_status_but_200_is_an_error(
    status: int, kind: type[ClientError], problem: bool
) -> None:
    body = refusal(status) if problem and status >= 400 else []
    handler = answering(status, body, **{"x-request-id": "id1", "location": "http://evil/"})
    with client(handler) as askem, pytest.raises(ClientError) as caught:
        askem.hybrid(HYBRID)
    assert type(caught.value) is kind
    assert caught.value.request_id == "id1"


def test_refused_fields_are_named() -> None:
    errors = [{"field": "top_k", "message": "too big"}]
    askem = client(answering(422, refusal(422, errors=errors)))
    with askem, pytest.raises(Rejected, match="top_k: too big") as caught:
        askem.search(SearchRequest(question="q"))
    assert caught.value.errors == (("top_k", "too big"),)


@pytest.mark.parametrize(("header", "seconds"), [("3", 3.0), ("soon", None), ("²", None)])
def test_retry_after(header: str, seconds: float | None) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        return httpx.Response(503, headers=[(b"Retry-After", header.encode())])

    with client(handler) as askem, pytest.raises(Unavailable) as caught:
        askem.topics()
    assert caught.value.retry_after_s == seconds


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (httpx.ConnectError("refused"), Unavailable),
        (httpx.ConnectTimeout("late"), Unavailable),
        (httpx.ReadTimeout("late"), Unavailable),
        (httpx.ReadError("reset"), Unavailable),
        (httpx.RemoteProtocolError("cut"), Unavailable),
        (httpx.DecodingError("odd"), ServerFault),
    ],
)
def test_a_broken_exchange_is_an_error(error: Exception, kind: type[ClientError]) -> None:
    def handler(request: httpx.Request) -> httpx.Response:
        raise error

    with client(handler) as askem, pytest.raises(kind):
        askem.hybrid(HYBRID)


@pytest.mark.parametrize("body", [{}, None, "[]", [{}], [1]])
def test_a_body_of_another_shape_is_a_fault(body: object) -> None:
    with client(answering(200, body)) as askem, pytest.raises(ServerFault):
        askem.hybrid(HYBRID)


def test_an_endless_answer_is_cut_off() -> None:
    def endless() -> Iterator[bytes]:
        while True:
            yield b"x" * 1_000_000

    askem = client(lambda request: httpx.Response(200, content=endless()))
    with askem, pytest.raises(ServerFault, match="more than"):
        askem.hybrid(HYBRID)


def test_a_dripping_answer_meets_the_deadline() -> None:
    def drip() -> Iterator[bytes]:
        while True:
            yield b" "

    handler: Handler = lambda request: httpx.Response(200, content=drip())  # noqa: E731
    with client(handler, timeout_s=0.05) as askem, pytest.raises(Unavailable, match="whole"):
        askem.hybrid(HYBRID)


def test_not_ready_is_an_answer() -> None:
    body = {"ready": False, "checks": [{"name": "store", "ok": False, "detail": "gone"}]}
    with client(answering(503, body)) as askem:
        ready = askem.ready()
    assert not ready.ready
    assert ready.checks[0].name == "store"
    with client(answering(503, refusal(503))) as askem, pytest.raises(Unavailable):
        askem.ready()


def test_an_unusable_key_is_refused_before_anything_is_sent() -> None:
    with pytest.raises(ConfigurationError):
        AskemClient("http://test", "short")


def test_neither_redirects_nor_proxies() -> None:
    options = exchange.options("http://test", KEY, 1.0)
    assert options["follow_redirects"] is False
    assert options["trust_env"] is False


def test_the_asynchronous_client_does_the_same() -> None:
    async def slow(request: httpx.Request) -> httpx.Response:
        await asyncio.sleep(5)
        raise AssertionError

    async def go() -> None:
        transport = httpx.MockTransport(answering(200, []))
        async with AsyncAskemClient("http://test", KEY, transport=transport) as askem:
            assert await askem.hybrid(HYBRID) == []
            assert await askem.vector(VectorRequest(question="q")) == []
            assert await askem.topics() == []
        transport = httpx.MockTransport(answering(401, refusal(401)))
        async with AsyncAskemClient("http://test", KEY, transport=transport) as askem:
            with pytest.raises(Unauthorized):
                await askem.hybrid(HYBRID)
        late = httpx.MockTransport(slow)
        async with AsyncAskemClient("http://test", KEY, timeout_s=0.02, transport=late) as askem:
            with pytest.raises(Unavailable):
                await askem.hybrid(HYBRID)

    asyncio.run(go())
