"""Interleaved CPU timing: callables in turn, so that all see the same machine."""

from __future__ import annotations

import gc
import json
import resource
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

_TURN = 25


def interleaved(
    contestants: Mapping[str, Callable[[str], object]], queries: Sequence[str]
) -> dict[str, dict[str, float]]:
    """Return p50 and p99 in CPU milliseconds of each contestant over the queries.

    The contestants take turns of 25 queries, so that each runs with its own data in the
    processor's caches; the first turn warms up and is not counted.
    """
    times: dict[str, list[float]] = {name: [] for name in contestants}
    gc.collect()
    for start in range(0, len(queries), _TURN):
        for name, ask in contestants.items():
            for query in queries[start : start + _TURN]:
                started = time.process_time_ns()
                ask(query)
                if start:
                    times[name].append((time.process_time_ns() - started) / 1e6)
    return {
        name: {"p50_ms": float(np.median(each)), "p99_ms": float(np.percentile(each, 99))}
        for name, each in times.items()
    }


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
