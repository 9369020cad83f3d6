"""How often the check of a sentence against its passage flags true and false sentences.

Sentences of a BEIR folder's passages are changed in known ways and checked against the passage
they were taken from; written claims and conclusions, where given, are checked as they stand.
No server is needed.
"""

from __future__ import annotations

import argparse
import json
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from common import read_queries
from support_changes import CHANGES, Sample, usable

from askem.answering.models import Source
from askem.answering.sentence_items import read_sentence
from askem.answering.support import Examined, check, examine
from askem.answering.weights import Weight, idf_over, uniform
from askem.text.analysis import tokens
from askem.text.sentences import sentence_spans

RUN = 10
"""Passages of a run, for weights that know nothing else."""


@dataclass
class Passages:
    """Of one folder: id to text, and where the words are."""

    texts: dict[str, str]
    papers: dict[str, str]
    holders: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for key, text in self.texts.items():
            for term in set(tokens(text)):
                self.holders[term].append(key)

    def run_for(self, sentence: str, own: str) -> list[str]:
        """A stand-in for a search: the passages that share most, and the sentence's own."""
        shared: Counter[str] = Counter()
        for term in set(tokens(sentence)):
            held = self.holders.get(term, ())
            for key in held:
                shared[key] += 1 / len(held)
        best = [key for key, _ in shared.most_common(RUN - 1) if key != own]
        return [self.texts[own], *(self.texts[key] for key in best)]


def read_passages(folder: Path) -> Passages:
    with (folder / "corpus.jsonl").open(encoding="utf-8") as file:
        records = [json.loads(line) for line in file]
    texts = {str(r["_id"]): _text(r) for r in records if r["text"].strip()}
    papers = {key: key.split("#")[0] for key in texts}
    return Passages(texts, papers)


def _text(record: dict[str, str]) -> str:
    """An abstract has its title before it, as `beir_to_papers.py` writes it; a paragraph not."""
    title = "" if "#" in str(record["_id"]) else record["title"].strip()
    return f"{title}\n\n{record['text']}" if title else record["text"]


def samples(passages: Passages, number: int, seed: int) -> list[Sample]:
    """Sentences of 8 to 60 words out of passages of three sentences or more."""
    rng = random.Random(seed)
    by_paper: dict[str, list[str]] = defaultdict(list)
    for key in passages.texts:
        by_paper[passages.papers[key]].append(key)
    found = []
    keys = list(passages.texts)
    rng.shuffle(keys)
    for key in keys:
        text = passages.texts[key]
        spans = sentence_spans(text)
        fit = [text[a:b] for a, b in spans if usable(text[a:b])]
        if len(spans) < 3 or not fit:
            continue
        sentence = rng.choice(fit)
        other = passages.texts[rng.choice(keys)]
        siblings = [k for k in by_paper[passages.papers[key]] if k != key]
        sibling = passages.texts[rng.choice(siblings)] if siblings else ""
        found.append(Sample(key, text, sentence, sibling, other))
        if len(found) == number:
            break
    return found


def written(folder: Path, passages: Passages) -> Iterator[tuple[str, str, str]]:
    """(kind, sentence, passage id) of claims, conclusions or questions with answers."""
    for record in read_queries(folder).values():
        labels = {e["doc_id"]: e["label"] for e in record.get("evidence") or []}
        for key, label in labels.items():
            if key in passages.texts:
                kind = "true: claim, supported" if label == "SUPPORT" else "claim, contradicted"
                yield kind, record["text"], key
        if record.get("long_answer") and record["_id"] in passages.texts:
            yield "true: conclusion", record["long_answer"], record["_id"]


def question_answers(folder: Path) -> Iterator[tuple[str, str, str]]:
    path = folder / "questions.jsonl"
    if path.is_file():
        for line in path.read_text(encoding="utf-8").splitlines():
            record = json.loads(line)
            sentence = f"{record['text'].rstrip(' ?')}: {record['answer']}"
            yield "true: question and answer", sentence, record["gold_paragraph_ids"][0]


@dataclass
class Tally:
    number: int = 0
    wrong: int = 0
    flagged: int = 0
    """By a rule other than weak coverage."""
    partly: int = 0
    rules: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    shown: list[str] = field(default_factory=list)

    def add(self, sentence: str, examined: Examined, seconds: float) -> None:
        rules = {f.rule for f in examined.findings if f.wrong or f.rule != "coverage"}
        self.number += 1
        self.wrong += examined.verdict == "not found"
        self.partly += examined.verdict == "partly found"
        self.flagged += bool(rules)
        self.rules.update(rules)
        self.seconds += seconds
        words = "; ".join(f.words for f in examined.findings)
        quote = examined.citations[0].quote if examined.citations else ""
        self.shown.append(f"{sorted(rules)} | {sentence}\n    {words}\n    {quote}")


def main() -> None:
    options = _arguments()
    for folder in options.data:
        passages = read_passages(folder)
        chosen = samples(passages, options.number, options.seed)
        for kind in options.weights:
            tallies = measure(folder, passages, chosen, kind, options.seed)
            report(f"{folder.name}, weights {kind}", tallies)
            if options.show:
                for line in tallies[options.show].shown[: options.examples]:
                    print(line)


def measure(
    folder: Path, passages: Passages, chosen: list[Sample], kind: str, seed: int
) -> dict[str, Tally]:
    make = weights(kind, passages)
    tallies: dict[str, Tally] = defaultdict(Tally)
    numbers = [s.sentence for s in chosen]
    for name, change in CHANGES.items():
        rng = random.Random(f"{seed} {name}")
        for sample in chosen:
            changed = change(rng, sample, numbers)
            if changed is not None:
                _add(tallies[name], changed, sample.key, passages, make)
    for name, sentence, key in [
        *written(folder, passages),
        *question_answers(folder),
    ]:
        _add(tallies[name], sentence, key, passages, make)
    return tallies


def _add(
    tally: Tally, sentence: str, key: str, passages: Passages, make: Callable[[str, str], Weight]
) -> None:
    weight = make(sentence, key)
    source = Source(key, passages.papers[key], passages.texts[key], 0.0, None)
    begin = time.process_time()
    check(sentence, [source], weight)
    seconds = time.process_time() - begin
    tally.add(sentence, examine(read_sentence(sentence, weight), source), seconds)


def weights(kind: str, passages: Passages) -> Callable[[str, str], Weight]:
    """From a sentence and its passage's id to what its words weigh."""
    if kind == "corpus":
        corpus = idf_over(passages.texts.values())
        return lambda sentence, key: corpus
    if kind == "run":
        return lambda sentence, key: idf_over(passages.run_for(sentence, key))
    if kind == "length":
        return lambda sentence, key: lambda term: min(10.0, 2.0 + len(term))
    return lambda sentence, key: uniform


def report(title: str, tallies: dict[str, Tally]) -> None:
    print(f"\n| {title} | n | flagged % | not found % | partly found % | rules | CPU ms |")
    print("|---|---|---|---|---|---|---|")
    for name, t in tallies.items():
        rules = ", ".join(f"{rule} {count}" for rule, count in t.rules.most_common())
        shares = " | ".join(f"{100 * x / t.number:.1f}" for x in (t.flagged, t.wrong, t.partly))
        print(f"| {name} | {t.number} | {shares} | {rules} | {1000 * t.seconds / t.number:.1f} |")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, nargs="+", help="folders with corpus.jsonl")
    parser.add_argument("--number", type=int, default=1000, help="sentences of each folder")
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument(
        "--weights", nargs="+", default=["uniform"], choices=["corpus", "run", "uniform", "length"]
    )
    parser.add_argument("--show", help="print the findings of one kind of sentence")
    parser.add_argument("--examples", type=int, default=20)
    return parser.parse_args()


if __name__ == "__main__":
    main()
