"""Papers torn out of PDFs, ingested as an operator would, against labels on the clean text.

A passage holds the gold paragraph when it shares at least 60 % of the 8-word shingles of the
shorter of the two; a gold paragraph under 8 words must be contained. Prints the gain of the first
passage that holds gold (1 / log2(rank + 1), cut at 10) and hits at 10, through a server that
serves the torn papers.
"""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

from common import arguments, ask_all, client, read_qrels, read_queries

from askem.http.client import AskemClient
from askem.http.wire import SearchRequest

SYSTEMS = ("bm25", "vector", "proximity")
SHINGLE = 8
SHARE = 0.6
CUT = 10


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument(
        "data", type=Path, help="folder with corpus.jsonl, queries.jsonl, qrels.tsv"
    )
    options = parser.parse_args()
    queries, qrels = read_queries(options.data), read_qrels(options.data)
    with (options.data / "corpus.jsonl").open(encoding="utf-8") as file:
        clean = {d["_id"]: _words(d["text"]) for d in map(json.loads, file)}
    questions = {q: queries[q]["text"] for q in qrels}
    with client(options) as server:
        for system in SYSTEMS:
            answers = ask_all(questions, lambda text, s=system: search(server, s, text))
            ranks = [first_gold(answers[q], [clean[d] for d in qrels[q]]) for q in qrels]
            gain = sum(1 / math.log2(rank + 1) for rank in ranks if rank) / len(ranks)
            hits = sum(rank is not None for rank in ranks) / len(ranks)
            print(f"| {system} | {gain:.4f} | {hits:.4f} |")


def search(server: AskemClient, system: str, text: str) -> list[str]:
    """Texts of the passages, best first."""
    if system == "vector":
        request = SearchRequest(question=text, top_k=CUT, mode="vector")
    elif system == "bm25":
        request = SearchRequest(question=text, top_k=100, ranking="distance")
    else:
        request = SearchRequest(question=text, top_k=CUT)
    hits = server.search(request).hits
    if system == "bm25":
        hits = sorted(hits, key=lambda hit: hit.sparse_rank or math.inf)
    return [hit.text for hit in hits[:CUT]]


def first_gold(texts: list[str], golds: list[list[str]]) -> int | None:
    """Rank, from 1, of the first text that holds any of the gold paragraphs."""
    for rank, text in enumerate(texts, 1):
        words = _words(text)
        if any(_holds(words, gold) for gold in golds):
            return rank
    return None


def _holds(passage: list[str], gold: list[str]) -> bool:
    if len(gold) < SHINGLE or len(passage) < SHINGLE:
        return f" {' '.join(gold)} " in f" {' '.join(passage)} "
    ours, theirs = _shingles(passage), _shingles(gold)
    return len(ours & theirs) >= SHARE * min(len(ours), len(theirs))


def _shingles(words: list[str]) -> set[tuple[str, ...]]:
    return {tuple(words[i : i + SHINGLE]) for i in range(len(words) - SHINGLE + 1)}


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


if __name__ == "__main__":
    main()
