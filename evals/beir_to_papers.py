"""Writes a BEIR corpus as `<id>.txt` files, title and text one paragraph each, to be ingested
with `--preprocessor paragraphs-v1`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="the BEIR folder")
    parser.add_argument("out", type=Path, help="the folder to write")
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    with (options.data / "corpus.jsonl").open(encoding="utf-8") as file:
        for line in file:
            document = json.loads(line)
            text = " ".join(f"{document['title']}. {document['text']}".split())
            (options.out / f"{document['_id']}.txt").write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
