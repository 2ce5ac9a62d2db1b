"""What database servers have in common: connections that may be lost, and errors."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from sqlalchemy import Connection, Engine
from sqlalchemy.exc import DBAPIError

from langchain_memengine.errors import (
    MissingDependencyError,
    StorageError,
    StorageFullError,
    StoreBusyError,
    StoreUnreachableError,
)

CONNECT_SECONDS = 10
"""Wait for a server to answer, at most."""

Named = Callable[[DBAPIError], StorageError]
"""Makes the error of this package for one of SQLAlchemy's."""

POOL: dict[str, Any] = {
    "pool_pre_ping": True,  # one that was lost while nobody used it is replaced
    "max_overflow": -1,  # each thread that reads has a connection; the server has the limit
}


def require_driver(module: str, *, extra: str, needed_for: str) -> None:
    """Make sure that a driver is installed.

    Raises:
        MissingDependencyError: It is not.
    """
    if find_spec(module) is None:
        raise MissingDependencyError(module, extra=extra, needed_for=needed_for)


def scrub(_engine: Engine) -> str:
    """Return where deleted rows still are: when a server overwrites them is its own affair."""
    return "The files and logs of the database server, until it uses the space again."


def damage(_connection: Connection, *, thorough: bool) -> None:  # noqa: ARG001
    """Return that nothing is known: the files are the server's."""
    return


def unreachable(error: DBAPIError) -> StorageError:
    """Return the error for a server that does not answer."""
    return StoreUnreachableError(
        f"The database server cannot be reached, or broke off ({error.orig}). A change that was "
        "being stored may or may not be; what was acknowledged is. Check that the server runs and "
        "that the URL names it, then try again: the engine connects anew by itself."
    )


def broken_off(error: DBAPIError) -> StorageError:
    """Return the error for a connection that MySQL ended, as it does with too large statements."""
    return StoreUnreachableError(
        f"{unreachable(error)} If it was a text of many megabytes, raise max_allowed_packet."
    )


def busy(_error: DBAPIError | None = None) -> StorageError:
    """Return the error for a transaction that stood in another one's way."""
    return StoreBusyError(
        "Another process held the store's write lock for longer than busy_timeout_ms, or the "
        "server ended this transaction in favour of another. Nothing was stored. Try again; if it "
        "happens often, raise busy_timeout_ms."
    )


def full(error: DBAPIError) -> StorageError:
    """Return the error for a server that has no room left."""
    return StorageFullError(
        f"The database server has no room left ({error.orig}); the change was not stored, "
        "everything acknowledged before is kept. Free space on the server and try again."
    )


def refused(error: DBAPIError) -> StorageError:
    """Return the error for a user or database that the server does not accept."""
    return StorageError(
        f"The database server does not let this user in, or not do this ({error.orig}). Check "
        "user, password and database in the URL, and that the user may make tables there."
    )


def too_long(error: DBAPIError) -> StorageError:
    """Return the error for a value that does not fit into its column."""
    return StorageError(
        f"A name, path or id is longer than this database holds ({error.orig}). Nothing was "
        "stored. Use a shorter one, or a hash of it."
    )


def too_large(error: DBAPIError) -> StorageError:
    """Return the error for a statement that the server does not take as a whole."""
    return StorageError(
        f"A text is larger than the server accepts at once ({error.orig}). Nothing was stored. "
        "Raise max_allowed_packet on the server, or store smaller texts."
    )


def unknown(error: DBAPIError) -> StorageError:
    """Return the error for anything else."""
    return StorageError(f"The database refused the operation: {error.orig}")
