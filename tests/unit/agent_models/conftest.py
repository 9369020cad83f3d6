"""A model behind a scripted server: one turn of it, plain or streamed."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import pytest
from langchain_core.messages import AIMessage, BaseMessage, HumanMessage
from pydantic import SecretStr

from askem.testing.openai_server import OpenAiServer, Request, Turn
from askem_agent.models import ModelConfig, ModelConnection, SteppingModel, open_model

KEY = "sk-secret-0123456789"
SEARCH = {
    "type": "function",
    "function": {
        "name": "search_literature",
        "description": "Passages that may answer a question.",
        "parameters": {
            "type": "object",
            "properties": {"question": {"type": "string"}},
            "required": ["question"],
        },
    },
}
Script = Iterable[Turn | Callable[[Request], Turn]] | Callable[[Request], Turn]


@dataclass
class Talk:
    """What came of it."""

    message: AIMessage
    requests: list[Request]
    pieces: list[str] = field(default_factory=list)
    """Streamed texts, in order."""
    naps: list[float] = field(default_factory=list)
    """Pauses between attempts, seconds; none was slept."""

    def sent(self, index: int) -> list[dict[str, Any]]:
        """Messages of a request."""
        messages: list[dict[str, Any]] = self.requests[index].body["messages"]
        return messages


def connection_to(url: str, **changes: Any) -> ModelConnection:
    return ModelConnection(**{"base_url": url, "api_key": SecretStr(KEY), **changes})


@dataclass
class Talker:
    """Asks once. Errors of the model are raised; `naps` and `requests` stay readable."""

    streamed: bool
    naps: list[float] = field(default_factory=list)
    requests: list[Request] = field(default_factory=list)

    def __call__(
        self,
        script: Script,
        *,
        tools: bool = True,
        messages: list[BaseMessage] | None = None,
        config: dict[str, Any] | None = None,
        **connection: Any,
    ) -> Talk:
        self.naps.clear()
        with OpenAiServer(script) as server:
            self.requests = server.requests
            settings = ModelConfig(name="test-model", **(config or {}))
            model = open_model(settings, connection_to(server.url, **connection), sleep=self._nap)
            asked = messages or [HumanMessage("What does it do?")]
            return asyncio.run(self._ask(model, asked, tools))

    async def _ask(self, model: SteppingModel, messages: list[BaseMessage], tools: bool) -> Talk:
        runnable = model.bind_tools([SEARCH]) if tools else model
        pieces: list[str] = []
        try:
            if not self.streamed:
                message = await runnable.ainvoke(messages)
            else:
                merged: Any = None
                async for chunk in runnable.astream(messages):
                    pieces.append(str(chunk.content))
                    merged = chunk if merged is None else merged + chunk
                message = merged
        finally:
            await model.aclose()
        return Talk(message, self.requests, pieces, self.naps)

    async def _nap(self, seconds: float) -> None:
        self.naps.append(seconds)


@pytest.fixture(params=["plain", "streamed"])
def talk(request: pytest.FixtureRequest) -> Talker:
    return Talker(streamed=request.param == "streamed")


@pytest.fixture
def talk_streamed() -> Talker:
    return Talker(streamed=True)


@pytest.fixture
def talk_plain() -> Talker:
    return Talker(streamed=False)
