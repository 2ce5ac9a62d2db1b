"""Keep documents that are given back as they were."""

from __future__ import annotations

from collections.abc import Sequence

from langchain_memengine.engine.reading_records import texts_named
from langchain_memengine.engine.writing import Writing
from langchain_memengine.retrieval import documents
from langchain_memengine.retrieval.documents import NewDocument
from langchain_memengine.storage import originals, quarantines
from langchain_memengine.storage.originals import Original
from langchain_memengine.types import (
    Actor,
    Scope,
)


class DocumentKeeping(Writing):
    """The chapter of the engine for documents, which an index of LangChain is made of."""

    def keep_documents(
        self,
        new: Sequence[documents.DocumentLike],
        *,
        scope: Scope | None = None,
        actor: Actor | None = None,
    ) -> list[str]:
        """Remember documents as :meth:`add_documents` does, all or none, and their whole texts.

        Of those with the same id the last one counts.

        Returns:
            The ids of those that were kept: blank texts are not.

        Raises:
            ConfigurationError: Metadata cannot be stored.
            ScopeError: The actor may not write to the scope.
            StorageError: The database failed; nothing is stored.
        """
        given = documents.new_documents(
            [document.page_content for document in new],
            [document.metadata for document in new],
            [document.id for document in new],
        )
        pieces = self._pieces(given, scope, actor)
        last = dict(pieces)
        kept = {
            source: document
            for document, (source, _) in zip(given, pieces, strict=True)
            if last[source]
        }
        whole = {source: Original(one.text, one.metadata) for source, one in kept.items()}
        self._indexer.put_with(last, lambda tx: originals.put(tx, whole))
        return [document.id for document in kept.values()]

    def kept_documents(
        self, ids: Sequence[str], *, quarantined: bool = False, actor: Actor | None = None
    ) -> dict[str, NewDocument]:
        """Return kept documents as they were, by id: the actor's own before everyone's.

        One whose text was since added otherwise is none of them.

        Args:
            ids: Which; unknown ones are left out.
            quarantined: Also those that are quarantined.
            actor: Who asks.
        """
        documents.require_list("ids", ids)
        places = {one: texts_named(one, actor or self.actor) for one in ids}
        with self._database.read() as tx:
            found = originals.by_sources(tx, [uri for uris in places.values() for uri in uris])
            aside = frozenset() if quarantined else quarantines.hidden_sources(tx)
        return {
            one: NewDocument(found[uri].text, found[uri].metadata, one)
            for one, uris in places.items()
            for uri in reversed(uris)
            if uri in found and uri not in aside
        }
