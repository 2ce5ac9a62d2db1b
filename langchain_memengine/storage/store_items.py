"""Item rows: values under namespaces and keys, with a time to live."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    ColumnElement,
    Select,
    bindparam,
    delete,
    func,
    literal_column,
    or_,
    select,
    update,
)

from langchain_memengine.storage import dialects
from langchain_memengine.storage.item_schema import store_items
from langchain_memengine.storage.item_values import (
    Namespace,
    StoredItem,
    namespace_of,
    path_of,
    root_of,
)
from langchain_memengine.storage.schema import chunks
from langchain_memengine.storage.statements import HotQuery, batches, begins_with
from langchain_memengine.storage.times import from_ms, to_ms
from langchain_memengine.storage.transaction import Transaction

_STORED = select(
    store_items.c.namespace,
    store_items.c.key,
    store_items.c.value,
    store_items.c.indexed,
    store_items.c.created_at,
    store_items.c.updated_at,
    store_items.c.ttl_ms,
    store_items.c.expires_at,
)

_LISTED = (store_items.c.created_at, store_items.c.namespace, store_items.c.key)
_VALUES = (
    select(store_items.c.source, store_items.c.value)
    .where(
        store_items.c.store_id == bindparam("store_id"),
        or_(store_items.c.expires_at.is_(None), store_items.c.expires_at > bindparam("now")),
    )
    .order_by(*_LISTED)
)
_ALL_VALUES = HotQuery(_VALUES)
_VALUES_UNDER = HotQuery(
    _VALUES.where(
        store_items.c.root == bindparam("root"),
        func.substr(store_items.c.namespace, literal_column("1"), bindparam("length"))
        == bindparam("path"),
    )
)


def by_sources(tx: Transaction, sources: Sequence[str], now: datetime) -> dict[str, StoredItem]:
    """Return those of these items that are there and not expired, by source."""
    found: dict[str, StoredItem] = {}
    for batch in batches(sources):
        rows = tx.connection.execute(
            _STORED.where(*_live(tx, now), store_items.c.source.in_(batch))
        )
        found.update((item.source, item) for item in map(_item, rows))
    return found


def under(
    tx: Transaction, prefix: Namespace, now: datetime, *, limit: int | None = None, offset: int = 0
) -> list[StoredItem]:
    """Return the items in and under a namespace, those created first first.

    Args:
        tx: A view of the database.
        prefix: The namespace; ``()`` is everything.
        now: Expired items are left out.
        limit: Items, at most.
        offset: Items that are passed over.
    """
    statement = _within(_STORED.where(*_live(tx, now)), prefix).order_by(*_LISTED)
    return [_item(row) for row in tx.connection.execute(statement.limit(limit).offset(offset))]


def values_under(tx: Transaction, prefix: Namespace, now: datetime) -> list[tuple[str, str]]:
    """Return source and value, as JSON, of the items in and under a namespace, oldest first.

    A filter reads all of them, and most are no answer: they do not become items.
    """
    path = path_of(prefix)
    given = {"store_id": tx.store_id, "now": to_ms(now)}
    if not prefix:
        rows = _ALL_VALUES.rows(tx.connection, given)
    else:
        given |= {"root": root_of(prefix), "length": len(path), "path": path}
        rows = _VALUES_UNDER.rows(tx.connection, given)
    return [(source, value) for source, value in rows]


def namespaces(tx: Transaction, now: datetime) -> list[Namespace]:
    """Return the namespaces that have items, in no order."""
    statement = select(store_items.c.namespace).where(*_live(tx, now)).distinct()
    return [namespace_of(path) for path in tx.connection.execute(statement).scalars()]


def naming(tx: Transaction, label: str) -> int:
    """Return how many items are in namespaces that have this label."""
    rows = tx.connection.execute(
        select(store_items.c.namespace, func.count())
        .where(store_items.c.store_id == tx.store_id)
        .group_by(store_items.c.namespace)
    )
    return sum(number for path, number in rows if label in namespace_of(path))


def holding(tx: Transaction, holds: Callable[[str], bool]) -> int:
    """Return how many items have a value, as JSON, of which this is true."""
    rows = tx.connection.execute(
        select(store_items.c.value).where(store_items.c.store_id == tx.store_id)
    )
    return sum(holds(value) for (value,) in rows)


def roots(tx: Transaction) -> list[str]:
    """Return under which roots there are items, sorted."""
    statement = select(store_items.c.root).where(store_items.c.store_id == tx.store_id)
    return sorted(tx.connection.execute(statement.distinct()).scalars())


def put(tx: Transaction, items: Sequence[StoredItem]) -> None:
    """Store items; one that is there and not expired keeps the time it was created."""
    if not items:
        return
    old = by_sources(tx, [item.source for item in items], items[0].updated_at)
    rows = [_row(tx, item, old.get(item.source, item).created_at) for item in items]
    dialects.upsert(tx.connection, store_items, rows)


def remove(tx: Transaction, sources: Sequence[str]) -> None:
    """Remove items; their chunks are for the caller to remove."""
    for batch in batches(sources):
        tx.connection.execute(
            delete(store_items).where(
                store_items.c.store_id == tx.store_id, store_items.c.source.in_(batch)
            )
        )


def expired(tx: Transaction, now: datetime, *, limit: int) -> list[str]:
    """Return the sources of up to ``limit`` expired items."""
    statement = select(store_items.c.source).where(
        store_items.c.store_id == tx.store_id, store_items.c.expires_at <= to_ms(now)
    )
    return list(tx.connection.execute(statement.limit(limit)).scalars())


def refresh(tx: Transaction, sources: Sequence[str], now: datetime) -> None:
    """Let these items, and their chunks, expire a whole time to live from now.

    It counts with the accesses: no row is another one, but searches look again at what is valid.
    """
    for batch in batches(sources):
        mine = (store_items.c.store_id == tx.store_id) & store_items.c.source.in_(batch)
        live = mine & store_items.c.ttl_ms.is_not(None) & (store_items.c.expires_at > to_ms(now))
        tx.connection.execute(
            update(store_items)
            .where(live)
            .values(expires_at=to_ms(now) + func.coalesce(store_items.c.ttl_ms, 0))
        )
        until = tx.connection.execute(
            select(store_items.c.source, store_items.c.expires_at).where(
                live, store_items.c.indexed
            )
        ).all()
        if until:
            _ = tx.access_seq
        for source, expires_ms in until:
            tx.connection.execute(
                update(chunks)
                .where(chunks.c.store_id == tx.store_id, chunks.c.source == source)
                .values(expires_at=expires_ms)
            )


def _live(tx: Transaction, now: datetime) -> tuple[ColumnElement[bool], ...]:
    expires = store_items.c.expires_at
    return store_items.c.store_id == tx.store_id, or_(expires.is_(None), expires > to_ms(now))


def _within(statement: Select[Any], prefix: Namespace) -> Select[Any]:
    if not prefix:
        return statement
    path = path_of(prefix)
    return statement.where(
        store_items.c.root == root_of(prefix),
        begins_with(store_items.c.namespace, path),
    )


def _item(row: Sequence[Any]) -> StoredItem:
    path, key, value, indexed, created, updated, ttl_ms, expires = row
    return StoredItem(
        namespace=namespace_of(path),
        key=json.loads(key),
        value=json.loads(value),
        indexed=indexed,
        created_at=from_ms(created),
        updated_at=from_ms(updated),
        ttl=None if ttl_ms is None else timedelta(milliseconds=ttl_ms),
        expires_at=from_ms(expires),
    )


def _row(tx: Transaction, item: StoredItem, created_at: datetime) -> dict[str, Any]:
    return {
        "store_id": tx.store_id,
        "source": item.source,
        "root": root_of(item.namespace),
        "namespace": path_of(item.namespace),
        "key": json.dumps(item.key),
        "value": json.dumps(item.value),
        "indexed": item.indexed,
        "ttl_ms": None if item.ttl is None else item.ttl // timedelta(milliseconds=1),
        "expires_at": to_ms(item.expires_at),
        "created_at": to_ms(created_at),
        "updated_at": to_ms(item.updated_at),
    }
