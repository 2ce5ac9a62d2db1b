"""The store's one embedding model."""

import numpy as np
import pytest

from langchain_memengine.errors import EmbeddingError, EmbeddingModelChangedError
from langchain_memengine.models.embedding import PROBE, Embedder
from langchain_memengine.retrieval.embedding_cache import EmbeddingCache
from langchain_memengine.storage import embeddings
from langchain_memengine.storage.database import Database
from tests.fakes.clock import START
from tests.fakes.embeddings import FakeEmbeddings

DOWN = ConnectionError()


@pytest.fixture
def database():
    database = Database("sqlite://", store_id="s", now=START, busy_timeout_ms=0)
    yield database
    database.close()


def cache_of(database, fake, name="fake/m"):
    return EmbeddingCache(database, Embedder(fake, name=name, attempts=1))


def model(database, cache):
    with database.read() as tx:
        return cache.model(tx)


def test_store_belongs_to_the_model_it_was_first_indexed_with(database):
    first = cache_of(database, FakeEmbeddings(8))
    assert model(database, first) is None
    assert first.verify() == "fake/m/8"
    assert model(database, first) == "fake/m/8"
    other = cache_of(database, FakeEmbeddings(8), name="other")
    assert model(database, other) is None
    with pytest.raises(EmbeddingModelChangedError) as caught:
        other.verify()
    assert (caught.value.stored, caught.value.current) == ("fake/m/8", "other/8")
    with database.read() as tx:
        assert isinstance(other.model_change(tx), EmbeddingModelChangedError)
        assert first.model_change(tx) is None


def test_other_dimension_and_other_weights_are_another_model(database):
    class Reversed(FakeEmbeddings):
        def _vector(self, text):
            return super()._vector(text)[::-1]

    cache_of(database, FakeEmbeddings(8)).verify()
    for fake in (FakeEmbeddings(16), Reversed(8)):
        with pytest.raises(EmbeddingModelChangedError):
            cache_of(database, fake).query("tea")


def test_noise_in_the_probe_is_the_same_model(database):
    class Noisy(FakeEmbeddings):
        def _vector(self, text):
            return [value + 0.001 for value in super()._vector(text)]

    cache_of(database, FakeEmbeddings(8)).verify()
    assert cache_of(database, Noisy(8)).verify() == "fake/m/8"


def test_model_is_asked_for_its_probe_once(database):
    fake = FakeEmbeddings()
    cache = cache_of(database, fake)
    cache.verify()
    cache.query("tea")
    cache.embed({"h": "milk"})
    assert fake.calls == [[PROBE], ["tea"], ["milk"]]


def test_model_and_model_change_ask_the_embedder_nothing(database):
    cache_of(database, FakeEmbeddings()).verify()
    fake = FakeEmbeddings()
    cache = cache_of(database, fake)
    with database.read() as tx:
        assert cache.model(tx) == "fake/m/64"
        assert cache.model_change(tx) is None
    assert fake.calls == []


def test_store_that_was_reembedded_by_another_engine_is_not_searched_with_the_old_model(database):
    cache = cache_of(database, FakeEmbeddings(8))
    cache.verify()
    cache_of(database, FakeEmbeddings(16)).adopt_model()
    assert model(database, cache) is None


def test_embed_answers_with_vectors_and_errors(database):
    cache = cache_of(database, FakeEmbeddings(8))
    answer = cache.embed({"a": "tea", "b": "milk"})
    assert (set(answer.vectors), answer.hopeless, answer.error) == ({"a", "b"}, 0, None)
    assert np.linalg.norm(answer.vectors["a"]) == pytest.approx(1.0)
    np.testing.assert_array_equal(answer.vectors["b"], cache.embed({"b": "milk"}).vectors["b"])


def test_outage_is_part_of_the_answer(database):
    answer = cache_of(database, FakeEmbeddings(fail_with=[None, DOWN])).embed({"a": "tea"})
    assert (answer.vectors, answer.hopeless) == ({}, 0)
    assert answer.error is not None
    assert answer.error.retryable


def test_text_without_a_direction_gets_zeros_once_and_for_all(database):
    def no_direction(vectors):
        return [vectors[0], [0.0] * 8]

    fake = FakeEmbeddings(8, fail_with=[None, no_direction])
    answer = cache_of(database, fake).embed({"a": "tea", "b": "milk"})
    assert (set(answer.vectors), answer.hopeless, answer.error) == ({"a", "b"}, 1, None)
    assert sorted(float(vector.sum()) == 0 for vector in answer.vectors.values()) == [False, True]


def test_short_answer_gives_no_text_the_vector_of_another(database):
    fake = FakeEmbeddings(8, fail_with=[None, lambda vectors: vectors[:1]])
    answer = cache_of(database, fake).embed({"a": "tea", "b": "milk", "c": "water"})
    right = cache_of(database, FakeEmbeddings(8)).embed({"a": "tea", "b": "milk", "c": "water"})
    assert set(answer.vectors) == {"a", "b", "c"}  # asked again in halves
    for key, vector in answer.vectors.items():
        np.testing.assert_array_equal(vector, right.vectors[key])


def test_adopting_a_model_drops_worthless_vectors_of_the_same_name(database):
    class Reversed(FakeEmbeddings):
        def _vector(self, text):
            return super()._vector(text)[::-1]

    old = cache_of(database, FakeEmbeddings(8))
    with_vectors = old.embed({"a": "tea"}).vectors
    with database.write() as tx:
        embeddings.put(tx, with_vectors, "fake/m/8", touch=False)
    old.adopt_model()
    with database.read() as tx:
        assert embeddings.known_hashes(tx, ["a"], "fake/m/8") == {"a"}
    new = cache_of(database, Reversed(8))
    new.adopt_model()
    assert new.verify() == "fake/m/8"
    with database.read() as tx:
        assert embeddings.known_hashes(tx, ["a"], "fake/m/8") == set()


def test_without_an_embedder_nothing_is_asked_and_everything_says_so(database):
    cache = EmbeddingCache(database, None)
    assert (cache.enabled, cache.name, model(database, cache)) == (False, None, None)
    for call in (cache.verify, cache.adopt_model, lambda: cache.query("tea")):
        with pytest.raises(EmbeddingError, match="embeddings=None"):
            call()
    answer = cache.embed({"a": "tea"})
    assert answer.error is not None


def test_read_only_database_is_searched_and_not_written(tmp_path):
    url = f"sqlite:///{tmp_path / 'a.sqlite'}"
    Database(url, store_id="s", now=START, busy_timeout_ms=0).close()
    database = Database(url, store_id="s", now=START, busy_timeout_ms=0, read_only=True)
    cache = cache_of(database, FakeEmbeddings(8))
    assert cache.query("tea").shape == (8,)
    assert model(database, cache) is None
    database.close()
