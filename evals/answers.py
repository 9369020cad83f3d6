"""Answers of `/react` against labelled questions, or refusals of questions without an answer.

DATA is a folder with `queries.jsonl`; with `questions.jsonl` (answer, gold_paragraph_ids,
answer_start_in_paragraph) the questions are taken to have answers. Passage ids of the corpus must
be those of the labels: papers ingested with `--preprocessor paragraphs-v1`.
"""

from __future__ import annotations

import argparse
import json
import re
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from common import api_key, arguments, ask_all, read_queries
from scipy.stats import binomtest

from askem_agent.client import AgentClient
from askem_agent.wire import ReactRequest, ReactResponse

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Asked:
    answer: ReactResponse
    seconds: float


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--kind", help="only the questions whose field `kind` is this")
    parser.add_argument("--first", type=int, help="only so many questions")
    parser.add_argument("--out", type=Path, help="write all answers as JSON lines")
    options = parser.parse_args()
    records = _records(options)
    with AgentClient(options.url, api_key(options)) as agent:
        asked = ask_all({i: r["text"] for i, r in records.items()}, lambda text: _ask(agent, text))
    _print_common(list(asked.values()))
    if any("gold_paragraph_ids" in record for record in records.values()):
        _print_found(records, asked)
    if options.out:
        lines = (
            json.dumps({"_id": i, "question": records[i]["text"], **a.answer.model_dump()})
            for i, a in asked.items()
        )
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _records(options: argparse.Namespace) -> dict[str, dict[str, Any]]:
    records: dict[str, dict[str, Any]] = dict(read_queries(options.data))
    labels = options.data / "questions.jsonl"
    if labels.is_file():
        with labels.open(encoding="utf-8") as file:
            records = {str(r["_id"]): r for r in map(json.loads, file)}
    chosen = [i for i, r in records.items() if options.kind in (None, r.get("kind"))]
    return {i: records[i] for i in chosen[: options.first]}


def _ask(agent: AgentClient, text: str) -> Asked:
    start = time.perf_counter()
    answer = agent.react(ReactRequest(question=text))
    return Asked(answer, time.perf_counter() - start)


def _print_common(asked: list[Asked]) -> None:
    answers = [a.answer for a in asked]
    print("refused:", _share([a.refused for a in answers]))
    print("reasons:", dict(Counter(str(a.reason) for a in answers if a.refused)))
    print("verdicts:", dict(Counter(s.verdict for a in answers for s in a.sentences)))
    print("confidence:", dict(Counter(str(a.confidence) for a in answers)))
    print(f"searches: {np.mean([len(a.steps) for a in answers]):.2f} a question")
    p50, p99 = np.quantile([a.seconds for a in asked], [0.5, 0.99]) * 1e3
    print(f"latency: p50 {p50:.0f} ms, p99 {p99:.0f} ms (two at a time)")


def _print_found(records: dict[str, dict[str, Any]], asked: dict[str, Asked]) -> None:
    """Refusals count as answers that show nothing."""
    rows = [(records[i], a.answer) for i, a in asked.items()]
    print("gold passage cited:", _share([_cites_gold(r, a) for r, a in rows]))
    print("answer in a cited passage:", _share([_in_passage(r, a) for r, a in rows]))
    print("whole answer in a quote:", _share([_in_quote(r, a, whole=True) for r, a in rows]))
    print("part of it in a quote:", _share([_in_quote(r, a, whole=False) for r, a in rows]))
    for step in ("high", "medium", "low"):
        of_step = [(r, a) for r, a in rows if a.confidence == step]
        print(
            f"  of {step} confidence:", _share([_in_quote(r, a, whole=False) for r, a in of_step])
        )


def _cites_gold(record: dict[str, Any], answer: ReactResponse) -> bool:
    return any(c.passage_id in record["gold_paragraph_ids"] for c in _citations(answer))


def _in_passage(record: dict[str, Any], answer: ReactResponse) -> bool:
    said = any(_holds(passage.text, record["answer"]) for passage in answer.used_docs)
    return said or _cites_gold(record, answer)


def _in_quote(record: dict[str, Any], answer: ReactResponse, *, whole: bool) -> bool:
    """Whether a quote has the gold span (one character off at most), or the answer's words."""
    start = record["answer_start_in_paragraph"]
    end = start + len(record["answer"])
    for citation in _citations(answer):
        if _holds(citation.quote, record["answer"]):
            return True
        if citation.passage_id in record["gold_paragraph_ids"]:
            inside = citation.start <= start + 1 and end - 1 <= citation.end
            touches = citation.start < end and start < citation.end
            if inside or (touches and not whole):
                return True
    return False


def _citations(answer: ReactResponse) -> list[Any]:
    return [citation for sentence in answer.sentences for citation in sentence.citations]


def _holds(text: str, answer: str) -> bool:
    return f" {_plain(answer)} " in f" {_plain(text)} "


def _plain(text: str) -> str:
    return " ".join(_WORD.findall(text.lower()))


def _share(hits: list[bool]) -> str:
    if not hits:
        return "0/0"
    low, high = binomtest(sum(hits), len(hits)).proportion_ci(method="wilson")
    return f"{sum(hits)}/{len(hits)} = {np.mean(hits):.3f} [{low:.3f}, {high:.3f}]"


if __name__ == "__main__":
    main()
