"""Papers and files in, jobs and receipts out, papers deleted."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from askem.text.preprocessing import PREPROCESSOR_IDS
from askem_ingest import examples, wire

PAPER: dict[str, Any] = {"paper_id": "a", "text": "An infection model.", "topics": ["COVID"]}


def send(door: Any, *named: tuple[str, str | bytes], **data: Any) -> Any:
    parts = [("files", (name, t.encode() if isinstance(t, str) else t)) for name, t in named]
    return door.request("POST", "/jobs", files=parts, data={"topic": "soil", **data})


def test_a_paper_becomes_a_job_with_a_receipt(door: Any) -> None:
    answer = door.request("POST", "/papers", json=PAPER)
    taken = answer.json()
    assert answer.headers["location"] == f"/jobs/{taken['id']}"
    assert "idempotent-replayed" not in answer.headers
    assert taken["progress"] == {"total": 1, "done": 0, "failed": 0}
    job = door.job(answer)
    assert (job["state"], job["error"]) == ("done", None)
    assert (job["doc_type"], job["preprocessor"]) == ("paragraph", "papers-v1")
    assert job["created_at"] <= job["started_at"] <= job["finished_at"]
    assert job["created_at"].endswith("Z")
    assert job["progress"] == {"total": 1, "done": 1, "failed": 0}
    (receipt,) = job["receipts"]
    wanted = {"paper_id": "a", "status": "created", "passages": 1, "topics": ["covid-19"]}
    assert wanted.items() <= receipt.items()
    (passage,) = door.store.reader.paper_passages("a", limit=9, offset=0)
    assert (passage.text, passage.topics) == ("An infection model.", ("covid-19",))


def test_again_is_unchanged_and_other_text_replaces(door: Any) -> None:
    texts = ["One model.", "One model.", "Another model."]
    jobs = [door.job(door.request("POST", "/papers", json={**PAPER, "text": t})) for t in texts]
    statuses = [job["receipts"][0]["status"] for job in jobs]
    assert statuses == ["created", "unchanged", "replaced"]


def test_a_figure_has_an_object_id(door: Any) -> None:
    figure = {**PAPER, "doc_type": "figure", "cosmos_object_id": "fig1"}
    job = door.job(door.request("POST", "/papers", json=figure))
    assert job["preprocessor"] == "figures-v1"
    assert job["receipts"][0]["cosmos_object_id"] == "fig1"
    (passage,) = door.store.reader.paper_passages("a", limit=9, offset=0)
    assert passage.passage_id == "a#fig-fig1.0"


def test_files_become_one_job(door: Any) -> None:
    answer = send(door, ("a.txt", "First."), ("b.c-1.txt", "Second."), topic=["HQ", "Soil", "hq"])
    job = door.job(answer)
    assert job["topics"] == ["hq", "soil"]
    assert job["progress"] == {"total": 2, "done": 2, "failed": 0}
    assert [r["source"] for r in job["receipts"]] == ["a.txt", "b.c-1.txt"]
    assert door.ids() == ["a", "b.c-1"]


def test_figures_as_files(door: Any) -> None:
    job = door.job(send(door, ("a.b.fig-1.txt", "Figure 1. A caption."), doc_type="figure"))
    (receipt,) = job["receipts"]
    assert (receipt["paper_id"], receipt["cosmos_object_id"]) == ("a.b", "fig-1")


def test_a_chosen_preprocessor_is_used(door: Any) -> None:
    job = door.job(send(door, ("a.txt", "One.\n\nTwo."), preprocessor="paragraphs-v1"))
    assert job["preprocessor"] == "paragraphs-v1"
    assert job["receipts"][0]["passages"] == 2


def test_a_further_topic_is_added_to_what_is_stored(door: Any) -> None:
    door.job(send(door, ("a.txt", "One."), topic="first"))
    (receipt,) = door.job(send(door, ("a.txt", "One."), topic="second"))["receipts"]
    assert (receipt["status"], receipt["topics_added"]) == ("unchanged", ["second"])
    assert receipt["topics"] == ["first", "second"]


def test_one_bad_file_fails_alone_and_says_why(door: Any) -> None:
    job = door.job(send(door, ("a.txt", "Good."), ("empty.txt", b""), ("nul.txt", b"\x00" * 99)))
    assert job["state"] == "done"
    assert job["progress"] == {"total": 3, "done": 3, "failed": 2}
    reasons = {r["source"]: r["reason"] for r in job["receipts"]}
    assert reasons["a.txt"] is None
    assert reasons["empty.txt"] == "no text left after preprocessing"
    assert reasons["nul.txt"].startswith("not text")


def test_text_is_mended_as_in_a_file(door: Any) -> None:
    job = door.job(send(door, ("a.txt", "Modèle.".encode("cp1252"))))
    assert job["receipts"][0]["repairs"]
    assert door.store.reader.paper_passages("a", limit=1, offset=0)[0].text == "Modèle."


def test_ten_megabytes_of_any_script_fit_as_json(door: Any) -> None:
    # What is sent is three times as large: every letter as an escape.
    text = "я" * (5 * 1024 * 1024)
    body = {**PAPER, "text": text, "preprocessor": "figures-v1"}
    job = door.job(door.request("POST", "/papers", json=body))
    assert job["receipts"][0]["reason"].startswith("a passage of 5,242,880 characters")
    refused = door.request("POST", "/papers", json={**body, "text": text + "x"})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "text"


def test_receipts_and_jobs_come_in_pages(door: Any) -> None:
    first = door.job(send(door, *((f"p{n}.txt", f"Text {n}.") for n in range(5))))
    path = f"/jobs/{first['id']}"
    pages = [door.request("GET", f"{path}?limit=2&offset={n}").json() for n in (0, 2, 4, 6)]
    assert [len(page["receipts"]) for page in pages] == [2, 2, 1, 0]
    assert [r for page in pages for r in page["receipts"]] == first["receipts"]
    ids = [first["id"]] + [
        door.job(door.request("POST", "/papers", json={**PAPER, "paper_id": f"q{n}"}))["id"]
        for n in range(3)
    ]
    seen, after = [], ""
    while after is not None:
        page = door.request("GET", f"/jobs?limit=3{after and '&after=' + after}").json()
        seen += [job["id"] for job in page["jobs"]]
        after = page["next"]
    assert seen == ids[::-1]


def test_jobs_are_carried_out_in_order(open_door: Any) -> None:
    gate = threading.Event()
    door = open_door(lambda name: name == "encode_passages" and gate.wait(20))
    texts = [f"Version {n} of the model." for n in range(4)]
    answers = [door.request("POST", "/papers", json={**PAPER, "text": text}) for text in texts]
    states = [door.request("GET", a.headers["location"]).json()["state"] for a in answers[1:]]
    assert states == ["queued"] * 3
    gate.set()
    jobs = [door.job(answer) for answer in answers]
    statuses = [job["receipts"][0]["status"] for job in jobs]
    assert statuses == ["created", "replaced", "replaced", "replaced"]
    assert door.store.reader.paper_passages("a", limit=9, offset=0)[0].text == texts[-1]


def test_a_paper_is_deleted_with_its_figures(door: Any) -> None:
    door.job(send(door, ("a.txt", "Text."), ("b.txt", "Text.")))
    door.job(send(door, ("a.f1.txt", "Caption."), doc_type="figure"))
    answer = door.request("DELETE", "/papers/a")
    assert (answer.status_code, answer.json()) == (200, {"paper_id": "a", "sources": 2})
    assert door.ids() == ["b"]
    assert door.request("DELETE", "/papers/a").status_code == 404


def test_a_paper_is_deleted_while_a_job_runs(open_door: Any) -> None:
    gate = threading.Event()
    gate.set()
    door = open_door(lambda name: name == "encode_passages" and gate.wait(20))
    door.job(send(door, ("a.txt", "Text.")))
    gate.clear()
    answer = send(door, ("b.txt", "Text."))
    assert door.request("DELETE", "/papers/a").json()["sources"] == 1
    gate.set()
    assert door.job(answer)["state"] == "done"
    assert door.ids() == ["b"]


def test_files_of_finished_jobs_are_removed(door: Any) -> None:
    for n in range(3):
        door.job(send(door, (f"{n}.txt", "Text.")))
    # The worker removes a job's files just after it has said `done`.
    for _ in range(200):
        if not door.folders():
            break
        threading.Event().wait(0.01)
    assert door.folders() == []


def test_nothing_blocks_the_event_loop(open_door: Any) -> None:
    threads: set[int] = set()
    door = open_door(sync=lambda _: threads.add(threading.get_ident()))
    door.job(send(door, ("a.txt", "Text.")))
    door.job(door.request("POST", "/papers", json=PAPER))
    assert threads
    assert threading.get_ident() not in threads


@pytest.mark.parametrize(
    ("method", "path", "allow"),
    [
        ("PUT", "/jobs", "GET, POST"),
        ("PUT", "/papers", "POST"),
        ("POST", "/jobs/x", "GET"),
        ("PUT", "/papers/a", "DELETE"),
    ],
)
def test_other_methods_are_405(door: Any, method: str, path: str, allow: str) -> None:
    answer = door.request(method, path)
    assert (answer.status_code, answer.headers["allow"]) == (405, allow)


def test_a_key_is_needed(door: Any) -> None:
    for method, path in [("POST", "/papers"), ("POST", "/jobs"), ("GET", "/jobs"),
                         ("GET", "/jobs/x"), ("DELETE", "/papers/a")]:  # fmt: skip
        assert door.request(method, path, headers={"Api-Key": "wrong"}).status_code == 401


def test_examples_are_true() -> None:
    for body in examples.PAPER.values():
        wire.PaperIn.model_validate(body)
    models = {
        "add_paper": wire.JobOut,
        "add_files": wire.JobOut,
        "jobs": wire.JobsPage,
        "job": wire.JobDetail,
        "delete_paper": wire.Deleted,
    }
    for name, model in models.items():
        assert (
            model.model_validate(examples.ANSWERS[name]).model_dump(mode="json")
            == (examples.ANSWERS[name])
        )


def test_every_preprocessor_may_be_asked_for() -> None:
    assert set(wire.PreprocessorName.__args__) == set(PREPROCESSOR_IDS)  # type: ignore[attr-defined]


def test_pages_of_a_handbook_are_named_by_their_path(door: Any) -> None:
    pages = (("runbooks/a b/Stall.md", "# Stall\n\n## Steps\n\nDo it."), ("index.md", "# Home"))
    job = door.job(send(door, *pages, doc_type="section"))
    assert job["preprocessor"] == "markdown-v1"
    assert [(r["paper_id"], r["source"]) for r in job["receipts"]] == [
        ("runbooks.a-b.Stall", "runbooks/a b/Stall.md"),
        ("index", "index.md"),
    ]
    (passage,) = door.store.reader.paper_passages("runbooks.a-b.Stall", limit=9, offset=0)
    assert passage.passage_id == "runbooks.a-b.Stall#steps"
    assert passage.text == "Stall > Steps\n\nDo it."


def test_a_page_comes_as_json_too(door: Any) -> None:
    page = {**PAPER, "doc_type": "section", "text": "---\ntitle: T\n---\n## Steps\n\nDo it."}
    assert door.job(door.request("POST", "/papers", json=page))["receipts"][0]["passages"] == 1
    (passage,) = door.store.reader.paper_passages("a", limit=9, offset=0)
    assert (passage.passage_id, passage.doc_type) == ("a#steps", "section")
    for wrong in ({"preprocessor": "papers-v1"}, {"cosmos_object_id": "x"}):
        refused = door.request("POST", "/papers", json={**page, **wrong})
        assert refused.status_code == 422
        assert refused.json()["errors"][0]["field"] in wrong


def test_pages_that_cannot_be_told_apart_are_refused_by_name(door: Any) -> None:
    refused = send(door, ("a/b.md", "# A"), ("a.b.md", "# B"), ("c.txt", "C"), doc_type="section")
    assert refused.status_code == 422
    assert [(e["field"], e["message"]) for e in refused.json()["errors"]] == [
        ("files[1]", "'a.b.md': the same document as 'a/b.md'"),
        ("files[2]", "'c.txt': not a .md file"),
    ]
