"""ClickHouse: versions of records, revisions and messages, which are only ever added."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    Connection,
    MetaData,
    Row,
    Select,
    SmallInteger,
    String,
    Table,
    create_engine,
    func,
    insert,
    make_url,
    select,
)
from sqlalchemy.exc import DBAPIError, OperationalError

from langchain_memengine.errors import StorageError
from langchain_memengine.storage import servers
from langchain_memengine.storage.conversation_schema import messages
from langchain_memengine.storage.schema import memories, memory_revisions

BACKEND = "clickhousedb"
KEPT = (messages, memories, memory_revisions)
"""The tables whose rows are there."""

_SETTINGS = {"max_query_size": 2**28}
"""Bytes of a statement, which may list all the keys that one transaction changed."""

# What ClickHouse has acknowledged is on disk.
_DURABLE = "fsync_after_insert = 1, fsync_part_directory = 1"

# From the file ErrorCodes.cpp of its sources.
_CODES: dict[int, servers.Named] = {
    192: servers.refused,  # unknown user
    193: servers.refused,  # wrong password
    194: servers.refused,  # password required
    243: servers.full,
    497: servers.refused,  # access denied
    516: servers.refused,  # authentication failed
    81: servers.refused,  # unknown database
}

_stores = Table(
    "memory_stores",
    MetaData(),
    Column("store_id", String, nullable=False),
    Column("pair", String, nullable=False),
)


def key_of(table: Table) -> Column[str]:
    """Return the column that tells a store's rows of a table apart."""
    _, key = table.primary_key
    return key


class ClickHouse:
    """A ClickHouse database with the newest version of each row.

    A change is a new version of a row with a higher number, a removal one that says so; ClickHouse
    merges them when it pleases, and reading with ``FINAL`` shows the newest. Adding a version twice
    is adding it once.

    Attributes:
        url: Where it is.
    """

    def __init__(self, url: str, *, read_only: bool) -> None:
        """Connect, and make the tables unless read-only.

        Raises:
            MissingDependencyError: The driver is not installed.
            StorageError: The server does not answer, or refuses.
        """
        servers.require_driver(
            "clickhouse_connect", extra="clickhouse", needed_for="A ClickHouse database"
        )
        self.url = make_url(url)
        self._engine = create_engine(self.url, max_overflow=-1)
        self._versions = {table.name: _with_version(table) for table in KEPT}
        if not read_only:
            with self._connected() as connection:
                for statement in (*map(_making, self._versions.values()), _MAKING_STORES):
                    connection.exec_driver_sql(statement)

    def rows(self, table: Table, statement: Select[Any]) -> list[Row[Any]]:
        """Return what a statement finds among the newest versions of a table's rows."""
        from clickhouse_connect.cc_sqlalchemy import final

        with self._connected() as connection:
            newest = final(statement, table).execution_options(settings=_SETTINGS)
            return list(connection.execute(newest))

    def add(self, table: Table, versions: Sequence[Mapping[str, Any]]) -> None:
        """Add versions of a table's rows, on disk when this returns.

        Args:
            table: Whose rows they are.
            versions: The columns of each row with its ``version`` and whether it is ``removed``;
                of a removed one no others but its key.
        """
        target = self._versions[table.name]
        blank = {column.name: _blank(column) for column in target.c}
        with self._connected() as connection:
            connection.execute(insert(target), [{**blank, **version} for version in versions])

    def newest(self, store_id: str) -> int:
        """Return the highest version of a store's rows; 0 if there are none."""
        with self._connected() as connection:
            return max(
                connection.execute(
                    select(func.max(table.c.version)).where(table.c.store_id == store_id)
                ).scalar_one()
                or 0
                for table in self._versions.values()
            )

    def pair(self, store_id: str) -> str | None:
        """Return which other database the rest of a store is in; ``None`` for an unknown store."""
        of_store = select(_stores.c.pair).where(_stores.c.store_id == store_id).distinct()
        with self._connected() as connection:
            return connection.execute(of_store).scalars().first()

    def set_pair(self, store_id: str, pair: str) -> None:
        """Note which other database the rest of a store is in."""
        with self._connected() as connection:
            connection.execute(insert(_stores), [{"store_id": store_id, "pair": pair}])

    def scrub(self) -> str:
        """Merge all versions, so that only the newest are left; return where others still are.

        Raises:
            StorageError: The server does not answer, or refuses.
        """
        with self._connected() as connection:
            for name in self._versions:
                connection.exec_driver_sql(f"OPTIMIZE TABLE {name} FINAL")
        return "ClickHouse's files, until it removes the parts it merged, some minutes later."

    def close(self) -> None:
        """Close every connection. Closing twice is fine."""
        self._engine.dispose()

    @contextmanager
    def _connected(self) -> Iterator[Connection]:
        try:
            with self._engine.connect() as connection:
                yield connection
        except DBAPIError as error:
            raise _named_error(error) from error


def _with_version(table: Table) -> Table:
    columns = [Column(c.name, c.type, nullable=c.nullable) for c in table.columns]
    version = Column("version", BigInteger, nullable=False)
    removed = Column("removed", SmallInteger, nullable=False)
    return Table(table.name, MetaData(), *columns, version, removed, info={"key": key_of(table)})


def _making(table: Table) -> str:
    columns = ", ".join(f"`{column.name}` {_type(column)}" for column in table.columns)
    return (
        f"CREATE TABLE IF NOT EXISTS `{table.name}` ({columns}) "
        f"ENGINE = ReplacingMergeTree(version, removed) "
        f"ORDER BY (store_id, `{table.info['key'].name}`) SETTINGS {_DURABLE}"
    )


_MAKING_STORES = (
    "CREATE TABLE IF NOT EXISTS memory_stores (store_id String, pair String) "
    f"ENGINE = MergeTree ORDER BY store_id SETTINGS {_DURABLE}"
)


def _type(column: Column[Any]) -> str:
    if isinstance(column.type, SmallInteger):
        return "UInt8"
    name = "Int64" if isinstance(column.type, BigInteger) else "String"
    return f"Nullable({name})" if column.nullable else name


def _blank(column: Column[Any]) -> str | int | None:
    if column.nullable:
        return None
    return 0 if isinstance(column.type, BigInteger | SmallInteger) else ""


def _named_error(error: DBAPIError) -> StorageError:
    """Return the error of this package for one of SQLAlchemy's."""
    code = getattr(error.orig, "code", None)
    if code is None and isinstance(error, OperationalError):  # the server said nothing
        return servers.unreachable(error)
    return _CODES.get(code or 0, servers.unknown)(error)
