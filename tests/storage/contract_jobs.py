"""What every database must do with jobs and schedules."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from sqlalchemy import update

from langchain_memengine.errors import (
    ConfigurationError,
    JobError,
    NotFoundError,
    UnknownJobKindError,
)
from langchain_memengine.storage import job_rows, jobs, schedules
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.job_schema import jobs as job_table
from langchain_memengine.storage.job_values import JOB_KINDS, Job, NewJob
from langchain_memengine.storage.schedules import Schedule
from tests.storage.contract import NOW

LEASE = 30.0
EMBED = NewJob("embed")
NIGHTLY = Schedule("consolidate", "memory_consolidate", "03:00", "Europe/Berlin", {"days": 7})


def after(seconds: float) -> datetime:
    return NOW + timedelta(seconds=seconds)


def put(database: Database, new: NewJob = EMBED, *, now: datetime = NOW) -> int | None:
    with database.write() as tx:
        return jobs.put(tx, new, now=now)


def claim(
    database: Database,
    *,
    now: datetime = NOW,
    by: str = "worker",
    kinds: tuple[str, ...] = JOB_KINDS,
) -> Job | None:
    with database.write() as tx:
        return jobs.claim(tx, kinds, now=now, lease_seconds=LEASE, token=by)


def finish(database: Database, job: Job, *, now: datetime = NOW) -> bool:
    with database.write() as tx:
        return jobs.finish(tx, job, now=now)


def fail(database: Database, job: Job, wait: float | None = 10.0, *, now: datetime = NOW):
    with database.write() as tx:
        return jobs.fail(tx, job, "it broke", now=now, wait_seconds=wait)


def bury(database: Database, *, now: datetime) -> list[int]:
    with database.write() as tx:
        return [job.num for job in jobs.bury_abandoned(tx, JOB_KINDS, now=now)]


def get(database: Database, num: int) -> Job:
    with database.read() as tx:
        return job_rows.get(tx, num)


def counts(database: Database) -> dict[tuple[str, str], int]:
    with database.read() as tx:
        return job_rows.counts(tx)


class JobContract:
    """Job rows."""

    def test_a_job_comes_back_as_it_was_put(self, database):
        new = NewJob(
            "fact_extract",
            {"text": "naïve \ud800\0 😀", "nan": float("nan")},
            dedupe_key="key",
            max_attempts=3,
            owner="anna",
            thread_id="thread",
            commit_id="commit",
        )
        job = get(database, put(database, new))
        assert job.payload == {"text": "naïve \ufffd 😀", "nan": None}
        assert (job.kind, job.state, job.attempts, job.max_attempts) == (
            "fact_extract",
            "ready",
            0,
            3,
        )
        assert (job.owner, job.thread_id, job.commit_id) == ("anna", "thread", "commit")
        assert (job.dedupe_key, job.run_at, job.created_at) == ("key", NOW, NOW)
        assert (job.lease_until, job.token, job.error, job.finished_at) == (None,) * 4

    def test_a_job_is_put_with_its_transaction_or_not_at_all(self, database):
        def broken():
            with database.write() as tx:
                jobs.put(tx, EMBED, now=NOW)
                raise RuntimeError("power cut")

        with pytest.raises(RuntimeError, match="power cut"):
            broken()
        assert counts(database) == {}

    def test_whoever_waits_is_told_after_the_commit(self, database):
        seen = []
        database.on_queued_jobs = lambda: seen.append(counts(database))
        put(database, NewJob("embed", dedupe_key="one"))
        put(database, NewJob("embed", dedupe_key="one"))
        assert seen == [{("ready", "embed"): 1}]

    def test_what_can_never_be_done_is_refused(self, database):
        with pytest.raises(UnknownJobKindError, match="of kind 'embbed'"):
            put(database, NewJob("embbed"))
        with pytest.raises(ConfigurationError, match="256 characters"):
            put(database, NewJob("embed", dedupe_key="k" * 256))
        with pytest.raises(ConfigurationError):
            put(database, NewJob("embed", {"object": object()}))

    def test_one_key_is_queued_once_until_its_job_is_finished(self, database):
        keyed = NewJob("embed", dedupe_key="all")
        first = put(database, keyed)
        assert put(database, keyed) is None
        job = claim(database)
        assert put(database, keyed) is None
        assert finish(database, job)
        second = put(database, keyed)
        assert second > first
        assert get(database, first).dedupe_key == "all"

    def test_jobs_without_a_key_are_all_queued(self, database):
        assert len({put(database), put(database), put(database)}) == 3

    @pytest.mark.parametrize("end", ["done", "dead", "cancelled"])
    def test_a_key_that_is_kept_is_never_queued_again(self, database, end):
        keyed = NewJob("embed", dedupe_key="nightly:2026-05-19", keeps_key=True)
        num = put(database, keyed)
        job = claim(database)
        with database.write() as tx:
            if end == "done":
                jobs.finish(tx, job, now=NOW)
            elif end == "dead":
                jobs.fail(tx, job, "no", now=NOW, wait_seconds=None)
            else:
                jobs.cancel(tx, num, now=NOW)
            jobs.prune(tx, before=after(1))
        assert get(database, num).state == end
        assert put(database, keyed) is None

    def test_jobs_are_claimed_by_their_time_and_then_their_number(self, database):
        late = put(database, NewJob("embed", run_at=after(5)))
        second = put(database, NewJob("embed", run_at=after(2)))
        third = put(database, NewJob("embed", run_at=after(2)))
        first = put(database)
        assert claim(database).num == first
        assert claim(database) is None
        assert [claim(database, now=after(5)).num for _ in range(3)] == [second, third, late]

    def test_a_claim_takes_only_kinds_the_worker_knows(self, database):
        put(database, NewJob("graph_sync"))
        assert claim(database, kinds=("embed",)) is None
        assert claim(database, kinds=()) is None
        assert claim(database, kinds=("embed", "graph_sync")).kind == "graph_sync"

    def test_a_claimed_job_is_one_workers_until_its_lease_runs_out(self, database):
        put(database)
        job = claim(database, by="one")
        assert (job.state, job.attempts, job.lease_until) == ("running", 1, after(LEASE))
        assert claim(database, now=after(LEASE - 0.001)) is None
        again = claim(database, now=after(LEASE), by="two")
        assert (again.num, again.attempts, again.token) == (job.num, 2, "two")

    def test_a_heartbeat_prolongs_the_lease(self, database):
        put(database)
        job = claim(database)
        with database.write() as tx:
            assert jobs.heartbeat(tx, job, now=after(20), lease_seconds=LEASE)
        assert claim(database, now=after(49)) is None
        assert claim(database, now=after(50), by="two") is not None

    def test_a_worker_that_was_taken_for_dead_changes_nothing(self, database):
        num = put(database)
        stale = claim(database, by="one")
        fresh = claim(database, now=after(LEASE), by="two")
        with database.write() as tx:
            assert not jobs.heartbeat(tx, stale, now=after(LEASE), lease_seconds=LEASE)
            assert not jobs.finish(tx, stale, now=after(LEASE))
            assert jobs.fail(tx, stale, "x", now=after(LEASE), wait_seconds=1) is None
            assert not jobs.give_back(tx, stale)
        assert get(database, num) == fresh
        assert finish(database, fresh)
        assert not finish(database, fresh)

    def test_what_a_job_changes_and_its_end_are_one(self, database):
        num = put(database)
        job = claim(database)

        def broken():
            with database.write() as tx:
                assert jobs.finish(tx, job, now=NOW)
                tx.set_meta("effect", "1")
                raise RuntimeError("power cut")

        with pytest.raises(RuntimeError, match="power cut"):
            broken()
        assert get(database, num).state == "running"
        with database.read() as tx:
            assert tx.get_meta("effect") is None

    def test_a_failed_job_waits_and_dies_after_its_last_attempt(self, database):
        num = put(database, replace(EMBED, max_attempts=2))
        assert fail(database, claim(database)) == "ready"
        job = get(database, num)
        assert (job.run_at, job.error, job.token, job.attempts) == (after(10), "it broke", None, 1)
        assert claim(database, now=after(9)) is None
        assert fail(database, claim(database, now=after(10)), now=after(10)) == "dead"
        dead = get(database, num)
        assert (dead.state, dead.error, dead.finished_at) == ("dead", "it broke", after(10))
        assert claim(database, now=after(9999)) is None

    def test_a_hopeless_job_dies_at_once(self, database):
        put(database)
        assert fail(database, claim(database), None) == "dead"

    def test_the_error_is_stored_as_far_as_it_can_be(self, database):
        num = put(database)
        job = claim(database)
        with database.write() as tx:
            jobs.fail(tx, job, "\0\ud800" + "x" * 9999, now=NOW, wait_seconds=None)
        assert get(database, num).error == "\ufffd" + "x" * 1999

    def test_a_job_that_kills_its_worker_each_time_dies_too(self, database):
        num = put(database, replace(EMBED, max_attempts=2))
        claim(database)
        assert bury(database, now=after(30)) == []
        claim(database, now=after(30))
        assert bury(database, now=after(59)) == []
        assert claim(database, now=after(60)) is None
        assert bury(database, now=after(60)) == [num]
        assert "worker died" in get(database, num).error

    def test_a_job_that_is_given_back_was_never_tried(self, database):
        num = put(database)
        claimed = claim(database)
        with database.write() as tx:
            assert jobs.give_back(tx, claimed)
        job = get(database, num)
        assert (job.state, job.attempts, job.token, job.run_at) == ("ready", 0, None, NOW)

    def test_a_cancelled_job_is_not_done_and_its_worker_keeps_nothing(self, database):
        waiting, running = put(database), put(database)
        with database.write() as tx:
            jobs.cancel(tx, waiting, now=NOW)
        job = claim(database)
        assert job.num == running
        with database.write() as tx:
            jobs.cancel(tx, running, now=NOW)
        assert not finish(database, job)
        assert counts(database) == {("cancelled", "embed"): 2}
        with database.write() as tx, pytest.raises(JobError, match="is cancelled"):
            jobs.cancel(tx, running, now=NOW)

    def test_a_dead_job_is_tried_again_when_asked(self, database):
        num = put(database, NewJob("embed", dedupe_key="all", max_attempts=1))
        with database.write() as tx, pytest.raises(JobError, match="only a dead job"):
            jobs.retry(tx, num, now=NOW)
        fail(database, claim(database))
        with database.write() as tx:
            jobs.retry(tx, num, now=after(60))
        job = get(database, num)
        assert (job.state, job.attempts, job.run_at, job.finished_at) == (
            "ready",
            0,
            after(60),
            None,
        )
        assert put(database, NewJob("embed", dedupe_key="all")) is None

    def test_a_dead_job_is_not_tried_again_beside_a_later_one_that_does_the_same(self, database):
        keyed = NewJob("embed", dedupe_key="all")
        dead = put(database, keyed)
        fail(database, claim(database), None)
        later = put(database, keyed)
        with database.write() as tx, pytest.raises(JobError, match=f"Job {later} does the same"):
            jobs.retry(tx, dead, now=NOW)

    def test_jobs_that_are_not_there_are_not_found(self, database):
        for change in (jobs.cancel, jobs.retry):
            with database.write() as tx, pytest.raises(NotFoundError, match="no job 99"):
                change(tx, 99, now=NOW)

    def test_a_waiting_job_is_settled_and_a_running_one_is_not(self, database):
        keyed = NewJob("embed", dedupe_key="all")
        put(database, keyed)
        with database.write() as tx:
            assert jobs.settle(tx, "all", now=NOW)
            assert not jobs.settle(tx, "all", now=NOW)
        put(database, keyed)
        claim(database)
        with database.write() as tx:
            assert not jobs.settle(tx, "all", now=NOW)

    def test_the_latest_jobs_come_first(self, database):
        nums = [put(database) for _ in range(3)]
        fail(database, claim(database), None)
        with database.read() as tx:
            assert [job.num for job in job_rows.latest(tx, limit=2)] == [nums[2], nums[1]]
            assert [job.num for job in job_rows.latest(tx, "dead", limit=9)] == [nums[0]]

    def test_next_due_is_when_a_worker_has_something_to_look_at(self, database):
        def due(kinds=JOB_KINDS):
            with database.read() as tx:
                return job_rows.next_due(tx, kinds)

        assert due() is None
        put(database, NewJob("embed", run_at=after(40)))
        assert due() == after(40)
        put(database)
        assert due() == NOW
        job = claim(database)
        assert due() == after(LEASE)
        finish(database, job)
        assert due() == after(40)
        assert due(("graph_sync",)) is None

    def test_old_jobs_are_pruned_and_dead_ones_stay(self, database):
        done, dead, waiting = put(database), put(database), put(database)
        finish(database, claim(database))
        fail(database, claim(database), None)
        with database.write() as tx:
            assert jobs.prune(tx, before=NOW) == 0
            assert jobs.prune(tx, before=after(1)) == 1
        with database.read() as tx:
            assert [job.num for job in job_rows.latest(tx, limit=9)] == [waiting, dead]
        with pytest.raises(NotFoundError):
            get(database, done)

    def test_a_number_is_never_used_twice(self, database):
        num = put(database)
        finish(database, claim(database))
        with database.write() as tx:
            jobs.prune(tx, before=after(1))
        assert put(database) > num

    def test_a_damaged_payload_is_told_when_it_is_read(self, database):
        num = put(database)
        for payload in ('{"a": ', "[1]"):
            with database.write() as tx:
                tx.connection.execute(update(job_table).values(payload=payload))
            with pytest.raises(JobError, match=f"job {num} is damaged"):
                get(database, num).payload  # noqa: B018  # reading it is the test


class ScheduleContract:
    """Schedules: one job a local day, whatever clocks and workers do."""

    def ensure(self, database, schedule=NIGHTLY, *, now=NOW):
        with database.write() as tx:
            schedules.ensure_schedule(tx, schedule, now=now)

    def due(self, database, now):
        with database.write() as tx:
            return [job_rows.get(tx, num) for num in schedules.put_due(tx, now=now)]

    def upcoming(self, database):
        with database.read() as tx:
            return schedules.next_scheduled(tx)

    def test_a_job_is_put_when_its_time_has_come(self, database):
        self.ensure(database)  # 12:00 UTC on 19 May
        run = datetime(2026, 5, 20, 1, 0, tzinfo=UTC)  # 03:00 in Berlin
        assert self.upcoming(database) == run
        assert self.due(database, run - timedelta(seconds=1)) == []
        (job,) = self.due(database, run)
        assert (job.kind, job.payload, job.run_at) == ("memory_consolidate", {"days": 7}, run)
        assert job.dedupe_key == "consolidate:2026-05-20"
        assert self.due(database, run) == []
        assert self.upcoming(database) == run + timedelta(days=1)

    def test_missed_runs_become_one(self, database):
        self.ensure(database)
        (job,) = self.due(database, NOW + timedelta(days=5))
        assert job.dedupe_key == "consolidate:2026-05-24"
        assert self.upcoming(database) == datetime(2026, 5, 25, 1, 0, tzinfo=UTC)

    def test_a_day_has_one_run_even_if_the_clock_is_set_back(self, database):
        self.ensure(database)
        run = datetime(2026, 5, 20, 1, 0, tzinfo=UTC)
        assert len(self.due(database, run)) == 1
        finish(database, claim(database, now=run), now=run)
        # As if another machine, whose clock is behind, made the schedule again.
        self.ensure(database, replace(NIGHTLY, at="03:01"), now=run - timedelta(hours=1))
        assert self.due(database, run + timedelta(minutes=2)) == []
        assert len(self.due(database, run + timedelta(days=1, minutes=2))) == 1

    def test_making_it_again_keeps_a_missed_run_and_takes_what_changed(self, database):
        self.ensure(database)
        later = NOW + timedelta(days=3)
        self.ensure(database, replace(NIGHTLY, payload={"days": 9}), now=later)
        (job,) = self.due(database, later)
        assert job.payload == {"days": 9}
        self.ensure(database, replace(NIGHTLY, at="04:00"), now=later)
        assert self.upcoming(database) == datetime(2026, 5, 23, 2, 0, tzinfo=UTC)

    def test_a_disabled_one_puts_nothing(self, database):
        self.ensure(database, replace(NIGHTLY, enabled=False))
        assert self.upcoming(database) is None
        assert self.due(database, NOW + timedelta(days=2)) == []

    def test_what_cannot_be_is_refused(self, database):
        for wrong in ({"at": "25:00"}, {"at": "3 am"}, {"timezone": "Berlin"}, {"timezone": ""}):
            with pytest.raises(ConfigurationError):
                self.ensure(database, replace(NIGHTLY, **wrong))


@dataclass
class ModelJob:
    """What is true of a job, as far as the history says."""

    key: str | None
    run_at: float
    max_attempts: int
    state: str = "ready"
    attempts: int = 0
    token: str | None = None
    lease_until: float = 0.0


class JobMachine(RuleBasedStateMachine):
    """Any history of workers that claim, crash (a lease runs out), come back late and finish."""

    def __init__(self, fresh: Callable[[], Database]):
        super().__init__()
        self.database = fresh()
        self.model: dict[int, ModelJob] = {}
        self.claimed: list[Job] = []  # what workers believe to have; many are wrong
        self.seconds = 0.0
        self.tokens = 0

    def teardown(self):
        self.database.close()

    @initialize(delays=st.lists(st.sampled_from([0.0, 2.0, 4.0]), min_size=3, max_size=3))
    def begin(self, delays):
        for delay in delays:
            self.put(None, delay, 3)
        self.seconds = 5.0

    @property
    def now(self) -> datetime:
        return after(self.seconds)

    def open_keys(self) -> set[str | None]:
        return {job.key for job in self.model.values() if job.state in {"ready", "running"}} - {
            None
        }

    def owns(self, job: Job) -> bool:
        known = self.model[job.num]
        return known.state == "running" and known.token == job.token

    @rule(
        key=st.sampled_from([None, None, "a", "b"]),
        delay=st.sampled_from([0.0, 0.0, 5.0]),
        attempts=st.integers(1, 3),
    )
    def put_one(self, key, delay, attempts):
        self.put(key, delay, attempts)

    def put(self, key, delay, attempts):
        is_taken = key in self.open_keys()
        new = NewJob(
            "embed", dedupe_key=key, run_at=after(self.seconds + delay), max_attempts=attempts
        )
        num = put(self.database, new, now=self.now)
        assert (num is None) == is_taken
        if num is not None:
            assert num > max(self.model, default=0)
            self.model[num] = ModelJob(key, self.seconds + delay, attempts)

    @rule(crashed=st.booleans())
    def claim(self, crashed):
        if crashed:  # whoever has a job now is not heard of for the length of a lease
            self.seconds += LEASE
        abandoned = {
            num: job
            for num, job in self.model.items()
            if job.state == "running" and job.lease_until <= self.seconds
        }
        hopeless = {n for n, job in abandoned.items() if job.attempts >= job.max_attempts}
        assert set(bury(self.database, now=self.now)) == hopeless
        for num in hopeless:
            self.model[num].state = "dead"
        waiting = [
            (job.run_at, num)
            for num, job in self.model.items()
            if (job.state == "ready" and job.run_at <= self.seconds)
            or num in abandoned.keys() - hopeless
        ]
        self.tokens += 1
        job = claim(self.database, now=self.now, by=str(self.tokens))
        assert (job.num if job else None) == (min(waiting)[1] if waiting else None)
        if job is not None:
            known = self.model[job.num]
            known.state, known.token, known.attempts = "running", job.token, known.attempts + 1
            known.lease_until = self.seconds + LEASE
            assert job.attempts == known.attempts <= known.max_attempts
            self.claimed.append(job)

    @precondition(lambda self: self.claimed)
    @rule(data=st.data())
    def heartbeat(self, data):
        job = data.draw(st.sampled_from(self.claimed))
        with self.database.write() as tx:
            kept = jobs.heartbeat(tx, job, now=self.now, lease_seconds=LEASE)
        assert kept == self.owns(job)
        if kept:
            self.model[job.num].lease_until = self.seconds + LEASE

    @precondition(lambda self: self.claimed)
    @rule(data=st.data())
    def finish(self, data):
        job = data.draw(st.sampled_from(self.claimed))
        with self.database.write() as tx:
            done = jobs.finish(tx, job, now=self.now)
            if done:
                tx.set_meta(f"effect {job.num}", (tx.get_meta(f"effect {job.num}") or "") + "x")
        assert done == self.owns(job)
        if done:
            self.model[job.num].state = "done"

    @precondition(lambda self: self.claimed)
    @rule(data=st.data(), wait=st.sampled_from([None, 1.0, 60.0]))
    def fail(self, data, wait):
        job = data.draw(st.sampled_from(self.claimed))
        state = fail(self.database, job, wait, now=self.now)
        assert (state is not None) == self.owns(job)
        if state is not None:
            known = self.model[job.num]
            is_last = wait is None or known.attempts >= known.max_attempts
            known.state = "dead" if is_last else "ready"
            assert state == known.state
            if not is_last:
                known.run_at = self.seconds + wait

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def cancel(self, data):
        num = data.draw(st.sampled_from(sorted(self.model)))
        with self.database.write() as tx:
            if self.model[num].state in {"done", "cancelled"}:
                with pytest.raises(JobError):
                    jobs.cancel(tx, num, now=self.now)
                return
            jobs.cancel(tx, num, now=self.now)
        self.model[num].state = "cancelled"

    @precondition(lambda self: self.model)
    @rule(data=st.data())
    def retry(self, data):
        num = data.draw(st.sampled_from(sorted(self.model)))
        known = self.model[num]
        with self.database.write() as tx:
            if known.state != "dead" or known.key in self.open_keys():
                with pytest.raises(JobError):
                    jobs.retry(tx, num, now=self.now)
                return
            jobs.retry(tx, num, now=self.now)
        known.state, known.attempts, known.run_at = "ready", 0, self.seconds

    @rule(seconds=st.sampled_from([1.0, 10.0, 100.0]))
    def time_passes(self, seconds):
        self.seconds += seconds

    @invariant()
    def every_job_is_there_and_has_had_its_effect_at_most_once(self):
        with self.database.read() as tx:
            stored = job_rows.latest(tx, limit=999)
            effects = {num: tx.get_meta(f"effect {num}") for num in self.model}
        assert {job.num: job.state for job in stored} == {
            num: job.state for num, job in self.model.items()
        }
        assert effects == {
            num: "x" if job.state == "done" else None for num, job in self.model.items()
        }


class JobHistoryContract:
    """What holds after any history."""

    def test_no_job_is_lost_or_done_twice_in_any_history(self, fresh, histories):
        run_state_machine_as_test(
            lambda: JobMachine(fresh),
            settings=settings(max_examples=histories, stateful_step_count=25, deadline=None),
        )
