"""An answer is bounded in work and in size, whatever was written."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from askem_agent.composing import (
    FOREIGN_ADDRESS,
    MAX_BYTES,
    MAX_SOURCES,
    MAX_UNIT_CHARS,
    TOO_LONG,
    compose,
)
from askem_agent.notebook import Notebook

NotebookOf = Callable[[Sequence[str]], Notebook]
TRUE = "The particles of the vaccine were stable for 12 days in rabbits."


def test_a_check_ends_between_sentences(notebook_of: NotebookOf) -> None:
    asked = iter([False, False, True])
    written = " ".join([f"{TRUE[:-1]} [1]."] * 5)
    composed = compose(written, notebook_of([TRUE]), should_stop=lambda: next(asked))
    assert (len(composed.sentences), composed.stopped) == (2, "time")


def test_a_sentence_beyond_all_measure_is_not_looked_up(notebook_of: NotebookOf) -> None:
    long = "particles " * (MAX_UNIT_CHARS // 10 + 1)
    composed = compose(f"{long}[1].", notebook_of([long]), unsupported="mark")
    (sentence,) = composed.sentences
    assert (sentence.verdict, sentence.missing) == ("not found", (TOO_LONG,))
    assert len(composed.text) < MAX_UNIT_CHARS + 100


def test_few_of_many_passages_that_a_sentence_names_are_looked_at(notebook_of: NotebookOf) -> None:
    texts = [f"Nothing of it stands in {n}." for n in range(MAX_SOURCES)] + [TRUE]
    markers = "".join(f"[{n}]" for n in range(1, MAX_SOURCES + 2))
    assert not compose(f"{TRUE[:-1]} {markers}.", notebook_of(texts)).supported
    assert compose(f"{TRUE[:-1]} {markers[3:]}.", notebook_of(texts)).supported


def test_an_answer_has_a_size(notebook_of: NotebookOf) -> None:
    """Quotations and passages count, as JSON."""
    filler = ' "\\' * 10_000
    texts = [f"Group {n} had {TRUE[4:-1]}{filler}." for n in range(40)]
    written = "\n".join(f"- Group {n} had {TRUE[4:-1]} [{n + 1}]." for n in range(40))
    composed = compose(written, notebook_of(texts))
    assert composed.stopped == "length"
    assert 2 < len(composed.sentences) <= MAX_BYTES / (1.5 * len(filler))


def test_an_address_that_no_passage_has_is_not_kept(notebook_of: NotebookOf) -> None:
    own, foreign = "https://doi.example/10.1", "https://evil.example/login"
    book = notebook_of([f"The code is at {own} for all."])
    assert compose(f"The code is at {own} for all [1].", book).supported
    composed = compose(f"The code is at {foreign} for all [1].", book, unsupported="mark")
    (sentence,) = composed.sentences
    assert sentence.verdict == "not found"
    assert sentence.missing[0].startswith(FOREIGN_ADDRESS.split("{")[0])
