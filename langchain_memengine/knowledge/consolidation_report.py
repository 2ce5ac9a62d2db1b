"""What a consolidation did, or would do, and how it is told."""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from langchain_memengine.shown import Shown
from langchain_memengine.text.erasing import MIN_CHARS, flat
from langchain_memengine.workspace.entries import inert
from langchain_memengine.workspace.layout import MEMORY_FILE

MAX_QUOTED_CHARS = 500
"""Longer texts are named in a digest, not quoted. What is cut could not be forgotten there, nor
could what is too short to be looked for within a line."""


@dataclass(frozen=True, slots=True)
class Consolidated:
    """One text that is no longer found, and why.

    Attributes:
        action: ``hidden`` (a chunk behind another one), ``merged`` (an agents' note into another
            one), ``folded`` (a record into MEMORY.md).
        id: Id of the chunk or record.
        kept_id: Id of the chunk or record that says it all; the name of a note for ``folded``.
        owner: Folder name of the user whose memory it is in, ``""`` for everyone's.
        place: Where it stands: ``path:start-end``, or a source URI.
        kept_place: Where that stands which says it all.
        text: Its words.
        reason: Why, in words.
        similarity: Share of shingles that both have in common, 0 to 1.
        cosine: Of their embeddings; ``None`` if they were not compared.
        revision: For ``engine.undo``; ``""`` in a dry run.
    """

    action: Literal["hidden", "merged", "folded"]
    id: str
    kept_id: str
    owner: str
    place: str
    kept_place: str
    text: str
    reason: str
    similarity: float = 1.0
    cosine: float | None = None
    revision: str = ""

    def __str__(self) -> str:
        """Return what was done with what, on one line."""
        cosine = "" if self.cosine is None else f", cosine {self.cosine:.2f}"
        undo = f"; undo {self.revision}" if self.revision else ""
        return (
            f"{self.action} {self.place} ({self.kept_place} {self.reason}, "
            f"similarity {self.similarity:.2f}{cosine}{undo})"
        )


@dataclass(frozen=True, slots=True)
class ConsolidationReport(Shown):
    """What a consolidation did, or would do.

    Attributes:
        entries: What is no longer found, as far as the caller may know of it.
        private: How many more there are in other users' memories; their own digests tell them.
        pinned: Lines that MEMORY.md gets.
        examined: Texts that were looked at.
        compared: Pairs of them that were compared.
        unconfirmed: Pairs that were left alone because one has no embedding.
        no_room: What was not folded because MEMORY.md is as long as a recall shows it.
        degraded: What made the result poorer than asked, in words.
        dry_run: Whether nothing was changed.
    """

    entries: tuple[Consolidated, ...] = ()
    private: int = 0
    pinned: tuple[str, ...] = ()
    examined: int = 0
    compared: int = 0
    unconfirmed: int = 0
    no_room: int = 0
    degraded: tuple[str, ...] = ()
    dry_run: bool = False

    @property
    def counts(self) -> dict[str, int]:
        """How many of the entries were hidden, merged and folded."""
        found = Counter(one.action for one in self.entries)
        return {action: found[action] for action in ("hidden", "merged", "folded")}

    def diff(self) -> str:
        """Return what searches lose and MEMORY.md gains as a unified diff, ``""`` for nothing."""
        parts = [_diff(one.place, one.text.splitlines(), []) for one in self.entries]
        parts.append(_diff(MEMORY_FILE, [], [line.rstrip("\n") for line in self.pinned]))
        return "\n".join(part for part in parts if part)


def digest(entries: Iterable[Consolidated], pinned: int) -> str:
    """Return what a consolidation did as a Markdown list, for DREAMS.md.

    Args:
        entries: What is told of.
        pinned: How many lines MEMORY.md got.
    """
    lines = [f"- {inert(f'{one}{_quoted(one)}')}" for one in entries]
    if pinned:
        lines.append(f"- lines added to {MEMORY_FILE}: {pinned}")
    return "\n".join(lines)


def _quoted(one: Consolidated) -> str:
    """Return the words of a record; those of a chunk stand in their file."""
    is_quoted = one.action != "hidden" and MIN_CHARS <= len(flat(one.text)) <= MAX_QUOTED_CHARS
    return f": {one.text}" if is_quoted else ""


def _diff(name: str, before: list[str], after: list[str]) -> str:
    return "\n".join(difflib.unified_diff(before, after, name, name, lineterm=""))
