"""The agent as an app of its own: its rates, and whether it is ready."""

from __future__ import annotations

import socket

from pydantic import SecretStr

from askem.testing.inprocess import AppRunner
from askem_agent.app import create_app
from askem_agent.settings import AgentSettings

KEY = "test-key-0123456789"


def test_its_rate_is_the_configured_one() -> None:
    settings = AgentSettings(api_key=SecretStr(KEY), rate_per_minute=2)
    with AppRunner(create_app(settings), headers={"Api-Key": KEY}) as door:
        answers = [door.request("GET", "/x") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [404, 404, 429]


def test_a_retriever_that_is_gone_cannot_answer_now() -> None:
    with socket.socket() as bound:
        # Held, and nobody listens: connections are refused.
        bound.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{bound.getsockname()[1]}"
        settings = AgentSettings(api_key=SecretStr(KEY), retriever_url=url)
        with AppRunner(create_app(settings)) as door:
            answer = door.request("GET", "/readyz")
    assert answer.status_code == 503
    assert answer.json()["checks"] == [
        {"name": "agent's retriever", "ok": False, "detail": "cannot answer now"}
    ]
