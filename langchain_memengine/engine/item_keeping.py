"""Keep values under namespaces and keys."""

from __future__ import annotations

from functools import cached_property

from langchain_memengine.engine.parts import EngineParts
from langchain_memengine.retrieval.items import Items


class ItemKeeping(EngineParts):
    """The chapter of the engine for items, which ``MemEngineStore`` makes a store of LangGraph."""

    @cached_property
    def items(self) -> Items:
        """Values under namespaces and keys; they belong to no actor, and no search finds them."""
        return Items(self._database, self._indexer, self._searcher, self.config, self._clock)
