"""Every exception the engine raises on purpose.

```
MemEngineError
├── ConfigurationError (ValueError)          a setting, argument or file layout that cannot work
├── MissingDependencyError (ImportError)     an optional package is not installed
├── StorageError                             the database or the index folder failed
│   ├── SchemaVersionError                   the database was written by a newer release
│   ├── NotFoundError (KeyError)             the named row does not exist
│   ├── UnknownCommitError                   a head names no memory commit of its thread
│   ├── StoreBusyError                       another process kept the write lock too long
│   ├── StoreUnreachableError                the database server does not answer, or broke off
│   ├── StoreLockedError                     another process maintains the derived indexes
│   ├── StorageFullError                     the disk is full; what was acknowledged is kept
│   └── ReadOnlyError                        the memory was opened to be read only
├── ScopeError (PermissionError)             the actor may not write there
├── ChatModelError                           a chat model failed or its reply cannot be used
│   └── ExtractionError                      its reply is not of the shape it was asked for
├── EmbeddingError                           an embedder failed or answered nonsense
│   └── EmbeddingModelChangedError           the store was indexed with another model
└── JobError                                 a job cannot be done, however often it is tried
    └── UnknownJobKindError                  no release up to this one has such jobs
```

Each message says what happened, to what, and what to do; the data is kept as attributes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class MemEngineError(Exception):
    """Base of every error raised on purpose by this package.

    It can be pickled, with its data, so that a worker process may raise it.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        """Return what makes the error anew; Python would call a constructor with the message."""
        return _made_anew, (type(self), self.args), self.__dict__


class ConfigurationError(MemEngineError, ValueError):
    """A setting, an argument or the folder it points at cannot work."""


class MissingDependencyError(MemEngineError, ImportError):
    """An optional package is needed and not installed."""

    def __init__(self, package: str, *, extra: str, needed_for: str) -> None:
        self.package = package
        self.extra = extra
        super().__init__(
            f"{needed_for} needs the package {package!r}, which is not installed. "
            f"Run: pip install 'langchain-memengine[{extra}]'"
        )


class StorageError(MemEngineError):
    """The database or the folder of derived indexes failed."""


class SchemaVersionError(StorageError):
    """The database was written by a newer release of this package."""

    def __init__(self, unknown: list[str]) -> None:
        self.unknown = unknown
        super().__init__(
            f"The database has migrations this release does not know: {', '.join(unknown)}. "
            "Upgrade langchain-memengine, or open a database written by this release."
        )


class NotFoundError(StorageError, KeyError):
    """The named row does not exist, or not for this actor."""

    def __str__(self) -> str:
        """Return the message as it is (``KeyError`` would show its repr)."""
        return str(self.args[0]) if self.args else ""


class UnknownCommitError(StorageError):
    """A head names a memory commit that the thread does not have in this store."""

    def __init__(self, commit_id: str, thread_id: str | None = None) -> None:
        self.commit_id = commit_id
        self.thread_id = thread_id
        whose = "" if thread_id is None else f" of the thread {thread_id!r}"
        super().__init__(
            f"The head names {commit_id!r}, which is no memory commit{whose} in this store. Pass "
            "the `memory_head` of the same thread's state, and open the store that wrote it."
        )


class StoreBusyError(StorageError):
    """Another process held the database's write lock for too long."""


class StoreUnreachableError(StorageError):
    """The database server does not answer, or broke off. The engine connects anew by itself."""


class StoreLockedError(StorageError):
    """Another process maintains the derived indexes of this store."""


class StorageFullError(StorageError):
    """The disk is full. Everything acknowledged before is kept."""


class ReadOnlyError(StorageError):
    """The memory was opened to be read only."""

    def __init__(self) -> None:
        super().__init__(
            "This memory was opened with read_only=True; nothing was changed. Open it for writing."
        )


class ScopeError(MemEngineError, PermissionError):
    """The actor may not write to this scope."""


class ChatModelError(MemEngineError):
    """A chat model failed, refused, or its reply cannot be used.

    Attributes:
        retryable: Whether the same call may succeed later (time-outs, 429, 5xx).
    """

    def __init__(self, message: str, *, retryable: bool = False) -> None:
        self.retryable = retryable
        super().__init__(message)


class ExtractionError(ChatModelError):
    """A chat model's reply is not of the shape it was asked for, even after it was told so."""


class EmbeddingError(MemEngineError):
    """An embedder failed, or its answer cannot be used.

    Attributes:
        retryable: Whether the same call may succeed later (time-outs, 429, 5xx).
        text_at_fault: Whether the embedder answers other texts, only not this one.
    """

    def __init__(
        self, message: str, *, retryable: bool = False, text_at_fault: bool = False
    ) -> None:
        self.retryable = retryable
        self.text_at_fault = text_at_fault
        super().__init__(message)


class EmbeddingModelChangedError(EmbeddingError):
    """The store was indexed with another embedding model."""

    def __init__(self, *, stored: str, current: str) -> None:
        self.stored = stored
        self.current = current
        super().__init__(
            f"This store was indexed with the embedding model {stored!r}; the current one is "
            f"{current!r}. Call engine.reembed() (or `memengine sync --reembed`) to embed the "
            "stored texts with the current model; until then searches use keywords only."
        )


class JobError(MemEngineError):
    """A job cannot be done, or not be changed as asked; trying again does not help."""


class UnknownJobKindError(JobError):
    """A job was put that no worker of this release would ever take."""

    def __init__(self, kind: str, known: Sequence[str]) -> None:
        self.kind = kind
        self.known = tuple(known)
        super().__init__(f"There are no jobs of kind {kind!r}. Use one of: {', '.join(known)}.")


def _made_anew(kind: type[MemEngineError], arguments: tuple[Any, ...]) -> MemEngineError:
    error = kind.__new__(kind)
    error.args = arguments
    return error
