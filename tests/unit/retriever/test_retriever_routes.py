"""What the routes answer."""

from __future__ import annotations

from typing import Any

import pytest

from askem.testing.inprocess import AppRunner

Q: dict[str, Any] = {"question": "What is SIDARTHE model?"}
HIT_FIELDS = {
    "paper_id",
    "doc_type",
    "text",
    "distance",
    "cosmos_object_id",
    "article_terms",
    "paragraph_terms",
    "passage_id",
    "score",
    "topics",
    "preprocessor_id",
    "order",
}


def ask(door: AppRunner, path: str, **body: Any) -> Any:
    response = door.request("POST", path, json={**Q, **body})
    assert response.status_code == 200, response.text
    return response.json()


@pytest.mark.parametrize("path", ["/vector", "/hybrid"])
def test_the_answer_is_a_bare_list_of_hits(door: AppRunner, path: str) -> None:
    hits = ask(door, path)
    assert hits
    assert all(set(hit) == HIT_FIELDS for hit in hits)
    assert all(hit["article_terms"] == [] for hit in hits)
    scores = [hit["score"] for hit in hits]
    assert scores == sorted(scores, reverse=True)
    assert "SIDARTHE" in hits[0]["text"]


@pytest.mark.parametrize("path", ["/vector", "/hybrid", "/search"])
def test_null_is_the_same_as_absent(door: AppRunner, path: str) -> None:
    names = ["top_k", "distance", "topic", "doc_type", "preprocessor_id", "article_terms"]
    names += ["paragraph_terms", "paper_ids", "move_to", "move_to_weight"]
    names += ["move_away_from", "move_away_from_weight"]
    if path != "/vector":
        names += ["screening_top_k", "ranking"]
    if path == "/search":
        names += ["mode"]
    nulls = ask(door, path, **dict.fromkeys(names))
    plain = ask(door, path)
    if path == "/search":
        nulls.pop("timings_ms"), plain.pop("timings_ms")
    assert nulls == plain


def test_a_whole_number_may_be_written_as_a_float(door: AppRunner) -> None:
    assert len(ask(door, "/vector", top_k=2.0)) == 2


def test_no_hits_is_an_empty_list(door: AppRunner) -> None:
    assert ask(door, "/hybrid", topic="unheard-of") == []
    assert ask(door, "/vector", paper_ids=["unheard-of"]) == []
    assert ask(door, "/vector", distance=0) == []


@pytest.mark.parametrize("path", ["/vector", "/hybrid"])
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"topic": "soil-carbon"}, {"biochar-vineyard", "paper.with.dots-1"}),
        ({"doc_type": "figure"}, {"sidarthe-lombardy"}),
        ({"preprocessor_id": "figure-v1"}, {"sidarthe-lombardy"}),
        ({"paragraph_terms": ["SIDARTHE", "nothing"]}, {"sidarthe-lombardy"}),
        ({"paragraph_terms": ["SIDARTH"]}, set()),
        ({"paragraph_terms": ["sidarthe"]}, set()),
        ({"paper_ids": ["biochar-vineyard", "x"]}, {"biochar-vineyard"}),
        ({"paper_ids": ["biochar"]}, set()),
        ({"topic": "volcano", "doc_type": "figure"}, set()),
    ],
    ids=str,
)
def test_filters_hold(
    door: AppRunner, path: str, filters: dict[str, Any], expected: set[str]
) -> None:
    question = "the SIDARTHE model of soil and of the volcano"
    hits = ask(door, path, question=question, top_k=100, **filters)
    assert {hit["paper_id"] for hit in hits} == expected


@pytest.mark.parametrize("name", ["covid", "COVID", "covid-19", "Covid-19", "xdd-covid-19"])
def test_topic_aliases_are_one_topic(door: AppRunner, name: str) -> None:
    answer = ask(door, "/search", topic=name)
    assert answer["filters"]["topic"] == "covid-19"
    assert {hit["paper_id"] for hit in answer["hits"]} == {"sidarthe-lombardy"}
    papers = door.request("GET", "/papers", params={"topic": name}).json()["papers"]
    assert [paper["paper_id"] for paper in papers] == ["sidarthe-lombardy"]


def test_search_tells_how_it_came_about(door: AppRunner) -> None:
    answer = ask(door, "/search", question="SIDARTHE model of unicorns", distance=1.5)
    assert answer["mode"] == "hybrid"
    assert answer["ranking"] == "proximity"
    assert answer["max_distance"] == 1.5
    assert answer["screened"] == 3
    assert answer["terms"] == ["sidarth", "model", "unicorn"]
    assert answer["unknown_terms"] == ["unicorn"]
    assert answer["snapshot"]["papers"] == 3
    assert answer["snapshot"]["encoder_id"] == "fake-32"
    stages = {"sparse", "repair", "encode", "dense", "nearest", "rank", "total"}
    assert set(answer["timings_ms"]) == stages
    first = answer["hits"][0]
    assert set(first) == HIT_FIELDS | {"bm25", "sparse_rank", "dense_rank", "rerank_score"}
    assert {hit["sparse_rank"] for hit in answer["hits"]} == {1, 2, 3}
    assert {hit["dense_rank"] for hit in answer["hits"]} == {1, 2, 3}


def test_search_in_vector_mode_ranks_by_distance(door: AppRunner) -> None:
    answer = ask(door, "/search", mode="vector", ranking="rrf")
    assert (answer["mode"], answer["ranking"]) == ("vector", "distance")
    assert answer["screened"] is None
    assert answer["hits"][0]["bm25"] is None
    assert answer["hits"][0]["dense_rank"] == 1


def test_a_question_without_content_words_is_ranked_by_distance(door: AppRunner) -> None:
    answer = ask(door, "/search", question="what is it?")
    assert (answer["ranking"], answer["screened"]) == ("distance", None)
    assert answer["hits"]


def test_a_concept_without_weight_gets_half(door: AppRunner) -> None:
    steering = ask(door, "/search", move_to=" lockdown ", move_away_from="soil")["steering"]
    assert steering == {
        "move_to": "lockdown",
        "move_to_weight": 0.5,
        "move_away_from": "soil",
        "move_away_from_weight": 0.5,
    }
    assert ask(door, "/vector", move_to="biochar", move_to_weight=1) != ask(door, "/vector")
    assert ask(door, "/vector", move_to="biochar", move_to_weight=0) == ask(door, "/vector")
    # A weight of 0 asks for nothing: it needs no concept.
    assert ask(door, "/vector", move_to_weight=0) == ask(door, "/vector")


def test_configured_defaults_hold_where_the_request_is_silent(open_app: Any) -> None:
    door = open_app(ranking="rrf", max_distance=0.9)
    assert ask(door, "/search")["ranking"] == "rrf"
    assert ask(door, "/search")["max_distance"] == 0.9
    answer = ask(door, "/search", ranking="blend", distance=1)
    assert (answer["ranking"], answer["max_distance"]) == ("blend", 1)


def test_the_longest_legal_question_and_any_text_are_answered(door: AppRunner) -> None:
    for text in (
        "é" * 4000,
        'a)*" C++ (AND) "unclosed covid-19:',
        "\u200b",
        "😀",
        " x ",
        "\x1b[2J",
    ):
        assert ask(door, "/hybrid", question=text) is not None


@pytest.mark.parametrize("path", ["/vector", "/hybrid", "/search"])
def test_stages_are_in_server_timing(door: AppRunner, path: str) -> None:
    header = door.request("POST", path, json=Q).headers["server-timing"]
    stages = dict(part.split(";dur=") for part in header.split(", "))
    assert {"encode", "dense", "rank", "total"} <= set(stages)
    assert all(float(spent) >= 0 for spent in stages.values())


def test_topics(door: AppRunner) -> None:
    assert door.request("GET", "/topics").json() == [
        {"topic": "covid-19", "papers": 1, "passages": 4},
        {"topic": "soil-carbon", "papers": 2, "passages": 3},
        {"topic": "volcano", "papers": 1, "passages": 1},
    ]


def test_papers_page_by_page(door: AppRunner) -> None:
    seen, after, pages = [], None, 0
    while True:
        params = {"limit": 1} | ({"after": after} if after else {})
        page = door.request("GET", "/papers", params=params).json()
        seen += [paper["paper_id"] for paper in page["papers"]]
        after, pages = page["next"], pages + 1
        if after is None:
            break
    assert seen == ["biochar-vineyard", "paper.with.dots-1", "sidarthe-lombardy"]
    assert pages == 3


def test_a_paper_and_its_passages(door: AppRunner) -> None:
    paper = door.request("GET", "/papers/sidarthe-lombardy").json()
    assert (paper["paragraphs"], paper["figures"]) == (3, 1)
    assert len(paper["passages"]) == 4
    page = door.request("GET", "/papers/sidarthe-lombardy?limit=2&offset=1").json()
    assert page["passages"] == paper["passages"][1:3]


@pytest.mark.parametrize(
    "passage_id", ["sidarthe-lombardy#p0", "sidarthe-lombardy#fig-obj1.0", "paper.with.dots-1#p0"]
)
def test_passages_by_id(door: AppRunner, passage_id: str) -> None:
    response = door.request("GET", "/passages/" + passage_id.replace("#", "%23"))
    assert response.status_code == 200
    assert response.json()["passage_id"] == passage_id
    assert "distance" not in response.json()


def test_health_and_readiness(open_app: Any) -> None:
    door = open_app()
    assert door.request("GET", "/healthz").json() == {"status": "ok"}
    ready = door.request("GET", "/readyz")
    assert ready.status_code == 200
    assert [check["name"] for check in ready.json()["checks"]] == ["encoder", "store"]
    assert ready.json()["checks"][1]["detail"] == "3 papers, 7 passages"


def test_an_empty_corpus_is_ready_and_says_so(open_app: Any) -> None:
    door = open_app(empty=True)
    ready = door.request("GET", "/readyz")
    assert ready.status_code == 200
    assert "the corpus is empty" in ready.json()["checks"][1]["detail"]
    assert ask(door, "/vector") == []
