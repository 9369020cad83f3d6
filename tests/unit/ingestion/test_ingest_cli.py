"""`askem ingest`, `papers`, `delete` and `verify`: what they print and how they exit."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from askem.cli import main
from askem.ingestion.files import MAX_FILE_BYTES
from askem.stores.embedded.schema import DATABASE


@dataclass
class Ran:
    status: int
    out: str
    err: str

    @property
    def lines(self) -> list[Any]:
        return [json.loads(line) for line in self.out.splitlines()]


Askem = Callable[..., Ran]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "input"
    made.mkdir()
    return made


@pytest.fixture
def data_dir(tmp_path: Path) -> Path:
    return tmp_path / "data"


@pytest.fixture
def askem(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    data_dir: Path,
) -> Askem:
    """Runs the command in this process, as the shell would."""
    monkeypatch.chdir(tmp_path)
    for name in [name for name in os.environ if name.startswith("ASKEM_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("ASKEM_DATA_DIR", str(data_dir))

    def run(*arguments: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["askem", *arguments])
        status: object = 0
        try:
            main()
        except SystemExit as error:
            status = error.code or 0
        printed = capsys.readouterr()
        assert isinstance(status, int)
        return Ran(status, printed.out, printed.err)

    return run


def paper(folder: Path, name: str, text: str | bytes = "An infection model.") -> None:
    (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())


def ingest(askem: Askem, folder: Path, *more: str, topic: str = "covid-19") -> Ran:
    return askem("ingest", "--input-dir", str(folder), "--topic", topic, *more)


def test_papers_come_in_are_listed_verified_and_deleted(askem: Askem, folder: Path) -> None:
    paper(folder, "a.txt")
    paper(folder, "b.txt", "Another text.")
    first = ingest(askem, folder)
    assert first.status == 0
    assert "created    a.txt: 1 passages" in first.out
    assert "2 files: 2 created, 0 unchanged, 0 replaced, 0 failed; 2 passages" in first.out
    assert "2 unchanged" in ingest(askem, folder).out
    listed = askem("papers")
    assert (
        listed.out.splitlines()[0].split() == "complete paragraph a 1 passages [covid-19]".split()
    )
    assert "2 sources, 2 passages, 2 in the sparse index, 2 with sound" in askem("verify").out
    deleted = askem("delete", "a")
    assert (deleted.status, deleted.out) == (0, "deleted    a: 1 files' passages\n")
    assert [line["key"]["paper_id"] for line in askem("papers", "--json").lines] == ["b"]


def test_json_is_a_line_a_receipt_and_a_summary(askem: Askem, folder: Path) -> None:
    paper(folder, "a.txt")
    paper(folder, "b.txt", b"")
    ran = ingest(askem, folder, "--json")
    assert ran.status == 1
    failed, created, last = ran.lines
    assert (created["paper_id"], created["status"], created["passages"]) == ("a", "created", 1)
    assert (failed["paper_id"], failed["status"]) == ("b", "failed")
    assert failed["reason"] == "no text left after preprocessing"
    assert (last["summary"]["created"], last["summary"]["failed"]) == (1, 1)


def test_quiet_says_only_what_failed(askem: Askem, folder: Path) -> None:
    paper(folder, "a.txt")
    paper(folder, "b.txt", "")
    out = ingest(askem, folder, "--quiet").out.splitlines()
    assert [line.split()[0] for line in out] == ["failed", "2"]


def test_one_bad_file_does_not_stop_the_others(askem: Askem, folder: Path, tmp_path: Path) -> None:
    """Bad ids, links, files too large, empty, or of any bytes: each has its own reason."""
    (tmp_path / "secret").write_text("secret")
    paper(folder, "good.txt")
    paper(folder, "bad id.txt")
    paper(folder, "empty.txt", b"")
    paper(folder, "garbage.txt", bytes(range(256)) * 50)
    paper(folder, "nul.txt", b"\x00" * 1000)
    paper(folder, "utf16.txt", "Infection modèle.".encode("utf-16"))
    paper(folder, "figure.md")
    paper(folder, ".hidden.txt")
    paper(folder, "two\nlines\x1b[31m.txt")
    paper(folder, "more\nlines.md")
    (folder / "link.txt").symlink_to(tmp_path / "secret")
    with (folder / "large.txt").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    Path(os.fsdecode(os.fsencode(folder) + b"/bytes\xff.txt")).write_text("Some text.")
    ran = ingest(askem, folder, "--json")
    assert ran.status == 1
    *receipts, _ = ran.lines
    failed = {r["source"]: r["reason"] for r in receipts if r["status"] == "failed"}
    assert set(failed) == {
        *("bad id.txt", "empty.txt", "garbage.txt", "nul.txt", "link.txt", "large.txt"),
        r"bytes\xff.txt",
        r"two\nlines\x1b[31m.txt",
    }
    assert "links are not followed" in failed["link.txt"]
    assert "at most" in failed["large.txt"]
    assert {r["source"] for r in receipts} - set(failed) == {"good.txt", "utf16.txt"}
    assert "passed over  figure.md: not a .txt file" in ran.err
    assert r"passed over  more\nlines.md: not a .txt file" in ran.err
    assert "passed over  1 hidden .txt files" in ran.err
    assert askem("verify").status == 0
    plain = ingest(askem, folder)
    assert plain.status == 1
    assert plain.out.count("failed  ") == 8
    lines = [line.split()[0] for line in plain.out.splitlines()]
    assert set(lines) == {"failed", "unchanged", "10"}
    assert "\x1b" not in plain.out + plain.err


def test_figures_beside_papers_are_loaded_on_their_own(askem: Askem, folder: Path) -> None:
    paper(folder, "a.txt")
    paper(folder, "a.fig1.txt", "Figure 1. A caption.")
    papers = ingest(askem, folder)
    assert papers.status == 0
    assert "passed over  a.fig1.txt: a figure of a paper beside it" in papers.err
    assert "1 files: 1 created" in papers.out
    figures = ingest(askem, folder, "--doc-type", "figure", "--json")
    assert "passed over  a.txt: a paper" in figures.err
    assert figures.lines[0]["cosmos_object_id"] == "fig1"
    assert "a.fig1" in askem("papers").out
    assert "deleted    a: 2 files' passages" in askem("delete", "a").out


def test_topics_are_canonical_and_add_up(askem: Askem, folder: Path) -> None:
    paper(folder, "a.txt")
    assert ingest(askem, folder, "--topic", "HQ", topic="COVID").status == 0
    assert ingest(askem, folder, topic="soil").status == 0
    (entry,) = askem("papers", "--json").lines
    assert entry["topics"] == ["covid-19", "hq", "soil"]
    assert askem("papers", "--topic", "Covid").out != ""
    assert askem("papers", "--topic", "h").out == ""


@pytest.mark.parametrize("topic", ["", " ", "-x", "a b", "a/b", "ü", "x" * 65, "a\x00", "*"])
def test_a_topic_that_cannot_be_one_is_refused(askem: Askem, folder: Path, topic: str) -> None:
    paper(folder, "a.txt")
    ran = ingest(askem, folder, topic=topic)
    assert ran.status == 1
    assert ran.err.startswith("askem: topic: ")
    assert "cannot be a topic" in ran.err


def test_an_unknown_folder_is_named(askem: Askem, folder: Path, data_dir: Path) -> None:
    ran = ingest(askem, folder / "nowhere")
    assert (ran.status, ran.out) == (1, "")
    assert ran.err.startswith("askem: input-dir: cannot read")
    assert "nowhere" in ran.err
    assert not data_dir.exists()


def test_a_folder_without_files_is_an_error(askem: Askem, folder: Path) -> None:
    paper(folder, "notes.md")
    assert "no <paper-id>.txt files in" in ingest(askem, folder).err
    figures = ingest(askem, folder, "--doc-type", "figure")
    assert "no <paper-id>.<object-id>.txt files in" in figures.err
    assert figures.status == 1


@pytest.mark.parametrize("arguments", [["ingest"], ["delete"], ["ingest", "--doc-type", "table"]])
def test_wrong_usage_has_exit_status_2(askem: Askem, arguments: list[str]) -> None:
    assert askem(*arguments).status == 2


def test_deleting_what_is_not_there_fails_after_the_rest(askem: Askem, folder: Path) -> None:
    paper(folder, "a.txt")
    ingest(askem, folder)
    ran = askem("delete", "nowhere", "a", "../../etc", "a'; --")
    assert ran.status == 1
    assert "deleted    a" in ran.out
    assert "not known: nowhere, ../../etc, a'; --" in ran.err


def test_verify_names_damage_and_repairs_it(askem: Askem, folder: Path, data_dir: Path) -> None:
    paper(folder, "a.txt")
    ingest(askem, folder)
    (data_dir / "vectors-1.f32").unlink()
    found = askem("verify")
    assert found.status == 1
    assert "a#p0: vectors are damaged or missing" in found.out
    assert "they differ" in found.out
    (report,) = askem("verify", "--json").lines
    assert (report["passages"], report["dense"]) == (1, 0)
    assert askem("verify", "--repair").status == 0
    assert "all agree" in askem("verify").out


def test_a_data_folder_that_cannot_be_used_is_named(
    askem: Askem, folder: Path, data_dir: Path
) -> None:
    paper(folder, "a.txt")
    data_dir.write_text("a file")
    assert ingest(askem, folder).err.startswith("askem: ASKEM_DATA_DIR: cannot use")
    data_dir.unlink()
    data_dir.mkdir()
    (data_dir / DATABASE).write_text("no database" * 1000)
    ran = askem("papers")
    assert ran.status == 1
    assert ran.err.startswith("askem: ASKEM_DATA_DIR: cannot use")


def test_a_wrong_setting_is_named(askem: Askem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASKEM_ENCODER_THREADS", "0")
    ran = askem("papers")
    assert ran.status == 2
    assert ran.err.startswith("askem: ASKEM_ENCODER_THREADS: ")
    monkeypatch.delenv("ASKEM_ENCODER_THREADS")
    monkeypatch.setenv("ASKEM_ENCODER", "/nowhere")
    assert "ASKEM_ENCODER: '/nowhere' is neither" in askem("papers").err


def test_the_installed_command_exits_as_it_should(folder: Path, data_dir: Path) -> None:
    command = [sys.executable, "-m", "askem", "ingest", "--topic", "t", "--input-dir", str(folder)]
    environment = {**os.environ, "ASKEM_DATA_DIR": str(data_dir)}
    paper(folder, "a.txt", "")
    ran = subprocess.run(
        command, env=environment, cwd=folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 1
    assert ran.stdout.startswith("failed     a.txt: no text left after preprocessing\n")
    assert "Traceback" not in ran.stderr


def test_a_handbook_comes_in_with_all_its_folders(askem: Askem, folder: Path) -> None:
    (folder / "runbooks").mkdir()
    paper(folder / "runbooks", "Stall.md", "# Stall\n\n## Meaning\n\nIt stalls.\n\n## Steps\n\nGo.")
    paper(folder / "runbooks", "_index.md", "---\ntitle: Runbooks\n---\n")
    paper(folder, "logo.svg")
    ran = ingest(askem, folder, "--doc-type", "section", topic="handbook")
    assert ran.status == 0
    assert "created    runbooks/Stall.md: 2 passages" in ran.out
    assert "logo.svg: not a .md file" in ran.err
    assert "_index.md: no text, or front matter alone" in ran.err
    assert askem("papers").out.split()[:3] == ["complete", "section", "runbooks.Stall"]
    assert "all agree" in askem("verify").out


def test_a_preprocessor_that_makes_no_sections_is_refused(askem: Askem, folder: Path) -> None:
    paper(folder, "a.md", "# A")
    for doc_type, preprocessor in (("section", "papers-v1"), ("paragraph", "markdown-v1")):
        ran = ingest(askem, folder, "--doc-type", doc_type, "--preprocessor", preprocessor)
        assert ran.status != 0
        assert f"{preprocessor} makes no passages of doc_type {doc_type}" in ran.err
