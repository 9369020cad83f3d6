"""The launch test's checks of the agent: answers with citations, refuses, goes nowhere else."""

from __future__ import annotations

import argparse
from typing import Any

import httpx
from launch_papers import Sample
from launch_report import Failed, Skipped

QUESTION = "What happened to the oxygen in the reservoir?"
ELSEWHERE = "Which enzyme repairs broken DNA in the mitochondria of yeast?"
FOREIGN = "http://127.0.0.1:9/hybrid"


class AgentChecks:
    """One method a check: returns a remark, raises Failed, or Skipped where there is no agent."""

    def __init__(self, client: httpx.Client, options: argparse.Namespace, sample: Sample) -> None:
        self._client = client
        self._options = options
        self._sample = sample

    def answers(self) -> str:
        """With citations of the papers that the test has loaded, and of no others."""
        found = self._ask(QUESTION)
        if found["refused"]:
            raise Failed(
                f"/react refused what the test's papers answer: {found['answer'][:150]}",
                "ASKEM_REFUSE_SCORE, ASKEM_REFUSE_DISTANCE, the agent's log",
            )
        cited = {c["passage_id"] for s in found["sentences"] for c in s["citations"]}
        documents = {
            document["passage_id"]: document["paper_id"] for document in found["used_docs"]
        }
        if not found["answer"] or not cited or cited != set(documents):
            raise Failed(
                f"/react cites {sorted(cited)}, but its used_docs are {sorted(documents)}",
                "the agent's version",
            )
        if self._sample.lake not in documents.values():
            raise Failed(
                f"/react cites {sorted(set(documents.values()))}, not {self._sample.lake}",
                "which retriever the agent asks (ASKEM_RETRIEVER_URL)",
            )
        return f"{found['model']}, {len(found['sentences'])} sentences, {len(cited)} passages cited"

    def refuses(self) -> str:
        """A question about something else."""
        found = self._ask(ELSEWHERE)
        if not found["refused"] or found["used_docs"]:
            raise Failed(
                f"/react answered what the test's papers say nothing of: {found['answer'][:150]}",
                "ASKEM_REFUSE_SCORE, ASKEM_REFUSE_DISTANCE",
            )
        return str(found["reason"])

    def stays_home(self) -> None:
        """A caller must not make the agent call an address of the caller's."""
        answer = self._post({"question": QUESTION, "retriever_endpoint": FOREIGN})
        if answer.status_code != 422 or "retriever_endpoint" not in answer.text:
            raise Failed(
                f"a foreign retriever_endpoint got {answer.status_code}: {answer.text[:150]}",
                "the agent's version, ASKEM_RETRIEVER_ENDPOINTS",
            )

    def _ask(self, question: str) -> dict[str, Any]:
        answer = self._post({"question": question, "topic": self._sample.topic})
        if answer.status_code == 403:
            raise Failed("the key may not ask", "its scopes: `askem keys list`")
        if answer.status_code != 200:
            raise Failed(
                f"/react gave {answer.status_code}: {answer.text[:200]}",
                "the agent's log, ASKEM_RETRIEVER_URL, its model (ASKEM_MODEL, OPENAI_BASE_URL, "
                "OPENAI_API_KEY)",
            )
        found: dict[str, Any] = answer.json()
        return found

    def _post(self, body: dict[str, Any]) -> httpx.Response:
        answer = self._client.post("/react", json=body, timeout=self._options.react_timeout)
        if answer.status_code in (404, 405):
            raise Skipped("no agent answers at this address")
        return answer
