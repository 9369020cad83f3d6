"""What goes wrong with a run, as problems: each kind has its type and status, and no text of the
retriever's or the model's server gets through."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping
from typing import Any

from askem.errors import BackendUnavailable, Overloaded
from askem.http.fields import FieldErrors
from askem.http.problems import Problem, described, request_id

PREFIX = "urn:askem:"
MAX_RETRY_AFTER_S = 60.0
"""Whatever a server upstream asks for."""
_log = logging.getLogger("askem.agent")


def failure(scope: Mapping[str, Any], error: Exception) -> tuple[Problem, dict[str, str]]:
    """The problem for `error`, and its headers. What nobody foresaw is a 500, and in the log."""
    if isinstance(error, FieldErrors):
        detail = "The request does not fit; see errors."
        return described(scope, 422, detail, errors=error.errors), {}
    known = _known(error)
    if known is None:
        _log.error("request %s failed", request_id(scope), exc_info=error)
        return described(scope, 500), {}
    status, kind, detail = known
    # Quoted: it may hold what a server upstream said, line breaks and all.
    _log.warning("request %s: %s: %r", request_id(scope), kind, str(error))
    headers = {}
    if isinstance(error, BackendUnavailable):
        seconds = math.ceil(min(error.retry_after_s, MAX_RETRY_AFTER_S))
        headers["Retry-After"] = str(max(1, seconds))
    return described(scope, status, detail, kind=f"{PREFIX}{kind}"), headers


def _known(error: Exception) -> tuple[int, str, str] | None:
    # Brings LangChain with it; whoever has an error of a model has loaded that.
    from askem_agent.models import (
        ModelMalformed,
        ModelOverloaded,
        ModelRefused,
        ModelRejected,
        ModelUnavailable,
    )

    match error:
        case ModelOverloaded():
            return 503, "model-overloaded", "The model's server is busy; try again later."
        case ModelUnavailable():
            return 503, "model-unavailable", "The model did not answer; try again later."
        case ModelRejected():
            return 502, "model-rejected", "The model's server does not take requests as configured."
        case ModelMalformed():
            return 502, "model-malformed", "The model's answer could not be read."
        case ModelRefused():
            return 502, "model-refused", "The model declined to answer."
        case Overloaded():
            return 503, "overloaded", "As many questions as fit are being answered; try later."
        case BackendUnavailable():
            return 503, "retriever-unavailable", "The retriever cannot answer now; try again later."
    return None
