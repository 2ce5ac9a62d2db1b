"""The graph extraction as a LangGraph graph: split, ask for each piece, keep what was told.

A piece is kept as soon as it is read, so that a provider that fails half-way costs only what it
did not answer: the next run asks for that alone.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import add
from typing import Annotated, Any

from langchain_core.documents import Document
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AnyMessage, HumanMessage
from langchain_core.runnables import RunnableConfig
from langgraph.graph import END, START, StateGraph
from langgraph.graph.state import CompiledStateGraph
from langgraph.types import RetryPolicy, Send, StreamWriter
from typing_extensions import TypedDict

from langchain_memengine.errors import ExtractionError
from langchain_memengine.graph.asking import told_extractor
from langchain_memengine.graph.knowledge_graph import KnowledgeGraph
from langchain_memengine.graph.reading import (
    Outcome,
    Piece,
    TextReader,
    chunk_piece,
    text_piece,
    unread,
)
from langchain_memengine.graph.resolution import NameMerge
from langchain_memengine.models.failures import is_transient
from langchain_memengine.models.retrying import Retries
from langchain_memengine.storage.graph_schema import MAX_REFERENCE_CHARS, REFERENCE_PART_CHARS
from langchain_memengine.storage.graph_values import Evidence
from langchain_memengine.text.chunking import chunk_markdown
from langchain_memengine.text.digests import bounded, digest
from langchain_memengine.text.sanitize import clean_text
from langchain_memengine.text.uris import message_uri
from langchain_memengine.types import (
    MAX_THREAD_CHARS,
    Actor,
    Scope,
)

EVENT = "graph_extraction"
"""Key of the progress events in the custom stream."""


class ExtractionInput(TypedDict, total=False):
    """What is read: any of these. Of messages only what people say, never the agent's answers."""

    text: str
    documents: list[Document]
    messages: list[AnyMessage]


class ExtractionOutput(TypedDict):
    """What came of it.

    ``graph_counts`` has ``texts``, ``known`` (read before, so that no model was asked),
    ``entities``, ``relations`` and ``rejected``.
    """

    graph_counts: dict[str, int]
    graph_entity_ids: list[str]
    graph_evidence_ids: list[str]
    graph_rejected: list[dict[str, str]]


class _State(ExtractionInput, ExtractionOutput, total=False):
    pieces: list[Piece]
    outcomes: Annotated[list[Outcome], add]


@dataclass(frozen=True, slots=True)
class ExtractionSettings:
    """How texts are read.

    Attributes:
        chunk_tokens: Tokens of a piece of a text that is no stored memory.
        attempts: Tries of a provider that may answer later.
        retry_seconds: Wait before the second try; it doubles.
        scope: Who may see what texts tell that are no stored memories.
        merge: Take new names for known ones by their embeddings.
    """

    chunk_tokens: int = 400
    attempts: int = 3
    retry_seconds: float = 0.5
    scope: Scope | None = None
    merge: NameMerge | None = None


def extraction_graph(
    graph: KnowledgeGraph,
    model: BaseChatModel,
    actor_of: Callable[[RunnableConfig], Actor],
    settings: ExtractionSettings,
) -> CompiledStateGraph[Any, Any, Any, Any]:
    """Return the compiled graph; it keeps no checkpoints of its own.

    Args:
        graph: Where what is read goes.
        model: Reads the texts.
        actor_of: The run's config to the actor it acts for.
        settings: How texts are read.
    """
    reader = _Reader(graph, model, actor_of, settings)
    retry = RetryPolicy(
        max_attempts=settings.attempts,
        initial_interval=settings.retry_seconds,
        retry_on=is_transient,
    )
    builder = StateGraph(_State, input_schema=ExtractionInput, output_schema=ExtractionOutput)
    builder.add_node("split", reader.split)
    builder.add_node("extract", reader.extract, input_schema=Piece, retry_policy=retry)
    builder.add_node("report", report)
    builder.add_edge(START, "split")
    builder.add_conditional_edges("split", fan_out, ["extract", "report"])
    builder.add_edge("extract", "report")
    builder.add_edge("report", END)
    return builder.compile(checkpointer=False, name="graph_extraction")


class _Reader:
    """The nodes that need something to work with."""

    def __init__(
        self,
        graph: KnowledgeGraph,
        model: BaseChatModel,
        actor_of: Callable[[RunnableConfig], Actor],
        settings: ExtractionSettings,
    ) -> None:
        self._graph = graph
        once = Retries(attempts=1)  # LangGraph tries again
        self._texts = TextReader(graph, told_extractor(model, once), settings.merge)
        self._actor_of = actor_of
        self._settings = settings

    def split(self, state: ExtractionInput, config: RunnableConfig) -> dict[str, Any]:
        """Cut texts into pieces, and answer for those that were read before."""
        actor = self._actor_of(config)
        named = str(config.get("configurable", {}).get("thread_id") or "")
        thread = bounded(clean_text(named), MAX_THREAD_CHARS)
        pieces: dict[tuple[str, str], Piece] = {}
        for reference, text in _texts(state, thread):
            for piece in self._pieces(reference, clean_text(text), actor):
                pieces[piece["evidence_id"], piece["partition"]] = piece
        new, outcomes = self._texts.recall(list(pieces.values()))
        return {"pieces": new, "outcomes": outcomes}

    def extract(self, state: Piece, *, writer: StreamWriter) -> dict[str, Any]:
        """Read one piece and keep what it tells."""
        try:
            outcome = self._texts.read(state)
        except ExtractionError as error:
            outcome = unread(state, error)
        writer(
            {
                EVENT: {
                    "evidence_id": state["evidence_id"],
                    "relations": outcome["relations"],
                    "rejected": len(outcome["rejected"]),
                }
            }
        )
        return {"outcomes": [outcome]}

    def _pieces(self, reference: str, text: str, actor: Actor) -> list[Piece]:
        """Return the stored chunks that an id means, else the pieces of the text itself."""
        found = self._graph.evidence_for(reference, actor, self._settings.scope)
        stored = [(one, chunk) for one, chunk in found if chunk is not None]
        if stored:
            return [chunk_piece(one, chunk) for one, chunk in stored]
        ((evidence, _),) = found
        cut = chunk_markdown(text, self._settings.chunk_tokens, 0, source=reference)
        return [
            text_piece(
                evidence if len(cut) == 1 else Evidence(f"{reference}#{i}", evidence.partition),
                one.text,
                one.hash,
            )
            for i, one in enumerate(cut)
        ]


def fan_out(state: _State) -> list[Send] | str:
    """Return a task for each piece that nobody has read; without any, go on to the report."""
    return [Send("extract", piece) for piece in state["pieces"]] or "report"


def report(state: _State) -> ExtractionOutput:
    """Return what came of all pieces."""
    outcomes = state.get("outcomes", [])
    entities = sorted({one for outcome in outcomes for one in outcome["entity_ids"]})
    rejected = [part for outcome in outcomes for part in outcome["rejected"]]
    return {
        "graph_counts": {
            "texts": len(outcomes),
            "known": sum(outcome["was_known"] for outcome in outcomes),
            "entities": len(entities),
            "relations": sum(outcome["relations"] for outcome in outcomes),
            "rejected": len(rejected),
        },
        "graph_entity_ids": entities,
        "graph_evidence_ids": sorted(outcome["evidence_id"] for outcome in outcomes),
        "graph_rejected": rejected,
    }


def _texts(state: ExtractionInput, thread: str) -> list[tuple[str, str]]:
    """Return (id, text) of everything that is to be read; blank texts are left out."""
    given: list[tuple[str | None, str]] = [(None, state.get("text") or "")]
    given += [(one.id, one.page_content) for one in state.get("documents") or ()]
    given += [
        (_message(thread, one.id) if one.id else None, one.text)
        for one in state.get("messages") or ()
        if isinstance(one, HumanMessage)
    ]
    return [(_short(one) or f"text:{_hash(text)}", text) for one, text in given if text.strip()]


def _message(thread: str, message_id: str) -> str:
    """Return the id of a message, by which it is found again when its thread is forgotten."""
    whole = message_uri(thread, message_id)
    if len(whole) <= MAX_REFERENCE_CHARS:
        return whole
    return message_uri(thread, message_id, part_chars=REFERENCE_PART_CHARS)


def _short(reference: str | None) -> str | None:
    """Return an id that leaves room for the number of a piece; a longer one by its hash."""
    if reference is None or len(reference) <= MAX_REFERENCE_CHARS:
        return reference
    return f"id:{_hash(reference)}"


def _hash(text: str) -> str:
    return digest(clean_text(text))
