"""How far the nearest text stands out, and what that makes of the vector leg's weight."""

import math
import random

import numpy as np
import pytest

from langchain_memengine.rankings import RANKINGS
from langchain_memengine.retrieval.separation import separation
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine

# Mean 0.3, deviation 0.1.
SAMPLE = np.asarray([0.2, 0.4] * 10)


def test_separation_counts_deviations_beyond_what_chance_gives():
    # 6 deviations above the mean; the best of e**8 by chance lies sqrt(2 * 8) = 4 above it.
    assert separation(0.9, SAMPLE, round(math.e**8)) == pytest.approx(2.0, abs=0.001)
    assert separation(0.5, SAMPLE, round(math.e**8)) == pytest.approx(-2.0, abs=0.001)


def test_separation_of_few_or_equal_cosines_is_unknown():
    assert separation(0.9, SAMPLE[:15], 15) == 0.0
    assert separation(0.9, np.full(20, 0.3), 20) == 0.0


@pytest.fixture
def engine():
    with make_engine(embeddings=FakeEmbeddings(64)) as engine:
        engine.add_texts([f"word{i} thing{i}" for i in range(100)])
        yield engine


def weight(engine, query, ranking="balanced"):
    return engine.search(query, ranking=ranking).hits[0].receipt.vector_weight


def test_nearest_text_that_stands_out_raises_the_weight_to_the_double_at_most(engine):
    assert weight(engine, "word7 thing7") == pytest.approx(1.6)
    gentle = RANKINGS["balanced"].model_copy(update={"vector_gain": 0.01})
    assert 0.8 < weight(engine, "word7 thing7", gentle) < 1.0


def test_what_was_deleted_changes_no_score(tmp_path):
    gentle = RANKINGS["balanced"].model_copy(update={"vector_gain": 0.01})  # never the double
    chance = random.Random(1)  # noqa: S311  # to be repeated, not to be secret
    texts = {f"t{i}": f"word{i} thing{chance.randrange(9)}" for i in range(900)}
    with make_engine(tmp_path, embeddings=FakeEmbeddings(64)) as engine:
        engine.add_texts(list(texts.values()), ids=list(texts))
        engine.search("word7")  # so that its indexes are there and have to follow
        engine.delete(chance.sample(sorted(texts.keys() - {"t6"}), 300))
        url = f"sqlite:///{tmp_path}/.memengine/memory.sqlite"
        with make_engine(embeddings=FakeEmbeddings(64), database_url=url) as fresh:
            ours, theirs = (e.search("word6 thing6", ranking=gentle).hits for e in (engine, fresh))
    assert 0.8 < ours[0].receipt.vector_weight < 1.0
    assert [(hit.id, hit.score) for hit in ours] == [(hit.id, hit.score) for hit in theirs]


def test_weight_is_the_rankings_own_among_too_few_texts_to_tell():
    with make_engine(embeddings=FakeEmbeddings(64)) as engine:
        engine.add_texts([f"word{i} thing{i}" for i in range(15)])
        assert weight(engine, "word7 thing7") == 0.8


@pytest.mark.parametrize(("name", "own"), [("goclaw", 1.0), ("rrf", 0.5)])
def test_other_presets_keep_their_weight(engine, name, own):
    assert weight(engine, "word7 thing7", name) == own


def test_weight_without_a_vector_leg_is_none():
    with make_engine() as engine:
        engine.add_texts(["tea"])
        assert weight(engine, "tea") is None
