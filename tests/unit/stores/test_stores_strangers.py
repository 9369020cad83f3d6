"""Whatever answers at an engine's address, without an engine."""

from __future__ import annotations

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler
from typing import Any

import elasticsearch as es
import httpx
import pytest

from askem.breaker import Outage
from askem.errors import BackendUnavailable, SchemaUnfit
from askem.stores.servers.bulk import Action, Bulk
from askem.stores.servers.elastic import Elastic
from askem.stores.servers.weaviate import Weaviate
from askem.testing.loopback import LoopbackServer

PAGE = "<html><body>" + "<p>Somebody else's page.</p>" * 200 + "</body></html>"


@contextmanager
def answering(status: int, body: str, kind: str, **headers: str) -> Iterator[str]:
    """A server that answers everything so; yields its URL."""

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            return

        def _answer(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            content = body.encode()
            self.send_response(200 if self.command == "HEAD" else status)
            for name, value in {**headers, "Content-Type": kind}.items():
                self.send_header(name.replace("_", "-"), value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _answer  # noqa: N815

    with LoopbackServer(Handler) as server:
        yield server.url.removesuffix("/v1")


def elastic(url: str) -> Elastic:
    return Elastic(url, "key", timeout_s=5, write_timeout_s=5)


def weaviate(url: str, grpc_url: str) -> Weaviate:
    return Weaviate(url, grpc_url, "key", timeout_s=5, write_timeout_s=5)


def look(client: es.Elasticsearch) -> bool:
    """As works do that take a 404 for an answer."""
    try:
        client.indices.get_alias(name="passages")
    except es.NotFoundError:
        return False
    return True


@pytest.mark.parametrize("status", [200, 404, 500])
@pytest.mark.parametrize(("body", "kind"), [(PAGE, "text/html"), ("{}", "application/json")])
def test_another_server_is_no_elasticsearch(status: int, body: str, kind: str) -> None:
    with answering(status, body, kind) as url, closing(elastic(url)) as engine:
        for ask in (engine.read, engine.write):
            with pytest.raises(BackendUnavailable, match="ELASTICSEARCH_URL") as raised:
                ask(look)
            assert "\n" not in str(raised.value)
            assert len(str(raised.value)) < 120
            assert not isinstance(raised.value, Outage)


@pytest.mark.parametrize("status", [200, 404, 500])
@pytest.mark.parametrize(("body", "kind"), [(PAGE, "text/html"), ("[]", "application/json")])
def test_another_server_is_no_weaviate(status: int, body: str, kind: str) -> None:
    with (
        answering(status, body, kind) as url,
        closing(weaviate(url, "http://127.0.0.1:9")) as engine,
    ):
        with pytest.raises(BackendUnavailable, match="WEAVIATE_URL") as raised:
            engine.write(lambda client: client.is_ready())
        assert len(str(raised.value)) < 120
        assert not isinstance(raised.value, Outage)


def test_a_grpc_port_that_is_closed_is_named_and_not_waited_for() -> None:
    with closing(socket.create_server(("127.0.0.1", 0))) as taken:
        port = taken.getsockname()[1]
    meta = '{"version": "1.35.2"}'
    with (
        answering(200, meta, "application/json") as url,
        closing(weaviate(url, f"http://127.0.0.1:{port}")) as engine,
        pytest.raises(Outage, match="WEAVIATE_GRPC_URL") as raised,
    ):
        engine.write(lambda client: client.is_ready())
    assert raised.value.lasting


def test_a_connection_that_breaks_late_leaves_only_what_is_left_of_the_time() -> None:
    """As the time-out of another caller breaks it."""
    now = 0.0
    held = threading.Event()

    def work(client: Any) -> str:
        nonlocal now
        if now == 0.0:
            now = 59.9
            raise httpx.ReadError("the connection broke")
        held.wait(20)
        return "as if the time had begun anew"

    with (
        closing(socket.create_server(("127.0.0.1", 0))) as port,
        answering(200, '{"version": "1.35.2"}', "application/json") as url,
        closing(
            Weaviate(
                url,
                f"http://127.0.0.1:{port.getsockname()[1]}",
                "key",
                timeout_s=60,
                write_timeout_s=60,
                clock=lambda: now,
            )
        ) as engine,
    ):
        with pytest.raises(Outage, match="in time"):
            engine.read(work)
        held.set()


BLOCK = (
    '{"type": "cluster_block_exception", "reason": "index [p] blocked by: [TOO_MANY_REQUESTS/12/'
    'disk usage exceeded flood-stage watermark, index has read-only-allow-delete block]"}'
)
GENUINE = {"X_Elastic_Product": "Elasticsearch"}


def item(error: str) -> str:
    return f'{{"errors": true, "items": [{{"index": {{"status": 429, "error": {error}}}}}]}}'


def write_in_bulk(engine: Elastic, sleep: Callable[[float], None]) -> None:
    Bulk(engine, sleep=sleep).attempt([Action("p", "a#p0", b"{}")])


def test_a_read_only_index_is_named_and_not_waited_for() -> None:
    pauses: list[float] = []
    with (
        answering(200, item(BLOCK), "application/json", **GENUINE) as url,
        closing(elastic(url)) as engine,
        pytest.raises(BackendUnavailable, match=r"read-only \(disk full\?\): .*flood-stage"),
    ):
        write_in_bulk(engine, pauses.append)
    assert pauses == []


def test_a_read_only_index_is_named_where_one_document_is_written() -> None:
    body = f'{{"status": 429, "error": {BLOCK}}}'
    with (
        answering(429, body, "application/json", **GENUINE) as url,
        closing(elastic(url)) as engine,
        pytest.raises(BackendUnavailable, match=r"read-only \(disk full\?\): .*flood-stage"),
    ):
        engine.write(lambda client: client.index(index="p", id="a", document={}))


def test_a_missing_index_says_what_to_do() -> None:
    body = '{"status": 404, "error": {"type": "index_not_found_exception", "reason": "no"}}'
    with (
        answering(404, body, "application/json", **GENUINE) as url,
        closing(elastic(url)) as engine,
        pytest.raises(SchemaUnfit, match="askem schema create"),
    ):
        engine.read(lambda client: client.indices.get_mapping(index="p"))
