"""The jobs that let the graph follow the memory, as those who change the memory put them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence

from langchain_memengine.storage.job_values import NewJob
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.digests import digest

SYNC_KEY = "graph_sync"

ATTEMPTS = 20
"""With the default back-off that outlasts an outage of the model of an hour and a half."""

MEMORIES = "memories"
"""Name in the payload: ids of chunks, or URIs of texts. Their words do not stay in the job."""

_SKIPPED = "graph_skipped"


def sync_job() -> NewJob:
    """Return the job that brings the graph up to date with the memory."""
    return NewJob("graph_sync", dedupe_key=SYNC_KEY, max_attempts=ATTEMPTS)


def extract_job(
    memories: Sequence[str],
    *,
    owner: str = "",
    thread_id: str | None = None,
    commit_id: str | None = None,
) -> NewJob:
    """Return the job that reads memories into the graph; not put twice while it waits."""
    return NewJob(
        "graph_extract",
        {MEMORIES: list(memories)},
        dedupe_key=f"graph_extract:{digest(*memories)}",
        max_attempts=ATTEMPTS,
        owner=owner,
        thread_id=thread_id,
        commit_id=commit_id,
    )


def skipped(tx: Transaction) -> list[str]:
    """Return the ids of the chunks that were not read because they were quarantined, sorted."""
    found: list[str] = json.loads(tx.get_meta(_SKIPPED) or "[]")
    return found


def set_skipped(tx: Transaction, ids: Iterable[str]) -> None:
    """Note which chunks were not read because they are quarantined, in place of those before."""
    new = sorted(set(ids))
    if new != skipped(tx):
        tx.set_meta(_SKIPPED, json.dumps(new))
