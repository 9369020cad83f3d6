"""Chat models of which every answer is a whole step."""

from __future__ import annotations

from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessage


class SteppingModel(BaseChatModel):
    """Asks a model until its answer is a step, a bounded number of times. Asynchronous only."""

    async def aclose(self) -> None:
        """Closes the connections."""


def was_cut(message: AIMessage) -> bool:
    """Whether the text ended at `max_output_tokens`."""
    return message.response_metadata.get("finish_reason") == "length"
