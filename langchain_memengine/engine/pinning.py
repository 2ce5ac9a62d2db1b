"""What is pinned: the facts that every recall shows whole."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from langchain_memengine.engine.syncing_first import SyncingFirst
from langchain_memengine.retrieval.recall import capped
from langchain_memengine.retrieval.sources import source_uri
from langchain_memengine.storage import files, quarantines
from langchain_memengine.types import Actor
from langchain_memengine.workspace.blank_memory import is_untouched
from langchain_memengine.workspace.files import UnreadableFileError
from langchain_memengine.workspace.layout import memory_names, named_memory_names


class Pinned(NamedTuple):
    """What is pinned for an actor.

    Attributes:
        text: Everyone's pinned facts, then the actor's own, up to the cap.
        sources: Source URIs of the files it is from.
        problems: What is missing from it, in words.
    """

    text: str
    sources: tuple[str, ...]
    problems: tuple[str, ...]


class Pinning(SyncingFirst):
    """The chapter of the engine that knows what is pinned for whom."""

    def is_quarantined(self, source: str) -> bool:
        """Return whether what has this source URI, or this name of a note, is set aside."""
        given = (source, self._uri_of(source))
        with self._database.read() as tx:
            known = quarantines.everything(tx)
        return any(one.covers(uri) for one in known for uri in given)

    def _pinned(self, actor: Actor, cap: int) -> Pinned:
        """Return what is pinned for an actor, in at most ``cap`` characters."""
        texts: list[str] = []
        problems: list[str] = []
        sources: list[str] = []
        for names, known in self._pinned_files(actor):
            try:
                name, text = self._first_text(names)
            except UnreadableFileError as error:
                problems.append(f"pinned: {error}")
                name, text = names[0], ""
            # Where both spellings are files, the one that is not pinned is a note like any other.
            meant = (name,) if known >= set(names) else names
            sources += map(self._uri_of, meant)
            aside = [one for one in meant if self.is_quarantined(one)] if text else []
            if aside:
                problems.append(f"pinned: {aside[0]} is quarantined")
            elif text:
                texts.append(text)
        pinned = "\n\n".join(texts)
        shown = capped(pinned, cap)
        if len(shown) < len(pinned) and cap:
            problems.append(
                f"pinned: {len(shown):,} of {len(pinned):,} characters are shown; shorten "
                "MEMORY.md or raise pinned_cap"
            )
        return Pinned(shown, tuple(sources), tuple(problems))

    def _pinned_sources(self, actor: Actor) -> tuple[str, ...]:
        """Return the source URIs of all files that may be pinned for an actor."""
        return tuple(self._uri_of(name) for names, _ in self._pinned_files(actor) for name in names)

    def _pinned_files(self, actor: Actor) -> list[tuple[tuple[str, ...], set[str]]]:
        """Return the names that each pinned file may have, and those of them that are indexed.

        A folder that a person named by the user id is the user's if the index has it under this
        very name: some file systems take it for that of another user.
        """
        named = named_memory_names(actor.user_id)
        own = dict.fromkeys((memory_names(""), memory_names(actor.user_id)))
        with self._database.read() as tx:
            workspace = self._sources[0].workspace_id
            known = files.known(tx, workspace, [name for names in (*own, named) for name in names])
        theirs = tuple(name for name in named if name in known)
        return [(names, known & set(names)) for names in (*own, theirs) if names]

    def _first_text(self, names: Iterable[str]) -> tuple[str, str]:
        """Return the first of some notes that says anything, with its text.

        Raises:
            UnreadableFileError: One before it is no text.
        """
        first = ""
        for name in names:
            first = first or name
            text = self._notes.read(name)
            if text.strip() and not is_untouched(text):
                return name, text
        return first, ""

    def _uri_of(self, name: str) -> str:
        return source_uri(self._sources[0].workspace_id, name)
