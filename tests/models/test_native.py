"""The end of the process waits for calls in hand, and lets the background begin none."""

import threading

import pytest

from langchain_memengine.models import native
from langchain_memengine.models.native import native_call


class Telling(threading.Condition):
    """Tells when somebody begins to wait."""

    def __init__(self):
        super().__init__()
        self.waits = threading.Event()

    def wait(self, timeout=None):
        self.waits.set()
        return super().wait(timeout)


@pytest.fixture(autouse=True)
def change(monkeypatch):
    """Leave nothing of an end behind that was only played."""
    monkeypatch.setattr(native, "_change", Telling())
    monkeypatch.setattr(native, "_in_hand", 0)
    monkeypatch.setattr(native, "_is_over", False)
    return native._change


def in_background(work):
    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def test_the_end_waits_for_a_call_in_hand(change):
    begun, may_return, ended = threading.Event(), threading.Event(), []

    def call():
        with native_call():
            begun.set()
            may_return.wait()
            ended.append("call")

    def end():
        native._end()
        ended.append("process")

    caller = in_background(call)
    begun.wait()
    ender = in_background(end)
    change.waits.wait()
    may_return.set()
    for thread in (caller, ender):
        thread.join()
    assert ended == ["call", "process"]


def test_after_the_end_only_the_main_thread_calls(change):
    native._end()
    called = []

    def call():
        with native_call():
            called.append(1)

    call()
    thread = in_background(call)
    change.waits.wait()
    assert len(called) == 1
    with change:  # let it go: it is no end
        native._is_over = False
        change.notify_all()
    thread.join()
    assert len(called) == 2


def test_a_call_that_fails_is_in_hand_no_more():
    with pytest.raises(ValueError, match="damaged"), native_call():
        raise ValueError("damaged")
    native._end()  # would wait for it


def test_the_end_gives_up_a_call_that_hangs(monkeypatch):
    monkeypatch.setattr(native, "END_SECONDS", 0.0)
    with native_call():
        native._end()


def test_a_forked_process_has_nothing_in_hand():
    with native_call():
        native._begin_anew()
        assert native._in_hand == 0
        native._in_hand = 1
