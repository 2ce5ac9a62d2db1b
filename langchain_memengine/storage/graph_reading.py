"""Questions to the graph about relations: what is around entities, and which memories say it.

Each names the partitions that its actor may read. What another partition knows is not read, and
the same relation known to two partitions is one relation with the evidence of both. ``aside`` is
evidence that is not to be believed, as in ``graph_entities``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, and_, literal_column, select

from langchain_memengine.storage.graph_entities import entities, named_by
from langchain_memengine.storage.graph_schema import graph_evidence, graph_relations
from langchain_memengine.storage.graph_statements import AROUND, EVIDENCE, RelationRow
from langchain_memengine.storage.graph_values import Entity, Relation, Subgraph
from langchain_memengine.storage.long_lists import rows_of
from langchain_memengine.storage.statements import MAX_PARAMETERS
from langchain_memengine.storage.times import from_ms, to_ms
from langchain_memengine.storage.transaction import Transaction

MAX_HOPS = 6
"""Relations that a walk follows one after the other, at most."""

MAX_RELATIONS = 5_000
"""Relations that one question reads, at most: a hub is known to half the graph."""

_ROW: tuple[ColumnElement[Any], ...] = (
    graph_relations.c.id,
    graph_relations.c.source,
    graph_relations.c.type,
    graph_relations.c.target,
    graph_relations.c.valid_from,
    graph_relations.c.valid_to,
    literal_column("0"),
)


def around(
    tx: Transaction,
    ids: Sequence[str],
    hops: int,
    *,
    partitions: Sequence[str],
    at: datetime,
    max_relations: int = MAX_RELATIONS,
    aside: Collection[str] = (),
) -> Subgraph:
    """Return what is within some relations of entities, in either direction.

    Args:
        tx: A view of the graph.
        ids: Where to start; unknown ones are left out.
        hops: Relations to follow, at most :data:`MAX_HOPS`; 0 returns the entities alone.
        partitions: What the actor may read.
        at: Only relations that hold at this time.
        max_relations: Relations to read; the nearest come first.
        aside: Evidence that names nobody.
    """
    rows, is_cut = rows_around(
        tx, ids, hops, partitions=partitions, at=at, max_relations=max_relations
    )
    distance = dict.fromkeys(ids, 0)
    for row in rows:
        for end in row.ends:
            distance.setdefault(end, row.hop + 1)
    known = entities(tx, list(distance), partitions=partitions, aside=aside)
    distance = {one: hop for one, hop in distance.items() if one in known}
    relations = _relations(tx, rows, known)
    order = sorted(known.values(), key=lambda one: (distance[one.id], one.name, one.id))
    return Subgraph(tuple(order), tuple(relations), distance, is_cut)


def rows_around(
    tx: Transaction,
    ids: Sequence[str],
    hops: int,
    *,
    partitions: Sequence[str],
    at: datetime,
    max_relations: int = MAX_RELATIONS,
) -> tuple[list[RelationRow], bool]:
    """Return relation rows within some hops, nearest first, and whether there are more."""
    if hops < 1:
        return [], False
    found: dict[str, RelationRow] = {}
    read = rows_of(
        tx,
        AROUND,
        ids,
        partitions=list(partitions),
        at=to_ms(at),
        hops=min(hops, MAX_HOPS),
        rows=max_relations + 1,
    )
    rows = sorted(map(RelationRow._make, read), key=lambda row: (row.hop, row.id))
    for row in rows:
        found.setdefault(row.id, row)
    return list(found.values())[:max_relations], len(found) > max_relations


def relations_of(
    tx: Transaction, *, partitions: Sequence[str], aside: Collection[str] = ()
) -> Iterator[Relation]:
    """Yield every relation of these partitions, whenever it holds, in order of its id."""
    after = ""
    while True:
        read = tx.connection.execute(
            select(*_ROW)
            .where(
                graph_relations.c.store_id == tx.store_id,
                graph_relations.c.partition_key.in_(partitions),
                graph_relations.c.id > after,
            )
            .order_by(graph_relations.c.id)
            .limit(MAX_PARAMETERS)
        )
        rows = [RelationRow(*row) for row in read]
        if not rows:
            return
        ends = {end for row in rows for end in row.ends}
        known = entities(tx, list(ends), partitions=partitions, aside=aside)
        yield from _relations(tx, rows, known)
        after = rows[-1].id


def evidence_of(tx: Transaction, ids: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return how sure each piece of evidence is of relations, by their ids."""
    evidence: dict[str, dict[str, float]] = {}
    for row_id, evidence_id, confidence in rows_of(tx, EVIDENCE, ids):
        evidence.setdefault(row_id, {})[evidence_id] = confidence
    return evidence


def told_by(
    tx: Transaction, evidence_id: str, *, partitions: Sequence[str]
) -> tuple[list[Entity], list[Relation]]:
    """Return the entities that one memory names, and the relations that it tells."""
    known = entities(tx, named_by(tx, [evidence_id], partitions=partitions), partitions=partitions)
    read = tx.connection.execute(
        select(*_ROW)
        .join(
            graph_evidence,
            and_(
                graph_evidence.c.store_id == graph_relations.c.store_id,
                graph_evidence.c.relation == graph_relations.c.id,
            ),
        )
        .where(
            graph_evidence.c.store_id == tx.store_id,
            graph_evidence.c.evidence_id == evidence_id,
            graph_evidence.c.partition_key.in_(partitions),
        )
        .order_by(graph_relations.c.id)
    )
    return list(known.values()), _relations(tx, [RelationRow(*row) for row in read], known)


def _relations(
    tx: Transaction, rows: Sequence[RelationRow], known: Mapping[str, Entity]
) -> list[Relation]:
    """Return rows as relations with their evidence; equal ones of two partitions are one."""
    evidence = evidence_of(tx, [row.id for row in rows])
    merged: dict[tuple[object, ...], tuple[RelationRow, dict[str, float]]] = {}
    for row in rows:
        if row.source in known and row.target in known:
            merged.setdefault(row.statement, (row, {}))[1].update(evidence.get(row.id, {}))
    relations = [
        (
            row.hop,
            Relation(
                known[row.source],
                row.type,
                known[row.target],
                confidence=max(sure.values(), default=1.0),
                valid_from=from_ms(row.valid_from),
                valid_to=from_ms(row.valid_to),
                evidence=tuple(sorted(sure)),
            ),
        )
        for row, sure in merged.values()
    ]
    relations.sort(key=_by_hop_and_names)
    return [relation for _, relation in relations]


def _by_hop_and_names(pair: tuple[int, Relation]) -> tuple[int, str, str, str]:
    hop, relation = pair
    return hop, relation.source.name, relation.type, relation.target.name
