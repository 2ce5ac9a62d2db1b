"""Keep a job while it is being done."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from langchain_memengine.errors import StorageError

logger = logging.getLogger(__name__)

BEATS_IN_A_LEASE = 3


@contextmanager
def kept_alive(
    beat: Callable[[], bool], *, lease_seconds: float, name: str
) -> Iterator[Callable[[], bool]]:
    """Prolong a lease from a thread while the block runs.

    Yields a function that tells whether the lease was lost, so that a long block can stop early.

    Args:
        beat: Prolongs the lease once; returns whether there was one to prolong.
        lease_seconds: How long a lease lasts.
        name: What the log calls it.
    """
    over, lost = threading.Event(), threading.Event()

    def beat_until_over() -> None:
        while not (lost.is_set() or over.wait(lease_seconds / BEATS_IN_A_LEASE)):
            try:
                if not beat():
                    lost.set()
            except StorageError as error:  # there are more beats than a lease needs
                logger.warning("no sign of life for %s: %s", name, error)

    thread = threading.Thread(target=beat_until_over, name=f"memengine {name}", daemon=True)
    thread.start()
    try:
        yield lost.is_set
    finally:
        over.set()
        thread.join()
