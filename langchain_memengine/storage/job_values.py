"""The values around the job table: what is put, what a worker gets, what it gives back."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, get_args

from langchain_memengine.errors import JobError
from langchain_memengine.shown import Shown
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.types import Metadata

JobState = Literal["ready", "running", "done", "dead", "cancelled"]
"""Where a job stands: a failed one is ``ready`` again, and ``dead`` after its last attempt."""

JobKind = Literal[
    "fact_extract",
    "graph_extract",
    "graph_sync",
    "memory_consolidate",
    "belief_revision",
    "embed",
    "auto_learn_error",
]
"""What there is to do. ``auto_learn_error`` is no longer put; old rows drain without effect."""

JOB_STATES: tuple[JobState, ...] = get_args(JobState)
JOB_KINDS: tuple[str, ...] = get_args(JobKind)

Effect = Callable[[Transaction], None]
"""What a job changes in the database, applied in the transaction that marks it done."""


@dataclass(frozen=True, slots=True)
class NewJob:
    """A job to put.

    Attributes:
        kind: What is to be done.
        payload: JSON-able values for the handler.
        dedupe_key: No second job with this key is queued while one is not finished.
        keeps_key: The key stays taken for good, also when the job is finished.
        run_at: Not run before this time (aware); ``None`` is at once.
        max_attempts: After so many failures or crashes the job is dead.
        owner: Folder name of the user it is about, ``""`` for nobody's.
        thread_id: Conversation it is about, if any.
        commit_id: Memory commit it is about, if any.
    """

    kind: JobKind
    payload: Metadata = field(default_factory=dict)
    dedupe_key: str | None = None
    keeps_key: bool = False
    run_at: datetime | None = None
    max_attempts: int = 5
    owner: str = ""
    thread_id: str | None = None
    commit_id: str | None = None


@dataclass(frozen=True, slots=True)
class Job(Shown):
    """A job as it was when it was read.

    Attributes:
        num: Its number; grows, never used twice.
        kind: What is to be done; a newer release may know more kinds than :data:`JobKind`.
        payload_json: The payload as it is stored.
        state: Where it stands.
        attempts: How often it was begun.
        max_attempts: After so many failures or crashes it is dead.
        run_at: Not run before this time.
        dedupe_key: What kept a second one from being queued.
        lease_until: Until when its worker has it to itself; ``None`` unless running.
        token: Proof of its worker that it still has the job; ``None`` unless running.
        error: What went wrong last.
        owner: Folder name of the user it is about, ``""`` for nobody's.
        thread_id: Conversation it is about, if any.
        commit_id: Memory commit it is about, if any.
        created_at: When it was put.
        finished_at: When it was done, died or was cancelled.
    """

    num: int
    kind: str
    payload_json: str = field(repr=False)  # it may hold memory text, which no log may show
    state: JobState
    attempts: int
    max_attempts: int
    run_at: datetime
    dedupe_key: str | None
    lease_until: datetime | None
    token: str | None = field(repr=False)
    error: str | None = field(repr=False)
    owner: str
    thread_id: str | None
    commit_id: str | None
    created_at: datetime
    finished_at: datetime | None

    @property
    def payload(self) -> dict[str, Any]:
        """The values for its handler.

        Raises:
            JobError: The stored payload is no JSON object.
        """
        try:
            loaded = json.loads(self.payload_json)
        except ValueError as error:
            raise JobError(f"The payload of job {self.num} is damaged: it is no JSON.") from error
        if not isinstance(loaded, dict):
            raise JobError(f"The payload of job {self.num} is damaged: it is no JSON object.")
        return loaded


@dataclass(frozen=True, slots=True)
class JobContext:
    """What a handler may know about its attempt.

    Attributes:
        now: When the attempt began, to the millisecond: what is stored with it comes back equal.
        is_given_up: Tells a long handler whether to stop: the job was cancelled or is another
            worker's now, and nothing of this attempt will be kept.
    """

    now: datetime
    is_given_up: Callable[[], bool]


Handler = Callable[[Job, JobContext], Effect | None]
"""Does a job and returns what to change. It may be called again for the same job, after a crash;
the effect is applied once. No transaction is open while it runs."""


@dataclass(frozen=True, slots=True)
class BackOff:
    """How long a job that failed waits: exponentially longer, and never all at the same time.

    Attributes:
        base_seconds: Wait after the first failure, at most.
        cap_seconds: Wait after any failure, at most.
    """

    base_seconds: float = 1.0
    cap_seconds: float = 600.0

    def seconds(self, attempts: int, chance: float) -> float:
        """Return the wait after this many attempts, between half of the longest one and all of it.

        Args:
            attempts: How often the job was begun, from 1.
            chance: A random number from 0 to 1.
        """
        longest = min(self.cap_seconds, self.base_seconds * 2.0 ** min(attempts - 1, 60))
        return longest * (0.5 + chance / 2)


DEFAULT_BACK_OFF = BackOff()
