"""Comparing texts: SQuAD's exact match and F1, and where words stand in a text."""

from __future__ import annotations

import re
import string
from collections import Counter

_ARTICLES = re.compile(r"\b(a|an|the)\b")
_NO_PUNCTUATION = str.maketrans("", "", string.punctuation)
_WORD = re.compile(r"\w+")


def normalised(text: str) -> list[str]:
    """Tokens as SQuAD compares them (Rajpurkar et al. 2016): lower case, without punctuation and
    articles."""
    return _ARTICLES.sub(" ", text.lower().translate(_NO_PUNCTUATION)).split()


def exact_match(said: str, gold: str) -> float:
    return float(normalised(said) == normalised(gold))


def token_f1(said: str, gold: str) -> float:
    """Harmonic mean of the shares of tokens, counted as often as they occur, that the texts have
    in common; 0 where either has none, 1 where neither has."""
    ours, theirs = normalised(said), normalised(gold)
    if not ours or not theirs:
        return float(ours == theirs)
    common = (Counter(ours) & Counter(theirs)).total()
    return 2 * common / (len(ours) + len(theirs))


def occurrences(text: str, words: str) -> list[tuple[int, int]]:
    """Spans of `text` that hold the words of `words` in a row, whatever case and punctuation;
    where none does, spans that are `words` to the letter, for labels that begin within a word."""
    wanted = _WORD.findall(words.lower())
    places = list(_WORD.finditer(text))
    # Word by word: as a whole, lower case may be longer than the text.
    found = [place.group().lower() for place in places]
    size = len(wanted)
    if not size:
        return []
    return [
        (places[i].start(), places[i + size - 1].end())
        for i in range(len(found) - size + 1)
        if found[i : i + size] == wanted
    ] or [place.span() for place in re.finditer(re.escape(words), text)]
