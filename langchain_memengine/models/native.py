"""Calls into native code, which must not be in hand when Python ends.

A thread that comes back from a library of C++ or Rust to a Python that is gone is ended by force,
and the library then aborts the process: an application that did all its work ends with an error.
So the end waits for calls in hand, which are short, and lets other threads begin none.
"""

from __future__ import annotations

import atexit
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

END_SECONDS = 10.0
"""Wait of the end, at most, for a library that hangs."""

_change = threading.Condition()
_in_hand = 0
_is_over = False


@contextmanager
def native_call() -> Iterator[None]:
    """Let the end of the process wait for this block, which should take a second at most.

    Once the process ends, a thread of the background never gets into it: nobody waits for that.
    """
    global _in_hand  # noqa: PLW0603  # there is one process
    with _change:
        while _is_over and threading.current_thread() is not threading.main_thread():
            _change.wait()
        _in_hand += 1
    try:
        yield
    finally:
        with _change:
            _in_hand -= 1
            _change.notify_all()


def _end() -> None:
    global _is_over  # noqa: PLW0603  # as above
    with _change:
        _is_over = True
        _change.wait_for(lambda: _in_hand == 0, END_SECONDS)


def _begin_anew() -> None:
    """Forget in a forked process what the threads of the first one have in hand."""
    global _change, _in_hand  # as above
    _change, _in_hand = threading.Condition(), 0


atexit.register(_end)
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_begin_anew)
