"""How many right passages would a distance cut lose? Their true distances, through a server."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from common import arguments, ask_all, client, read_qrels, read_queries

from askem.http.wire import SearchRequest

CUTS = (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def main() -> None:
    parser = arguments(__doc__)
    parser.add_argument("data", type=Path, help="folder with queries.jsonl and qrels.tsv")
    options = parser.parse_args()
    queries, qrels = read_queries(options.data), read_qrels(options.data)
    pairs = {
        f"{q} {doc}": (queries[q]["text"], doc.split("#")[0], doc)
        for q, docs in qrels.items()
        for doc, grade in docs.items()
        if grade > 0
    }
    with client(options) as server:

        def distance(pair: tuple[str, str, str]) -> float:
            text, paper, doc = pair
            request = SearchRequest(question=text, top_k=100, mode="vector", paper_ids=[paper])
            hits = server.search(request).hits
            return min(h.distance or 0.0 for h in hits if doc in (h.passage_id, h.paper_id))

        found = ask_all(pairs, distance)
    distances = np.array(list(found.values()))
    print(f"{len(distances)} right passages; quantiles of their distance:")
    for share in (0.5, 0.9, 0.95, 0.99, 1.0):
        print(f"  {share:.0%} within {np.quantile(distances, share):.3f}")
    for cut in CUTS:
        print(f"  a cut of {cut} keeps {np.mean(distances <= cut):.1%}")


if __name__ == "__main__":
    main()
