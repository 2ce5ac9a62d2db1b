"""A recall that cannot make a turn fail."""

from langchain_memengine.faces.timed_recall import Asked, TimedRecall, TurnMemory
from langchain_memengine.types import LOCAL_ADMIN
from tests.fakes.engines import make_engine


async def test_a_process_that_is_ending_costs_the_turn_only_its_memories(tmp_path):
    asked = Asked("tea", LOCAL_ADMIN, None, None)
    with make_engine(tmp_path) as engine:
        engine.add_texts(["tea at five"])
        recall = TimedRecall(engine, k=1, max_tokens=0, seconds=30)
        assert "tea at five" in recall.recall(asked).fragment
        recall._pool.shutdown()  # as the interpreter does before it ends
        nothing = TurnMemory(note="Nothing was recalled: RuntimeError.")
        assert recall.recall(asked) == nothing
        assert await recall.arecall(asked) == nothing
