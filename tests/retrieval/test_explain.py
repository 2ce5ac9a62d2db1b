"""Why a chunk is, or is not, in an answer."""

import hashlib
import random
import re
from datetime import timedelta

import pytest

from langchain_memengine.errors import NotFoundError
from langchain_memengine.rankings import RANKINGS
from langchain_memengine.types import (
    Actor,
    Chunk,
    Provenance,
)
from tests.fakes.clock import START, FixedClock
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, write


@pytest.fixture(params=["memory", "disk"])
def engine(request, tmp_path):
    root = tmp_path if request.param == "disk" else None
    with make_engine(root, embeddings=FakeEmbeddings(256), clock=FixedClock()) as engine:
        engine.add_texts(["tea with milk", "tea", "rockets burn kerosene"], ids=["a", "b", "c"])
        yield engine


def id_of(engine, word, **options):
    return engine.search(word, 50, **options).hits[0].id


def test_hit_is_found_with_its_rank_and_reasons(engine):
    milk = id_of(engine, "milk")
    explanation = engine.explain("tea milk", milk)
    assert explanation.found
    assert (explanation.rank, explanation.chunk_id) == (1, milk)
    assert explanation.hit == engine.search("tea milk").hits[0]
    assert "its words match (BM25" in explanation.reason
    assert "its meaning is near (cosine" in explanation.reason


def test_a_hit_for_its_words_alone_is_not_said_to_be_near_in_meaning():
    with make_engine(embeddings=FakeEmbeddings(), min_cosine=1.0) as engine:
        engine.add_texts(["tea with milk", "rain"], ids=["tea", "rain"])
        reason = engine.explain("tea harvest", "tea").reason
    assert reason.startswith("Found because its words match (BM25 ")
    assert re.search(r"\)\. Its meaning is not near \(cosine -?0\.\d\d, rank \d\)\.$", reason)


def test_chunk_below_k_is_ranked(engine):
    tea = engine.search("tea milk").hits[1].id
    explanation = engine.explain("tea milk", tea, 1)
    assert (explanation.found, explanation.rank) == (False, 2)
    assert explanation.reason.startswith(
        "It ranks 2, and only the best one was asked for. What speaks for it: its words match (BM25"
    )
    assert explanation.hit is not None
    assert explanation.hit.text == "tea"


def test_chunk_far_below_k_is_ranked_too(engine):
    engine.add_texts([f"tea tea tea number{i}" for i in range(200)])
    far = id_of(engine, "milk")
    explanation = engine.explain("number7 tea", far, 3)
    assert not explanation.found
    assert explanation.rank is not None
    assert explanation.rank > 3


def test_filtered_chunk_says_so(engine):
    tea = id_of(engine, "milk")
    explanation = engine.explain("tea", tea, filter={"cat": "food"})
    assert (explanation.found, explanation.rank, explanation.hit) == (False, None, None)
    assert explanation.reason.startswith("The filter leaves it out")


def test_chunk_without_a_reason_says_how_far_it_is(engine):
    explanation = engine.explain("tea", id_of(engine, "kerosene"))
    assert not explanation.found
    assert "its cosine 0.00 is below 0.25" in explanation.reason


def test_chunk_without_a_word_or_vector_says_so():
    with make_engine() as engine:
        engine.add_texts(["tea", "kerosene"])
        explanation = engine.explain("tea", id_of(engine, "kerosene"))
        assert explanation.reason == (
            "No word of the query occurs in it, and it has no embedding to compare."
        )


def test_embedder_that_is_down_is_part_of_the_reason(engine):
    kerosene = id_of(engine, "kerosene")
    engine._embedding._required().embeddings._faults = [ConnectionError()] * 2
    explanation = engine.explain("tea", kerosene)
    assert not explanation.found
    assert explanation.rank is None


def test_chunk_below_min_score_says_so(engine):
    strict = RANKINGS["profclaw"].model_copy(update={"min_score": 0.9})
    explanation = engine.explain("tea honey", id_of(engine, "milk"), ranking=strict)
    assert not explanation.found
    assert "below the ranking's min_score 0.9" in explanation.reason


def test_ranking_that_rates_only_keyword_matches_says_so():
    class Synonyms(FakeEmbeddings):
        def _vector(self, text):
            return super()._vector(text.replace("chai", "tea"))

    with make_engine(embeddings=Synonyms()) as engine:
        engine.add_texts(["tea"])
        tea = id_of(engine, "tea")
        assert engine.explain("chai", tea).found
        explanation = engine.explain("chai", tea, ranking="decsr")
        assert explanation.reason == "The ranking 'decsr' scores only texts with a keyword match."


def test_chunk_too_like_a_better_one_says_so():
    diverse = RANKINGS["rrf"].model_copy(update={"mmr_lambda": 0.0})
    with make_engine(embeddings=FakeEmbeddings(256)) as engine:
        engine.add_texts(["tea milk", "tea milk", "tea with honey and lemon"])
        kept = {hit.id for hit in engine.search("tea milk", 2, ranking=diverse).hits}
        (twin,) = {hit.id for hit in engine.search("tea milk").hits} - kept
        explanation = engine.explain("tea milk", twin, 2, ranking=diverse)
        assert explanation.reason == "Better hits say much the same (the ranking's mmr_lambda)."


@pytest.mark.parametrize(
    ("valid_from", "expires_at"),
    [(START + timedelta(days=1), None), (None, START)],
    ids=["not yet", "no more"],
)
def test_chunk_that_is_not_valid_now_says_so(engine, valid_from, expires_at):
    provenance = Provenance(valid_from=valid_from, expires_at=expires_at)
    digest = hashlib.sha256(b"tea tomorrow").hexdigest()
    chunk = Chunk("c" * 64, "doc:/t", 0, 1, 1, 3, "tea tomorrow", digest)
    engine._indexer.put({"doc:/t": [(chunk, provenance)]})
    assert "tea tomorrow" not in {hit.text for hit in engine.search("tomorrow").hits}
    explanation = engine.explain("tomorrow", "c" * 64)
    assert explanation.reason == "It is not valid at this time (valid_from, expires_at)."
    assert not explanation.found


@pytest.mark.parametrize(("query", "k"), [("", 6), (" \n", 6), ("tea", 0)])
def test_query_that_asks_for_nothing_says_so(engine, query, k):
    explanation = engine.explain(query, id_of(engine, "milk"), k)
    assert (explanation.found, explanation.reason) == (False, "The query asks for nothing.")


@pytest.mark.parametrize("unknown", ["", "nonsense", "\ud800", "' OR 1=1"])
def test_unknown_chunk_is_named(engine, unknown):
    with pytest.raises(NotFoundError, match="There is no memory with the id"):
        engine.explain("tea", unknown)


def test_chunk_of_another_user_is_as_unknown_as_any(engine):
    engine.add_texts(["secret tea"], actor=Actor("alice"))
    secret = id_of(engine, "secret", actor=Actor("alice"))
    with pytest.raises(NotFoundError):
        engine.explain("tea", secret, actor=Actor("bob"))


def test_the_place_that_a_hit_shows_names_it(engine):
    hit = engine.search("milk").hits[0]
    assert engine.explain("tea milk", hit.location).chunk_id == hit.id


def test_a_place_in_a_file_names_the_chunk_that_stands_there(tmp_path):
    (tmp_path / "n.md").write_text("# Tea\n\nIt is green.\n\n# Kiln\n\nIt is hot.\n", "utf-8")
    with make_engine(root=tmp_path, chunk_tokens=16, overlap_tokens=0) as engine:
        engine.sync()
        kiln = engine.search("kiln").hits[0]
        assert kiln.location == "n.md:5-7"
        assert engine.explain("tea", "n.md:5-7").chunk_id == kiln.id


def test_a_file_that_is_not_in_the_index_says_why(tmp_path):
    write(tmp_path, "new.md", "tea")
    write(tmp_path, "latin.md", "caf\u00e9".encode("latin-1"))
    write(tmp_path, "blank.md", " \n")
    write(tmp_path, "users/ann/new.md", "tea")
    (tmp_path / "link.md").symlink_to(tmp_path / "new.md")
    told = {
        "new.md": "it was not indexed yet",
        "latin.md": "not UTF-8",
        "blank.md": "it holds no text of its own",
        "link.md": "a symbolic link",
    }
    with make_engine(tmp_path, sync_on_search=False) as engine:
        assert told["new.md"] in engine.explain("tea", "new.md").reason
        assert (
            "not indexed yet"
            in engine.explain("tea", "users/ann/new.md", actor=Actor("ann")).reason
        )
        with pytest.raises(NotFoundError):
            engine.explain("tea", "users/ann/new.md", actor=Actor("bob"))
        engine.sync()
        assert engine.explain("tea", "new.md").found
        for name in ("latin.md", "blank.md", "link.md"):
            explained = engine.explain("tea", name)
            assert not explained.found
            assert told[name] in explained.reason
        with pytest.raises(NotFoundError):
            engine.explain("tea", "nowhere.md")


@pytest.mark.parametrize("place", ["doc:/a:2-9", "doc:/zzz:1-1", ":1-1", "1-1"])
def test_place_where_nothing_stands_is_unknown(engine, place):
    with pytest.raises(NotFoundError, match="There is no memory with the id"):
        engine.explain("tea", place)


def test_place_of_another_users_memory_is_unknown(engine):
    engine.add_texts(["secret tea"], actor=Actor("alice"))
    secret = engine.search("secret", actor=Actor("alice")).hits[0].location
    assert engine.explain("tea", secret, actor=Actor("alice")).chunk_id
    with pytest.raises(NotFoundError):
        engine.explain("tea", secret, actor=Actor("bob"))


def test_deleted_chunk_is_unknown(engine):
    tea = id_of(engine, "milk")
    engine.delete(["a"])
    with pytest.raises(NotFoundError):
        engine.explain("tea", tea)


def test_the_beginning_of_an_id_is_enough_when_no_other_begins_so():
    with make_engine() as engine:
        engine.add_texts([f"tea {i}" for i in range(40)])
        whole = engine.search("tea 7", 1).hits[0].id
        assert engine.explain("tea", whole[:12]).chunk_id == whole
        for no_one in ("", "f" * 12, whole[:12] + "~"):
            with pytest.raises(NotFoundError, match="no memory"):
                engine.explain("tea", no_one)
        first_digits = [hit.id[0] for hit in engine.search("tea", 40).hits]
        shared = next(digit for digit in first_digits if first_digits.count(digit) > 1)
        with pytest.raises(NotFoundError, match="Several"):
            engine.explain("tea", shared)


class TestNames:
    """What people know a memory by: rarely the id of a chunk."""

    def test_an_added_text_is_explained_by_its_id(self, engine):
        assert engine.explain("tea milk", "a").chunk_id == id_of(engine, "milk")
        assert "its cosine 0.00 is below" in engine.explain("tea", "c").reason

    def test_a_record_is_explained_by_its_id(self, engine):
        engine.remember("Ann fires on Thursdays.", id="ann")
        assert engine.explain("Thursdays", "ann").hit.text == "Ann fires on Thursdays."

    def test_of_a_file_the_chunk_that_stands_highest_is_explained(self, engine):
        engine.append_daily("kiln", "The kiln is hot.")
        engine.append_daily("clay", "The clay is wet.")
        (day,) = {hit.path for hit in engine.search("kiln clay", 2).hits}
        assert "kiln is hot" in engine.explain("kiln", day).hit.text
        assert "clay is wet" in engine.explain("clay", day).hit.text
        assert not engine.explain("rockets", day).found

    def test_ids_of_hits_may_be_typed_in_capitals(self, engine):
        assert engine.explain("tea milk", id_of(engine, "milk")[:8].upper()).found

    def test_names_of_others_are_no_names(self, engine):
        engine.add_texts(["a secret"], ids=["mine"], actor=Actor("ann"))
        assert engine.explain("secret", "mine", actor=Actor("ann")).found
        with pytest.raises(NotFoundError, match="a file by its path"):
            engine.explain("secret", "mine", actor=Actor("bob"))
        for nothing in ("", " "):
            with pytest.raises(NotFoundError):
                engine.explain("secret", nothing)


@pytest.mark.parametrize("ranking", ["balanced", "rrf"])
def test_a_hit_has_the_rank_that_the_search_shows(ranking):
    chance = random.Random(3)  # noqa: S311  # texts, no secret
    words, often = [f"word{i}" for i in range(60)], [1 / (i + 1) for i in range(60)]
    texts = [" ".join(chance.choices(words, often, k=chance.randint(2, 12))) for _ in range(300)]
    threads = [{"thread_id": str(chance.randint(0, 12))} for _ in texts]
    with make_engine(embeddings=FakeEmbeddings()) as engine:
        engine.add_texts(texts, threads)
        for query in ("word3 word7 word11", "word2 word20 word5", "word9 word1 word30"):
            hits = engine.search(query, 6, ranking=ranking).hits
            ranks = [engine.explain(query, hit.id, 6, ranking=ranking).rank for hit in hits]
            assert ranks == [1, 2, 3, 4, 5, 6]
