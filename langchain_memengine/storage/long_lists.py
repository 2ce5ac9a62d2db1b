"""Rows for lists of any length, by statements that are compiled for a few lengths only."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from langchain_memengine.storage.statements import MAX_PARAMETERS, HotQuery, batches
from langchain_memengine.storage.transaction import Transaction

_LENGTHS = (1, 8, 32, 96, 192, MAX_PARAMETERS)


def rows_of(
    tx: Transaction, query: HotQuery, ids: Sequence[str], **parameters: Any
) -> list[tuple[Any, ...]]:
    """Return the rows for a list, which is filled up: few lengths mean few compiled statements."""
    rows: list[tuple[Any, ...]] = []
    for batch in batches(ids):
        length = next(length for length in _LENGTHS if length >= len(batch))
        padded = [*batch, *([batch[-1]] * (length - len(batch)))]
        rows += query.rows(tx.connection, {"store_id": tx.store_id, "ids": padded, **parameters})
    return rows
