"""Background work of an engine, and its first kind: embeddings that an outage cost."""

import threading

import pytest
from sqlalchemy import update

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.errors import (
    EmbeddingError,
    JobError,
    NotFoundError,
    ReadOnlyError,
    StoreLockedError,
)
from langchain_memengine.jobs.reports import JobsReport
from langchain_memengine.retrieval import backlog
from langchain_memengine.storage import jobs
from langchain_memengine.storage.job_schema import jobs as job_table
from langchain_memengine.storage.job_values import NewJob
from langchain_memengine.storage.locking import IndexLock
from tests.fakes.clock import START, FixedClock
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts, write

DOWN = ConnectionError("nobody answers")
LONG = 20.0


def put(engine, kind="auto_learn_error", **options):
    with engine._database.write() as tx:
        return jobs.put(tx, NewJob(kind, **options), now=START)


def claim(engine):
    with engine._database.write() as tx:
        job = jobs.claim(tx, ["embed"], now=START, lease_seconds=30, token=str(START))
    assert job is not None
    return job


def engine_after_outage(*words, embeddings=None, **settings):
    """Return an engine whose embedder was down while these texts were added."""
    embeddings = embeddings or FakeEmbeddings()
    engine = make_engine(embeddings=embeddings, sync_on_search=False, **settings)
    engine.add_texts(["first"])  # the store learns its model
    embeddings._faults = [DOWN]
    engine.add_texts(list(words))
    return engine


# Embeddings


def test_what_an_outage_cost_is_made_up_for_by_a_job(tmp_path):
    write(tmp_path, "a.md", "tea")
    embeddings = FakeEmbeddings(fail_with=[DOWN])
    with make_engine(tmp_path, embeddings=embeddings, sync_on_search=False) as engine:
        assert engine.sync().pending == 1
        (job,) = engine.jobs()
        assert (job.kind, job.state, job.payload) == ("embed", "ready", {})
        assert engine.stats().jobs_ready == 1
        assert engine.search("tea").hits[0].cosine is None
        assert engine.run_jobs() == JobsReport(done=1)
        result = engine.search("tea")
        assert (result.degraded, result.hits[0].cosine) == ((), pytest.approx(1.0))
        sent = len(embeddings.texts)
        report = engine.sync()
        assert (report.complete, report.embedded, len(embeddings.texts)) == (True, 0, sent)


def test_added_texts_are_made_up_for_too():
    with engine_after_outage("tea", "milk") as engine:
        assert engine.stats().embeddings == 1
        assert engine.run_jobs().done == 1
        assert engine.stats().embeddings == 3


def test_one_job_is_queued_however_many_outages_there_were():
    embeddings = FakeEmbeddings()
    with engine_after_outage("tea", embeddings=embeddings) as engine:
        embeddings._faults = [DOWN, DOWN]
        engine.add_texts(["milk"])
        engine.add_texts(["water"])
        assert len(engine.jobs()) == 1
        assert engine.run_jobs().done == 1
        assert engine.stats().embeddings == 4


def test_a_text_that_comes_while_the_job_is_done_is_not_forgotten():
    embeddings = FakeEmbeddings()
    with engine_after_outage("tea", embeddings=embeddings) as engine:

        def meanwhile(vectors):
            embeddings._faults = [DOWN]
            engine.add_texts(["milk"])
            return vectors

        embeddings._faults = [meanwhile]
        assert engine.run_jobs() == JobsReport(done=2)
        assert engine.stats().embeddings == 3


def test_a_sync_that_embeds_everything_leaves_no_job():
    with engine_after_outage("tea") as engine:
        assert engine.sync().embedded == 1
        assert [job.state for job in engine.jobs()] == ["done"]
        assert engine.run_jobs() == JobsReport()


def test_a_sync_leaves_to_a_worker_what_the_worker_is_doing():
    embeddings = FakeEmbeddings()
    with engine_after_outage("tea", embeddings=embeddings) as engine:
        job = claim(engine)  # another process's worker
        sent = len(embeddings.texts)
        report = engine.sync()
        assert (report.embedded, report.pending, len(embeddings.texts)) == (0, 1, sent)
        engine._clock.now = job.lease_until  # it died
        assert engine.sync().embedded == 1


def test_a_sync_does_not_wait_for_a_job_of_its_own_process():
    embeddings = FakeEmbeddings()
    with engine_after_outage("tea", embeddings=embeddings) as engine:

        def meanwhile(vectors):
            reports.append(engine.sync())
            return vectors

        reports = []
        embeddings._faults = [meanwhile]
        assert engine.run_jobs().done == 1
        assert (reports[0].embedded, reports[0].pending) == (0, 1)
        assert embeddings.texts.count("tea") == 2  # in the outage, and by the job


def test_each_batch_is_a_job_and_a_commit_of_its_own(monkeypatch):
    monkeypatch.setattr(backlog, "BATCH_TEXTS", 2)
    embeddings = FakeEmbeddings()
    with engine_after_outage("a1", "a2", "a3", "a4", "a5", embeddings=embeddings) as engine:
        embeddings._faults = [None, None, DOWN]
        assert engine.run_jobs() == JobsReport(done=2, failed=1, left=1)
        assert engine.stats().embeddings == 5
        engine._clock.pass_days(1)
        assert engine.run_jobs() == JobsReport(done=1)
        assert engine.stats().embeddings == 6


class Picky(FakeEmbeddings):
    """Refuses whatever holds a poison, as providers refuse a text that is too long."""

    def embed_documents(self, texts):
        if any("poison" in text for text in texts):
            self.calls.append(list(texts))
            raise ValueError("no")
        return super().embed_documents(texts)


def test_a_text_the_embedder_refuses_is_counted_and_holds_up_no_other():
    with engine_after_outage("tea", "poison", "milk", embeddings=Picky()) as engine:
        assert engine.run_jobs() == JobsReport(done=1)
        stats = engine.stats()
        assert (stats.refused, stats.jobs_ready, stats.embeddings) == (1, 0, 4)
        assert engine.search("milk").hits[0].cosine == pytest.approx(1.0)
        assert texts(engine.search("poison"))[0] == "poison"
        sent = len(engine._embedding._embedder.embeddings.calls)
        assert engine.sync().complete
        assert len(engine._embedding._embedder.embeddings.calls) == sent


def test_an_outage_that_lasts_kills_the_job_and_the_next_sync_queues_another():
    dead = []
    embeddings = FakeEmbeddings(fail_with=[DOWN] * 99)
    clock = FixedClock()
    engine = MemoryEngine(
        None,
        MemEngineConfig(
            worker="off", embedding_attempts=1, sync_on_search=False, consolidate_at=None
        ),
        embeddings=embeddings,
        clock=clock,
        on_job_failed=lambda *seen: dead.append(seen),
    )
    with engine:
        engine.add_texts(["tea"])
        for _ in range(backlog.EMBED_ATTEMPTS - 1):
            assert engine.run_jobs().failed == 1
            clock.pass_days(1)
        assert engine.run_jobs() == JobsReport(dead=1)
        ((job, error),) = dead
        assert (job.kind, type(error)) == ("embed", EmbeddingError)
        assert engine.stats().jobs_dead == 1
        assert engine.sync().pending == 1
        assert engine.stats().jobs_ready == 1
        embeddings._faults = []
        assert engine.run_jobs().done == 1


class OtherEmbeddings(FakeEmbeddings):
    """Another model, with vectors of another length."""

    model = "other"


def test_another_model_queues_no_job_and_kills_one_that_waits(tmp_path):
    embeddings = FakeEmbeddings(64)
    write(tmp_path, "a.md", "tea")
    with make_engine(tmp_path, embeddings=embeddings) as engine:
        engine.sync()
    with make_engine(tmp_path, embeddings=OtherEmbeddings(32)) as engine:
        write(tmp_path, "b.md", "milk")
        assert engine.sync().pending == 2
        assert engine.jobs() == []
        put(engine, "embed")
        assert engine.run_jobs() == JobsReport(dead=1)
        assert "engine.reembed()" in engine.jobs()[0].error


@pytest.mark.parametrize("embeddings", [OtherEmbeddings(32), FakeEmbeddings(fail_with=[DOWN] * 9)])
def test_a_sync_that_can_embed_nothing_writes_nothing_again(tmp_path, monkeypatch, embeddings):
    write(tmp_path, "a.md", "tea")
    if isinstance(embeddings, OtherEmbeddings):
        with make_engine(tmp_path, embeddings=FakeEmbeddings(64)) as engine:
            engine.sync()

    def refuse():
        raise AssertionError("nothing changed")

    with make_engine(tmp_path, embeddings=embeddings) as engine:
        engine.sync()
        with monkeypatch.context() as patched:
            patched.setattr(engine._database, "write", refuse)
            assert engine.sync().pending == 1


def test_a_store_that_was_re_embedded_elsewhere_is_not_embedded_with_the_old_model(tmp_path):
    write(tmp_path, "a.md", "tea")
    with make_engine(tmp_path, embeddings=FakeEmbeddings(64)) as old:
        old.sync()
        with make_engine(tmp_path, embeddings=OtherEmbeddings(32)) as new:
            new.reembed()
        put(old, "embed")
        assert old.run_jobs() == JobsReport(dead=1)
        assert "another model" in old.jobs()[0].error


def test_re_embedding_that_meets_an_outage_is_finished_by_a_job(tmp_path):
    write(tmp_path, "a.md", "tea")
    with make_engine(tmp_path, embeddings=FakeEmbeddings(64)) as engine:
        engine.sync()
    other = OtherEmbeddings(32, fail_with=[None, DOWN])
    with make_engine(tmp_path, embeddings=other, sync_on_search=False) as engine:
        assert engine.reembed().pending == 1
        assert engine.run_jobs().done == 1
        assert engine.stats().embeddings == 1


def test_without_an_embedder_no_job_is_queued_and_one_that_waits_is_left():
    with make_engine() as engine:
        engine.add_texts(["tea"])
        assert engine.jobs() == []
        put(engine, "embed")
        assert engine.run_jobs() == JobsReport(left=1)
        assert (engine.stats().jobs_ready, engine.stats().jobs_unknown) == (1, 1)


# Jobs as users see them


def test_jobs_are_listed_retried_and_cancelled():
    with make_engine() as engine:
        first, second = put(engine), put(engine)
        engine.cancel_job(first)
        with pytest.raises(JobError, match="only a dead job"):
            engine.retry_job(second)
        with engine._database.write() as tx:
            tx.connection.execute(update(job_table).values(state="dead"))
        engine.retry_job(second)
        assert [job.num for job in engine.jobs()] == [second, first]
        assert [job.num for job in engine.jobs("dead")] == [first]
        assert len(engine.jobs(limit=1)) == 1
        assert engine.run_jobs(limit=5) == JobsReport(done=1)
        for change in (engine.retry_job, engine.cancel_job):
            with pytest.raises(NotFoundError):
                change(99)


def test_jobs_of_another_store_are_not_seen(tmp_path):
    with (
        make_engine(tmp_path, store_id="one") as one,
        make_engine(tmp_path, store_id="two") as two,
    ):
        num = put(one)
        assert two.jobs() == []
        assert two.run_jobs() == JobsReport()
        with pytest.raises(NotFoundError):
            two.cancel_job(num)


def test_a_read_only_engine_does_no_jobs(tmp_path):
    with make_engine(tmp_path) as engine:
        put(engine)
    with make_engine(tmp_path, read_only=True) as engine:
        assert len(engine.jobs()) == 1
        with pytest.raises(ReadOnlyError, match="read_only=True"):
            engine.run_jobs()
        with pytest.raises(ReadOnlyError):
            engine.work(threading.Event())


# The thread


class Back(FakeEmbeddings):
    """Tells when it is asked again after an outage."""

    def __init__(self):
        super().__init__()
        self.is_asked = threading.Event()

    def embed_documents(self, texts):
        answer = super().embed_documents(texts)
        if "tea" in texts:
            self.is_asked.set()
        return answer


def test_the_worker_starts_with_the_first_job_and_closing_finishes_it(tmp_path):
    embeddings = Back()
    with make_engine(tmp_path, embeddings=embeddings, worker="auto") as engine:
        engine.add_texts(["first"])
        assert not engine._worker_thread.is_running
        embeddings._faults = [DOWN]
        engine.add_texts(["tea"])
        assert engine._worker_thread.is_running
        assert embeddings.is_asked.wait(LONG)
    assert not engine._worker_thread.is_running
    with make_engine(tmp_path, embeddings=embeddings) as engine:
        assert [job.state for job in engine.jobs()] == ["done"]
        assert engine.stats().embeddings == 2


@pytest.mark.parametrize(("worker", "is_running"), [("auto", True), ("off", False)])
def test_opening_takes_up_what_was_left(tmp_path, worker, is_running):
    config = MemEngineConfig(
        worker=worker, embeddings=None, vector_search="exact", consolidate_at=None
    )
    with MemoryEngine.open(tmp_path, config=config) as engine:
        assert not engine._worker_thread.is_running
        put(engine)
        assert engine._worker_thread.is_running == is_running
    with make_engine(tmp_path) as engine:
        put(engine, run_at=FixedClock(START.replace(year=2999)).now)
    with MemoryEngine.open(tmp_path, config=config) as engine:
        assert engine._worker_thread.is_running == is_running


@pytest.mark.parametrize("maintains", [True, False])
def test_an_engine_that_only_works_leaves_the_index_files_to_others(tmp_path, maintains):
    lock = IndexLock(tmp_path / ".memengine")
    with make_engine(tmp_path, maintain_indexes=maintains):
        if maintains:
            with pytest.raises(StoreLockedError):
                lock.acquire()
        else:
            lock.acquire()
            lock.release()


def test_progress_counts_attempts_and_what_waits():
    with make_engine() as engine:
        for _ in range(3):
            put(engine)
        told = []
        engine.run_jobs(2, progress=lambda done, total: told.append((done, total)))
        assert told == [(1, 3), (2, 3)]
        outcomes = []
        engine.run_jobs(on_outcome=lambda _, outcome: outcomes.append(outcome), progress=True)
        assert outcomes == ["done"]
