"""What the engine lists, as tables: jobs, experiences, records and their history, relations."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from langchain_memengine.faces.display.hits import ID_DIGITS
from langchain_memengine.faces.display.sheets import (
    Bar,
    Cell,
    Mark,
    Sheet,
    Words,
    excerpt,
    moment,
    place,
    table,
)
from langchain_memengine.knowledge.experience import RecordedRun
from langchain_memengine.knowledge.fact_history import FactVersion
from langchain_memengine.storage.experience_values import Experience
from langchain_memengine.storage.graph_values import Entity, Relation, Subgraph
from langchain_memengine.storage.job_values import Job
from langchain_memengine.storage.record_values import MemoryRecord, RecordState, Revision
from langchain_memengine.storage.sessions import Session, SessionRecall
from langchain_memengine.text.counting import counted

_RECALLED_HITS = 5


def jobs_sheet(jobs: Sequence[Job]) -> Sheet:
    """Return jobs without their payloads, which hold memories of any user."""
    columns = (
        "num",
        "kind",
        "state",
        "attempts",
        "owner",
        "put (UTC)",
        "due (UTC)",
        "finished (UTC)",
        "error",
    )
    rows: list[list[Cell]] = [
        [
            str(job.num),
            job.kind,
            Mark(job.state, "bad") if job.state == "dead" else job.state,
            f"{job.attempts} of {job.max_attempts}",
            job.owner,
            moment(job.created_at),
            moment(job.run_at) if job.state == "ready" else "",
            moment(job.finished_at),
            Words(job.error) if job.error else "",
        ]
        for job in jobs
    ]
    return table(counted(len(jobs), "job"), columns, rows)


def experiences_sheet(experiences: Sequence[Experience]) -> Sheet:
    """Return experiences with how well they went and what they still weigh."""
    columns = (
        "learnt (UTC)",
        "kind",
        "intent",
        "solution",
        "success",
        "weight",
        "used",
        "tags",
        "user",
    )
    rows: list[list[Cell]] = [
        [
            f"{one.created_at:%Y-%m-%d}",
            one.kind,
            Words(one.intent),
            Words(excerpt(json.dumps(one.solution, ensure_ascii=False))),
            Bar(one.success_score, f"{one.success_score:.2f}"),
            Bar(one.weight, f"{one.weight:.2f}", "time"),
            f"{one.use_count} ×",
            ", ".join(one.tags),
            one.user,
        ]
        for one in experiences
    ]
    return table(counted(len(experiences), "experience"), columns, rows)


def recorded_run_sheets(run: RecordedRun) -> tuple[Sheet, ...]:
    """Return what was learnt from one run."""
    return (experiences_sheet((run.chain, *run.recoveries)),)


def records_sheet(records: Sequence[MemoryRecord]) -> Sheet:
    """Return records with where they came from."""
    columns = ("text", "scope", "owner", "origin", "trust", "updated (UTC)", "expires (UTC)", "id")
    rows: list[list[Cell]] = [
        [
            Words(excerpt(one.text), one.source),
            one.scope,
            one.owner,
            one.origin,
            one.trust,
            moment(one.updated_at),
            moment(one.expires_at),
            one.id,
        ]
        for one in records
    ]
    return table(counted(len(records), "record"), columns, rows)


def revisions_sheet(revisions: Sequence[Revision]) -> Sheet:
    """Return what was done to records, before and after, with the id that ``undo`` takes."""
    columns = ("what", "at (UTC)", "before", "after", "id")
    rows: list[list[Cell]] = [
        [one.kind, moment(one.at), _state(one.before), _state(one.after), one.id]
        for one in revisions
    ]
    return table(counted(len(revisions), "revision"), columns, rows)


def versions_sheet(versions: Sequence[FactVersion]) -> Sheet:
    """Return what was believed, since when and until when."""
    rows: list[list[Cell]] = [
        [
            Words(one.fact.text, str(one.fact.metadata.get("evidence", ""))),
            moment(one.fact.created_at),
            moment(one.until) or "still",
            one.replaced_by or "",
        ]
        for one in versions
    ]
    return table(
        counted(len(versions), "version"),
        ("fact", "since (UTC)", "until (UTC)", "replaced by"),
        rows,
    )


def sessions_sheet(sessions: Sequence[Session]) -> Sheet:
    """Return sessions with the sources they may use, and the id that an audit takes."""
    rows: list[list[Cell]] = [
        [
            Words(one.thread_id),
            Words(", ".join(one.sources) or "all"),
            moment(one.created_at),
            moment(one.archived_at),
            one.id,
        ]
        for one in sessions
    ]
    return table(
        counted(len(sessions), "session"),
        ("thread", "sources", "began (UTC)", "ended (UTC)", "id"),
        rows,
    )


def recalls_sheet(recalls: Sequence[SessionRecall]) -> Sheet:
    """Return which files and chunks a session was shown for which query."""
    rows: list[list[Cell]] = [
        [moment(one.at), Words(one.query), str(len(one.hits)), _places(one)] for one in recalls
    ]
    return table(
        counted(len(recalls), "query", "queries"), ("at (UTC)", "query", "hits", "places"), rows
    )


def relations_sheet(relations: Sequence[Relation]) -> Sheet:
    """Return relations, each with how sure it is and how many memories say so."""
    columns = ("from", "relation", "to", "confidence", "since (UTC)", "until (UTC)", "evidence")
    rows: list[list[Cell]] = [
        [
            Words(one.source.name, one.source.type),
            one.type,
            Words(one.target.name, one.target.type),
            Bar(one.confidence, f"{one.confidence:.2f}"),
            moment(one.valid_from),
            moment(one.valid_to),
            str(len(one.evidence)),
        ]
        for one in relations
    ]
    return table(counted(len(relations), "relation"), columns, rows)


def entities_sheet(entities: Sequence[Entity]) -> Sheet:
    """Return entities with their other names."""
    return _entities(entities, {})


def subgraph_sheets(subgraph: Subgraph) -> tuple[Sheet, ...]:
    """Return the entities and relations of a piece of the graph."""
    cut = ("There is more than was read: a limit was reached.",) if subgraph.is_cut else ()
    entities = _entities(subgraph.entities, subgraph.hops, warnings=cut)
    return entities, relations_sheet(subgraph.relations)


def _entities(
    entities: Sequence[Entity], hops: Mapping[str, int], **more: tuple[str, ...]
) -> Sheet:
    rows: list[list[Cell]] = [
        [Words(one.name, ", ".join(one.aliases)), one.type, str(hops.get(one.id, ""))]
        for one in entities
    ]
    title = counted(len(entities), "entity", "entities")
    return table(title, ("entity", "type", "hops"), rows, **more)


def _state(state: RecordState) -> Cell:
    aside = (
        "superseded" if state.superseded_by else "",
        f"hidden behind {state.hiding.kept_id[:ID_DIGITS]}" if state.hiding else "",
        f"quarantined {state.quarantine.source}" if state.quarantine else "",
    )
    told = ", ".join(filter(None, aside))
    if state.record is not None:
        return Words(excerpt(state.record.text), told)
    return Words(told) if told else "—"


def _places(recall: SessionRecall) -> Cell:
    places = [
        place(hit["path"], hit["source"], hit["start_line"], hit["end_line"]) for hit in recall.hits
    ]
    beyond = len(places) - _RECALLED_HITS
    more = f", and {beyond} more" if beyond > 0 else ""
    return Words(", ".join(places[:_RECALLED_HITS]) + more) if places else ""
