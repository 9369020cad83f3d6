"""One tree of errors, free of HTTP. Messages are written for the person who has to act."""

from __future__ import annotations

from collections.abc import Mapping

from askem.models import SourceKey


class AskemError(Exception):
    """Root of everything Askem raises on purpose."""


class InvalidInput(AskemError):
    """The caller's input is wrong; `field` names what, in the caller's own terms."""

    def __init__(self, field: str, message: str) -> None:
        super().__init__(f"{field}: {message}")
        self.field = field
        self.message = message


class NotFound(AskemError):
    """A paper or passage that was asked for by id does not exist."""


class ConfigurationError(AskemError):
    """A setting, a model file or a data folder is not usable as configured."""


class EncoderMismatch(ConfigurationError):
    """The index was built with another encoder than the one configured."""


class BackendUnavailable(AskemError):
    """A store, engine or encoder could not answer now; trying later may work.

    Never raised for an empty result.
    """

    def __init__(self, backend: str, message: str, *, retry_after_s: float = 1.0) -> None:
        super().__init__(f"{backend}: {message}")
        self.backend = backend
        self.retry_after_s = retry_after_s


class SchemaUnfit(BackendUnavailable):
    """An engine's index is missing, or not as it must be. The message says what to do and names no
    address: readiness shows it to anybody."""


class Overloaded(BackendUnavailable):
    """The bounded queue for blocking work is full."""


class SourcesRefused(AskemError):
    """An engine will not take some of the sources, however often they are sent; the others of
    the batch are stored, and nothing is left of these. `reasons` by source."""

    def __init__(self, reasons: Mapping[SourceKey, str]) -> None:
        super().__init__("; ".join(f"{key.paper_id}: {why}" for key, why in reasons.items()))
        self.reasons = dict(reasons)


class CorruptStore(AskemError):
    """Files of the data folder disagree in a way that only a repair can mend."""
