"""One search: the caller's fields, the model's question, the retriever's answer as evidence."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import ValidationError

from askem.answering.models import Repair, Seen, Source
from askem.errors import BackendUnavailable
from askem.http.answers import PassageOut, SearchResponse
from askem.http.client import AsyncAskemClient, ClientError, Rejected, Unavailable
from askem.http.fields import FieldErrors
from askem.http.wire import HybridRequest
from askem.text.analysis import question_terms
from askem_agent.notebook import Found
from askem_agent.wire import ReactRequest

UNMEASURED = "the retriever gave no measures: the question's words weigh alike, and no repairs"
DEGRADED = "without {}, which cannot answer now"
FOREIGN = "unknown"
"""The ranking of a retriever that does not name it: no threshold holds for its scores."""
_FIELDS = frozenset(HybridRequest.model_fields)


class Searcher:
    """Searches for one request, always with its filters, its top_k and its endpoint."""

    def __init__(self, client: AsyncAskemClient, request: ReactRequest) -> None:
        self._client = client
        self._given = request.model_dump(include=set(_FIELDS), exclude_unset=True)
        self._top_k = request.top_k

    def takes(self, question: str) -> bool:
        """Whether it is a question that can be searched for."""
        try:
            self._request(question)
        except ValidationError:
            return False
        return True

    def _request(self, question: str) -> HybridRequest:
        return HybridRequest(**{**self._given, "question": question})

    async def search(self, question: str) -> Found:
        """Raises FieldErrors where the retriever refuses the caller's fields, BackendUnavailable
        for everything else that goes wrong there."""
        request = self._request(question)
        try:
            answer = await self._client.hybrid_search(request)
        except Rejected as error:
            raise _refused(error) from error
        except ClientError as error:
            wait = error.retry_after_s if isinstance(error, Unavailable) else None
            raise BackendUnavailable("retriever", str(error), retry_after_s=wait or 1.0) from error
        if isinstance(answer, SearchResponse) and len(answer.idf) == len(answer.terms):
            return _measured(question, answer)
        # A foreign retriever, or an older one.
        hits = answer.hits if isinstance(answer, SearchResponse) else answer
        return _bare(question, _distinct(hits)[: self._top_k])


def _refused(error: Rejected) -> FieldErrors | BackendUnavailable:
    """The caller's own fields are named to the caller; all else stays in the log."""
    errors = [(name, text) for name, text in error.errors if name.split("[")[0] in _FIELDS]
    if errors:
        return FieldErrors(errors)
    return BackendUnavailable("retriever", f"it refuses our request: {error}")


def _measured(question: str, answer: SearchResponse) -> Found:
    seen = Seen(
        query=question,
        sources=_sources(answer.hits),
        ranking=answer.ranking,
        idf=dict(zip(answer.terms, answer.idf, strict=True)),
        unknown_terms=answer.unknown_terms,
        nearest_distance=answer.nearest_distance,
        repairs=tuple(Repair(repair.word, repair.read_as) for repair in answer.repairs),
    )
    note = DEGRADED.format(", ".join(answer.degraded)) if answer.degraded else None
    return Found(seen, tuple(map(_plain, answer.hits)), note)


def _bare(question: str, hits: list[PassageOut]) -> Found:
    idf = dict.fromkeys(question_terms(question), 1.0)
    seen = Seen(query=question, sources=_sources(hits), ranking=FOREIGN, idf=idf)
    return Found(seen, tuple(hits), UNMEASURED)


def _distinct(hits: Iterable[PassageOut]) -> list[PassageOut]:
    return list({hit.passage_id: hit for hit in hits}.values())


def _sources(hits: Iterable[PassageOut]) -> tuple[Source, ...]:
    return tuple(
        Source(hit.passage_id, hit.paper_id, hit.text, hit.score, hit.distance) for hit in hits
    )


def _plain(hit: PassageOut) -> PassageOut:
    """As `/hybrid` gives it, without each leg's figures."""
    return PassageOut.model_construct(
        **{name: getattr(hit, name) for name in PassageOut.model_fields}
    )
