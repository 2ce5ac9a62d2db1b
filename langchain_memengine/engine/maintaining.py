"""Look after a store: check it, repair what is derived, back it up."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from uuid import uuid4

from langchain_memengine.engine.derived import INDEX_DIR
from langchain_memengine.engine.parts import EngineParts
from langchain_memengine.errors import ConfigurationError, StorageError
from langchain_memengine.retrieval.chroma_checks import chroma_checks
from langchain_memengine.retrieval.derived_files import remove
from langchain_memengine.retrieval.diagnosis import DoctorReport, examine
from langchain_memengine.retrieval.file_checks import file_checks
from langchain_memengine.retrieval.file_plan import SyncPlan
from langchain_memengine.retrieval.index_checks import index_checks
from langchain_memengine.retrieval.row_checks import row_checks
from langchain_memengine.storage import backup
from langchain_memengine.storage.backup import Contents
from langchain_memengine.workspace.durable import make_folder, put_in_place, storage_error
from langchain_memengine.workspace.layout import Layout


class Maintaining(EngineParts):
    """The chapter of the engine that looks after what is stored."""

    def backup(self, path: str | Path, *, force: bool = False) -> Contents:
        """Write the whole database to one file, consistently while others write to it.

        The copy is verified before it gets its name. Markdown files are not in it.

        Args:
            path: The file to write.
            force: Whether a file that is there may be replaced.

        Raises:
            ConfigurationError: There is such a file, or it is the database itself.
            StorageError: The copy cannot be written, or is not sound; no file was replaced.
        """
        target = Path(path).expanduser()
        self._require_free(target, force=force)
        temporary = target.with_name(f".{uuid4().hex}.tmp")
        try:
            make_folder(target.parent)
            backup.copy_to(self._database, temporary)
            found = backup.contents(temporary)
            put_in_place(temporary, target)
        except OSError as error:
            raise storage_error(target, error) from error
        finally:
            remove(temporary)
        return Contents(target, found.size, found.chunks, found.changes)

    def doctor(self, *, repair: bool = False, thorough: bool = False) -> DoctorReport:
        """Check the store, over all users, and repair what is derived if asked to.

        Repairs build indexes again from the database, embed what has no vector, and remove what
        has no reason to be there. The database itself and Markdown files are never replaced.

        Args:
            repair: Whether to repair what each check says it would.
            thorough: Whether the database compares every index with its table.

        Raises:
            ReadOnlyError: Repairing, but opened with ``read_only=True``.
        """
        if repair:
            self._require_writable()
        with suppress(StorageError):  # the checks find what is wrong
            self._take_over()  # who keeps the derived files may look into them
        now = self._clock()
        checks = row_checks(
            self._database,
            self._embedding,
            embed_missing=self._embed_missing,
            now=now,
            thorough=thorough,
        )
        checks |= index_checks(self._database, self._embedding, self._partitions, self._splitter)
        checks |= chroma_checks(
            self._database,
            self._embedding,
            self._derived.chroma[0] if self._derived.chroma else None,
            self._why_no_chroma(),
        )
        if self.root is not None:
            state = Layout(self.root).state_dir
            checks |= file_checks(self.root, state, state / INDEX_DIR, self._derived.lock, now)
        return examine(checks, repair=repair)

    def _embed_missing(self) -> None:
        with self._sync_lock:
            self._indexer.carry_out(SyncPlan(()))

    def _why_no_chroma(self) -> str:
        if self._derived.may_become_ours:
            return "not checked: another process maintains it, and only that may open it"
        return "not used: exact vectors answer in this engine"

    def _require_free(self, target: Path, *, force: bool) -> None:
        if target.is_dir():
            raise ConfigurationError(f"{target} is a folder. Name the file to write.")
        if backup.belongs_to(self._database, target):
            raise ConfigurationError(f"{target} is the database itself. Name another file.")
        if target.exists() and not force:
            raise ConfigurationError(
                f"{target} exists. Name another file, or replace it with force=True "
                "(`memengine backup --force`)."
            )
