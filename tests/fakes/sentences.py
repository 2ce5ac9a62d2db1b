"""Texts whose vectors are as different as those of real texts, so that nearness has no ties."""

from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.types import (
    VectorPath,
)


def sentence(number: int) -> str:
    """Return a text of words that hardly two numbers share; the same for the same number."""
    return f"number{number} " + " ".join(f"w{hash((number, k)) % 997}" for k in range(8))


def best(engine: MemoryEngine, query: str) -> tuple[list[float], set[VectorPath]]:
    """Return the cosines of the best ten, nearest first, and which vector index found them."""
    hits = engine.search(query, 10, ranking="profclaw").hits
    paths = {hit.receipt.vector_path for hit in hits} - {None}
    return [round(hit.cosine, 5) for hit in hits], paths
