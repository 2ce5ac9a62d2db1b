"""Embeddings by text hash: from the database where known, from the model where not."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.errors import EmbeddingError, EmbeddingModelChangedError
from langchain_memengine.models.embedding import Embedder
from langchain_memengine.storage import embeddings
from langchain_memengine.storage.change_counters import Counters
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.transaction import Transaction

FloatArray = NDArray[np.float32]
Progress = Callable[[int], None]

_MODEL = "embedding_model"
_PROBE = "embedding_probe"
_COMPLETE = "embeddings_complete"  # model whose vectors every text has, as far as known
_SAME_PROBE = 0.98  # providers' answers to the same text differ by about 1e-4, models' by far more


@dataclass(frozen=True, slots=True)
class Embedded:
    """What an embedder made of some texts.

    Attributes:
        vectors: By text hash, each of shape (dimension,). A text that the embedder will never
            embed has zeros, which are similar to nothing, so that it is not asked again.
        hopeless: How many texts that are.
        error: Why the other missing texts have no vector yet.
    """

    vectors: dict[str, FloatArray]
    hopeless: int
    error: EmbeddingError | None


class EmbeddingCache:
    """The store's one embedding model and its vectors.

    A store belongs to the model it was first indexed with. The model is known by its identity and
    by its vector of a probe sentence: the same name with other weights is another model.
    """

    def __init__(self, database: Database, embedder: Embedder | None) -> None:
        self._database = database
        self._embedder = embedder
        self._verified = False
        self._stored: tuple[int, str | None] = (-1, None)
        self._lock = threading.Lock()

    @property
    def enabled(self) -> bool:
        """Whether there is an embedder at all."""
        return self._embedder is not None

    @property
    def name(self) -> str | None:
        """Name of the embedder, without asking it anything."""
        return self._embedder.name if self._embedder else None

    def model(self, tx: Transaction, counters: Counters | None = None) -> str | None:
        """Return the identity whose stored vectors this embedder can search.

        ``None`` without an embedder, before anything was embedded, or when the store was
        indexed with another model. The embedder is asked nothing.

        Args:
            tx: A view of the database.
            counters: Where that view stands, if the caller knows.
        """
        if self._embedder is None:
            return None
        changes = (counters or tx.counters()).changes
        if self._stored[0] != changes:
            self._stored = (changes, tx.get_meta(_MODEL))
        stored = self._stored[1]
        if stored is None:
            return None
        if self._verified:  # another engine may have re-embedded the store since
            return stored if stored == self._embedder.identity else None
        return stored if stored.rpartition("/")[0] == self._embedder.name else None

    def model_change(self, tx: Transaction) -> EmbeddingModelChangedError | None:
        """Return the error to show when the store was plainly indexed with another model.

        Compares names only and asks the embedder nothing; :meth:`verify` looks closer.
        """
        stored = tx.get_meta(_MODEL)
        if self._embedder is None or stored is None or self.model(tx) is not None:
            return None
        return EmbeddingModelChangedError(stored=stored, current=self._embedder.name)

    def verify(self) -> str:
        """Make sure that the store and the embedder speak of the same model; return its identity.

        The first call asks the embedder for its probe vector.

        Raises:
            EmbeddingModelChangedError: The store was indexed with another model.
            EmbeddingError: There is no embedder, or it failed.
        """
        embedder = self._required()
        with self._lock:
            if not self._verified:
                self._check_probe(embedder)
                self._verified = True
        return embedder.identity

    def query(self, text: str) -> FloatArray:
        """Return the normalised vector of a query, shape (dimension,).

        Raises:
            EmbeddingModelChangedError: The store was indexed with another model.
            EmbeddingError: The embedder failed.
        """
        self.verify()
        return self._required().embed_query(text)

    def embed(self, texts: Mapping[str, str], on_batch: Progress | None = None) -> Embedded:
        """Embed texts by hash, as far as the embedder can.

        Never raises for what an embedder does: the error is part of the answer.
        """
        try:
            self.verify()
            vectors, errors = self._required().embed_salvaging(list(texts.values()), on_batch)
        except EmbeddingError as error:
            return Embedded({}, 0, error)
        hopeless = {i for i, error in errors.items() if _is_hopeless(error)}
        found = {
            text_hash: vectors[i]
            for i, text_hash in enumerate(texts)
            if i not in errors or i in hopeless
        }
        outage = next((error for i, error in errors.items() if i not in hopeless), None)
        return Embedded(found, len(hopeless), outage)

    def adopt_model(self) -> None:
        """Make the current embedder the store's model.

        Vectors under the same identity but of other weights are removed: they are worthless.

        Raises:
            EmbeddingError: There is no embedder, or it failed; nothing was changed.
        """
        embedder = self._required()
        probe = embedder.probe()
        with self._database.write() as tx:
            same = tx.get_meta(_MODEL) == embedder.identity
            if same and not _same_probe(tx.get_meta(_PROBE), probe):
                embeddings.delete_model(tx, embedder.identity)
            _note(tx, embedder.identity, probe)
            self.mark_incomplete(tx)
        self._verified = True

    def is_complete(self, tx: Transaction) -> bool:
        """Return whether every stored text is known to have a vector of the store's model."""
        model = self.model(tx)
        return model is not None and tx.get_meta(_COMPLETE) == model

    def mark_complete(self, tx: Transaction, model: str) -> None:
        """Note that every stored text has a vector of this model."""
        tx.set_meta(_COMPLETE, model)

    def mark_incomplete(self, tx: Transaction) -> None:
        """Note that some stored text may lack a vector."""
        if tx.get_meta(_COMPLETE):
            tx.set_meta(_COMPLETE, "")

    def _required(self) -> Embedder:
        if self._embedder is None:
            raise EmbeddingError(
                "This engine has no embedder (embeddings=None); choose one to use vectors."
            )
        return self._embedder

    def _check_probe(self, embedder: Embedder) -> None:
        probe = embedder.probe()
        with self._database.read() as tx:
            stored, stored_probe = tx.get_meta(_MODEL), tx.get_meta(_PROBE)
        if stored is None and not self._database.read_only:
            with self._database.write() as tx:
                # Another process may have noted its own since.
                stored, stored_probe = tx.get_meta(_MODEL), tx.get_meta(_PROBE)
                if stored is None:
                    _note(tx, embedder.identity, probe)
        if stored is None:
            return
        if stored != embedder.identity or not _same_probe(stored_probe, probe):
            raise EmbeddingModelChangedError(stored=stored, current=embedder.identity)


def _is_hopeless(error: EmbeddingError) -> bool:
    return error.text_at_fault and not error.retryable


def _note(tx: Transaction, identity: str, probe: FloatArray) -> None:
    tx.touch()  # readers look for the model again when the change counter has moved
    tx.set_meta(_MODEL, identity)
    tx.set_meta(_PROBE, json.dumps([round(float(value), 7) for value in probe]))


def _same_probe(stored: str | None, probe: FloatArray) -> bool:
    if stored is None:
        return True
    vector = np.asarray(json.loads(stored), np.float32)
    return vector.shape == probe.shape and float(vector @ probe) >= _SAME_PROBE
