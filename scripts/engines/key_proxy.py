"""Demands an API key before Elasticsearch, as its security does; the packages come without it.

Run as `key_proxy.py <port> <node's port>`, both on loopback, with the keys in the environment
variables WRITE_KEY (may do everything) and READ_KEY (may read). For tests only.
"""

from __future__ import annotations

import contextlib
import hmac
import http.client
import json
import os
import re
import select
import socket
import sys
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

HOST = "127.0.0.1"
BLOCK = 64 * 1024
NAME = r"(?:_all|[^/_][^/]*)"  # an index, an alias, or several
READS = {
    "POST": re.compile(
        rf"(/{NAME})?/(_search|_msearch|_count|_mget|_analyze)|/_search/scroll"
        rf"|/{NAME}/_pit|/{NAME}/_termvectors(/[^/]+)?"
    ),
    "DELETE": re.compile(r"/_pit|/_search/scroll"),
}
# They answer to GET, but they are maintenance.
MAINTENANCE = re.compile(r"(/[^/]*)?/(_refresh|_flush)/?")
OF_ONE_CONNECTION = {
    "connection",
    "expect",
    "keep-alive",
    "proxy-authenticate",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
}


class BadRequest(Exception):
    """The request's framing is not one that every reader would read alike."""


class ClientGone(Exception):
    """The client closed its connection before its request was answered."""


def may_read(method: str, target: str) -> bool:
    """Whether a request is within what the read-only key is for."""
    path = target.partition("?")[0]
    if "%2f" in path.lower():
        return False
    if method in ("GET", "HEAD"):
        return not MAINTENANCE.fullmatch(path)
    return method in READS and READS[method].fullmatch(path) is not None


class Handler(BaseHTTPRequestHandler):
    """One connection of a client, with at most one connection to the node."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = BLOCK
    node_port: int
    keys: dict[str, bool]  # key to: may write
    node: http.client.HTTPConnection | None = None

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class's name
        """Says nothing: the node has its own log."""

    def handle_expect_100(self) -> bool:
        return True  # `forward` asks for the body once the key has been checked

    def finish(self) -> None:
        self.drop_node()
        with contextlib.suppress(OSError):
            super().finish()

    def forward(self) -> None:
        try:
            chunked, length = self.framing()
            refusal = self.refusal()
            if refusal:
                self.refuse(chunked, length, *refusal)
            else:
                self.relay(chunked, length)
        except BadRequest as bad:
            self.drop_node()
            self.close_connection = True
            self.answer_error(400, "illegal_argument_exception", str(bad))
        except (ClientGone, ConnectionError, http.client.HTTPException):
            self.drop_node()
            self.close_connection = True

    do_GET = do_HEAD = do_POST = do_PUT = do_DELETE = do_OPTIONS = forward  # noqa: N815

    def framing(self) -> tuple[bool, int]:
        """(whether the body comes in chunks, its length in bytes otherwise)."""
        codings = self.headers.get_all("Transfer-Encoding", [])
        lengths = set(self.headers.get_all("Content-Length", []))
        if codings:
            if lengths or [coding.strip().lower() for coding in codings] != ["chunked"]:
                raise BadRequest("Transfer-Encoding must be chunked, without a Content-Length")
            return True, 0
        if len(lengths) > 1 or not all(re.fullmatch("[0-9]{1,18}", text) for text in lengths):
            raise BadRequest("Content-Length is not a number")
        return False, int(lengths.pop()) if lengths else 0

    def refusal(self) -> tuple[int, str] | None:
        """(status, reason) when the key is not one for this request."""
        scheme, _, given = self.headers.get("Authorization", "").strip().partition(" ")
        writes: bool | None = None
        for key, may_write in self.keys.items():
            if hmac.compare_digest(key.encode(), given.strip().encode()):
                writes = may_write
        if scheme.lower() != "apikey" or writes is None:
            return 401, "missing or unknown API key: send Authorization: ApiKey <key>"
        if not writes and not may_read(self.command, self.path):
            return 403, f"the read-only key may not {self.command} {self.path.partition('?')[0]}"
        return None

    def answer_error(self, status: int, kind: str, reason: str) -> None:
        cause = {"type": kind, "reason": reason}
        error = {"error": {"root_cause": [cause], **cause}, "status": status}
        body = json.dumps(error).encode()
        self.send_response_only(status)
        if status == 401:
            self.send_header("WWW-Authenticate", "ApiKey")
        self.send_header("X-Elastic-Product", "Elasticsearch")
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_answer_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def end_answer_headers(self) -> None:
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()

    def refuse(self, chunked: bool, length: int, status: int, reason: str) -> None:
        """Answers, and reads past the body: a client that still sends would miss the answer."""
        self.close_connection |= "Expect" in self.headers
        self.answer_error(status, "security_exception", reason)
        self.wfile.flush()
        if not self.close_connection:
            for _ in self.read_body(chunked, length):
                pass

    def relay(self, chunked: bool, length: int) -> None:
        try:
            node = self.connected_node()
            self.send_request(node, chunked, length)
            self.wait_for_answer(node)
            answer = node.getresponse()
        except (ValueError, http.client.InvalidURL) as bad:
            raise BadRequest(f"not a request target or header: {bad}") from bad
        except (OSError, http.client.HTTPException) as failure:
            self.drop_node()
            self.close_connection = True
            self.answer_error(502, "connect_exception", f"no answer from the node: {failure!r}")
            return
        self.send_answer(answer)
        if answer.will_close:
            self.drop_node()

    def connected_node(self) -> http.client.HTTPConnection:
        """The node's connection of this client, a new one if the node has closed it meanwhile."""
        if self.node and self.node.sock and not readable(self.node.sock):
            return self.node
        self.drop_node()
        self.node = http.client.HTTPConnection(HOST, self.node_port)
        self.node.connect()
        return self.node

    def drop_node(self) -> None:
        if self.node:
            self.node.close()
            self.node = None

    def send_request(self, node: http.client.HTTPConnection, chunked: bool, length: int) -> None:
        node.putrequest(self.command, self.path, skip_host=True, skip_accept_encoding=True)
        named = {name.strip().lower() for name in self.headers.get("Connection", "").split(",")}
        dropped = OF_ONE_CONNECTION | named | {"authorization"}
        for name, value in self.headers.items():
            if name.lower() not in dropped:
                node.putheader(name, value)
        if chunked:
            node.putheader("Transfer-Encoding", "chunked")
        node.endheaders()
        if self.headers.get("Expect", "").lower() == "100-continue":
            self.send_response_only(100)
            self.end_headers()
            self.wfile.flush()
        broken = False
        for block in self.read_body(chunked, length):
            if not broken:
                broken = not sent(node, b"%x\r\n%b\r\n" % (len(block), block) if chunked else block)
        if chunked and not broken:
            sent(node, b"0\r\n\r\n")

    def read_body(self, chunked: bool, length: int) -> Iterator[bytes]:
        return self.read_chunks() if chunked else self.read_exactly(length)

    def read_exactly(self, length: int) -> Iterator[bytes]:
        while length:
            block = self.rfile.read1(min(length, BLOCK))
            if not block:
                raise ClientGone
            length -= len(block)
            yield block

    def read_chunks(self) -> Iterator[bytes]:
        while True:
            size = self.rfile.readline(1024).partition(b";")[0].strip()
            if not re.fullmatch(b"[0-9a-fA-F]{1,8}", size):
                raise ClientGone
            if int(size, 16) == 0:
                break
            yield from self.read_exactly(int(size, 16))
            self.rfile.readline(16)
        while self.rfile.readline(BLOCK) not in (b"\r\n", b"\n", b""):
            pass

    def wait_for_answer(self, node: http.client.HTTPConnection) -> None:
        """Waits until the node answers; lets go of it when the client leaves, which cancels."""
        poll = select.poll()
        poll.register(node.sock, select.POLLIN)
        poll.register(self.connection, select.POLLIN)
        while True:
            ready = {descriptor for descriptor, _ in poll.poll()}
            if node.sock.fileno() in ready:
                return
            if not self.client_there():
                raise ClientGone
            poll.unregister(self.connection)  # its next request is there already

    def client_there(self) -> bool:
        try:
            return bool(self.connection.recv(1, socket.MSG_PEEK))
        except OSError:
            return False

    def send_answer(self, answer: http.client.HTTPResponse) -> None:
        self.send_response_only(answer.status, answer.reason)
        for name, value in answer.getheaders():
            if name.lower() not in OF_ONE_CONNECTION:
                self.send_header(name, value)
        has_body = self.command != "HEAD" and answer.status not in (204, 304)
        length = answer.getheader("Content-Length")
        chunked = has_body and length is None
        if chunked and self.request_version == "HTTP/1.0":
            chunked, self.close_connection = False, True
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
        self.end_answer_headers()
        passed_on = 0
        while block := answer.read1(BLOCK):
            self.wfile.write(b"%x\r\n%b\r\n" % (len(block), block) if chunked else block)
            passed_on += len(block)
        answer.close()
        if chunked:
            self.wfile.write(b"0\r\n\r\n")
        elif has_body and length is not None and passed_on != int(length):
            raise http.client.IncompleteRead(b"", int(length) - passed_on)


def sent(node: http.client.HTTPConnection, block: bytes) -> bool:
    """False when the node reads no further; it may have answered all the same (too large)."""
    try:
        node.send(block)
    except (BrokenPipeError, ConnectionResetError):
        return False
    return True


def readable(connection: socket.socket) -> bool:
    """Whether there is something to read; on an idle connection, that it was closed."""
    poll = select.poll()
    poll.register(connection, select.POLLIN)
    return bool(poll.poll(0))


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, request: object, client_address: object) -> None:
        """A connection that breaks is nobody's error; all others are printed."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


def main() -> None:
    port, Handler.node_port = (int(text) for text in sys.argv[1:3])
    Handler.keys = {
        os.environ["READ_KEY"]: False,
        os.environ["WRITE_KEY"]: True,
    }
    with Server((HOST, port), Handler) as server:
        server.serve_forever()


if __name__ == "__main__":
    main()
