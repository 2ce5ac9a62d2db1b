"""What a step learnt, as chunks of its commit."""

from langchain_core.messages import AIMessageChunk, HumanMessage

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.conversation.learning import about, learnt_chunks
from langchain_memengine.types import Commit, Provenance
from tests.fakes.clock import START

COMMIT = Commit("c0ffee", "chat 1", (), "fact", START)


def test_each_text_is_a_source_of_its_commit_and_happened_when_it_was_made():
    place = Provenance(scope="personal", owner="anna", origin="user")
    found = learnt_chunks(["Tea.", "Milk."], COMMIT, place, MemEngineConfig())
    assert list(found) == ["learnt:chat%201/c0ffee-1", "learnt:chat%201/c0ffee-2"]
    ((chunk, provenance),) = found["learnt:chat%201/c0ffee-2"]
    assert (chunk.text, chunk.source) == ("Milk.", "learnt:chat%201/c0ffee-2")
    assert (provenance.thread_id, provenance.commit_id) == ("chat 1", "c0ffee")
    assert provenance.event_at == START
    assert (provenance.scope, provenance.owner, provenance.origin) == ("personal", "anna", "user")


def test_a_long_text_has_several_chunks_and_a_blank_one_none():
    config = MemEngineConfig(chunk_tokens=16, overlap_tokens=0)  # 64 letters
    said = "one " * 15 + "two. " + "three " * 10
    found = learnt_chunks([said, " "], COMMIT, Provenance(), config)
    first, blank = found.values()
    assert [chunk.text.split() for chunk, _ in first] == [["one"] * 15 + ["two."], ["three"] * 10]
    assert blank == []


def test_what_it_was_learnt_from_is_a_name_or_a_whole_message():
    assert about("a flush") == "a flush"
    streamed = AIMessageChunk("Hi.", id="1")
    assert about(streamed) != about(AIMessageChunk("Ho.", id="1"))
    assert about(HumanMessage("Hi.", id="1")) == about(HumanMessage("Hi.", id="1"))
