"""The jobs that let the graph follow the memory, as those who change the memory put them."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from langchain_memengine.storage.job_values import NewJob

SYNC_KEY = "graph_sync"

ATTEMPTS = 20
"""With the default back-off that outlasts an outage of the model of an hour and a half."""

MEMORIES = "memories"
"""Name in the payload: ids of chunks, or URIs of texts. Their words do not stay in the job."""


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
    told = hashlib.sha256("\0".join(memories).encode()).hexdigest()
    return NewJob(
        "graph_extract",
        {MEMORIES: list(memories)},
        dedupe_key=f"graph_extract:{told}",
        max_attempts=ATTEMPTS,
        owner=owner,
        thread_id=thread_id,
        commit_id=commit_id,
    )
