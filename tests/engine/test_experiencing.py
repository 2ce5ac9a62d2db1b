"""The engine's experiences: its database, clock and actor."""

from langchain_memengine.types import Actor
from tests.fakes.clock import FixedClock
from tests.fakes.engines import make_engine


def test_experiences_are_kept_with_the_memory(tmp_path):
    clock = FixedClock()
    with make_engine(tmp_path, clock=clock) as engine:
        assert engine.experiences is engine.experiences
        learnt = engine.experiences.record("brew tea", {"steps": ["boil"]})
        assert (learnt.user, learnt.created_at) == ("local", clock.now)
        section = engine.experiences.prompt([learnt], thread_id="t")
        nonce = engine.recall("tea", thread_id="t").nonce
        assert f"<memories-{nonce}>" in section
    with make_engine(tmp_path) as engine:
        assert engine.experiences.find_similar("tea") == [learnt]
        assert engine.search("tea").hits == ()  # experiences are no memories


def test_the_engines_actor_is_who_learns(tmp_path):
    with make_engine(tmp_path) as engine:
        engine.actor = Actor("ann")
        assert engine.experiences.record("brew tea", 1).user == "ann"
