"""How long what memories told holds: until something else is believed instead."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from langchain_memengine.retrieval.branches import hidden_commits
from langchain_memengine.retrieval.record_chunks import record_id, record_source
from langchain_memengine.storage import chunk_ids, revisions, supersessions
from langchain_memengine.storage.database import Transaction
from langchain_memengine.storage.record_values import Supersession


def told_until(
    tx: Transaction, evidence: Sequence[str], aside: Collection[str]
) -> dict[str, datetime | None]:
    """Return until when memories hold what they told, by their ids; ``None`` is for ever.

    Left out is what is quarantined, and what only an abandoned branch of a conversation learnt.

    Args:
        tx: A view of the database.
        evidence: Ids of chunks; any other id is nobody's memory and holds for ever.
        aside: Ids and sources of what is quarantined.
    """
    if not tx.counters().commits:  # nothing was ever superseded, set aside or left on a branch
        return dict.fromkeys(evidence)
    origins = chunk_ids.origins_of(tx, evidence)
    commits = {chunk: commit for chunk, _, commit in origins if commit is not None}
    hidden = hidden_commits(tx, commits.values())
    records = {chunk: record_id(source) for chunk, source, _ in origins}
    ends = contradicted_at(tx, (one for one in records.values() if one is not None), aside)
    return {
        one: ends.get(records.get(one) or "")
        for one in evidence
        if one not in aside and commits.get(one) not in hidden
    }


def contradicted_at(
    tx: Transaction, ids: Iterable[str], aside: Collection[str]
) -> dict[str, datetime]:
    """Return when records gave way to one that says otherwise; those that did not are left out.

    One that was merged holds as long as the one that says the same, and one that was folded into
    MEMORY.md holds on.
    """
    over: dict[str, list[Supersession]] = {}
    fresh = set(ids)
    while fresh:
        found = supersessions.of_records(tx, fresh)
        for one in found:
            over.setdefault(one.old_id, []).append(one)
        fresh = {one.new_id for one in found} - over.keys()
    every = [one for some in over.values() for one in some]
    hidden = hidden_commits(tx, [one.commit_id for one in every if one.commit_id is not None])
    same = revisions.said_again(tx, over)
    standing = {
        old: [
            one
            for one in some
            if one.commit_id not in hidden and record_source(one.new_id) not in aside
        ]
        for old, some in over.items()
    }
    ends = {old: _ends(old, standing, same) for old in standing}
    return {old: min(found) for old, found in ends.items() if found}


def _ends(
    record: str, over: Mapping[str, Sequence[Supersession]], same: Collection[tuple[str, str]]
) -> list[datetime]:
    """Return when a record, and what says the same in its place, was contradicted."""
    ends: list[datetime] = []
    seen: set[str] = set()
    todo = [record]
    while todo:
        one = todo.pop()
        for new in over.get(one, ()) if one not in seen else ():
            if (one, new.new_id) in same:
                todo.append(new.new_id)
            else:
                ends.append(new.at)
        seen.add(one)
    return ends
