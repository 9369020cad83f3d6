"""The labelled questions over the examples, through a server that serves the examples."""

from __future__ import annotations

import re
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import yaml
from common import arguments, ask_all, client

from askem.http.client import AskemClient
from askem.http.wire import SearchRequest
from askem.models import RANKINGS

GOLDEN = Path(__file__).parent / "golden"
DEPTH = 5


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--set", default="papers", choices=("papers", "handbook"))
    options = parser.parse_args()
    golden = read_golden(GOLDEN / f"{options.set}.yaml")
    questions = [q for q in golden if not q.get("unanswerable")]
    with client(options) as server:
        for system in ("vector", *RANKINGS):
            texts = {q["id"]: q["question"] for q in questions}
            answers = ask_all(texts, lambda text, s=system: search(server, s, text))
            by_kind: dict[str, list[bool]] = defaultdict(list)
            for question in questions:
                by_kind[question["kind"]].append(found(question, answers[question["id"]]))
            every = [hit for hits in by_kind.values() for hit in hits]
            cells = [f"{kind} {sum(h)}/{len(h)}" for kind, h in sorted(by_kind.items())]
            first = sum(found(q, answers[q["id"]][:1]) for q in questions)
            print(f"{system}: gold first: {first}/{len(every)},", end=" ")
            print(f"in the first {DEPTH}: {sum(every)}/{len(every)};", *cells)


def read_golden(path: Path) -> list[dict[str, Any]]:
    if not path.is_file():
        sys.exit(f"{path} is not there")
    content = yaml.safe_load(path.read_text(encoding="utf-8"))
    questions: list[dict[str, Any]] = content["questions"]
    return questions


def search(server: AskemClient, system: str, text: str) -> list[tuple[str, str]]:
    """(paper id, text) of the best passages."""
    if system == "vector":
        request = SearchRequest(question=text, top_k=DEPTH, mode="vector")
    else:
        request = SearchRequest(question=text, top_k=DEPTH, ranking=system)
    return [(hit.paper_id, hit.text) for hit in server.search(request).hits]


def found(question: dict[str, Any], hits: list[tuple[str, str]]) -> bool:
    """Whether the hits hold a gold quote, or all of them where all are needed."""
    held = [
        any(paper == gold["paper_id"] and holds(text, gold["quote"]) for paper, text in hits)
        for gold in question["gold"]
    ]
    return any(held) if question["any"] else all(held)


def holds(text: str, quote: str) -> bool:
    """Whether the words of a quote stand in a text in a row, whatever is between them."""
    return f" {_tokens(quote)} " in f" {_tokens(text)} "


def _tokens(text: str) -> str:
    return " ".join(re.findall(r"\w+", text.lower()))


if __name__ == "__main__":
    main()
