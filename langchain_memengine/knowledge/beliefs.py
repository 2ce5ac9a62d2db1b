"""Decide which facts still hold: the jobs of kind ``belief_revision``.

A new fact stands against older ones of the same owner about the same subject. What cannot be
about the same thing is never asked about, so that no model, however careless, can retire it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from langchain_memengine.errors import JobError
from langchain_memengine.knowledge.learnt_facts import is_fact, relation_of, subject_of
from langchain_memengine.models.extracting import Extractor
from langchain_memengine.models.fact_prompts import Verdicts, beliefs_prompt
from langchain_memengine.retrieval.current_records import all_known
from langchain_memengine.retrieval.records import RecordKeeper, taken_over
from langchain_memengine.storage import records
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.job_values import Effect, Job, JobContext
from langchain_memengine.storage.record_values import (
    MemoryRecord,
    RecordFilter,
    RevisionKind,
    Supersession,
)
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.quoting import shared_share, text_key

logger = logging.getLogger(__name__)

MAX_CANDIDATES = 12
"""Older facts in one question, at most, the newest ones."""

SAME_WORDS = 0.6
"""Share of common words from which two facts may be about the same, whatever they call it."""

SAME_MEANING = 0.85
"""Cosine from which they may be, too."""

Similar = Callable[[MemoryRecord, str], Mapping[str, float]]
"""Returns the cosine by id of the facts that are most like one, for a person's eyes."""

Relation = Literal["same", "ask", "unrelated"]


@dataclass(frozen=True, slots=True)
class Retired:
    """That one fact gives way to another.

    Attributes:
        loser: Id of the fact that is no longer current.
        winner: Id of the one that is.
        is_repeated: It says the same again, and contradicts nothing.
    """

    loser: str
    winner: str
    is_repeated: bool


def relation_between(new: MemoryRecord, old: MemoryRecord, cosine: float = 0.0) -> Relation:
    """Return what can be told about two facts without a model.

    The same words about the same are the same. Facts of different owners or subjects are
    unrelated. So are those about different things of one subject, and those of which several can
    be true together, unless they share most words or their meaning.
    """
    if new.place != old.place or subject_of(new) != subject_of(old):
        return "unrelated"
    is_same_relation = relation_of(new) == relation_of(old)
    if is_same_relation and text_key(new.text) == text_key(old.text):
        return "same"
    exclusive = new.metadata.get("exclusive") or old.metadata.get("exclusive")
    if is_same_relation and exclusive:
        return "ask"
    ignored = f"{new.metadata.get('subject')} {relation_of(new)} {relation_of(old)}"
    if shared_share(new.text, old.text, ignored) >= SAME_WORDS:
        return "ask"
    return "ask" if cosine >= SAME_MEANING and not is_same_relation else "unrelated"


class BeliefRevision:
    """The handler of ``belief_revision`` jobs.

    Args:
        database: The store.
        keeper: Writes what changes.
        extractor: The model to ask.
        similar: Finds facts of like meaning.
    """

    def __init__(
        self,
        database: Database,
        keeper: RecordKeeper,
        extractor: Extractor[Verdicts],
        similar: Similar,
    ) -> None:
        self._database = database
        self._keeper = keeper
        self._extractor = extractor
        self._similar = similar

    def __call__(self, job: Job, context: JobContext) -> Effect | None:
        """Judge new facts one after the other; return what retires those that no longer hold.

        Raises:
            JobError: The job names no facts.
            ChatModelError: The model failed, or its replies cannot be used.
        """
        person, ids = _named(job)
        with self._database.read() as tx:
            found = records.by_ids(tx, ids)
            places = list({record.place for record in found.values()})
            wanted = RecordFilter(origin="llm_extract", valid_at=context.now)
            known = (
                all_known(tx, places, wanted, current=True, head=job.commit_id) if places else []
            )
        current = {record.id: record for record in known if is_fact(record)}
        batch = {i: current[i] for i in ids if i in current}
        retired: list[Retired] = []
        for new, older in _questions(batch, current):
            standing = [one for one in older if one.id in current]
            for gone in self._judged(new, standing, person) if new.id in current else ():
                retired.append(gone)
                current.pop(gone.loser, None)
        logger.info("%d facts judged, %d retired", len(batch), len(retired))
        return self._effect(retired, job.commit_id, context.now) if retired else None

    def _judged(
        self, new: MemoryRecord, older: Sequence[MemoryRecord], person: str
    ) -> list[Retired]:
        """Return what a new fact retires, or by what it is retired."""
        # A search for each pair would be most of the work after an outage: often it cannot matter.
        is_open = any(relation_between(new, o, 1.0) != relation_between(new, o) for o in older)
        cosines = self._similar(new, person) if is_open else {}
        asked: list[MemoryRecord] = []
        for old in older:
            match relation_between(new, old, cosines.get(old.id, 0.0)):
                case "same":
                    return [Retired(new.id, old.id, is_repeated=True)]
                case "ask":
                    asked.append(old)
        return self._asked(new, asked[:MAX_CANDIDATES]) if asked else []

    def _asked(self, new: MemoryRecord, older: Sequence[MemoryRecord]) -> list[Retired]:
        reply = self._extractor.ask(beliefs_prompt(new.text, [old.text for old in older]))
        verdicts: dict[int, set[str]] = {}
        for one in reply.verdicts:
            verdicts.setdefault(one.number, set()).add(one.verdict)
        # Two verdicts on one fact are none.
        decided = {n: next(iter(found)) for n, found in verdicts.items() if len(found) == 1}
        numbered = list(enumerate(older, start=1))
        same = next((old for n, old in numbered if decided.get(n) == "same"), None)
        winner = same or new
        lost = [old for n, old in numbered if decided.get(n) == "contradicts"]
        gone = [Retired(old.id, winner.id, is_repeated=False) for old in lost]
        return gone if same is None else [*gone, Retired(new.id, same.id, is_repeated=True)]

    def _effect(self, retired: Sequence[Retired], commit_id: str | None, now: datetime) -> Effect:
        kinds: dict[RevisionKind, list[Retired]] = {
            "supersede": [one for one in retired if not one.is_repeated],
            "merge": [one for one in retired if one.is_repeated],
        }
        steps = [
            self._keeper.prepared(
                {
                    one.loser: taken_over(Supersession(one.loser, one.winner, commit_id, now))
                    for one in group
                },
                kind,
                now=now,
                commit_id=commit_id,
            )
            for kind, group in kinds.items()
            if group
        ]

        def apply(tx: Transaction) -> None:
            for step in steps:
                step(tx)

        return apply


def _questions(
    batch: Mapping[str, MemoryRecord], current: Mapping[str, MemoryRecord]
) -> list[tuple[MemoryRecord, list[MemoryRecord]]]:
    """Return which facts stand against which older ones, newest first, about the same subject.

    A fact that was learnt late, after an outage, also stands as the older one against those that
    were said after it.
    """
    found = []
    for one in batch.values():
        others = [other for other in current.values() if subject_of(other) == subject_of(one)]
        others.sort(key=_said, reverse=True)
        found.append((one, [other for other in others if _said(other) < _said(one)]))
        late = [o for o in others if _said(o) > _said(one) and o.id not in batch]
        found += [(other, [one]) for other in late]
    return found


def _said(fact: MemoryRecord) -> tuple[datetime, str]:
    return fact.created_at, fact.id


def _named(job: Job) -> tuple[str, list[str]]:
    payload = job.payload
    person, ids = payload.get("person"), payload.get("records")
    if not isinstance(person, str) or not isinstance(ids, list):
        raise JobError("The payload names no person or no records.")
    return person, [str(one) for one in ids]
