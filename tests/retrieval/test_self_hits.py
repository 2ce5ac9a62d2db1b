"""A sample of chunks, and whether they are found by their own vector."""

import numpy as np
import pytest

from langchain_memengine.retrieval import self_hits
from langchain_memengine.storage import embeddings, integrity
from langchain_memengine.storage.database import Database
from tests.fakes.clock import START
from tests.retrieval.test_partitions import MODEL, digest, put


def test_sample_reaches_from_the_first_to_the_last():
    assert self_hits.spread(np.arange(0)) == []
    assert self_hits.spread(np.asarray([7])) == [7]
    assert self_hits.spread(np.asarray([3, 5, 9])) == [3, 5, 9]
    spread = self_hits.spread(np.arange(100, 200))
    assert (len(spread), spread[0], spread[-1]) == (20, 100, 199)
    assert spread == sorted(set(spread))


@pytest.fixture
def tx():
    """Return a view of three texts: two of the same vector, and one that means nothing."""
    database = Database("sqlite://", store_id="s", now=START, busy_timeout_ms=0)
    vectors = {"tea": [1, 0], "chai": [1, 0], "???": [0, 0], "milk": [0, 1]}
    with database.write() as writing:
        put(writing, "a", list(vectors))
        embeddings.put(
            writing,
            {digest(text): np.asarray(v, np.float32) for text, v in vectors.items()},
            MODEL,
            touch=True,
        )
    with database.read() as reading:
        yield reading
    database.close()


def test_one_with_the_same_vector_will_do_and_another_will_not(tx):
    numbers = {text: num for num, text in integrity.texts(tx, range(10)).items()}
    sampled = self_hits.sample(tx, "shared", MODEL)
    assert set(sampled) == {numbers["tea"], numbers["chai"], numbers["milk"]}

    def found(**nearest):
        around = {numbers[text]: [numbers[one] for one in near] for text, near in nearest.items()}
        return self_hits.found(tx, MODEL, sampled, lambda num: around.get(num, []))

    assert found(tea=["tea"], chai=["milk", "chai"], milk=["milk"]) == 3
    assert found(tea=["chai"], chai=["tea"], milk=["tea"]) == 2
    assert found() == 0
