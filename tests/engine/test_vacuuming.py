"""Cleaning up: what is over goes with its words, and nothing else."""

from datetime import timedelta

from langchain_core.messages import HumanMessage

from langchain_memengine.types import Actor
from tests.engine.test_forgetting import SECRET, WORD, files_with
from tests.fakes.clock import START, FixedClock
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine

ALICE, BOB = Actor("alice"), Actor("bob")


def test_vacuum_removes_what_is_over_and_an_old_archive(tmp_path):
    clock = FixedClock()
    with make_engine(tmp_path / "root", clock=clock, embeddings=FakeEmbeddings()) as engine:
        engine.remember(SECRET, expires_at=START + timedelta(days=1), actor=ALICE)
        kept = engine.remember("Tea at four", expires_at=START + timedelta(days=9), actor=ALICE)
        engine.archive.commit(
            "t", "", "archive", [HumanMessage(f"{WORD} was said", id="1")], owner="alice", now=START
        )
        engine.history("s", actor=ALICE).add([HumanMessage("still here", id="1")])
        clock.pass_days(5)
        engine.archive.commit(
            "u", "", "archive", [HumanMessage("said lately", id="1")], owner="alice", now=clock.now
        )
        assert engine.vacuum(actor=BOB).removed == {}
        assert engine.vacuum(archive_older_than=timedelta(days=3), actor=BOB).removed == {}
        report = engine.vacuum(archive_older_than=timedelta(days=3))
        assert report.removed["records"] == report.removed["messages"] == 1
        assert engine.list_records(actor=ALICE) == [kept]
        assert [m.content for m in engine.restore("u", actor=ALICE)] == ["said lately"]
        assert len(engine.history("s", actor=ALICE).read()) == 1
        assert files_with(engine.root) == []
        assert engine.vacuum(archive_older_than=timedelta(days=3)).removed == {}
