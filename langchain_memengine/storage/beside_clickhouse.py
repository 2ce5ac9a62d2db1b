"""A store in two databases: records, revisions and messages in ClickHouse, the rest beside it."""

from __future__ import annotations

import contextlib
import logging
import secrets
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Table, delete, select

from langchain_memengine.errors import ConfigurationError, StorageError
from langchain_memengine.storage import kept
from langchain_memengine.storage.clickhouse import KEPT, ClickHouse, key_of
from langchain_memengine.storage.database import CLICKHOUSE_PAIR, Database
from langchain_memengine.storage.statements import batches
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.storage.waiting_schema import waiting

logger = logging.getLogger(__name__)

MOVED_AT_ONCE = 500
"""Rows in one insertion."""

_PAIRED = "clickhouse_paired"
"""Key that says that ClickHouse knows the pair."""

Version = dict[str, Any]


class DatabaseBesideClickHouse(Database):
    """The state of one store, in a database with transactions and in ClickHouse.

    The database with transactions decides what is stored: a change is committed there, then moved.
    What could not be moved waits, is read from where it is, and goes with the next change, or when
    the store is next opened.
    """

    def __init__(
        self,
        url: str,
        clickhouse_url: str,
        *,
        store_id: str,
        now: datetime,
        busy_timeout_ms: int,
        read_only: bool = False,
    ) -> None:
        """Connect to both, see that they belong together, and move what waits.

        Args:
            url: The database with transactions.
            clickhouse_url: ``clickhousedb://USER@HOST/NAME``.
            store_id: As for :class:`Database`, like the rest.
            now: The time of a migration.
            busy_timeout_ms: Wait for another writer, at most.
            read_only: Whether nothing is ever written or moved.

        Raises:
            ConfigurationError: A URL is malformed or names an unsupported database, or the rest of
                the store is in another one.
            MissingDependencyError: ClickHouse's driver is not installed.
            SchemaVersionError: A newer release wrote the database.
            StorageError: One of them cannot be opened, or is an older copy.
        """
        super().__init__(
            url,
            store_id=store_id,
            now=now,
            busy_timeout_ms=busy_timeout_ms,
            read_only=read_only,
        )
        try:
            self.clickhouse = self._there = ClickHouse(clickhouse_url, read_only=read_only)
            self._require_pair()
            if not read_only:
                self.move()
        except BaseException:
            self.close()
            raise

    @contextlib.contextmanager
    def write(self, *, alone: bool = True) -> Iterator[Transaction]:
        """Open a transaction; after its commit what it changed is moved to ClickHouse."""
        with super().write(alone=alone) as tx:
            yield tx
        if tx.has_waiting:
            try:
                self.move()
            except StorageError as error:
                logger.warning("Stored, but not in ClickHouse yet. %s", error)

    def move(self) -> None:
        """Move what waits to ClickHouse.

        Raises:
            StorageError: A database failed; what is not moved still waits.
        """
        for table in KEPT:
            while versions := self._waiting(table):
                self._there.add(table, versions)
                self._no_longer_waiting(table, versions)

    def scrub(self) -> str | None:
        """Leave nothing of deleted rows in the files of both; return where there is still."""
        try:
            self.move()
            there = self._there.scrub()
        except StorageError as error:
            there = f"ClickHouse, until it has heard of the removal. {error}"
        here = super().scrub()  # after the move, which removes rows here
        return there if here is None else f"{here} {there}"

    def close(self) -> None:
        """Close every connection. Closing twice is fine."""
        super().close()
        if self.clickhouse is not None:
            self.clickhouse.close()

    def _waiting(self, table: Table) -> list[Version]:
        """Return some of a table's rows that wait, as they are now."""
        with self.read() as tx:
            marks = {
                key: {"version": version, "removed": removed}
                for key, version, removed in tx.connection.execute(
                    select(waiting.c.key, waiting.c.version, waiting.c.removed)
                    .where(_of_table(tx, table))
                    .limit(MOVED_AT_ONCE)
                )
            }
            mine = (table.c.store_id == tx.store_id) & key_of(table).in_(list(marks))
            here = {
                row[key_of(table).name]: dict(row)
                for row in tx.connection.execute(select(table).where(mine)).mappings()
            }
        removed = {"store_id": self.store_id}
        return [
            {**here.get(key, removed), key_of(table).name: key, **mark}
            for key, mark in marks.items()
        ]

    def _no_longer_waiting(self, table: Table, moved: Sequence[Version]) -> None:
        """Remove rows that were moved, but for those that were changed again meanwhile."""
        versions = {version[key_of(table).name]: version["version"] for version in moved}
        with super().write() as tx:
            for batch in batches(list(versions)):
                marks = tx.connection.execute(
                    select(waiting.c.key, waiting.c.version).where(
                        _of_table(tx, table), waiting.c.key.in_(batch)
                    )
                )
                done = [key for key, version in marks if versions[key] == version]
                mine = (table.c.store_id == tx.store_id) & key_of(table).in_(done)
                tx.connection.execute(delete(table).where(mine))
                tx.connection.execute(
                    delete(waiting).where(_of_table(tx, table), waiting.c.key.in_(done))
                )

    def _require_records_here(self, tx: Transaction) -> None:
        """Accept that they are in ClickHouse."""

    def _require_pair(self) -> None:
        """Make sure that both databases hold parts of one store, of the same moment.

        Raises:
            ConfigurationError: They do not.
            StorageError: ClickHouse is ahead, or has no such store and nothing may be written.
        """
        known = self._there.pair(self.store_id)
        newest = self._there.newest(self.store_id)
        with self.read() as tx:
            pair, is_paired = tx.get_meta(CLICKHOUSE_PAIR), tx.get_meta(_PAIRED) is not None
            changes = tx.counters().changes
        if not is_paired and not self.read_only and known in {None, pair}:
            self._make_pair(known)
        elif known is None or known != pair:
            raise ConfigurationError(
                f"The records of the store {self.store_id!r} in ClickHouse and the database "
                "jobs_url do not belong together: one of them was made with another. All engines "
                "of a store need the same database_url and the same jobs_url. Correct them, or "
                "choose another store_id."
            )
        if newest > changes:
            raise StorageError(
                f"ClickHouse holds changes of the store {self.store_id!r} that the database "
                "jobs_url does not know of: that is an older copy. Nothing was changed. Restore "
                "both from copies of the same moment, or go back to the newer one."
            )

    def _make_pair(self, known: str | None) -> None:
        with super().write() as tx:
            pair = tx.get_meta(CLICKHOUSE_PAIR) or secrets.token_hex(16)
            tx.set_meta(CLICKHOUSE_PAIR, pair)
        if known is None:
            self._there.set_pair(self.store_id, pair)
        with super().write() as tx:
            for table in KEPT:  # the store may have been in one database until now
                mine = select(key_of(table)).where(table.c.store_id == self.store_id)
                kept.mark(tx, table, list(tx.connection.execute(mine).scalars()))
            tx.set_meta(_PAIRED, "yes")


def _of_table(tx: Transaction, table: Table) -> ColumnElement[bool]:
    return (waiting.c.store_id == tx.store_id) & (waiting.c.table_name == table.name)
