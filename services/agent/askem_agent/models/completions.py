"""LangChain's model of `/chat/completions`, mended where it loses what a server said."""

from __future__ import annotations

from typing import Any

import openai
from langchain_core.messages import AIMessage
from langchain_core.outputs import ChatGenerationChunk, ChatResult
from langchain_openai.chat_models.base import BaseChatOpenAI

from askem_agent.models.config import LengthField, ModelConfig, ModelConnection
from askem_agent.models.transport import http_client

CALLS, USAGE, REFUSAL = "askem_calls", "askem_usage", "refusal"
"""Where chunks and messages carry what the server said, as it said it."""


class Completions(BaseChatOpenAI):
    """As ChatOpenAI's, but: calls of tools and usage are left as the server wrote them, a streamed
    refusal is kept, and so is a `finish_reason` that comes without a `delta`."""

    length_field: LengthField = "max_tokens"

    def _get_request_payload(self, *args: Any, **kwargs: Any) -> dict[str, Any]:
        payload: dict[str, Any] = super()._get_request_payload(*args, **kwargs)
        if "max_tokens" in payload:
            payload[self.length_field] = payload.pop("max_tokens")
        return payload

    def _create_chat_result(self, response: Any, generation_info: Any = None) -> ChatResult:
        if not isinstance(response, openai.BaseModel):
            raise TypeError("the answer is not JSON")
        answer: dict[str, Any] = response.model_dump(warnings=False)
        usage, message = answer.pop("usage", None), answer["choices"][0]["message"]
        calls = message.pop("tool_calls", None)
        result = super()._create_chat_result(answer, generation_info)
        generation = result.generations[0]
        generation.message.additional_kwargs[CALLS] = calls or []
        generation.generation_info = {
            **(generation.generation_info or {}),
            "model_name": answer.get("model"),
            USAGE: usage,
        }
        return result

    def _convert_chunk_to_generation_chunk(
        self, chunk: dict[str, Any], *args: Any, **kwargs: Any
    ) -> ChatGenerationChunk | None:
        usage = chunk.pop("usage", None)
        choice: dict[str, Any] = chunk["choices"][0] if chunk.get("choices") else {}
        if choice:
            choice["delta"] = choice.get("delta") or {}
        delta = choice.get("delta", {})
        calls = delta.pop("tool_calls", None)
        converted = super()._convert_chunk_to_generation_chunk(chunk, *args, **kwargs)
        if converted is not None and isinstance(converted.message, AIMessage):
            extra = converted.message.additional_kwargs
            extra.update({CALLS: calls or [], REFUSAL: delta.get("refusal") or ""})
            converted.generation_info = {**(converted.generation_info or {}), USAGE: usage}
        return converted


def open_completions(config: ModelConfig, connection: ModelConnection) -> Completions:
    """Speaks to `base_url` and to nothing else; never tries again by itself."""
    key = connection.api_key
    client = openai.AsyncOpenAI(
        api_key=key.get_secret_value(),
        base_url=connection.base_url,
        max_retries=0,
        timeout=connection.idle_timeout_s,
        http_client=http_client(connection),
        default_headers={"Accept-Encoding": "identity"},
    )
    # Taken from the environment where they are not given: they are for another server.
    client.organization = client.project = None
    return Completions(
        model=config.name,
        base_url=connection.base_url,
        api_key=key,
        # Given, so that LangChain makes none from the environment; there is no blocking one.
        client=client.chat.completions,
        root_client=client,
        async_client=client.chat.completions,
        root_async_client=client,
        use_responses_api=False,
        stream_usage=True,
        stream_chunk_timeout=None,
        max_retries=0,
        max_tokens=config.max_output_tokens,
        length_field=config.length_field,
        temperature=config.temperature,
    )
