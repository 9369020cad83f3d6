"""`POST /react`: read the request, let the agent work while the caller waits, send its words."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request, Response

from askem.errors import AskemError
from askem.http.body import body_schema, read_body
from askem.http.fields import FieldErrors
from askem.http.keys import KEY_LABEL
from askem.http.problems import answer
from askem_agent import examples
from askem_agent.failures import failure
from askem_agent.presence import unless_gone
from askem_agent.state import State, state_of
from askem_agent.stream import EventStream, wants_events
from askem_agent.wire import ReactRequest, ReactResponse

router = APIRouter(tags=["agent"])
_GONE = 499
"""What the log says of a caller who went away."""


def _failure(description: str) -> dict[str, Any]:
    schema = {"$ref": "#/components/schemas/Problem"}
    return {"description": description, "content": {"application/problem+json": {"schema": schema}}}


@router.post(
    "/react",
    operation_id="react",
    summary="An answer composed from passages, every sentence looked up in its source",
    description="With `Accept: text/event-stream` the answer comes as events: `step`, "
    "`observation`, `token`, `citation`, and at the end `final`, which equals the JSON answer, or "
    "`error`, a problem.",
    openapi_extra=body_schema(ReactRequest, examples.REQUESTS),
    responses={
        200: {
            "model": ReactResponse,
            "content": {
                "text/event-stream": {
                    "schema": {"type": "string"},
                    "example": examples.EVENTS,
                }
            },
        },
        502: _failure("The model's server, or its answer, cannot be used; see `type`."),
    },
)
async def react(request: Request) -> Response:
    body = await read_body(request, ReactRequest)
    state = state_of(request)
    state.agent.check(body)
    if wants_events(request.headers.get("accept", "")):
        run_s = state.settings.agent_max_seconds
        place = state.runs.taken(_key(request))
        return EventStream(lambda emit: state.agent.answer(body, emit), place, run_s=run_s)
    return await _whole(request, state, body)


async def _whole(request: Request, state: State, body: ReactRequest) -> Response:
    with state.runs.taken(_key(request)):
        try:
            found = await unless_gone(request.receive, state.agent.answer(body))
        except (AskemError, FieldErrors) as error:
            return answer(*failure(request.scope, error))
    if found is None:
        return Response(status_code=_GONE)
    return Response(found.model_dump_json(), media_type="application/json")


def _key(request: Request) -> str:
    """As logs name it."""
    return str(getattr(request.state, KEY_LABEL, ""))
