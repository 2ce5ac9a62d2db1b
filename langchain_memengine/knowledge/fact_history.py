"""What was believed about a subject, and until when."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from langchain_memengine.shown import Shown
from langchain_memengine.storage.record_values import MemoryRecord, Supersession


@dataclass(frozen=True, slots=True)
class FactVersion(Shown):
    """A fact, and how long it held.

    Attributes:
        fact: Its record.
        until: When something took its place; ``None`` while it is current.
        replaced_by: Id of the fact that did.
    """

    fact: MemoryRecord
    until: datetime | None = None
    replaced_by: str | None = None


def versions(
    facts: Sequence[MemoryRecord], over: Sequence[Supersession]
) -> tuple[FactVersion, ...]:
    """Return facts with how long they held, in the order they were learnt.

    Args:
        facts: Some records.
        over: What took the place of which of them, as far as can be seen.
    """
    first: dict[str, Supersession] = {}
    for one in sorted(over, key=lambda one: (one.at, one.new_id)):
        first.setdefault(one.old_id, one)
    in_order = sorted(facts, key=lambda fact: (fact.created_at, fact.id))
    return tuple(
        FactVersion(fact, ended.at, ended.new_id)
        if (ended := first.get(fact.id))
        else FactVersion(fact)
        for fact in in_order
    )
