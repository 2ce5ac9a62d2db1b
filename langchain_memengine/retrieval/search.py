"""From a query to ranked hits with receipts."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.answers import Hit, SearchResult
from langchain_memengine.config import MemEngineConfig
from langchain_memengine.errors import EmbeddingError, StorageError
from langchain_memengine.rankings import Ranking
from langchain_memengine.retrieval import fusion, legs
from langchain_memengine.retrieval.chroma_follower import ChromaFollower
from langchain_memengine.retrieval.embedding_cache import EmbeddingCache
from langchain_memengine.retrieval.fusion import Candidates, Ranked
from langchain_memengine.retrieval.graph_leg import GraphLeg, GraphQuery, nearness
from langchain_memengine.retrieval.hit_rows import read_hits, within_budget
from langchain_memengine.retrieval.mentions import with_mentions
from langchain_memengine.retrieval.partitions import Partitions
from langchain_memengine.retrieval.query import (
    MAX_QUERY_CHARS,
    Query,
    RankedView,
    Stopwatch,
    Vantage,
)
from langchain_memengine.retrieval.separation import trusting
from langchain_memengine.retrieval.sight import Seen, Sight
from langchain_memengine.retrieval.staleness import KnownCounters
from langchain_memengine.retrieval.vector_index import ChromaIndex
from langchain_memengine.retrieval.vector_search import VectorSearch
from langchain_memengine.retrieval.view import View
from langchain_memengine.storage.change_counters import Counters
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.times import to_ms
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.words import WordSplitter

Ints = NDArray[np.int64]

MAX_QUERY_WORDS = 64
"""Words of a query that are searched: its last ones, where the question stands."""


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
        self._vectors = VectorSearch(config, chroma)
        self._graph = graph
        self._sight = Sight()
        self._counters = KnownCounters(database, config.max_staleness_seconds)

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
            hits = within_budget(read_hits(tx, query, ranked), query)
            best = None if hits else next(read_hits(tx, query, ranked), None)
        watch.lap("rows")
        no_room = () if best is None else (_no_room(best),)
        problems = dict.fromkeys((*degraded, *unlinked, *ranked.degraded, *no_room))
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

    def use_chroma(self, chroma: tuple[ChromaIndex, ChromaFollower] | None) -> None:
        """Ask another Chroma from now on, or none."""
        self._vectors.chroma = chroma

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
        return self._graph.named(query.tail, query.partitions, by_vector=vector is not None)

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
        words = self._splitter.query(query.tail)[-MAX_QUERY_WORDS:]
        # Whoever looks back from a branch or a time says so by it, and not what time it is.
        counters = self._counters.at(tx, query.now if query.vantage == Vantage() else None)
        model, degraded = self._model(tx, counters) if vector is not None else (None, [])
        with self._partitions.lock:
            view = self._partitions.view(tx, counters, query.partitions, model)
            seen = self._sight.of(tx, view, counters, query)
            watch.lap("follow")
            keyword = legs.keyword_leg(view, words, context=query.ranking.context_weight > 0)
            watch.lap("keyword")
            leg = None
            if vector is not None and model is not None:
                leg, problems = self._vectors.leg(view, vector, model, fetch_k, seen)
                degraded += problems
            watch.lap("vector")
            ranking = trusting(query.ranking, view, leg, vector)
            min_cosine = self._min_cosine(view, query)

            def fused(graph: legs.GraphScores | None = None) -> tuple[Candidates, Ints, Ranked]:
                found, positions = legs.candidates(
                    view, keyword, leg, fetch_k, seen.shown, to_ms(query.now), graph
                )
                found = with_mentions(found, positions, view, words, query)
                chosen = ranking if graph is None else graph.trusted(ranking)
                return found, positions, _fused(view, found, chosen, min_cosine)

            found, positions, ranked = fused()
            if query.graph_hops and self._graph is not None:
                near = nearness(found, ranked.order, ranked.fused, view.unrelated.average)
                try:
                    led_to = self._graph.scores(tx, _start(view, seen, query, named), near)
                except StorageError as error:
                    degraded.append(f"graph: {error}")
                else:
                    scores = legs.graph_scores(view, led_to.scores, seen.shown, led_to.trust)
                    found, positions, ranked = fused(scores)
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
            seen.hidden,
        )

    def _model(self, tx: Transaction, counters: Counters) -> tuple[str | None, list[str]]:
        """Return the model whose vectors can be searched, or what stands in the way."""
        model = self._embedding.model(tx, counters)
        change = self._embedding.model_change(tx) if model is None else None
        return model, [] if change is None else [f"vector: {change}"]

    def _min_cosine(self, view: View, query: Query) -> float:
        floor = self._config.min_cosine if query.min_cosine is None else query.min_cosine
        return view.unrelated.rarely_over if floor is None else floor


def _start(view: View, seen: Seen, query: Query, named: tuple[str, ...]) -> GraphQuery:
    """Return what the graph is asked for a query that names these entities."""
    return GraphQuery(
        query.tail,
        query.graph_hops,
        query.partitions,
        query.now,
        named,
        len(view),
        legs.outside(view, seen.known),
    )


def _fused(view: View, found: Candidates, ranking: Ranking, min_cosine: float) -> Ranked:
    return fusion.rank(found, ranking, min_cosine=min_cosine, chance_cosine=view.unrelated.average)


def _no_room(best: Hit) -> str:
    """Return that a budget has no room for even the best hit; an empty answer does not tell."""
    return (
        f"budget: the best hit has {len(best.text):,} characters, about {best.tokens:,} tokens, "
        "which is more than max_chars or max_tokens allow"
    )


def _diversified(
    view: View, positions: NDArray[np.int64], ranked: Ranked, k: int, relevance: float
) -> Ranked:
    best = ranked.order[: max(4 * k, 20)]
    vectors = view.vector_rows(positions[best])
    return replace(ranked, order=fusion.diversify(best, ranked.score, vectors, k, relevance))
