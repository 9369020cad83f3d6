"""The checks of scripts/launch_test.sh, against a server that runs or is starting.

The key comes from ASKEM_API_KEY, so that it stands in no list of processes.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path
from typing import Any

import httpx
from launch_papers import BRIDGE, CommandLoader, HttpLoader, Loader, Sample
from launch_react import QUESTION, AgentChecks
from launch_report import Failed, Report, Skipped
from launch_server import ServerChecks

REQUEST_TIMEOUT_S = 10.0
# A text to its own vector: 0 where it fits the encoder's window, up to 0.25 seen where it does not;
# under another pooling of the same model 0.47 and more, under another model about 1.
SAME_TEXT_DISTANCE = 0.35
MAX_QUESTION = 4000
VISIBLE_WITHIN_S = 10.0


class Checks(ServerChecks):
    """Those of the server, and of searching it; some raise Skipped."""

    def __init__(self, client: httpx.Client, options: argparse.Namespace) -> None:
        super().__init__(client, options)
        self.sample = Sample()
        self.loader: Loader | None = None

    def corpus(self) -> str:
        page = self._get("/papers", limit=1)
        if page["papers"]:
            return f"{sum(topic['papers'] for topic in self._get('/topics'))} papers by topic"
        if self.options.new:
            return "empty, as a new one is"
        raise Failed(
            "the index is empty: no paper is in it",
            "whether papers were ingested, and into this index (ASKEM_DATA_DIR, the engines' "
            "URLs); --new where it is meant to be empty",
        )

    def load_papers(self) -> str:
        self.loader = self._find_loader()
        self.loader.load(self.sample.papers, self.sample.topic)
        self._await_papers(2)
        return type(self.loader).__name__.replace("Loader", "").lower()

    def _find_loader(self) -> Loader:
        answer = self.client.get("/jobs", params={"limit": 1})
        if answer.status_code in (200, 403):
            return HttpLoader(self.client)
        if self.options.data_dir:
            return CommandLoader(self.options.data_dir)
        if answer.status_code in (404, 405):
            raise Skipped(
                "no ingest service answers at this address, so nothing can be loaded from here; "
                "what needs papers of the test's own is left out"
            )
        raise Failed(f"/jobs gave {answer.status_code}", "the ingest service and its log")

    def _await_papers(self, count: int) -> None:
        deadline = time.monotonic() + VISIBLE_WITHIN_S
        while len(found := self._get("/papers", topic=self.sample.topic)["papers"]) != count:
            if time.monotonic() > deadline:
                raise Failed(
                    f"{len(found)} of the test's papers are found, not {count}",
                    "whether ingest and retriever use the same stores",
                )
            time.sleep(0.2)

    def load_figure(self) -> None:
        if self.loader is None:
            raise Skipped("the papers were not loaded")
        self.loader.load(self.sample.figures, self.sample.topic)

    def encoder(self) -> str:
        """A passage's own text must lie next to the passage, if one encoder made both vectors."""
        encoder_id = str(self._search("/search", question="?", top_k=1)["snapshot"]["encoder_id"])
        if "dpr" in encoder_id.lower():
            raise Skipped(f"{encoder_id} encodes questions unlike passages")
        passages = self._short_passages()
        if not passages:
            raise Skipped("no passage to try it with")
        for passage in passages:
            asked = {"question": passage["text"], "paper_ids": [passage["paper_id"]], "top_k": 100}
            hits = self._search("/vector", **asked)
            own = [h["distance"] for h in hits if h["passage_id"] == passage["passage_id"]]
            # In a paper of more passages than can be asked for, the nearest will do.
            distance = own[0] if own else min((h["distance"] for h in hits), default=2.0)
            if distance > SAME_TEXT_DISTANCE:
                raise Failed(
                    f"a mismatched encoder: the text of {passage['passage_id']} is at distance "
                    f"{distance:.2f} from its own vector under {encoder_id}",
                    "ASKEM_ENCODER of retriever and ingest, and which encoder the index is of",
                )
        return encoder_id

    def _short_passages(self) -> list[dict[str, Any]]:
        """The shortest of the test's own, and the shortest of some that were there before."""
        own = self._get("/papers", topic=self.sample.topic)["papers"]
        before = [p for p in self._get("/papers", limit=20)["papers"] if p not in own]
        found = []
        for papers in (own, before):
            passages = [q for paper in papers for q in self._passages(paper["paper_id"])]
            found += sorted(passages, key=lambda passage: len(passage["text"]))[:1]
        return [passage for passage in found if len(passage["text"]) <= MAX_QUESTION]

    def _passages(self, paper_id: str) -> list[dict[str, Any]]:
        return list(self._get(f"/papers/{paper_id}", limit=20)["passages"])

    def vector(self) -> None:
        self._first_is(self.sample.lake, "/vector")

    def hybrid(self) -> None:
        self._first_is(self.sample.lake, "/hybrid")

    def _first_is(self, paper_id: str, path: str) -> None:
        hits = self._search(path, question=QUESTION, topic=self.sample.topic)
        if not hits or hits[0]["paper_id"] != paper_id:
            got = [hit["paper_id"] for hit in hits] or "nothing"
            raise Failed(f"{path} found {got}, not {paper_id} first", "`askem verify`")

    def filters(self) -> None:
        topic, lake, bridge = self.sample.topic, self.sample.lake, self.sample.bridge
        wanted: list[tuple[dict[str, Any], set[tuple[str, str]]]] = [
            ({"doc_type": "figure"}, {(lake, "figure")}),
            ({"paper_ids": [bridge], "screening_top_k": 1000}, set()),
            ({"topic": f"{topic}-no"}, set()),
        ]
        for given, expected in wanted:
            asked = {"question": QUESTION, "topic": topic, **given}
            hits = self._search("/hybrid", **asked)
            found = {(hit["paper_id"], hit["doc_type"]) for hit in hits}
            # A paper without any of the question's words may be screened out.
            allowed = expected | ({(bridge, "paragraph")} if "paper_ids" in given else set())
            if not expected <= found <= allowed:
                raise Failed(f"the filter {given} let through {sorted(found)}", "`askem verify`")

    def steering(self) -> None:
        """Steered towards the bridge, the bridge must come nearer."""
        plain, steered = (
            self._search("/vector", question=QUESTION, paper_ids=[self.sample.bridge], **more)
            for more in ({}, {"move_to": BRIDGE, "move_to_weight": 1.0})
        )
        if not plain or not steered or steered[0]["distance"] >= plain[0]["distance"]:
            raise Failed("move_to did not bring its concept nearer", "the retriever's version")

    def delete(self) -> None:
        if self.loader is None:
            raise Skipped("nothing was loaded")
        for source in self.sample.papers:
            self.loader.delete(source.paper_id)
        self._await_papers(0)

    def _get(self, path: str, **query: Any) -> Any:
        return self._answer(self.client.get(path, params=query))

    def _search(self, path: str, **question: Any) -> Any:
        return self._answer(self.client.post(path, json=question))

    @staticmethod
    def _answer(answer: httpx.Response) -> Any:
        if answer.status_code != 200:
            path = answer.request.url.path
            raise Failed(
                f"{path} gave {answer.status_code}: {answer.text[:200]}", "/readyz and the log"
            )
        return answer.json()


def run(checks: Checks, report: Report) -> None:
    if not report.run("answers", checks.answers) or not report.run("key", checks.key):
        return
    report.run("wrong key", checks.wrong_key)
    report.run("malformed request", checks.malformed)
    if not report.run("ready", checks.ready):
        return
    report.run("corpus", checks.corpus)
    try:
        loaded = report.run("ingest papers", checks.load_papers)
        loaded = report.run("ingest figure", checks.load_figure) and loaded
        report.run("encoder", checks.encoder)
        for name in ("vector", "hybrid", "filters", "steering") if loaded else ():
            report.run(name, getattr(checks, name))
        agent = AgentChecks(checks.client, checks.options, checks.sample)
        for name, check in (
            (
                ("react", agent.answers),
                ("react refusal", agent.refuses),
            )
            if loaded
            else ()
        ):
            report.run(name, check)
        report.run("react endpoint", agent.stays_home)
    finally:
        report.run("delete", checks.delete)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--url", required=True)
    parser.add_argument("--data-dir", type=Path, help="the server's, where it is on this machine")
    parser.add_argument("--new", action="store_true", help="an empty index is expected")
    parser.add_argument("--wait", type=float, default=20.0, help="seconds until it must be ready")
    parser.add_argument("--react-timeout", type=float, default=25.0, help="seconds")
    options = parser.parse_args()
    options.url = options.url.rstrip("/")
    key = os.environ.get("ASKEM_API_KEY", "")
    report = Report()
    if not key or not key.isascii():
        print("FAIL key: ASKEM_API_KEY holds no key; look at your environment")
        sys.exit(1)
    with httpx.Client(
        base_url=options.url,
        headers={"Api-Key": key},
        timeout=REQUEST_TIMEOUT_S,
        trust_env=False,
    ) as client:
        run(Checks(client, options), report)
    sys.exit(report.finish())


if __name__ == "__main__":
    main()
