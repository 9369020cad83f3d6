"""How routes take a JSON body: checked content type, then a checked model."""

from __future__ import annotations

from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel
from starlette.exceptions import HTTPException

from askem.http.fields import parse_json

_Model = TypeVar("_Model", bound=BaseModel)


async def read_body(request: Request, model: type[_Model]) -> _Model:
    """The body as `model`. Raises HTTPException 415 for another media type, FieldErrors."""
    require_json(request)
    return parse_json(model, await request.body())


def require_json(request: Request) -> None:
    """Raises HTTPException 415 where the body is of another media type, or compressed."""
    if not _is_json(request.headers.get("content-type", "")):
        raise HTTPException(415, "Send the body as application/json.")
    require_identity(request)


def require_identity(request: Request) -> None:
    """Raises HTTPException 415 where the body is compressed."""
    if request.headers.get("content-encoding", "identity").lower() != "identity":
        raise HTTPException(415, "Send the body without a content encoding.")


def _is_json(content_type: str) -> bool:
    media_type, _, parameters = content_type.lower().partition(";")
    charset = parameters.strip().removeprefix("charset=").strip('"')
    return media_type.strip() == "application/json" and charset in ("", "utf-8", "utf8")


def body_schema(model: type[BaseModel], examples: dict[str, Any]) -> dict[str, Any]:
    """`openapi_extra` of a route that uses `read_body`; `examples` are summary to body."""
    content = {
        "schema": model.model_json_schema(),
        "examples": {
            f"example{number}": {"summary": summary, "value": value}
            for number, (summary, value) in enumerate(examples.items(), 1)
        },
    }
    return {"requestBody": {"required": True, "content": {"application/json": content}}}
