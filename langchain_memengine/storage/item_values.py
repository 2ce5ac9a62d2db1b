"""An item of a store, and how its namespace and key become rows and sources."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from langchain_memengine.text.digests import digest

Namespace = tuple[str, ...]

ITEM_PREFIX = "store:"
"""What the source URIs of items begin with."""

_HASH_CHARS = 32


@dataclass(frozen=True, slots=True)
class StoredItem:
    """A value under a namespace and a key.

    Attributes:
        namespace: Labels from the root down.
        key: Its name there.
        value: A JSON mapping.
        indexed: Whether texts of it can be searched.
        created_at: When there was no such item before (aware UTC).
        updated_at: When it was last put.
        ttl: Time it is kept after it was last put or read; ``None`` for ever.
        expires_at: Not returned from this time on, if set.
    """

    namespace: Namespace
    key: str
    value: Mapping[str, Any]
    indexed: bool
    created_at: datetime
    updated_at: datetime
    ttl: timedelta | None = None
    expires_at: datetime | None = None

    @property
    def source(self) -> str:
        """Source URI of its chunks, and its identity."""
        return source_of(self.namespace, self.key)


def root_of(namespace: Sequence[str]) -> str:
    """Return which root a namespace is under: a hash of its first label, ``""`` for none."""
    return _hash(namespace[0]) if namespace else ""


def source_prefix(namespace: Sequence[str]) -> str:
    """Return what the source URIs of all items in and under a namespace begin with."""
    return ITEM_PREFIX + "".join(f"{_hash(label)}/" for label in namespace)


def source_of(namespace: Sequence[str], key: str) -> str:
    """Return the source URI of an item; labels and keys of any characters have different ones."""
    return f"{source_prefix(namespace)}={_hash(key)}"


def path_of(namespace: Iterable[str]) -> str:
    """Return a namespace as text; that of one above it is a prefix of it, and of no other."""
    return "".join(f"{json.dumps(label)}," for label in namespace)


def namespace_of(path: str) -> Namespace:
    """Return the namespace that :func:`path_of` made a text of."""
    return tuple(json.loads(f"[{path.removesuffix(',')}]"))


def _hash(label: str) -> str:
    return digest(json.dumps(label))[:_HASH_CHARS]
