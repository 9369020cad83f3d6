"""Answers of `/react` to the labelled questions over the examples, through a server of them."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from pathlib import Path
from typing import Any

from common import api_key, arguments, ask_all
from golden import GOLDEN, holds, read_golden

from askem_agent.client import AgentClient
from askem_agent.wire import ReactRequest, ReactResponse


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("--set", default="handbook", choices=("papers", "handbook"))
    parser.add_argument("--out", type=Path, help="write all answers as JSON lines")
    options = parser.parse_args()
    golden = read_golden(GOLDEN / f"{options.set}.yaml")
    texts = {q["id"]: q["question"] for q in golden}
    with AgentClient(options.url, api_key(options)) as agent:
        answers = ask_all(texts, lambda text: agent.react(ReactRequest(question=text)))
    for unanswerable in (False, True):
        asked = [q for q in golden if bool(q.get("unanswerable")) == unanswerable]
        print("no answer:" if unanswerable else "answerable:", len(asked))
        _print(asked, answers)
    if options.out:
        lines = (
            json.dumps({"_id": i, "question": texts[i], **a.model_dump()})
            for i, a in answers.items()
        )
        options.out.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _print(asked: list[dict[str, Any]], answers: dict[str, ReactResponse]) -> None:
    print("  refused:", sum(answers[q["id"]].refused for q in asked))
    of_step = Counter(str(answers[q["id"]].confidence) for q in asked)
    if asked[0].get("unanswerable"):
        print("  confidence:", dict(of_step))
        return
    hits = {q["id"]: shows(q, answers[q["id"]]) for q in asked}
    by_kind: dict[str, list[bool]] = defaultdict(list)
    for question in asked:
        by_kind[question["kind"]].append(hits[question["id"]])
    print("  quote or answer shown:", sum(hits.values()))
    print("  gold passage cited:", sum(cites(q, answers[q["id"]]) for q in asked))
    print("  shown, by kind:", *(f"{k} {sum(h)}/{len(h)}" for k, h in sorted(by_kind.items())))
    right = Counter(str(answers[i].confidence) for i, hit in hits.items() if hit)
    print("  shown, by confidence:", *(f"{c} {right[c]}/{n}" for c, n in sorted(of_step.items())))
    print("  missed:", *(i for i, hit in hits.items() if not hit))


def shows(question: dict[str, Any], answer: ReactResponse) -> bool:
    """Whether the answer has the gold quotes (one or all, as labelled), or the labelled answer."""
    text = " ".join(sentence.text for sentence in answer.sentences)
    held = [holds(text, gold["quote"]) for gold in question["gold"]]
    enough = any(held) if question["any"] else all(held)
    return enough or holds(text, question["answer"])


def cites(question: dict[str, Any], answer: ReactResponse) -> bool:
    held = [
        any(
            doc.paper_id == gold["paper_id"] and holds(doc.text, gold["quote"])
            for doc in answer.used_docs
        )
        for gold in question["gold"]
    ]
    return any(held) if question["any"] else all(held)


if __name__ == "__main__":
    main()
