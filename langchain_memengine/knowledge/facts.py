"""Learn facts from what people say: the jobs of kind ``fact_extract``."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime

from langchain_memengine.knowledge.learnt_facts import (
    Lesson,
    fact_records,
    is_fact,
    relation_of,
    subject_of,
)
from langchain_memengine.knowledge.own_lines import OwnLines
from langchain_memengine.models.extracting import Extractor
from langchain_memengine.models.fact_prompts import ExtractedFacts, facts_prompt
from langchain_memengine.retrieval.current_records import all_known
from langchain_memengine.retrieval.record_chunks import record_source
from langchain_memengine.retrieval.records import RecordKeeper, suspected
from langchain_memengine.storage import jobs
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.graph_jobs import extract_job
from langchain_memengine.storage.job_values import Effect, Job, JobContext, NewJob
from langchain_memengine.storage.record_values import (
    MemoryRecord,
    Place,
    RecordFilter,
    RecordState,
)
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.digests import digest
from langchain_memengine.text.quoting import text_key

logger = logging.getLogger(__name__)

ATTEMPTS = 20
"""With the default back-off that outlasts an outage of the model of an hour and a half."""

FactKey = tuple[Place, str, str, str]


def extraction_job(
    lines: OwnLines, *, owner: str, thread_id: str | None, commit_id: str | None
) -> NewJob:
    """Return the job that learns from a person's lines; the same lines are learnt from once."""
    key = digest(thread_id or "", commit_id or "", lines.key)
    return NewJob(
        "fact_extract",
        lines.to_payload(),
        dedupe_key=f"fact_extract:{key}",
        keeps_key=True,
        max_attempts=ATTEMPTS,
        owner=owner,
        thread_id=thread_id,
        commit_id=commit_id,
    )


class FactExtraction:
    """The handler of ``fact_extract`` jobs.

    Args:
        database: The store.
        keeper: Writes the records.
        extractor: The model to ask.
        feeds_graph: Whether new facts are to be read into the graph.
    """

    def __init__(
        self,
        database: Database,
        keeper: RecordKeeper,
        extractor: Extractor[ExtractedFacts],
        *,
        feeds_graph: bool,
    ) -> None:
        self._feeds_graph = feeds_graph
        self._database = database
        self._keeper = keeper
        self._extractor = extractor

    def __call__(self, job: Job, context: JobContext) -> Effect:
        """Ask for the facts in a person's lines; return what keeps the new ones.

        The lines do not stay in the job: the archive has them, and can forget them.

        Raises:
            JobError: The job holds no lines.
            ChatModelError: The model failed, or its replies cannot be used.
        """
        lines = OwnLines.from_payload(job.payload)
        lesson = Lesson(lines, job.thread_id, job.commit_id, job.created_at)
        reply = self._extractor.ask(facts_prompt(line.text for line in lines.lines))
        proven = fact_records(reply.facts, lesson)
        new = self._unknown(proven, lesson, context.now)
        logger.info("%d facts, %d proven, %d new", len(reply.facts), len(proven), len(new))
        keep = self._keeper.prepared(
            {record.id: _added(record, context.now) for record in new},
            "add",
            now=context.now,
            commit_id=job.commit_id,
        )

        def apply(tx: Transaction) -> None:
            keep(tx)
            jobs.clear_payload(tx, job)
            if new:
                jobs.put(tx, _revision_job(job, lines.person, new), now=context.now)
                if self._feeds_graph:
                    jobs.put(tx, _graph_job(job, new), now=context.now)

        return apply

    def _unknown(
        self, proven: Sequence[MemoryRecord], lesson: Lesson, now: datetime
    ) -> list[MemoryRecord]:
        """Return the facts that are not current yet where the lesson's branch can see.

        Saying again what was quarantined does not bring it back.
        """
        places = list({record.place for record in proven})
        if not places:
            return []
        wanted = RecordFilter(origin="llm_extract", valid_at=now)
        with self._database.read() as tx:
            known = all_known(
                tx, places, wanted, current=True, head=lesson.commit_id, quarantined=True
            )
        keys = {_key(record) for record in known if is_fact(record)}
        return [record for record in proven if _key(record) not in keys]


def _key(record: MemoryRecord) -> FactKey:
    """Return what two facts have in common that say the same of the same."""
    return record.place, subject_of(record), relation_of(record), text_key(record.text)


def _added(record: MemoryRecord, now: datetime) -> Callable[[RecordState], RecordState]:
    """Return the change that adds a record, unless it is there.

    One person's orders to an agent must not become a note that everyone's agents read.
    """
    aside = suspected(record, now)

    def change(state: RecordState) -> RecordState:
        if state.record is not None:
            return state
        return replace(state, record=record, quarantine=state.quarantine or aside)

    return change


def _revision_job(job: Job, person: str, new: Sequence[MemoryRecord]) -> NewJob:
    return NewJob(
        "belief_revision",
        {"person": person, "records": [record.id for record in new]},
        dedupe_key=f"belief_revision:{job.num}",
        max_attempts=ATTEMPTS,
        owner=job.owner,
        thread_id=job.thread_id,
        commit_id=job.commit_id,
    )


def _graph_job(job: Job, new: Sequence[MemoryRecord]) -> NewJob:
    return extract_job(
        [record_source(record.id) for record in new],
        owner=job.owner,
        thread_id=job.thread_id,
        commit_id=job.commit_id,
    )
