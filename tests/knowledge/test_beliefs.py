"""What can be told about two facts without a model."""

from dataclasses import replace

import pytest

from langchain_memengine.knowledge.beliefs import relation_between
from langchain_memengine.storage.record_values import MemoryRecord
from tests.fakes.clock import START


def record(text, relation, *, subject="user", exclusive=False, **fields):
    metadata = {
        "kind": "fact", "subject": subject, "relation": relation, "exclusive": exclusive,
    }  # fmt: skip
    plain = MemoryRecord(
        "1", "personal", "ann", text, metadata, "llm_extract", "trusted", None, None, START, START
    )
    return replace(plain, **fields)


TEA = record("User likes tea.", "likes")
HOME = record("User lives in Rome.", "lives in", exclusive=True)


@pytest.mark.parametrize(
    ("new", "old", "told"),
    [
        (TEA, record("User  likes tea", "likes"), "same"),
        (record("User knows C++", "knows"), record("User knows C", "knows"), "unrelated"),
        (TEA, record("User likes rum.", "likes"), "unrelated"),
        (TEA, record("User hates tea.", "hates"), "ask"),
        (record("User no longer likes tea.", "likes"), TEA, "ask"),
        (record("User likes green tea.", "likes"), TEA, "ask"),
        (record("User likes -5", "likes"), record("User likes 5", "likes"), "unrelated"),
        (record("User lives in Bern.", "lives in", exclusive=True), HOME, "ask"),
        (record("User lives in Bern.", "lives in"), HOME, "ask"),
        (record("Rex lives in Bern.", "lives in", subject="Rex"), HOME, "unrelated"),
        (HOME, replace(HOME, owner="bob"), "unrelated"),
        (HOME, replace(HOME, scope="agent_notes", owner=""), "unrelated"),
        (HOME, TEA, "unrelated"),
    ],
)  # fmt: skip
def test_what_words_tell(new, old, told):
    assert relation_between(new, old) == told
