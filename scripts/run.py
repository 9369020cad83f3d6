"""What `make run` does: load the examples into an empty data folder, then serve."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from askem.cli import readable_errors
from askem_ingest.cli import ingest
from askem_ingest.settings import IngestSettings
from askem_retriever.settings import RetrieverSettings

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
# There while the examples are being loaded, so that an interrupted load is taken up again.
LOADING = "examples-loading"


def needs_examples(data_dir: Path) -> bool:
    """Whether nothing but perhaps keys is in the folder, or an earlier load was cut short."""
    if (data_dir / LOADING).exists() or not data_dir.exists():
        return True
    return all(path.name in ("api_key", "keys.sqlite3") for path in data_dir.iterdir())


def load_examples(data_dir: Path) -> None:
    """Ingests every topic's papers and figures, and the handbook; a topic is a folder's name."""
    data_dir.mkdir(parents=True, exist_ok=True)
    (data_dir / LOADING).touch()
    for kind, doc_type in (("papers", "paragraph"), ("figures", "figure")):
        for folder in sorted((EXAMPLES / kind).iterdir()):
            if folder.is_dir():
                _load(folder, doc_type)
    _load(EXAMPLES / "handbook", "section")
    (data_dir / LOADING).unlink()


def _load(folder: Path, doc_type: str) -> None:
    print(f"Loading {folder.relative_to(EXAMPLES.parent)}", flush=True)
    options = ["--input-dir", str(folder), "--topic", folder.name]
    ingest.main([*options, "--doc-type", doc_type, "--quiet"], standalone_mode=False)


def main() -> None:
    with readable_errors():
        RetrieverSettings()  # a wrong one should show before the examples are loaded
        data_dir = IngestSettings().data_dir
        if needs_examples(data_dir):
            load_examples(data_dir)
    askem = Path(sys.executable).with_name("askem")
    os.execv(askem, [str(askem), "serve", "--show-key"])  # noqa: S606 - our own command


if __name__ == "__main__":
    main()
