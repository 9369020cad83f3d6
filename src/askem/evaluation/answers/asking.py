"""Every question of a set through `/react`; whatever fails ends the run."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass, field

from askem.errors import AskemError
from askem.evaluation.answers.client import Answer
from askem.evaluation.sets import LabelledQuestion
from askem.http.answers import SnapshotOut, StoredPassage
from askem.http.client import AskemClient, ClientError, NotFoundError
from askem.http.wire import SearchRequest

Progress = Callable[[int, int], None]
_PAGE = 1_000


class NotAnswered(AskemError):
    """A question got no answer. An outage is no refusal, so there is nothing to measure."""


class WrongModel(AskemError):
    """An answer is not of the model that was asked for."""


class BrokenCitation(AskemError):
    """A quote does not stand in the passage that it names, or the answer does not show that one."""


class CorpusChanged(AskemError):
    """The server's corpus was not the same from the first question to the last."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A question's answer, and how long it took."""

    question_id: str
    answer: Answer
    milliseconds: float = field(compare=False)
    """Wall time, with as many questions at a time as were asked together."""


def ask_all(
    questions: Sequence[LabelledQuestion],
    react: Callable[[str], Answer],
    *,
    model: str,
    workers: int,
    progress: Progress,
) -> list[Answered]:
    """In the order of `questions`. Raises NotAnswered, WrongModel or BrokenCitation, naming the
    question; what has not been asked by then is not asked any more."""
    stop = threading.Event()

    def one(question: LabelledQuestion) -> Answered | None:
        if stop.is_set():
            return None
        try:
            return _ask(question, react, model)
        except BaseException:
            stop.set()
            raise

    with ThreadPoolExecutor(workers) as pool:
        futures = [pool.submit(one, question) for question in questions]
        try:
            for done, future in enumerate(as_completed(futures), start=1):
                future.result()
                progress(done, len(futures))
        except BaseException:
            stop.set()  # also where whoever started the run interrupts it
            raise
    return [answered for future in futures if (answered := future.result())]


def snapshot_of(client: AskemClient, question: str) -> SnapshotOut:
    """What the server's corpus holds. Raises ClientError, and NotAnswered where a search is
    degraded."""
    found = client.search(SearchRequest(question=question, top_k=1)).snapshot
    if found is None:
        raise NotAnswered("the server searches with one engine only (degraded): mend it first")
    return found


@dataclass(frozen=True, slots=True)
class ServerReader:
    """Papers of a server, to look gold up in."""

    client: AskemClient

    def paper_passages(self, paper_id: str, *, limit: int, offset: int) -> list[StoredPassage]:
        """Empty for a paper that is not there. Raises ClientError."""
        found: list[StoredPassage] = []
        try:
            while len(found) < limit:
                size = min(_PAGE, limit - len(found))
                page = self.client.paper(paper_id, limit=size, offset=offset + len(found))
                found += page.passages
                if len(page.passages) < size:
                    break
        except NotFoundError:
            return []
        return found


def _ask(question: LabelledQuestion, react: Callable[[str], Answer], model: str) -> Answered:
    start = time.perf_counter()
    try:
        answer = react(question.question)
    except ClientError as error:
        raise NotAnswered(
            f"question {question.id}: {error}. A failure is not counted as a refusal, so the run "
            "ends here and nothing is written"
        ) from error
    spent = (time.perf_counter() - start) * 1e3
    if answer.model != model:
        raise WrongModel(
            f"question {question.id}: {answer.model} answered where {model} was asked"
            + (f", for want of {answer.stopped}" if answer.stopped else "")
        )
    _check_citations(question, answer)
    return Answered(question.id, answer, spent)


def _check_citations(question: LabelledQuestion, answer: Answer) -> None:
    texts = {doc.passage_id: doc.text for doc in answer.used_docs}
    for citation in answer.citations:
        text = texts.get(citation.passage_id)
        if text is None or text[citation.start : citation.end] != citation.quote:
            raise BrokenCitation(
                f"question {question.id}: what is quoted of {citation.passage_id} does not stand "
                f"there at {citation.start} to {citation.end}"
            )
