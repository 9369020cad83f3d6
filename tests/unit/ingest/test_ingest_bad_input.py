"""Every wrong request has one status and names its field or file; none of them is a 5xx."""

from __future__ import annotations

import hashlib
import json
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from askem.ingestion.files import MAX_FILE_BYTES
from askem_ingest.spool import Spool
from askem_ingest.upload import MAX_FIELDS, MAX_FILES, Upload, UploadedFile

PAPER: dict[str, Any] = {"paper_id": "a", "text": "An infection model.", "topics": ["covid"]}
BOUNDARY = "XyZ"
FORM = {"Content-Type": f"multipart/form-data; boundary={BOUNDARY}"}
JSON = {"Content-Type": "application/json"}


@pytest.fixture(scope="module")
def door(tmp_path_factory: pytest.TempPathFactory, build_door: Any) -> Any:
    """One app for all tests of this module."""
    with ExitStack() as stack:
        yield build_door(stack, tmp_path_factory.mktemp("data"), ingest_queue_jobs=10_000)


@pytest.fixture
def spool(door: Any) -> Path:
    return Path(door.spool)


def part(
    name: str | None, value: str | bytes = "x", filename: str | None = None, *more: str
) -> bytes:
    disposition = "form-data" + (f'; name="{name}"' if name is not None else "")
    disposition += f'; filename="{filename}"' if filename is not None else ""
    head = [f"--{BOUNDARY}", f"Content-Disposition: {disposition}", *more, "", ""]
    value = value.encode() if isinstance(value, str) else value
    return "\r\n".join(head).encode("utf-8", "surrogateescape") + value + b"\r\n"


END = f"--{BOUNDARY}--\r\n".encode()
FILE = part("files", "Some text.", "a.txt")
TOPIC = part("topic", "covid")


def post(door: Any, *parts: bytes, headers: dict[str, str] = FORM, end: bytes = END) -> Any:
    return door.request("POST", "/jobs", content=b"".join(parts) + end, headers=headers)


def refused(answer: Any, status: int = 422) -> list[tuple[str, str]]:
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["request_id"] == answer.headers["x-request-id"]
    return [(error["field"], error["message"]) for error in answer.json().get("errors", ())]


BAD_PAPERS: list[tuple[dict[str, Any], str]] = [
    ({"paper_id": None}, "paper_id"),
    ({"paper_id": ""}, "paper_id"),
    ({"paper_id": "../etc/passwd"}, "paper_id"),
    ({"paper_id": ".hidden"}, "paper_id"),
    ({"paper_id": "a/b"}, "paper_id"),
    ({"paper_id": "a\n"}, "paper_id"),
    ({"paper_id": "a\x00"}, "paper_id"),
    ({"paper_id": "é"}, "paper_id"),
    ({"paper_id": "x" * 129}, "paper_id"),
    ({"paper_id": 5}, "paper_id"),
    ({"paper_id": ["a"]}, "paper_id"),
    ({"text": None}, "text"),
    ({"text": ""}, "text"),
    ({"text": 5}, "text"),
    ({"text": "a\ud800"}, "text"),
    ({"text": "x" * (MAX_FILE_BYTES + 1)}, "text"),
    ({"text": "é" * (MAX_FILE_BYTES // 2 + 1)}, "text"),
    ({"topics": None}, "topics"),
    ({"topics": []}, "topics"),
    ({"topics": "covid"}, "topics"),
    ({"topics": [""]}, "topics[0]"),
    ({"topics": ["ok", "a b"]}, "topics[1]"),
    ({"topics": ["ok", "x" * 65]}, "topics[1]"),
    ({"topics": ["ok", None]}, "topics[1]"),
    ({"topics": [f"t{n}" for n in range(21)]}, "topics"),
    ({"doc_type": "table"}, "doc_type"),
    ({"doc_type": "figure"}, "cosmos_object_id"),
    ({"doc_type": "figure", "cosmos_object_id": "a.b"}, "cosmos_object_id"),
    ({"doc_type": "figure", "cosmos_object_id": "../x"}, "cosmos_object_id"),
    ({"cosmos_object_id": "fig1"}, "cosmos_object_id"),
    ({"doc_type": "paragraph", "cosmos_object_id": "fig1"}, "cosmos_object_id"),
    ({"preprocessor": "papers-v9"}, "preprocessor"),
    ({"preprocessor": 1}, "preprocessor"),
    ({"topic": "covid"}, "topic"),
    ({"paperid": "a"}, "paperid"),
]


@pytest.mark.parametrize(
    ("change", "field"), BAD_PAPERS, ids=[ascii(row)[:60] for row in BAD_PAPERS]
)
def test_a_bad_paper_is_refused_by_field(door: Any, change: dict[str, Any], field: str) -> None:
    content = json.dumps({**PAPER, **change})
    answer = door.request("POST", "/papers", content=content, headers=JSON)
    assert [name for name, _ in refused(answer)] == [field]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"\xff", b"[" * 100_000, b'{"a":' * 50_000])
def test_a_body_that_is_no_json_object_is_refused(door: Any, content: bytes) -> None:
    answer = door.request("POST", "/papers", content=content, headers=JSON)
    assert [name for name, _ in refused(answer)] == ["body"]


@pytest.mark.parametrize(
    "inner",
    [
        b"[" + b"[]," * 1_000_000 + b"[]]",
        b"[" + b"1," * 1_000_000 + b"1]",
        b"[" + b'"",' * 1_000_000 + b'""]',
        b"1" * 1_000_000,
        b'"' + b'\\"' * 1_000_000,
        b"{" + b'"x":1,' * 1_000_000 + b'"x":1}',
    ],
    ids=lambda inner: inner[:8].decode(),
)
def test_bombs_are_refused_unparsed(door: Any, inner: bytes) -> None:
    content = b'{"paper_id": "a", "text": "x", "topics": ' + inner + b"}"
    answer = door.request("POST", "/papers", content=content, headers=JSON)
    assert [name for name, _ in refused(answer)] == ["body"]


@pytest.mark.parametrize("text", ['"' * 5000, "\\" * 5001, '\\"' * 3000, "a, [b] {c}: 1\n" * 9000])
def test_a_text_may_hold_what_json_is_made_of(door: Any, text: str) -> None:
    body = {**PAPER, "paper_id": "json", "text": text}
    assert door.request("POST", "/papers", json=body).status_code == 202


@pytest.mark.parametrize(
    ("path", "headers"),
    [
        ("/papers", {}),
        ("/papers", FORM),
        ("/papers", {**JSON, "Content-Encoding": "gzip"}),
        ("/jobs", {}),
        ("/jobs", JSON),
        ("/jobs", {"Content-Type": "application/x-www-form-urlencoded"}),
        ("/jobs", {"Content-Type": "multipart/mixed; boundary=x"}),
        ("/jobs", {**FORM, "Content-Encoding": "gzip"}),
    ],
    ids=str,
)
def test_other_media_types_are_415(door: Any, path: str, headers: dict[str, str]) -> None:
    refused(door.request("POST", path, content=b"{}", headers=headers), 415)


BAD_NAMES: list[tuple[str, str]] = [
    ("", "not a .txt file"),
    ("a", "not a .txt file"),
    ("a.md", "not a .txt file"),
    ("a.TXT", "not a .txt file"),
    ("a.txt/", "not a .txt file"),
    (".txt", "its paper id must be"),
    ("..txt", "its paper id must be"),
    ("...txt", "its paper id must be"),
    ("../a.txt", "its paper id must be"),
    ("../../../../etc/passwd.txt", "its paper id must be"),
    ("..%2F..%2Fa.txt", "its paper id must be"),
    ("/etc/a.txt", "its paper id must be"),
    ("//host/share/a.txt", "its paper id must be"),
    ("dir/a.txt", "its paper id must be"),
    ("..\\\\..\\\\a.txt", "its paper id must be"),
    ("dir\\\\a.txt", "its paper id must be"),
    ("~/a.txt", "its paper id must be"),
    ("file:///a.txt", "its paper id must be"),
    ("a\x00.txt", "its paper id must be"),
    ("a%00.txt", "its paper id must be"),
    ("a b.txt", "its paper id must be"),
    (" a.txt", "its paper id must be"),
    ("-a.txt", "its paper id must be"),
    ("é.txt", "its paper id must be"),
    ("a\u202e.txt", "its paper id must be"),
    ("\uff0e\uff0e\uff0fa.txt", "its paper id must be"),
    ("\udcff\udcfe.txt", "its paper id must be"),
    ("a\ttab.txt", "its paper id must be"),
    ("x" * 129 + ".txt", "its paper id must be"),
    ("con:a.txt", "its paper id must be"),
]


@pytest.mark.parametrize(("name", "reason"), BAD_NAMES, ids=[ascii(n)[:40] for n, _ in BAD_NAMES])
def test_a_file_name_is_an_id_and_never_a_path(
    door: Any, spool: Path, name: str, reason: str
) -> None:
    before = set(spool.parent.parent.rglob("*.txt"))
    errors = refused(post(door, FILE, part("files", "Text.", name), TOPIC))
    assert [field for field, _ in errors] == ["files[1]"]
    assert reason in errors[0][1]
    assert len(errors[0][1]) < 400
    # Jobs of other tests may have ended meanwhile.
    assert set(spool.parent.parent.rglob("*.txt")) <= before


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("a.txt", "a figure is named"),
        (".fig1.txt", "a figure is named"),
        ("a..txt", "its object id must be"),
        ("a.fig 1.txt", "its object id must be"),
        ("../a.fig1.txt", "its paper id must be"),
        ("a.b/../../c.txt", "its paper id must be"),
    ],
)
def test_names_of_figures(door: Any, name: str, reason: str) -> None:
    answer = post(door, part("files", "Caption.", name), TOPIC, part("doc_type", "figure"))
    ((field, message),) = refused(answer)
    assert field == "files[0]"
    assert reason in message


def test_a_path_in_a_windows_name_is_left_out_as_browsers_meant_it(door: Any, spool: Path) -> None:
    assert post(door, part("files", "Text.", r"C:\fakepath\win.txt"), TOPIC).status_code == 202


def test_every_bad_file_is_named(door: Any) -> None:
    bad = [part("files", "x", f"bad {n}.txt") for n in range(30)]
    errors = refused(post(door, FILE, *bad, TOPIC))
    assert len(errors) == 20
    assert errors[0] == ("files[1]", errors[0][1])
    assert errors[0][1].startswith("'bad 0.txt': ")


def test_one_file_twice_and_a_figure_beside_its_paper(door: Any) -> None:
    assert refused(post(door, FILE, FILE, TOPIC)) == [("files[1]", "'a.txt': given twice")]
    ((field, message),) = refused(post(door, FILE, part("files", "x", "a.fig1.txt"), TOPIC))
    assert field == "files[1]"
    assert "send it with doc_type=figure" in message


BAD_FORMS: list[tuple[str, list[bytes], str]] = [
    ("no file", [TOPIC], "files"),
    ("no topic", [FILE], "topic"),
    ("bad topic", [FILE, part("topic", "a b")], "topic"),
    ("empty topic", [FILE, part("topic", "")], "topic"),
    ("topic of other bytes", [FILE, part("topic", b"\xff\xfe")], "topic"),
    ("too many topics", [FILE, *(part("topic", f"t{n}") for n in range(21))], "topic"),
    ("doc_type", [FILE, TOPIC, part("doc_type", "table")], "doc_type"),
    ("doc_type twice", [FILE, TOPIC, *[part("doc_type", "figure")] * 2], "doc_type"),
    ("preprocessor", [FILE, TOPIC, part("preprocessor", "x")], "preprocessor"),
    ("unknown field", [FILE, TOPIC, part("topics", "covid")], "topics"),
    ("long unknown field", [FILE, TOPIC, part("x" * 500)], "x" * 150),
    ("unknown file field", [part("upload", "x", "a.txt"), TOPIC], "upload"),
    ("topic as a file", [FILE, part("topic", "covid", "t.txt")], "topic"),
    ("file as a field", [part("files", "Text."), TOPIC], "files"),
    ("long field", [FILE, part("topic", "x" * 1025)], "topic"),
    ("many fields", [FILE, *[TOPIC] * (MAX_FIELDS + 1)], "topic"),
    ("no name", [part(None, "x"), FILE, TOPIC], "body"),
    ("empty name", [part("", "x"), FILE, TOPIC], "body"),
    ("base64", [part("files", "eA==", "a.txt", "Content-Transfer-Encoding: base64")], "files[0]"),
    ("long header", [part("files", "x", "a.txt", "X: " + "y" * 2000)], "body"),
    ("many headers", [part("files", "x", "a.txt", *(f"X{n}: y" for n in range(20)))], "body"),
    ("no header", [f"--{BOUNDARY}\r\n\r\nx\r\n".encode()], "body"),
    (
        "other disposition",
        [f"--{BOUNDARY}\r\nContent-Disposition: attachment\r\n\r\nx\r\n".encode()],
        "body",
    ),
    ("another boundary", [b"--Other\r\n\r\nx\r\n"], "body"),
    ("text", [b"just some text"], "body"),
]


@pytest.mark.parametrize(
    ("parts", "field"), [row[1:] for row in BAD_FORMS], ids=[row[0] for row in BAD_FORMS]
)
def test_a_bad_form_is_refused_by_field(door: Any, parts: list[bytes], field: str) -> None:
    assert [name for name, _ in refused(post(door, *parts))] == [field]


@pytest.mark.parametrize("length", [0, 71, 300])
def test_a_boundary_has_a_length(door: Any, length: int) -> None:
    headers = {"Content-Type": f'multipart/form-data; boundary="{"b" * length}"'}
    assert [name for name, _ in refused(post(door, FILE, headers=headers))] == ["body"]


@pytest.mark.parametrize("end", [b"", b"--", f"--{BOUNDARY}".encode()])
def test_a_form_that_ends_early_is_refused(door: Any, end: bytes) -> None:
    assert [name for name, _ in refused(post(door, FILE, TOPIC, end=end))] == ["body"]


def test_a_file_beyond_its_size_is_413_and_named(door: Any) -> None:
    large = part("files", b"x" * (MAX_FILE_BYTES + 1), "large.txt")
    ((field, message),) = refused(post(door, FILE, large, TOPIC), 413)
    assert field == "files[1]"
    assert message.startswith("'large.txt': ")
    assert str(MAX_FILE_BYTES) in message


def test_too_many_files_are_413(door: Any) -> None:
    many = [part("files", "x", f"p{n}.txt") for n in range(MAX_FILES + 1)]
    ((field, message),) = refused(post(door, *many, TOPIC), 413)
    assert field == f"files[{MAX_FILES}]"
    assert str(MAX_FILES) in message


@pytest.mark.parametrize(("path", "size"), [("/jobs", 101 * 1024**2), ("/papers", 31 * 1024**2)])
def test_a_request_beyond_its_size_is_413(door: Any, path: str, size: int) -> None:
    headers = {**(FORM if path == "/jobs" else JSON), "Content-Length": str(size)}
    assert refused(door.request("POST", path, content=b"x", headers=headers), 413) == []


def test_other_paths_keep_their_small_bodies(door: Any) -> None:
    answer = door.request("DELETE", "/papers/a", content=b"x" * 70_000)
    assert answer.status_code == 413


@pytest.mark.parametrize(
    ("method", "path", "field"),
    [
        ("GET", "/jobs?limit=0", "limit"),
        ("GET", "/jobs?limit=1001", "limit"),
        ("GET", "/jobs?limit=x", "limit"),
        ("GET", "/jobs?after=../x", "after"),
        ("GET", "/jobs?after=" + "g" * 32, "after"),
        ("GET", "/jobs?state=done", "state"),
        ("GET", "/jobs/" + "0" * 32 + "?offset=-1", "offset"),
        ("GET", "/jobs/" + "0" * 32 + "?limit=", "limit"),
    ],
)
def test_a_bad_parameter_is_named(door: Any, method: str, path: str, field: str) -> None:
    assert [name for name, _ in refused(door.request(method, path))] == [field]


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/jobs/" + "0" * 32),
        ("GET", "/jobs/x"),
        ("GET", "/jobs/..%2F..%2Fkeys"),
        ("GET", "/jobs/%00"),
        ("GET", "/jobs/" + "x" * 5000),
        ("GET", "/jobs/worker.lock"),
        ("DELETE", "/papers/nobody"),
        ("DELETE", "/papers/..%2Fx"),
        ("DELETE", "/papers/%ED%A0%80"),
        ("DELETE", "/papers/" + "x" * 500),
        ("GET", "/jobs/"),
    ],
)
def test_what_is_not_there_is_404(door: Any, method: str, path: str) -> None:
    assert refused(door.request(method, path), 404) == []


@pytest.mark.parametrize("key", ["", " ", "a b", "x" * 256, "a\tb", b"\xe9"], ids=repr)
def test_a_bad_idempotency_key_is_refused(door: Any, key: str | bytes) -> None:
    headers = [(b"Idempotency-Key", key if isinstance(key, bytes) else key.encode())]
    answer = door.request("POST", "/papers", json=PAPER, headers=headers)
    assert [name for name, _ in refused(answer)] == ["Idempotency-Key"]
    twice = [("Idempotency-Key", "a"), ("Idempotency-Key", "a")]
    refused(door.request("POST", "/papers", json=PAPER, headers=twice))


def test_nothing_refused_leaves_anything_on_disk(door: Any, spool: Path) -> None:
    # The tests above have sent what was refused after files of it had been written.
    ids = {job["id"] for job in door.request("GET", "/jobs?limit=1000").json()["jobs"]}
    assert {path.name for path in spool.iterdir() if path.is_dir()} <= ids


scalars = st.none() | st.booleans() | st.integers() | st.text(max_size=20)
fields = st.sampled_from([*PAPER, "doc_type", "cosmos_object_id", "preprocessor", "other"])
papers = st.dictionaries(fields, scalars | st.lists(scalars, max_size=3), max_size=6)
names = st.text(max_size=12) | st.sampled_from(["a.txt", "b.txt", "a.b.txt", "../a.txt", "c"])
chunks = st.one_of(
    st.builds(part, st.sampled_from(["files", "file", "topic", "doc_type", "x", None]),
              st.binary(max_size=30) | st.sampled_from([b"figure", b"covid"]),
              st.none() | names.map(lambda n: n.encode("utf-8", "replace").decode())),
    st.binary(max_size=20),
    st.sampled_from([END, b"\r\n", f"--{BOUNDARY}\r\n".encode(), b"--", b"\r\n\r\n", TOPIC, FILE]),
)  # fmt: skip


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(parts=st.lists(chunks, max_size=6), end=st.sampled_from([END, b"", b"--"]))
def test_no_form_whatever_is_a_server_error(door: Any, parts: list[bytes], end: bytes) -> None:
    answer = post(door, *parts, end=end)
    assert answer.status_code in (202, 413, 422), answer.text
    assert (answer.status_code == 202) == ("location" in answer.headers)


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(change=papers)
def test_no_paper_whatever_is_a_server_error(door: Any, change: dict[str, Any]) -> None:
    answer = door.request("POST", "/papers", content=json.dumps({**PAPER, **change}), headers=JSON)
    assert answer.status_code in (202, 422), answer.text


@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(content_type=st.text(st.characters(max_codepoint=255, exclude_categories=["Cc"])))
def test_no_content_type_whatever_is_a_server_error(door: Any, content_type: str) -> None:
    headers = [(b"Content-Type", b"multipart/form-data; " + content_type.encode("latin-1"))]
    answer = door.request("POST", "/jobs", content=FILE + TOPIC + END, headers=headers)
    assert answer.status_code in (202, 415, 422), answer.text


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(cuts=st.sets(st.integers(1, 400), max_size=8))
def test_it_does_not_matter_where_a_form_is_cut(tmp_path: Path, cuts: set[int]) -> None:
    text = b"One.\r\n--Xy\r\n--XyZ- text \r\n--Xy"
    form = part("files", text, "cut.txt") + part("topic", "covid") + END
    draft = Spool(tmp_path / "jobs").draft()
    upload = Upload(FORM["Content-Type"], draft)
    for start, end in pairwise(sorted({min(cut, len(form)) for cut in cuts} | {0, len(form)})):
        upload.feed(form[start:end])
    upload.close()
    assert upload.fields["topic"] == ["covid"]
    digest = hashlib.sha256(text).hexdigest()
    assert upload.files == [UploadedFile("cut.txt", digest, len(text))]
    assert (draft.path / "0.txt").read_bytes() == text
