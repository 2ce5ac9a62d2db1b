"""The engine as a document index, for LangChain's indexing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any
from uuid import uuid4

from langchain_core.callbacks import (
    AsyncCallbackManagerForRetrieverRun,
    CallbackManagerForRetrieverRun,
)
from langchain_core.documents import Document
from langchain_core.indexing import DeleteResponse, UpsertResponse
from langchain_core.indexing.base import DocumentIndex
from pydantic import Field

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.faces.retriever import RECEIPT_KEY, MemEngineRetriever
from langchain_memengine.faces.running import actor_named
from langchain_memengine.retrieval.documents import document_id
from langchain_memengine.types import Actor


class MemEngineDocumentIndex(MemEngineRetriever, DocumentIndex):
    """A document index: a retriever that documents are put into, for ``index()``.

    ```python
    documents = MemEngineDocumentIndex(engine=engine)
    index(loader, record_manager, documents, cleanup="full", source_id_key="source")
    documents.invoke("what did we decide about caching?")
    ```

    Documents come back from :meth:`get` as they were; a search returns the pieces of them that
    answer, each with the id of its document. Every search of the engine finds them as well. They
    belong to ``user_id``, and to everyone when the engine's actor is an admin and no user is given.
    Other texts of the engine are not searched unless ``source`` says so.

    ``DocumentIndex`` is a beta interface of LangChain and may change.
    """

    source: str | None = Field("doc:*", description="Which texts are searched: added documents.")

    def upsert(self, items: Sequence[Document], /, **kwargs: Any) -> UpsertResponse:  # noqa: ARG002
        """Add or replace documents by id, all or none; blank ones fail.

        Raises:
            ConfigurationError: Metadata cannot be stored.
            StorageError: The database failed.
        """
        items = [item if item.id else item.model_copy(update={"id": uuid4().hex}) for item in items]
        kept = self.engine.keep_documents(items, scope=self.scope, actor=self._actor)
        ids = list(dict.fromkeys(str(item.id) for item in items))
        return UpsertResponse(
            succeeded=[one for one in ids if one in kept],
            failed=[one for one in ids if one not in kept],
        )

    def get(self, ids: Sequence[str], /, **kwargs: Any) -> list[Document]:  # noqa: ARG002
        """Return the documents with these ids, as they were; not unknown or quarantined ones."""
        found = self.engine.kept_documents(list(ids), actor=self._actor)
        return [
            Document(id=one, page_content=kept.text, metadata=dict(kept.metadata))
            for one, kept in found.items()
        ]

    def delete(self, ids: list[str] | None = None, **kwargs: Any) -> DeleteResponse:  # noqa: ARG002
        """Delete documents by id; unknown ids count as not there.

        Raises:
            ConfigurationError: No ids are given.
            ScopeError: A document is everyone's, and the actor is no admin.
        """
        if ids is None:
            raise ConfigurationError("delete() needs the ids of the documents to delete.")
        known = list(self.engine.kept_documents(ids, quarantined=True, actor=self._actor))
        self.engine.delete(known, actor=self._actor)
        return DeleteResponse(num_deleted=len(known), succeeded=known, num_failed=0, failed=[])

    @property
    def _actor(self) -> Actor:
        return actor_named(self.engine, self.user_id)

    def _get_relevant_documents(
        self, query: str, *, run_manager: CallbackManagerForRetrieverRun, **overrides: Any
    ) -> list[Document]:
        found = super()._get_relevant_documents(query, run_manager=run_manager, **overrides)
        return [_with_own_id(document) for document in found]

    async def _aget_relevant_documents(
        self, query: str, *, run_manager: AsyncCallbackManagerForRetrieverRun, **overrides: Any
    ) -> list[Document]:
        found = await super()._aget_relevant_documents(query, run_manager=run_manager, **overrides)
        return [_with_own_id(document) for document in found]


def _with_own_id(piece: Document) -> Document:
    """Return a piece with the id of the document it is from."""
    own = document_id(piece.metadata[RECEIPT_KEY]["source"])
    return piece if own is None else piece.model_copy(update={"id": own})
