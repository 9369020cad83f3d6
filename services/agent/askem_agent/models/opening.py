"""A model from its configuration."""

from __future__ import annotations

import asyncio

from askem_agent.models.asking import Asking, Sleep
from askem_agent.models.config import ModelConfig, ModelConnection
from askem_agent.models.native import NativeTools
from askem_agent.models.react import ReactText
from askem_agent.models.stepping import SteppingModel


def open_model(
    config: ModelConfig, connection: ModelConnection, *, sleep: Sleep = asyncio.sleep
) -> SteppingModel:
    """A chat model with `bind_tools`, `ainvoke` and `astream`; `aclose` it in the end.

    Nothing is asked of the server here. Every answer is a whole step: text, or calls of tools that
    were offered, with arguments that are JSON objects. Raises errors of `models.errors` only.
    `sleep`: for tests.
    """
    return SteppingModel(
        Asking(config, connection, sleep),
        NativeTools() if config.protocol == "tools" else ReactText(),
        model_name=config.name,
        reasks=connection.reasks,
    )
