"""One search: the caller's fields, the model's question, the retriever's answer as evidence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from pydantic import ValidationError

from askem.answering.models import Repair, Seen, Source
from askem.errors import BackendUnavailable
from askem.http.answers import PassageOut, SearchResponse
from askem.http.client import AsyncAskemClient, ClientError, Rejected, Unavailable
from askem.http.fields import FieldErrors
from askem.http.wire import HybridRequest
from askem.text.analysis import question_terms
from askem.text.decoding import clean
from askem_agent.inert import inert
from askem_agent.notebook import Found
from askem_agent.screening import screened
from askem_agent.wire import ReactRequest

UNMEASURED = "the retriever gave no measures: the question's words weigh alike, and no repairs"
DEGRADED = "without {}, which cannot answer now"
REFUSED = "the retriever does not take it"
FOREIGN = "unknown"
"""The ranking of a retriever that does not name it: no threshold holds for its scores."""
_FIELDS = frozenset(HybridRequest.model_fields)
_MAX_REPAIRS = 20
_MAX_WORD = 100


class Searcher:
    """Searches for one request, always with its filters, its top_k and its endpoint."""

    def __init__(
        self,
        client: AsyncAskemClient,
        request: ReactRequest,
        topic_aliases: Mapping[str, str] | None = None,
    ) -> None:
        """`topic_aliases`: other name to canonical topic, in lower case."""
        self._client = client
        topic = (request.topic or "").lower()
        self._topics = {topic, (topic_aliases or {}).get(topic, topic)}
        self._given = request.model_dump(include=set(_FIELDS), exclude_unset=True)

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
        if isinstance(answer, SearchResponse):
            # Its aliases may be others than ours.
            topics = self._topics | {answer.filters.topic or ""}
            found, notes = screened(answer.hits, request, topics)
            if len(answer.idf) == len(answer.terms):
                return _measured(question, answer, found, notes)
            return _bare(question, found, notes)
        # A foreign retriever, or an older one.
        return _bare(question, *screened(answer, request, self._topics))


def _refused(error: Rejected) -> FieldErrors | BackendUnavailable:
    """The caller's own fields are named to the caller; all else stays in the log."""
    names = {name.split("[")[0] for name, _ in error.errors}
    if known := sorted(names & _FIELDS):
        return FieldErrors([(name, REFUSED) for name in known])
    return BackendUnavailable("retriever", f"it refuses our request: {error}")


def _measured(
    question: str, answer: SearchResponse, hits: Sequence[PassageOut], notes: list[str]
) -> Found:
    seen = Seen(
        query=question,
        sources=_sources(hits),
        ranking=answer.ranking,
        idf=dict(zip(answer.terms, answer.idf, strict=True)),
        unknown_terms=answer.unknown_terms,
        nearest_distance=answer.nearest_distance,
        repairs=tuple(
            Repair(_word(repair.word), _word(repair.read_as))
            for repair in answer.repairs[:_MAX_REPAIRS]
        ),
    )
    if answer.degraded:
        notes = [DEGRADED.format(_word(", ".join(answer.degraded))), *notes]
    return Found(seen, tuple(map(_plain, hits)), "; ".join(notes) or None)


def _word(text: str) -> str:
    """A word of the retriever's for the caller."""
    return inert(clean(text[:_MAX_WORD]).text)


def _bare(question: str, hits: Sequence[PassageOut], notes: list[str]) -> Found:
    idf = dict.fromkeys(question_terms(question), 1.0)
    seen = Seen(query=question, sources=_sources(hits), ranking=FOREIGN, idf=idf)
    return Found(seen, tuple(map(_plain, hits)), "; ".join([UNMEASURED, *notes]))


def _sources(hits: Iterable[PassageOut]) -> tuple[Source, ...]:
    return tuple(
        Source(hit.passage_id, hit.paper_id, hit.text, hit.score, hit.distance) for hit in hits
    )


def _plain(hit: PassageOut) -> PassageOut:
    """As `/hybrid` gives it, without each leg's figures."""
    return PassageOut.model_construct(
        **{name: getattr(hit, name) for name in PassageOut.model_fields}
    )
