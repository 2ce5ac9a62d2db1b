"""A lease that is prolonged while work goes on; every wait here ends by an event."""

import threading

from langchain_memengine.errors import StoreBusyError
from langchain_memengine.jobs.lease import kept_alive

SOON = 0.003
LONG = 20.0


def test_it_is_prolonged_again_and_again():
    beats = threading.Semaphore(0)

    def beat():
        beats.release()
        return True

    with kept_alive(beat, lease_seconds=SOON, name="job 1") as is_lost:
        assert all(beats.acquire(timeout=LONG) for _ in range(3))
        assert not is_lost()


def test_a_busy_database_is_asked_again(caplog):
    answers = [StoreBusyError("busy"), True]
    answered = threading.Event()

    def beat():
        answer = answers.pop(0) if answers else True
        if isinstance(answer, Exception):
            raise answer
        answered.set()
        return True

    with kept_alive(beat, lease_seconds=SOON, name="job 1") as is_lost:
        assert answered.wait(LONG)
        assert not is_lost()
    assert "no sign of life for job 1" in caplog.text


def test_a_lost_lease_is_told_and_no_more_asked_for():
    asked = []
    tried = threading.Event()

    def beat():
        asked.append(1)
        tried.set()
        return False

    with kept_alive(beat, lease_seconds=SOON, name="job 1") as is_lost:
        assert tried.wait(LONG)
    assert is_lost()
    assert asked == [1]


def test_short_work_needs_no_sign_of_life():
    asked = []
    with kept_alive(lambda: bool(asked.append(1)), lease_seconds=LONG, name="job 1"):
        pass
    assert asked == []
