"""What is written into the Markdown: daily entries, task summaries, pinned facts and digests."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, timedelta

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.text.code_fences import closing_fence
from langchain_memengine.text.comments import escaped_comments
from langchain_memengine.text.digests import digest
from langchain_memengine.text.markdown import split_lines
from langchain_memengine.types import Fact
from langchain_memengine.workspace.files import UnreadableFileError
from langchain_memengine.workspace.layout import (
    DAILY_DIR,
    DREAMS_FILE,
    TASKS_DIR,
    USERS_DIR,
    daily_date,
    daily_name,
    memory_names,
    owner_prefix,
    task_name,
)
from langchain_memengine.workspace.notes import Notes
from langchain_memengine.workspace.renderings import opening, rendered, unmarked

_FACT_MARK = re.compile(r"<!-- sha256:([0-9a-f]{64}) -->")


@dataclass(frozen=True, slots=True)
class Workspace:
    """The Markdown of everyone, or of one owner under ``users/<slug>/``.

    Times must be aware; they are written in UTC.

    Attributes:
        notes: Where the texts are kept.
        owner: Whose texts; ``""`` for those of everyone.
    """

    notes: Notes
    owner: str = ""

    def append_daily(self, now: datetime, stage: str, body: str, *, record: str = "") -> str:
        """Add ``## HH:MM — <stage>`` and a body to the day's event log; return its name.

        With a ``record`` the entry stands between marks: the index passes over it, and nothing is
        added to a log that has it, or after one of the day before that does.

        Raises:
            ConfigurationError: ``now`` has no time zone.
        """
        moment = _in_utc(now)
        title = f"{moment:%H:%M} — {unmarked(_one_line(stage))}"
        prefix = owner_prefix(self.owner)
        before = prefix + daily_name(moment - timedelta(days=1))
        if record and self._shows(before, record):
            return before  # a step that is tried again after midnight
        return _append(self.notes, prefix + daily_name(moment), title, body, record)

    def write_task_summary(self, task_id: str, title: str, body: str) -> str:
        """Write or overwrite a task's summary; return its name."""
        name = owner_prefix(self.owner) + task_name(task_id)
        summary = f"# {_one_line(title)}\n\n{unmarked(body)}\n"
        self.notes.update(name, lambda _: summary)
        return name

    def promote_facts(self, now: datetime, task_id: str, facts: Sequence[Fact]) -> int:
        """Add facts to ``MEMORY.md`` under a dated heading; return how many were new.

        A fact is known when the sha256 of its text, taken as one line, stands in a comment in the
        file. A fact without text is none. Nothing is written when none is new.

        Raises:
            ConfigurationError: ``now`` has no time zone.
        """
        heading = f"## {_in_utc(now):%Y-%m-%d} — {inert(task_id)}"
        written = 0

        def change(old: str) -> str:
            nonlocal written
            bullets = new_lines(facts, old)
            written = len(bullets)
            section = heading + "\n\n" + "".join(bullets)
            return _with_section(old, section) if bullets else old

        self.notes.update(self._memory_name(), change)
        return written

    def read_memory(self) -> str:
        """Return the text of ``MEMORY.md`` (``Memory.md`` where that is absent), or ``""``."""
        return self.notes.read(self._memory_name())

    def read_daily(self, day: date) -> str:
        """Return the text of a day's event log, or ``""``."""
        return self.notes.read(owner_prefix(self.owner) + daily_name(day))

    def list_files(self) -> list[str]:
        """Return what exists: MEMORY, DREAMS, daily files newest first, task files sorted."""
        prefix = owner_prefix(self.owner)
        names = self.notes.names()
        pinned = [self._memory_name(), prefix + DREAMS_FILE]
        daily = _directly_in(prefix + DAILY_DIR, names)
        tasks = _directly_in(prefix + TASKS_DIR, names)
        daily.sort(key=lambda name: (daily_date(name) or date.min, name), reverse=True)
        return [*(name for name in pinned if name in names), *daily, *sorted(tasks)]

    def _shows(self, name: str, record: str) -> bool:
        try:
            return opening(record) in self.notes.read(name)
        except UnreadableFileError:
            return False  # nobody knows what it holds

    def _memory_name(self) -> str:
        name, legacy = memory_names(self.owner)
        if self.notes.read(name):  # the usual case needs no list of all names
            return name
        names = self.notes.names()
        return legacy if legacy in names and name not in names else name


def append_digest(
    notes: Notes, folder: str, now: datetime, title: str, body: str, *, record: str
) -> str:
    """Add ``## YYYY-MM-DD HH:MM — <title>`` and a body to ``DREAMS.md``; return its name.

    The entry stands between the marks of ``record``: the index passes over it, and it is added
    once.

    Args:
        notes: Where the texts are kept.
        folder: Name of the owner's folder, ``""`` for the digest of everyone.
        now: When, aware.
        title: Of the entry.
        body: Markdown.
        record: What it is a digest of.

    Raises:
        ConfigurationError: ``now`` has no time zone.
    """
    heading = f"{_in_utc(now):%Y-%m-%d %H:%M} — {unmarked(_one_line(title))}"
    name = f"{USERS_DIR}/{folder}/{DREAMS_FILE}" if folder else DREAMS_FILE
    return _append(notes, name, heading, body, record)


def fact_hash(text: str) -> str:
    """Return the sha256 under which ``MEMORY.md`` knows a fact, hexadecimal."""
    return digest(_one_line(text))


def new_lines(facts: Sequence[Fact], pinned: str) -> list[str]:
    """Return the lines that :meth:`Workspace.promote_facts` would add to what is pinned."""
    known = set(_FACT_MARK.findall(pinned))
    bullets = []
    for fact in facts:
        digest = fact_hash(fact.text)
        text = inert(fact.text)
        if text and digest not in known:
            known.add(digest)
            source = f" ({inert(fact.source)})" if fact.source.strip() else ""
            bullets.append(f"- {text}{source} <!-- sha256:{digest} -->\n")
    return bullets


def _append(notes: Notes, name: str, title: str, body: str, record: str) -> str:
    """Add an entry to a note, between marks and once if there is a record; return its name."""
    fence = closing_fence(split_lines(body))  # else the next entry would be code of this one
    entry = f"## {title}\n\n{unmarked(body)}\n" + (f"{fence}\n" if fence else "")
    if record:
        entry = rendered(entry, record)

    def change(old: str) -> str:
        return old if record and opening(record) in old else _with_section(old, entry)

    notes.update(name, change)
    return name


def _with_section(old: str, section: str) -> str:
    """Return the text with a section at its end, behind a blank line."""
    if not old:
        return section
    flat = old.replace("\r\n", "\n")
    line_ends = len(flat) - len(flat.rstrip("\n"))
    return old + "\n" * max(0, 2 - line_ends) + section


def _directly_in(folder: str, names: Sequence[str]) -> list[str]:
    return [name for name in names if name.rpartition("/")[0] == folder]


def _one_line(text: str) -> str:
    """Return the text with its lines joined by spaces, blank ones dropped."""
    return " ".join(line.strip() for line in text.splitlines() if line.strip())


def inert(text: str) -> str:
    """Return one line that cannot open or close a comment, so that it cannot forge a hash."""
    return escaped_comments(_one_line(text))


def _in_utc(now: datetime) -> datetime:
    if now.utcoffset() is None:
        raise ConfigurationError(
            f"The time {now.isoformat()} has no time zone. Pass an aware one: datetime.now(UTC)."
        )
    return now.astimezone(UTC)
