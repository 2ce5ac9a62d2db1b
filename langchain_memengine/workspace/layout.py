"""Where each Markdown file of a workspace lives.

```
MEMORY.md             pinned facts           archive/<session>/   transcripts of trimmed messages
DREAMS.md             digests                users/<owner>/       the same files of one owner
daily/YYYY-MM-DD.md   event log              .memengine/          state, indexes, workspace id
tasks/<task-id>.md    task summaries
```

Names are workspace-relative and use ``/`` on every platform. The pure functions serve texts kept
in a table as well as files.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date
from pathlib import Path, PurePath

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.text.digests import digest
from langchain_memengine.workspace.durable import make_folder

MEMORY_FILE = "MEMORY.md"
LEGACY_MEMORY_FILE = "Memory.md"  # GoClaw's spelling
DREAMS_FILE = "DREAMS.md"
DAILY_DIR = "daily"
TASKS_DIR = "tasks"
ARCHIVE_DIR = "archive"
USERS_DIR = "users"
STATE_DIR = ".memengine"

_MAX_SLUG = 80
_HASH_DIGITS = 16
_SAFE_SLUG = re.compile(rf"[a-z0-9_][a-z0-9._-]{{0,{_MAX_SLUG - 1}}}")
_HASHED_SLUG = re.compile(rf".*-[0-9a-f]{{{_HASH_DIGITS}}}")
_WINDOWS_DEVICE = re.compile(r"(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\..*)?")
_UNREADABLE_RUN = re.compile(r"[^a-z0-9_]+")
_FOLDER_NAME = re.compile(r'(?![. ])[^<>:"/\\|?*]{1,60}(?<![. ])')
_DATED_NAME = re.compile(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?![0-9])")


def slug(identifier: str) -> str:
    """Return a file name for any identifier: ``[a-z0-9._-]{1,80}``, safe on every platform.

    A safe identifier is returned as it is. Any other one becomes a readable prefix, ``-`` and 16
    hexadecimal digits of its sha256: upper case, leading dots and dashes, trailing dots, Windows
    device names, and whatever already looks like a hashed form, so that no two identifiers meet.
    """
    if (
        _SAFE_SLUG.fullmatch(identifier)
        and not identifier.endswith(".")
        and not _HASHED_SLUG.fullmatch(identifier)
        and not _WINDOWS_DEVICE.fullmatch(identifier)
    ):
        return identifier
    readable = _UNREADABLE_RUN.sub("-", identifier.lower()).strip("-")
    prefix = readable[: _MAX_SLUG - _HASH_DIGITS - 1].rstrip("-") or "id"
    return f"{prefix}-{digest(identifier)[:_HASH_DIGITS]}"


def daily_name(day: date) -> str:
    """Return the name of a day's event log: ``daily/2026-05-19.md``."""
    return f"{DAILY_DIR}/{date(day.year, day.month, day.day).isoformat()}.md"


def task_name(task_id: str) -> str:
    """Return the name of a task's summary: ``tasks/<slug>.md``."""
    return f"{TASKS_DIR}/{slug(task_id)}.md"


def owner_prefix(owner: str) -> str:
    """Return what an owner's names start with: ``users/<slug>/``, or ``""`` for no owner."""
    return f"{USERS_DIR}/{slug(owner)}/" if owner else ""


def memory_names(owner: str) -> tuple[str, str]:
    """Return the names an owner's pinned facts may have; the second is the older spelling."""
    prefix = owner_prefix(owner)
    return prefix + MEMORY_FILE, prefix + LEGACY_MEMORY_FILE


def named_memory_names(owner: str) -> tuple[str, ...]:
    """Return the names that pinned facts have in a folder that a person named by the user id.

    None for a user id that is no name of a folder, or of another user's.
    """
    is_name = _FOLDER_NAME.fullmatch(owner) is not None and owner.isprintable()
    if not is_name or owner == slug(owner) or folder_owner(owner) != slug(owner):
        return ()
    return tuple(f"{USERS_DIR}/{owner}/{name}" for name in (MEMORY_FILE, LEGACY_MEMORY_FILE))


def owner_folder(path: str) -> str | None:
    """Return the owner's slug when a relative path stands under ``users/<slug>/``.

    ``Users/`` counts too, because some file systems do not tell them apart; the slug is returned
    as written, so a folder that no owner's slug spells belongs to nobody.
    """
    parts = path.split("/")
    inside_folder = len(parts) > 2 and parts[0].lower() == USERS_DIR  # noqa: PLR2004 - users, slug, rest
    return parts[1] if inside_folder else None


def folder_owner(folder: str) -> str:
    """Return the owner whose memory a folder under ``users/`` is, as the slug of the user id.

    A folder named by the engine is one; one that a person named is the user's of that name:
    ``users/Carla`` belongs to the user ``Carla``.
    """
    is_slug = folder == slug(folder) or _HASHED_SLUG.fullmatch(folder) is not None
    return folder if is_slug else slug(folder)


def daily_date(path: str) -> date | None:
    """Return the date a daily file's name starts with.

    Only files under ``daily/`` or ``users/<slug>/daily/`` have one; ``daily/2026-05-19-notes.md``
    does, ``daily/2026-02-30.md`` does not.
    """
    parts = path.split("/")
    if owner_folder(path) is not None:
        parts = parts[2:]
    dated = _DATED_NAME.match(parts[-1])
    if len(parts) == 1 or parts[0].lower() != DAILY_DIR or dated is None:
        return None
    try:
        return date.fromisoformat(dated[1])
    except ValueError:  # digits that are no day of the calendar
        return None


def inside(root: Path, name: str) -> Path:
    """Return the path of a workspace-relative name.

    Raises:
        ConfigurationError: The name is empty, absolute, has a ``..``, or leads out of the root
            through a symbolic link.
    """
    relative = PurePath(name)
    path = root / relative
    try:
        within = path.resolve().is_relative_to(root.resolve())
    except (OSError, RuntimeError, ValueError) as error:  # loops of links, and NUL in a name
        raise ConfigurationError(f"{name!r} is no usable file name: {error}.") from error
    if not within or not relative.parts or relative.is_absolute() or ".." in relative.parts:
        raise ConfigurationError(
            f"{name!r} is no name inside the workspace {root}. Use a relative name without '..' "
            "that no symbolic link leads elsewhere."
        )
    return path


@dataclass(frozen=True, slots=True)
class Layout:
    """The places of one workspace on disk; every path given is checked to stay inside ``root``.

    A property or method raises ``ConfigurationError`` when a symbolic link leads elsewhere.

    Attributes:
        root: Folder of the workspace; it need not exist before :meth:`create`.
    """

    root: Path

    @property
    def memory_path(self) -> Path:
        """``MEMORY.md``, or ``Memory.md`` when only that exists."""
        path = inside(self.root, MEMORY_FILE)
        legacy = inside(self.root, LEGACY_MEMORY_FILE)
        return legacy if legacy.exists() and not path.exists() else path

    @property
    def dreams_path(self) -> Path:
        """``DREAMS.md``."""
        return inside(self.root, DREAMS_FILE)

    @property
    def state_dir(self) -> Path:
        """``.memengine/``."""
        return inside(self.root, STATE_DIR)

    def daily_path(self, day: date) -> Path:
        """Return the event log of a day."""
        return inside(self.root, daily_name(day))

    def task_path(self, task_id: str) -> Path:
        """Return the summary of a task."""
        return inside(self.root, task_name(task_id))

    def user(self, owner: str) -> Layout:
        """Return the layout of ``users/<slug>/``; of the workspace itself for no owner."""
        return Layout(inside(self.root, owner_prefix(owner))) if owner else self

    def create(self) -> None:
        """Make the root and the folders ``daily``, ``tasks`` and ``.memengine``.

        Raises:
            ConfigurationError: The root is a file, or a folder cannot be made.
        """
        self.create_state()
        for name in (DAILY_DIR, TASKS_DIR):
            _make(inside(self.root, name))

    def create_state(self) -> None:
        """Make the root and ``.memengine`` only, so that other folders stay as they are.

        Raises:
            ConfigurationError: The root is a file, or a folder cannot be made.
        """
        _make(inside(self.root, STATE_DIR))

    def name(self, path: Path) -> str:
        """Return the workspace-relative name of a path, with ``/``.

        A relative path is meant from the current folder. The last part is not followed if it is a
        symbolic link, and need not exist.

        Raises:
            ConfigurationError: The path is outside the root.
        """
        try:
            return (path.parent.resolve() / path.name).relative_to(self.root.resolve()).as_posix()
        except ValueError as error:
            raise ConfigurationError(f"{path} is outside the workspace {self.root}.") from error


def _make(folder: Path) -> None:
    try:
        make_folder(folder)
    except OSError as error:
        raise ConfigurationError(
            f"The folder {folder} cannot be made: {error.strerror or error}. "
            "Choose as root a folder that this user may write."
        ) from error
