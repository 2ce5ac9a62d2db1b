"""Checks of the files around a store: what a crash left behind, the lock, the disk."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from datetime import datetime
from functools import partial
from pathlib import Path

from langchain_memengine.retrieval import snapshot
from langchain_memengine.retrieval.derived_files import remove
from langchain_memengine.retrieval.diagnosis import Examination, Finding
from langchain_memengine.storage.locking import IndexLock

_TEMPORARY = re.compile(r"\.[0-9a-f]{32}\.tmp(-journal)?")
_OLD_SECONDS = 3600.0  # writing a file takes seconds; what is older was left by a crash
_NOT_OURS = {"node_modules", ".git"}
_LITTLE_BYTES = 100 * 2**20
_NO_BYTES = 10 * 2**20
_MIB = 2**20


def file_checks(
    root: Path, state_dir: Path, index_dir: Path, lock: IndexLock | None, now: datetime
) -> dict[str, Examination]:
    """Return the checks of files, by name.

    Args:
        root: Folder of the memory.
        state_dir: Its folder of state.
        index_dir: The folder of snapshots in that.
        lock: The lock on the derived files; ``None`` if this engine only reads.
        now: Decides what is old.
    """
    return {
        "leftovers": partial(_leftovers, root, state_dir, index_dir, lock, now),
        "lock": partial(_lock, lock),
        "disk": partial(_disk, state_dir),
    }


def _leftovers(
    root: Path, state_dir: Path, index_dir: Path, lock: IndexLock | None, now: datetime
) -> Finding:
    left = list(_old_temporaries(root, now))
    if lock is not None and lock.is_held:
        left += snapshot.unlisted(index_dir)
    kept = sorted(path.name for path in state_dir.glob("*.before-restore-*"))
    yours = f"; yours to remove: {', '.join(kept)}" if kept else ""
    if not left:
        return Finding("ok", f"nothing was left by a crash{yours}")

    def mend() -> None:
        for path in left:
            remove(path)

    names = ", ".join(path.relative_to(root).as_posix() for path in left[:3])
    return Finding("warning", f"{len(left)} left by a crash: {names}{yours}", "remove them", mend)


def _old_temporaries(root: Path, now: datetime) -> Iterator[Path]:
    for folder, folders, names in os.walk(root):
        folders[:] = [name for name in folders if name not in _NOT_OURS]
        for path in (Path(folder, name) for name in names if _TEMPORARY.fullmatch(name)):
            if now.timestamp() - path.lstat().st_mtime > _OLD_SECONDS:
                yield path


def _lock(lock: IndexLock | None) -> Finding:
    if lock is None:
        return Finding("ok", "not taken: this engine only reads")
    if lock.is_held:
        return Finding("ok", "free: no other process has this memory open for its indexes")
    holder = lock.holder()
    if holder is None:
        return Finding("ok", "held by another process")
    return Finding(
        "ok",
        f"held by process {holder.pid} on {holder.host} since {holder.since:%Y-%m-%d %H:%M} UTC",
    )


def _disk(state_dir: Path) -> Finding:
    free = shutil.disk_usage(state_dir).free
    used = sum(path.stat().st_size for path in state_dir.glob("*.sqlite"))
    found = f"{free // _MIB} MiB free, the database has {used // _MIB} MiB"
    if free < _NO_BYTES:
        return Finding("failed", found, "free space: nothing more can be stored")
    if free < max(_LITTLE_BYTES, 2 * used):
        return Finding("warning", found, "free space: a backup needs as much as the database")
    return Finding("ok", found)
