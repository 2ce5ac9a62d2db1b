"""End a command that waits when somebody asks for it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def stopped_by_signals() -> Iterator[threading.Event]:
    """Yield an event that Ctrl+C or a termination sets; a second Ctrl+C ends at once."""
    stop = threading.Event()
    before = {one: signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)}

    def on_signal(_number: int, _frame: object) -> None:
        stop.set()
        signal.signal(signal.SIGINT, signal.default_int_handler)

    for one in before:
        signal.signal(one, on_signal)
    try:
        yield stop
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)
