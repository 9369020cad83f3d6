"""A model from its configuration."""

from __future__ import annotations

from askem_agent.models.config import ModelConfig, ModelConnection
from askem_agent.models.stepping import SteppingModel


def open_model(config: ModelConfig, connection: ModelConnection) -> SteppingModel:
    """A chat model with `bind_tools`, `ainvoke` and `astream`; `aclose` it in the end.

    Nothing is asked of the server here. Every answer is a whole step: text, or calls of tools that
    were offered, with arguments that are JSON objects. Raises errors of `models.errors` only.
    """
    raise NotImplementedError
