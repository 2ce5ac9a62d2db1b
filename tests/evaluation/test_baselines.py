"""The plain retrievers that the engine is compared with."""

import math
import sys

import pytest
from langchain_core.embeddings import Embeddings

from langchain_memengine.errors import ConfigurationError, EmbeddingError
from langchain_memengine.evaluation.baselines import Baselines, words
from langchain_memengine.models.providers import make_embedder
from langchain_memengine.retrieval.documents import NewDocument
from tests.fakes.embeddings import FakeEmbeddings

DOCUMENTS = [
    NewDocument("The fox sleeps.", {}, "a"),
    NewDocument("A whale sings.", {}, "b"),
    NewDocument("Tea at noon.", {}, "c"),
    NewDocument(" \n", {}, "blank"),
]
DIRECTIONS = {
    "The fox sleeps.": [0.0, 1.0],
    "A whale sings.": [1.0, 1.0],
    "Tea at noon.": [5.0, 0.0],
    "Whale?": [0.1, 0.0],
}


class Directions(Embeddings):
    """Texts in a plane: the query points at c, then b, then a."""

    def embed_documents(self, texts):
        return [DIRECTIONS[text] for text in texts]

    def embed_query(self, text):
        return DIRECTIONS[text]


@pytest.fixture
def no_community(monkeypatch):
    monkeypatch.setitem(sys.modules, "langchain_community.retrievers", None)


def test_words_are_lower_case_and_unstemmed():
    assert words("Don't STOP the Über-Singers, 2x!") == [
        *("don", "t", "stop", "the", "über", "singers", "2x")
    ]


def test_without_an_embedder_there_is_bm25_only_and_ties_keep_their_order():
    baselines = Baselines(DOCUMENTS, None)

    assert baselines.rank("Whale?") == {"bm25": ["b", "a", "c"]}
    assert baselines.problems == ()


def test_dense_is_cosine_and_rrf60_adds_reciprocal_ranks(no_community):
    found = Baselines(DOCUMENTS, make_embedder(Directions())).rank("Whale?")

    # b: 1/61 + 1/62 = 0.03252, c: 1/63 + 1/61 = 0.03227, a: 1/62 + 1/63 = 0.03200
    assert found == {"bm25": ["b", "a", "c"], "dense": ["c", "b", "a"], "rrf60": ["b", "c", "a"]}


def test_rrf60_prefers_two_middling_ranks_to_one_that_is_best(no_community):
    documents = [NewDocument(f"note {i}", {}, str(i)) for i in range(10)]
    by_meaning = [9, 8, 7, 3, 6, 5, 4, 2, 1, 0]

    class Angles(Embeddings):
        def embed_documents(self, texts):
            ranks = [by_meaning.index(int(text.split()[1])) for text in texts]
            return [[math.cos(rank / 10), math.sin(rank / 10)] for rank in ranks]

        def embed_query(self, text):
            return [1.0, 0.0]

    found = Baselines(documents, make_embedder(Angles())).rank("zebra")

    assert found["bm25"] == [str(i) for i in range(10)]  # no word matches
    assert found["dense"] == [str(i) for i in by_meaning]
    # 3 stands fourth twice: 2/64 = 0.03125; 0 and 9 first and last: 1/61 + 1/70 = 0.03068.
    assert found["rrf60"][0] == "3"


def test_many_ties_keep_their_order():
    documents = [NewDocument(f"note {i}", {}, str(i)) for i in range(200)]
    assert Baselines(documents, None).rank("zebra")["bm25"] == [str(i) for i in range(25)]


def test_ensemble_fuses_the_peers_retrievers():
    pytest.importorskip("langchain_community", reason="the extra `bench` is not installed")
    baselines = Baselines(DOCUMENTS, make_embedder(Directions()))

    found = baselines.rank("Whale?")

    assert baselines.problems == ()
    # Its BM25Retriever turns ties round: b c a; the vectors say c b a. c and b are even.
    assert sorted(found["ensemble"][:2]) == ["b", "c"]
    assert found["ensemble"][2:] == ["a"]


def test_missing_packages_of_the_ensemble_are_named_with_the_extra(no_community):
    baselines = Baselines(DOCUMENTS, make_embedder(Directions()))

    (problem,) = baselines.problems
    assert problem == (
        "The baseline 'ensemble' needs the package 'langchain-community', which is not "
        "installed. Run: pip install 'langchain-memengine[bench]'"
    )


def test_at_most_25_are_returned(no_community):
    many = [NewDocument(f"Note {i}", {}, str(i)) for i in range(30)]
    found = Baselines(many, make_embedder(FakeEmbeddings())).rank("note 7")
    assert {name: len(ids) for name, ids in found.items()} == {"bm25": 25, "dense": 25, "rrf60": 25}


def test_a_text_without_a_vector_is_told_and_found_by_words(no_community):
    refuses_tea = FakeEmbeddings()
    vector = refuses_tea._vector
    refuses_tea._vector = lambda text: [0.0] * 64 if "Tea" in text else vector(text)

    baselines = Baselines(DOCUMENTS, make_embedder(refuses_tea, attempts=1))

    assert baselines.problems[0].startswith("baselines: 1 of 3 documents have no embedding")
    found = baselines.rank("tea whale sings")
    assert found["bm25"][:2] == ["b", "c"]
    assert found["dense"][0] == "b"


def test_an_embedder_that_never_answers_is_an_error():
    down = FakeEmbeddings(fail_with=[ConnectionError("nobody is there")] * 9)
    with pytest.raises(EmbeddingError):
        Baselines(DOCUMENTS, make_embedder(down, attempts=1))


def test_documents_without_a_word_are_refused():
    with pytest.raises(ConfigurationError, match="no text to search"):
        Baselines([NewDocument("…", {}, "a")], None)
