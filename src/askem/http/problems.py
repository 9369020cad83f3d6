"""Every error as RFC 9457 `application/problem+json`, with the request's id and nothing inner."""

from __future__ import annotations

import logging
import math
from collections.abc import Mapping, Sequence
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, Field
from starlette.exceptions import HTTPException

from askem.errors import (
    AskemError,
    BackendUnavailable,
    CorruptStore,
    EncoderMismatch,
    InvalidInput,
    NotFound,
    Overloaded,
)
from askem.http.fields import FieldErrors, readable

MEDIA_TYPE = "application/problem+json"
_log = logging.getLogger("askem.http")


def title(status: int) -> str:
    """The status in the words of RFC 9110; Python's own changed between its versions."""
    return _TITLES.get(status) or HTTPStatus(status).phrase


_TITLES = {413: "Content Too Large", 422: "Unprocessable Content"}


class FieldProblem(BaseModel):
    """One field that was refused."""

    field: str = Field(description="For example `top_k` or `paper_ids[3]`; `body` for the whole.")
    message: str


class Problem(BaseModel):
    """RFC 9457 problem details."""

    type: str = "about:blank"
    title: str = Field(description="The status in words.")
    status: int = Field(ge=400, le=599)
    detail: str | None = Field(default=None, description="What went wrong, and what to do.")
    request_id: str = Field(description="Also in the header X-Request-Id, and in the server's log.")
    errors: tuple[FieldProblem, ...] | None = Field(
        default=None,
        description="Statuses 413 and 422: the fields and files that were refused, at most 20.",
    )


def request_id(scope: Mapping[str, Any]) -> str:
    """The id that the outermost middleware gave the request; `-` outside of one."""
    return str(scope.get("state", {}).get("request_id", "-"))


def problem(
    scope: Mapping[str, Any],
    status: int,
    detail: str | None = None,
    *,
    errors: Sequence[tuple[str, str]] | None = None,
    headers: Mapping[str, str] | None = None,
) -> Response:
    """The answer for `status`; `errors` are (field, message)."""
    body = Problem(
        title=title(status),
        status=status,
        detail=detail,
        request_id=request_id(scope),
        errors=None
        if errors is None
        else tuple(FieldProblem(field=field, message=message) for field, message in errors),
    )
    content = body.model_dump_json(exclude_none=True).encode()
    return Response(content, status, dict(headers or {}), MEDIA_TYPE)


def unprocessable(scope: Mapping[str, Any], errors: Sequence[tuple[str, str]]) -> Response:
    return problem(scope, 422, "The request does not fit; see errors.", errors=errors)


_REPAIR_S = "60"
"""A damaged store, or one of another encoder, waits for a person."""


def for_error(scope: Mapping[str, Any], error: AskemError) -> Response:
    """The answer for an error of the library. Messages of backends stay in the log: they may hold
    text from upstream."""
    match error:
        case InvalidInput():
            return unprocessable(scope, [(error.field, error.message)])
        case NotFound():
            return problem(scope, 404, str(error))
        case BackendUnavailable():
            _log.warning("request %s: %s", request_id(scope), error)
            busy = isinstance(error, Overloaded)
            what = "The service is busy" if busy else f"The {error.backend} cannot answer now"
            seconds = max(1, math.ceil(error.retry_after_s))
            return problem(
                scope, 503, f"{what}; try again later.", headers={"Retry-After": str(seconds)}
            )
        case CorruptStore():
            _log.error("request %s: %s", request_id(scope), error)
            what = "The store is damaged; whoever runs it finds the way out in the log."
            return problem(scope, 503, what, headers={"Retry-After": _REPAIR_S})
        case EncoderMismatch():
            _log.error("request %s: %s", request_id(scope), error)
            what = (
                "The index is of another encoder than this service runs: whoever runs it starts it "
                "again with the encoder that the index was filled with, which the log names."
            )
            return problem(scope, 503, what, headers={"Retry-After": _REPAIR_S})
    _log.error("request %s failed", request_id(scope), exc_info=error)
    return problem(scope, 500)


def install(app: FastAPI) -> None:
    """Let `app` answer every error with a problem."""

    @app.exception_handler(AskemError)
    async def askem_error(request: Request, error: AskemError) -> Response:
        return for_error(request.scope, error)

    @app.exception_handler(FieldErrors)
    async def field_errors(request: Request, error: FieldErrors) -> Response:
        return unprocessable(request.scope, error.errors)

    @app.exception_handler(RequestValidationError)
    async def validation_error(request: Request, error: RequestValidationError) -> Response:
        # The first step says where the value stood (query, path); callers know names only.
        details = [{**e, "loc": tuple(e["loc"][1:])} for e in error.errors()]
        return unprocessable(request.scope, readable(details))

    @app.exception_handler(HTTPException)
    async def http_exception(request: Request, error: HTTPException) -> Response:
        phrase = HTTPStatus(error.status_code).phrase
        detail = None if error.detail == phrase else str(error.detail)
        return problem(request.scope, error.status_code, detail, headers=error.headers)
