"""Nothing is called but the base URL, whatever the environment says."""

from __future__ import annotations

import json
import os
import subprocess
import sys

from askem.testing.openai_server import Call, OpenAiServer, calls

SCRIPT = """
import asyncio, json, sys

called = set()

def audit(event, arguments):
    if event == "socket.connect":
        called.add(str(arguments[1]))
    if event == "socket.getaddrinfo":
        called.add(f"lookup of {arguments[0]}")

sys.addaudithook(audit)

from langchain_core.tools import tool
from askem_agent.models import ModelConfig, ModelConnection, open_model, untraced

@tool
def search_literature(question: str) -> str:
    "Passages."
    return "[p1] It does."

async def main(url):
    connection = ModelConnection(base_url=url, api_key="right")
    model = open_model(ModelConfig(name="gpt-4o"), connection)
    bound = model.bind_tools([search_literature])
    with untraced():
        async for _ in bound.astream("Does it?"):
            pass
        called = await bound.ainvoke("Does it?")
        await search_literature.ainvoke(called.tool_calls[0])
    await model.aclose()

asyncio.run(main(sys.argv[1]))
print(json.dumps(sorted(called)))
"""


def test_a_hostile_environment_is_not_heard() -> None:
    search = calls(Call("search_literature", {"question": "Does it?"}))
    with (
        OpenAiServer([search, search]) as server,
        OpenAiServer() as elsewhere,
    ):
        origin = elsewhere.url.removesuffix("/v1")
        hostile = {
            **dict.fromkeys(("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy"), origin),
            **dict.fromkeys(("OPENAI_BASE_URL", "OPENAI_API_BASE"), elsewhere.url),
            **dict.fromkeys(("LANGSMITH_ENDPOINT", "LANGCHAIN_ENDPOINT"), origin),
            **dict.fromkeys(("LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"), "true"),
            **dict.fromkeys(("LANGSMITH_API_KEY", "LANGCHAIN_API_KEY"), "lsv2_wrong"),
            **dict.fromkeys(("OPENAI_API_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"), "wrong"),
            "LANGSMITH_GATEWAY": origin,
        }
        ran = subprocess.run(
            [sys.executable, "-c", SCRIPT, server.url],
            env={**os.environ, **hostile},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

        assert ran.returncode == 0, ran.stderr
        host, port = server.url.removeprefix("http://").removesuffix("/v1").split(":")
        assert json.loads(ran.stdout) == [str((host, int(port)))]
        assert elsewhere.paths == []
        assert set(server.paths) == {"/v1/chat/completions"}
        for request in server.requests:
            assert request.headers["authorization"] == "Bearer right"
            assert "wrong" not in str(request.headers)
