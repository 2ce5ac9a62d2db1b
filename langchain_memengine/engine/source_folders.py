"""Which texts an engine follows: its own folder, and those that its settings name."""

from __future__ import annotations

from pathlib import Path

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.retrieval.sources import (
    FolderSource,
    NotesSource,
    Source,
    named_source_id,
)
from langchain_memengine.storage import files
from langchain_memengine.storage.database import Database
from langchain_memengine.workspace.identity import workspace_id


def all_sources(
    database: Database, root: Path | None, config: MemEngineConfig, *, read_only: bool
) -> list[Source]:
    """Return what is followed, the engine's own first.

    Args:
        database: Holds the notes of a store without a folder.
        root: The engine's folder, ``None`` if it has none.
        config: Names the others.
        read_only: Give the folder no id.

    Raises:
        ConfigurationError: The id of the folder is damaged.
        StorageError: The folder has no id and cannot be written.
    """
    named: list[Source] = [
        FolderSource(folder, named_source_id(name, folder), config)
        for name, folder in config.sources.items()
    ]
    if root is None:
        return [NotesSource(database), *named]

    def known() -> list[str]:
        if config.database_url is not None:  # other folders may share it
            return []
        with database.read() as tx:
            return files.workspaces(tx)

    own_id = workspace_id(root, known=known, read_only=read_only)
    return [FolderSource(root, own_id, config), *named]
