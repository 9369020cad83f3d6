"""The OpenAPI document: what FastAPI derives, and the key and problems that hold for all paths."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.routing import BaseRoute

from askem.http.keys import HEADER, missing_scope
from askem.http.problems import MEDIA_TYPE, Problem, title
from askem.http.protocol import MAX_HEADER_BYTES
from askem.http.scopes import READ_METHODS, KeyScope

Document = dict[str, Any]
ScopedRoutes = tuple[Sequence[BaseRoute], KeyScope]
"""Routes of a service, and the scope that their methods need other than GET."""

_HEADERS = {401: "WWW-Authenticate", 405: "Allow", 429: "Retry-After", 503: "Retry-After"}
_EXAMPLES: dict[int, tuple[str, Document]] = {
    400: ("It is not valid HTTP.", {"detail": "The request is not valid HTTP."}),
    401: ("No valid key.", {"detail": f"Send a valid key in the header {HEADER}."}),
    403: ("The key lacks the scope.", {"detail": missing_scope("read")}),
    404: ("It does not exist.", {"detail": "no paper has the id 'nobody-2020'"}),
    405: ("The path has other methods; see the header Allow.", {}),
    408: ("The body did not arrive in time.", {"detail": "The body was not whole after 10 s."}),
    413: ("The body is too large.", {"detail": "The body may have 65536 bytes at most."}),
    415: ("The body is of another media type.", {"detail": "Send the body as application/json."}),
    422: (
        "The request does not fit.",
        {
            "detail": "The request does not fit; see errors.",
            "errors": [{"field": "top_k", "message": "must be less than or equal to 100"}],
        },
    ),
    429: (
        "The key has used up its requests; see the headers Retry-After and RateLimit-Reset.",
        {"detail": "The key has used up its 600 requests a minute; try again in 1 s."},
    ),
    431: (
        "The headers are too large.",
        {"detail": f"The headers may have {MAX_HEADER_BYTES} bytes at most."},
    ),
    503: (
        "It cannot be answered now; the header Retry-After says when to try again.",
        {"detail": "The service is busy; try again later."},
    ),
}


def describe(
    app: FastAPI,
    open_paths: Collection[str],
    examples: Mapping[str, Any],
    special: Sequence[ScopedRoutes],
) -> Callable[[], Document]:
    """A replacement for `app.openapi`; the document is made once, when first asked for.

    `examples`: operation id to an example of its answer; with a blank and the media type behind
    it for an answer that is not `application/json`. `special`: routes whose methods
    other than GET need another scope than `read`.
    """
    made: list[Document] = []

    def openapi() -> Document:
        if not made:
            made.append(_document(app, open_paths, examples, special))
        return made[0]

    return openapi


def _document(
    app: FastAPI,
    open_paths: Collection[str],
    examples: Mapping[str, Any],
    special: Sequence[ScopedRoutes],
) -> Document:
    document = get_openapi(
        title=app.title, version=app.version, description=app.description, routes=app.routes
    )
    components = document.setdefault("components", {})
    components["securitySchemes"] = {
        "ApiKey": {
            "type": "apiKey",
            "in": "header",
            "name": HEADER,
            "description": "An operation's `security` names the scope that the key needs.",
        }
    }
    schemas = components.setdefault("schemas", {})
    problem_schema = Problem.model_json_schema(ref_template="#/components/schemas/{model}")
    schemas.update(problem_schema.pop("$defs", {}))
    schemas["Problem"] = problem_schema
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    # Routes may be nested; their own document knows their whole paths.
    scopes = {
        path: scope
        for routes, scope in special
        for path in get_openapi(title="-", version="-", routes=routes)["paths"]
    }
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            reads = method.upper() in READ_METHODS
            scope = "read" if reads else scopes.get(path, "read")
            _complete(operation, path, None if path in open_paths else scope)
            _exemplify(operation, examples)
    return document


def _exemplify(operation: Document, examples: Mapping[str, Any]) -> None:
    """Examples are not given to FastAPI, which would leave out what is null."""
    name = str(operation.get("operationId"))
    success = next(r for status, r in operation["responses"].items() if status.startswith("2"))
    for media_type, content in success.get("content", {}).items():
        key = name if media_type == "application/json" else f"{name} {media_type}"
        if key in examples:
            content["example"] = examples[key]


def _complete(operation: Document, path: str, scope: KeyScope | None) -> None:
    """`scope`: what the key needs; None: no key is needed."""
    statuses = {400, 405, 431}
    if scope:
        operation["security"] = [{"ApiKey": [scope]}]
        statuses |= {401, 403, 429, 503}
    if "{" in path:
        statuses.add(404)
    if "requestBody" in operation:
        statuses |= {408, 413, 415, 422}
    if any(parameter["in"] == "query" for parameter in operation.get("parameters", ())):
        statuses.add(422)
    # FastAPI's own description of 422 is of a shape that is never sent.
    operation["responses"].pop("422", None)
    shared = {str(status): _response(status) for status in statuses}
    if scope:
        shared["403"]["content"][MEDIA_TYPE]["example"]["detail"] = missing_scope(scope)
    operation["responses"] = dict(sorted({**shared, **operation["responses"]}.items()))


def _response(status: int) -> Document:
    description, fields = _EXAMPLES[status]
    example = {"type": "about:blank", "title": title(status), "status": status}
    example |= {**fields, "request_id": "5f0c8f2f5a3b4f0e9a4de8e6d6b6b7a1"}
    schema = {"$ref": "#/components/schemas/Problem"}
    response: Document = {
        "description": description,
        "content": {MEDIA_TYPE: {"schema": schema, "example": example}},
    }
    header = _HEADERS.get(status)
    if header:
        response["headers"] = {header: {"schema": {"type": "string"}}}
    return response
