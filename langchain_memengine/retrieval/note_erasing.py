"""Take forgotten words out of the notes that the engine writes."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial

from langchain_memengine.text.erasing import Erasure
from langchain_memengine.workspace.files import UnreadableFileError
from langchain_memengine.workspace.layout import (
    ARCHIVE_DIR,
    DAILY_DIR,
    DREAMS_FILE,
    LEGACY_MEMORY_FILE,
    MEMORY_FILE,
    TASKS_DIR,
    folder_owner,
    owner_folder,
    slug,
)
from langchain_memengine.workspace.notes import Notes
from langchain_memengine.workspace.renderings import without_entries

_WRITTEN_FILES = frozenset({MEMORY_FILE, LEGACY_MEMORY_FILE, DREAMS_FILE})
_WRITTEN_FOLDERS = frozenset({DAILY_DIR, TASKS_DIR})


@dataclass(frozen=True, slots=True)
class Erased:
    """What became of the notes.

    Attributes:
        changed: Names of those that lost an entry.
        removed: Names of those that are gone.
        left: Names of those that hold the words and were left, because a person wrote them.
        unread: Names of those that are no text, so that nobody knows what they hold.
    """

    changed: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    left: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()


def owner_of_note(name: str) -> str:
    """Return whose a note is: an owner's folder name, ``""`` for everyone's."""
    folder = owner_folder(name)
    return "" if folder is None else folder_owner(folder)


def notes_of(notes: Notes, owners: Collection[str] | None) -> list[str]:
    """Return the names of all notes of these owners, transcripts too; ``None`` is everybody's."""
    names = [*notes.names(), *notes.transcripts()]
    return [name for name in names if owners is None or owner_of_note(name) in owners]


def transcripts_before(notes: Notes, moment: datetime, owners: Collection[str] | None) -> list[str]:
    """Return the names of the transcripts of these owners that were written before a time."""
    last = f"{moment.astimezone(UTC):%Y-%m-%d-%H%M%S}"
    return [
        name
        for name in notes.transcripts()
        if name.rpartition("/")[2] < last and (owners is None or owner_of_note(name) in owners)
    ]


def transcripts_of(notes: Notes, thread_id: str, owners: Collection[str] | None) -> list[str]:
    """Return the names of a conversation's transcripts within reach."""
    place = f"{ARCHIVE_DIR}/{slug(thread_id)}"
    return [
        name
        for name in notes.transcripts()
        if name.rpartition("/")[0].endswith(place)
        and (owners is None or owner_of_note(name) in owners)
    ]


def remove_notes(notes: Notes, names: Collection[str]) -> Erased:
    """Remove notes as a whole.

    Raises:
        StorageError: One cannot be removed.
    """
    return Erased(removed=tuple(name for name in sorted(names) if notes.remove(name)))


def erase_notes(
    notes: Notes,
    owners: Collection[str] | None,
    words: Erasure,
    spoken: Mapping[str, Erasure],
    records: Collection[str],
) -> Erased:
    """Take forgotten words out of the notes of these owners.

    Args:
        notes: Where they are kept.
        owners: Whose, ``""`` is everyone's; ``None`` is everybody's.
        words: What is forgotten.
        spoken: That, and the whole messages that are, by conversation; for its transcripts.
        records: What is forgotten with all that entries show of it: ids of records and commits.

    Raises:
        StorageError: One cannot be written.
    """
    by_folder = {slug(thread_id): erasure for thread_id, erasure in spoken.items()}
    changed, left, unread = [], [], []
    for name in notes_of(notes, owners):
        is_transcript = f"/{ARCHIVE_DIR}/" in f"/{name}"
        erasure = by_folder.get(name.split("/")[-2], words) if is_transcript else words
        try:
            text = notes.read(name)
        except UnreadableFileError:
            unread.append(name)
            continue
        erased = partial(_erased, erasure=erasure, records=records)
        if erased(text) == text:
            continue
        if is_transcript or _is_written_here(name):
            notes.update(name, erased)
            changed.append(name)
        else:
            left.append(name)
    return Erased(changed=tuple(changed), left=tuple(left), unread=tuple(unread))


def _erased(text: str, *, erasure: Erasure, records: Collection[str]) -> str:
    return erasure.erase(without_entries(text, records))


def _is_written_here(name: str) -> bool:
    parts = name.split("/")
    own = parts[2:] if owner_folder(name) is not None else parts
    return own[-1] in _WRITTEN_FILES or (len(own) > 1 and own[0] in _WRITTEN_FOLDERS)
