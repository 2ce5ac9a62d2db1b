"""Look after a store: check it, repair what is derived, back it up."""

from __future__ import annotations

from pathlib import Path
from uuid import uuid4

from langchain_memengine.engine.parts import EngineParts
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.retrieval.derived_files import remove
from langchain_memengine.storage import backup
from langchain_memengine.storage.backup import Contents
from langchain_memengine.workspace.durable import make_folder, put_in_place, storage_error


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

    def _require_free(self, target: Path, *, force: bool) -> None:
        if target.is_dir():
            raise ConfigurationError(f"{target} is a folder. Name the file to write.")
        if backup.belongs_to(self._database, target):
            raise ConfigurationError(f"{target} is the database itself. Name another file.")
        if target.exists() and not force:
            raise ConfigurationError(f"{target} exists. Name another file, or force it.")
