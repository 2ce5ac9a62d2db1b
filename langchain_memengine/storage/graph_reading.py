"""Questions to the graph: who is called so, what is around them, what memories say it.

Each names the partitions that its actor may read. What another partition knows is not read, and
the same relation known to two partitions is one relation with the evidence of both. ``aside`` is
evidence that is not to be believed: what nothing else is called, or speaks of, is not there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from sqlalchemy import (
    ColumnElement,
    and_,
    func,
    literal_column,
    select,
)

from langchain_memengine.storage.database import Transaction, from_ms, to_ms
from langchain_memengine.storage.graph_schema import (
    graph_evidence,
    graph_names,
    graph_relations,
)
from langchain_memengine.storage.graph_statements import (
    AROUND,
    CALLED,
    EVIDENCE,
    MENTIONS,
    NAMED_BY,
    NAMES,
    SPOKEN,
    TOUCHING,
    TYPES,
    RelationRow,
)
from langchain_memengine.storage.graph_values import Entity, Relation, Subgraph, entity_id
from langchain_memengine.storage.long_lists import rows_of
from langchain_memengine.storage.statements import MAX_PARAMETERS
from langchain_memengine.text.names import entity_key

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


def ids_called(
    tx: Transaction, keys: Sequence[str], *, partitions: Sequence[str], aside: Collection[str] = ()
) -> dict[str, list[str]]:
    """Return the ids of the entities called so, by key; those of no entity are left out."""
    rows = rows_of(tx, CALLED, keys, partitions=list(partitions))
    called = {(key, entity) for key, entity, evidence, _ in rows if evidence not in aside}
    found: dict[str, list[str]] = {}
    for key, entity in sorted(called):
        found.setdefault(key, []).append(entity)
    return found


def entities(
    tx: Transaction, ids: Sequence[str], *, partitions: Sequence[str], aside: Collection[str] = ()
) -> dict[str, Entity]:
    """Return entities by id, under the names that these partitions know."""
    return _called(tx, ids, _names(tx, ids, partitions, aside))


def search_names(
    tx: Transaction,
    text: str,
    *,
    partitions: Sequence[str],
    limit: int,
    aside: Collection[str] = (),
) -> list[Entity]:
    """Return entities with a name that contains the text: equal names first, then short ones."""
    key = entity_key(text)
    if not key:
        return []
    escaped = key.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    rows = tx.connection.execute(
        select(graph_names.c.entity, func.min(func.char_length(graph_names.c.key)).label("length"))
        .where(
            graph_names.c.store_id == tx.store_id,
            graph_names.c.partition_key.in_(partitions),
            graph_names.c.key.like(f"%{escaped}%", escape="\\"),
        )
        .group_by(graph_names.c.entity)
        .order_by("length", graph_names.c.entity)
        .limit(None if aside else limit)
    )
    found = entities(tx, [row.entity for row in rows], partitions=partitions, aside=aside)
    called = (
        one
        for one in found.values()
        if any(key in entity_key(name) for name in (one.name, *one.aliases))
    )
    return list(islice(called, limit))


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
    query, further = (TOUCHING, {}) if hops == 1 else (AROUND, {"hops": min(hops, MAX_HOPS)})
    read = rows_of(
        tx,
        query,
        ids,
        partitions=list(partitions),
        at=to_ms(at),
        rows=max_relations + 1,
        **further,
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


def mentions(
    tx: Transaction, ids: Sequence[str], *, partitions: Sequence[str]
) -> list[tuple[Any, ...]]:
    """Return (entity, evidence, key of the name) for all evidence of entities, sorted."""
    return sorted(rows_of(tx, MENTIONS, sorted(ids), partitions=list(partitions)))


def evidence_of(tx: Transaction, ids: Sequence[str]) -> dict[str, dict[str, float]]:
    """Return how sure each piece of evidence is of relations, by their ids."""
    evidence: dict[str, dict[str, float]] = {}
    for row_id, evidence_id, confidence in rows_of(tx, EVIDENCE, ids):
        evidence.setdefault(row_id, {})[evidence_id] = confidence
    return evidence


def named_by(tx: Transaction, evidence: Sequence[str], *, partitions: Sequence[str]) -> list[str]:
    """Return the ids of the entities that these memories name, sorted."""
    rows = rows_of(tx, NAMED_BY, evidence, partitions=list(partitions))
    return sorted({entity for entity, *_ in rows})


def told_by(
    tx: Transaction, evidence_id: str, *, partitions: Sequence[str]
) -> tuple[list[Entity], list[Relation]]:
    """Return the entities that one memory names, as it calls them, and the relations it tells."""
    ids = named_by(tx, [evidence_id], partitions=partitions)
    spoken = rows_of(tx, SPOKEN, ids, partitions=list(partitions))
    known = _called(tx, ids, [(*name, 1) for *name, one in spoken if one == evidence_id])
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


def _called(
    tx: Transaction, ids: Sequence[str], names: Iterable[tuple[Any, ...]]
) -> dict[str, Entity]:
    """Return entities by id under names: (entity, key of a name, name, how often)."""
    found: dict[str, dict[str, Counter[str]]] = {}
    for one, key, name, times in names:
        found.setdefault(one, {}).setdefault(key, Counter())[name] += times
    types = dict(rows_of(tx, TYPES, [one for one in ids if one in found]))
    return {one: _entity(one, types[one], found[one]) for one in ids if one in found}


def _names(
    tx: Transaction, ids: Sequence[str], partitions: Sequence[str], aside: Collection[str]
) -> list[tuple[Any, ...]]:
    """Return (entity, key of a name, name, how often) of some entities."""
    if not aside:
        return rows_of(tx, NAMES, ids, partitions=list(partitions))
    rows = rows_of(tx, SPOKEN, ids, partitions=list(partitions))
    return [(*names, 1) for *names, evidence in rows if evidence not in aside]


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


def _entity(one: str, kind: str, names: Mapping[str, Counter[str]]) -> Entity:
    """Return an entity under the name that its id was made from, else the most frequent one.

    Of several spellings of a name the most frequent is shown, then the first by alphabet.
    """
    spellings = {key: _most_used(used) for key, used in names.items()}
    if len(spellings) == 1:
        return Entity(next(iter(spellings.values())), kind, id=one)
    own = (name for name in spellings.values() if entity_id(name, kind) == one)
    frequent = min(names, key=lambda key: (-names[key].total(), key))
    shown = next(own, spellings[frequent])
    others = sorted(name for name in spellings.values() if name != shown)
    return Entity(shown, kind, tuple(others), one)


def _most_used(used: Counter[str]) -> str:
    return next(iter(used)) if len(used) == 1 else min(used, key=lambda one: (-used[one], one))
