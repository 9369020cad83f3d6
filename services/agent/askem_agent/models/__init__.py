"""Chat models behind the OpenAI protocol: LangChain models of which every answer is a whole step.

    model = open_model(config, connection)
    answer = await model.bind_tools(tools).ainvoke(messages)

Whatever goes wrong is one of `errors`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from askem_agent.models.config import ModelConfig, ModelConnection, cost
from askem_agent.models.errors import (
    ModelError,
    ModelMalformed,
    ModelOverloaded,
    ModelRefused,
    ModelRejected,
    ModelUnavailable,
)
from askem_agent.models.tracing import untraced

if TYPE_CHECKING:
    from askem_agent.models.opening import open_model
    from askem_agent.models.stepping import SteppingModel, was_cut

__all__ = [
    "ModelConfig",
    "ModelConnection",
    "ModelError",
    "ModelMalformed",
    "ModelOverloaded",
    "ModelRefused",
    "ModelRejected",
    "ModelUnavailable",
    "SteppingModel",
    "cost",
    "open_model",
    "untraced",
    "was_cut",
]


def __getattr__(name: str) -> Any:
    """What brings OpenAI's client with it, two seconds of work, is loaded when it is asked for:
    a service without a configured model never does."""
    if name not in __all__:
        raise AttributeError(name)
    from askem_agent.models import opening, stepping

    return getattr(opening if name == "open_model" else stepping, name)
