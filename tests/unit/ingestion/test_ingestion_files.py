"""Which files of a folder are papers, figures, or neither, and what is wrong with them."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from askem.errors import InvalidInput
from askem.ingestion.files import MAX_FILE_BYTES, list_sources, printable
from askem.models import DocType, SourceKey


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "input"
    made.mkdir()
    return made


def fill(folder: Path, *names: str) -> None:
    for name in names:
        (folder / name).write_text("Some text.")


def problem_of(folder: Path, doc_type: DocType = "paragraph") -> str:
    (source,) = list_sources(folder, doc_type).sources
    assert source.problem is not None
    return source.problem


def test_papers_are_listed_by_name(folder: Path) -> None:
    fill(folder, "b.txt", "a.txt", "10.1101-2020.txt")
    keys = [source.key for source in list_sources(folder, "paragraph").sources]
    assert keys == [SourceKey(paper, "paragraph") for paper in ("10.1101-2020", "a", "b")]


def test_figures_carry_their_object_id(folder: Path) -> None:
    fill(folder, "a.1.txt", "10.1101.obj-2.txt")
    keys = [source.key for source in list_sources(folder, "figure").sources]
    assert keys == [SourceKey("10.1101", "figure", "obj-2"), SourceKey("a", "figure", "1")]


def test_a_mixed_folder_is_told_apart_both_ways(folder: Path) -> None:
    fill(folder, "a.txt", "a.1.txt", "b.txt", "notes.md")
    (folder / "more").mkdir()
    papers = list_sources(folder, "paragraph")
    assert [source.path.name for source in papers.sources] == ["a.txt", "b.txt"]
    assert {path.name: reason.split(";")[0] for path, reason in papers.passed_over} == {
        "a.1.txt": "a figure of a paper beside it",
        "notes.md": "not a .txt file",
        "more": "a folder",
    }
    figures = list_sources(folder, "figure")
    assert [source.path.name for source in figures.sources] == ["a.1.txt"]
    assert {path.name for path, _ in figures.passed_over} == {"a.txt", "b.txt", "notes.md", "more"}


def test_hidden_files_are_left_out_and_counted_where_they_may_be_meant(folder: Path) -> None:
    fill(folder, ".a.txt", "..txt", ".DS_Store", ".a.txt.swp")
    listing = list_sources(folder, "paragraph")
    assert listing.sources == listing.passed_over == []
    assert listing.hidden == 2


@pytest.mark.parametrize("name", ["-a.txt", "_a.txt", "a b.txt", "ä.txt", "a#p0.txt", "a'--.txt"])
def test_a_name_that_is_no_paper_id_is_a_problem(folder: Path, name: str) -> None:
    fill(folder, name)
    assert problem_of(folder).startswith("paper id ")


def test_an_id_may_have_128_characters(folder: Path) -> None:
    fill(folder, "a" * 128 + ".txt")
    assert list_sources(folder, "paragraph").sources[0].problem is None
    fill(folder, "b" * 129 + ".txt")
    assert list_sources(folder, "paragraph").sources[1].problem is not None


def test_an_object_id_that_is_none_is_a_problem(folder: Path) -> None:
    fill(folder, "a.-1.txt")
    assert problem_of(folder, "figure").startswith("cosmos_object_id '-1'")


def test_a_name_that_is_not_utf8_can_be_printed(folder: Path) -> None:
    Path(os.fsdecode(os.fsencode(folder) + b"/bad\xff.txt")).write_text("Some text.")
    (source,) = list_sources(folder, "paragraph").sources
    assert source.key.paper_id == r"bad\xff"
    assert printable(source.path.name).encode() == rb"bad\xff.txt"
    assert source.problem is not None
    assert source.problem.encode()


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        ("two\nlines.txt", r"two\nlines.txt"),
        ("\x1b[31mred\r.txt", r"\x1b[31mred\r.txt"),
        ("mirrored\u202etxt.txt", r"mirrored\u202etxt.txt"),
        ("naïve 気候.txt", "naïve 気候.txt"),
    ],
)
def test_what_would_control_a_terminal_is_spelled_out(name: str, shown: str) -> None:
    assert printable(name) == shown


def test_links_are_not_followed(folder: Path, tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("secret")
    (folder / "a.txt").symlink_to(tmp_path / "secret")
    assert problem_of(folder) == "a symbolic link; links are not followed"


def test_a_dangling_link_is_a_problem(folder: Path) -> None:
    (folder / "a.txt").symlink_to(folder / "nowhere")
    assert problem_of(folder) == "a symbolic link; links are not followed"


def test_a_pipe_is_a_problem(folder: Path) -> None:
    os.mkfifo(folder / "a.txt")
    assert problem_of(folder) == "not a regular file"


def test_too_large_a_file_is_a_problem(folder: Path) -> None:
    with (folder / "a.txt").open("wb") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    assert problem_of(folder) == "10,485,761 bytes; at most 10,485,760 are read"
    with (folder / "a.txt").open("wb") as file:
        file.truncate(MAX_FILE_BYTES)
    assert list_sources(folder, "paragraph").sources[0].problem is None


def test_a_folder_that_cannot_be_read_is_named(folder: Path) -> None:
    fill(folder, "a.txt")
    for path, reason in ((folder / "nowhere", "No such file"), (folder / "a.txt", "Not a dir")):
        with pytest.raises(InvalidInput, match=reason) as raised:
            list_sources(path, "paragraph")
        assert raised.value.field == "input-dir"
