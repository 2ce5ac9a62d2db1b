"""Decide what goes into MEMORY.md, which is pinned: old records of everyone, and decisions.

Only trusted words do, and only as far as there is room: what MEMORY.md has beyond the length that a
recall shows would be seen by nobody.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from langchain_memengine.knowledge.consolidation_report import Consolidated
from langchain_memengine.retrieval.record_chunks import record_source
from langchain_memengine.storage.record_values import MemoryRecord
from langchain_memengine.text.markdown import extract_decisions
from langchain_memengine.text.suspicion import suspicion
from langchain_memengine.types import Fact
from langchain_memengine.workspace.entries import (
    inert,
    new_lines,
)
from langchain_memengine.workspace.layout import DAILY_DIR, MEMORY_FILE, daily_date
from langchain_memengine.workspace.renderings import without_rendered

DECISION_MARKERS = ("decision", "decided")
"""What a heading in a day's log must contain for its bullets to be pinned."""

MAX_FACT_CHARS = 300
"""Longer texts are no facts to pin."""


@dataclass(frozen=True, slots=True)
class FoldPlan:
    """What goes into MEMORY.md.

    Attributes:
        facts: What is pinned.
        lines: The lines that are new.
        records: Records that stand there then, oldest first.
        no_room: What does not fit.
        suspected: Decisions in logs that look like an attempt to steer an agent, and are left out.
    """

    facts: tuple[Fact, ...] = ()
    lines: tuple[str, ...] = ()
    records: tuple[MemoryRecord, ...] = ()
    no_room: int = 0
    suspected: int = 0

    @property
    def entries(self) -> list[Consolidated]:
        """What becomes of the records."""
        return [folded(one) for one in self.records]


def folded(record: MemoryRecord) -> Consolidated:
    """Return what becomes of a record that stands in MEMORY.md."""
    return Consolidated(
        action="folded",
        id=record.id,
        kept_id=MEMORY_FILE,
        owner="",
        place=record_source(record.id),
        kept_place=MEMORY_FILE,
        text=record.text,
        reason="says the same",
    )


def old_records(found: Iterable[MemoryRecord], before: datetime) -> list[MemoryRecord]:
    """Return the records that may be pinned, oldest first.

    Those of a conversation's branch may be hidden on others, and those that are valid for a time
    only would be pinned for ever: both stay as they are.
    """
    chosen = [
        one
        for one in found
        if one.scope == "global"
        and one.trust == "trusted"
        and one.created_at < before
        and (one.commit_id, one.valid_from, one.expires_at) == (None, None, None)
        and len(inert(one.text)) <= MAX_FACT_CHARS
    ]
    return sorted(chosen, key=lambda one: (one.created_at, one.id))


def old_logs(names: Iterable[str], before: datetime) -> list[str]:
    """Return the names of everyone's daily logs from before a day, oldest first."""
    dated = ((daily_date(name), name) for name in names if name.startswith(f"{DAILY_DIR}/"))
    return [name for day, name in sorted((d, n) for d, n in dated if d and d < before.date())]


def plan_fold(
    records: Sequence[MemoryRecord], logs: Mapping[str, str], pinned: str, *, room: int
) -> FoldPlan:
    """Return what goes into MEMORY.md: records first, then decisions, each once.

    Args:
        records: Those that may be pinned.
        logs: Texts of daily logs by name. What they only show of a record is left out: a log may
            show what a tool said.
        pinned: Text of MEMORY.md.
        room: Characters that it may have.
    """
    facts: list[Fact] = []
    lines: list[str] = []
    standing: list[MemoryRecord] = []
    no_room = suspected = 0
    for fact, record in [*_of_records(records), *_of_logs(logs)]:
        if record is None and suspicion(fact.text):
            suspected += 1
            continue
        new = new_lines([fact], pinned)
        if len(pinned) + sum(map(len, new)) > room and new:
            no_room += 1
            continue
        facts += [fact] if new else []
        lines += new
        pinned += "".join(new)
        standing += [record] if record is not None else []
    return FoldPlan(tuple(facts), tuple(lines), tuple(standing), no_room, suspected)


def _of_records(records: Iterable[MemoryRecord]) -> list[tuple[Fact, MemoryRecord | None]]:
    return [(Fact(one.source or record_source(one.id), one.text), one) for one in records]


def _of_logs(logs: Mapping[str, str]) -> list[tuple[Fact, MemoryRecord | None]]:
    return [
        (Fact(name, bullet), None)
        for name, text in logs.items()
        for bullet in extract_decisions(without_rendered(text), DECISION_MARKERS)
        if len(bullet) <= MAX_FACT_CHARS
    ]
