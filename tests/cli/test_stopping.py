"""A command that waits ends when it is told to, and leaves the signals as they were."""

import signal

import pytest

from langchain_memengine.cli.stopping import stopped_by_signals


@pytest.fixture
def handlers():
    """What becomes of both signals before a test, and after it again."""
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}
    yield before
    for one, handler in before.items():
        signal.signal(one, handler)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_sets_the_event_and_raises_nothing(handlers, number):
    with stopped_by_signals() as stop:
        assert not stop.is_set()
        signal.raise_signal(number)
        assert stop.is_set()


def test_a_second_interrupt_ends_at_once(handlers):
    with stopped_by_signals() as stop:
        signal.raise_signal(signal.SIGINT)
        assert stop.is_set()
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)


def test_signals_are_as_before_also_after_an_error(handlers):
    with pytest.raises(RuntimeError), stopped_by_signals():
        raise RuntimeError
    assert {one: signal.getsignal(one) for one in handlers} == handlers
