"""The statements that ask the graph, compiled once."""

from __future__ import annotations

from typing import Any, NamedTuple

from sqlalchemy import (
    ColumnElement,
    Select,
    and_,
    bindparam,
    case,
    func,
    literal_column,
    or_,
    select,
)

from langchain_memengine.storage.graph_schema import (
    graph_entities,
    graph_evidence,
    graph_names,
    graph_relations,
)
from langchain_memengine.storage.statements import HotQuery


class RelationRow(NamedTuple):
    """A relation as its row tells, and how many relations away from the start it was read."""

    id: str
    source: str
    type: str
    target: str
    valid_from: int | None
    valid_to: int | None
    hop: int

    @property
    def ends(self) -> tuple[str, str]:
        """Ids of the entities that it relates."""
        return self.source, self.target

    @property
    def statement(self) -> tuple[object, ...]:
        """What equal relations of two partitions share."""
        kind = self.type.replace("_", " ").casefold()
        return self.source, kind, self.target, self.valid_from, self.valid_to


def _in(column: ColumnElement[Any], name: str) -> ColumnElement[bool]:
    return column.in_(bindparam(name, expanding=True))


def _holds() -> ColumnElement[bool]:
    begins, ends = graph_relations.c.valid_from, graph_relations.c.valid_to
    at: ColumnElement[int] = bindparam("at")
    return and_(or_(begins.is_(None), begins <= at), or_(ends.is_(None), ends > at))


def _visible() -> ColumnElement[bool]:
    return and_(_in(graph_relations.c.partition_key, "partitions"), _holds())


def _touches(entity: ColumnElement[str]) -> ColumnElement[bool]:
    """Return whether a relation starts or ends there; the store in both halves names an index."""
    store = graph_relations.c.store_id == bindparam("store_id")
    source, target = graph_relations.c.source, graph_relations.c.target
    return or_(and_(store, source == entity), and_(store, target == entity))


def _around() -> Select[Any]:
    """Return the relations of everything fewer than ``hops`` relations away from ``ids``."""
    zero: ColumnElement[int] = literal_column("0")
    one: ColumnElement[int] = literal_column("1")
    ends = graph_relations.c.source, graph_relations.c.target
    reached = (
        select(graph_entities.c.id.label("entity"), zero.label("hop"))
        .where(graph_entities.c.store_id == bindparam("store_id"), _in(graph_entities.c.id, "ids"))
        .cte("reached", recursive=True)
    )
    other = case((ends[0] == reached.c.entity, ends[1]), else_=ends[0])
    step = (
        select(other, reached.c.hop + one)
        .select_from(reached.join(graph_relations, _touches(reached.c.entity)))
        .where(_visible(), reached.c.hop + one < bindparam("hops"))
    )
    reached = reached.union(step)
    relation = (
        graph_relations.c.id,
        ends[0],
        graph_relations.c.type,
        ends[1],
        graph_relations.c.valid_from,
        graph_relations.c.valid_to,
    )
    nearest = func.min(reached.c.hop)  # a relation is met at both of its ends, and again on the way
    return (
        select(*relation, nearest)
        .select_from(reached.join(graph_relations, _touches(reached.c.entity)))
        .where(_visible())
        .group_by(*relation)
        .order_by(nearest, graph_relations.c.id)
        .limit(bindparam("rows"))
        .offset(zero)  # SQLite would be given one as a parameter that nobody named
    )


def _touching() -> Select[Any]:
    """Return the relations that start or end at ``ids``, each once."""
    store = graph_relations.c.store_id == bindparam("store_id")
    source, target = _in(graph_relations.c.source, "ids"), _in(graph_relations.c.target, "ids")
    zero: ColumnElement[int] = literal_column("0")
    return (
        select(
            graph_relations.c.id,
            graph_relations.c.source,
            graph_relations.c.type,
            graph_relations.c.target,
            graph_relations.c.valid_from,
            graph_relations.c.valid_to,
            zero,
        )
        .where(or_(and_(store, source), and_(store, target)), _visible())
        .order_by(graph_relations.c.id)
        .limit(bindparam("rows"))
        .offset(zero)  # as above
    )


# Without statistics SQLite reads a whole index that has every wanted column, or that has them in
# the order of a DISTINCT, rather than a few rows that another index leads to. None has these two.
_IN_NO_INDEX = (graph_names.c.evidence_id, graph_names.c.name)

AROUND = HotQuery(_around())
TOUCHING = HotQuery(_touching())
NAMES = HotQuery(
    select(graph_names.c.entity, graph_names.c.key, graph_names.c.name, func.count())
    .where(
        graph_names.c.store_id == bindparam("store_id"),
        _in(graph_names.c.entity, "ids"),
        _in(graph_names.c.partition_key, "partitions"),
    )
    .group_by(
        graph_names.c.entity,
        graph_names.c.partition_key,
        graph_names.c.key,
        graph_names.c.name,
    )
)
SPOKEN = HotQuery(
    select(
        graph_names.c.entity, graph_names.c.key, graph_names.c.name, graph_names.c.evidence_id
    ).where(
        graph_names.c.store_id == bindparam("store_id"),
        _in(graph_names.c.entity, "ids"),
        _in(graph_names.c.partition_key, "partitions"),
    )
)
TYPES = HotQuery(
    select(graph_entities.c.id, graph_entities.c.type).where(
        graph_entities.c.store_id == bindparam("store_id"), _in(graph_entities.c.id, "ids")
    )
)
MENTIONS = HotQuery(
    select(graph_names.c.entity, graph_names.c.evidence_id, graph_names.c.key).where(
        graph_names.c.store_id == bindparam("store_id"),
        _in(graph_names.c.entity, "ids"),
        _in(graph_names.c.partition_key, "partitions"),
    )
)
NAMED_BY = HotQuery(
    select(graph_names.c.entity, *_IN_NO_INDEX).where(
        graph_names.c.store_id == bindparam("store_id"),
        _in(graph_names.c.evidence_id, "ids"),
        _in(graph_names.c.partition_key, "partitions"),
    )
)
EVIDENCE = HotQuery(
    select(
        graph_evidence.c.relation, graph_evidence.c.evidence_id, graph_evidence.c.confidence
    ).where(
        graph_evidence.c.store_id == bindparam("store_id"), _in(graph_evidence.c.relation, "ids")
    )
)
CALLED = HotQuery(
    select(graph_names.c.key, graph_names.c.entity, *_IN_NO_INDEX).where(
        graph_names.c.store_id == bindparam("store_id"),
        _in(graph_names.c.key, "ids"),
        _in(graph_names.c.partition_key, "partitions"),
    )
)
