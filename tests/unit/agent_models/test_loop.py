"""LangChain's own loop runs on both protocols, as it is."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from langchain.agents import create_agent
from langchain_core.messages import AIMessage, ToolMessage
from langchain_core.tools import tool
from pydantic import SecretStr

from askem.testing.openai_server import Call, OpenAiServer, Turn, calls, react_answer, react_step
from askem.testing.openai_server import text as said
from askem_agent.models import ModelConfig, ModelConnection, open_model, untraced

FOUND = "[p1] It binds."
QUESTION = {"question": "Does it bind?"}
SCRIPTS = {
    "tools": [
        calls(Call("search_literature", "{broken")),
        calls(Call("search_literature", QUESTION)),
        said("Yes [p1]."),
    ],
    "react": [
        said("I would search."),
        react_step("Look.", "search_literature", QUESTION),
        react_answer("Yes [p1]."),
    ],
}


async def run(url: str, protocol: str, streamed: bool) -> list[Any]:
    @tool
    def search_literature(question: str) -> str:
        """Passages that may answer the question."""
        return FOUND

    config = ModelConfig.model_validate({"name": "m", "protocol": protocol})
    model = open_model(config, ModelConnection(base_url=url, api_key=SecretStr("k")))
    agent: Any = create_agent(model, [search_literature])
    asked = {"messages": [("user", "Does it bind?")]}
    with untraced():
        if streamed:
            parts = [
                part async for part in agent.astream(asked, stream_mode=["values", "messages"])
            ]
            result = [state for mode, state in parts if mode == "values"][-1]
        else:
            result = await agent.ainvoke(asked)
    await model.aclose()
    return list(result["messages"])


@pytest.mark.parametrize("streamed", [False, True])
@pytest.mark.parametrize("protocol", ["tools", "react"])
def test_it_searches_reads_and_answers(protocol: str, streamed: bool) -> None:
    script: list[Turn] = SCRIPTS[protocol]
    with OpenAiServer(script) as server:
        _, called, found, answered = asyncio.run(run(server.url, protocol, streamed))

    assert isinstance(called, AIMessage)
    assert [call["args"] for call in called.tool_calls] == [QUESTION]
    assert called.usage_metadata is not None
    assert called.usage_metadata["input_tokens"] == 22
    assert isinstance(found, ToolMessage)
    assert (answered.content, answered.tool_calls) == ("Yes [p1].", [])
    assert FOUND in server.requests[2].body["messages"][-1]["content"]
    assert all(request.body["stream"] is streamed for request in server.requests)
