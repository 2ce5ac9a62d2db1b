"""What the graph learns, from whom, and what it forgets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.graph.following import GraphFollowing
from langchain_memengine.graph.resolution import NameMerge, mentions, renamed, resolve
from langchain_memengine.graph.triples import TripleLike, read_triples
from langchain_memengine.retrieval import documents, visibility
from langchain_memengine.storage import chunk_ids, graph, graph_entities, graph_reading
from langchain_memengine.storage.chunk_ids import ReferredChunk
from langchain_memengine.storage.chunk_values import SHARED_PARTITION, partition_key
from langchain_memengine.storage.graph_schema import MAX_EVIDENCE_CHARS
from langchain_memengine.storage.graph_values import Entity, Evidence, Relation
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.names import entity_key
from langchain_memengine.text.sanitize import clean_text
from langchain_memengine.types import (
    Actor,
    Scope,
)

if TYPE_CHECKING:
    from langchain_memengine.graph.documents import GraphDocument

APPLICATION = "app"
"""Evidence of triples that no memory tells: the application itself says so."""

_CANDIDATES = 8


@dataclass(frozen=True, slots=True)
class Told:
    """What one piece of evidence tells.

    Attributes:
        evidence: The memory.
        entities: Entities that it names.
        relations: What it says of them.
        text_hash: Hash of the text that it was read from, if a text was read.
    """

    evidence: Evidence
    entities: tuple[Entity, ...] = ()
    relations: tuple[Relation, ...] = ()
    text_hash: str | None = None


class GraphLearning(GraphFollowing):
    """The chapter of the graph that changes what is stored."""

    def add_triples(
        self,
        triples: Iterable[TripleLike],
        *,
        evidence: str = APPLICATION,
        scope: Scope | None = None,
        actor: Actor | None = None,
    ) -> int:
        """Learn statements without asking a model; return how many there were.

        Args:
            triples: Each is (source, type, target), a mapping of these, or a relation.
            evidence: Id of a chunk or of an added text that says so, or any other id of up to
                255 characters. When the memory goes, so do the statements.
            scope: Who may see them, if the evidence is no stored memory; default: everyone if the
                actor is an admin, else the actor.
            actor: Who adds them.

        Raises:
            ConfigurationError: A triple lacks a part, or the id is too long.
            ScopeError: The actor may not write to the scope.
        """
        relations = read_triples(triples)
        found = self.evidence_for(clean_text(evidence), actor or self._actor, scope)
        self.learn(_attributed(found, (), relations))
        return len(relations)

    def add_graph_documents(
        self,
        graphs: Iterable[GraphDocument],
        *,
        scope: Scope | None = None,
        actor: Actor | None = None,
    ) -> int:
        """Learn graphs in LangChain's shape; return how many relationships there were.

        The id of a graph's source document is its evidence, as in :meth:`add_triples`.

        Raises:
            ConfigurationError: A node or a relationship has no name.
            ScopeError: The actor may not write to the scope.
        """
        told: list[Told] = []
        count = 0
        for one in graphs:
            relations = read_triples(one.relations())
            count += len(relations)
            reference = (one.source.id if one.source else None) or APPLICATION
            found = self.evidence_for(clean_text(reference), actor or self._actor, scope)
            told += _attributed(found, one.entities(), relations)
        self.learn(told)
        return count

    def learn(self, told: Sequence[Told], merge: NameMerge | None = None) -> list[Told]:
        """Store what memories tell, under the entities that are known already.

        Args:
            told: What to store; the same again changes nothing.
            merge: Also take new names for known ones by their embeddings.

        Returns:
            The same, as it was stored.
        """
        database = self._synced()
        with database.read() as tx:
            stored = [self._resolved(tx, one, merge) for one in told]
        hashes = {one.evidence: one.text_hash for one in stored if one.text_hash is not None}
        with database.write() as tx:
            for evidence in graph.outdated(tx, hashes):  # its text says something else by now
                graph.forget_evidence(tx, [evidence.id], partitions=[evidence.partition])
            rows = [(one.evidence, one.entities, one.relations) for one in stored]
            graph.learn(tx, rows, now=self._clock())
            graph.note_extracted(tx, hashes)
        if stored and self._names.enabled:
            self.queue_sync()
        return stored

    def read_already(self, hashes: Mapping[Evidence, str]) -> set[Evidence]:
        """Return the memories whose text, as its hash says, was read under their own id."""
        if not self._store.is_there:
            return set()
        with self._store.get().read() as tx:
            return graph.read_already(tx, hashes)

    def known_texts(self, hashes: Mapping[Evidence, str]) -> dict[Evidence, Told]:
        """Return what memories tell whose text was read before, under this or another id.

        Args:
            hashes: Hash of the text of each memory.
        """
        found: dict[Evidence, Told] = {}
        with self._synced().read() as tx:
            for evidence, text_hash in hashes.items():
                readable = _resolvable(evidence.partition)
                earlier = graph.extracted(tx, [text_hash], partitions=readable).get(text_hash)
                if earlier:
                    one = evidence.id if evidence.id in earlier else earlier[0]
                    entities, relations = graph_reading.told_by(tx, one, partitions=readable)
                    found[evidence] = Told(evidence, tuple(entities), tuple(relations), text_hash)
        return found

    def evidence_for(
        self, reference: str, actor: Actor, scope: Scope | None = None
    ) -> list[tuple[Evidence, ReferredChunk | None]]:
        """Return the stored chunks that an id means, or the id itself as evidence of its own.

        What a memory tells is as visible as the memory; but only its owner, or an admin, makes
        others see it.
        """
        mine = visibility.owner_of("personal", actor)
        asked = [reference, *(documents.document_uri(owner, reference) for owner in (mine, ""))]
        readable = visibility.readable_partitions(actor)
        with self._state.read() as tx:
            chunks = chunk_ids.referred(tx, asked, partitions=readable)
        if chunks:
            own = partition_key("personal", mine)
            writable = self._writable(actor)
            return [
                (
                    Evidence(
                        one.id,
                        one.partition_key if one.partition_key in writable else own,
                        one.commit_id,
                    ),
                    one,
                )
                for one in chunks
            ]
        if not 0 < len(reference) <= MAX_EVIDENCE_CHARS:
            raise ConfigurationError(
                f"The id of evidence has {len(reference)} characters. "
                f"Use 1 to {MAX_EVIDENCE_CHARS}."
            )
        scope = scope or visibility.default_scope(actor)
        visibility.require_write(scope, actor)
        partition = partition_key(scope, visibility.owner_of(scope, actor))
        return [(Evidence(reference, partition), None)]

    def _resolved(self, tx: Transaction, told: Told, merge: NameMerge | None) -> Told:
        spoken = mentions(told.entities, told.relations)
        readable = _resolvable(told.evidence.partition)
        keys = {entity_key(name) for one in spoken.values() for name in (one.name, *one.aliases)}
        called = graph_entities.ids_called(tx, sorted(keys), partitions=readable)
        ids = sorted({one for some in called.values() for one in some})
        known = graph_entities.entities(tx, ids, partitions=readable)
        by_key = {key: [known[one] for one in some] for key, some in called.items()}
        meant = {one: resolve(entity, by_key) for one, entity in spoken.items()}
        if merge is not None:
            new = [one for one in meant.values() if one.id not in known]
            near = {
                one.id: graph_entities.search_names(
                    tx, _longest_word(one.name), partitions=readable, limit=_CANDIDATES
                )
                for one in new
            }
            merged = merge.merged(new, near)
            meant = {
                one: replace(entity, type=merged[entity.id].type, id=merged[entity.id].id)
                if entity.id in merged
                else entity
                for one, entity in meant.items()
            }
        return replace(
            told,
            entities=tuple(meant[one.id] for one in told.entities),
            relations=tuple(renamed(one, meant) for one in told.relations),
        )


def _attributed(
    found: Sequence[tuple[Evidence, ReferredChunk | None]],
    entities: Sequence[Entity],
    relations: Sequence[Relation],
) -> list[Told]:
    """Return what is told by the chunks that name it; what none names is told by all of them."""
    texts = [(one, entity_key(chunk.text) if chunk else "") for one, chunk in found]

    def naming(ends: Iterable[Entity]) -> list[Evidence]:
        names = [entity_key(end.name) for end in ends]
        some = [one for one, text in texts if any(name in text for name in names)]
        return some or [one for one, _ in texts]

    named: dict[Evidence, list[Entity]] = {}
    told: dict[Evidence, list[Relation]] = {}
    for entity in entities:
        for one in naming([entity]):
            named.setdefault(one, []).append(entity)
    for relation in relations:
        for one in naming([relation.source, relation.target]):
            told.setdefault(one, []).append(relation)
    return [
        Told(one, tuple(named.get(one, ())), tuple(told.get(one, ()))) for one in {**named, **told}
    ]


def _resolvable(partition: str) -> tuple[str, ...]:
    """Return whose names a memory's own may be taken for: never those of fewer readers."""
    return tuple(dict.fromkeys((SHARED_PARTITION, partition)))


def _longest_word(name: str) -> str:
    return max(name.split(), key=len)
