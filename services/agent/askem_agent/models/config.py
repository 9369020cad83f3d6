"""What is configured about a model, and what its use costs."""

from __future__ import annotations

import re
from typing import Annotated, Literal

from langchain_core.messages.ai import UsageMetadata
from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

Protocol = Literal["tools", "react"]
LengthField = Literal["max_completion_tokens", "max_tokens"]
_MILLION = 1_000_000


class ModelConfig(BaseModel):
    """A model that callers may choose."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(min_length=1, max_length=200)]
    """As the server knows it."""
    input_price: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    """Per million tokens, in any currency; None: not known."""
    output_price: Annotated[float, Field(ge=0, allow_inf_nan=False)] | None = None
    protocol: Protocol = "tools"
    """`tools`: the model calls tools natively; `react`: by Thought, Action, Observation in text."""
    max_output_tokens: Annotated[int, Field(ge=16, le=1_000_000)] = 2_000
    """Of one answer."""
    length_field: LengthField = "max_tokens"
    """How the server wants `max_output_tokens`: newer models of OpenAI take only the long name,
    others know only the short one."""
    temperature: Annotated[float, Field(ge=0, le=2)] | None = 0.0
    """None: not sent, for models that refuse it."""


class ModelConnection(BaseModel):
    """Where the models are, and how long to wait for them."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    base_url: Annotated[str, Field(pattern=r"^https?://[^\s]+$")]
    """What `/chat/completions` is added to; it usually ends in /v1."""
    api_key: SecretStr
    """Any word for servers without keys."""
    connect_timeout_s: Annotated[float, Field(gt=0, le=60)] = 5.0
    idle_timeout_s: Annotated[float, Field(gt=0, le=600)] = 30.0
    """Longest wait for the first byte of an answer, and for each next piece of it."""
    total_timeout_s: Annotated[float, Field(gt=0, le=3600)] = 120.0
    """Longest time for one whole answer."""
    max_answer_bytes: Annotated[int, Field(ge=1024)] = 8 * 1024 * 1024
    attempts: Annotated[int, Field(ge=1, le=10)] = 3
    """How often a request is sent while the server is busy, failing or not to be reached."""
    longest_wait_s: Annotated[float, Field(ge=0, le=300)] = 10.0
    """A server that asks for a longer pause is not asked again."""
    reasks: Annotated[int, Field(ge=0, le=5)] = 2
    """How often a model is told what was wrong with its step, each time it is asked."""

    @field_validator("api_key")
    @classmethod
    def _sendable(cls, key: SecretStr) -> SecretStr:
        if not re.fullmatch(r"[!-~]+", key.get_secret_value()):
            raise ValueError("a key is printable ASCII without spaces; set OPENAI_API_KEY to one")
        return key


def cost(usage: UsageMetadata | None, config: ModelConfig) -> float | None:
    """What `usage` costs, in the currency of the prices; None where usage or a price is unknown."""
    if usage is None or config.input_price is None or config.output_price is None:
        return None
    spent = usage["input_tokens"] * config.input_price
    spent += usage["output_tokens"] * config.output_price
    return spent / _MILLION
