"""How long what memories told holds: until something else is believed instead."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.retrieval.branches import abandoned_commits, hidden_commits
from langchain_memengine.retrieval.record_chunks import record_id, record_source
from langchain_memengine.retrieval.visibility import is_shared
from langchain_memengine.storage import chunk_ids, commit_chunks, revisions, supersessions
from langchain_memengine.storage.record_values import MemoryRecord, Supersession
from langchain_memengine.storage.transaction import Transaction


def silenced(tx: Transaction) -> frozenset[str]:
    """Return what tells nothing, as long as that lasts.

    Ids of chunks and URIs of texts that are quarantined, and ids of chunks that only an abandoned
    branch of a conversation learnt.
    """
    if not tx.counters().commits:  # nothing was ever set aside or left on a branch
        return frozenset()
    abandoned = commit_chunks.ids_of_commits(tx, sorted(abandoned_commits(tx)))
    return chunk_ids.set_aside(tx).union(abandoned)


def told_until(
    tx: Transaction, evidence: Sequence[str], aside: Collection[str]
) -> dict[str, datetime | None]:
    """Return until when memories hold what they told, by their ids; ``None`` is for ever.

    Args:
        tx: A view of the database.
        evidence: Ids of chunks; any other id is nobody's memory and holds for ever.
        aside: What :func:`silenced` returned; it is left out.
    """
    if not tx.counters().commits:  # nothing was ever superseded or set aside
        return dict.fromkeys(evidence)
    origins = chunk_ids.origins_of(tx, evidence)
    records = {chunk: record_id(source) for chunk, source in origins}
    ends = contradicted_at(tx, (one for one in records.values() if one is not None), aside)
    return {one: ends.get(records.get(one) or "") for one in evidence if one not in aside}


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


def require_found_instead(old: MemoryRecord, new: MemoryRecord, now: datetime) -> None:
    """Make sure that whoever no longer finds one record finds the one that takes its place.

    Raises:
        ConfigurationError: Some would find neither.
    """
    if new.place != old.place and not is_shared(new.scope):
        raise ConfigurationError(
            f"{new.id!r} is {new.scope} memory: others who read {old.id!r} would find neither. "
            "Remember the new one in the scope of the old one."
        )
    if new.valid_from is not None and new.valid_from > now:
        raise ConfigurationError(
            f"{new.id!r} is not valid before {new.valid_from}: until then neither would be found. "
            "Do it then, or let the old one expire at that time."
        )


def successors(tx: Transaction, record: str) -> frozenset[str]:
    """Return the records that took the place of one, and of those in turn, on the newest branches.

    What is quarantined is among them: it takes their place again once it is released.
    """
    found: set[str] = set()
    fresh = {record}
    while fresh:
        over = supersessions.of_records(tx, fresh)
        made = [one.commit_id for one in over if one.commit_id is not None]
        hidden = hidden_commits(tx, made)
        fresh = {one.new_id for one in over if one.commit_id not in hidden} - found
        found |= fresh
    return frozenset(found)
