"""MariaDB and MySQL: how they are connected to, who may write, and what their errors mean."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from sqlalchemy import URL, Connection, Engine, Insert, Table, create_engine, event
from sqlalchemy.dialects.mysql import insert
from sqlalchemy.exc import DBAPIError, IntegrityError

from langchain_memengine.errors import StorageError
from langchain_memengine.storage import servers
from langchain_memengine.storage.column_types import MAX_MYSQL_KEY_CHARS, KeyLimit
from langchain_memengine.storage.statements import control
from langchain_memengine.text.digests import digest

BEGIN_READ = "START TRANSACTION WITH CONSISTENT SNAPSHOT, READ ONLY"
KEY_LIMIT: KeyLimit | None = KeyLimit(MAX_MYSQL_KEY_CHARS, 4 * MAX_MYSQL_KEY_CHARS)

_DRIVERS = {"mysql": "mysql+pymysql", "mariadb": "mariadb+pymysql"}
_WAIT_SECONDS = "memengine_wait_seconds"

_DUPLICATE = 1062

# From the manuals of both; of MySQL alone from 3000 on.
_MEANINGS: dict[servers.Named, tuple[int, ...]] = {
    servers.busy: (1205, 1213, 3058, 3572),
    servers.full: (1021, 1038, 1114, 3675),
    servers.refused: (1044, 1045, 1046, 1049, 1142, 1227, 1698),
    servers.too_long: (1071, 1406),
    servers.too_large: (1153, 1301),
    servers.unreachable: (1040, 1053, 1077, 1203, 1927, 2002, 2003, 4031),
    servers.broken_off: (2006, 2013, 2055),
}
_NAMED = {number: named for named, numbers in _MEANINGS.items() for number in numbers}


def connect(url: URL, *, busy_timeout_ms: int, read_only: bool) -> Engine:  # noqa: ARG001
    """Return an engine with the settings the store's promises need.

    Raises:
        MissingDependencyError: The driver is not installed.
    """
    servers.require_driver("pymysql", extra="mysql", needed_for="A MariaDB or MySQL database")
    wait = math.ceil(busy_timeout_ms / 1000)
    arguments: dict[str, Any] = {"connect_timeout": servers.CONNECT_SECONDS, "charset": "utf8mb4"}
    if url.password:  # the driver would write it in Latin-1, or fail to
        arguments["password"] = url.password.encode()
    engine = create_engine(
        url.set(drivername=_DRIVERS[url.get_backend_name()]),
        isolation_level="REPEATABLE READ",
        connect_args=arguments,
        execution_options={_WAIT_SECONDS: wait},
        **servers.POOL,
    )

    @event.listens_for(engine, "connect")
    def _on_connect(connection: Any, _record: object) -> None:
        with connection.cursor() as cursor:
            # Otherwise what does not fit is cut off without a word.
            cursor.execute("SET SESSION sql_mode = 'STRICT_ALL_TABLES,NO_ENGINE_SUBSTITUTION'")
            cursor.execute(f"SET SESSION innodb_lock_wait_timeout = {max(wait, 1)}")

    return engine


def reader(engine: Engine) -> Connection:
    """Return a connection that only reads."""
    return engine.connect().execution_options(isolation_level="AUTOCOMMIT")


@contextmanager
def writing(connection: Connection, lock: str | None) -> Iterator[None]:
    """Open a transaction that has a lock to itself, if one is named.

    Its view begins with its first statement on a table, after it got the lock, so that it reads
    what the last holder left. A schema change, which commits by itself, does not end the lock.
    """
    if lock is None:
        # Without a lock, gaps between rows must not be locked: others insert there.
        connection.execution_options(isolation_level="READ COMMITTED")
        with connection.begin():
            yield
        return
    # Names are the whole server's, and may have 64 characters.
    of_database = f"{connection.engine.url.database} {lock}"
    name = f"memengine-{digest(of_database)[:40]}"
    try:
        with connection.begin():
            _acquire(connection, name)
            yield
    finally:
        if not connection.invalidated:  # the server releases it with the connection
            control(connection, f"DO RELEASE_LOCK('{name}')")


def _acquire(connection: Connection, name: str) -> None:
    wait = connection.get_execution_options()[_WAIT_SECONDS]
    got = connection.exec_driver_sql("SELECT GET_LOCK(%s, %s)", (name, wait)).scalar_one()
    if got != 1:
        raise servers.busy()


scrub = servers.scrub
damage = servers.damage


def upsert(table: Table, names: Sequence[str], add: str | None) -> Insert:
    """Return the statement that inserts rows, or replaces the columns of those that exist."""
    keys = [column.name for column in table.primary_key]
    statement = insert(table)
    changed: dict[str, Any] = {
        name: statement.inserted[name] for name in names if name not in keys
    } or {keys[0]: table.c[keys[0]]}
    if add is not None:
        changed[add] = table.c[add] + statement.inserted[add]
    return statement.on_duplicate_key_update(changed)


def insert_unless_taken(
    connection: Connection,
    table: Table,
    row: Mapping[str, Any],
    key: Sequence[str],  # noqa: ARG001
) -> int | None:
    """Insert a row and return its number; ``None`` where a unique key exists already."""
    try:
        with connection.begin_nested():
            inserted = connection.execute(insert(table).values(row)).inserted_primary_key
    except IntegrityError as error:
        if _number(error) == _DUPLICATE:
            return None
        raise
    return None if inserted is None else int(inserted[0])


def last_number(connection: Connection, table: Table) -> int:
    """Return the highest number that a row of a table ever had; 0 if there was none."""
    upcoming = (
        "SELECT coalesce(auto_increment, 1) FROM information_schema.tables "
        "WHERE table_schema = database() AND table_name = %s"
    )
    return int(connection.exec_driver_sql(upcoming, (table.name,)).scalar_one()) - 1


def number_after(connection: Connection, table: Table, last: int) -> None:
    """Let the numbers of a table that is empty go on after ``last``; this commits."""
    connection.exec_driver_sql(f"ALTER TABLE {table.name} AUTO_INCREMENT = {last + 1}")


def named_error(error: DBAPIError) -> StorageError:
    """Return the error of this package for one of SQLAlchemy's."""
    otherwise = servers.unreachable if error.connection_invalidated else servers.unknown
    return _NAMED.get(_number(error), otherwise)(error)


def _number(error: DBAPIError) -> int:
    """Return the server's or the driver's number of an error; 0 if it has none."""
    return next((one for one in getattr(error.orig, "args", ()) if isinstance(one, int)), 0)
