"""Asks two running servers the same questions and counts where their answers differ.

    twin.py DATA EMBEDDED_URL SERVERS_URL

Both must hold the same corpus, one with ASKEM_STORES=embedded, the other with servers. Every
question is asked plainly, and once more with one of `_VARIANTS` in turn: filters, steering,
rankings, depths. ASKEM_API_KEY is sent to both.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from askem.http import wire
from askem.http.client import AskemClient

TIE = 1e-6
"""Scores closer than this are tied: either order is right."""
DISTANCE = 1e-4

_VARIANTS: list[dict[str, Any]] = [
    {},
    {"ranking": "blend"},
    {"ranking": "rrf"},
    {"ranking": "distance"},
    {"screening_top_k": 10},
    {"screening_top_k": 1000, "top_k": 100},
    {"topic": "covid-19"},
    {"doc_type": "figure"},
    {"doc_type": "paragraph", "preprocessor_id": "paragraphs-v1"},
    {"paragraph_terms": ["SARS-CoV-2", "HIV", "RNA"]},
    {"paper_ids": "some"},
    {"move_to": "vaccine trials", "move_to_weight": 0.8},
    {"move_away_from": "animal models", "move_away_from_weight": 0.6},
    {"distance": 0.5},
    {"mode": "vector"},
    {"mode": "vector", "paragraph_terms": ["SARS-CoV-2", "HIV", "RNA"]},
    {"mode": "vector", "topic": "covid-19", "top_k": 20},
]


@dataclass
class Counts:
    asked: int = 0
    differences: Counter[str] = field(default_factory=Counter)
    largest_distance: float = 0.0
    largest_score: float = 0.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="a BEIR folder")
    parser.add_argument("embedded", help="URL")
    parser.add_argument("servers", help="URL")
    parser.add_argument("--questions", type=int, default=300)
    options = parser.parse_args()
    key = os.environ["ASKEM_API_KEY"]
    counts = {json.dumps(variant): Counts() for variant in _VARIANTS}
    times: dict[str, list[float]] = {"embedded": [], "servers": []}
    with (
        AskemClient(options.embedded, key) as embedded,
        AskemClient(options.servers, key) as servers,
    ):
        for number, body in enumerate(_requests(options.data, options.questions)):
            variant, request = body
            one, other = embedded.search(request), servers.search(request)
            _compare(one, other, counts[variant], f"{number} {request.question[:60]}")
            times["embedded"].append(one.timings_ms["total"])
            times["servers"].append(other.timings_ms["total"])
    _report(counts, times)


def _requests(data: Path, limit: int) -> Iterator[tuple[str, wire.SearchRequest]]:
    """Each question plainly, and with one of the other variants in turn."""
    with (data / "queries.jsonl").open(encoding="utf-8") as file:
        questions = [json.loads(line)["text"] for line in file][:limit]
    with (data / "corpus.jsonl").open(encoding="utf-8") as file:
        papers = [json.loads(line)["_id"].replace("#", "_") for line in file]
    random.seed(1)
    for number, question in enumerate(questions):
        others = _VARIANTS[1:]
        for variant in ({}, others[number % len(others)]):
            body = dict(variant)
            if body.get("paper_ids") == "some":
                body["paper_ids"] = random.sample(papers, min(200, len(papers)))
            yield json.dumps(variant), wire.SearchRequest(question=question, **body)


def _compare(
    one: wire.SearchResponse, other: wire.SearchResponse, counts: Counts, name: str
) -> None:
    counts.asked += 1
    if one.screened != other.screened or one.unknown_terms != other.unknown_terms:
        counts.differences["screened"] += 1
        print(f"{name}: screened {one.screened} and {other.screened}")
    first, second = ({h.passage_id: h for h in answer.hits} for answer in (one, other))
    for key in first.keys() & second.keys():
        gap = abs((first[key].distance or 0.0) - (second[key].distance or 0.0))
        counts.largest_distance = max(counts.largest_distance, gap)
        counts.differences["distance"] += gap > DISTANCE
        gap = abs(first[key].score - second[key].score)
        counts.largest_score = max(counts.largest_score, gap)
    ids, others = list(first), list(second)
    if ids == others:
        return
    scores = [hit.score for hit in one.hits]
    tied = len(ids) == len(others) and all(
        abs(scores[place] - hit.score) <= TIE for place, hit in enumerate(other.hits)
    )
    kind = "order within ties" if tied else "ids" if set(ids) != set(others) else "order"
    counts.differences[kind] += 1
    if not tied:
        print(f"{name}: {kind}: {sorted(set(ids) ^ set(others))[:4]}")


def _report(counts: dict[str, Counts], times: dict[str, list[float]]) -> None:
    for variant, found in counts.items():
        differing = dict(+found.differences) or "none"
        print(
            f"{variant:<70} asked {found.asked:>4}  differences {differing}  largest gap: "
            f"distance {found.largest_distance:.1e}, score {found.largest_score:.1e}"
        )
    for name, spent in times.items():
        spent.sort()
        p99 = spent[int(0.99 * (len(spent) - 1))]
        print(f"{name}: p50 {statistics.median(spent):.1f} ms, p99 {p99:.1f} ms in the server")


if __name__ == "__main__":
    main()
