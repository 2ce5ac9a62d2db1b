"""Consolidations whose digest was never written: the process ended between the two.

A run notes that it began before it changes anything, and that it has told of it when the digest is
written. What lies between is found again by the revisions that it made; no words are noted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime, timedelta

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.knowledge.compared_texts import ComparedText, entry, of_chunk, of_note
from langchain_memengine.knowledge.consolidation import Duplicate
from langchain_memengine.knowledge.consolidation_report import Consolidated
from langchain_memengine.knowledge.folding import folded
from langchain_memengine.storage import hidden_chunks, records, revisions
from langchain_memengine.storage.record_values import Revision
from langchain_memengine.storage.times import from_ms, to_ms
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.sameness import sentences, similarity
from langchain_memengine.workspace.layout import MEMORY_FILE

GIVEN_UP = timedelta(hours=1)
"""A run that began longer ago and has told nothing is taken for one that ended early."""

_BEGUN = "consolidations_begun"


def begin(tx: Transaction, run: str, now: datetime) -> None:
    """Note that a run begins."""
    _note(tx, {**_begun(tx), run: to_ms(now)})


def told(tx: Transaction, run: str) -> None:
    """Note that the digest of a run is written."""
    _note(tx, {one: at for one, at in _begun(tx).items() if one != run})


def given_up(tx: Transaction, now: datetime) -> dict[str, datetime]:
    """Return when the runs began that ended before they told, by their names."""
    before = to_ms(now - GIVEN_UP)
    return {run: from_ms(at) for run, at in _begun(tx).items() if at < before}


def done_at(tx: Transaction, at: datetime, config: MemEngineConfig) -> list[Consolidated]:
    """Return what the run that began at a time did, as far as the texts are still there."""
    made = revisions.made_at(tx, at, ("hide", "merge", "fold"))
    pairs = {one.id: (one, kept) for one in made if (kept := _kept_id(one)) is not None}
    ids = {name for one, kept in pairs.values() for name in (one.target_id, kept)}
    notes = records.by_ids(tx, ids)
    texts = {one: of_chunk(chunk) for one, chunk in hidden_chunks.with_ids(tx, list(ids)).items()}
    texts |= {one: of_note(note, config) for one, note in notes.items()}
    return [
        replace(
            folded(notes[one.target_id]) if kept == MEMORY_FILE else _entry(one, kept, texts),
            revision=one.id,
        )
        for one, kept in pairs.values()
        if one.target_id in texts and (kept in texts or kept == MEMORY_FILE)
    ]


def _entry(made: Revision, kept: str, texts: Mapping[str, ComparedText]) -> Consolidated:
    less, more = (sentences(texts[one].passage.text) for one in (made.target_id, kept))
    share = similarity(more, less)
    found = Duplicate(made.target_id, kept, share, is_same=less == more)
    return entry(found, texts, is_note=made.kind == "merge")


def _kept_id(made: Revision) -> str | None:
    """Return what stands in for a chunk or record by a revision; ``None`` if nothing does."""
    if made.kind == "hide":
        return made.after.hiding.kept_id if made.after.hiding else None
    new = [one for one in made.after.superseded_by if one not in made.before.superseded_by]
    return new[0].new_id if new else None


def _begun(tx: Transaction) -> dict[str, int]:
    found: dict[str, int] = json.loads(tx.get_meta(_BEGUN) or "{}")
    return found


def _note(tx: Transaction, begun: Mapping[str, int]) -> None:
    tx.set_meta(_BEGUN, json.dumps(begun))
