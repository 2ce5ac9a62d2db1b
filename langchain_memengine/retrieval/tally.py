"""An index report in the making."""

from __future__ import annotations

from dataclasses import dataclass, field

from langchain_memengine.answers import (
    FileProblem,
    IndexReport,
)
from langchain_memengine.errors import EmbeddingError
from langchain_memengine.text.counting import counted


@dataclass(slots=True)
class Tally:
    """Counts of what was done so far; the names are those of :class:`IndexReport`.

    Attributes:
        hopeless: Texts that the embedder will never embed.
        outage: Why texts stay without embedding for now; nothing more is sent to the embedder.
    """

    indexed: int = 0
    unchanged: int = 0
    removed: int = 0
    chunks: int = 0
    embedded: int = 0
    reused: int = 0
    tokens: int = 0
    hopeless: int = 0
    skipped: list[FileProblem] = field(default_factory=list)
    failed: list[FileProblem] = field(default_factory=list)
    suspicious: list[FileProblem] = field(default_factory=list)
    outage: EmbeddingError | None = None

    def report(self, *, pending: int, dry_run: bool = False) -> IndexReport:
        """Return the report; ``pending`` is how many chunks have no embedding yet."""
        degraded = []
        if self.outage is not None:
            degraded.append(f"embeddings: {self.outage}")
        if self.hopeless:
            degraded.append(
                f"embeddings: {counted(self.hopeless, 'text')} without a meaning to the embedder, "
                "found by keyword only"
            )
        return IndexReport(
            indexed=self.indexed,
            unchanged=self.unchanged,
            removed=self.removed,
            skipped=tuple(self.skipped),
            failed=tuple(self.failed),
            suspicious=tuple(self.suspicious),
            chunks=self.chunks,
            embedded=self.embedded,
            reused=self.reused,
            pending=pending,
            tokens=self.tokens,
            degraded=tuple(degraded),
            dry_run=dry_run,
        )
