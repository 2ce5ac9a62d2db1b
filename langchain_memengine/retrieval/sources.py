"""Where indexed texts come from: folders, and the notes table of a store without a folder."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, time
from functools import partial
from pathlib import Path
from typing import Protocol

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.storage import documents
from langchain_memengine.storage.database import Database
from langchain_memengine.text.chunking import chunk_markdown
from langchain_memengine.text.digests import digest
from langchain_memengine.text.markdown import (
    document_date,
    entry_time,
    front_matter,
    tags,
    wikilinks,
)
from langchain_memengine.text.sanitize import clean_metadata, clean_text
from langchain_memengine.text.suspicion import suspicion
from langchain_memengine.types import (
    Chunk,
    Provenance,
)
from langchain_memengine.workspace.blank_memory import is_untouched
from langchain_memengine.workspace.files import (
    FileStat,
    Scan,
    TextFile,
    UnreadableFileError,
    read_text,
    scan,
)
from langchain_memengine.workspace.layout import (
    LEGACY_MEMORY_FILE,
    MEMORY_FILE,
    daily_date,
    folder_owner,
    owner_folder,
)
from langchain_memengine.workspace.renderings import without_rendered

TextChunks = list[tuple[Chunk, Provenance]]


class Source(Protocol):
    """A set of named Markdown texts that the index follows."""

    @property
    def workspace_id(self) -> str:
        """Id under which its file rows are kept; only who holds it may remove them."""
        ...

    def scan(self) -> Scan:
        """List the texts without reading them."""
        ...

    def read(self, path: str) -> TextFile:
        """Read one text.

        Raises:
            UnreadableFileError: It is gone, or no text.
        """
        ...


@dataclass(frozen=True, slots=True)
class FolderSource:
    """A folder of Markdown files."""

    root: Path
    workspace_id: str
    config: MemEngineConfig

    def scan(self) -> Scan:
        """List the files that the include and exclude patterns leave."""
        config = self.config
        return scan(self.root, config.include, config.exclude, config.max_file_bytes)

    def read(self, path: str) -> TextFile:
        """Read one file.

        Raises:
            UnreadableFileError: It is gone, or no text.
        """
        return read_text(self.root, path, self.config.max_file_bytes)


@dataclass(frozen=True, slots=True)
class NotesSource:
    """The notes table of a store without a folder."""

    database: Database
    workspace_id: str = "notes"

    def scan(self) -> Scan:
        """List the notes."""
        with self.database.read() as tx:
            notes = documents.all_documents(tx)
        files = [FileStat(n.name, len(n.text), n.updated_ms * 1_000_000) for n in notes]
        return Scan(files, [])

    def read(self, path: str) -> TextFile:
        """Read one note.

        Raises:
            UnreadableFileError: It is gone.
        """
        with self.database.read() as tx:
            note = documents.by_name(tx, path)
        if note is None:
            raise UnreadableFileError(path, "there is no such note", gone=True)
        mtime_ns = note.updated_ms * 1_000_000
        return TextFile(path, note.text, note.hash, len(note.text), mtime_ns)


def named_source_id(name: str, folder: Path) -> str:
    """Return the workspace id of a further folder: its name and where it is on this machine."""
    return f"{name}-{digest(str(folder.resolve()))[:12]}"


def source_uri(workspace_id: str, path: str) -> str:
    """Return the URI that a file's chunks are stored under."""
    return f"file:{workspace_id}/{path}"


def chunks_of_file(
    file: TextFile,
    workspace_id: str,
    *,
    chunk_tokens: int,
    overlap_tokens: int,
    split_on_headers: bool = True,
) -> TextChunks:
    """Return the chunks of a file with what each of them carries.

    A file under ``users/<owner>/`` is personal memory, any other global. The age of a chunk
    counts from the date in a daily file's name and the time in the entry's heading, else from the
    front matter, else from the file's modification; pinned facts never age. Entries that render a
    record are left out, and so is a MEMORY.md that still says what a new one does. Whoever may
    write the folder wrote it, so that a chunk is unverified; one that looks like an attempt to
    steer an agent is untrusted.
    """
    text = without_rendered(clean_text(file.text))
    if is_untouched(text):
        return []
    front = front_matter(text)
    folder = owner_folder(file.path)
    owner = folder_owner(folder) if folder else ""
    values = clean_metadata(front.values)
    named = {"tags": tags(values, text), "links": wikilinks(text)}
    metadata = {**values, **{key: value for key, value in named.items() if value}}
    written_at = document_date(values) or _from_ns(file.mtime_ns)
    cut = partial(
        chunk_markdown,
        text,
        chunk_tokens,
        overlap_tokens,
        source=source_uri(workspace_id, file.path),
        split_on_headers=split_on_headers,
    )
    pieces = cut(skip_front_matter=True) or cut()  # some notes are nothing but front matter
    return [
        (
            chunk,
            Provenance(
                scope="personal" if owner else "global",
                owner=owner,
                origin="file",
                trust="untrusted" if suspicion(chunk.text) else "unverified",
                path=file.path,
                workspace_id=workspace_id,
                event_at=_event_at(file.path, chunk.heading, written_at),
                metadata=metadata,
            ),
        )
        for chunk in pieces
    ]


def _event_at(path: str, heading: str, written_at: datetime) -> datetime | None:
    if path.rpartition("/")[2] in {MEMORY_FILE, LEGACY_MEMORY_FILE}:
        return None
    day = daily_date(path)
    if day is None:
        return written_at
    return datetime.combine(day, entry_time(heading) or time(), tzinfo=UTC)


def _from_ns(nanoseconds: int) -> datetime:
    return datetime.fromtimestamp(nanoseconds // 1_000_000 / 1000, tz=UTC)
