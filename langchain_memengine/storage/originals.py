"""Texts as they were given, beside the chunks that are searched for them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import delete, select

from langchain_memengine.storage import dialects
from langchain_memengine.storage.item_schema import originals
from langchain_memengine.storage.statements import batches
from langchain_memengine.storage.transaction import Transaction


@dataclass(frozen=True, slots=True)
class Original:
    """A text as it was given: chunks overlap, and hold no blank lines.

    Attributes:
        text: All of it.
        metadata: What it came with.
    """

    text: str
    metadata: Mapping[str, Any]


def by_sources(tx: Transaction, sources: Sequence[str]) -> dict[str, Original]:
    """Return the originals of those of these sources that have one."""
    found: dict[str, Original] = {}
    for batch in batches(sources):
        rows = tx.connection.execute(
            select(originals.c.source, originals.c.text, originals.c["metadata"]).where(
                originals.c.store_id == tx.store_id, originals.c.source.in_(batch)
            )
        )
        found.update((source, Original(text, json.loads(data))) for source, text, data in rows)
    return found


def put(tx: Transaction, kept: Mapping[str, Original]) -> None:
    """Keep originals by source."""
    rows = [
        {
            "store_id": tx.store_id,
            "source": source,
            "text": original.text,
            "metadata": json.dumps(dict(original.metadata), ensure_ascii=False),
        }
        for source, original in kept.items()
    ]
    dialects.upsert(tx.connection, originals, rows)


def forget(tx: Transaction, sources: Sequence[str]) -> None:
    """Forget the originals of sources whose chunks change."""
    for batch in batches(sources):
        tx.connection.execute(
            delete(originals).where(
                originals.c.store_id == tx.store_id, originals.c.source.in_(batch)
            )
        )
