"""Take forgotten words out of the notes that the engine writes."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

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


def joined(*steps: Erased) -> Erased:
    """Return what became of the notes in several steps, each note once."""
    removed = dict.fromkeys(name for step in steps for name in step.removed)
    changed = dict.fromkeys(name for step in steps for name in step.changed)
    return Erased(
        changed=tuple(name for name in changed if name not in removed),
        removed=tuple(removed),
        left=tuple(dict.fromkeys(name for step in steps for name in step.left)),
        unread=tuple(dict.fromkeys(name for step in steps for name in step.unread)),
    )


def owner_of_note(name: str) -> str:
    """Return whose a note is: an owner's folder name, ``""`` for everyone's."""
    folder = owner_folder(name)
    return "" if folder is None else folder_owner(folder)


def notes_of(notes: Notes, owners: Collection[str] | None) -> list[str]:
    """Return the names of all notes of these owners, transcripts too; ``None`` is everybody's."""
    return _owned([*notes.names(), *notes.transcripts()], owners)


def transcripts_before(notes: Notes, moment: datetime, owners: Collection[str] | None) -> list[str]:
    """Return the names of the transcripts of these owners that were written before a time."""
    last = f"{moment.astimezone(UTC):%Y-%m-%d-%H%M%S}"
    names = _owned(notes.transcripts(), owners)
    return [name for name in names if name.rpartition("/")[2] < last]


def transcripts_of(notes: Notes, thread_id: str, owners: Collection[str] | None) -> list[str]:
    """Return the names of a conversation's transcripts within reach."""
    place = f"{ARCHIVE_DIR}/{slug(thread_id)}"
    names = _owned(notes.transcripts(), owners)
    return [name for name in names if name.rpartition("/")[0].endswith(place)]


def remove_notes(notes: Notes, names: Collection[str]) -> Erased:
    """Remove notes as a whole.

    Raises:
        StorageError: One cannot be removed.
    """
    return Erased(removed=tuple(name for name in sorted(names) if notes.remove(name)))


def rewrite_transcripts(
    notes: Notes, owners: Collection[str] | None, texts: Mapping[str, str]
) -> Erased:
    """Write transcripts of these owners anew, and remove those that have nothing left.

    Args:
        notes: Where they are kept.
        owners: Whose, ``""`` is everyone's; ``None`` is everybody's.
        texts: What they say now, by what stands behind the last ``-`` of their names.

    Raises:
        StorageError: One cannot be written.
    """
    changed, removed = [], []
    for name in _owned(notes.transcripts(), owners):
        text = texts.get(name.rpartition("-")[2])
        if text is None:
            continue
        if text:
            notes.update(name, _made(text))
            changed.append(name)
        elif notes.remove(name):
            removed.append(name)
    return Erased(changed=tuple(changed), removed=tuple(removed))


def erase_notes(
    notes: Notes, owners: Collection[str] | None, words: Erasure, records: Collection[str]
) -> Erased:
    """Take what is forgotten out of the notes of these owners.

    Args:
        notes: Where they are kept.
        owners: Whose, ``""`` is everyone's; ``None`` is everybody's.
        words: What is forgotten.
        records: Ids of what is: entries that only render it go.

    Raises:
        StorageError: One cannot be written.
    """

    def erased(text: str) -> str:
        return words.erase(without_entries(text, records))

    changed, left, unread = [], [], []
    for name in notes_of(notes, owners):
        try:
            text = notes.read(name)
        except UnreadableFileError:
            unread.append(name)
            continue
        if erased(text) == text:
            continue
        if f"/{ARCHIVE_DIR}/" in f"/{name}" or _is_written_here(name):
            notes.update(name, erased)
            changed.append(name)
        else:
            left.append(name)
    return Erased(changed=tuple(changed), left=tuple(left), unread=tuple(unread))


def _owned(names: Iterable[str], owners: Collection[str] | None) -> list[str]:
    return [name for name in names if owners is None or owner_of_note(name) in owners]


def _made(text: str) -> Callable[[str], str]:
    """Return the change that makes any text this one."""
    return lambda _: text


def _is_written_here(name: str) -> bool:
    parts = name.split("/")
    own = parts[2:] if owner_folder(name) is not None else parts
    return own[-1] in _WRITTEN_FILES or (len(own) > 1 and own[0] in _WRITTEN_FOLDERS)
