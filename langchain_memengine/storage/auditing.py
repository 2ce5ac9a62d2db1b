"""Who wrote what, and how far it is trusted: numbers, no words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from sqlalchemy import ColumnElement, func, select

from langchain_memengine.shown import Shown
from langchain_memengine.storage import kept, records
from langchain_memengine.storage.experience_schema import experiences
from langchain_memengine.storage.record_values import Place, Quarantine, RecordCount
from langchain_memengine.storage.schema import chunks, memories
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.redaction import REDACTED
from langchain_memengine.types import (
    Origin,
    Trust,
)


@dataclass(frozen=True, slots=True)
class ChunkCount:
    """How many searchable pieces of one kind there are, those of records among them.

    Attributes:
        origin: Where their words came from.
        trust: How far they are trusted.
        chunks: How many.
    """

    origin: Origin
    trust: Trust
    chunks: int


@dataclass(frozen=True, slots=True)
class AuditReport(Shown):
    """Who wrote what, how far it is trusted, and what was set aside or taken out.

    Attributes:
        records: Records by scope, owner, origin and trust.
        chunks: Everything that can be searched, by origin and trust.
        quarantined: What is set aside, newest first.
        redacted: How many records, chunks and experiences had secrets taken out, by kind; kinds
            without any are left out.
    """

    records: tuple[RecordCount, ...] = ()
    chunks: tuple[ChunkCount, ...] = ()
    quarantined: tuple[Quarantine, ...] = ()
    redacted: Mapping[str, int] = field(default_factory=dict)


def audit(
    tx: Transaction,
    places: Sequence[Place] | None,
    partitions: Sequence[str],
    user: str,
    quarantined: Sequence[Quarantine],
) -> AuditReport:
    """Return the numbers of a store, or of a part of it.

    Args:
        tx: A view of the database.
        places: Scopes and owners whose records count; ``None`` is all, and so are chunks and
            experiences then.
        partitions: Whose chunks count.
        user: Whose experiences count.
        quarantined: What is set aside.
    """
    everywhere = places is None
    of_chunks = [] if everywhere else [chunks.c.partition_key.in_(list(partitions))]
    of_records = [] if places is None else [records.is_in(places)]
    of_user = [] if everywhere else [experiences.c.user == user]
    redacted = {
        "records": kept.count(tx, memories, memories.c.text.contains(REDACTED), *of_records),
        "chunks": kept.count(tx, chunks, chunks.c.text.contains(REDACTED), *of_chunks),
        "experiences": kept.count(
            tx, experiences, experiences.c.solution.contains(REDACTED), *of_user
        ),
    }
    return AuditReport(
        tuple(records.counts(tx, places)),
        tuple(_chunk_counts(tx, of_chunks)),
        tuple(quarantined),
        {kind: number for kind, number in redacted.items() if number},
    )


def _chunk_counts(tx: Transaction, conditions: Sequence[ColumnElement[bool]]) -> list[ChunkCount]:
    kind = (chunks.c.origin, chunks.c.trust)
    rows = tx.connection.execute(
        select(*kind, func.count())
        .where(chunks.c.store_id == tx.store_id, *conditions)
        .group_by(*kind)
        .order_by(*kind)
    )
    return [ChunkCount(origin, trust, number) for origin, trust, number in rows]
