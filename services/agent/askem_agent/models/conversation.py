"""Asking again until there is a step, for plain and streamed answers alike."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_core.messages import BaseMessage
from langchain_core.messages.ai import UsageMetadata

from askem_agent.models import usage as usages
from askem_agent.models.answer import Answer
from askem_agent.models.errors import ModelMalformed
from askem_agent.models.steps import NotAStep, Step, StepProtocol, Tool


class Conversation:
    """One turn of the model: what is sent for it, and what its answers came to."""

    def __init__(
        self,
        protocol: StepProtocol,
        messages: Sequence[BaseMessage],
        tools: Sequence[Tool],
        *,
        reasks: int,
    ) -> None:
        self.messages: list[BaseMessage]
        """What to send next."""
        self.arguments: dict[str, Any]
        self.messages, self.arguments = protocol.request(messages, tools)
        self._protocol = protocol
        self._tools = tools
        self._reasks = reasks
        self._usages: list[UsageMetadata | None] = []

    @property
    def usage(self) -> UsageMetadata | None:
        """Of all answers of this turn."""
        return usages.total(self._usages)

    def take(self, answer: Answer) -> Step | None:
        """The step in `answer`; None where the model has to be asked again, with `messages`.

        Raises ModelMalformed once it was asked often enough.
        """
        self._usages.append(answer.usage)
        try:
            return self._protocol.read(answer, self._tools)
        except NotAStep as error:
            if len(self._usages) > self._reasks:
                count = len(self._usages)
                what = f"the model gave no usable step in {count} answers"
                # Not chained: the cause quotes the model.
                raise ModelMalformed(what, usage=self.usage) from None
            self.messages = [*self.messages, *self._protocol.complaint(answer, str(error))]
            return None
