"""The example corpus and its labelled questions: are the golds really there, and is the file as promised?"""

from __future__ import annotations

import re
from collections import Counter
from functools import lru_cache
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
PAPERS = ROOT / "examples" / "papers"
FIGURES = ROOT / "examples" / "figures"
GOLDEN = ROOT / "evals" / "golden" / "papers.yaml"

PAPER_ID = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$")
OBJECT_ID = re.compile(r"^[0-9a-f]{24}$")
TOPICS = {"covid-19", "soil-carbon", "solid-state-batteries", "volcano-monitoring"}
KINDS = {"identifier", "semantic", "procedural", "factual", "multi-hop"}
TWO_COLUMNS = {"classroom-ventilation-co2"}
TORN = TWO_COLUMNS | {
    "early-protease-inhibitor",
    "garnet-llzo-sintering",
    "peatland-rewetting-methane",
    "so2-drone-plume",
    "soil-spectroscopy-nir",
    "wastewater-sewershed-lag",
}
LIGATURES = {
    "\ufb00": "ff",
    "\ufb01": "fi",
    "\ufb02": "fl",
    "\ufb03": "ffi",
    "\ufb04": "ffl",
}
STOP = set(
    """a about above after all also am an and any are as at be because been before being below between both but by
    can could did do does down during each even ever few for from further had has have having he her his how i if in
    into is it its just more most no nor not of off on once one only or other our out over own same she should so some
    such than that the their them then there these they this those through to too under until up very was we were what
    when where which while who whom why will with would you""".split()
)


def _papers() -> dict[str, Path]:
    return {path.stem: path for path in sorted(PAPERS.glob("*/*.txt"))}


def _figures() -> list[Path]:
    return sorted(FIGURES.glob("*/*.txt"))


def _questions() -> list[dict]:
    return yaml.safe_load(GOLDEN.read_text(encoding="utf-8"))["questions"]


QUESTIONS = _questions()
ANSWERABLE = [q for q in QUESTIONS if not q.get("unanswerable")]
UNANSWERABLE = [q for q in QUESTIONS if q.get("unanswerable")]
GOLDS = [pytest.param(q, g, id=f"{q['id']}-{n}") for q in ANSWERABLE for n, g in enumerate(q["gold"])]


def _decode(data: bytes) -> str:
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")
    for ligature, letters in LIGATURES.items():
        text = text.replace(ligature, letters)
    return text.replace("\r\n", "\n")


def _tokens(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def _compact(text: str) -> str:
    """Letters and digits alone: blind to line breaks, and to whether a hyphen at a line end was real."""
    return "".join(c for c in text.lower() if c.isalnum())


def _columns(page: str) -> list[str]:
    """Split a page printed in two columns at its gutter; lines that cross the gutter stay whole.

    The gutter is the column at which most lines resume after four or more blanks.
    """
    lines = page.split("\n")
    starts = Counter(m.end() for line in lines for m in [re.search(r"(?<=\S) {4,}(?=\S)|^ {20,}(?=\S)", line)] if m)
    gutter = starts.most_common(1)[0][0]
    whole, left, right = [], [], []
    for line in lines:
        if line[gutter - 3 : gutter].strip():
            whole.append(line)
        else:
            left.append(line[:gutter])
            right.append(line[gutter:])
    return ["\n".join(whole), "\n".join(left), "\n".join(right)]


def _runs(tokens: list[str], run: list[str]) -> int:
    return sum(tokens[i : i + len(run)] == run for i in range(len(tokens) - len(run) + 1))


@lru_cache(maxsize=None)
def _passages(paper_id: str) -> tuple[str, ...]:
    """Paragraphs of a clean paper; pages (or columns of pages) of a torn one."""
    text = _decode(_papers()[paper_id].read_bytes())
    if paper_id not in TORN:
        return tuple(p for p in re.split(r"\n\s*\n", text) if p.strip())
    pages = text.split("\f")
    if paper_id in TWO_COLUMNS:
        return tuple(part for page in pages for part in _columns(page))
    return tuple(pages)


@lru_cache(maxsize=None)
def _figure_texts(paper_id: str) -> tuple[str, ...]:
    return tuple(_decode(p.read_bytes()) for p in _figures() if p.name.split(".")[0] == paper_id)


def _occurrences(paper_id: str, doc_type: str, quote: str) -> list[str]:
    """The passages in which the quote occurs, one entry an occurrence."""
    if doc_type == "paragraph" and paper_id in TORN:
        needle = _compact(quote)
        return [p for p in _passages(paper_id) for _ in range(_compact(p).count(needle))]
    run = _tokens(quote)
    texts = _figure_texts(paper_id) if doc_type == "figure" else _passages(paper_id)
    return [t for t in texts for _ in range(_runs(_tokens(t), run))]


def _content_stems(text: str) -> set[str]:
    """Content words, cut to five letters so that inflections of a word fall together."""
    return {t[:5] for t in _tokens(text) if t not in STOP and not t.isdigit() and len(t) > 1}


# --- the papers and figures -------------------------------------------------------------------------------------


def test_paper_ids_are_unique_well_formed_and_without_dots():
    paths = sorted(PAPERS.glob("*/*.txt"))
    assert len({p.stem for p in paths}) == len(paths)
    for path in paths:
        assert PAPER_ID.match(path.stem), path
        assert "." not in path.stem, path


def test_topics_and_sizes_of_the_corpus():
    per_topic = Counter(p.parent.name for p in _papers().values())
    assert set(per_topic) == TOPICS
    assert 18 <= sum(per_topic.values()) <= 20
    assert per_topic == {"covid-19": 8, "soil-carbon": 5, "solid-state-batteries": 4, "volcano-monitoring": 3}


@pytest.mark.parametrize("paper_id", sorted(_papers()))
def test_paper_is_short(paper_id):
    assert 450 <= len(_decode(_papers()[paper_id].read_bytes()).split()) <= 900


def test_seven_papers_are_torn_and_the_rest_are_clean():
    assert len(TORN) == 7 and TORN <= set(_papers())
    for paper_id, path in _papers().items():
        data = path.read_bytes()
        assert (b"\f" in data) == (paper_id in TORN), paper_id
        if paper_id not in TORN:
            lines = _decode(data).split("\n")
            # A paragraph a line: no two lines of text touch each other.
            assert not any(a.strip() and b.strip() for a, b in zip(lines, lines[1:])), paper_id


def test_how_the_torn_papers_are_torn():
    data = {paper_id: _papers()[paper_id].read_bytes() for paper_id in TORN}
    assert data["soil-spectroscopy-nir"].startswith(b"\xef\xbb\xbf")
    assert b"\r\n" in data["soil-spectroscopy-nir"]
    with pytest.raises(UnicodeDecodeError):
        data["peatland-rewetting-methane"].decode("utf-8")
    assert b"\xad\n" in data["peatland-rewetting-methane"]
    for paper_id in ("early-protease-inhibitor", "garnet-llzo-sintering"):
        assert re.search("[\ufb00-\ufb04]", data[paper_id].decode("utf-8"))
    for paper_id in ("early-protease-inhibitor", "so2-drone-plume"):
        assert data[paper_id].count(b"Downloaded ") >= 3
        assert "\u2010\n" in data[paper_id].decode("utf-8")
    for paper_id in TORN:
        assert re.search(r"(?im)^\W*references\b", _decode(data[paper_id])), paper_id


def test_figures_belong_to_papers_and_carry_object_ids():
    figures = _figures()
    assert len(figures) >= 8
    object_ids = []
    for path in figures:
        paper_id, object_id, extension = path.name.split(".")
        assert extension == "txt"
        assert OBJECT_ID.match(object_id), path
        assert _papers()[paper_id].parent.name == path.parent.name, path
        object_ids.append(object_id)
    assert len(set(object_ids)) == len(object_ids)


# --- the questions ----------------------------------------------------------------------------------------------


def test_top_level_of_the_file():
    top = yaml.safe_load(GOLDEN.read_text(encoding="utf-8"))
    assert set(top) == {"corpus", "questions"}
    assert top["corpus"] == "examples/papers + examples/figures"


def test_ids_and_questions_are_unique():
    for field in ("id", "question"):
        assert [v for v, n in Counter(q[field] for q in QUESTIONS).items() if n > 1] == []


def test_counts_are_as_promised():
    kinds = Counter(q["kind"] for q in ANSWERABLE)
    assert len(QUESTIONS) >= 60
    assert len(ANSWERABLE) >= 45
    assert kinds["identifier"] >= 12
    assert kinds["semantic"] >= 14
    assert kinds["factual"] >= 8
    assert kinds["procedural"] >= 5
    assert kinds["multi-hop"] >= 4
    assert len(UNANSWERABLE) >= 15
    assert sum(q["near_miss"] for q in UNANSWERABLE) >= 8
    assert sum(g["doc_type"] == "figure" for q in ANSWERABLE for g in q["gold"]) >= 5


def test_every_paper_is_asked_about():
    assert {g["paper_id"] for q in ANSWERABLE for g in q["gold"]} == set(_papers())


@pytest.mark.parametrize("question", QUESTIONS, ids=lambda q: q["id"])
def test_shape_of_a_question(question):
    assert question["kind"] in KINDS
    assert question["topic"] in TOPICS
    assert question["question"].endswith(("?", "."))
    if question.get("unanswerable"):
        assert set(question) == {"id", "question", "kind", "topic", "unanswerable", "near_miss", "why"}
        assert isinstance(question["near_miss"], bool) and question["why"]
        return
    assert set(question) == {"id", "question", "kind", "topic", "any", "gold", "answer"}
    assert isinstance(question["any"], bool) and question["answer"] and question["gold"]
    assert question["any"] == (question["kind"] != "multi-hop")
    if question["kind"] == "multi-hop":
        assert len(question["gold"]) >= 2


@pytest.mark.parametrize("question, gold", GOLDS)
def test_gold_quote_is_in_its_paper_exactly_once(question, gold):
    assert set(gold) == {"paper_id", "doc_type", "quote"}
    assert gold["doc_type"] in {"paragraph", "figure"}
    assert _papers()[gold["paper_id"]].parent.name == question["topic"]
    assert 6 <= len(gold["quote"].split()) <= 15
    found = _occurrences(gold["paper_id"], gold["doc_type"], gold["quote"])
    assert len(found) == 1, gold["quote"]


@pytest.mark.parametrize("question, gold", GOLDS)
def test_gold_quote_is_nowhere_else(question, gold):
    needle = _compact(gold["quote"])
    own = (gold["paper_id"], gold["doc_type"])
    for paper_id in _papers():
        if (paper_id, "paragraph") != own:
            assert not any(needle in _compact(p) for p in _passages(paper_id)), paper_id
        if (paper_id, "figure") != own:
            assert not any(needle in _compact(t) for t in _figure_texts(paper_id)), paper_id


@pytest.mark.parametrize("question, gold", [p for p in GOLDS if p.values[0]["kind"] == "semantic"])
def test_semantic_question_shares_hardly_a_word_with_its_gold(question, gold):
    asked = _content_stems(question["question"])
    assert len(asked) >= 3
    assert asked & _content_stems(gold["quote"]) == set()
    if gold["paper_id"] not in TORN:
        (paragraph,) = _occurrences(gold["paper_id"], gold["doc_type"], gold["quote"])
        assert len(asked & _content_stems(paragraph)) <= 1, asked & _content_stems(paragraph)


# --- the helpers of this test, so that a match means what it says ------------------------------------------------


def test_columns_are_read_down_and_not_across():
    page = "A heading that runs across both of the columns\nalpha beta        one two\ngamma delta       three four\n"
    whole, left, right = _columns(page)
    assert _tokens(left) == ["alpha", "beta", "gamma", "delta"]
    assert _tokens(right) == ["one", "two", "three", "four"]
    assert _tokens(whole) == _tokens("A heading that runs across both of the columns")


def test_a_quote_that_is_absent_is_not_found():
    clean, torn = "reproduction number in the first phase was 2.14", "one was struck by an eagle which nested"
    assert _occurrences("sidarthe-lombardy", "paragraph", clean) == []
    assert _occurrences("so2-drone-plume", "paragraph", torn) == []
