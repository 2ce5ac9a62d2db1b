"""Graph rows: learn relations from evidence, and forget what has none left.

Everything is keyed by (evidence, statement): learning the same again changes nothing.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from itertools import chain
from typing import Any

from sqlalchemy import Column, ColumnElement, Table, and_, delete, exists, func, select

from langchain_memengine.storage import dialects, graph_vectors
from langchain_memengine.storage.graph_schema import (
    graph_entities,
    graph_evidence,
    graph_extracted,
    graph_names,
    graph_relations,
)
from langchain_memengine.storage.graph_values import (
    Entity,
    Evidence,
    GraphCounts,
    Relation,
    relation_id,
)
from langchain_memengine.storage.statements import batches
from langchain_memengine.storage.times import to_ms
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.names import entity_key

Learnt = Sequence[tuple[Evidence, Sequence[Entity], Sequence[Relation]]]
"""What each piece of evidence tells: entities that it names, and relations."""

_TOLD = (graph_evidence, graph_names, graph_extracted)


def learn(tx: Transaction, learnt: Learnt, *, now: datetime) -> None:
    """Store what evidence tells; the ends of its relations are entities that it names."""
    entities: dict[str, dict[str, Any]] = {}
    names: dict[tuple[str, Evidence, str], dict[str, Any]] = {}
    relations: dict[str, dict[str, Any]] = {}
    evidence: dict[tuple[str, str], dict[str, Any]] = {}
    for source, named, told in learnt:
        for entity in chain(named, *((one.source, one.target) for one in told)):
            entities[entity.id] = _entity_row(tx, entity)
            for row in _name_rows(tx, entity, source):
                names[entity.id, source, row["key"]] = row
        for relation in told:
            row = _relation_row(tx, relation, source.partition)
            relations[row["id"]] = row
            evidence[row["id"], source.id] = _evidence_row(tx, row["id"], relation, source, now)
    dialects.upsert(tx.connection, graph_entities, list(entities.values()))
    dialects.upsert(tx.connection, graph_names, list(names.values()))
    dialects.upsert(tx.connection, graph_relations, list(relations.values()))
    dialects.upsert(tx.connection, graph_evidence, list(evidence.values()))


def forget_evidence(
    tx: Transaction, evidence_ids: Iterable[str], *, partitions: Sequence[str] | None = None
) -> int:
    """Forget memories, and the entities and relations that nothing else speaks of.

    Args:
        tx: An open write transaction.
        evidence_ids: Which memories; unknown ones do not matter.
        partitions: Only as far as these partitions know them; ``None``: all of them.

    Returns:
        How many of them the graph had heard of.
    """
    heard = 0
    for batch in batches(list(dict.fromkeys(evidence_ids))):
        own = {table: _told_by(tx, table, batch, partitions) for table in _TOLD}
        # Whole rows: for single columns SQLite reads all of an index that has them.
        told = {
            table: tx.connection.execute(select(table).where(own[table])).all() for table in own
        }
        relations = sorted({row.relation for row in told[graph_evidence]})
        entities = sorted({row.entity for row in told[graph_names]})
        keys = sorted({row.key for row in told[graph_names]})
        heard += len({row.evidence_id for row in (*told[graph_names], *told[graph_extracted])})
        for table in _TOLD:
            tx.connection.execute(delete(table).where(own[table]))
        _drop_unsupported(tx, graph_relations, relations, graph_evidence, "relation")
        _drop_unsupported(tx, graph_entities, entities, graph_names, "entity")
        graph_vectors.drop_unused(tx, keys)
    return heard


def evidence_ids(tx: Transaction) -> set[str]:
    """Return the ids of all evidence."""
    found: set[str] = set()
    for table in _TOLD:
        column = table.c.evidence_id
        of_store = select(column).where(table.c.store_id == tx.store_id).distinct()
        found.update(tx.connection.execute(of_store).scalars())
    return found


def note_extracted(tx: Transaction, texts: Mapping[Evidence, str]) -> None:
    """Note the content hash that each piece of evidence was extracted from."""
    rows = [
        {
            "store_id": tx.store_id,
            "evidence_id": evidence.id,
            "partition_key": evidence.partition,
            "text_hash": text_hash,
        }
        for evidence, text_hash in texts.items()
    ]
    dialects.upsert(tx.connection, graph_extracted, rows)


def outdated(tx: Transaction, texts: Mapping[Evidence, str]) -> list[Evidence]:
    """Return that evidence which was extracted from a text with another hash."""
    noted = _noted(tx, texts)
    return [
        evidence
        for evidence, text_hash in texts.items()
        if noted.get((evidence.id, evidence.partition), text_hash) != text_hash
    ]


def read_already(tx: Transaction, texts: Mapping[Evidence, str]) -> set[Evidence]:
    """Return that evidence which was extracted from a text with this hash."""
    noted = _noted(tx, texts)
    return {
        evidence
        for evidence, text_hash in texts.items()
        if noted.get((evidence.id, evidence.partition)) == text_hash
    }


def extracted(
    tx: Transaction, text_hashes: Sequence[str], *, partitions: Sequence[str]
) -> dict[str, list[str]]:
    """Return the ids of evidence that was extracted from texts with these hashes."""
    found: dict[str, list[str]] = {}
    for batch in batches(text_hashes):
        rows = tx.connection.execute(
            select(graph_extracted.c.text_hash, graph_extracted.c.evidence_id)
            .where(
                graph_extracted.c.store_id == tx.store_id,
                graph_extracted.c.text_hash.in_(batch),
                graph_extracted.c.partition_key.in_(partitions),
            )
            .order_by(graph_extracted.c.evidence_id)
        )
        for text_hash, evidence_id in rows:
            found.setdefault(text_hash, []).append(evidence_id)
    return found


def counts(
    tx: Transaction, *, partitions: Sequence[str] | None = None, aside: Collection[str] = ()
) -> GraphCounts:
    """Return the size of the graph, as far as these partitions know it; ``None``: of all.

    Args:
        tx: A view of the graph.
        partitions: What the actor may read.
        aside: Evidence that does not count, nor what nothing else tells.
    """

    def count(column: Column[str]) -> int:
        """Return how many different values evidence that counts has."""
        table = column.table
        own = [table.c.store_id == tx.store_id]
        if partitions is not None:
            own.append(table.c.partition_key.in_(partitions))
        if aside:
            rows = tx.connection.execute(select(column, table.c.evidence_id).where(*own).distinct())
            return len({value for value, evidence in rows if evidence not in aside})
        return tx.connection.execute(select(func.count(column.distinct())).where(*own)).scalar_one()

    return GraphCounts(
        entities=count(graph_names.c.entity),
        relations=count(graph_evidence.c.relation),
        evidence=count(graph_names.c.evidence_id),
    )


def _noted(tx: Transaction, texts: Iterable[Evidence]) -> dict[tuple[str, str], str]:
    """Return the hash of the text that evidence was extracted from, by its id and partition."""
    noted: dict[tuple[str, str], str] = {}
    for batch in batches([evidence.id for evidence in texts]):
        rows = tx.connection.execute(
            select(
                graph_extracted.c.evidence_id,
                graph_extracted.c.partition_key,
                graph_extracted.c.text_hash,
            ).where(
                graph_extracted.c.store_id == tx.store_id,
                graph_extracted.c.evidence_id.in_(batch),
            )
        )
        noted.update({(one, partition): text_hash for one, partition, text_hash in rows})
    return noted


def _told_by(
    tx: Transaction, table: Table, evidence: Sequence[str], partitions: Sequence[str] | None
) -> ColumnElement[bool]:
    """Return the condition for the rows of a table that come from this evidence."""
    told = and_(table.c.store_id == tx.store_id, table.c.evidence_id.in_(evidence))
    return told if partitions is None else and_(told, table.c.partition_key.in_(partitions))


def _drop_unsupported(
    tx: Transaction, table: Table, ids: Sequence[str], support: Table, column: str
) -> None:
    """Delete those rows that nothing refers to any more."""
    supported = exists().where(
        support.c.store_id == table.c.store_id, support.c[column] == table.c.id
    )
    for batch in batches(ids):
        tx.connection.execute(
            delete(table).where(table.c.store_id == tx.store_id, table.c.id.in_(batch), ~supported)
        )


def _entity_row(tx: Transaction, entity: Entity) -> dict[str, Any]:
    return {"store_id": tx.store_id, "id": entity.id, "type": entity.type}


def _name_rows(tx: Transaction, entity: Entity, evidence: Evidence) -> list[dict[str, Any]]:
    return [
        {
            "store_id": tx.store_id,
            "entity": entity.id,
            "evidence_id": evidence.id,
            "key": key,
            "partition_key": evidence.partition,
            "name": name,
        }
        for name in (*entity.aliases, entity.name)
        if (key := entity_key(name))
    ]


def _relation_row(tx: Transaction, relation: Relation, partition: str) -> dict[str, Any]:
    return {
        "store_id": tx.store_id,
        "id": relation_id(relation, partition),
        "partition_key": partition,
        "source": relation.source.id,
        "type": relation.type,
        "target": relation.target.id,
        "valid_from": to_ms(relation.valid_from),
        "valid_to": to_ms(relation.valid_to),
    }


def _evidence_row(
    tx: Transaction, row_id: str, relation: Relation, evidence: Evidence, now: datetime
) -> dict[str, Any]:
    return {
        "store_id": tx.store_id,
        "relation": row_id,
        "evidence_id": evidence.id,
        "partition_key": evidence.partition,
        "commit_id": evidence.commit_id,
        "confidence": relation.confidence,
        "created_at": to_ms(now),
    }
