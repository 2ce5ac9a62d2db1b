"""Read texts with a chat model, each once, and keep what they tell as soon as it is read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from typing_extensions import TypedDict

from langchain_memengine.errors import ExtractionError
from langchain_memengine.graph.knowledge_graph import KnowledgeGraph
from langchain_memengine.graph.learning import Told
from langchain_memengine.graph.resolution import NameMerge
from langchain_memengine.graph.triples import Salvaged
from langchain_memengine.models.extracting import Extractor
from langchain_memengine.models.graph_prompts import extraction_messages
from langchain_memengine.storage.chunk_ids import ReferredChunk
from langchain_memengine.storage.graph_values import Evidence


class Piece(TypedDict):
    """A text to read, with the id and the visibility of the memory it is evidence of.

    ``is_stored`` says whether the memory is a chunk of the store, which may be deleted meanwhile.
    """

    evidence_id: str
    partition: str
    commit_id: str | None
    text: str
    text_hash: str
    is_stored: bool


class Outcome(TypedDict):
    """What became of a piece."""

    evidence_id: str
    entity_ids: list[str]
    relations: int
    rejected: list[dict[str, str]]
    was_known: bool


class TextReader:
    """Reads pieces of text into a graph.

    Args:
        graph: Where what is read goes.
        extractor: The model to ask.
        merge: Take new names for known ones by their embeddings.
    """

    def __init__(
        self,
        graph: KnowledgeGraph,
        extractor: Extractor[Salvaged],
        merge: NameMerge | None = None,
    ) -> None:
        self._graph = graph
        self._extractor = extractor
        self._merge = merge

    def recall(self, pieces: Sequence[Piece]) -> tuple[list[Piece], list[Outcome]]:
        """Return the pieces that nobody has read, and what became of the others.

        What was read under another id counts as read: its memories become evidence, too.
        """
        hashes = {_evidence(piece): piece["text_hash"] for piece in pieces}
        known = self._graph.known_texts(hashes)
        stored = self._graph.learn(list(known.values()))
        new = [piece for piece in pieces if _evidence(piece) not in known]
        return new, [_outcome(one, was_known=True) for one in stored]

    def read(self, piece: Piece) -> Outcome:
        """Ask what a piece tells, and keep it.

        Raises:
            ExtractionError: The model's replies cannot be read; nothing is kept, and the piece is
                asked for again the next time.
            ChatModelError: It failed or refused.
        """
        found = self._extractor.ask(extraction_messages(piece["text"]))
        told = Told(_evidence(piece), found.entities, found.relations, piece["text_hash"])
        (stored,) = self._graph.learn([told], self._merge)
        if piece["is_stored"]:
            self._graph.forget_gone([piece["evidence_id"]])
        outcome = _outcome(stored, was_known=False)
        outcome["rejected"] = [
            {"evidence_id": piece["evidence_id"], **asdict(one)} for one in found.rejected
        ]
        return outcome


def chunk_piece(evidence: Evidence, chunk: ReferredChunk) -> Piece:
    """Return a stored chunk as a piece to read."""
    return {**text_piece(evidence, chunk.text, chunk.text_hash), "is_stored": True}


def text_piece(evidence: Evidence, text: str, text_hash: str) -> Piece:
    """Return a text that is no stored memory as a piece to read."""
    return {
        "evidence_id": evidence.id,
        "partition": evidence.partition,
        "commit_id": evidence.commit_id,
        "text": text,
        "text_hash": text_hash,
        "is_stored": False,
    }


def unread(piece: Piece, error: ExtractionError) -> Outcome:
    """Return what became of a piece whose replies cannot be read."""
    rejected = {"evidence_id": piece["evidence_id"], "part": "", "reason": str(error)}
    outcome = _outcome(Told(_evidence(piece)), was_known=False)
    return {**outcome, "rejected": [rejected]}


def _evidence(piece: Piece) -> Evidence:
    return Evidence(piece["evidence_id"], piece["partition"], piece["commit_id"])


def _outcome(told: Told, *, was_known: bool) -> Outcome:
    ends = [end for one in told.relations for end in (one.source, one.target)]
    return {
        "evidence_id": told.evidence.id,
        "entity_ids": sorted({entity.id for entity in (*told.entities, *ends)}),
        "relations": len(told.relations),
        "rejected": [],
        "was_known": was_known,
    }
