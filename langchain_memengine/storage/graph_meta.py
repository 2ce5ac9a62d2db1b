"""Values noted about a graph."""

from __future__ import annotations

from sqlalchemy import select

from langchain_memengine.storage import dialects
from langchain_memengine.storage.graph_schema import graph_meta
from langchain_memengine.storage.transaction import Transaction

FOLLOWED = "changes"
"""Key of the value of the change counter up to which a graph followed the memory."""


def get_meta(tx: Transaction, key: str) -> str | None:
    """Return a value noted about the graph, or ``None``."""
    return tx.connection.execute(
        select(graph_meta.c.value).where(
            graph_meta.c.store_id == tx.store_id, graph_meta.c.key == key
        )
    ).scalar_one_or_none()


def set_meta(tx: Transaction, key: str, value: str) -> None:
    """Note a value about the graph, replacing an earlier one."""
    row = {"store_id": tx.store_id, "key": key, "value": value}
    dialects.upsert(tx.connection, graph_meta, [row])
