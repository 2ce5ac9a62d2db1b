"""From a query to ranked hits with receipts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import isnan

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.answers import (
    Hit,
    Receipt,
    SearchResult,
)
from langchain_memengine.config import MemEngineConfig, Ranking
from langchain_memengine.errors import EmbeddingError, StorageError
from langchain_memengine.retrieval import fusion, legs
from langchain_memengine.retrieval.branches import Branches
from langchain_memengine.retrieval.chroma_client import EF_SEARCH
from langchain_memengine.retrieval.chroma_follower import ChromaFollower
from langchain_memengine.retrieval.embedding_cache import EmbeddingCache
from langchain_memengine.retrieval.fusion import Candidates, Ranked
from langchain_memengine.retrieval.graph_leg import GraphLeg, GraphQuery, nearness
from langchain_memengine.retrieval.hiding import HiddenPairs
from langchain_memengine.retrieval.legs import VectorLeg
from langchain_memengine.retrieval.mentions import with_mentions
from langchain_memengine.retrieval.partitions import Partitions
from langchain_memengine.retrieval.query import Place, Query, RankedView, Stopwatch, Vantage
from langchain_memengine.retrieval.separation import trusting
from langchain_memengine.retrieval.staleness import KnownCounters
from langchain_memengine.retrieval.validity import Validity
from langchain_memengine.retrieval.vector_index import ChromaIndex
from langchain_memengine.retrieval.view import View
from langchain_memengine.storage import chunks
from langchain_memengine.storage.chunk_values import StoredChunk
from langchain_memengine.storage.database import Counters, Database, Transaction, to_ms
from langchain_memengine.text.words import WordSplitter
from langchain_memengine.types import (
    Filter,
)

Ints = NDArray[np.int64]

MAX_QUERY_WORDS = 64
"""Words of a query that are searched: its last ones, where the question stands."""

MAX_QUERY_CHARS = 4000
"""Characters of a query that are read at all: its last ones."""


class Searcher:
    """Answers queries from the derived indexes, checked against the database."""

    def __init__(
        self,
        database: Database,
        partitions: Partitions,
        splitter: WordSplitter,
        embedding: EmbeddingCache,
        config: MemEngineConfig,
        chroma: tuple[ChromaIndex, ChromaFollower] | None = None,
        graph: GraphLeg | None = None,
    ) -> None:
        self._database = database
        self._partitions = partitions
        self._splitter = splitter
        self._embedding = embedding
        self._config = config
        self._chroma = chroma
        self._branches = Branches()
        self._graph = graph
        self._validity = Validity()
        self._counters = KnownCounters(database, config.max_staleness_seconds)
        self._hidden = HiddenPairs()

    def search(self, query: Query) -> SearchResult:
        """Return the hits of a query, best first; none for an empty query.

        Raises:
            StorageError: The database failed.
        """
        if query.asks_nothing:
            return SearchResult(())
        watch = Stopwatch()
        vector, degraded = self.query_vector(query.text)
        named, unlinked = self.named(query, vector)
        watch.lap("embed")
        with self._database.read() as tx:
            ranked = self.rank(tx, query, vector, query.ranking.fetch_k(query.k), watch, named)
            hits = within_budget(self.hits(tx, query, ranked), query)
        watch.lap("rows")
        problems = dict.fromkeys((*degraded, *unlinked, *ranked.degraded))
        return SearchResult(tuple(hits), tuple(problems), timings=watch.timings)

    def follow(self) -> None:
        """Let the indexes in memory catch up with the database.

        Raises:
            StorageError: The database failed.
        """
        with self._database.read() as tx:
            counters = tx.counters()
            with self._partitions.lock:
                self._partitions.follow(tx, counters)

    def query_vector(self, text: str) -> tuple[NDArray[np.float32] | None, tuple[str, ...]]:
        """Return the vector of a query, or ``None`` and why there is none."""
        if not self._embedding.enabled:
            return None, ()
        try:
            return self._embedding.query(text[-MAX_QUERY_CHARS:]), ()
        except EmbeddingError as error:
            return None, (f"vector: {error}",)

    def named(
        self, query: Query, vector: NDArray[np.float32] | None
    ) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Return the ids of the graph's entities that a query names, and what went wrong.

        Args:
            query: What is asked.
            vector: Its vector; without one the embedder is not asked about names either.
        """
        if not query.graph_hops or self._graph is None:
            return (), ()
        text = query.text[-MAX_QUERY_CHARS:]
        return self._graph.named(text, query.partitions, by_vector=vector is not None)

    def rank(
        self,
        tx: Transaction,
        query: Query,
        vector: NDArray[np.float32] | None,
        fetch_k: int,
        watch: Stopwatch,
        named: tuple[str, ...] = (),
    ) -> RankedView:
        """Rank the candidates of a query, ``fetch_k`` from each leg.

        Args:
            tx: A view of the database.
            query: What is asked.
            vector: Its vector, if there is one.
            fetch_k: Candidates of each leg.
            watch: Is told how long each step took.
            named: Ids of the graph's entities that it names.
        """
        words = self._splitter.query(query.text[-MAX_QUERY_CHARS:])[-MAX_QUERY_WORDS:]
        # Whoever looks back from a branch or a time says so by it, and not what time it is.
        counters = self._counters.at(tx, query.now if query.vantage == Vantage() else None)
        model, degraded = self._model(tx, counters) if vector is not None else (None, [])
        with self._partitions.lock:
            view = self._partitions.view(tx, counters, query.partitions, model)
            unseen = self._branches.unseen(tx, view, counters, query.vantage)
            mask = legs.both(_mask(tx, view, query.filter), unseen.mask)
            seen = legs.both(mask, self._validity.mask(tx, view, counters, to_ms(query.now)))
            as_of_ms = to_ms(query.vantage.as_of)
            mask = self._hidden.mask(tx, view, counters, seen, as_of_ms)
            watch.lap("follow")
            keyword = legs.keyword_leg(view, words, context=query.ranking.context_weight > 0)
            watch.lap("keyword")
            leg = None
            if vector is not None and model is not None:
                # What is hidden is little: Chroma need not know of it.
                asked = model if self._wants_chroma(view, seen) else None
                leg = self._vector_leg(view, vector, asked, fetch_k, mask, degraded)
                if view.unembedded:
                    degraded.append(f"vector: {view.unembedded} chunks have no embedding yet")
            watch.lap("vector")
            ranking = trusting(query.ranking, view, leg)
            min_cosine = self._min_cosine(view, query)

            def fused(graph: legs.GraphScores | None = None) -> tuple[Candidates, Ints, Ranked]:
                found, positions = legs.candidates(
                    view, keyword, leg, fetch_k, mask, to_ms(query.now), graph
                )
                found = with_mentions(found, positions, view, words, query)
                return found, positions, _fused(view, found, ranking, min_cosine)

            found, positions, ranked = fused()
            if query.graph_hops and self._graph is not None:
                near = nearness(found, ranked.order, ranked.fused, view.unrelated.average)
                start = GraphQuery(query.text, query.graph_hops, query.partitions, query.now, named)
                try:
                    led_to = self._graph.scores(tx, start, near)
                except StorageError as error:
                    degraded.append(f"graph: {error}")
                else:
                    found, positions, ranked = fused(legs.graph_scores(view, led_to, mask))
                watch.lap("graph")
            if query.ranking.mmr_lambda is not None:
                ranked = _diversified(view, positions, ranked, query.k, query.ranking.mmr_lambda)
            watch.lap("fuse")
        return RankedView(
            found,
            ranked,
            leg.path if leg else None,
            ranking.vector_weight if leg else None,
            min_cosine,
            tuple(degraded),
            unseen.hidden,
        )

    def hits(self, tx: Transaction, query: Query, ranked: RankedView) -> Iterator[Hit]:
        """Read the rows of ranked candidates, best first, without those the last check drops."""
        order = ranked.ranked.order
        for start in range(0, len(order), query.k):
            places = ranked.places(order[start : start + query.k])
            rows = chunks.visible_by_num(
                tx,
                [p.num for p in places],
                partitions=query.partitions,
                now=query.now,
                hidden=ranked.hidden,
            )
            found = [(place, rows[place.num]) for place in places if place.num in rows]
            if query.ranking.mmr_lambda is None:
                found.sort(key=_by_score_age_id)
            for place, stored in found:
                yield _hit(place, stored, ranked, query.ranking.name)

    def _model(self, tx: Transaction, counters: Counters) -> tuple[str | None, list[str]]:
        """Return the model whose vectors can be searched, or what stands in the way."""
        model = self._embedding.model(tx, counters)
        change = self._embedding.model_change(tx) if model is None else None
        return model, [] if change is None else [f"vector: {change}"]

    def _min_cosine(self, view: View, query: Query) -> float:
        floor = self._config.min_cosine if query.min_cosine is None else query.min_cosine
        return view.unrelated.rarely_over if floor is None else floor

    def _vector_leg(
        self,
        view: View,
        vector: NDArray[np.float32],
        chroma_model: str | None,
        fetch_k: int,
        mask: legs.Mask | None,
        degraded: list[str],
    ) -> VectorLeg:
        if chroma_model is not None:
            try:
                nearest = self._ask_chroma(view, vector, chroma_model, fetch_k)
            except StorageError as error:
                degraded.append(f"vector: {error} Exact vectors answered.")
            else:
                if nearest is not None:
                    return legs.chroma_leg(view, vector, fetch_k, nearest, mask)
        return legs.exact_leg(view, vector, fetch_k, mask)

    def _wants_chroma(self, view: View, mask: legs.Mask | None) -> bool:
        """Whether Chroma is the better one: measured, exact wins with filters and when small."""
        mode = self._config.vector_search
        if self._chroma is None or mode == "exact" or mask is not None:
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
        if self._chroma is None or fetch_k > EF_SEARCH:
            return None
        index, follower = self._chroma
        stale = [p for p in view.partitions if not index.is_current(p.key, model, p.changes)]
        for partition in stale:
            follower.want(partition.key, model)
        if stale:
            index.require_reachable()
            return None
        nearest = [index.nearest(p.key, model, p.changes, vector, fetch_k) for p in view.partitions]
        found = [nums for nums in nearest if nums is not None]
        return found if len(found) == len(nearest) else None


def within_budget(hits: Iterator[Hit], query: Query) -> list[Hit]:
    """Return the best hits up to ``k`` whose texts fit into the query's budgets together.

    The first hit that does not fit is left out, and everything after it.
    """
    chosen: list[Hit] = []
    chars = tokens = 0
    for hit in hits:
        chars += len(hit.text)
        tokens += hit.tokens
        if query.max_chars and chars > query.max_chars:
            break
        if query.max_tokens and tokens > query.max_tokens:
            break
        chosen.append(hit)
        if len(chosen) == query.k:
            break
    return chosen


def _mask(tx: Transaction, view: View, wanted: Filter) -> legs.Mask | None:
    if wanted.is_empty:
        return None
    since, until = to_ms(wanted.since), to_ms(wanted.until)
    mask: legs.Mask = view.join([p.mask(tx, wanted, since, until) for p in view.partitions])
    return mask


def _fused(view: View, found: Candidates, ranking: Ranking, min_cosine: float) -> Ranked:
    return fusion.rank(found, ranking, min_cosine=min_cosine, chance_cosine=view.unrelated.average)


def _diversified(
    view: View, positions: NDArray[np.int64], ranked: Ranked, k: int, relevance: float
) -> Ranked:
    best = ranked.order[: max(4 * k, 20)]
    vectors = view.take(positions[best], lambda p, slots: p.vectors.rows(slots))
    return replace(ranked, order=fusion.diversify(best, ranked.score, vectors, k, relevance))


def _by_score_age_id(found: tuple[Place, StoredChunk]) -> tuple[float, float, str]:
    """Order equal scores by age, then id: chunk numbers differ between two equal stores."""
    place, stored = found
    age = 0.0 if isnan(place.age_days) else place.age_days
    return -place.score, age, stored.id


def _hit(place: Place, stored: StoredChunk, ranked: RankedView, ranking: str) -> Hit:
    return Hit(
        id=stored.id,
        text=stored.text,
        score=place.score,
        source=stored.source,
        path=stored.path,
        start_line=stored.start_line,
        end_line=stored.end_line,
        heading=stored.heading,
        tokens=stored.tokens,
        scope=stored.scope,
        owner=stored.owner,
        event_at=stored.event_at,
        metadata=stored.metadata,
        receipt=Receipt(
            keyword_rank=place.keyword_rank or None,
            bm25=place.bm25 or None,
            vector_rank=place.vector_rank or None,
            cosine=None if isnan(place.cosine) else place.cosine,
            vector_path=ranked.vector_path if place.vector_rank else None,
            context_rank=place.context_rank or None,
            graph_rank=place.graph_rank or None,
            fused=place.fused,
            age_days=None if isnan(place.age_days) else place.age_days,
            decay=place.decay,
            access_count=place.accesses,
            access_bonus=place.bonus,
            ranking=ranking,
            origin=stored.origin,
            trust=stored.trust,
            author_boost=place.author_boost,
            date_boost=place.date_boost,
            vector_weight=ranked.vector_weight,
        ),
    )
