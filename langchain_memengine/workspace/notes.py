"""Where named Markdown texts are kept: on disk, or elsewhere behind the same protocol."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path, PurePath
from typing import Protocol

from langchain_memengine.workspace.durable import locked, storage_error
from langchain_memengine.workspace.files import (
    UnreadableFileError,
    read_text,
    scan,
    update_text,
)
from langchain_memengine.workspace.layout import (
    ARCHIVE_DIR,
    USERS_DIR,
    Layout,
    inside,
    owner_prefix,
)


class Notes(Protocol):
    """Where named Markdown texts are kept; names are workspace-relative, like ``DREAMS.md``."""

    def read(self, name: str) -> str:
        """Return a text; ``""`` if there is none of that name."""
        ...

    def update(self, name: str, change: Callable[[str], str]) -> None:
        """Replace a text by what ``change`` makes of it, with no other update in between.

        ``change`` may be called more than once. Nothing is written when it returns what it got.
        """
        ...

    def names(self) -> list[str]:
        """Return the names of all texts, sorted; transcripts of conversations are left out."""
        ...

    def transcripts(self) -> list[str]:
        """Return the names of the transcripts of archived conversations, sorted."""
        ...

    def remove(self, name: str) -> bool:
        """Remove a text; return whether there was one."""
        ...


@dataclass(frozen=True, slots=True)
class DiskNotes:
    """Notes as ``.md`` files under a root; folders are made when the first text needs them.

    Attributes:
        root: Folder of the workspace.
    """

    root: Path

    def read(self, name: str) -> str:
        """Return the text of a file; ``""`` if it does not exist.

        Raises:
            ConfigurationError: The name leaves the root.
            UnreadableFileError: There is something that is no text file.
        """
        inside(self.root, name)
        try:
            return read_text(self.root, name, None).text
        except UnreadableFileError as error:
            if error.gone:
                return ""
            raise

    def update(self, name: str, change: Callable[[str], str]) -> None:
        """Change a file's text in one step, against all other processes too.

        Raises:
            ConfigurationError: The name leaves the root.
            UnreadableFileError: There is something that is no text file; it is left as it is.
            StorageError: It cannot be written; ``StorageFullError`` when the disk is full.
        """
        path = inside(self.root, name)
        if any((self.root / above).is_file() for above in PurePath(name).parents):
            raise UnreadableFileError(name, "what should be its folder is a file")
        update_text(path, change, lock=Layout(self.root).state_dir / "notes.lock")

    def names(self) -> list[str]:
        """Return the names of all Markdown files, sorted; none when there is no root yet."""
        if not self.root.exists():
            return []
        found = scan(self.root, ["**/*.md"], ["node_modules/**", ".git/**"], max_bytes=2**63)
        return [file.path for file in found.files]

    def transcripts(self) -> list[str]:
        """Return the names of the transcripts of everyone and of all owners, sorted."""
        folders = [owner_prefix(""), *(f"{USERS_DIR}/{one}/" for one in _folders(self.root))]
        return sorted(
            path.relative_to(self.root).as_posix()
            for folder in folders
            for path in (self.root / folder / ARCHIVE_DIR).glob("*/*.md")
            if path.is_file() and path.resolve().is_relative_to(self.root.resolve())
        )

    def remove(self, name: str) -> bool:
        """Remove a file, and the folders that are empty then; return whether there was one.

        Raises:
            ConfigurationError: The name leaves the root.
            StorageError: It cannot be removed.
        """
        path = inside(self.root, name)
        with locked(Layout(self.root).state_dir / "notes.lock"):
            try:
                path.unlink()
            except FileNotFoundError:
                return False
            except OSError as error:
                raise storage_error(path, error) from error
            with suppress(OSError):  # a folder that is not empty
                for folder in path.relative_to(self.root).parents[:-1]:
                    (self.root / folder).rmdir()
        return True


def _folders(root: Path) -> list[str]:
    """Return the names of the owners' folders."""
    users = root / USERS_DIR
    return sorted(one.name for one in users.iterdir()) if users.is_dir() else []
