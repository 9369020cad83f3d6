"""The configured encoder over HTTP, OpenAI-style, so that several retrievers share one model."""

from __future__ import annotations

import asyncio
import base64
import json
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AbstractContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from typing import Annotated, Literal, cast

import numpy as np
from fastapi import APIRouter, FastAPI, Request, Response
from pydantic import Discriminator, Field, Tag

from askem.errors import InvalidInput, NotFound
from askem.http.bearer import BearerKey
from askem.http.body import body_schema, read_body
from askem.http.compose import Service, build_app
from askem.http.executor import BoundedExecutor
from askem.http.fields import Clean, RequestModel, WholeNumber
from askem.http.health import Probe
from askem.models import Vector
from askem.ports import Encoder, LocalEncoder
from askem_retriever.readiness import encoder_probe
from askem_retriever.settings import EncodeServerSettings

NAME = "encoder"
MAX_TEXTS = 64
MAX_CHARACTERS = 100_000
MAX_BODY_BYTES = 2 * 1024 * 1024

_Input = Annotated[str, Field(min_length=1, max_length=MAX_CHARACTERS), Clean]
_Inputs = Annotated[list[_Input], Field(min_length=1, max_length=MAX_TEXTS)]


def _kind_of_input(value: object) -> str | None:
    return "text" if isinstance(value, str) else "texts" if isinstance(value, list) else None


_TextOrTexts = Annotated[
    Annotated[_Input, Tag("text")] | Annotated[_Inputs, Tag("texts")],
    # Without it, errors would be of both.
    Discriminator(
        _kind_of_input,
        custom_error_type="text_or_texts",
        custom_error_message="must be a text or a list of texts",
    ),
]
InputType = Literal["query", "document"]
OpenEncoder = Callable[[], AbstractContextManager[LocalEncoder]]

router = APIRouter(tags=["encoder"])


class EmbeddingsRequest(RequestModel):
    """As of OpenAI's `/v1/embeddings`, and `input_type`."""

    model: Annotated[str, Field(min_length=1, max_length=300), Clean] = Field(
        description="The encoder's id, or the part of it before the '@'."
    )
    input: _TextOrTexts = Field(description="A text, or up to 64 of them.")
    encoding_format: Literal["float", "base64"] = "float"
    input_type: InputType | None = Field(
        default=None,
        description="Whether the texts are questions or passages. Required where the encoder "
        "treats them differently.",
    )
    dimensions: Annotated[int, WholeNumber(1, 100_000)] | None = Field(
        default=None, description="Nothing but the encoder's own."
    )
    user: Annotated[str, Field(max_length=300)] | None = Field(
        default=None, description="Not looked at."
    )


@dataclass(frozen=True, slots=True)
class State:
    """Lives in `app.state.encoder`."""

    encoder: LocalEncoder
    executor: BoundedExecutor
    two_sided: bool
    """Questions and passages are encoded differently."""


def create_app(settings: EncodeServerSettings, key: str, open_encoder: OpenEncoder) -> FastAPI:
    """The app, with `key` as `Authorization: Bearer` or `Api-Key`. Raises ConfigurationError."""

    @asynccontextmanager
    async def opened(app: FastAPI) -> AsyncIterator[Sequence[Probe]]:
        async with AsyncExitStack() as stack:
            manager = open_encoder()
            encoder = await asyncio.to_thread(manager.__enter__)
            stack.push_async_callback(asyncio.to_thread, manager.__exit__, None, None, None)
            executor = BoundedExecutor(
                settings.workers, settings.queue, timeout_s=settings.request_timeout_s
            )
            stack.push_async_callback(asyncio.to_thread, executor.close)
            two_sided = await asyncio.to_thread(_is_two_sided, encoder)
            setattr(app.state, NAME, State(encoder, executor, two_sided))
            yield [encoder_probe(encoder)]

    limits = {"/v1/embeddings": MAX_BODY_BYTES}
    service = Service(name=NAME, router=router, open=opened, body_limits=limits)
    app = build_app(
        [service],
        api_keys=[key],
        rate_per_minute=settings.rate_per_minute,
        title="Askem encoder",
    )
    app.add_middleware(BearerKey)
    return app


def _is_two_sided(encoder: Encoder) -> bool:
    text = "Does it matter which of the two this is?"
    passage = encoder.encode_passages([text])[0][0]
    return not np.allclose(encoder.encode_question(text), passage, atol=1e-4)


@router.post(
    "/v1/embeddings",
    operation_id="embeddings",
    summary="A unit vector a text",
    openapi_extra=body_schema(
        EmbeddingsRequest,
        {"A question": {"model": "m", "input": "What is SIDARTHE?", "input_type": "query"}},
    ),
)
async def embeddings(request: Request) -> Response:
    body = await read_body(request, EmbeddingsRequest)
    state = cast(State, getattr(request.app.state, NAME))
    _check(body, state)
    content = await state.executor.run(_answer, state, body)
    return Response(content, media_type="application/json")


@router.get("/v1/models", operation_id="models", summary="The encoder's id and dimension")
async def models(request: Request) -> Response:
    state = cast(State, getattr(request.app.state, NAME))
    model = {
        "id": state.encoder.encoder_id,
        "object": "model",
        "created": 0,
        "owned_by": "askem",
        "dimension": state.encoder.dimension,
        "input_type_required": state.two_sided,
    }
    content = json.dumps({"object": "list", "data": [model]})
    return Response(content, media_type="application/json")


def _check(body: EmbeddingsRequest, state: State) -> None:
    """Raises NotFound for another model, InvalidInput."""
    encoder = state.encoder
    if body.model not in (encoder.encoder_id, encoder.encoder_id.split("@")[0]):
        raise NotFound("there is no such model here; GET /v1/models names the one there is")
    if body.dimensions not in (None, encoder.dimension):
        raise InvalidInput("dimensions", f"must be {encoder.dimension}, or left out")
    if state.two_sided and body.input_type is None:
        raise InvalidInput(
            "input_type",
            "required, since this encoder treats questions (query) and passages (document) "
            "differently; clients of Askem send it with ASKEM_EMBEDDINGS_INPUT_TYPE=true",
        )


def _answer(state: State, body: EmbeddingsRequest) -> bytes:
    texts = [body.input] if isinstance(body.input, str) else body.input
    vectors = _vectors(state.encoder, texts, body.input_type or "document")
    as_base64 = body.encoding_format == "base64"
    items = [
        {
            "object": "embedding",
            "index": index,
            "embedding": _packed(vector) if as_base64 else vector.tolist(),
        }
        for index, vector in enumerate(vectors)
    ]
    return json.dumps(
        {
            "object": "list",
            "data": items,
            "model": state.encoder.encoder_id,
            # Part of the format; tokens are not counted.
            "usage": {"prompt_tokens": 0, "total_tokens": 0},
        }
    ).encode()


def _vectors(encoder: Encoder, texts: Sequence[str], input_type: InputType) -> list[Vector]:
    """One vector a text. Raises InvalidInput for a passage beyond the window: it would need
    several, and a cut must not happen unseen."""
    if input_type == "query":
        return [encoder.encode_question(text) for text in texts]
    found = encoder.encode_passages(texts)
    for index, array in enumerate(found):
        if len(array) > 1:
            raise InvalidInput(
                f"input[{index}]", f"longer than the encoder's window: send it as {len(array)}"
            )
    return [array[0] for array in found]


def _packed(vector: Vector) -> str:
    return base64.b64encode(np.ascontiguousarray(vector, dtype="<f4").tobytes()).decode()
