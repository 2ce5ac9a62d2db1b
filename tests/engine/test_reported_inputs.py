"""Inputs that break other memories, by kind, through the engine and the retriever."""

from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from langchain_memengine.faces.retriever import MemEngineRetriever
from langchain_memengine.rankings import RANKINGS
from langchain_memengine.types import (
    Actor,
    Filter,
)
from tests.fakes.clock import START
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts, write

PRESETS = sorted(RANKINGS)
EMBEDDERS = pytest.mark.parametrize("embedder", [None, FakeEmbeddings], ids=["keywords", "vectors"])


# Nothing to find


def never_filled(engine):
    pass


def only_blanks(engine):
    engine.add_texts(["", "  ", "\n\n\t", "?!", "…", "\u200b"])


def blank_files(engine):
    for name, content in {"a.md": "", "b.md": " \n\r\n", "c.md": "---\na: 1\n---\n"}.items():
        write(engine.root, name, content)
    engine.sync()


def emptied(engine):
    engine.add_texts(["tea", "tea and cake"], ids=["a", "b"])
    assert engine.search("tea").hits
    engine.delete(["a", "b"])


@EMBEDDERS
@pytest.mark.parametrize("state", [never_filled, only_blanks, blank_files, emptied])
def test_a_store_without_words_finds_nothing_and_does_not_fail(tmp_path, embedder, state):
    with make_engine(tmp_path, embeddings=embedder and embedder()) as engine:
        state(engine)
        for preset in PRESETS:
            result = engine.search("tea", ranking=preset)
            assert (result.hits, result.degraded) == ((), ())
        assert engine.search("tea", filter={"cat": "food"}).hits == ()
        assert engine.recall("tea").prompt_fragment() == ""
        assert MemEngineRetriever(engine=engine).invoke("tea") == []


@EMBEDDERS
@pytest.mark.parametrize("query", ["zzz", "", "   ", "\n", "?!", '"', "*", "\0"])
def test_a_query_that_no_text_answers_finds_nothing(embedder, query):
    with make_engine(embeddings=embedder and embedder()) as engine:
        engine.add_texts(["a b", "c d", "e f"])
        for preset in PRESETS:
            assert engine.search(query, ranking=preset).hits == ()
        assert MemEngineRetriever(engine=engine).invoke(query) == []


@EMBEDDERS
def test_asking_for_none_and_adding_none_is_allowed_everywhere(embedder):
    with make_engine(embeddings=embedder and embedder()) as engine:
        assert engine.add_texts([]) == engine.add_documents([]) == []
        engine.add_texts(["tea"])
        for preset in PRESETS:
            assert engine.search("tea", 0, ranking=preset).hits == ()
        assert engine.recall("tea", 0).hits == ()
        assert MemEngineRetriever(engine=engine, k=0).invoke("tea") == []
        assert engine.delete([]) == 0
        assert texts(engine.search("tea")) == ["tea"]


# Words in few, many and all texts


WORDS = st.sampled_from(["tea", "coffee", "milk", "cake", "sugar"])
BAGS = st.lists(WORDS, max_size=5).map(" ".join)


@settings(max_examples=25)
@given(
    corpus=st.lists(BAGS, min_size=1, max_size=8),
    query=st.lists(WORDS, min_size=1, max_size=3),
    preset=st.sampled_from([name for name in PRESETS if not RANKINGS[name].min_score]),
)
def test_keywords_find_all_texts_with_a_word_and_only_those(corpus, query, preset):
    with make_engine() as engine:
        engine.add_texts(corpus)
        hits = engine.search(" ".join(query), 50, ranking=preset).hits
        matching = [text for text in corpus if set(query) & set(text.split())]
        assert sorted(hit.text for hit in hits) == sorted(matching)
        assert all(hit.score > 0 and hit.bm25 > 0 for hit in hits)


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize(
    ("corpus", "query", "found"),
    [
        (["windy London", "hello there"], "windy", ["windy London"]),
        (
            ["the user likes tea", "the user likes coffee", "the user likes tea and cake"],
            "tea",
            ["the user likes tea", "the user likes tea and cake"],
        ),
        (["tea"], "tea", ["tea"]),
        (["tea with milk", "tea with cake"], "tea cake", ["tea with cake", "tea with milk"]),
    ],
)
def test_a_word_of_most_texts_still_counts_for_them(preset, corpus, query, found):
    with make_engine() as engine:
        engine.add_texts(corpus)
        assert texts(engine.search(query, ranking=preset)) == found


RUNS = {
    "低头思故乡": ["故乡", "故乡 火车", "火车 故乡", "思故乡"],
    "我的猫很可爱": ["猫", "可爱", "犬 可爱"],
    "今日は成語しりとりをした": ["しりとり", "成語", "電車 しりとり"],
    "친구와 끝말잇기를 했다": ["끝말잇기", "지하철 끝말잇기"],
    "ฉันชอบดื่มกาแฟดำ": ["กาแฟ", "กาแฟ รถไฟ"],
    "Пользователь живёт в Москве": ["москве", "МОСКВЕ!", "поезд москве"],
    "He lives in London.": ["london", "train LONDON", "(London)", "“london”?", "Ｌｏｎｄｏｎ"],
    "Straße in Zürich": ["STRASSE", "zürich", "zu\u0308rich", "train zürich"],
    "the user_id of C++ v1.2.3": ["user_id", "USER_ID", "c++", "V1.2.3", "train c++"],
}  # fmt: skip


@pytest.fixture(scope="module")
def languages():
    with make_engine() as engine:
        engine.add_texts([*RUNS, "unrelated words", "其他文字", "別の文", "별개의 문장"])
        yield engine


@pytest.mark.parametrize(
    ("text", "query"), [(text, query) for text, queries in RUNS.items() for query in queries]
)
def test_a_part_of_a_text_finds_it_in_any_script_case_and_punctuation(languages, text, query):
    assert texts(languages.search(query))[:1] == [text]


# Filters


@settings(max_examples=15)
@given(
    kinds=st.lists(st.sampled_from(["food", "drink", "other"]), min_size=1, max_size=12),
    k=st.integers(1, 6),
    preset=st.sampled_from(PRESETS),
    personal=st.integers(0, 3),
)
def test_a_filter_leaves_exactly_what_passes_it_however_rare_that_is(kinds, k, preset, personal):
    """Decoys match better, so that a filter behind the best would leave nothing."""
    bob = Actor("bob")
    with make_engine(embeddings=FakeEmbeddings()) as engine:
        decoys = [f"tea tea tea {number}" for number in range(30)]
        engine.add_texts(decoys, [{"cat": "decoy"}] * 30)
        engine.add_texts(["a long text with tea in it"] * len(kinds), [{"cat": c} for c in kinds])
        engine.add_texts(["some tea of bob, somewhere"] * personal, actor=bob)
        for wanted in ("food", "drink", "nowhere"):
            hits = engine.search("tea", k, ranking=preset, filter={"cat": wanted}).hits
            assert [hit.metadata["cat"] for hit in hits] == [wanted] * min(k, kinds.count(wanted))
        own = engine.search("tea", k, ranking=preset, filter=Filter(scope="personal"), actor=bob)
        assert texts(own) == ["some tea of bob, somewhere"] * min(k, personal)


# One id space


@EMBEDDERS
def test_what_looks_the_same_is_kept_apart(embedder):
    alice, bob = Actor("alice"), Actor("bob")
    same = "tea " * 60
    with make_engine(embeddings=embedder and embedder(), chunk_tokens=2000) as engine:
        engine.add_texts(["tea", "tea"], [{"user": "bob"}, {"user": "alice"}])
        engine.add_texts([f"{same} first", f"{same} second"])
        engine.add_texts(["tea"], actor=alice)
        engine.add_texts(["tea"], actor=bob)
        everyones = engine.search("tea", 20).hits
        assert len(everyones) == len({hit.id for hit in everyones}) == 4
        assert {hit.metadata["user"] for hit in everyones if hit.metadata} == {"alice", "bob"}
        for user in (alice, bob):
            mine = engine.search("tea", 20, actor=user).hits
            assert len(mine) == len({hit.id for hit in mine}) == 5
            assert [hit.owner for hit in mine if hit.owner] == [user.user_id]


def test_both_legs_speak_of_the_same_texts():
    with make_engine(embeddings=FakeEmbeddings()) as engine:
        engine.add_texts([f"tea number{number}" for number in range(8)])
        hits = engine.search("tea number3", 8, ranking="goclaw").hits
        assert len({hit.id for hit in hits}) == len(hits) == 8
        assert all(hit.receipt.keyword_rank and hit.receipt.vector_rank for hit in hits)
        assert hits[0].score == pytest.approx(2 / 61)


@EMBEDDERS
@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("k", [1, 4, 7])
def test_k_holds_for_both_legs_together_and_every_document_has_its_score(embedder, preset, k):
    with make_engine(embeddings=embedder and embedder()) as engine:
        # keywords find the first half, vectors also find the second
        engine.add_texts([f"tea {number}" for number in range(10)])
        engine.add_texts([f"coffee {number}" for number in range(10)])
        documents = MemEngineRetriever(engine=engine, k=k, ranking=preset).invoke("tea 3 coffee")
        scores = [document.metadata["memengine"]["score"] for document in documents]
        assert len(documents) == k
        assert scores == sorted(scores, reverse=True)
        assert scores[-1] > 0


# Embedders that fail


FAULTS = {
    "refused": ConnectionError("no route"),
    "slow": TimeoutError("too slow"),
    "broken": ValueError("no JSON"),
    "one for many": lambda vectors: vectors[:1] * (len(vectors) > 1),
    "none": lambda vectors: [],
    "nan": lambda vectors: [[float("nan")] * len(vector) for vector in vectors],
    "short": lambda vectors: [vector[:3] for vector in vectors],
    "zero": lambda vectors: [[0.0] * len(vector) for vector in vectors],
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS)
def test_an_embedder_that_fails_costs_the_vectors_and_says_so(fault):
    embeddings = FakeEmbeddings()
    with make_engine(embeddings=embeddings) as engine:
        engine.add_texts(["tea", "coffee", "water"])
        retriever = MemEngineRetriever(engine=engine)
        embeddings._faults = [fault] * 50
        result = engine.search("tea")
        assert texts(result) == ["tea"]
        assert [note.partition(":")[0] for note in result.degraded] == ["vector"]
        (document,) = retriever.invoke("tea")
        assert document.metadata["memengine"]["degraded"]
        engine.add_texts(["green tea leaves", "black tea"])
        assert engine.stats().chunks == 5
        assert len(engine.search("tea").hits) == 3
        embeddings._faults = []
        engine.sync()
        for text in ("tea", "coffee", "water", "green tea leaves", "black tea"):
            assert engine.search(text).hits[0].cosine == pytest.approx(1.0)


# Age and popularity


@pytest.mark.parametrize("preset", [name for name in PRESETS if name not in {"decsr", "profclaw"}])
def test_age_counts_whichever_index_answered(tmp_path, preset):
    decays = {}
    old = {"date": (START - timedelta(days=200)).isoformat()}
    for path, embedder in (
        ("keyword", None),
        ("exact", FakeEmbeddings),
        ("chroma", FakeEmbeddings),
    ):
        mode = "exact" if path == "keyword" else path
        root = tmp_path / path
        with make_engine(root, embeddings=embedder and embedder(), vector_search=mode) as engine:
            engine.add_texts(["tea with milk", "tea with cake"], [old, {}])
            engine.search("tea", ranking=preset)
            engine.wait_for_chroma()
            hits = engine.search("tea", ranking=preset).hits
            assert texts(engine.search("tea", ranking=preset)) == ["tea with cake", "tea with milk"]
            expected = None if path == "keyword" else path
            assert {hit.receipt.vector_path for hit in hits} == {expected}
            decays[path] = [hit.receipt.decay for hit in hits]
    assert decays["keyword"] == decays["exact"] == decays["chroma"]
    assert decays["exact"][0] == 1.0 > decays["exact"][1]
