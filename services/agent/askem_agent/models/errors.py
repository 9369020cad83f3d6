"""What can go wrong with a model. Messages are ours alone: what the server said is in the log."""

from __future__ import annotations

from langchain_core.messages.ai import UsageMetadata

from askem.errors import AskemError, BackendUnavailable, ConfigurationError

BACKEND = "model"


class ModelError(AskemError):
    """Root of all below."""


class ModelUnavailable(ModelError, BackendUnavailable):
    """Not to be reached, failing, too slow, or its answer was cut off; later it may work."""

    def __init__(self, message: str, *, retry_after_s: float = 1.0) -> None:
        super().__init__(BACKEND, message, retry_after_s=retry_after_s)


class ModelOverloaded(ModelUnavailable):
    """429, after as many attempts as configured; `retry_after_s` as the server asked, or 1."""


class ModelRejected(ModelError, ConfigurationError):
    """The server does not take our requests as configured: key, model's name, address, quota."""


class ModelRefused(ModelError):
    """The model, or the server's content filter, declined to answer."""


class ModelMalformed(ModelError):
    """What came is no answer of the protocol, or no usable step however often it was asked for."""

    def __init__(self, message: str, *, usage: UsageMetadata | None = None) -> None:
        """`usage`: what the unusable answers used, where the server said so."""
        super().__init__(message)
        self.usage = usage
