"""What searches answer, as tables: hits with the bars of their receipts, and explanations."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_memengine.answers import (
    Explanation,
    Hit,
    Receipt,
    SearchResult,
)
from langchain_memengine.faces.display.sheets import Bar, Cell, Sheet, Words, excerpt, place, table
from langchain_memengine.retrieval.recall import Recalled
from langchain_memengine.text.counting import counted

ID_DIGITS = 8
"""Digits of a chunk's id that are shown; ``explain`` finds the chunk by them."""

_COLUMNS = (
    "#", "where", "text", "score", "keyword", "vector", "context", "graph", "named", "age", "used",
    "trust", "id",
)  # fmt: skip


def search_sheets(result: SearchResult) -> tuple[Sheet, ...]:
    """Return the ranked hits of a search."""
    if not result.hits:
        why = "A hit needs a matching word or a near meaning; engine.explain(query, id) tells more."
        return (Sheet("Nothing was found.", notes=(why,), warnings=result.degraded),)
    title = " · ".join(
        [
            counted(len(result.hits), "hit"),
            f"ranking {result.hits[0].receipt.ranking}",
            *([f"{result.timings['total']:.1f} ms"] if "total" in result.timings else ()),
            *(["changed files were indexed first"] if result.auto_synced else ()),
        ]
    )
    return (_hits(title, result.hits, warnings=result.degraded),)


def recalled_sheets(recalled: Recalled) -> tuple[Sheet, ...]:
    """Return what goes into a prompt: the pinned text, then the hits."""
    pinned = recalled.pinned.strip()
    size = counted(len(pinned), "character")
    about = f"Pinned: {size} of MEMORY.md" if pinned else "Nothing is pinned."
    row = ((Words(excerpt(pinned)),),) if pinned else ()
    found = f"Recalled: {len(recalled.hits)}" if recalled.hits else "Nothing else was recalled."
    return (
        Sheet(about, ("begins",) if pinned else (), row),
        _hits(found, recalled.hits, warnings=recalled.degraded),
    )


def explanation_sheets(explanation: Explanation) -> tuple[Sheet, ...]:
    """Return the answer of ``explain``, with the hit's receipt if the chunk was ranked."""
    reason, rank, hit = explanation.reason, explanation.rank, explanation.hit
    if hit is None or rank is None:
        about = f"chunk {explanation.chunk_id[:ID_DIGITS]}"
        return (Sheet("Found" if explanation.found else "Not found", notes=(reason, about)),)
    title = f"{'Found' if explanation.found else 'Not among the hits'}, rank {rank}"
    return (table(title, _COLUMNS, [_row(hit, rank, best_bm25=None)], notes=(reason,)),)


def hit_sheets(hit: Hit) -> tuple[Sheet, ...]:
    """Return one hit."""
    return (table(place_of(hit), _COLUMNS[1:], [_row(hit, 1, best_bm25=None)[1:]]),)


def place_of(hit: Hit) -> str:
    """Return where a hit stands, short enough for a table."""
    return place(hit.path, hit.source, hit.start_line, hit.end_line)


def _hits(title: str, hits: Sequence[Hit], **more: tuple[str, ...]) -> Sheet:
    best_bm25 = max((hit.bm25 or 0.0 for hit in hits), default=0.0)
    rows = [_row(hit, rank, best_bm25) for rank, hit in enumerate(hits, start=1)]
    return table(title, _COLUMNS, rows, **more)


def _row(hit: Hit, rank: int, best_bm25: float | None) -> list[Cell]:
    receipt = hit.receipt
    return [
        str(rank),
        Words(place_of(hit), hit.heading.replace(" > ", " › "), hit.path),
        Words(excerpt(hit.text)),
        f"{hit.score:.4f}",
        _keyword(receipt, best_bm25),
        _vector(receipt),
        _ranked(receipt.context_rank),
        _ranked(receipt.graph_rank),
        _named(receipt),
        _age(receipt),
        f"{receipt.access_count} × (+{receipt.access_bonus:.4f})" if receipt.access_bonus else "",
        "" if receipt.trust == "trusted" else f"{receipt.trust}, {receipt.origin}",
        hit.id[:ID_DIGITS],
    ]


def _keyword(receipt: Receipt, best: float | None) -> Cell:
    """Return the score of the keyword leg; its bar has the best of a list as its measure."""
    if receipt.bm25 is None:
        return ""
    label = f"{receipt.bm25:.2f} {_ranked(receipt.keyword_rank)}"
    return Bar(receipt.bm25 / best, label, "keyword") if best else label


def _vector(receipt: Receipt) -> Cell:
    if receipt.cosine is None:
        return ""
    return Bar(receipt.cosine, f"{receipt.cosine:.2f} {_ranked(receipt.vector_rank)}", "vector")


def _ranked(rank: int | None) -> str:
    return f"#{rank}" if rank else ""


def _named(receipt: Receipt) -> str:
    boosts = (("author", receipt.author_boost), ("date", receipt.date_boost))
    return ", ".join(f"{name} +{boost:.2f}" for name, boost in boosts if boost)


def _age(receipt: Receipt) -> Cell:
    if receipt.age_days is None:
        return ""
    return Bar(receipt.decay, f"{receipt.age_days:.0f} d ×{receipt.decay:.2f}", "time")
