"""Finding the pages of a handbook: markdown files in a folder and the folders below it."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from askem.errors import InvalidInput
from askem.ingestion.files import Listing, SourceFile, file_problem, id_problem, printable
from askem.models import SourceKey
from askem.text.decoding import decode
from askem.text.preprocessing import get_preprocessor

SUFFIX = ".md"
_SMALL_BYTES = 4096
"""Front matter alone is no longer."""


def list_pages(folder: Path) -> Listing:
    """The `.md` files of a folder and of those below it, by path; hidden ones are left out.

    Raises InvalidInput for a folder that cannot be read, and where two files get one id.
    """
    listing = Listing([], [])
    paths: dict[str, str] = {}
    for path in _files(folder):
        name = printable(path.relative_to(folder).as_posix())
        if path.suffix != SUFFIX:
            listing.passed_over.append((path, f"not a {SUFFIX} file"))
            continue
        key = page_key(name)
        if key.paper_id in paths:
            raise InvalidInput(
                "input-dir",
                f"{paths[key.paper_id]} and {name} would both be document {key.paper_id!r}: "
                "rename one of them",
            )
        paths[key.paper_id] = name
        problem = id_problem(key) or file_problem(path)
        if problem is None and _is_empty(path):
            listing.passed_over.append((path, "no text, or front matter alone"))
        else:
            listing.sources.append(SourceFile(path, key, problem, name))
    return listing


def page_key(path: str) -> SourceKey:
    """The source that a page's path stands for: `runbooks/etcd/etcdNoLeader.md` is document
    `runbooks.etcd.etcdNoLeader`.

    Accents go, whatever else an id cannot hold becomes a hyphen, and no part begins with a mark
    (`_index`). The id may still be none: `id_problem`.
    """
    parts = map(_plain, PurePosixPath(path.removesuffix(SUFFIX)).parts)
    return SourceKey(".".join(filter(None, parts)), "section")


def _plain(part: str) -> str:
    bare = "".join(c for c in unicodedata.normalize("NFKD", part) if not unicodedata.combining(c))
    return re.sub(r"[^A-Za-z0-9._-]+", "-", bare).strip("._-")


def _files(folder: Path) -> Iterator[Path]:
    """Files by path, whatever kind. Links to folders come as they are: nothing is followed."""
    try:
        found = sorted(path for path in folder.iterdir() if not path.name.startswith("."))
    except OSError as error:
        raise InvalidInput(
            "input-dir", f"cannot read {printable(str(folder))} ({error.strerror})"
        ) from error
    for path in found:
        if path.is_dir() and not path.is_symlink():
            yield from _files(path)
        else:
            yield path


def _is_empty(path: Path) -> bool:
    try:
        data = path.read_bytes() if path.stat().st_size <= _SMALL_BYTES else b"text"
    except OSError:
        return False  # said where it is read for good
    return not get_preprocessor("markdown-v1")(decode(data).text)
