"""Age and popularity for the documents of anyone's retriever."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

import numpy as np
from langchain_core.callbacks import Callbacks
from langchain_core.documents import BaseDocumentCompressor, Document
from pydantic import ConfigDict, Field

from langchain_memengine.engine.parts import utc_now
from langchain_memengine.rankings import Ranking
from langchain_memengine.retrieval.decay import Floats, rescore
from langchain_memengine.retrieval.documents import event_time
from langchain_memengine.text.sanitize import as_utc

SCORE_KEY = "relevance_score"
"""Key in ``Document.metadata`` under which the new score stands, as with LangChain's rerankers."""

_SECONDS_PER_DAY = 86_400.0


class DecayReranker(BaseDocumentCompressor):
    """Put what is old further back, and what is often used further in front.

    ```python
    ContextualCompressionRetriever(base_retriever=any_retriever, base_compressor=DecayReranker())
    ```

    The score of a document is multiplied by ``(1 - weight) + weight * decay``, and the decay is
    ``exp(-rate * (days - after_days))``, 1 before and never below ``floor``; then each access adds
    ``access_bonus``. Without ``score_key`` the score is ``1 / (rank_constant + rank)``. Documents
    without a time never age, those from the future are new, and equal scores keep their order. The
    given documents are not changed; the new ones carry their score under ``"relevance_score"``.
    """

    model_config = ConfigDict(
        extra="forbid", validate_assignment=True, arbitrary_types_allowed=True
    )

    rate: float = Field(0.015, ge=0, description="Per day beyond `after_days`. GoClaw.")
    after_days: float = Field(14.0, ge=0, description="Younger documents do not decay. GoClaw.")
    floor: float = Field(0.4, ge=0, le=1, description="The decay never goes below. GoClaw.")
    weight: float = Field(1.0, ge=0, le=1, description="Share of the decay; 0 switches it off.")
    access_bonus: float = Field(0.0, ge=0, description="Added for each access.")
    access_cap: int = Field(10, ge=0, description="Accesses counted, at most.")
    access_key: str = Field("access_count", description="Metadata key of the accesses.")
    time_key: str | None = Field(
        None,
        description="Metadata key of the time: ISO 8601, a datetime, or seconds since 1970; "
        "default: `event_at`, `timestamp`, `time`, `created_at`, `date`, the first with a time.",
    )
    score_key: str | None = Field(
        None, description="Metadata key of the score, higher is better; what lacks it has 0."
    )
    rank_constant: float = Field(60.0, gt=0, description="Used without `score_key`.")
    top_n: int | None = Field(None, ge=0, description="Documents, at most; default: all.")
    now: datetime | None = Field(None, description="Ages count back from here; default: the call.")

    def compress_documents(
        self,
        documents: Sequence[Document],
        query: str,  # noqa: ARG002  # LangChain's signature
        callbacks: Callbacks | None = None,  # noqa: ARG002  # the same
    ) -> list[Document]:
        """Return the documents in their new order, with their new scores."""
        now = utc_now() if self.now is None else as_utc(self.now)
        scores, _, _ = rescore(
            self._scores(documents),
            np.array([self._age_days(document.metadata, now) for document in documents], float),
            np.array([self._accesses(document.metadata) for document in documents], np.int64),
            self._ranking(),
        )
        order = np.argsort(-scores, kind="stable")[: self.top_n].tolist()
        return [
            documents[at].model_copy(
                update={"metadata": {**documents[at].metadata, SCORE_KEY: float(scores[at])}}
            )
            for at in order
        ]

    def _ranking(self) -> Ranking:
        return Ranking(
            name="decay",
            method="rrf",
            decay_rate=self.rate,
            decay_after_days=self.after_days,
            decay_floor=self.floor,
            decay_weight=self.weight,
            access_bonus=self.access_bonus,
            access_cap=self.access_cap,
        )

    def _scores(self, documents: Sequence[Document]) -> Floats:
        if self.score_key is None:
            return 1.0 / (self.rank_constant + np.arange(1, len(documents) + 1, dtype=float))
        found = [_number(document.metadata.get(self.score_key)) for document in documents]
        return np.array(found, float)

    def _accesses(self, metadata: dict[str, Any]) -> int:
        return int(min(max(_number(metadata.get(self.access_key)), 0), self.access_cap))

    def _age_days(self, metadata: dict[str, Any], now: datetime) -> float:
        """Return the age, never negative; NaN for what has no time."""
        moment = self._time(metadata)
        if moment is None:
            return np.nan
        return max((now - moment).total_seconds() / _SECONDS_PER_DAY, 0.0)

    def _time(self, metadata: dict[str, Any]) -> datetime | None:
        if self.time_key is None:
            return event_time(metadata)
        value = metadata.get(self.time_key)
        if isinstance(value, int | float) and not isinstance(value, bool):
            try:
                return datetime.fromtimestamp(value, UTC)
            except (OverflowError, ValueError, OSError):
                return None  # no time at all
        return event_time({"time": value})


def _number(value: Any) -> float:
    """Return a finite number, 0 for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float | np.number):
        return 0.0
    try:
        number = float(value)
    except OverflowError:  # an integer that no float holds
        return 0.0
    return number if np.isfinite(number) else 0.0
