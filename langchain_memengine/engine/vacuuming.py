"""Clean up: remove what is over, and what is older than anybody wants to keep it."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from datetime import timedelta

from langchain_memengine import given
from langchain_memengine.engine.erasing import Erasing
from langchain_memengine.reports import ForgetReport
from langchain_memengine.retrieval import note_erasing, visibility
from langchain_memengine.retrieval.record_chunks import record_source
from langchain_memengine.storage import doomed, records, tombstones
from langchain_memengine.storage.doomed_values import Selection
from langchain_memengine.types import Actor


class Vacuuming(Erasing):
    """The chapter of the engine that cleans up."""

    def vacuum(
        self, *, archive_older_than: timedelta | None = None, actor: Actor | None = None
    ) -> ForgetReport:
        """Remove records whose time is over, and archived messages that are old enough.

        An admin does so for all users, anybody else for themselves. What the store notes of chunks
        that were removed, for indexes that follow it, goes after 30 days.

        Args:
            archive_older_than: Age from which archived messages go, with their transcripts;
                default: none goes. What a chat history has as well stays there.
            actor: Who cleans up.

        Raises:
            ConfigurationError: ``archive_older_than`` is no time from 0 to 365,000 days.
            StorageError: A file or the database could not be written. Call it again.
        """
        self._require_writable()
        if archive_older_than is not None:
            given.age("archive_older_than", archive_older_than)
        places = visibility.forgettable_places(actor or self.actor)
        owners = None if places is None else tuple(owner for _, owner in places)
        now = self._clock()
        transcripts: list[str] = []
        with self._database.read() as tx:
            over = records.expired(tx, places, now)
            sources = tuple(record_source(record.id) for record in over)
            found = doomed.select_rows(tx, Selection(sources, places=places))
            if archive_older_than is not None:
                before = now - archive_older_than
                transcripts = note_erasing.transcripts_before(self._notes, before, owners)
                old = doomed.old_archive(tx, before, owners)
                found = replace(found, messages=old.messages, chunks=[*found.chunks, *old.chunks])
        erased = note_erasing.remove_notes(self._notes, transcripts)
        report = self._remove(found, erased, Counter(), (), keep_history=True)
        is_left = True
        while is_left:  # each in a transaction of its own: other writers wait for none too long
            with self._database.write() as tx:
                is_left = tombstones.prune(tx, now=now) > 0
        return report
