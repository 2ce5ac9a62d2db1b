"""Search quality on two conversations of LoCoMo: no change may quietly make it worse.

The data set is not part of this repository. ``MEMENGINE_DATA`` names the folder that holds
``retrieval/locomo.json``.
"""

import dataclasses
import os
from pathlib import Path

import pytest

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.evaluation.datasets import load_dataset
from langchain_memengine.evaluation.runner import evaluate

DATA = Path(os.environ.get("MEMENGINE_DATA", "missing")) / "retrieval" / "locomo.json"

pytestmark = pytest.mark.skipif(
    not DATA.is_file(), reason="MEMENGINE_DATA names no folder with retrieval/locomo.json"
)

CONVERSATIONS = 2
QUESTIONS = 302
RECALL_AT_10 = 0.763  # measured 0.783, less two points for changes that are worth it


@pytest.fixture(scope="module")
def evaluation():
    dataset = load_dataset(DATA, "locomo")
    sample = dataclasses.replace(dataset, collections=dataset.collections[:CONVERSATIONS])
    default = MemEngineConfig.model_fields["ranking"].default
    return evaluate(sample, ranking=default, embeddings="local", baselines=True)


def test_sample_is_the_one_that_was_measured(evaluation):
    assert evaluation.overall.n == QUESTIONS
    assert not [one for one in evaluation.degraded if "langchain-memengine[bench]" not in one]


def test_default_ranking_finds_what_it_found(evaluation):
    assert evaluation.overall.system["recall@10"] >= RECALL_AT_10


def test_default_ranking_is_not_below_plain_bm25(evaluation):
    ours, bm25 = evaluation.overall.system, evaluation.overall.baselines["bm25"]
    assert ours["recall@10"] >= bm25["recall@10"]
    assert ours["ndcg@10"] >= bm25["ndcg@10"]
