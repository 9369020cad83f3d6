"""Chat models of which every answer is a whole step."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import aclosing
from typing import Any

from langchain_core.language_models import BaseChatModel, LanguageModelInput
from langchain_core.messages import AIMessage, AIMessageChunk, BaseMessage, ToolCall
from langchain_core.messages.ai import UsageMetadata
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.runnables import Runnable
from langchain_core.tools import BaseTool
from langchain_core.utils.function_calling import convert_to_openai_tool
from pydantic import PrivateAttr

from askem_agent.models.answer import Answer
from askem_agent.models.asking import Asking
from askem_agent.models.conversation import Conversation
from askem_agent.models.steps import Step, StepProtocol

_GROWTH = 1 + 1 / 64


class SteppingModel(BaseChatModel):
    """Asks a model until its answer is a step, a bounded number of times. Asynchronous only.

    `usage_metadata` of a message counts every answer it took; `response_metadata` holds the last
    one's `finish_reason` and `model_name`.
    """

    model_name: str
    reasks: int
    _asking: Asking = PrivateAttr()
    _protocol: StepProtocol = PrivateAttr()

    def __init__(
        self, asking: Asking, protocol: StepProtocol, *, model_name: str, reasks: int
    ) -> None:
        fields: dict[str, Any] = {"model_name": model_name, "reasks": reasks}
        super().__init__(**fields)
        self._asking = asking
        self._protocol = protocol

    @property
    def _llm_type(self) -> str:
        return "askem-stepping"

    async def aclose(self) -> None:
        """Closes the connections."""
        await self._asking.aclose()

    def bind_tools(
        self,
        tools: Sequence[dict[str, Any] | type | Callable[..., Any] | BaseTool],
        *,
        tool_choice: str | None = None,
        **kwargs: Any,
    ) -> Runnable[LanguageModelInput, AIMessage]:
        """The model free to use `tools`. To keep it from them, do not bind any."""
        if tool_choice not in (None, "auto"):
            raise NotImplementedError(f"tool_choice {tool_choice!r}: only 'auto' is supported")
        return self.bind(tools=[convert_to_openai_tool(tool) for tool in tools], **kwargs)

    def _generate(self, *args: Any, **kwargs: Any) -> ChatResult:
        raise NotImplementedError("this model is asynchronous only: use ainvoke or astream")

    async def _agenerate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> ChatResult:
        turn = self._turn(messages, stop, **kwargs)
        while True:
            answer = await self._asking.answer(turn.messages, **turn.arguments)
            if (step := turn.take(answer)) is not None:
                message = AIMessage(
                    step.text,
                    tool_calls=[
                        ToolCall(name=use.name, args=use.arguments, id=use.id, type="tool_call")
                        for use in step.uses
                    ],
                    usage_metadata=turn.usage,
                )
                generation = ChatGeneration(message=message, generation_info=_info(answer))
                return ChatResult(generations=[generation])

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: Any = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        """Text as soon as it is sure to be given; calls of tools, whole, in the last chunk.

        Text of a native model before a call that had to be asked for again stays, and a blank
        line follows it.
        """
        turn = self._turn(messages, stop, **kwargs)
        gap = ""
        while True:
            shown, written, due = "", "", 0.0
            pieces = self._asking.stream(turn.messages, **turn.arguments)
            async with aclosing(pieces):  # type: ignore[type-var]
                async for piece in pieces:
                    if isinstance(piece, Answer):
                        answer = piece
                        continue
                    written += piece
                    if len(written) < due:
                        continue
                    # The whole is read each time: less often as it grows, or a long answer would
                    # take time in proportion to its square.
                    due = len(written) * _GROWTH
                    new = self._protocol.shown(written)[len(shown) :]
                    if new:
                        yield _text(gap + new)
                        shown, gap = shown + new, ""
            if (step := turn.take(answer)) is not None:
                yield _last(gap, step, len(shown), turn.usage, answer)
                return
            gap = "\n\n" if shown else gap

    def _turn(
        self,
        messages: Sequence[BaseMessage],
        stop: list[str] | None,
        *,
        tools: Sequence[dict[str, Any]] = (),
        stream: bool = False,
    ) -> Conversation:
        turn = Conversation(self._protocol, messages, tools, reasks=self.reasks)
        if stop:
            turn.arguments["stop"] = [*turn.arguments.get("stop", []), *stop]
        return turn


def was_cut(message: AIMessage) -> bool:
    """Whether the text ended at `max_output_tokens`."""
    return bool(message.response_metadata.get("finish_reason") == "length")


def _info(answer: Answer) -> dict[str, Any]:
    named = {"model_name": answer.model} if answer.model else {}
    return {"finish_reason": answer.finish, **named}


def _text(text: str) -> ChatGenerationChunk:
    return ChatGenerationChunk(message=AIMessageChunk(content=text))


def _last(
    gap: str, step: Step, shown: int, usage: UsageMetadata | None, answer: Answer
) -> ChatGenerationChunk:
    """What was not shown of the step's text, its calls, and what is known about the answer."""
    rest = step.text[shown:]
    calls = [
        tool_call_chunk(name=use.name, args=json.dumps(use.arguments), id=use.id, index=index)
        for index, use in enumerate(step.uses)
    ]
    message = AIMessageChunk(
        content=gap + rest if rest else "", tool_call_chunks=calls, usage_metadata=usage
    )
    return ChatGenerationChunk(message=message, generation_info=_info(answer))
