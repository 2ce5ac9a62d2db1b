"""Which records are known and current, seen from the newest branches or from one of them."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_memengine.retrieval.branches import hidden_commits
from langchain_memengine.retrieval.record_chunks import record_source
from langchain_memengine.storage import quarantines, records, supersessions
from langchain_memengine.storage.record_values import MemoryRecord, Place, RecordFilter
from langchain_memengine.storage.transaction import Transaction

_PAGE = 500


def known_records(
    tx: Transaction,
    page: Sequence[MemoryRecord],
    *,
    current: bool,
    head: str | None = None,
    quarantined: bool = False,
) -> list[MemoryRecord]:
    """Return those of these records that a branch knows, and nothing took the place of.

    What is quarantined took nobody's place.

    Args:
        tx: A view of the database.
        page: The records, in any order, which is kept.
        current: Leave out those that are superseded.
        head: Branch whose conversation counts as it has it; default: as its newest one has it.
        quarantined: Keep those that are quarantined.
    """
    aside = quarantines.hidden_sources(tx)
    over = supersessions.of_records(tx, [record.id for record in page]) if current else []
    commits = {record.commit_id for record in page} | {one.commit_id for one in over}
    hidden = hidden_commits(tx, [commit for commit in commits if commit is not None], head)
    superseded = {
        one.old_id
        for one in over
        if one.commit_id not in hidden and record_source(one.new_id) not in aside
    }
    return [
        record
        for record in page
        if record.id not in superseded
        and record.commit_id not in hidden
        and (quarantined or record_source(record.id) not in aside)
    ]


def all_known(
    tx: Transaction,
    places: Sequence[Place],
    wanted: RecordFilter,
    *,
    current: bool,
    head: str | None = None,
    quarantined: bool = False,
) -> list[MemoryRecord]:
    """Return all records of some places that are wanted and known, newest first."""
    found: list[MemoryRecord] = []
    after = None
    while True:
        page = records.page(tx, places, wanted, after=after, limit=_PAGE)
        found += known_records(tx, page, current=current, head=head, quarantined=quarantined)
        if len(page) < _PAGE:
            return found
        after = page[-1]
