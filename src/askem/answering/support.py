"""Does a passage say what a sentence says? A comparison of words, numbers and names.

No entailment: a sentence whose words, numbers and names all stand together in the passage is
"found in source", which is not "true" (`docs/answers.md` has what is seen and what is not).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from askem.answering.compared import Compared, Finding
from askem.answering.indexed import build_index, indexed, plain
from askem.answering.models import CheckedSentence, Citation, Source, Verdict
from askem.answering.rules import findings
from askem.answering.sentence_items import Found, Sentence, look_up, read_sentence
from askem.answering.weights import Weight, uniform
from askem.answering.windows import Window, best_window, whole

_MOST_WORDS = 250  # the time of a check grows with the square of it; no sentence has so many
_ADDS = 0.1
"""Coverage that a further cited passage must bring to be counted as a source."""


@dataclass(frozen=True, slots=True)
class Examined:
    """A sentence beside one passage, or beside the windows of several."""

    citations: tuple[Citation, ...]
    coverage: float
    findings: tuple[Finding, ...]

    @property
    def verdict(self) -> Verdict:
        if any(finding.wrong for finding in self.findings):
            return "not found"
        return "partly found" if self.findings else "found in source"

    @property
    def rank(self) -> tuple[int, int, float]:
        """The lower, the better the passage carries the sentence."""
        wrong = sum(finding.wrong for finding in self.findings)
        return (wrong, len(self.findings), -self.coverage)


def check(sentence: str, sources: Sequence[Source], weight: Weight = uniform) -> CheckedSentence:
    """A sentence of an answer, without markers, against the passages that it cites.

    Found in source: in one of them, or in two to many together, no rule finds a difference.
    Not found: too little of it is there, a number is in none, or negation or direction differ.
    Partly found: what is between. Passages that carry nothing of it are not among the citations.
    """
    read = read_sentence(sentence, weight)
    sources = list({source.passage_id: source for source in sources}.values())
    alone = [examine(read, source) for source in sources]
    if not alone:
        return CheckedSentence(sentence, (), "not found", ("no passage is cited",))
    best = min(alone, key=lambda examined: examined.rank)
    if best.findings and len(alone) > 1 and len(read.lexemes) <= _MOST_WORDS:
        best = min(best, _together(read, sources), key=lambda examined: examined.rank)
    citations = dict.fromkeys(best.citations)
    cited = {citation.passage_id for citation in citations}
    for other in alone:
        if other.verdict != "not found" and other.citations[0].passage_id not in cited:
            citations.update(dict.fromkeys(other.citations))
    missing = tuple(dict.fromkeys(finding.words for finding in best.findings))
    return CheckedSentence(sentence, tuple(citations), best.verdict, missing)


def examine(sentence: Sentence, source: Source) -> Examined:
    """A sentence beside the window of one passage that says most of it."""
    passage = indexed(source.text)
    if span := passage.verbatim.get(plain(sentence.text)):
        return Examined((_cite(source, *span),), 1.0, ())
    if len(sentence.lexemes) > _MOST_WORDS:
        return Examined((), 0.0, (Finding("coverage", True, "it is too long to be checked"),))
    found = look_up(sentence.items, passage)
    window = best_window(found, passage)
    if window is None:
        words = "it has no word that can be looked up"
        return Examined((), 0.0, (Finding("coverage", True, words),))
    differences = findings(Compared(sentence, passage, found, window))
    too_far = any(f.rule == "coverage" and f.wrong for f in differences)
    cited = () if too_far else (_cite(source, window.start, window.end),)
    return Examined(cited, window.coverage, tuple(differences))


def _together(sentence: Sentence, sources: Sequence[Source]) -> Examined:
    """A sentence beside the windows of several passages, each taken for what the others lack."""
    parts = _share_out(sentence, list(sources))
    joint = build_index("\n\n".join(source.text[w.start : w.end] for source, w in parts))
    found = look_up(sentence.items, joint)
    window = whole(found, joint)
    cited = tuple(_cite(source, w.start, w.end) for source, w in parts)
    compared = Compared(sentence, joint, found, window)
    return Examined(cited, window.coverage, tuple(findings(compared)))


def _share_out(sentence: Sentence, sources: list[Source]) -> list[tuple[Source, Window]]:
    """The window that says most, then the one that says most of the rest, while that is enough."""
    parts: list[tuple[Source, Window]] = []
    rest, total = list(sentence.items), sentence.mass or 1.0
    while rest and len(parts) < len(sources):
        best: tuple[float, Source, Window, list[Found]] | None = None
        for source in sources:
            passage = indexed(source.text)
            found = look_up(rest, passage)
            window = best_window(found, passage)
            gain = window.coverage * sum(item.weight for item in rest) / total if window else 0.0
            if window and gain >= _ADDS and (best is None or gain > best[0]):
                best = (gain, source, window, found)
        if best is None:
            break
        parts.append(best[1:3])
        rest = [f.item for f in best[3] if not best[2].has(f)]
    return parts


def _cite(source: Source, start: int, end: int) -> Citation:
    return Citation(source.passage_id, source.text[start:end], start, end)
