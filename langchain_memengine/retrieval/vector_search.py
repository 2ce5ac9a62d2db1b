"""The vector leg of a search: exact, or by Chroma where that is faster."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.errors import StorageError
from langchain_memengine.retrieval.chroma_client import EF_SEARCH
from langchain_memengine.retrieval.chroma_follower import ChromaFollower
from langchain_memengine.retrieval.legs import Mask, VectorLeg, chroma_leg, exact_leg
from langchain_memengine.retrieval.sight import Seen
from langchain_memengine.retrieval.vector_index import ChromaIndex
from langchain_memengine.retrieval.view import View
from langchain_memengine.text.counting import counted


class VectorSearch:
    """Finds the nearest vectors.

    Attributes:
        chroma: The index and what fills it, if there is one.
    """

    def __init__(
        self, config: MemEngineConfig, chroma: tuple[ChromaIndex, ChromaFollower] | None
    ) -> None:
        """Remember the ways.

        Args:
            config: Says which one is taken.
            chroma: The index and what fills it, if there is one.
        """
        self._config = config
        self.chroma = chroma

    def leg(
        self,
        view: View,
        vector: NDArray[np.float32],
        model: str,
        fetch_k: int,
        seen: Seen,
    ) -> tuple[VectorLeg, list[str]]:
        """Return the ``fetch_k`` nearest positions that are shown, and what made them poorer."""
        degraded = []
        if view.unembedded:
            degraded.append(f"vector: {counted(view.unembedded, 'chunk')} without an embedding yet")
        # What is hidden is little: Chroma need not know of it.
        if self._wants_chroma(view, seen.allowed):
            try:
                nearest = self._ask_chroma(view, vector, model, fetch_k)
            except StorageError as error:
                degraded.append(f"vector: {error} Exact vectors answered.")
            else:
                if nearest is not None:
                    return chroma_leg(view, vector, fetch_k, nearest, seen.shown), degraded
        return exact_leg(view, vector, fetch_k, seen.shown), degraded

    def _wants_chroma(self, view: View, mask: Mask | None) -> bool:
        """Whether Chroma is the better one: measured, exact wins with filters and when small."""
        mode = self._config.vector_search
        if self.chroma is None or mode == "exact" or mask is not None:
            return False
        return mode == "chroma" or view.vectors > self._config.exact_max_chunks

    def _ask_chroma(
        self, view: View, vector: NDArray[np.float32], model: str, fetch_k: int
    ) -> list[NDArray[np.int64]] | None:
        """Return Chroma's nearest chunk numbers by partition.

        ``None`` while it is catching up, and for more than its search looks at.

        Raises:
            StorageError: It failed.
        """
        if self.chroma is None or fetch_k > EF_SEARCH:
            return None
        index, follower = self.chroma
        stale = [p for p in view.partitions if not index.is_current(p.key, model, p.changes)]
        for partition in stale:
            follower.want(partition.key, model)
        if stale:
            index.require_reachable()
            return None
        nearest = [index.nearest(p.key, model, p.changes, vector, fetch_k) for p in view.partitions]
        found = [nums for nums in nearest if nums is not None]
        return found if len(found) == len(nearest) else None
