"""Errors of the openai client and of httpx as ours, and which are worth another attempt."""

from __future__ import annotations

import logging
import random

import httpx2
import openai

from askem_agent.models.errors import (
    ModelError,
    ModelMalformed,
    ModelOverloaded,
    ModelRejected,
    ModelUnavailable,
)
from askem_agent.models.transport import AnswerTooLarge

CAUGHT = (
    openai.OpenAIError,
    httpx2.HTTPError,
    AnswerTooLarge,
    # What LangChain and the client raise for answers of another shape than the protocol's.
    ValueError,
    LookupError,
    TypeError,
    AttributeError,
    RecursionError,
)
_log = logging.getLogger("askem.agent.models")
_RETRIED = frozenset({408, 429, 500, 502, 503, 504})
_MAX_RETRY_AFTER_S = 300.0
_MAX_LOGGED = 500
_SHORTEST_SECRET = 8
"""Servers without keys are given a word such as "none"."""
_QUOTA = "insufficient_quota"


def translated(error: Exception, retry_after_s: float | None = None) -> ModelError:
    """Our error for `error`; nothing that came from the server is in its message."""
    seconds = min(max(retry_after_s or 1.0, 1.0), _MAX_RETRY_AFTER_S)
    if _is_too_large(error):
        return ModelMalformed("the model server's answer is larger than any that was asked for")
    if isinstance(error, openai.APIStatusError):
        return _for_status(error, seconds)
    if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
        return ModelUnavailable("the model server did not answer in time", retry_after_s=seconds)
    if isinstance(error, openai.APIConnectionError | httpx2.HTTPError):
        what = "the model server cannot be reached, or broke its answer off"
        return ModelUnavailable(what, retry_after_s=seconds)
    if isinstance(error, openai.APIError) and not isinstance(
        error, openai.APIResponseValidationError
    ):
        what = "the model server failed in the middle of its answer"
        return ModelUnavailable(what, retry_after_s=seconds)
    return ModelMalformed("the model server's answer is not one of the OpenAI protocol")


def pause(error: Exception, attempt: int) -> float | None:
    """Seconds before the next attempt; None where another one cannot help.

    A server that was reached and gave no answer in time is not asked again: it may still be at
    work on the first request, and a second one would only add to that.
    """
    if isinstance(error, openai.APIStatusError):
        if error.status_code not in _RETRIED or error.code == _QUOTA:
            return None
        asked = _asked_s(error.response.headers)
        if asked is not None:
            return asked
    elif not isinstance(error, openai.APIConnectionError) or _was_reached(error):
        return None
    # Spread out, so that clients that failed together do not come back together.
    spread = 0.5 + random.random()  # noqa: S311 - not a secret
    return float(0.25 * 2 ** (attempt - 1) * spread)


def log(error: Exception, secret: str) -> None:
    """What the server said, for whoever runs the service; `secret` is blotted out."""
    said = f"{type(error).__name__}: {error}"
    if len(secret) >= _SHORTEST_SECRET:
        said = said.replace(secret, "***")
    printable = "".join(c if c.isprintable() else " " for c in said[:_MAX_LOGGED])
    _log.warning("the model server failed: %s", printable)


def _for_status(error: openai.APIStatusError, seconds: float) -> ModelError:
    status = error.status_code
    if error.code == _QUOTA:
        return ModelRejected("the model server says that the account's quota is used up")
    if status == httpx2.codes.TOO_MANY_REQUESTS:
        return ModelOverloaded("the model server is busy", retry_after_s=seconds)
    if status in _RETRIED or status >= httpx2.codes.INTERNAL_SERVER_ERROR:
        return ModelUnavailable(f"the model server answered {status}", retry_after_s=seconds)
    hint = _WHAT_TO_DO.get(status, "see that server's log, and check OPENAI_BASE_URL")
    return ModelRejected(f"the model server answered {status}: {hint}")


_WHAT_TO_DO = {
    400: "it does not take our request; the conversation may be too long for the model, or the "
    "model may need another protocol, length_field or temperature in its configuration",
    401: "set OPENAI_API_KEY to a key that it knows",
    403: "set OPENAI_API_KEY to a key that may use this model",
    404: "check OPENAI_BASE_URL, which usually ends in /v1, and the model's name",
    **dict.fromkeys(
        (301, 302, 303, 307, 308),
        "it sends us elsewhere, and the key goes to no other address; set OPENAI_BASE_URL to the "
        "final one",
    ),
}
_WHAT_TO_DO[413] = _WHAT_TO_DO[422] = _WHAT_TO_DO[400]


def _is_too_large(error: Exception) -> bool:
    return isinstance(error, AnswerTooLarge) or isinstance(error.__cause__, AnswerTooLarge)


def _was_reached(error: openai.APIConnectionError) -> bool:
    if isinstance(error.__cause__, AnswerTooLarge):
        return True
    timed_out = isinstance(error, openai.APITimeoutError)
    return timed_out and not isinstance(error.__cause__, httpx2.ConnectTimeout)


def _asked_s(headers: httpx2.Headers) -> float | None:
    """The pause that the server asks for; a date is taken as not given."""
    for name, unit_s in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        value = headers.get(name, "")
        if value.isascii() and value.isdigit():
            return min(float(value) * unit_s, _MAX_RETRY_AFTER_S)
    return None
