"""Plain retrievers to compare with, each as its users would set it up."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.errors import ConfigurationError, MissingDependencyError
from langchain_memengine.evaluation.metrics import DEPTH
from langchain_memengine.models.embedding import Embedder, FloatArray
from langchain_memengine.retrieval.documents import NewDocument

if TYPE_CHECKING:
    from langchain_core.retrievers import BaseRetriever

RRF_K = 60  # Cormack, Clarke and Büttcher, "Reciprocal rank fusion", 2009

_ID = "id"
_NO_VECTOR = "have no embedding, so dense, rrf60 and ensemble cannot find them by meaning"


class Baselines:
    """The baselines over one collection.

    - ``bm25``: rank_bm25's ``BM25Okapi`` with its defaults over lower-case words.
    - ``dense``: exact cosine of whole documents.
    - ``rrf60``: the sum of ``1 / (60 + rank)`` in the two above.
    - ``ensemble``: LangChain's ``EnsembleRetriever`` over its ``BM25Retriever`` and
      ``InMemoryVectorStore``, the same words and vectors, 25 documents each, equal weights.

    Args:
        documents: What is searched; blank ones are left out.
        embedder: Makes the vectors; ``None`` leaves ``bm25`` only.

    Attributes:
        problems: What makes the comparison poorer than asked, in words.

    Raises:
        ConfigurationError: No document has a word.
        EmbeddingError: The embedder embeds none of the documents.
    """

    def __init__(self, documents: Sequence[NewDocument], embedder: Embedder | None) -> None:
        from rank_bm25 import BM25Okapi

        kept = [document for document in documents if document.text.strip()]
        texts = [document.text for document in kept]
        tokens = [words(text) for text in texts]
        if not any(tokens):  # BM25Okapi would divide by zero
            raise ConfigurationError(
                "The baselines have no text to search. Add some, or leave the baselines out."
            )
        self._ids = [document.id for document in kept]
        self._bm25 = BM25Okapi(tokens)
        self._embedder = embedder
        self._vectors: FloatArray | None = None
        self._ensemble: BaseRetriever | None = None
        self.problems: tuple[str, ...] = ()
        if embedder is None:
            return
        self._vectors, self.problems = _embedded(texts, embedder)
        try:
            self._ensemble = _ensemble(kept, self._vectors, embedder)
        except MissingDependencyError as error:
            self.problems += (str(error),)

    def rank(self, query: str) -> dict[str, list[str]]:
        """Return the ids that each baseline finds, best first, at most 25.

        Ties keep the order of the documents.

        Raises:
            EmbeddingError: The query is blank, or has no usable vector.
        """
        by_words = _order(np.asarray(self._bm25.get_scores(words(query))))
        orders = {"bm25": by_words}
        if self._embedder is not None and self._vectors is not None:
            by_meaning = _order(self._vectors @ self._embedder.embed_query(query))
            orders["dense"] = by_meaning
            orders["rrf60"] = _order(_reciprocal_ranks(by_words) + _reciprocal_ranks(by_meaning))
        found = {name: [self._ids[i] for i in order[:DEPTH]] for name, order in orders.items()}
        if self._ensemble is not None:
            ids = [document.metadata[_ID] for document in self._ensemble.invoke(query)]
            found["ensemble"] = list(dict.fromkeys(ids))[:DEPTH]
        return found


def words(text: str) -> list[str]:
    """Return the words of a text as the baselines see them: lower case, no stemming."""
    return re.findall(r"\w+", text.lower())


def _order(scores: NDArray[Any]) -> NDArray[np.intp]:
    return np.argsort(-scores, kind="stable")


def _reciprocal_ranks(order: NDArray[np.intp]) -> NDArray[np.float64]:
    """Return ``1 / (60 + rank)`` of each document, ranks from 1."""
    shares = np.empty(len(order))
    shares[order] = 1.0 / (RRF_K + np.arange(1, len(order) + 1))
    return shares


def _embedded(texts: list[str], embedder: Embedder) -> tuple[FloatArray, tuple[str, ...]]:
    """Return the vectors of texts, and what is missing; a text without one has zeros."""
    vectors, errors = embedder.embed_salvaging(texts)
    if not errors:
        return vectors, ()
    first = errors[min(errors)]
    if len(errors) == len(texts):
        raise first
    return vectors, (f"baselines: {len(errors)} of {len(texts)} documents {_NO_VECTOR}: {first}",)


def _ensemble(
    documents: Sequence[NewDocument], vectors: FloatArray, embedder: Embedder
) -> BaseRetriever:
    """Return the peer, built as its documentation shows.

    Raises:
        MissingDependencyError: Its packages are not installed.
    """
    from langchain_core.documents import Document
    from langchain_core.embeddings import Embeddings
    from langchain_core.vectorstores import InMemoryVectorStore

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # deprecation notices of the peer's packages
        try:
            from langchain_classic.retrievers import EnsembleRetriever
            from langchain_community.retrievers import BM25Retriever
        except ImportError as error:
            package = (error.name or "langchain_community").partition(".")[0].replace("_", "-")
            raise MissingDependencyError(
                package, extra="bench", needed_for="The baseline 'ensemble'"
            ) from error

    known: Mapping[str, list[float]] = {
        document.text: vector for document, vector in zip(documents, vectors.tolist(), strict=True)
    }

    class Known(Embeddings):
        """The vectors that are there already, so that nothing is embedded twice."""

        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [known[text] for text in texts]

        def embed_query(self, text: str) -> list[float]:
            numbers: list[float] = embedder.embed_query(text).tolist()
            return numbers

    wrapped = [Document(one.text, metadata={_ID: one.id}) for one in documents]
    store = InMemoryVectorStore(Known())
    store.add_documents(wrapped)
    keyword = BM25Retriever.from_documents(wrapped, preprocess_func=words, k=DEPTH)
    dense = store.as_retriever(search_kwargs={"k": DEPTH})
    return EnsembleRetriever(retrievers=[keyword, dense], weights=[0.5, 0.5], id_key=_ID)
