"""Connections to a database, and the transactions on them."""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Callable, Iterator
from datetime import datetime

from sqlalchemy import Connection
from sqlalchemy.exc import DBAPIError

from langchain_memengine.errors import ConfigurationError, ReadOnlyError, StorageError
from langchain_memengine.storage import change_counters, dialects, migrations, sqlite
from langchain_memengine.storage.clickhouse import ClickHouse
from langchain_memengine.storage.statements import as_sqlalchemy_wraps, control
from langchain_memengine.storage.times import to_ms
from langchain_memengine.storage.transaction import Transaction

CLICKHOUSE_PAIR = "clickhouse_pair"
"""Key of a store whose records are in ClickHouse; what they know it by there."""

MAX_IDLE_READERS = 8
"""Connections that are kept for reading while nobody reads; more threads open more."""


def _tell_nobody() -> None:
    """Stand where nobody waits for jobs."""


class Database:
    """A database of one store: its state, unless another schema is named.

    Attributes:
        clickhouse: Where records, revisions and messages are, if not here.
        on_queued_jobs: Called after a commit that put jobs.
        wrote_at: When a transaction was last committed here, as :meth:`moment` counts.
    """

    def __init__(
        self,
        url: str,
        *,
        store_id: str,
        now: datetime,
        busy_timeout_ms: int,
        read_only: bool = False,
        schema: migrations.Schema = migrations.STATE,
    ) -> None:
        """Connect, and bring the schema up to date unless read-only.

        Raises:
            ConfigurationError: The URL is malformed or names an unsupported database.
            SchemaVersionError: A newer release wrote the database.
            StorageError: The database cannot be opened.
        """
        self.store_id = store_id
        self.read_only = read_only
        self.clickhouse: ClickHouse | None = None
        self.on_queued_jobs: Callable[[], None] = _tell_nobody
        self.wrote_at = 0
        self._moments = itertools.count(1)
        self._writers = threading.Lock()
        self._schema = schema
        self._engine = dialects.connect(url, busy_timeout_ms=busy_timeout_ms, read_only=read_only)
        self._dialect = dialects.dialect_of(self._engine)
        self._gate: contextlib.AbstractContextManager[object] = (
            threading.RLock() if sqlite.is_in_memory(self._engine.url) else contextlib.nullcontext()
        )
        self._readers: list[Connection] = []
        self._closed = False
        try:
            self._prepare_schema(now)
        except BaseException:
            self.close()
            raise

    def _prepare_schema(self, now: datetime) -> None:
        steps, log = self._schema.migrations, self._schema.log
        if self.read_only:
            with self.read() as tx:
                migrations.check(tx.connection, steps, log)
                if self._schema.counts_changes:
                    change_counters.require(tx.connection, self.store_id)
                    self._require_records_here(tx)
        else:
            # Processes that open an empty server at the same time must not make tables twice.
            with self._writing(log.name) as connection:
                migrations.migrate(connection, to_ms(now), steps, log)
                if self._schema.counts_changes:
                    change_counters.ensure(connection, self.store_id)
                    self._require_records_here(Transaction(connection, self.store_id))

    def _require_records_here(self, tx: Transaction) -> None:
        """Refuse a store whose records would seem to be lost.

        Raises:
            ConfigurationError: They are in ClickHouse.
        """
        if tx.get_meta(CLICKHOUSE_PAIR) is not None:
            raise ConfigurationError(
                f"The records of the store {self.store_id!r} are in ClickHouse. Name that in "
                "database_url, and this database in jobs_url."
            )

    @contextlib.contextmanager
    def read(self) -> Iterator[Transaction]:
        """Open a consistent view of the store.

        Raises:
            StoreUnreachableError: The database server does not answer.
            StorageError: The database failed.
        """
        with self._gate, self._named_errors():
            began = self.moment()  # before the view: it shows all that was written until then
            connection = self._begun_reader()
            try:
                yield Transaction(connection, self.store_id, self.clickhouse, began)
                control(connection, "COMMIT")
            except BaseException:
                self._let_go(connection)
                raise
            if len(self._readers) < MAX_IDLE_READERS:
                self._readers.append(connection)
            else:
                self._let_go(connection)
            if self._closed:  # by another thread, meanwhile
                self._close_idle()

    def _begun_reader(self) -> Connection:
        """Return a connection with a view: taking one from the pool costs more than a query."""
        self._require_open()
        while True:
            connection, is_idle = self._reader()
            try:
                control(connection, self._dialect.BEGIN_READ)
            except DBAPIError as error:
                _close(connection)
                if not (is_idle and error.connection_invalidated):
                    raise
            else:
                return connection

    def _reader(self) -> tuple[Connection, bool]:
        """Return a connection that reads, and whether it waited and may have been lost."""
        try:
            return self._readers.pop(), True
        except IndexError:
            connection = self._dialect.reader(self._engine)
            connection.begin()  # SQLAlchemy sees one long transaction on it
            return connection, False

    @contextlib.contextmanager
    def write(self, *, alone: bool = True) -> Iterator[Transaction]:
        """Open a transaction that commits at the end of the block, or leaves nothing behind.

        Args:
            alone: Whether no other transaction may write to the store meanwhile, so that what is
                read stays true until the commit. Without, on a server, each statement must find
                and lock for itself what it changes.

        Raises:
            StoreBusyError: Another process held the write lock too long.
            StoreUnreachableError: The database server does not answer.
            StorageFullError: The disk is full.
            ReadOnlyError: The store was opened to be read only.
            StorageError: The database failed.
        """
        if self.read_only:
            raise ReadOnlyError
        lock = f"{self._schema.log.name} {self.store_id}" if alone else None
        with self._writing(lock) as connection:
            tx = Transaction(connection, self.store_id, self.clickhouse)
            yield tx
        with self._writers:  # in order: a later commit is never taken for an earlier one
            self.wrote_at = self.moment()
        if tx.queued_jobs:
            self.on_queued_jobs()

    @contextlib.contextmanager
    def _writing(self, lock: str | None) -> Iterator[Connection]:
        self._require_open()
        with (
            self._gate,
            self._named_errors(),
            self._engine.connect() as connection,
        ):
            try:
                with self._dialect.writing(connection, lock):
                    yield connection
            finally:
                self._let_go(connection)

    def _let_go(self, connection: Connection) -> None:
        """Close a connection; once this is closed, its pool would keep it open."""
        if self._closed and not connection.invalidated:
            connection.detach()
        _close(connection)

    @contextlib.contextmanager
    def _named_errors(self) -> Iterator[None]:
        try:
            yield
        except DBAPIError as error:
            raise self._dialect.named_error(error) from error
        except (
            self._engine.dialect.loaded_dbapi.Error
        ) as error:  # SQLAlchemy wraps none while it sets a connection up
            wrapped = as_sqlalchemy_wraps(self._engine.dialect, "", error, is_lost=True)
            raise self._dialect.named_error(wrapped) from error

    def moment(self) -> int:
        """Return a number higher than all before: views and commits of this process in order."""
        return next(self._moments)

    def key_problem(self, name: str) -> str | None:
        """Return in words why a name is too long to be a key here; ``None`` if it is not."""
        limit = self._dialect.KEY_LIMIT
        return None if limit is None else limit.problem(name)

    def scrub(self) -> str | None:
        """Leave nothing of deleted rows in the database's files; return where there is still.

        Raises:
            StorageError: The database failed.
        """
        self._require_open()
        with self._gate, self._named_errors():
            return self._dialect.scrub(self._engine)

    def _require_open(self) -> None:
        if self._closed:
            raise StorageError("This engine was closed. Open it again with MemoryEngine.open().")

    def close(self) -> None:
        """Close every connection. Closing twice is fine."""
        self._closed = True
        self._close_idle()
        self._engine.dispose()

    def _close_idle(self) -> None:
        while self._readers:
            with contextlib.suppress(IndexError):  # another thread took the last one
                self._let_go(self._readers.pop())


def _close(connection: Connection) -> None:
    """Close a connection, which may have broken: then there is nothing to roll back."""
    with contextlib.suppress(DBAPIError):
        connection.close()
