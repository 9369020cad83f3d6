"""The container's health check."""

from __future__ import annotations

import socket
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from askem.http import probe


class Answer(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/healthz" else 404)
        self.end_headers()

    def log_message(self, *_: object) -> None: ...


def test_alive_means_a_200(monkeypatch: pytest.MonkeyPatch) -> None:
    with HTTPServer(("127.0.0.1", 0), Answer) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        assert probe.alive("127.0.0.1", server.server_port)
        monkeypatch.setenv("ASKEM_PORT", str(server.server_port))
        with pytest.raises(SystemExit) as end:
            probe.main()
        assert end.value.code == 0
        server.shutdown()
    assert not probe.alive("127.0.0.1", server.server_port)


def test_one_that_hangs_or_talks_nonsense_is_not_alive() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port = listener.getsockname()[1]
        assert not probe.alive("127.0.0.1", port, timeout_s=0.2)

        def nonsense() -> None:
            listener.accept()[0].close()  # the one that was left hanging
            connection, _ = listener.accept()
            connection.sendall(b"what?\r\n\r\n")
            connection.close()

        talking = threading.Thread(target=nonsense)
        talking.start()
        assert not probe.alive("127.0.0.1", port)
        talking.join()
