"""Named texts kept in the database: the notes of a store without a folder."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import delete, select

from langchain_memengine.storage import dialects
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.schema import documents
from langchain_memengine.storage.times import to_ms
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.digests import digest
from langchain_memengine.text.sanitize import clean_text


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A named text.

    Attributes:
        name: Like a workspace-relative path: ``MEMORY.md``, ``daily/2026-05-19.md``.
        text: All of it.
        updated_ms: When it was last changed.
    """

    name: str
    text: str
    updated_ms: int

    @property
    def hash(self) -> str:
        """``sha256`` of the text in UTF-8, hexadecimal."""
        return digest(self.text)


def all_documents(tx: Transaction) -> list[StoredDocument]:
    """Return every document, by name."""
    rows = tx.connection.execute(
        select(documents.c.name, documents.c.text, documents.c.updated_at)
        .where(documents.c.store_id == tx.store_id)
        .order_by(documents.c.name)
    )
    return [StoredDocument(*row) for row in rows]


def by_name(tx: Transaction, name: str) -> StoredDocument | None:
    """Return a document, ``None`` if there is none of that name."""
    row = tx.connection.execute(
        select(documents.c.name, documents.c.text, documents.c.updated_at).where(
            documents.c.store_id == tx.store_id, documents.c.name == name
        )
    ).one_or_none()
    return None if row is None else StoredDocument(*row)


class TableNotes:
    """Read and write notes in the database; the twin of ``workspace.notes.DiskNotes``."""

    def __init__(self, database: Database, clock: Callable[[], datetime]) -> None:
        self._database = database
        self._clock = clock

    def read(self, name: str) -> str:
        """Return a note's text, ``""`` if there is none."""
        with self._database.read() as tx:
            known = by_name(tx, name)
        return "" if known is None else known.text

    def update(self, name: str, change: Callable[[str], str]) -> None:
        """Replace a note's text by ``change(text)``, atomically; nothing if it stays the same."""
        with self._database.write() as tx:
            old = by_name(tx, name) or StoredDocument(name, "", -1)
            new = clean_text(change(old.text))
            if new != old.text:
                # Whoever knows it by its length and time must see that it is another one.
                updated_ms = max(to_ms(self._clock()), old.updated_ms + 1)
                row = {
                    "store_id": tx.store_id,
                    "name": name,
                    "text": new,
                    "updated_at": updated_ms,
                }
                dialects.upsert(tx.connection, documents, [row])

    def names(self) -> list[str]:
        """Return the names of all notes, sorted."""
        with self._database.read() as tx:
            return [document.name for document in all_documents(tx)]

    def transcripts(self) -> list[str]:
        """Return none: a store without a folder writes no transcripts."""
        return []

    def remove(self, name: str) -> bool:
        """Remove a note; return whether there was one."""
        with self._database.write() as tx:
            mine = (documents.c.store_id == tx.store_id) & (documents.c.name == name)
            return tx.connection.execute(delete(documents).where(mine)).rowcount > 0
