"""A server's answer as it was said, put together from one piece or many."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages.ai import UsageMetadata
from langchain_core.outputs import ChatGeneration

from askem_agent.models import usage as usages
from askem_agent.models.completions import CALLS, REFUSAL, USAGE
from askem_agent.models.errors import ModelRefused, ModelUnavailable


@dataclass(slots=True)
class RawCall:
    """A call of a tool as the model wrote it."""

    id: str = ""
    name: str = ""
    arguments: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    text: str
    calls: tuple[RawCall, ...]
    finish: str
    """`stop`, `tool_calls`, `length`, or another word of the server's."""
    usage: UsageMetadata | None
    model: str
    """As the server names it; empty where it does not."""


@dataclass(slots=True)
class Gathered:
    """Grows with each piece. Raises what `translate.CAUGHT` holds for pieces of another shape."""

    started: bool = False
    """Whether text was given out."""
    _texts: list[str] = field(default_factory=list)
    _calls: dict[int, RawCall] = field(default_factory=dict)
    _refusals: list[str] = field(default_factory=list)
    _finish: str | None = None
    _usage: Any = None
    _model: str = ""

    def add(self, piece: ChatGeneration) -> str:
        """The text of `piece`."""
        extra, info = piece.message.additional_kwargs, piece.generation_info or {}
        text = _text(piece.message.content)
        for position, call in enumerate(extra.get(CALLS, [])):
            self._add_call(position, call)
        self._texts.append(text)
        self._refusals.append(_text(extra.get(REFUSAL)))
        self._finish = _text(info.get("finish_reason")) or self._finish
        # Some servers count as they go: the last count is the whole.
        self._usage = info.get(USAGE) or self._usage
        self._model = _text(info.get("model_name")) or self._model
        self.started = self.started or bool(text)
        return text

    def whole(self) -> Answer:
        """Raises ModelRefused, and ModelUnavailable where the answer has no end."""
        if any(self._refusals):
            raise ModelRefused("the model declined to answer")
        if self._finish == "content_filter":
            raise ModelRefused("the model server's content filter stopped the answer")
        if self._finish is None:
            raise ModelUnavailable("the model server broke its answer off")
        return Answer(
            text="".join(self._texts),
            calls=tuple(self._calls[index] for index in sorted(self._calls)),
            finish=self._finish,
            usage=usages.told(self._usage),
            model=self._model,
        )

    def _add_call(self, position: int, raw: dict[str, Any]) -> None:
        index = raw.get("index")
        if not isinstance(index, int | None):
            raise TypeError("the index of a call is no number")
        call = self._calls.setdefault(position if index is None else index, RawCall())
        function = raw["function"]
        # Servers differ in whether they repeat id and name with each piece of the arguments.
        call.id = call.id or _text(raw.get("id"))
        call.name = call.name or _text(function.get("name"))
        call.arguments += _text(function.get("arguments"))


def _text(value: Any) -> str:
    if value is not None and not isinstance(value, str):
        raise TypeError("what should be text is not")
    # JSON can write halves of surrogate pairs, which nothing can send on: a ValueError.
    (value or "").encode()
    return value or ""
