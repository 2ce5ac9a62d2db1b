"""What a query names lifts what is by that author, or of that time."""

from datetime import UTC, datetime

import pytest

from langchain_memengine.rankings import RANKINGS
from tests.fakes.engines import make_engine, texts

BALANCED = RANKINGS["balanced"]
MAY, JUNE = (datetime(2025, month, 5, 9, tzinfo=UTC).isoformat() for month in (5, 6))


@pytest.fixture
def engine():
    """Three people say the same, Bob a day-long month later."""
    with make_engine() as engine:
        engine.add_texts(
            ["tea", "tea ", "tea  "],
            [
                {"speaker": "Anna Weber", "event_at": JUNE},
                {"author": "Bob", "event_at": MAY},
                {"name": "Anna Schmidt", "event_at": JUNE},
            ],
            ids=["weber", "bob", "schmidt"],
        )
        yield engine


def boosts(engine, query, ranking=BALANCED):
    """Return (author boost, date boost) by who wrote it."""
    return {
        hit.source.rpartition("/")[2]: (hit.receipt.author_boost, hit.receipt.date_boost)
        for hit in engine.search(query, ranking=ranking).hits
    }


def by_author(engine, query):
    return {name for name, (boost, _) in boosts(engine, query).items() if boost == 0.2}


def by_date(engine, query):
    return {name for name, (_, boost) in boosts(engine, query).items() if boost == 0.5}


def test_author_is_lifted_by_the_boost_of_the_ranking(engine):
    plain = {hit.id: hit.receipt.fused for hit in engine.search("tea").hits}
    named = engine.search("did Bob like tea?").hits
    assert named[0].source.endswith("bob")
    assert named[0].receipt.fused == pytest.approx(plain[named[0].id] + 0.2)
    assert [hit.receipt.fused for hit in named[1:]] == [plain[hit.id] for hit in named[1:]]
    assert "author + 0.20" in str(named[0].receipt)


def test_nobody_is_lifted_when_nobody_or_everybody_is_named(engine):
    assert by_author(engine, "who likes tea?") == set()
    assert by_author(engine, "do Anna and Bob like tea?") == set()


def test_full_name_means_one_of_two_namesakes(engine):
    assert by_author(engine, "Anna's tea") == {"weber", "schmidt"}
    assert by_author(engine, "the tea of anna weber") == {"weber"}
    assert by_author(engine, "the tea of Anna Weber and Bob") == {"weber", "bob"}


def test_authors_of_all_partitions_count(engine):
    engine.delete(["weber", "schmidt"])
    assert by_author(engine, "Bob's tea") == set()
    engine.add_texts(["tea again"], [{"speaker": "Carl"}], ids=["carl"], scope="personal")
    assert by_author(engine, "Bob's tea") == {"bob"}


def test_role_is_no_author(engine):
    engine.add_texts(["tea!"], [{"speaker": "user"}], ids=["role"])
    assert by_author(engine, "which user likes tea?") == set()


def test_time_is_lifted_by_the_boost_of_the_ranking(engine):
    assert by_date(engine, "tea on 5 May 2025") == {"bob"}
    assert by_date(engine, "tea in June 2025") == {"weber", "schmidt"}
    assert by_date(engine, "tea on 6 May 2025") == set()
    (first, *_) = engine.search("tea in May 2025").hits
    assert first.source.endswith("bob")
    assert "date + 0.50" in str(first.receipt)


def test_what_never_ages_is_of_no_time(tmp_path):
    (tmp_path / "MEMORY.md").write_text("tea\n")
    with make_engine(tmp_path) as engine:
        (hit,) = engine.search("tea today").hits
        assert (hit.event_at, hit.receipt.date_boost) == (None, 0.0)


@pytest.mark.parametrize("name", ["goclaw", "decsr", "profclaw", "rrf"])
def test_other_presets_do_not_look(engine, name):
    assert set(boosts(engine, "Bob's tea in May 2025", name).values()) == {(0.0, 0.0)}


def test_explanation_says_what_the_query_names(engine):
    query = "Bob's tea in May 2025"
    hit = engine.search(query).hits[0]
    reason = engine.explain(query, hit.id).reason
    assert reason.endswith("The query names its author (+0.20) and its time (+0.50).")


def test_boosts_survive_a_reopened_store_and_removed_chunks(tmp_path):
    def opened():
        return make_engine(tmp_path)

    with opened() as engine:
        engine.add_texts(
            [f"tea {i}" for i in range(600)],
            [{"speaker": ("Anna", "Bob", "Carl")[i % 3]} for i in range(600)],
            ids=[f"{i}" for i in range(600)],
        )
        before = texts(engine.search("Bob's tea 7"))
    with opened() as engine:
        assert texts(engine.search("Bob's tea 7")) == before
        assert set(by_author(engine, "Bob's tea")) == set(boosts(engine, "Bob's tea"))
        engine.delete([f"{i}" for i in range(600) if i % 3 == 1])
        assert by_author(engine, "Bob's tea") == set()
