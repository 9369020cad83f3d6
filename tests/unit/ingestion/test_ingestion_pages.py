"""Which files of a folder of folders are pages, and what their documents are called."""

from __future__ import annotations

from pathlib import Path

import pytest

from askem.errors import InvalidInput
from askem.ingestion.files import id_problem
from askem.ingestion.pages import list_pages, page_key


def fill(folder: Path, *names: str, text: str = "# A page") -> None:
    for name in names:
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)


def test_pages_are_found_in_all_folders_and_named_by_their_path(tmp_path: Path) -> None:
    fill(tmp_path, "b.md", "a/z.md", "a/c/d.md", ".git/x.md", "a/.hidden.md", "a/picture.png")
    listing = list_pages(tmp_path)
    assert [(s.key.paper_id, s.name) for s in listing.sources] == [
        ("a.c.d", "a/c/d.md"),
        ("a.z", "a/z.md"),
        ("b", "b.md"),
    ]
    assert {s.key.doc_type for s in listing.sources} == {"section"}
    assert [path.name for path, _ in listing.passed_over] == ["picture.png"]


@pytest.mark.parametrize(
    ("path", "paper_id"),
    [
        ("runbooks/etcd/etcdNoLeader.md", "runbooks.etcd.etcdNoLeader"),
        ("03-error-codes.md", "03-error-codes"),
        ("Error codes (old).md", "Error-codes-old"),
        ("Übersicht/Café.md", "Ubersicht.Cafe"),
        ("runbooks/_index.md", "runbooks.index"),
        ("../a/./b.md", "a.b"),
        ("v1.2/notes.md", "v1.2.notes"),
    ],
)
def test_a_path_becomes_an_id(path: str, paper_id: str) -> None:
    key = page_key(path)
    assert key.paper_id == paper_id
    assert id_problem(key) is None


@pytest.mark.parametrize("path", ["目次.md", "a" * 129 + ".md", ".md"])
def test_what_gives_no_id_has_a_problem(path: str) -> None:
    assert id_problem(page_key(path))


def test_two_pages_of_one_id_are_both_named(tmp_path: Path) -> None:
    fill(tmp_path, "a/b.md", "a.b.md")
    with pytest.raises(InvalidInput, match=r"a/b.md and a.b.md|a.b.md and a/b.md") as raised:
        list_pages(tmp_path)
    assert raised.value.field == "input-dir"


def test_a_page_of_front_matter_alone_is_passed_over(tmp_path: Path) -> None:
    fill(tmp_path, "_index.md", text="---\ntitle: etcd\n---\n")
    fill(tmp_path, "empty.md", text="<!-- to be written -->")
    listing = list_pages(tmp_path)
    assert listing.sources == []
    assert [reason for _, reason in listing.passed_over] == ["no text, or front matter alone"] * 2


def test_links_are_not_followed(tmp_path: Path) -> None:
    outside, folder = tmp_path / "outside", tmp_path / "handbook"
    fill(outside, "secret.md")
    folder.mkdir()
    (folder / "a.md").symlink_to(outside / "secret.md")
    (folder / "more").symlink_to(outside)
    listing = list_pages(folder)
    assert [s.problem for s in listing.sources] == ["a symbolic link; links are not followed"]
    assert [path.name for path, _ in listing.passed_over] == ["more"]


def test_a_folder_that_is_none_is_named(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="No such file"):
        list_pages(tmp_path / "nowhere")
