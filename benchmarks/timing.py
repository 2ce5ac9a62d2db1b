"""Interleaved CPU timing: callables in turn, so that all see the same machine."""

from __future__ import annotations

import gc
import json
import resource
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from typing import Any

import numpy as np

WARM_UP = 25
"""Queries that every contestant answers before the clock counts."""


def interleaved(
    contestants: Mapping[str, Callable[[str], object]], queries: Sequence[str], turn: int = 10
) -> dict[str, dict[str, float]]:
    """Return p50 and p99 in CPU milliseconds of each contestant over the queries.

    The contestants take turns, so that all see the same machine. How long a turn is decides what
    is in the processor's caches: an application runs one retriever and finds its data there, as
    most queries of a long turn do. With turns of 1 every query comes after one of each other
    contestant, which has put its own data there: the strictest reading.

    Args:
        contestants: What answers a query, by name.
        queries: The first 25 warm up and are not counted.
        turn: Queries that a contestant answers in a row.

    Raises:
        SystemExit: All of the queries would warm up.
    """
    if len(queries) <= WARM_UP:
        sys.exit(f"{len(queries)} queries are too few: the first {WARM_UP} only warm up.")
    times: dict[str, list[float]] = {name: [] for name in contestants}
    gc.collect()
    for start in range(0, len(queries), turn):
        for name, ask in contestants.items():
            for number, query in enumerate(queries[start : start + turn], start):
                started = time.process_time_ns()
                ask(query)
                if number >= WARM_UP:
                    times[name].append((time.process_time_ns() - started) / 1e6)
    return {
        name: {"p50_ms": float(np.median(each)), "p99_ms": float(np.percentile(each, 99))}
        for name, each in times.items()
    }


def cpu_seconds(work: Callable[[], object]) -> float:
    """Return the processor time of some work, all threads together."""
    started = time.process_time()
    work()
    return time.process_time() - started


class Stages:
    """Books processor time on stages by wrapping the functions that do the work.

    Time in a wrapped function that another one calls is the inner one's alone.

    Attributes:
        seconds: By stage, in the order in which they were first named.
    """

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._last = 0.0
        self._running: list[str] = []

    def book(self, stage: str, owner: object, name: str) -> None:
        """Wrap the function of this name, here and wherever it is looked up in ``owner``."""
        work = getattr(owner, name)
        self.seconds.setdefault(stage, 0.0)

        @wraps(work)
        def timed(*args: object, **kwargs: object) -> object:
            self._pass_to(stage)
            try:
                return work(*args, **kwargs)
            finally:
                self._pass_back()

        setattr(owner, name, timed)

    def _pass_to(self, stage: str) -> None:
        self._lap()
        self._running.append(stage)

    def _pass_back(self) -> None:
        self._lap()
        self._running.pop()

    def _lap(self) -> None:
        now = time.process_time()
        if self._running:
            self.seconds[self._running[-1]] += now - self._last
        self._last = now


def resident_mb() -> float:
    """Return the highest resident memory of this process so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def report(result: Mapping[str, Any], *, as_json: bool) -> None:
    """Print a result as JSON or as lines of text."""
    if as_json:
        print(json.dumps(result, indent=2))
        return
    for key, value in result.items():
        if isinstance(value, Mapping):
            numbers = "  ".join(f"{name} {number:.3f}" for name, number in value.items())
            print(f"{key:<24} {numbers}")
        else:
            print(f"{key:<24} {value}")
