"""The remote encoder against a scripted server, through the real openai client."""

from __future__ import annotations

import json
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from askem.breaker import Breaker
from askem.encoders import open_encoder
from askem.encoders.embeddings_client import Endpoint
from askem.encoders.remote import MAX_BATCH, RemoteEncoder
from askem.errors import (
    AskemError,
    BackendUnavailable,
    ConfigurationError,
    EncoderMismatch,
    Overloaded,
)
from askem.settings import CommonSettings
from askem.stores.embedded import EmbeddedStore
from askem.testing.contract import make_source
from askem.testing.embeddings_server import (
    EmbeddingsServer,
    Floats,
    Step,
    drop,
    hang,
    raw,
    status,
    vector_of,
    vectors,
)

DIMENSION = 8
KEY = "sk-test-0123456789"
UPSTREAM = "upstream-secret-text"

Items = list[dict[str, Any]]


class Bench:
    """Servers and encoders that end with the test; pauses are noted, not slept."""

    def __init__(self) -> None:
        self.pauses: list[float] = []
        self._servers: list[EmbeddingsServer] = []
        self._encoders: list[RemoteEncoder] = []

    def server(self, *script: Step, then: Step | None = None) -> EmbeddingsServer:
        self._servers.append(EmbeddingsServer(script, then=then).__enter__())
        return self._servers[-1]

    def encoder(self, url: str, **options: Any) -> RemoteEncoder:
        own = {name: options.pop(name) for name in ("window_tokens", "dimension", "concurrency")
               if name in options}  # fmt: skip
        endpoint = Endpoint(**{"url": url, "model": "m-1", "key": KEY, **options})
        given = {"window_tokens": 512, "dimension": DIMENSION, **own}
        self._encoders.append(RemoteEncoder(endpoint, sleep=self.pauses.append, **given))
        return self._encoders[-1]

    def close(self) -> None:
        # Servers first: what hangs there lets go.
        for server in self._servers:
            server.__exit__(None, None, None)
        for encoder in self._encoders:
            encoder.close()


@pytest.fixture
def bench() -> Iterator[Bench]:
    made = Bench()
    yield made
    made.close()


def unit(vector: Floats) -> Floats:
    return vector / np.linalg.norm(vector)


# What is asked and what comes back


@pytest.mark.parametrize("encoding", ["base64", "float"])
def test_vectors_are_the_servers_at_length_1(bench: Bench, encoding: str) -> None:
    server = bench.server()
    encoder = bench.encoder(server.url, encoding=encoding)
    question = encoder.encode_question("What is SIDARTHE?")
    found = encoder.encode_passages(["one", "two"])
    np.testing.assert_allclose(question, unit(vector_of("What is SIDARTHE?", 8)), atol=1e-6)
    for text, vector in zip(["one", "two"], found, strict=True):
        assert vector.shape == (1, 8)
        assert vector.dtype == np.float32
        np.testing.assert_allclose(vector[0], unit(vector_of(text, 8)), atol=1e-6)
    asked = server.requests[0]
    assert asked.path == "/v1/embeddings"
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert asked.body == {
        "model": "m-1",
        "input": ["What is SIDARTHE?"],
        "encoding_format": encoding,
    }


def test_numbers_are_taken_where_base64_was_asked_for(bench: Bench) -> None:
    def as_numbers(items: Items) -> Items:
        return [{**item, "embedding": [3, 4.0, 0, 0, 0, 0, 0, 0]} for item in items]

    encoder = bench.encoder(bench.server(then=vectors(arrange=as_numbers)).url)
    assert encoder.encode_question("a")[:2].tolist() == pytest.approx([0.6, 0.8])


def test_the_kind_of_text_is_said_where_it_is_wanted(bench: Bench) -> None:
    server = bench.server()
    encoder = bench.encoder(server.url, input_type=True)
    question, (passage,) = encoder.encode_question("same"), encoder.encode_passages(["same"])
    assert [request.body["input_type"] for request in server.requests] == ["query", "document"]
    assert not np.allclose(question, passage[0], atol=0.1)


def test_the_order_is_that_of_the_index_not_of_the_list(bench: Bench) -> None:
    server = bench.server(then=vectors(arrange=lambda items: items[::-1]))
    found = bench.encoder(server.url).encode_passages(["one", "two", "three"])
    for text, vector in zip(["one", "two", "three"], found, strict=True):
        np.testing.assert_allclose(vector[0], unit(vector_of(text, 8)), atol=1e-6)


def test_many_texts_go_in_batches(bench: Bench) -> None:
    server = bench.server()
    texts = [f"text {n}" for n in range(150)]
    found = bench.encoder(server.url, concurrency=3).encode_passages(texts)
    assert sorted(len(request.body["input"]) for request in server.requests) == [22, 64, 64]
    for text, vector in zip(texts, found, strict=True):
        np.testing.assert_allclose(vector[0], unit(vector_of(text, 8)), atol=1e-6)


def test_large_texts_make_small_batches(bench: Bench) -> None:
    server = bench.server()
    texts = ["word " * 20_000] * 6
    bench.encoder(server.url, window_tokens=1_000_000).encode_passages(texts)
    assert [len(request.body["input"]) for request in server.requests] == [2, 2, 2]
    assert len(texts) < MAX_BATCH


def test_a_question_is_asked_for_once(bench: Bench) -> None:
    server = bench.server()
    encoder = bench.encoder(server.url)
    first = encoder.encode_question("again")
    assert encoder.encode_question("again") is first
    assert len(server.requests) == 1
    with pytest.raises(ValueError, match="read-only"):
        first[0] = 1.0


def test_no_texts_ask_nothing(bench: Bench) -> None:
    server = bench.server()
    assert bench.encoder(server.url).encode_passages([]) == []
    assert server.requests == []


def test_long_texts_are_cut_at_sentences_and_nothing_is_lost(bench: Bench) -> None:
    server = bench.server()
    encoder = bench.encoder(server.url, window_tokens=64)
    text = " ".join(f"Sentence {n} tells of group {n * 7}." for n in range(60))
    (found,) = encoder.encode_passages([text])
    sent = [window for request in server.requests for window in request.body["input"]]
    assert found.shape == (len(sent), 8)
    assert len(sent) > 5
    assert sorted(" ".join(sent).split()) == sorted(text.split())
    question = encoder.encode_question(text)
    np.testing.assert_allclose(question, unit(found.mean(axis=0)), atol=1e-5)


# Its id and its dimension


def test_the_dimension_is_asked_for_where_it_is_not_given(bench: Bench) -> None:
    server = bench.server(then=vectors(12))
    encoder = bench.encoder(server.url, dimension=None)
    assert encoder.dimension == 12
    assert len(server.requests) == 1
    assert encoder.encode_question("a").shape == (12,)


def test_a_given_dimension_needs_no_server_at_the_start(bench: Bench) -> None:
    assert bench.encoder("http://127.0.0.1:9/v1").dimension == DIMENSION


def test_the_id_follows_the_model_not_the_address(bench: Bench) -> None:
    one, other = bench.server(), bench.server()
    encoder = bench.encoder(one.url)
    assert encoder.encoder_id == bench.encoder(other.url, key="other").encoder_id
    assert encoder.encoder_id.startswith("m-1@8-")
    for change in (
        {"model": "m-2"},
        {"dimension": 9},
        {"window_tokens": 256},
        {"input_type": True},
    ):
        assert bench.encoder(one.url, **change).encoder_id != encoder.encoder_id


def test_an_index_of_another_encoder_is_refused(bench: Bench, tmp_path: Path) -> None:
    server = bench.server()
    encoder = bench.encoder(server.url)
    with EmbeddedStore.open(tmp_path, encoder) as store:
        store.writer.replace([make_source("a", ["The virus spreads by air."], encoder)])
    with pytest.raises(EncoderMismatch, match=r"m-1@8-.*m-2@8-"):
        EmbeddedStore.open(tmp_path, bench.encoder(server.url, model="m-2"))
    with pytest.raises(EncoderMismatch, match=r"m-1@8-.*m-1@9-"):
        EmbeddedStore.open(tmp_path, bench.encoder(server.url, dimension=9))


def test_another_dimension_than_expected_is_refused(bench: Bench) -> None:
    encoder = bench.encoder(bench.server(then=vectors(9)).url)
    with pytest.raises(ConfigurationError, match="9 dimensions, 8 are expected"):
        encoder.encode_question("a")


# Answers that cannot be used

Change = Callable[[Floats], Floats]


def spoiled(value: float) -> Change:
    def change(vector: Floats) -> Floats:
        vector[3] = value
        return vector

    return change


def without(name: str) -> Callable[[Items], Items]:
    return lambda items: [{k: v for k, v in item.items() if k != name} for item in items]


def replaced(name: str, value: object) -> Callable[[Items], Items]:
    return lambda items: [{**item, name: value} for item in items]


BAD: dict[str, tuple[Step, str]] = {
    "NaN": (vectors(change=spoiled(np.nan)), "no number"),
    "infinity": (vectors(change=spoiled(np.inf)), "no number"),
    "zeros": (vectors(change=lambda vector: vector * 0), "zeros"),
    "one too few": (vectors(arrange=lambda items: items[:-1]), "2 texts were sent, 1 vectors"),
    "one too many": (vectors(arrange=lambda items: [*items, items[0]]), "3 vectors came back"),
    "an index twice": (vectors(arrange=replaced("index", 0)), "indexes"),
    "an index beyond": (vectors(arrange=replaced("index", 7)), "indexes"),
    "a negative index": (vectors(arrange=replaced("index", -1)), "indexes"),
    "an index of text": (vectors(arrange=replaced("index", "0")), "indexes"),
    "no index": (vectors(arrange=without("index")), "indexes"),
    "no vector": (vectors(arrange=without("embedding")), "neither numbers nor base64"),
    "text in a vector": (vectors(arrange=replaced("embedding", ["1"])), "neither numbers"),
    "an empty vector": (vectors(arrange=replaced("embedding", [])), "neither numbers"),
    "an endless number": (vectors(arrange=replaced("embedding", [10**400])), "no number"),
    "a large number": (vectors(arrange=replaced("embedding", [1e300])), "no number"),
    "no base64": (vectors(arrange=replaced("embedding", "?!")), "not valid base64"),
    "half a number": (vectors(arrange=replaced("embedding", "AAAA")), "float32"),
    "no JSON": (raw(b"<html>busy</html>"), "not JSON"),
    "cut JSON": (raw(b'{"data": [{"index": 0, "embed'), "not JSON"),
    "deep JSON": (raw(b"[" * 100_000), "not JSON"),
    "no object": (raw(b"[]"), "no list"),
    "no list": (raw(b'{"data": {"0": 1}}'), "no list"),
    "items of another kind": (raw(b'{"data": [1, 2]}'), "indexes"),
    "huge": (raw(b" " * 3_000_000), "larger than any"),
    "packed": (raw(b"x", {"Content-Encoding": "gzip"}), "content encoding"),
}


@pytest.mark.parametrize(("step", "message"), BAD.values(), ids=BAD)
def test_an_answer_that_cannot_be_used_is_refused_at_once(
    bench: Bench, step: Step, message: str
) -> None:
    server = bench.server(then=step)
    encoder = bench.encoder(server.url, max_answer_bytes=1_000_000)
    with pytest.raises(BackendUnavailable, match=message) as caught:
        encoder.encode_passages(["one", "two"])
    assert caught.value.backend == "encoder"
    assert len(server.requests) == 1


def test_vectors_of_two_dimensions_are_refused(bench: Bench) -> None:
    def uneven(items: Items) -> Items:
        return [{**item, "embedding": [1.0] * (8 + item["index"])} for item in items]

    encoder = bench.encoder(bench.server(then=vectors(arrange=uneven)).url)
    with pytest.raises(BackendUnavailable, match="differ in dimension"):
        encoder.encode_passages(["one", "two"])


# Failures, and what is tried again


@pytest.mark.parametrize("code", [429, 500, 502, 503, 504])
def test_named_statuses_are_tried_again(bench: Bench, code: int) -> None:
    server = bench.server(status(code), status(code))
    found = bench.encoder(server.url).encode_passages(["one"])
    np.testing.assert_allclose(found[0][0], unit(vector_of("one", 8)), atol=1e-6)
    assert len(server.requests) == 3
    assert 0.12 <= bench.pauses[0] <= 0.38
    assert 0.25 <= bench.pauses[1] <= 0.76


def test_a_dropped_connection_is_tried_again(bench: Bench) -> None:
    server = bench.server(drop)
    assert len(bench.encoder(server.url).encode_passages(["one"])) == 1
    assert len(server.requests) == 2


def test_retry_after_is_kept_to(bench: Bench) -> None:
    server = bench.server(status(429, {"Retry-After": "7"}))
    bench.encoder(server.url).encode_passages(["one"])
    assert bench.pauses == [7.0]


def test_a_question_does_not_wait_for_a_long_pause(bench: Bench) -> None:
    server = bench.server(status(429, {"Retry-After": "7"}))
    with pytest.raises(BackendUnavailable, match="answered 429") as caught:
        bench.encoder(server.url).encode_question("one")
    assert caught.value.retry_after_s == 7.0
    assert bench.pauses == []


@pytest.mark.parametrize("given", ["-5", "soon", "1e9", "Wed, 21 Oct 2026 07:28:00 GMT", ""])
def test_a_retry_after_that_is_no_number_is_taken_as_not_given(bench: Bench, given: str) -> None:
    server = bench.server(status(503, {"Retry-After": given}))
    bench.encoder(server.url).encode_passages(["one"])
    assert bench.pauses[0] < 1


def test_patience_ends(bench: Bench) -> None:
    server = bench.server(then=status(503, message=UPSTREAM))
    encoder = bench.encoder(server.url)
    with pytest.raises(BackendUnavailable, match="answered 503"):
        encoder.encode_passages(["one"])
    assert len(server.requests) == 5
    with pytest.raises(BackendUnavailable, match="answered 503"):
        encoder.encode_question("one")
    assert len(server.requests) == 7


def test_after_a_failure_the_batches_that_wait_are_dropped(bench: Bench) -> None:
    server = bench.server(then=status(401))
    encoder = bench.encoder(server.url, concurrency=1)
    with pytest.raises(ConfigurationError):
        encoder.encode_passages([f"text {n}" for n in range(64 * 20)])
    encoder._pool.submit(int).result()  # behind whatever was not dropped
    assert len(server.requests) <= 3


def test_a_failed_question_is_asked_again_next_time(bench: Bench) -> None:
    server = bench.server(status(503), status(503))
    encoder = bench.encoder(server.url)
    with pytest.raises(BackendUnavailable):
        encoder.encode_question("one")
    assert encoder.encode_question("one").shape == (8,)


REFUSED = {
    400: "ASKEM_EMBEDDINGS_WINDOW_TOKENS",
    401: "ASKEM_EMBEDDINGS_KEY",
    403: "ASKEM_EMBEDDINGS_KEY",
    404: "ASKEM_EMBEDDINGS_MODEL",
    418: "ASKEM_EMBEDDINGS_URL",
    422: "ASKEM_EMBEDDINGS_WINDOW_TOKENS",
}


@pytest.mark.parametrize("code", REFUSED)
def test_a_refusal_says_what_to_do_and_nothing_from_upstream(bench: Bench, code: int) -> None:
    server = bench.server(then=status(code, message=UPSTREAM))
    with pytest.raises(ConfigurationError, match=REFUSED[code]) as caught:
        bench.encoder(server.url).encode_question("one")
    assert UPSTREAM not in str(caught.value)
    assert KEY not in str(caught.value)
    assert len(server.requests) == 1


def test_the_key_does_not_follow_a_redirect(bench: Bench) -> None:
    elsewhere = bench.server()
    location = {"Location": f"{elsewhere.url}/embeddings"}
    server = bench.server(then=status(307, location))
    with pytest.raises(ConfigurationError, match="sends us elsewhere"):
        bench.encoder(server.url).encode_question("one")
    assert elsewhere.requests == []


def test_a_server_that_hangs_is_given_up_in_time_and_asked_once(bench: Bench) -> None:
    server = bench.server(then=hang)
    encoder = bench.encoder(server.url, timeout_s=0.2)
    start = time.monotonic()
    with pytest.raises(BackendUnavailable, match="did not answer in time"):
        encoder.encode_question("one")
    assert time.monotonic() - start < 5
    assert len(server.requests) == 1


def test_a_server_that_hangs_costs_the_next_question_nothing(bench: Bench) -> None:
    server = bench.server(then=hang)
    encoder = bench.encoder(server.url, timeout_s=0.2)
    with pytest.raises(BackendUnavailable, match="did not answer in time"):
        encoder.encode_question("one")
    for ask in (lambda: encoder.encode_question("two"), encoder.ping):
        with pytest.raises(BackendUnavailable, match="not asked"):
            ask()
    assert len(server.requests) == 1


def test_after_an_outage_one_question_tries_and_is_not_waited_for_long(bench: Bench) -> None:
    server = bench.server(hang, hang)
    # Nobody waits so long for what is tried.
    encoder = bench.encoder(server.url, timeout_s=60.0)
    encoder._breaker = Breaker("encoder", open_s=0.0, max_open_s=0.0)
    with pytest.raises(BackendUnavailable, match="did not answer in time"):
        encoder.ping()
    with pytest.raises(BackendUnavailable, match="did not answer in time"):
        encoder.encode_question("one")
    assert encoder.encode_question("two").shape == (DIMENSION,)
    assert not encoder._breaker.is_open


def test_a_server_that_answers_with_an_error_is_there(bench: Bench) -> None:
    server = bench.server(status(429, {"Retry-After": "30"}))
    encoder = bench.encoder(server.url)
    with pytest.raises(BackendUnavailable) as raised:
        encoder.encode_question("one")
    assert raised.value.retry_after_s == 30
    assert encoder.encode_question("one").shape == (DIMENSION,)


def test_a_ping_is_not_answered_from_what_is_kept(bench: Bench) -> None:
    server = bench.server()
    encoder = bench.encoder(server.url)
    encoder.ping()
    encoder.ping()
    assert len(server.requests) == 2


def test_nobody_there_is_tried_again_and_then_unavailable(bench: Bench) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(BackendUnavailable, match="cannot be reached"):
        bench.encoder(f"http://127.0.0.1:{port}/v1").encode_question("one")
    assert len(bench.pauses) == 1


def test_connections_are_bounded(bench: Bench) -> None:
    server = bench.server(hang)
    encoder = bench.encoder(server.url, concurrency=1, timeout_s=0.5)
    waiting = encoder._pool.submit(encoder.encode_question, "hangs")
    while not server.requests:
        time.sleep(0.005)
    # As long as the one place is taken; its holder gives up after the same time.
    encoder._wait_s = 0.05
    with pytest.raises(Overloaded):
        encoder.encode_question("other")
    with pytest.raises(BackendUnavailable, match="in time"):
        waiting.result()


def test_closing_does_not_wait_out_a_pause(bench: Bench) -> None:
    server = bench.server(then=status(503, {"Retry-After": "30"}))
    endpoint = Endpoint(url=server.url, model="m-1")
    encoder = RemoteEncoder(endpoint, window_tokens=512, dimension=8)
    with ThreadPoolExecutor(1) as pool:
        loading = pool.submit(encoder.encode_passages, ["one"])
        while not server.requests:
            time.sleep(0.005)
        start = time.monotonic()
        encoder.close()
        with pytest.raises(BackendUnavailable, match="answered 503"):
            loading.result()
    assert time.monotonic() - start < 10


# Settings


def test_it_is_made_from_settings(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    server = bench.server()
    for name, value in {
        "ASKEM_ENCODER": "remote",
        "ASKEM_EMBEDDINGS_URL": server.url,
        "ASKEM_EMBEDDINGS_MODEL": "m-1",
        "ASKEM_EMBEDDINGS_KEY": KEY,
        "ASKEM_EMBEDDINGS_WINDOW_TOKENS": "512",
        "ASKEM_EMBEDDINGS_DIMENSION": "8",
        "OPENAI_ORG_ID": "org-of-another-server",
        "OPENAI_BASE_URL": "http://127.0.0.1:9/v1",
        **dict.fromkeys(("HTTP_PROXY", "http_proxy", "ALL_PROXY"), "http://127.0.0.1:9"),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), ""),
    }.items():
        monkeypatch.setenv(name, value)
    settings = CommonSettings()
    assert KEY not in repr(settings)
    encoder = open_encoder(settings)
    assert encoder.encoder_id == bench.encoder(server.url).encoder_id
    encoder.encode_question("one")
    encoder.close()
    (asked,) = server.requests
    assert asked.headers["authorization"] == f"Bearer {KEY}"
    assert "openai-organization" not in asked.headers


@pytest.mark.parametrize("missing", ["embeddings_url", "embeddings_model", "embeddings_window"])
def test_what_is_not_set_is_named(missing: str) -> None:
    given = {
        "embeddings_url": "http://127.0.0.1:9/v1",
        "embeddings_model": "m-1",
        "embeddings_window_tokens": 512,
    }
    kept = {name: value for name, value in given.items() if not name.startswith(missing)}
    with pytest.raises(ConfigurationError, match=f"ASKEM_{missing.upper()}"):
        open_encoder(CommonSettings(encoder="remote", **kept))


def test_the_key_is_in_no_text_of_the_endpoint() -> None:
    assert KEY not in repr(Endpoint(url="http://x/v1", model="m", key=KEY))


def test_every_failure_is_an_error_of_ours(bench: Bench) -> None:
    """Whatever the bytes are."""
    encoder = bench.encoder(bench.server(then=raw(json.dumps("x").encode())).url)
    with pytest.raises(AskemError):
        encoder.encode_question("one")
