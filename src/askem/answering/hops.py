"""The next search of a question that one search does not cover.

A question that names several things ("Is A older than B?") needs a passage for each; one that
describes a thing instead of naming it ("the country where A was born") needs a passage about what
the first search found in its place. `docs/answers.md` has the measurements.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from askem.answering.models import Seen, Source
from askem.answering.passage_units import is_section, units_of
from askem.answering.picking_scores import share
from askem.answering.sentence_names import names
from askem.text.analysis import question_terms, tokens

ENOUGH = 0.5
"""Share of the question's idf mass in the best passage at which the question is covered ..."""
ENOUGH_IF_NESTED = 0.95
"""... and where it describes one thing by another or compares."""
FOUND = 0.7
"""Share of a search's idf mass in its best passage at which it found what it asked for."""
MAX_SEARCHES = 3
"""Of one question, its own included; what more would bring was not measured."""
READ = 2
"""How many of a search's best passages are read for names."""
NAMES = 6
"""Most names of a passage that are thought of."""
_NESTED = re.compile(
    r"(?<=\w\s)(?:that|who|whom|whose|which|where|when)\b|\w['\u2019]s\b"
    r"|\b(?:the|a|an) [\w-]+(?: [\w-]+)? (?:of|in|by|for|from) (?:the|a|an)\b"
    r"|\b(?:both|same|or|older|younger|first|earlier|later|between|longer|more)\b",
    re.IGNORECASE,
)
_WORD = re.compile(r"\w[\w'\u2019-]*")


def next_query(question: str, seen: Sequence[Seen]) -> str | None:
    """What to search for next; None when the passages seen cover the question.

    First the names of a question with several that no passage seen holds whole, then names found
    in the best passages, each with the question's words that are not covered yet. `seen` are the
    searches made so far, the question's own first. Never a query that was asked already, nor one
    of the same terms. Deterministic.
    """
    if not seen or len(seen) >= MAX_SEARCHES or not seen[0].sources or seen[0].scale == 0:
        return None
    asked = {frozenset(question_terms(search.query)) for search in seen}
    for query in _queries(question, seen):
        if frozenset(question_terms(query)) not in asked:
            return query
    return None


def _queries(question: str, seen: Sequence[Seen]) -> Iterator[str]:
    best = [search.sources[0] for search in seen if search.sources]
    held = [frozenset(tokens(source.text)) for search in seen for source in search.sources]
    own_names = names(question)
    for name in own_names if len(own_names) > 1 else []:
        if not any(set(question_terms(name)) <= terms for terms in held):
            yield name
    enough = ENOUGH_IF_NESTED if _NESTED.search(question) else ENOUGH
    if share(frozenset(tokens(best[0].text)), seen[0].idf) >= enough:
        return
    covered = frozenset().union(*(tokens(source.text) for source in best))
    open_words = _words_of(question, seen[0].idf.keys() - covered)
    own = set(question_terms(question))
    tried = {term for search in seen[1:] for term in question_terms(search.query)}
    for search in _followed(seen):
        for source in search.sources[:READ]:
            for name in _bridges(source, search, own | tried):
                yield " ".join([name, *open_words])


def _followed(seen: Sequence[Seen]) -> list[Seen]:
    """The searches to read names from, in order: the last one where its best passage holds most
    of what it asked for, else those before it first."""
    *before, last = seen
    held = share(frozenset(tokens(last.sources[0].text)), last.idf) if last.sources else 0.0
    return [last, *before] if held >= FOUND or not before else [*before, last]


def _bridges(source: Source, search: Seen, own: set[str]) -> list[str]:
    """Names of a passage without any of the `own` terms, those of the question and of what was
    tried: its first one, which it is about, then those of the sentences that hold most of what
    was searched for. The headings of a section and the heads of its tables name nothing new."""
    units = [unit for unit in units_of(source.text) if unit.kind != "context"]
    spans = [source.text[unit.start : unit.end] for unit in units]
    ranked = sorted(spans, key=lambda text: -share(frozenset(tokens(text)), search.idf))
    first = [] if is_section(source.text) else names(source.text)[:1]
    # A capital that begins a cell of a row makes no name.
    found = first + [name for text in ranked for cell in text.split(" | ") for name in names(cell)]
    return [n for n in dict.fromkeys(found) if not own & set(question_terms(n))][:NAMES]


def _words_of(question: str, terms: set[str]) -> list[str]:
    """The question's words that stand for these terms, in order."""
    words = _WORD.findall(question)
    return [word for word in words if terms & set(question_terms(word))]
