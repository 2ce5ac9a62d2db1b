"""The graph extraction as a node of any LangGraph app."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from langchain_core.runnables import RunnableConfig

from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.faces.running import caller
from langchain_memengine.types import (
    Actor,
    Scope,
)

if TYPE_CHECKING:
    from langchain_core.language_models import BaseChatModel
    from langgraph.graph.state import CompiledStateGraph


def graph_extraction(
    engine: MemoryEngine,
    model: BaseChatModel | None = None,
    *,
    scope: Scope | None = None,
    merge_names: bool = False,
    attempts: int = 3,
    retry_seconds: float = 0.5,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return a subgraph that reads texts with a model and puts what they tell into the graph.

    It takes ``text``, ``documents`` or ``messages`` and returns ``graph_counts``,
    ``graph_entity_ids``, ``graph_evidence_ids`` and ``graph_rejected``; mount it with
    ``builder.add_node("learn", graph_extraction(engine, model))`` in a graph whose state has
    these keys, or call it alone:

    ```python
    graph_extraction(engine, model).invoke({"documents": retriever.invoke("the project")})
    ```

    Documents that are stored memories (a retriever's, or added with the same id) are read chunk
    by chunk as they are stored, and what they tell goes when they are deleted. No text is read
    twice. Who asks is found as by :func:`summarization_node`.

    Args:
        engine: Whose graph.
        model: Any LangChain chat model, best one with structured output.
        scope: Who may see what other texts tell; default: everyone if the actor is an admin,
            else the actor.
        merge_names: Take a new name for a known one of the same type if their embeddings are
            nearly equal.
        attempts: Tries of a provider that may answer later.
        retry_seconds: Wait before the second try; it doubles.

    Raises:
        ConfigurationError: There is no model, or no embedder to merge names with.
    """
    if model is None:
        raise ConfigurationError(
            "graph_extraction needs a chat model. Pass one: graph_extraction(engine, model). "
            "Without a model, engine.graph.add_triples() takes statements as they are."
        )
    from langchain_memengine.graph.extraction import ExtractionSettings, extraction_graph

    def actor_of(config: RunnableConfig) -> Actor:
        return caller(engine, config)

    settings = ExtractionSettings(
        chunk_tokens=engine.config.chunk_tokens,
        attempts=attempts,
        retry_seconds=retry_seconds,
        scope=scope,
        merge=engine.name_merge() if merge_names else None,
    )
    return extraction_graph(engine.graph, model, actor_of, settings)
