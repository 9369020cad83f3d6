"""Chat models behind the OpenAI protocol: LangChain models of which every answer is a whole step.

    model = open_model(config, connection)
    answer = await model.bind_tools(tools).ainvoke(messages)

Whatever goes wrong is one of `errors`.
"""

from askem_agent.models.config import ModelConfig, ModelConnection, cost
from askem_agent.models.errors import (
    ModelError,
    ModelMalformed,
    ModelOverloaded,
    ModelRefused,
    ModelRejected,
    ModelUnavailable,
)
from askem_agent.models.opening import open_model
from askem_agent.models.stepping import SteppingModel, was_cut
from askem_agent.models.tracing import untraced

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
