"""What a search finds, in which order, and what it says about it."""

import math
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.rankings import RANKINGS
from langchain_memengine.retrieval import snapshot_keeping
from langchain_memengine.text import words
from langchain_memengine.types import (
    Actor,
    Filter,
)
from tests.fakes.clock import START, FixedClock
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts, write

DOWN = ConnectionError("no route to the embedder")


# What is asked


@pytest.mark.parametrize("name", sorted(RANKINGS))
@pytest.mark.parametrize("embeddings", [None, FakeEmbeddings()], ids=["keywords", "vectors"])
def test_every_preset_finds_the_text_asked_for(name, embeddings):
    with make_engine(embeddings=embeddings) as engine:
        engine.add_texts(["the cat drinks milk", "rockets burn kerosene", "a cat"])
        result = engine.search("kerosene rockets", ranking=name)
        assert result.hits[0].text == "rockets burn kerosene"
        assert result.hits[0].receipt.ranking == name
        assert result.degraded == ()


def test_unknown_preset_is_named(engine):
    with pytest.raises(ConfigurationError, match=r"'best'.*balanced"):
        engine.search("tea", ranking="best")


def test_ranking_of_ones_own(engine):
    engine.add_texts([f"tea {i}" for i in range(5)])
    ranking = RANKINGS["rrf"].model_copy(update={"name": "mine", "k": 2})
    hits = engine.search("tea", ranking=ranking).hits
    assert [hit.receipt.ranking for hit in hits] == ["mine", "mine"]


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"rrfk": 5}, "rrfk"),
        ({"rrf_k": -1}, "rrf_k"),
        ({"method": "best"}, "method"),
        ({"k": "many"}, "'k'"),
    ],
)
def test_a_copy_of_a_ranking_that_cannot_work_is_refused(engine, change, told):
    engine.add_texts(["tea"])
    copied = RANKINGS["rrf"].model_copy(update=change)
    with pytest.raises(ConfigurationError, match=f"ranking cannot work.*{told}"):
        engine.search("tea", ranking=copied)
    with pytest.raises(ValidationError, match=told.strip("'")):
        MemEngineConfig(ranking=copied)


def test_an_alpha_out_of_range_means_half_in_a_copy_too():
    with make_engine(embeddings=FakeEmbeddings()) as engine:
        engine.add_texts(["tea", "tea with milk"])
        half = ranked(engine, "tea", ranking="decsr")
        for alpha in (-1.0, 1.5):
            copied = RANKINGS["decsr"].model_copy(update={"alpha": alpha})
            assert ranked(engine, "tea", ranking=copied) == half


def test_preset_decides_k_unless_the_caller_does(engine):
    engine.add_texts([f"tea {i}" for i in range(20)])
    assert len(engine.search("tea").hits) == 6
    assert len(engine.search("tea", ranking="decsr").hits) == 8
    assert len(engine.search("tea", 3).hits) == 3
    assert len(engine.search("tea", 100).hits) == 20
    assert engine.search("tea", 0).hits == ()


@pytest.mark.parametrize("wrong", [{"k": -1}, {"max_chars": -1}, {"max_tokens": -1}])
def test_negative_numbers_are_named(engine, wrong):
    with pytest.raises(ConfigurationError, match=next(iter(wrong))):
        engine.search("tea", **wrong)


@pytest.mark.parametrize("query", ["", "  \n", "\0", "!?", "\ud800", "the of and"])
def test_query_without_a_word_finds_nothing_by_keyword(engine, query):
    engine.add_texts(["tea"])
    assert engine.search(query).hits == ()


def test_query_that_matches_nothing_finds_nothing(engine):
    engine.add_texts(["a b", "c d", "e f"])
    assert engine.search("zzz").hits == ()


def test_empty_store_answers(engine):
    assert engine.search("tea").hits == ()


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Пользователь живёт в Москве", "москве"),
        ("用户喜欢黑咖啡", "咖啡"),
        ("低头思故乡", "故乡"),
        ("끝말잇기를 했다", "끝말잇기"),
        ("He lives in London.", "london"),
        ("the user_id is set", "user_id"),
    ],
)
def test_languages(engine, text, query):
    engine.add_texts(["unrelated words", text])
    assert texts(engine.search(query)) == [text]


@pytest.mark.parametrize("language", ["english", "auto", "german", "none"])
@pytest.mark.parametrize(
    ("marked", "bare"),
    [
        ("Meeting in Zürich", "zurich"),
        ("Frau Müller rief an", "mueller"),
        ("her re\u0301sume\u0301 is here", "resume"),
        ("купили ёлку", "елку"),
        ("ăn tối ở Đà Nẵng", "da nang"),
        ("trip to Łódź", "lodz"),
        ("København by train", "kobenhavn"),
    ],
)
def test_diacritics_may_be_left_out_of_the_query_or_of_the_text(language, marked, bare):
    with make_engine(language=language) as engine:
        engine.add_texts(["unrelated words", marked])
        assert texts(engine.search(bare)) == [marked]
        engine.add_texts(["more words", f"as {bare} typed it"])
        assert f"as {bare} typed it" in texts(engine.search(marked))


@pytest.mark.parametrize("language", ["english", "auto", "none"])
@pytest.mark.parametrize("query", ["résumé", "resume"])
def test_a_word_as_it_was_spelt_ranks_first(language, query):
    with make_engine(language=language) as engine:
        engine.add_texts(["her resume", "her résumé"])
        assert texts(engine.search(query)) == sorted(
            ["her resume", "her résumé"], key=lambda text: query not in text
        )


def test_an_index_kept_by_an_older_splitter_is_made_anew(tmp_path, monkeypatch):
    monkeypatch.setattr(snapshot_keeping, "MIN_CHUNKS", 1)
    with monkeypatch.context() as older:
        older.setattr(words, "SPLITTER_VERSION", words.SPLITTER_VERSION - 1)
        older.setattr(words, "spellings", lambda word: (word,))
        with make_engine(tmp_path) as engine:
            engine.add_texts(["Meeting in Zürich"])
            assert texts(engine.search("zurich")) == []
    with make_engine(tmp_path) as engine:
        assert texts(engine.search("zurich")) == ["Meeting in Zürich"]


def test_tail_of_a_long_query_matters():
    prompt = [f"rule{i}" for i in range(5000)]
    rules = [" ".join(prompt[i : i + 20]) for i in range(0, 2000, 20)]
    with make_engine(embeddings=FakeEmbeddings(256)) as engine:
        engine.add_texts([*rules, "Kyiv bought 12 trams."])
        found = engine.search(" ".join(prompt) + "\n\nHow many trams has Kyiv?")
        assert texts(found)[0] == "Kyiv bought 12 trams."


def test_the_embedder_is_asked_for_the_tail_of_a_long_query():
    embeddings = FakeEmbeddings()
    with make_engine(embeddings=embeddings) as engine:
        engine.add_texts(["tea"])
        engine.search("x" * 5000 + " is there tea?")
        assert embeddings.calls[-1] == ["x" * (4000 - 14) + " is there tea?"]


# What a hit carries


def test_hit_and_receipt_say_where_it_stands_and_why(tmp_path):
    write(tmp_path, "notes.md", "# Drinks\n\ntea with milk\n", at=START - timedelta(days=3))
    with make_engine(tmp_path, embeddings=FakeEmbeddings()) as engine:
        (hit,) = engine.search("tea").hits
        assert (hit.path, hit.start_line, hit.end_line) == ("notes.md", 1, 3)
        assert (hit.heading, hit.location) == ("Drinks", "notes.md:1-3")
        assert (
            hit.source
            == f"file:{(tmp_path / '.memengine/workspace-id').read_text().strip()}/notes.md"
        )
        receipt = hit.receipt
        assert (receipt.keyword_rank, receipt.vector_rank, receipt.vector_path) == (1, 1, "exact")
        assert hit.bm25 == receipt.bm25
        # the query's one word is one of four different ones, each once: 1 / sqrt(4)
        assert hit.cosine == pytest.approx(0.5)
        assert receipt.age_days == pytest.approx(3)
        assert (receipt.decay, receipt.access_count, receipt.access_bonus) == (1.0, 0, 0.0)
        assert (receipt.origin, receipt.trust) == ("file", "unverified")


def test_goclaw_score_is_the_sources_own_formula():
    with make_engine(embeddings=FakeEmbeddings()) as engine:
        old = {"date": (START - timedelta(days=30)).isoformat()}
        engine.add_texts(["tea with honey", "tea with oat milk today"], [old, {}])
        hits = {hit.text: hit for hit in engine.search("tea", ranking="goclaw").hits}
        decay = math.exp(-0.015 * (30 - 14))
        assert hits["tea with honey"].score == pytest.approx(decay * (1 / 61 + 1 / 61))
        assert hits["tea with oat milk today"].score == pytest.approx(1 / 62 + 1 / 62)


def test_timings_cover_every_stage(engine):
    engine.add_texts(["tea"])
    timings = engine.search("tea").timings
    assert {"sync", "embed", "keyword", "vector", "fuse", "rows", "total"} <= set(timings)
    assert all(milliseconds >= 0 for milliseconds in timings.values())


# Filters


def test_filters_hold_before_the_best_are_chosen():
    with make_engine(embeddings=FakeEmbeddings()) as engine:
        engine.add_texts(["tea tea tea"] * 300, [{"cat": "drink", "n": i} for i in range(300)])
        engine.add_texts(["tea in a long text about food"] * 2, [{"cat": "food", "n": 300}] * 2)
        hits = engine.search("tea", 4, filter={"cat": "food"}).hits
        assert [hit.metadata["cat"] for hit in hits] == ["food", "food"]
        assert len(engine.search("tea", 4, filter={"n": {"$gte": 299}}).hits) == 3


def test_small_scope_beside_a_large_one_is_not_starved():
    with make_engine(embeddings=FakeEmbeddings()) as engine:
        engine.add_texts(["tea tea tea"] * 300)
        engine.add_texts(["some tea of mine, somewhere"], actor=Actor("bob"))
        wanted = Filter(scope="personal")
        found = engine.search("tea", 3, filter=wanted, actor=Actor("bob"))
        assert texts(found) == ["some tea of mine, somewhere"]


def test_filters_on_path_source_scope_and_time(tmp_path):
    write(tmp_path, "daily/2026-05-01.md", "tea on the first")
    write(tmp_path, "daily/2026-05-02.md", "tea on the second")
    write(tmp_path, "tasks/a.md", "tea as a task", at=START)
    with make_engine(tmp_path) as engine:
        engine.add_texts(["tea added"], ids=["x"], scope="personal")

        def found(**wanted):
            return sorted(texts(engine.search("tea", filter=Filter(**wanted))))

        assert found(path="daily/**") == ["tea on the first", "tea on the second"]
        assert found(source="doc:*") == ["tea added"]
        assert found(source="doc:local/x") == ["tea added"]
        assert found(scope="personal") == ["tea added"]
        second = datetime(2026, 5, 2, tzinfo=UTC)
        assert found(since=second, until=START) == ["tea on the second"]
        assert found(until=second) == ["tea on the first"]
        assert found(since=START) == ["tea added", "tea as a task"]
        # a naive time is UTC
        assert found(until=second.replace(tzinfo=None)) == ["tea on the first"]


def test_empty_conditions(engine):
    engine.add_texts(["tea", "tea"], [{"a": 1, "b": 2}, {}])
    assert len(engine.search("tea", filter={}).hits) == 2
    assert engine.search("tea", filter={"a": {"$in": []}}).hits == ()
    assert len(engine.search("tea", filter={"a": 1, "b": 2}).hits) == 1
    assert engine.search("tea", filter={"a": 1, "b": 3}).hits == ()
    with pytest.raises(ConfigurationError, match=r"\$like"):
        engine.search("tea", filter={"a": {"$like": "x"}})


# Budgets


def test_budgets_cut_the_sum_of_the_texts(engine):
    engine.add_texts([f"tea number {word}" for word in ("one", "two", "six")])  # 14 characters, 4
    assert len(engine.search("tea", max_chars=42).hits) == 3
    assert len(engine.search("tea", max_chars=41).hits) == 2
    assert engine.search("tea", max_chars=13).hits == ()
    assert len(engine.search("tea", max_tokens=8).hits) == 2
    assert len(engine.search("tea", max_tokens=7).hits) == 1


def test_a_budget_that_is_too_small_for_any_hit_says_so(engine):
    engine.add_texts(["tea number one"])
    for budget in ({"max_chars": 13}, {"max_tokens": 3}):
        result = engine.search("tea", **budget)
        assert result.hits == ()
        assert result.degraded[0].startswith(
            "budget: the best hit has 14 characters, about 4 tokens"
        )
    assert engine.search("coffee", max_chars=1).degraded == ()
    assert engine.search("tea", 0, max_chars=1).degraded == ()


# Order


def test_ties_go_to_the_newer_then_the_lower_id(engine):
    dates = [(START - timedelta(days=days)).isoformat() for days in (3, 1, 2, 2)]
    engine.add_texts(["tea"] * 4, [{"date": date} for date in dates], ids=["a", "b", "c", "d"])
    hits = engine.search("tea").hits
    assert len({hit.score for hit in hits}) == 1
    assert [hit.receipt.age_days for hit in hits] == [1, 2, 2, 3]
    assert hits[1].id < hits[2].id


@pytest.mark.parametrize("ranking", sorted(RANKINGS))
@pytest.mark.parametrize("embeddings", [None, FakeEmbeddings()], ids=["keywords", "vectors"])
@pytest.mark.parametrize("oldest_first", [True, False])
def test_of_more_equal_texts_than_a_leg_fetches_the_newest_are_found(
    ranking, embeddings, oldest_first
):
    days = list(range(200, 0, -1) if oldest_first else range(1, 201))
    dates = [{"date": (START - timedelta(days=day)).isoformat()} for day in days]
    with make_engine(embeddings=embeddings) as engine:
        engine.add_texts(["Deployed to production."] * 200, dates)
        for filter_ in (None, {"date": {"$lt": "2027"}}):
            hits = engine.search("deployed", 5, ranking=ranking, filter=filter_).hits
            assert [hit.receipt.age_days for hit in hits] == [1, 2, 3, 4, 5]


def test_todays_large_file_beats_a_months_old_tiny_one(tmp_path):
    write(tmp_path, "today.md", "Deployment notes of the day. " * 40 + "deploy " + "words " * 150)
    write(tmp_path, "old.md", "deploy notes", at=START - timedelta(days=200))
    with make_engine(tmp_path, chunk_tokens=2000) as engine:
        assert [hit.path for hit in engine.search("deploy", ranking="goclaw").hits] == [
            "today.md",
            "old.md",
        ]


@pytest.mark.parametrize("embeddings", [None, FakeEmbeddings()], ids=["keywords", "vectors"])
def test_popular_old_fact_does_not_beat_its_newer_contradiction(embeddings):
    clock = FixedClock()
    with make_engine(embeddings=embeddings, clock=clock) as engine:
        engine.add_texts(["The user's city is Oslo"])
        for _ in range(10):
            engine.record_access(engine.search("city of the user").hits)
        engine.write_accesses()
        clock.pass_days(60)
        engine.add_texts(["The user's city is Rome"])
        hits = engine.search("city of the user").hits
        assert [hit.receipt.access_count for hit in hits] == [0, 10]
        assert hits[0].text == "The user's city is Rome"


WORDS = st.lists(
    st.sampled_from(["tea", "coffee", "milk", "sugar", "honey", "water"]), min_size=1, max_size=6
)
CORPUS = st.lists(WORDS.map(" ".join), min_size=1, max_size=12)


def ranked(engine, query, **options):
    return [(hit.id, hit.score) for hit in engine.search(query, 20, **options).hits]


@settings(max_examples=15)
@given(corpus=CORPUS, removed=st.sets(st.integers(0, 11)), query=WORDS.map(" ".join))
def test_order_is_the_same_however_the_store_came_about(corpus, removed, query):
    ids = [str(i) for i in range(len(corpus))]
    kept = [(text, i) for text, i in zip(corpus, ids, strict=True) if int(i) not in removed]
    half = len(corpus) // 2
    with (
        make_engine(embeddings=FakeEmbeddings()) as grown,
        make_engine(embeddings=FakeEmbeddings()) as fresh,
    ):
        for part in (slice(half), slice(half, None)):
            grown.add_texts(corpus[part], ids=ids[part])
            grown.search(query)  # the indexes follow step by step
        grown.delete([i for i in ids if int(i) in removed])
        fresh.add_texts([text for text, _ in reversed(kept)], ids=[i for _, i in reversed(kept)])
        assert ranked(grown, query) == ranked(fresh, query)


def test_order_is_the_same_after_reopening(tmp_path):
    corpus = ["tea", "tea and milk", "green tea", "tea", "milk tea with tea"]
    with make_engine(tmp_path, embeddings=FakeEmbeddings()) as engine:
        for text in corpus:
            engine.add_texts([text])
            engine.search("tea")
        before = ranked(engine, "tea milk")
    with make_engine(tmp_path, embeddings=FakeEmbeddings()) as engine:
        assert ranked(engine, "tea milk") == before
        assert len(before) == 5


# What is new


def test_new_and_deleted_texts_are_seen_by_the_next_query_of_every_engine(tmp_path):
    with (
        make_engine(tmp_path, embeddings=FakeEmbeddings()) as one,
        make_engine(tmp_path, embeddings=FakeEmbeddings()) as two,
    ):
        assert two.search("tea").hits == ()
        one.add_texts(["tea"], ids=["a"])
        assert texts(one.search("tea")) == texts(two.search("tea")) == ["tea"]
        two.add_texts(["more tea"], ids=["a"])
        assert texts(one.search("tea")) == texts(two.search("tea")) == ["more tea"]
        one.delete(["a"])
        assert texts(one.search("tea")) == texts(two.search("tea")) == []


# Degraded


def test_embedder_that_fails_at_query_time_degrades_to_keywords():
    embeddings = FakeEmbeddings()
    with make_engine(embeddings=embeddings) as engine:
        engine.add_texts(["tea", "coffee"])
        embeddings._faults = [DOWN]
        result = engine.search("tea")
        assert texts(result) == ["tea"]
        assert result.hits[0].cosine is None
        assert len(result.degraded) == 1
        assert result.degraded[0].startswith("vector: FakeEmbeddings/bag-of-words could not embed")
        assert engine.search("tea").degraded == ()


def test_a_query_with_a_broken_character_is_searched_like_any_other():
    with make_engine(embeddings="local") as engine:
        engine.add_texts(["tea in the morning"])
        result = engine.search("tea \ud800 \0")
        assert (texts(result), result.degraded) == (["tea in the morning"], ())
