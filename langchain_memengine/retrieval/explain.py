"""Why a chunk is, or is not, in the answer to a query."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from langchain_memengine.answers import (
    Explanation,
    Hit,
)
from langchain_memengine.rankings import Ranking
from langchain_memengine.retrieval.hit_rows import read_hits
from langchain_memengine.retrieval.query import Query, RankedView, Stopwatch
from langchain_memengine.retrieval.search import Searcher
from langchain_memengine.storage import chunks, hidden_chunks, quarantines, stored_chunks
from langchain_memengine.storage.chunk_values import StoredChunk
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.sanitize import clean_text
from langchain_memengine.types import Filter


def explain(
    database: Database, searcher: Searcher, query: Query, name: str, sources: Sequence[str] = ()
) -> Explanation:
    """Return where a memory stands in the answer to a query, and why.

    Args:
        database: Where it is stored.
        searcher: Who answers.
        query: What is asked.
        name: A chunk's id, or the beginning of it, a file's path, or the place of a chunk.
        sources: URIs of the texts and records that the name may also mean. Of a memory of several
            chunks the one that stands highest is explained.

    Raises:
        NotFoundError: The actor may read nothing of this name, or several chunks begin so.
    """
    with database.read() as tx:
        meant = _meant(tx, query, clean_text(name), sources)
    stored, chunk_id = meant[0], meant[0].id
    if query.asks_nothing:
        return Explanation(chunk_id, found=False, reason="The query asks for nothing.")
    vector, degraded = searcher.query_vector(query.text)
    named, _ = searcher.named(query, vector)
    shown = searcher.search(query).hits
    ids = {one.id for one in meant}
    with database.read() as tx:
        aside = quarantines.hidden_sources(tx)
        everything = searcher.rank(tx, query, vector, chunks.count(tx), Stopwatch(), named)
        found = next(((place, hit) for place, hit in enumerate(shown, 1) if hit.id in ids), None)
        rank, hit = found or _standing(tx, query, everything, ids)
        if hit is not None:
            chunk_id = hit.id
            stored = next(one for one in meant if one.id == chunk_id)
        stand_in = _stand_in(tx, query, stored)
        is_valid = stored.num in stored_chunks.visible_by_num(
            tx, [stored.num], partitions=query.partitions, now=query.now
        )
    if found and hit:
        reason = f"Found because {_reasons(hit, everything.min_cosine)}"
        return Explanation(chunk_id, found=True, reason=reason, rank=rank, hit=hit)
    unseen = _why_unseen(stored, stand_in, everything, aside, is_valid=is_valid)
    if unseen is not None or hit is None:
        reason = unseen or _why_unranked(stored.num, everything, query, degraded)
        return Explanation(chunk_id, found=False, reason=reason)
    wanted = f"the best {query.k} were" if query.k > 1 else "the best one was"
    speaks = _reasons(hit, everything.min_cosine)
    reason = f"It ranks {rank}, and only {wanted} asked for. What speaks for it: {speaks}"
    return Explanation(chunk_id, found=False, reason=reason, rank=rank, hit=hit)


def _meant(
    tx: Transaction, query: Query, name: str, sources: Sequence[str]
) -> Sequence[StoredChunk]:
    found = name and stored_chunks.of_memory(tx, sources, path=name, partitions=query.partitions)
    return (
        found
        or _at_place(tx, query, name)
        or [stored_chunks.by_id(tx, name.lower(), partitions=query.partitions)]
    )


def _at_place(tx: Transaction, query: Query, place: str) -> Sequence[StoredChunk]:
    memory, _, _ = place.rpartition(":")
    if not memory:
        return []
    found = stored_chunks.of_memory(tx, [memory], path=memory, partitions=query.partitions)
    return [chunk for chunk in found if chunk.location == place]


def _why_unseen(
    stored: StoredChunk,
    stand_in: StoredChunk | None,
    everything: RankedView,
    aside: frozenset[str],
    *,
    is_valid: bool,
) -> str | None:
    """Return what keeps a chunk from every answer of this kind; ``None`` if nothing does."""
    if not is_valid:
        return "It is not valid at this time (valid_from, expires_at)."
    if stored.source in aside:
        return "It is quarantined: an admin can release it."
    if stored.source in everything.hidden:
        return "It was superseded: another memory took its place."
    if stored.commit_id in everything.hidden:
        return "It was learnt on another branch of its conversation, or later than is asked for."
    if stand_in is not None and _place(everything, stand_in.num) is not None:
        return f"It is hidden: {stand_in.location}, which is ranked, says all it says."
    return None


def _stand_in(tx: Transaction, query: Query, stored: StoredChunk) -> StoredChunk | None:
    """Return the chunk that one is hidden behind; ``None`` if there is none, or none any more."""
    hiding = hidden_chunks.of_chunks(tx, [stored.id]).get(stored.id)
    kept = [] if hiding is None else [hiding.kept_id]
    found = stored_chunks.by_ids(tx, kept, partitions=query.partitions, now=query.now)
    return next(iter(found.values()), None)


def _place(everything: RankedView, num: int) -> int | None:
    places = np.flatnonzero(everything.candidates.nums == num)
    return int(places[0]) if len(places) else None


def _standing(
    tx: Transaction, query: Query, everything: RankedView, ids: Collection[str]
) -> tuple[int | None, Hit | None]:
    """Return (rank, hit) of the best of some chunks among all that had a reason to be a hit."""
    for rank, hit in enumerate(read_hits(tx, query, everything), start=1):
        if hit.id in ids:
            return rank, hit
    return None, None


def _reasons(hit: Hit, min_cosine: float) -> str:
    """Return what speaks for a hit, and what else there is to say of it."""
    receipt = hit.receipt
    reasons, remarks = [], []
    if receipt.bm25 is not None:
        reasons.append(f"its words match (BM25 {receipt.bm25:.2f}, rank {receipt.keyword_rank})")
    if receipt.graph_rank is not None:
        reasons.append(f"the graph leads to it (rank {receipt.graph_rank})")
    if receipt.cosine is not None and receipt.vector_rank is not None:
        measured = f"(cosine {receipt.cosine:.2f}, rank {receipt.vector_rank})"
        if receipt.cosine >= min_cosine or not reasons:
            reasons.append(f"its meaning is near {measured}")
        else:
            remarks.append(f"Its meaning is not near {measured}.")
    names = [
        f"its {part} (+{boost:.2f})"
        for part, boost in (("author", receipt.author_boost), ("time", receipt.date_boost))
        if boost
    ]
    if names:
        remarks.append(f"The query names {' and '.join(names)}.")
    return " ".join([f"{' and '.join(reasons)}.", *remarks])


def _why_unranked(num: int, everything: RankedView, query: Query, degraded: tuple[str, ...]) -> str:
    place = _place(everything, num)
    if place is None:
        return _why_no_candidate(query)
    return _why_no_hit(everything, query, place, degraded)


def _why_no_candidate(query: Query) -> str:
    if query.vantage.as_of is not None:
        return "It was not stored then, or it neither passes the filter nor matches the query."
    if query.filter != Filter():
        return "The filter leaves it out, or neither its words nor its meaning match the query."
    return "No word of the query occurs in it, and it has no embedding to compare."


def _why_no_hit(everything: RankedView, query: Query, place: int, degraded: tuple[str, ...]) -> str:
    cosine = everything.candidates.cosine[place]
    if everything.candidates.bm25[place] > 0 or cosine >= everything.min_cosine:
        return _why_not_chosen(everything.ranked.fused[place], query.ranking)
    if np.isnan(cosine):
        lacking = f" ({degraded[0]})" if degraded else ""
        return f"No word of the query occurs in it, and there is no vector to compare{lacking}."
    return (
        f"No word of the query occurs in it, and its cosine {cosine:.2f} is below "
        f"{everything.min_cosine:.2f}, which unrelated texts of this store reach too."
    )


def _why_not_chosen(fused: float, ranking: Ranking) -> str:
    if not np.isfinite(fused):
        lacking = "a keyword match" if ranking.method == "rerank" else "an embedding"
        return f"The ranking {ranking.name!r} scores only texts with {lacking}."
    if ranking.min_score is not None and fused < ranking.min_score:
        return f"Its score {fused:.4f} is below the ranking's min_score {ranking.min_score}."
    return "Better hits say much the same (the ranking's mmr_lambda)."
