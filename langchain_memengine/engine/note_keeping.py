"""Keep notes: the Markdown that people read and the engine indexes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from langchain_memengine.engine.parts import EngineParts
from langchain_memengine.retrieval import visibility
from langchain_memengine.types import Fact
from langchain_memengine.workspace.entries import Workspace


class NoteKeeping(EngineParts):
    """The chapter of the engine that writes Markdown; ``owner`` is a user id, or nobody's."""

    def append_daily(self, stage: str, body: str, *, owner: str = "", record: str = "") -> str:
        """Add an entry to today's log (UTC), of everyone or of one owner; return its name.

        With a ``record``, the id of what is stored elsewhere and only shown here, an entry is added
        once, also when it is tried again after midnight, and not indexed, so that a search does not
        find the same twice.
        """
        return self._workspace(owner).append_daily(self._clock(), stage, body, record=record)

    def write_task_summary(self, task_id: str, title: str, body: str, *, owner: str = "") -> str:
        """Write or overwrite a task's summary; return its name."""
        return self._workspace(owner).write_task_summary(task_id, title, body)

    def promote_facts(self, task_id: str, facts: Sequence[Fact], *, owner: str = "") -> int:
        """Add facts to MEMORY.md, each once; return how many were new.

        Raises:
            ScopeError: A fact is a tool's, a file's or a model's word; none is added.
        """
        for fact in facts:
            visibility.require_pinnable(fact.origin)
        return self._workspace(owner).promote_facts(self._clock(), task_id, facts)

    def read_memory(self, owner: str = "") -> str:
        """Return the text of MEMORY.md, ``""`` if there is none."""
        return Workspace(self._notes, owner).read_memory()

    def read_daily(self, day: date, owner: str = "") -> str:
        """Return the text of a day's log (UTC), ``""`` if there is none."""
        return Workspace(self._notes, owner).read_daily(day)

    def list_files(self, owner: str = "") -> list[str]:
        """Return the memory files there are: MEMORY, DREAMS, dailies newest first, tasks."""
        return Workspace(self._notes, owner).list_files()

    def _workspace(self, owner: str) -> Workspace:
        self._require_writable()
        self._last_scan = -float("inf")  # the next search finds what is now written
        return Workspace(self._notes, owner)
