"""Questions to the graph about entities: who is called so, and which memories speak of them.

Each names the partitions that its actor may read; what another partition knows is not read.
``aside`` is evidence that is not to be believed: what nothing else is called, or speaks of, is not
there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from itertools import islice
from typing import Any

from sqlalchemy import func, select

from langchain_memengine.storage.graph_schema import graph_names
from langchain_memengine.storage.graph_statements import (
    CALLED,
    MENTIONS,
    NAMED_BY,
    NAMES,
    SPOKEN,
    TYPES,
)
from langchain_memengine.storage.graph_values import Entity, entity_id
from langchain_memengine.storage.long_lists import rows_of
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.names import entity_key


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
    names: dict[str, dict[str, Counter[str]]] = {}
    for one, key, name, times in _names(tx, ids, partitions, aside):
        names.setdefault(one, {}).setdefault(key, Counter())[name] += times
    types = dict(rows_of(tx, TYPES, [one for one in ids if one in names]))
    return {one: _entity(one, types[one], names[one]) for one in ids if one in names}


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


def mentions(
    tx: Transaction, ids: Sequence[str], *, partitions: Sequence[str]
) -> list[tuple[Any, ...]]:
    """Return (entity, evidence, key of the name) for all evidence of entities, sorted."""
    return sorted(rows_of(tx, MENTIONS, sorted(ids), partitions=list(partitions)))


def named_by(tx: Transaction, evidence: Sequence[str], *, partitions: Sequence[str]) -> list[str]:
    """Return the ids of the entities that these memories name, sorted."""
    rows = rows_of(tx, NAMED_BY, evidence, partitions=list(partitions))
    return sorted({entity for entity, *_ in rows})


def _names(
    tx: Transaction, ids: Sequence[str], partitions: Sequence[str], aside: Collection[str]
) -> list[tuple[Any, ...]]:
    """Return (entity, key of a name, name, how often) of some entities."""
    if not aside:
        return rows_of(tx, NAMES, ids, partitions=list(partitions))
    rows = rows_of(tx, SPOKEN, ids, partitions=list(partitions))
    return [(*names, 1) for *names, evidence in rows if evidence not in aside]


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
