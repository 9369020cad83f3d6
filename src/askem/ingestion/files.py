"""Finding the files of a folder and what each of them is."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from askem.errors import InvalidInput
from askem.models import COSMOS_OBJECT_ID_PATTERN, PAPER_ID_PATTERN, DocType, SourceKey

MAX_FILE_BYTES = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True)
class SourceFile:
    """A file and the source it holds; `problem` says why it cannot be one."""

    path: Path
    key: SourceKey
    problem: str | None = None
    name: str = ""
    """As reports show it: the path from the folder that was listed, or the file's name."""


@dataclass(frozen=True, slots=True)
class Listing:
    sources: list[SourceFile]
    passed_over: list[tuple[Path, str]]
    """Files that are not of this kind, and why: figures beside papers, other endings."""
    hidden: int = 0
    """Hidden .txt files, which might be meant to be papers; other hidden files are what editors
    and file managers leave."""


def list_sources(folder: Path, doc_type: DocType) -> Listing:
    """The `<paper-id>.txt` (paragraph) or `<paper-id>.<cosmos_object_id>.txt` (figure) files of
    a folder, by name; subfolders are not entered. Raises InvalidInput for an unusable folder."""
    try:
        everything = sorted(folder.iterdir())
    except OSError as error:
        raise InvalidInput(
            "input-dir", f"cannot read {printable(str(folder))} ({error.strerror})"
        ) from error
    files = [path for path in everything if not path.name.startswith(".")]
    hidden = [path for path in everything if path.name.startswith(".")]
    stems = {path.stem for path in files if path.suffix == ".txt"}
    listing = Listing([], [], sum(path.name.endswith(".txt") for path in hidden))
    for path in files:
        reason = _other_kind(path, doc_type, stems)
        if reason:
            listing.passed_over.append((path, reason))
        else:
            listing.sources.append(_source(path, doc_type))
    return listing


def _other_kind(path: Path, doc_type: DocType, stems: set[str]) -> str | None:
    if path.is_dir():
        return "a folder; subfolders are not entered"
    if path.suffix != ".txt":
        return "not a .txt file"
    paper_id, _, _ = path.stem.rpartition(".")
    if doc_type == "figure" and not paper_id:
        return "a paper; load it with --doc-type paragraph"
    if doc_type == "paragraph" and paper_id in stems:
        return "a figure of a paper beside it; load it with --doc-type figure"
    return None


def _source(path: Path, doc_type: DocType) -> SourceFile:
    paper_id, object_id = printable(path.stem), ""
    if doc_type == "figure":
        paper_id, _, object_id = paper_id.rpartition(".")
    key = SourceKey(paper_id, doc_type, object_id)
    return SourceFile(path, key, id_problem(key) or file_problem(path), printable(path.name))


def printable(file_name: str) -> str:
    """A file's name as one line of visible characters: bytes that are not UTF-8, line breaks and
    whatever else would control a terminal are spelled out."""
    name = os.fsencode(file_name).decode("utf-8", "backslashreplace")
    return "".join(
        sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in name
    )


def id_problem(key: SourceKey) -> str | None:
    """Why a key's ids cannot be used; None where they can."""
    if not re.fullmatch(PAPER_ID_PATTERN, key.paper_id):
        return (
            f"paper id {key.paper_id!r}: 1 to 128 letters, digits, '.', '_' or '-', "
            "the first a letter or digit"
        )
    if key.doc_type == "figure" and not re.fullmatch(
        COSMOS_OBJECT_ID_PATTERN, key.cosmos_object_id
    ):
        return (
            f"cosmos_object_id {key.cosmos_object_id!r}: 1 to 128 letters, digits, '_' or '-', "
            "the first a letter or digit"
        )
    return None


def file_problem(path: Path) -> str | None:
    """Why a file cannot be read as a source; None where it can."""
    if path.is_symlink():
        return "a symbolic link; links are not followed"
    if not path.is_file():
        return "not a regular file"
    size = path.stat().st_size
    if size > MAX_FILE_BYTES:
        return f"{size:,} bytes; at most {MAX_FILE_BYTES:,} are read"
    return None
