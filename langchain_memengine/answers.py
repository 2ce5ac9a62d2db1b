"""The frozen values that searches and syncs answer with: hits and their receipts, and counts."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from langchain_memengine.shown import Shown
from langchain_memengine.types import (
    Metadata,
    Origin,
    Scope,
    Trust,
    VectorPath,
)


@dataclass(frozen=True, slots=True)
class Receipt:
    """Why a hit stands where it stands.

    Attributes:
        keyword_rank: Rank in the keyword leg, from 1; ``None`` if it did not match.
        bm25: Raw BM25 score; ``None`` if it did not match.
        vector_rank: Rank in the vector leg, from 1; ``None`` if it was no candidate.
        cosine: Cosine similarity to the query, -1 to 1; ``None`` without an embedding.
        vector_path: Which index answered the vector leg.
        context_rank: Rank of the surrounding file or conversation, from 1.
        fused: Score of the ranking preset before decay and bonus.
        age_days: Age used for the decay; ``None`` never ages.
        decay: Factor of the age that the score was multiplied by, 0 to 1.
        access_count: How often tools or recording retrievers returned it.
        access_bonus: What that added to the score.
        ranking: Name of the ranking preset.
        origin: Where the text came from.
        trust: How far it may influence the agent.
        author_boost: Part of ``fused`` that is there because the query names the author.
        date_boost: Part of ``fused`` that is there because the query names the time.
        vector_weight: Weight of the vector leg in this search: the ranking's, or more where the
            nearest text stood out; ``None`` without that leg.
        graph_rank: Rank in the graph leg, from 1; ``None`` if that did not lead to it.
    """

    keyword_rank: int | None
    bm25: float | None
    vector_rank: int | None
    cosine: float | None
    vector_path: VectorPath | None
    context_rank: int | None
    fused: float
    age_days: float | None
    decay: float
    access_count: int
    access_bonus: float
    ranking: str
    origin: Origin
    trust: Trust
    author_boost: float = 0.0
    date_boost: float = 0.0
    vector_weight: float | None = None
    graph_rank: int | None = None

    def __str__(self) -> str:
        """Return the parts that applied, on one line."""
        parts = [f"{self.ranking} {self.fused:.4f}"]
        if self.bm25 is not None:
            parts.append(f"bm25 {self.bm25:.2f} (#{self.keyword_rank})")
        if self.cosine is not None:
            place = f" (#{self.vector_rank}, {self.vector_path})" if self.vector_rank else ""
            parts.append(f"cosine {self.cosine:.2f}{place}")
        if self.context_rank is not None:
            parts.append(f"context #{self.context_rank}")
        if self.graph_rank is not None:
            parts.append(f"graph #{self.graph_rank}")
        if self.author_boost:
            parts.append(f"author + {self.author_boost:.2f}")
        if self.date_boost:
            parts.append(f"date + {self.date_boost:.2f}")
        if self.age_days is not None:
            parts.append(f"{self.age_days:.0f} days old × {self.decay:.2f}")
        if self.access_bonus:
            parts.append(f"{self.access_count} accesses + {self.access_bonus:.4f}")
        return " · ".join(parts)


@dataclass(frozen=True, slots=True)
class Hit(Shown):
    """One search result, best first in :class:`SearchResult`.

    Attributes:
        id: Chunk id.
        text: Verbatim text of the chunk.
        score: Final score; only its order within one search means anything.
        source: URI of the text the chunk is from.
        path: Workspace-relative path; ``""`` when it is no file.
        start_line: First line, 1-based.
        end_line: Last line, 1-based, inclusive.
        heading: Headings the chunk stands under.
        tokens: Estimated tokens of ``text``.
        scope: Who may read it.
        owner: Folder name of the user, or ``thread:…``, for personal memory, else ``""``.
        event_at: When what it tells happened; ``None`` never ages.
        metadata: The user's own values.
        receipt: Why it stands here.
    """

    id: str
    text: str
    score: float
    source: str
    path: str
    start_line: int
    end_line: int
    heading: str
    tokens: int
    scope: Scope
    owner: str
    event_at: datetime | None
    metadata: Metadata
    receipt: Receipt

    @property
    def bm25(self) -> float | None:
        """Raw BM25 score; ``None`` if the keyword leg did not match."""
        return self.receipt.bm25

    @property
    def cosine(self) -> float | None:
        """Cosine similarity to the query; ``None`` without an embedding."""
        return self.receipt.cosine

    @property
    def location(self) -> str:
        """``path:start-end``, or the source URI when it is no file."""
        return f"{self.path or self.source}:{self.start_line}-{self.end_line}"

    def __str__(self) -> str:
        """Return location, score, receipt and the text's first line."""
        first_line = next(iter(self.text.strip().splitlines()), "")
        return f"{self.score:.4f}  {self.location}  {first_line[:80]}\n        {self.receipt}"


@dataclass(frozen=True, slots=True)
class SearchResult(Shown):
    """The answer to one query.

    Attributes:
        hits: Best first, at most ``k``.
        degraded: What made the answer poorer than asked, in words; empty when nothing did.
        auto_synced: Whether changed files were indexed first.
        timings: Milliseconds by stage (``sync``, ``embed``, ``keyword``, ``vector``, ``graph``,
            ``fuse``, ``rows``, ``total``).
    """

    hits: tuple[Hit, ...]
    degraded: tuple[str, ...] = ()
    auto_synced: bool = False
    timings: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A file that was not indexed, or not trusted, and why."""

    path: str
    reason: str


@dataclass(frozen=True, slots=True)
class IndexReport(Shown):
    """What one sync did.

    Attributes:
        indexed: Files whose rows were replaced (or would be, in a dry run).
        unchanged: Files that were already up to date.
        removed: Files that are gone from disk and now from the index.
        skipped: Files that are no memory: binary, too large, not regular, …
        failed: Files that should be indexed and could not; they stay dirty and are retried.
        suspicious: Indexed files of which something looks like an attempt to steer an agent; that
            is untrusted, and says so where it is recalled.
        chunks: Chunks written.
        embedded: Texts sent to the embedder.
        reused: Chunks whose embedding was already known.
        pending: Chunks still without an embedding; searched by keyword only.
        tokens: Estimated tokens of the texts sent to the embedder.
        degraded: What made the index poorer than asked, in words.
        dry_run: Whether nothing was written.
    """

    indexed: int = 0
    unchanged: int = 0
    removed: int = 0
    skipped: tuple[FileProblem, ...] = ()
    failed: tuple[FileProblem, ...] = ()
    suspicious: tuple[FileProblem, ...] = ()
    chunks: int = 0
    embedded: int = 0
    reused: int = 0
    pending: int = 0
    tokens: int = 0
    degraded: tuple[str, ...] = ()
    dry_run: bool = False

    @property
    def complete(self) -> bool:
        """Whether everything that should be indexed is, with its embedding."""
        return not (self.failed or self.pending or self.degraded)


@dataclass(frozen=True, slots=True)
class Stats(Shown):
    """Size of a store.

    Attributes:
        files: Indexed files.
        chunks: Searchable chunks, files and documents together.
        embeddings: Chunks that have an embedding of the current model.
        embedding_model: Identity of the current model; ``None`` in keyword-only mode.
        change_counter: Grows with every visible change.
        refused: Texts the embedder will never embed; found by keyword only.
        jobs_ready: Jobs that wait, also those that failed and wait to be tried again.
        jobs_running: Jobs being done.
        jobs_dead: Jobs that were given up.
        jobs_unknown: Waiting jobs of kinds this engine cannot do; among ``jobs_ready``.
    """

    files: int
    chunks: int
    embeddings: int
    embedding_model: str | None
    change_counter: int
    refused: int = 0
    jobs_ready: int = 0
    jobs_running: int = 0
    jobs_dead: int = 0
    jobs_unknown: int = 0


@dataclass(frozen=True, slots=True)
class Explanation(Shown):
    """Why a chunk is, or is not, in the answer to a query.

    Attributes:
        chunk_id: The chunk asked about.
        found: Whether it is among the ``k`` hits.
        reason: The answer in one sentence.
        rank: Its place, from 1, among everything that had a reason to be a hit.
        hit: The hit with its receipt, when it was ranked at all.
    """

    chunk_id: str
    found: bool
    reason: str
    rank: int | None = None
    hit: Hit | None = None


def as_json(value: object) -> Any:
    """Return ``value`` as plain JSON types: dataclasses as dicts, datetimes as ISO 8601."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: as_json(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, Mapping):
        return {str(key): as_json(inner) for key, inner in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [as_json(inner) for inner in value]
    return value
