"""The engine as a LangChain retriever."""

from __future__ import annotations

import asyncio
import dataclasses
import logging
from collections.abc import Mapping
from datetime import datetime
from operator import attrgetter
from typing import Any

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.retrievers import BaseRetriever, LangSmithRetrieverParams
from langchain_core.runnables import RunnableConfig, ensure_config
from pydantic import ConfigDict, Field, ValidationError

from langchain_memengine.answers import (
    Hit,
    Receipt,
    SearchResult,
)
from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.faces.running import actor_named, user_in
from langchain_memengine.rankings import Ranking
from langchain_memengine.types import (
    Filter,
    Scope,
)

logger = logging.getLogger(__name__)

RECEIPT_KEY = "memengine"
"""Key in ``Document.metadata`` under which the receipt stands."""

_RECEIPT_FIELDS = tuple(field.name for field in dataclasses.fields(Receipt))
_receipt_values = attrgetter(*_RECEIPT_FIELDS)


class MemEngineRetriever(BaseRetriever):
    """Find memories as LangChain documents, best first.

    Every field but ``engine`` can also be given to ``invoke`` for one call:
    ``retriever.invoke("tea", k=3, path="daily/**")``. Unknown fields and arguments are rejected.

    ```python
    retriever = MemEngineRetriever(engine=engine, k=4)
    documents = retriever.invoke("what did we decide about caching?")
    ```

    The user comes from ``user_id`` when it is given; else from
    ``config["configurable"]["user_id"]`` or LangGraph's runtime context; else the engine's actor
    asks. ``thread_id`` comes from the config, too; in a node, ``head=state["memory_head"]`` looks
    from its branch.
    Each document has the chunk id, the memory's own metadata, and under ``"memengine"`` its
    receipt: place, score, and rank and raw score in every leg.
    """

    model_config = ConfigDict(
        extra="forbid", validate_assignment=True, arbitrary_types_allowed=True
    )

    engine: MemoryEngine = Field(repr=False)
    k: int | None = Field(None, ge=0, description="Documents, at most; default: the ranking's.")
    ranking: Ranking | str | None = Field(None, description="Preset name or ranking of your own.")
    user_id: str | None = Field(None, description="Whose personal memory is searched as well.")
    path: str | None = Field(None, description="Glob over file paths, like `daily/**`.")
    source: str | None = Field(None, description="Source URI, or a prefix that ends with `*`.")
    scope: Scope | None = Field(None, description="Only memory of this scope.")
    filter: Mapping[str, Any] | None = Field(None, description="Conditions on metadata.")
    since: datetime | None = Field(None, description="Only what happened at or after this time.")
    until: datetime | None = Field(None, description="Only what happened before this time.")
    thread_id: str | None = Field(None, description="Conversation that asks; with `head`.")
    head: str | None = Field(None, description="The `memory_head` of its state: its own branch.")
    as_of: datetime | str | None = Field(None, description="Only what was known then: time, head.")
    max_chars: int = Field(0, ge=0, description="Characters of all texts; 0 is unlimited.")
    max_tokens: int = Field(0, ge=0, description="Tokens of all texts; 0 is unlimited.")
    graph_hops: int | None = Field(
        None, ge=0, description="Relations to follow in the graph; default: the ranking's."
    )
    record_access: bool = Field(default=False, description="Count what is returned as used.")

    def invoke(
        self,
        input: str,  # noqa: A002  # LangChain's signature
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Find memories; keyword arguments override fields for this call."""
        return super().invoke(input, config, **self._with_run(config, kwargs))

    async def ainvoke(
        self,
        input: str,  # noqa: A002  # LangChain's signature
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> list[Document]:
        """Find memories without blocking; keyword arguments override fields for this call."""
        return await super().ainvoke(input, config, **self._with_run(config, kwargs))

    def _get_relevant_documents(
        self,
        query: str,
        *,
        run_manager: CallbackManagerForRetrieverRun,  # noqa: ARG002  # LangChain's signature
        **overrides: Any,
    ) -> list[Document]:
        asked = self._overridden(overrides)
        return _documents(asked, asked.engine.search(query, asked.k, **_options(asked)))

    async def _aget_relevant_documents(
        self,
        query: str,
        *,
        run_manager: AsyncCallbackManagerForRetrieverRun,  # noqa: ARG002  # LangChain's signature
        **overrides: Any,
    ) -> list[Document]:
        asked = self._overridden(overrides)
        result = await asked.engine.asearch(query, asked.k, **_options(asked))
        return await asyncio.to_thread(_documents, asked, result)  # may write access counts

    def _with_run(self, config: RunnableConfig | None, arguments: dict[str, Any]) -> dict[str, Any]:
        """Return the arguments with user and thread of the run, unless they are given."""
        run = ensure_config(config)
        found = {}
        if self.user_id is None and "user_id" not in arguments and (user_id := user_in(run)):
            found["user_id"] = user_id
        thread_id = run.get("configurable", {}).get("thread_id")
        if self.thread_id is None and thread_id is not None:
            found["thread_id"] = str(thread_id)
        return {**found, **arguments}

    def _overridden(self, overrides: Mapping[str, Any]) -> MemEngineRetriever:
        """Return this retriever with some fields replaced, checked like the fields.

        Raises:
            ConfigurationError: There is no such field.
        """
        if not overrides:
            return self
        allowed = type(self).model_fields.keys() - {"engine", "name", "tags", "metadata"}
        unknown = sorted(overrides.keys() - allowed)
        if unknown:
            raise ConfigurationError(
                f"MemEngineRetriever has no argument {unknown[0]!r}. "
                f"Choose from: {', '.join(sorted(allowed))}."
            )
        fields = {name: getattr(self, name) for name in type(self).model_fields}
        try:
            return type(self)(**{**fields, **overrides})
        except ValidationError as error:
            problems = "; ".join(f"{e['loc'][0]}: {e['msg']}" for e in error.errors())
            raise ConfigurationError(f"These arguments cannot work. {problems}.") from error

    def _get_ls_params(self, **kwargs: Any) -> LangSmithRetrieverParams:
        params = super()._get_ls_params(**kwargs)
        params["ls_vector_store_provider"] = "chroma"
        embedding = self.engine.embedding_name
        if embedding is not None:
            provider, _, model = embedding.partition("/")
            params["ls_embedding_provider"] = provider
            params["ls_embedding_model"] = model
        return params


def _options(retriever: MemEngineRetriever) -> dict[str, Any]:
    wanted = Filter(
        path=retriever.path,
        source=retriever.source,
        metadata=retriever.filter or {},
        scope=retriever.scope,
        since=retriever.since,
        until=retriever.until,
    )
    return {
        "ranking": retriever.ranking,
        "filter": wanted,
        "actor": actor_named(retriever.engine, retriever.user_id),
        "max_chars": retriever.max_chars,
        "max_tokens": retriever.max_tokens,
        "thread_id": retriever.thread_id,
        "head": retriever.head,
        "as_of": retriever.as_of,
        "graph_hops": retriever.graph_hops,
    }


def _documents(retriever: MemEngineRetriever, result: SearchResult) -> list[Document]:
    if result.degraded and not result.hits:  # no document tells of it
        logger.warning(
            "nothing was found, and the search was poorer: %s", "; ".join(result.degraded)
        )
    if retriever.record_access:
        retriever.engine.record_access(result.hits)
    return [_document(hit, result.degraded) for hit in result.hits]


def _document(hit: Hit, degraded: tuple[str, ...]) -> Document:
    receipt = {
        "score": hit.score,
        "source": hit.source,
        "path": hit.path,
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "heading": hit.heading,
        "scope": hit.scope,
        "event_at": hit.event_at.isoformat() if hit.event_at else None,
        **dict(zip(_RECEIPT_FIELDS, _receipt_values(hit.receipt), strict=True)),
        "degraded": list(degraded),
    }
    return Document(
        id=hit.id, page_content=hit.text, metadata={**hit.metadata, RECEIPT_KEY: receipt}
    )
