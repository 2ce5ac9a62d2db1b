"""Put a backup in the place of a memory's database, and let everything derived be made anew."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Callable, Collection
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from uuid import uuid4

from langchain_memengine.config import MemEngineConfig, load_config
from langchain_memengine.engine.derived import CHROMA_DIR, INDEX_DIR
from langchain_memengine.engine.graphing import GRAPH_FILE
from langchain_memengine.engine.parts import DATABASE_FILE, utc_now
from langchain_memengine.errors import StorageError, StoreBusyError
from langchain_memengine.retrieval.derived_files import remove
from langchain_memengine.shown import Shown
from langchain_memengine.storage import backup
from langchain_memengine.storage.locking import IndexLock
from langchain_memengine.workspace.durable import put_in_place, storage_error
from langchain_memengine.workspace.identity import WORKSPACE_ID, is_workspace_id
from langchain_memengine.workspace.layout import Layout

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Restored(Shown):
    """What a restore did.

    Attributes:
        database: The database that is now the backup.
        before: Where the one before it was kept; ``None`` if there was none.
        chunks: Searchable chunks of the backup.
    """

    database: Path
    before: Path | None
    chunks: int


def restore(
    file: str | Path,
    root: str | Path = "memory",
    *,
    config: MemEngineConfig | None = None,
    clock: Callable[[], datetime] = utc_now,
) -> Restored:
    """Make a backup the database of a memory; the current one is kept beside it.

    Markdown files are not touched: the next sync indexes what differs in them. The graph beside the
    database stays, too, but for what memories told that the backup does not hold.

    Args:
        file: What :meth:`MemoryEngine.backup` wrote.
        root: Folder of the memory; made if there is none.
        config: Says where the database is; default: as :meth:`MemoryEngine.open` finds it.
        clock: Dates the name of the database that is kept.

    Raises:
        SchemaVersionError: A newer release wrote the backup.
        StoreLockedError: An engine has the memory open.
        StoreBusyError: Another process has its database open.
        StorageError: The file is no sound backup, or the folder cannot be written; nothing was
            changed.
    """
    layout = Layout(Path(root).expanduser())
    source = Path(file).expanduser()
    found = backup.contents(source)
    url = (config or load_config(layout.root)).database_url
    layout.create_state()
    database = layout.state_dir / DATABASE_FILE if url is None else backup.file_of(url)
    lock = IndexLock(layout.state_dir)
    lock.acquire()
    try:
        _unfollow(layout.state_dir / GRAPH_FILE)
        before = _put(source, database, clock())
        if url is None:
            _take_workspace(layout, backup.workspaces(database))
        for derived in (INDEX_DIR, CHROMA_DIR):
            remove(layout.state_dir / derived)
    except OSError as error:
        raise storage_error(database, error) from error
    finally:
        lock.release()
    return Restored(database, before, found.chunks)


def _unfollow(graph: Path) -> None:
    """Let the graph forget what only newer memories told; one that is damaged must not be read."""
    if graph.exists():
        try:
            backup.unfollow(graph)
        except StorageError as error:
            logger.warning("The graph was left as it is, move it aside. %s", error)


def _take_workspace(layout: Layout, known: Collection[str]) -> None:
    """Let the folder be the one whose files the backup knows, else all of them are there twice.

    A folder without an id takes the one that its database knows when it is next opened.
    """
    path = layout.state_dir / WORKSPACE_ID
    if path.exists() and any(map(is_workspace_id, known)):
        is_known = path.read_text(encoding="utf-8", errors="replace").strip() in known
        if not is_known:
            path.unlink()


def _put(source: Path, database: Path, now: datetime) -> Path | None:
    """Replace a database in one step; return where the one before is kept."""
    temporary = database.with_name(f".{uuid4().hex}.tmp")
    try:
        shutil.copyfile(source, temporary)
        backup.forget_identity(temporary)
        before = _kept_beside(database, now) if database.exists() else None
        # A log that stayed would be played into the new database.
        for suffix in ("-wal", "-shm"):
            _beside(database, suffix).unlink(missing_ok=True)
        put_in_place(temporary, database)
    finally:
        temporary.unlink(missing_ok=True)
    return before


def _kept_beside(database: Path, now: datetime) -> Path:
    """Give a database a second name, so that there is one under the first name all along."""
    name = f"{database.name}.before-restore-{now:%Y%m%dT%H%M%SZ}"
    before = database.with_name(name)
    number = 1
    while before.exists():
        number += 1
        before = database.with_name(f"{name}-{number}")
    try:
        before.hardlink_to(database)
    except OSError:  # this file system has no second names
        shutil.copy2(database, before)
    log, kept_log = _beside(database, "-wal"), _beside(before, "-wal")
    if log.exists():
        shutil.copyfile(log, kept_log)
    try:
        is_sound = backup.require_unused(database)
    except StoreBusyError:
        before.unlink()
        kept_log.unlink(missing_ok=True)
        raise
    if is_sound:  # what was in the log is in the file now
        kept_log.unlink(missing_ok=True)
    return before


def _beside(database: Path, suffix: str) -> Path:
    return database.with_name(database.name + suffix)
