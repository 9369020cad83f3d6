"""A proxy before Elasticsearch that spoils bulk writes, as an overloaded cluster does."""

from __future__ import annotations

import http.client
import json
import random
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import urlsplit


class Faults:
    """What is done to bulk requests, and how often it was."""

    def __init__(
        self, *, later: float = 0.0, refused: frozenset[str] = frozenset(), late_every: int = 0
    ) -> None:
        """`later`: share of items answered 429 without being carried out; `refused`: ids answered
        400; `late_every`: of so many requests, one is carried out and its answer held back."""
        self.later = later
        self.refused = refused
        self.late_every = late_every
        self.done = Counter[str]()
        self.random = random.Random(5)


@contextmanager
def faulty_proxy(target: str, faults: Faults, *, hold_s: float) -> Iterator[str]:
    """Yields the proxy's URL."""
    address = urlsplit(target)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            return

        def _forward(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
            connection = http.client.HTTPConnection(address.hostname or "", address.port)
            skipped = ("host", "content-length", "connection", "accept-encoding")
            headers = {k: v for k, v in self.headers.items() if k.lower() not in skipped}
            connection.request(self.command, self.path, body or None, headers)
            answer = connection.getresponse()
            content = answer.read()
            connection.close()
            return answer.status, answer.getheaders(), content

        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.path.startswith("/_bulk") and self.command in ("PUT", "POST"):
                faults.done["requests"] += 1
                status, headers, content = self._spoiled(body)
                if faults.late_every and faults.done["requests"] % faults.late_every == 0:
                    faults.done["late"] += 1
                    time.sleep(hold_s)
                    self.close_connection = True
                    return
            else:
                faults.done[self.path.partition("?")[0]] += 1
                status, headers, content = self._forward(body)
            self.send_response(status)
            for name, value in headers:
                if name.lower() not in ("content-length", "transfer-encoding", "connection"):
                    self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(content)

        def _spoiled(self, body: bytes) -> tuple[int, list[tuple[str, str]], bytes]:
            kept: list[bytes] = []
            outcome: list[dict[str, Any] | None] = []
            lines = iter(body.splitlines())
            for line in lines:
                (kind, target), *_ = json.loads(line).items()
                document = [next(lines)] if kind == "index" else []
                fault = self._fault(kind, target["_id"])
                outcome.append(fault)
                if fault is None:
                    kept += [line, *document]
            items: list[Any] = []
            status, headers = 200, [("Content-Type", "application/json")]
            headers.append(("X-Elastic-Product", "Elasticsearch"))
            if kept:
                status, headers, content = self._forward(b"\n".join([*kept, b""]))
                if status != 200:
                    return status, headers, content
                items = json.loads(content)["items"]
            done = iter(items)
            merged = [fault if fault is not None else next(done) for fault in outcome]
            answer = {"took": 1, "errors": any(outcome), "items": merged}
            return status, headers, json.dumps(answer).encode()

        def _fault(self, kind: str, key: str) -> dict[str, Any] | None:
            if kind == "index" and key in faults.refused:
                faults.done["400"] += 1
                error = {"type": "document_parsing_exception", "reason": "spoiled"}
                return {kind: {"_id": key, "status": 400, "error": error}}
            if faults.random.random() < faults.later:
                faults.done["429"] += 1
                error = {"type": "es_rejected_execution_exception", "reason": "full"}
                return {kind: {"_id": key, "status": 429, "error": error}}
            return None

        do_GET = do_POST = do_PUT = do_DELETE = do_HEAD = _answer  # noqa: N815

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
