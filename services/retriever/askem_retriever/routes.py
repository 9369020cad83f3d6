"""The routes: read the request, have the work done off the event loop, send its bytes."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel, ConfigDict, Field

from askem.errors import BackendUnavailable, NotFound
from askem.http import wire
from askem.http.body import body_schema, read_body
from askem.http.fields import PaperId, TopicName, WholeNumber, checked
from askem.http.negotiation import prefers
from askem.models import CorpusSnapshot, Question
from askem_retriever import convert, examples
from askem_retriever.state import Components, state_of

router = APIRouter(tags=["retriever"])


_Limit = Annotated[int, WholeNumber(1, 1000, text=True)]
_Offset = Annotated[int, WholeNumber(0, 1_000_000, text=True)]


class ExplainQuery(BaseModel):
    """What of a search fits a URL; POST takes all of it."""

    model_config = ConfigDict(extra="forbid")

    q: Annotated[str, Field(description="The question.")]
    passage_id: Annotated[str, Field(description="With '#' written as %23.")]
    topic: str | None = None
    doc_type: str | None = None
    ranking: str | None = None
    screening_top_k: Annotated[int, WholeNumber(1, 10_000, text=True)] | None = None
    nearest_top_k: Annotated[int, WholeNumber(0, 1_000, text=True)] | None = None
    move_to: str | None = None
    move_away_from: str | None = None

    def request(self) -> wire.ExplainRequest:
        """As the body of a POST. Raises FieldErrors."""
        given = self.model_dump(exclude_none=True)
        return checked(wire.ExplainRequest, {"question": given.pop("q"), **given})


class PapersQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    topic: TopicName | None = Field(default=None, description="Only papers of this topic.")
    after: PaperId | None = Field(default=None, description="`next` of the page before.")
    limit: _Limit = Field(default=100, description="Papers a page.")


class PaperQuery(BaseModel):
    model_config = ConfigDict(extra="forbid")

    limit: _Limit = Field(default=100, description="Passages a page.")
    offset: _Offset = Field(default=0, description="Passages left out at the beginning.")


_JSON = "application/json"


def _json(
    content: bytes, headers: dict[str, str] | None = None, media_type: str = _JSON
) -> Response:
    return Response(content, headers=headers, media_type=media_type)


@router.post(
    "/vector",
    operation_id="vector",
    summary="Passages nearest to the question",
    openapi_extra=body_schema(wire.VectorRequest, examples.VECTOR),
    responses={200: {"model": list[wire.PassageOut]}},
)
async def vector(request: Request) -> Response:
    return await _hits(request, await read_body(request, wire.VectorRequest))


@router.post(
    "/hybrid",
    operation_id="hybrid",
    summary="Passages that answer the question: keyword screening, dense search, ranking",
    description="With `Accept: application/vnd.askem.search+json` the answer is that of `/search`: "
    "the hits, and how they were found.",
    openapi_extra=body_schema(wire.HybridRequest, examples.HYBRID),
    responses={
        200: {
            "model": list[wire.PassageOut],
            "headers": examples.HYBRID_HEADERS,
            "content": {wire.SEARCH_MEDIA_TYPE: examples.EXPANDED},
        }
    },
)
async def hybrid(request: Request) -> Response:
    body = await read_body(request, wire.HybridRequest)
    if prefers(request.headers.getlist("accept"), wire.SEARCH_MEDIA_TYPE, _JSON):
        response = await _expanded(request, body, "hybrid", wire.SEARCH_MEDIA_TYPE)
    else:
        response = await _hits(request, body)
    response.headers["Vary"] = "Accept"
    return response


async def _hits(request: Request, body: wire.VectorRequest) -> Response:
    state = state_of(request)
    question = convert.to_question(body, state.settings)
    retriever = state.components.retriever
    search = retriever.hybrid if isinstance(body, wire.HybridRequest) else retriever.vector

    def work() -> tuple[bytes, dict[str, str]]:
        result = search(question)
        return convert.hits_json(result), convert.headers(result)

    return _json(*await state.executor.run(work))


@router.post(
    "/search",
    operation_id="search",
    summary="Either search, with everything known about how the answer came about",
    openapi_extra=body_schema(wire.SearchRequest, examples.SEARCH),
    responses={200: {"model": wire.SearchResponse}},
)
async def search(request: Request) -> Response:
    body = await read_body(request, wire.SearchRequest)
    return await _expanded(request, body, body.mode, _JSON)


async def _expanded(
    request: Request, body: wire.HybridRequest, mode: wire.Mode, media_type: str
) -> Response:
    state = state_of(request)
    question = convert.to_question(body, state.settings, nearest=True)
    answer = await state.executor.run(_search, state.components, mode, question)
    return _json(*answer, media_type)


def _search(
    components: Components, mode: wire.Mode, question: Question
) -> tuple[bytes, dict[str, str]]:
    retriever = components.retriever
    result = retriever.hybrid(question) if mode == "hybrid" else retriever.vector(question)
    snapshot: CorpusSnapshot | None = None
    try:
        snapshot = components.reader.snapshot()
    except BackendUnavailable as error:
        if not question.allow_degraded:
            raise
        degraded = tuple(dict.fromkeys((*result.degraded, error.backend)))
        result = replace(result, degraded=degraded)
    return convert.search_json(mode, question, result, snapshot), convert.headers(result)


@router.get(
    "/explain",
    operation_id="explain",
    summary="Why a passage stands where it stands for a question, or why it does not",
    responses={200: {"model": wire.ExplanationOut}},
)
async def explain(request: Request, query: Annotated[ExplainQuery, Query()]) -> Response:
    return await _explained(request, query.request())


@router.post(
    "/explain",
    operation_id="explain_search",
    summary="The same with every field of a search by /hybrid",
    openapi_extra=body_schema(wire.ExplainRequest, examples.EXPLAIN),
    responses={200: {"model": wire.ExplanationOut}},
)
async def explain_search(request: Request) -> Response:
    return await _explained(request, await read_body(request, wire.ExplainRequest))


async def _explained(request: Request, body: wire.ExplainRequest) -> Response:
    state = state_of(request)
    question = convert.to_question(body, state.settings)
    if not _may_be_id(body.passage_id):
        raise NotFound("no passage has this id")
    retriever = state.components.retriever
    return _json(
        await state.executor.run(
            lambda: convert.explanation_json(retriever.explain(question, body.passage_id))
        )
    )


@router.get(
    "/topics",
    operation_id="topics",
    summary="The corpus's topics",
    responses={200: {"model": list[wire.TopicOut]}},
)
async def topics(request: Request) -> Response:
    state = state_of(request)
    return _json(await state.executor.run(_topics, state.components))


def _topics(components: Components) -> bytes:
    return convert.topics_json(components.reader.topics())


@router.get(
    "/papers",
    operation_id="papers",
    summary="Papers by ascending id, a page at a time",
    responses={200: {"model": wire.PapersPage}},
)
async def papers(request: Request, query: Annotated[PapersQuery, Query()]) -> Response:
    state = state_of(request)
    topic = None if query.topic is None else state.settings.canonical_topic(query.topic)
    args = (state.components, topic, query.after, query.limit)
    return _json(await state.executor.run(_papers, *args))


def _papers(components: Components, topic: str | None, after: str | None, limit: int) -> bytes:
    # One more than asked for tells whether there is a next page.
    found = components.reader.papers(topic=topic, after=after, limit=limit + 1)
    page = tuple(convert.paper_out(paper) for paper in found[:limit])
    following = page[-1].paper_id if len(found) > limit else None
    return wire.PapersPage.model_construct(papers=page, next=following).model_dump_json().encode()


@router.get(
    "/papers/{paper_id}",
    operation_id="paper",
    summary="A paper and its passages",
    responses={200: {"model": wire.PaperDetail}},
)
async def paper(request: Request, paper_id: str, query: Annotated[PaperQuery, Query()]) -> Response:
    state = state_of(request)
    args = (state.components, paper_id, query.limit, query.offset)
    return _json(await state.executor.run(_paper, *args))


def _paper(components: Components, paper_id: str, limit: int, offset: int) -> bytes:
    # Any text may be asked for; what cannot be an id need not reach the store.
    found = components.reader.paper(paper_id) if _may_be_id(paper_id) else None
    if found is None:
        raise NotFound("no paper has this id")
    passages = components.reader.paper_passages(paper_id, limit=limit, offset=offset)
    return convert.paper_detail(found, passages).model_dump_json().encode()


@router.get(
    "/passages/{passage_id}",
    operation_id="passage",
    summary="One passage; the '#' of its id is written %23",
    responses={200: {"model": wire.StoredPassage}},
)
async def passage(request: Request, passage_id: str) -> Response:
    state = state_of(request)
    return _json(await state.executor.run(_passage, state.components, passage_id))


def _passage(components: Components, passage_id: str) -> bytes:
    known = components.reader.passages([passage_id]) if _may_be_id(passage_id) else {}
    if passage_id not in known:
        raise NotFound("no passage has this id")
    return convert.stored(known[passage_id]).model_dump_json().encode()


def _may_be_id(text: str) -> bool:
    return len(text) <= 300 and text.isprintable()
