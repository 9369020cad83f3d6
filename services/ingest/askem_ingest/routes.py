"""The routes: read the request, have the work done off the event loop, send its bytes."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response
from pydantic import BaseModel

from askem.errors import NotFound
from askem.http.body import require_identity, require_json
from askem.http.fields import FieldErrors
from askem.http.problems import problem
from askem.models import PAPER_ID_PATTERN
from askem_ingest import describe
from askem_ingest.accept import accept_paper, accept_upload, read_paper
from askem_ingest.job_rows import Job
from askem_ingest.state import State, state_of
from askem_ingest.upload import FilesTooLarge, Upload
from askem_ingest.wire import (
    JOB_ID_PATTERN,
    Deleted,
    JobDetail,
    JobOut,
    JobQuery,
    JobsPage,
    JobsQuery,
    Progress,
    ReceiptOut,
)

router = APIRouter(tags=["ingest"])
_PIECE_BYTES = 256 * 1024
_KEY = re.compile(rf"[!-~]{{1,{describe.MAX_KEY}}}")


@router.post(
    "/papers",
    operation_id="add_paper",
    summary="Take a paper's text, or a figure's",
    status_code=202,
    openapi_extra=describe.PAPER_REQUEST,
    responses=describe.ACCEPTED,
)
async def add_paper(request: Request) -> Response:
    state, key = state_of(request), _idempotency_key(request)
    require_json(request)
    with state.uploads.taken():
        await state.executor.run(_check_room, state, key)
        paper = await state.executor.run(read_paper, await request.body())
        job, replayed = await state.executor.run(accept_paper, state, paper, key)
    return _accepted(job, replayed=replayed)


@router.post(
    "/jobs",
    operation_id="add_files",
    summary="Take files of papers, or of figures",
    status_code=202,
    openapi_extra=describe.FILES_REQUEST,
    responses=describe.ACCEPTED,
)
async def add_files(request: Request) -> Response:
    state, key = state_of(request), _idempotency_key(request)
    require_identity(request)
    with state.uploads.taken():
        await state.executor.run(_check_room, state, key)
        draft = await state.executor.run(state.spool.draft)
        try:
            upload = Upload(request.headers.get("content-type", ""), draft)
            async for piece in _pieces(request):
                await state.executor.run(upload.feed, piece)
            upload.close()
            job, replayed = await state.executor.run(accept_upload, state, upload, draft, key)
        except FilesTooLarge as error:
            await asyncio.to_thread(draft.discard)
            large = "Files are too large, or too many; see errors."
            return problem(request.scope, 413, large, errors=error.errors)
        except BaseException:
            await asyncio.shield(asyncio.to_thread(draft.discard))
            raise
    return _accepted(job, replayed=replayed)


@router.get(
    "/jobs",
    operation_id="jobs",
    summary="Jobs, the newest first, a page at a time",
    responses={200: {"model": JobsPage}},
)
async def jobs(request: Request, query: Annotated[JobsQuery, Query()]) -> Response:
    state = state_of(request)
    return _json(await state.executor.run(_page, state, query))


@router.get(
    "/jobs/{job_id}",
    operation_id="job",
    summary="A job, how far it is, and its receipts",
    responses={200: {"model": JobDetail}},
)
async def job(request: Request, job_id: str, query: Annotated[JobQuery, Query()]) -> Response:
    state = state_of(request)
    return _json(await state.executor.run(_detail, state, job_id, query))


@router.delete(
    "/papers/{paper_id}",
    operation_id="delete_paper",
    summary="Delete a paper: its paragraphs and its figures",
    responses={200: {"model": Deleted}},
)
async def delete_paper(request: Request, paper_id: str) -> Response:
    state = state_of(request)
    return _json(await state.deleter.run(_delete, state, paper_id))


def _idempotency_key(request: Request) -> str | None:
    given = request.headers.getlist(describe.KEY_HEADER)
    if not given:
        return None
    if len(given) > 1 or not _KEY.fullmatch(given[0]):
        message = f"1 to {describe.MAX_KEY} visible ASCII characters, sent once"
        raise FieldErrors([(describe.KEY_HEADER, message)])
    return given[0]


def _check_room(state: State, key: str | None) -> None:
    # Before the body is read. What counts is the same check when the job is queued.
    state.jobs.check_room(key=key)


async def _pieces(request: Request) -> AsyncIterator[bytes]:
    """The body in pieces that are worth a change of threads."""
    pending, size = [], 0
    async for chunk in request.stream():
        pending.append(chunk)
        size += len(chunk)
        if size >= _PIECE_BYTES:
            yield b"".join(pending)
            pending, size = [], 0
    yield b"".join(pending)


def _accepted(job: Job, *, replayed: bool) -> Response:
    headers = {"Location": f"/jobs/{job.id}"}
    if replayed:
        headers[describe.REPLAYED_HEADER] = "true"
    return _json(_job_out(job), headers=headers, status=202)


def _page(state: State, query: JobsQuery) -> JobsPage:
    # One more than asked for tells whether there is a next page.
    found = state.jobs.page(after=query.after, limit=query.limit + 1)
    page = tuple(map(_job_out, found[: query.limit]))
    return JobsPage(jobs=page, next=page[-1].id if len(found) > query.limit else None)


def _detail(state: State, job_id: str, query: JobQuery) -> JobDetail:
    found = state.jobs.get(job_id) if re.fullmatch(JOB_ID_PATTERN, job_id) else None
    if found is None:
        raise NotFound("no job has this id; finished ones are kept for some days only")
    receipts = state.jobs.receipts(job_id, limit=query.limit, offset=query.offset)
    return JobDetail(
        **dict(_job_out(found)), receipts=tuple(ReceiptOut(**receipt) for receipt in receipts)
    )


def _delete(state: State, paper_id: str) -> Deleted:
    known = re.fullmatch(PAPER_ID_PATTERN, paper_id)
    sources = state.delete(paper_id) if known else 0
    if not sources:
        raise NotFound("no paper has this id")
    return Deleted(paper_id=paper_id, sources=sources)


def _job_out(job: Job) -> JobOut:
    return JobOut(
        id=job.id,
        state=job.state,
        doc_type=job.doc_type,
        preprocessor=job.preprocessor,
        topics=job.topics,
        progress=Progress(total=job.sources, done=job.done, failed=job.failed),
        created_at=_iso(job.created_at),
        started_at=None if job.started_at is None else _iso(job.started_at),
        finished_at=None if job.finished_at is None else _iso(job.finished_at),
        error=job.error,
    )


def _iso(unix_s: float) -> str:
    text = datetime.fromtimestamp(unix_s, UTC).isoformat(timespec="milliseconds")
    return text.replace("+00:00", "Z")


def _json(
    answer: BaseModel, *, headers: dict[str, str] | None = None, status: int = 200
) -> Response:
    content = answer.model_dump_json().encode()
    return Response(content, status, headers, media_type="application/json")
