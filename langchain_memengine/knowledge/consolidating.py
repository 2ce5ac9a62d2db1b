"""Hide chunks and merge agents' notes that say nothing beyond another one.

Both are revisions, and neither touches a row of records, chunks or embeddings: a hidden chunk is
noted by its id, a merged note is superseded. So an undo, in whatever order, leaves all as it was.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

import numpy as np

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.knowledge.compared_texts import ComparedText, entry, of_chunk, of_note
from langchain_memengine.knowledge.consolidation import (
    Duplicate,
    confirmed,
    find_duplicates,
)
from langchain_memengine.knowledge.consolidation_report import Consolidated
from langchain_memengine.retrieval.current_records import all_known
from langchain_memengine.retrieval.embedding_cache import EmbeddingCache, FloatArray
from langchain_memengine.retrieval.records import Change, RecordKeeper, taken_over
from langchain_memengine.retrieval.visibility import THREAD_OWNERS
from langchain_memengine.storage import (
    embeddings,
    hidden_chunks,
    quarantines,
    records,
    revisions,
)
from langchain_memengine.storage.chunk_values import SHARED_PARTITION, StoredChunk
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.record_values import (
    Hiding,
    MemoryRecord,
    RecordFilter,
    RecordState,
    RevisionKind,
    Supersession,
)
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.types import Progress
from langchain_memengine.workspace.layout import DREAMS_FILE, LEGACY_MEMORY_FILE, MEMORY_FILE

BATCH = 500
"""Changes in one transaction."""

_SOURCES = ("file:", "doc:")
_PERSONAL = "personal/"
# What is pinned stands in for nothing that is searched, and a digest only tells of others.
_LEFT_ALONE = frozenset({MEMORY_FILE, LEGACY_MEMORY_FILE, DREAMS_FILE})


@dataclass(frozen=True, slots=True)
class ConsolidationPlan:
    """What is to be hidden and merged.

    Attributes:
        entries: In the order of partitions; notes last.
        examined: Texts that were looked at.
        compared: Pairs of them that were compared.
        unconfirmed: Pairs that were left alone because one has no embedding.
    """

    entries: tuple[Consolidated, ...] = ()
    examined: int = 0
    compared: int = 0
    unconfirmed: int = 0


class Consolidation:
    """Plans and carries out a consolidation of everybody's memory, each apart.

    Args:
        database: The store.
        keeper: Writes what changes.
        embedding: What the embeddings were made with.
        config: How texts are cut.
    """

    def __init__(
        self,
        database: Database,
        keeper: RecordKeeper,
        embedding: EmbeddingCache,
        config: MemEngineConfig,
    ) -> None:
        self._database = database
        self._keeper = keeper
        self._embedding = embedding
        self._config = config

    def plan(self, now: datetime, progress: Progress | None = None) -> ConsolidationPlan:
        """Return what can be hidden and merged; nothing is changed.

        Args:
            now: Records that are not valid now are left alone.
            progress: Called with (memories looked at, memories to look at).

        Raises:
            StorageError: The database failed.
        """
        with self._database.read() as tx:
            keys = [key for key in hidden_chunks.partitions(tx) if _is_consolidated(key)]
        plan = ConsolidationPlan()
        for done, key in enumerate(keys, start=1):
            with self._database.read() as tx:
                stored = hidden_chunks.candidates(tx, key, _SOURCES)
                aside = quarantines.hidden_sources(tx)
                texts = [of_chunk(one) for one in stored if not _is_left_alone(one, aside)]
                plan = _joined(plan, self._found(tx, texts, "hidden"))
            if progress is not None:
                progress(done, len(keys) + 1)
        with self._database.read() as tx:
            wanted = RecordFilter(valid_at=now)
            notes = all_known(tx, [("agent_notes", "")], wanted, current=True)
            texts = [of_note(one, self._config) for one in notes if _is_valid_for_ever(one)]
            plan = _joined(plan, self._found(tx, texts, "merged"))
        if progress is not None:
            progress(len(keys) + 1, len(keys) + 1)
        return plan

    def carry_out(self, planned: Sequence[Consolidated], now: datetime) -> list[Consolidated]:
        """Hide, merge and fold what was planned; return what was, with its revisions.

        What changed since it was planned is left as it is.

        Raises:
            StorageError: The database failed; batches before stay, and so can be undone.
        """
        steps = (("hidden", self._hide), ("merged", self._merge), ("folded", self._fold))
        done: list[Consolidated] = []
        for action, step in steps:
            chosen = [one for one in planned if one.action == action]
            for at in range(0, len(chosen), BATCH):
                done += step(chosen[at : at + BATCH], now)
        return done

    def _found(
        self, tx: Transaction, texts: Sequence[ComparedText], action: str
    ) -> ConsolidationPlan:
        by_id = {one.passage.id: one for one in texts}
        found = find_duplicates(one.passage for one in texts)
        wanted_back = revisions.undone(tx, [one.id for one in found.found])
        sure, unknown = [one for one in found.found if one.id not in wanted_back], 0
        if self._embedding.enabled:
            vectors = self._vectors(tx, by_id, sure)
            sure, unknown = confirmed(sure, lambda *ids: _cosine(vectors, *ids))
        entries = tuple(entry(one, by_id, is_note=action == "merged") for one in sure)
        return ConsolidationPlan(entries, len(texts), found.compared, unknown)

    def _vectors(
        self, tx: Transaction, by_id: Mapping[str, ComparedText], found: Iterable[Duplicate]
    ) -> dict[str, FloatArray]:
        """Return the vectors of the passages that are compared, if all their parts have one."""
        model = self._embedding.model(tx)
        ids = {name for one in found for name in (one.id, one.kept_id)}
        hashes = sorted({text_hash for one in ids for text_hash in by_id[one].hashes})
        known = embeddings.by_hashes(tx, hashes, model) if model else {}
        return {
            one: np.sum([known[text_hash] for text_hash in by_id[one].hashes], axis=0)
            for one in ids
            if known.keys() >= set(by_id[one].hashes)
        }

    def _hide(self, batch: Sequence[Consolidated], now: datetime) -> list[Consolidated]:
        wanted: dict[str, Change] = {
            one.id: _hidden_behind(Hiding(one.kept_id, now)) for one in batch
        }
        with self._database.read() as tx:
            # What one of them was hidden behind before and is gone may come back: not in a circle.
            stale = hidden_chunks.of_chunks(tx, [one.kept_id for one in batch])
        wanted |= {one: _hidden_behind(None) for one in stale if one not in wanted}
        self._keeper.change(wanted, "hide", now=now)
        return self._with_revisions(batch)

    def _merge(self, batch: Sequence[Consolidated], now: datetime) -> list[Consolidated]:
        with self._database.read() as tx:
            kept = records.by_ids(tx, {one.kept_id for one in batch})
        # Where the branch that learnt the kept one is hidden, the other one is not.
        commits = {one.id: kept[one.kept_id].commit_id for one in batch if one.kept_id in kept}
        return self._supersede(batch, commits, "merge", now)

    def _fold(self, batch: Sequence[Consolidated], now: datetime) -> list[Consolidated]:
        return self._supersede(batch, dict.fromkeys(one.id for one in batch), "fold", now)

    def _supersede(
        self,
        batch: Sequence[Consolidated],
        commits: Mapping[str, str | None],
        kind: RevisionKind,
        now: datetime,
    ) -> list[Consolidated]:
        """Supersede records on the branches of these commits, by id; others are left alone."""
        wanted = {
            one.id: taken_over(Supersession(one.id, one.kept_id, commits[one.id], now, one.cosine))
            for one in batch
            if one.id in commits
        }
        after = self._keeper.change(wanted, kind, now=now)
        gone = {one for one, state in after.items() if state.record is None}
        return self._with_revisions([one for one in batch if one.id in after.keys() - gone])

    def _with_revisions(self, batch: Sequence[Consolidated]) -> list[Consolidated]:
        with self._database.read() as tx:
            newest = revisions.newest(tx, [one.id for one in batch])
        return [replace(one, revision=newest[one.id]) for one in batch if one.id in newest]


def _hidden_behind(hiding: Hiding | None) -> Change:
    def change(state: RecordState) -> RecordState:
        return replace(state, hiding=hiding)

    return change


def _cosine(vectors: Mapping[str, FloatArray], one: str, other: str) -> float | None:
    if one not in vectors or other not in vectors:
        return None
    norms = float(np.linalg.norm(vectors[one]) * np.linalg.norm(vectors[other]))
    return float(vectors[one] @ vectors[other]) / norms if norms else None


def _joined(one: ConsolidationPlan, other: ConsolidationPlan) -> ConsolidationPlan:
    return ConsolidationPlan(
        (*one.entries, *other.entries),
        one.examined + other.examined,
        one.compared + other.compared,
        one.unconfirmed + other.unconfirmed,
    )


def _is_consolidated(partition: str) -> bool:
    """Return whether a partition is everyone's or a user's own; conversations have an archive."""
    is_user = partition.startswith(_PERSONAL) and not partition.startswith(
        _PERSONAL + THREAD_OWNERS
    )
    return partition == SHARED_PARTITION or is_user


def _is_left_alone(chunk: StoredChunk, aside: Collection[str]) -> bool:
    return chunk.path.rpartition("/")[2] in _LEFT_ALONE or chunk.source in aside


def _is_valid_for_ever(note: MemoryRecord) -> bool:
    return note.valid_from is None and note.expires_at is None
