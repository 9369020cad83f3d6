"""Every way of searching, on a BEIR folder, through a running server."""

from __future__ import annotations

import json
from pathlib import Path

from common import arguments, ask_all, client, read_qrels, read_queries

from askem.evaluation.compare import paired
from askem.evaluation.measures import MEASURES, by_question, means
from askem.http.client import AskemClient
from askem.http.wire import SearchRequest
from askem.models import RANKINGS

SYSTEMS = ("bm25", "vector", *RANKINGS)
DEPTH = 100


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("data", type=Path, help="folder with queries.jsonl and qrels.tsv")
    parser.add_argument(
        "--documents",
        action="store_true",
        help="qrels name papers, not passages: a paper counts by its best passage",
    )
    parser.add_argument("--cluster", default="paper_id", help="field of queries.jsonl")
    parser.add_argument("--baseline", default="blend", choices=SYSTEMS)
    parser.add_argument("--out", type=Path, help="write all values as JSON")
    options = parser.parse_args()
    queries, qrels = read_queries(options.data), read_qrels(options.data)
    questions = {q: queries[q]["text"] for q in qrels}
    clusters = {q: str(queries[q].get(options.cluster, q)) for q in qrels}
    values = {}
    with client(options) as server:
        for system in SYSTEMS:
            run = ask_all(questions, lambda text, s=system: search(server, s, text))
            if options.documents:
                run = {q: [i.rsplit("#", 1)[0] for i in ids] for q, ids in run.items()}
            values[system] = by_question(run, qrels)
            figures = means(values[system])
            print(f"| {system} | " + " | ".join(f"{figures[m]:.4f}" for m in MEASURES) + " |")
    for system in SYSTEMS:
        if system != options.baseline:
            report = paired(
                values[options.baseline]["nDCG@10"], values[system]["nDCG@10"], clusters
            )
            print(
                f"{system} - {options.baseline}: nDCG@10 {report.mean:+.4f} "
                f"[{report.low:+.4f}, {report.high:+.4f}] p={report.p:.4f} "
                f"wins {report.wins} losses {report.losses} ties {report.ties}"
            )
    if options.out:
        options.out.write_text(json.dumps(values), encoding="utf-8")


def search(server: AskemClient, system: str, text: str) -> list[str]:
    """Passage ids, best first."""
    if system == "vector":
        request = SearchRequest(question=text, top_k=DEPTH, mode="vector")
    else:
        ranking = "distance" if system == "bm25" else system
        request = SearchRequest(question=text, top_k=DEPTH, ranking=ranking)
    hits = server.search(request).hits
    if system == "bm25":
        hits = sorted(hits, key=lambda hit: hit.sparse_rank or DEPTH + 1)
    return [hit.passage_id for hit in hits]


if __name__ == "__main__":
    main()
