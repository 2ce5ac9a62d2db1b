"""Any embedder, made dependable: batched, retried, checked, cached.

Clients of real providers return one vector for three texts without an error, and some never
retry. So every answer is counted and measured before a vector reaches an index, and every call
that may succeed later is made again.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Protocol, runtime_checkable

import numpy as np

from langchain_memengine.errors import (
    ConfigurationError,
    EmbeddingError,
    MissingDependencyError,
)
from langchain_memengine.models.failures import (
    address_of,
    advice,
    is_transient,
    may_blame_a_text,
    status_of,
)
from langchain_memengine.models.retrying import Retries
from langchain_memengine.models.vectors import FloatArray, as_matrix, unit_vector, unit_vectors

__all__ = ["PROBE", "Embedder", "EmbeddingsLike", "FloatArray"]

PROBE = "The quick brown fox jumps over the lazy dog."
QUERY_CACHE_SIZE = 1024

logger = logging.getLogger(__name__)


@runtime_checkable
class EmbeddingsLike(Protocol):
    """What is used of LangChain's ``Embeddings``.

    A protocol, because importing the class takes 0.3 s that keyword search need not pay.
    """

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Return one vector a text, in order."""
        ...

    def embed_query(self, text: str) -> list[float]:
        """Return the vector of a query."""
        ...


class Embedder:
    """An embedder whose vectors can be trusted.

    Every vector it returns is float32, finite, of length 1, and of the one dimension this
    embedder has. Safe to use from several threads if the wrapped embedder is.

    Args:
        embeddings: Any LangChain ``Embeddings``.
        name: Class and model, e.g. ``"OpenAIEmbeddings/text-embedding-3-small"``.
        batch_size: Texts in one call, at most.
        attempts: Tries of one call that fails in a way that may pass.
        sleep: Waits between tries.
        deadline_seconds: No try starts later than this after the first of the same call.
        monotonic: The clock the deadline is measured with.
    """

    def __init__(
        self,
        embeddings: EmbeddingsLike,
        *,
        name: str,
        batch_size: int = 64,
        attempts: int = 4,
        sleep: Callable[[float], None] = time.sleep,
        deadline_seconds: float = 120,
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.embeddings = embeddings
        self.name = name
        self._batch_size = batch_size
        self._retries = Retries(attempts, deadline_seconds)
        self._sleep = sleep
        self._monotonic = monotonic
        self._dimension: int | None = None
        self._cached_query = lru_cache(QUERY_CACHE_SIZE)(self._embed_query)
        self._cached_probe = lru_cache(1)(self._embed_probe)

    @property
    def dimension(self) -> int:
        """Return the length of every vector; asks the embedder once."""
        return len(self.probe())

    @property
    def identity(self) -> str:
        """Return name and dimension: vectors of two identities cannot be compared."""
        return f"{self.name}/{self.dimension}"

    def probe(self) -> FloatArray:
        """Return the vector of a constant sentence, shape (dimension,), embedded once.

        Two models that share a name but not their weights differ in it.

        Raises:
            EmbeddingError: The embedder failed; the next call asks again.
        """
        return self._cached_probe()

    def embed_texts(
        self, texts: Sequence[str], on_batch: Callable[[int], None] | None = None
    ) -> FloatArray:
        """Return the vectors of texts, shape (len(texts), dimension), in their order.

        Args:
            texts: None of them blank.
            on_batch: Called after each batch with the number of texts in it.

        Raises:
            EmbeddingError: A text has no usable vector (the first one's error), or is blank.
        """
        vectors, errors = self.embed_salvaging(texts, on_batch)
        if errors:
            raise errors[min(errors)]
        return vectors

    def embed_salvaging(
        self, texts: Sequence[str], on_batch: Callable[[int], None] | None = None
    ) -> tuple[FloatArray, dict[int, EmbeddingError]]:
        """Return the vectors that can be had, and an error for each text that has none.

        A batch the embedder refuses is halved until the text at fault is alone. When no text is
        to blame (an outage, a wrong key, an embedder that refuses even the probe) no further call
        is made: the texts embedded so far keep their vectors and all others get that error.

        Returns:
            Vectors of shape (len(texts), dimension), with zeros in the rows of failed texts
            (dimension is 0 if nothing was ever embedded), and the errors by index.

        Raises:
            ConfigurationError: The embedder cannot work as it is set up.
            MissingDependencyError: A package it needs is not installed.
        """
        outcomes: dict[int, FloatArray | EmbeddingError] = {
            i: self._blank(i) for i, text in enumerate(texts) if not text.strip()
        }
        # Texts of like length together: local models pad to the longest of a batch.
        order = sorted(set(range(len(texts))) - set(outcomes), key=lambda i: (len(texts[i]), i))
        for start in range(0, len(order), self._batch_size):
            batch = order[start : start + self._batch_size]
            try:
                found = self._outcomes([texts[i] for i in batch])
            except EmbeddingError as error:
                outcomes.update(dict.fromkeys(order[start:], error))
                break
            outcomes.update(zip(batch, found, strict=True))
            if on_batch is not None:
                on_batch(len(batch))
        vectors = np.zeros((len(texts), self._dimension or 0), dtype=np.float32)
        errors: dict[int, EmbeddingError] = {}
        for i, outcome in sorted(outcomes.items(), key=lambda pair: pair[0]):
            if isinstance(outcome, EmbeddingError):
                errors[i] = outcome
            else:
                vectors[i] = outcome
        return vectors, errors

    def embed_query(self, text: str) -> FloatArray:
        """Return the vector of a query, shape (dimension,), read-only.

        The last 1,024 queries are remembered.

        Raises:
            EmbeddingError: The query is blank, or has no usable vector.
        """
        return self._cached_query(text)

    def _embed_query(self, text: str) -> FloatArray:
        if not text.strip():
            raise EmbeddingError(
                f"{self.name} was asked to embed a blank query. Skip such queries."
            )
        answer = self._ask(lambda: self.embeddings.embed_query(text), "a query")
        vector = unit_vector(answer)
        if vector is None or len(vector) != self._dimension:
            (outcome,) = self._checked([answer], [text])
            return _read_only(outcome)
        return _read_only(vector)

    def _embed_probe(self) -> FloatArray:
        (outcome,) = self._vectors([PROBE])
        return _read_only(outcome)

    def _outcomes(
        self, texts: list[str], *, asked_probe: bool = False
    ) -> list[FloatArray | EmbeddingError]:
        """Return a vector or an error for each text; raise what no text is to blame for."""
        try:
            found = self._vectors(texts)
        except EmbeddingError as error:
            if not may_blame_a_text(error):
                raise
            if not asked_probe:
                self._require_an_answer()
            if len(texts) == 1:
                error.text_at_fault = True
                return [error]
        else:
            if not asked_probe and all(isinstance(one, EmbeddingError) for one in found):
                self._require_an_answer()
            return found
        middle = len(texts) // 2
        return [
            *self._outcomes(texts[:middle], asked_probe=True),
            *self._outcomes(texts[middle:], asked_probe=True),
        ]

    def _require_an_answer(self) -> None:
        """Raise if the embedder refuses whatever it is sent: then no text is to blame."""
        (outcome,) = self._vectors([PROBE])
        if isinstance(outcome, EmbeddingError):
            outcome.text_at_fault = False
            raise outcome

    def _vectors(self, texts: list[str]) -> list[FloatArray | EmbeddingError]:
        what = f"{len(texts)} text{'s' if len(texts) > 1 else ''}"
        return self._checked(
            self._ask(lambda: self.embeddings.embed_documents(list(texts)), what), texts
        )

    def _ask(self, call: Callable[[], Any], what: str) -> Any:
        """Return the answer of a call, made again while that may help."""
        started = self._monotonic()
        for attempt in range(1, self._retries.attempts + 1):
            try:
                return call()
            except (ConfigurationError, MissingDependencyError):
                raise
            except Exception as error:
                elapsed = self._monotonic() - started
                wait = self._retries.wait_seconds(error, attempt, elapsed)
                if wait is None:
                    raise self._failure(error, what, attempt) from error
                kind = type(error).__name__
                logger.debug("%s failed (%s), retry in %.1f s", self.name, kind, wait)
            self._sleep(wait)
        raise AssertionError("the last attempt returns or raises")

    def _failure(self, error: Exception, what: str, attempt: int) -> EmbeddingError:
        status = status_of(error)
        told = f", status {status}" if status else ""
        tries = f" after {attempt} tries" if attempt > 1 else ""
        todo = advice(error, name=self.name, address=address_of(self.embeddings))
        return EmbeddingError(
            f"{self.name} could not embed {what}{tries} ({type(error).__name__}{told}). {todo}",
            retryable=is_transient(error),
        )

    def _checked(self, answer: Any, texts: list[str]) -> list[FloatArray | EmbeddingError]:
        """Return the unit vector of each text, or what is wrong with it."""
        matrix = as_matrix(answer, len(texts), name=self.name)
        expected = self._dimension or matrix.shape[1]
        if matrix.shape[1] != expected:
            raise EmbeddingError(
                f"{self.name} returned vectors of {matrix.shape[1]} numbers, and {expected} "
                "before. The model behind that name has changed: open the engine again."
            )
        self._dimension = expected
        return unit_vectors(matrix, texts, name=self.name)

    def _blank(self, index: int) -> EmbeddingError:
        return EmbeddingError(
            f"{self.name} was asked to embed text {index}, which is blank. Skip blank texts."
        )


def _read_only(outcome: FloatArray | EmbeddingError) -> FloatArray:
    """Return a vector that callers share through a cache; raise an error in its place."""
    if isinstance(outcome, EmbeddingError):
        raise outcome
    outcome.setflags(write=False)
    return outcome
