"""The engine as a store of LangGraph."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import timedelta
from typing import Any

from langgraph.store.base import (
    BaseStore,
    GetOp,
    Item,
    ListNamespacesOp,
    MatchCondition,
    Op,
    PutOp,
    Result,
    SearchItem,
    SearchOp,
    TTLConfig,
)
from langgraph.store.base.embed import get_text_at_path

from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.given import whole
from langchain_memengine.retrieval.item_search import Wanted
from langchain_memengine.retrieval.items import NewItem
from langchain_memengine.storage.item_values import Namespace, StoredItem

WHOLE = "$"
"""Path of a whole value."""


class MemEngineStore(BaseStore):
    """A persistent store for LangGraph with hybrid search, in the place of ``InMemoryStore``.

    ```python
    store = MemEngineStore(engine, fields=["text"])
    store.put(("memories", "ann"), "1", {"text": "Ann likes tea."})
    store.search(("memories", "ann"), query="hot drinks")
    agent = create_agent(model, tools, store=store)
    ```

    Items are found by words and by meaning together. They are the application's: no actor's search
    of the engine returns them, and who may see which namespace is for the application to decide.
    Best put what separates users into the first label, which has an index of its own.

    A query orders items and leaves none out. Those it cannot be compared with come last, with the
    score ``None``: they are not indexed, or have neither an embedding nor a word of the query.
    Other scores say only which item is before which in one search.

    An item with a time to live is not returned from the moment it expires; writes remove the
    expired ones, and :meth:`sweep_ttl` does.

    Args:
        engine: Where the items are kept; its embedder and its ranking search them.
        fields: Paths of what is searched in a value: ``"text"``, ``"a.b"``, ``"a[*].c"``; default:
            all of it. ``put`` can say otherwise for one item.
        ttl: Time to live by default, and whether reading starts it anew.
    """

    supports_ttl = True

    def __init__(
        self,
        engine: MemoryEngine,
        *,
        fields: Sequence[str] | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        if isinstance(fields, str):
            raise ConfigurationError(f"fields={fields!r} is a single text. Pass [{fields!r}].")
        self.ttl_config = ttl
        self._items = engine.items
        self._fields = tuple(fields or (WHOLE,))

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations and return their results: first all that read, then all that write.

        Raises:
            ConfigurationError: A value is no JSON, or an operation cannot work; nothing is stored.
            StorageError: The database failed; nothing is stored.
        """
        ops = list(ops)
        new = [self._new(op) for op in ops if isinstance(op, PutOp)]
        results = [self._answer(op) for op in ops]
        if new:
            self._items.put(new)
        return results

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Do operations without blocking the event loop, see :meth:`batch`."""
        return await asyncio.to_thread(self.batch, ops)

    def sweep_ttl(self) -> int:
        """Remove expired items; return how many there were."""
        return self._items.sweep()

    def _answer(self, op: Op) -> Result:
        match op:
            case PutOp():
                return None
            case GetOp():
                return self._get(op)
            case SearchOp():
                return self._search(op)
            case ListNamespacesOp():
                return self._list(op)
        raise ConfigurationError(f"{type(op).__name__} is no operation of a store.")

    def _get(self, op: GetOp) -> Item | None:
        (found,) = self._items.get([(tuple(op.namespace), op.key)])
        if found is None:
            return None
        if op.refresh_ttl:
            self._items.refresh([found])
        return Item(**_fields_of(found))

    def _search(self, op: SearchOp) -> list[SearchItem]:
        _require_page(op.limit, op.offset)
        wanted = Wanted(
            tuple(op.namespace_prefix), op.query or "", op.filter or {}, op.limit, op.offset
        )
        found = self._items.search(wanted)
        if op.refresh_ttl:
            self._items.refresh([item for item, _ in found])
        return [SearchItem(**_fields_of(item), score=score) for item, score in found]

    def _list(self, op: ListNamespacesOp) -> list[Namespace]:
        _require_page(op.limit, op.offset)
        found = [
            namespace[: op.max_depth]
            for namespace in self._items.namespaces()
            if all(_fits(namespace, condition) for condition in op.match_conditions or ())
        ]
        return list(dict.fromkeys(found))[op.offset : op.offset + op.limit]

    def _new(self, op: PutOp) -> NewItem:
        namespace = tuple(op.namespace)
        if op.value is None:
            return NewItem(namespace, op.key, None)
        value = _as_json(op)
        return NewItem(namespace, op.key, value, self._texts(op, value), _ttl(op))

    def _texts(self, op: PutOp, value: Mapping[str, Any]) -> list[str]:
        """Return what of a value is searched."""
        if op.index is False:
            return []
        texts: list[str] = []
        for path in self._fields if op.index is None else op.index:
            texts += [readable(value)] if path == WHOLE else get_text_at_path(value, path)
        return [text for text in texts if text.strip()]


def readable(value: Any, path: str = "") -> str:
    """Return a JSON value as lines of ``path: text``, which read better than JSON's quotes."""
    if isinstance(value, Mapping):
        parts = [readable(inner, f"{path}.{key}".lstrip(".")) for key, inner in value.items()]
    elif isinstance(value, list):
        parts = [readable(inner, path) for inner in value]
    elif value is None:
        parts = []
    else:
        parts = [f"{path}: {value}"]
    return "\n".join(part for part in parts if part)


def _fields_of(item: StoredItem) -> dict[str, Any]:
    return {
        "namespace": item.namespace,
        "key": item.key,
        "value": dict(item.value),
        "created_at": item.created_at,
        "updated_at": item.updated_at,
    }


def _as_json(op: PutOp) -> dict[str, Any]:
    """Return a value as it will come back: tuples are lists then.

    Raises:
        ConfigurationError: It is no mapping of JSON values.
    """
    try:
        value: dict[str, Any] = json.loads(json.dumps(dict(op.value or {})))
    except (TypeError, ValueError, RecursionError) as error:
        raise ConfigurationError(
            f"The value for the key {op.key!r} cannot be stored: {error}. "
            "Use a mapping of texts, numbers, booleans, None, lists and mappings of them."
        ) from error
    return value


def _ttl(op: PutOp) -> timedelta | None:
    if op.ttl is None:
        return None
    try:
        ttl = timedelta(minutes=op.ttl)
    except (OverflowError, ValueError) as error:
        raise ConfigurationError(f"ttl={op.ttl} minutes cannot be counted: {error}.") from error
    if ttl < timedelta():
        raise ConfigurationError(f"ttl={op.ttl} minutes must not be negative.")
    return ttl


def _require_page(limit: int, offset: int) -> None:
    whole("limit", limit)
    whole("offset", offset)


def _fits(namespace: Namespace, condition: MatchCondition) -> bool:
    """Return whether a namespace begins, or ends, with a path; ``*`` stands for any one label."""
    path = condition.path
    if len(namespace) < len(path):
        return False
    if condition.match_type == "prefix":
        compared = namespace[: len(path)]
    elif condition.match_type == "suffix":
        compared = namespace[len(namespace) - len(path) :]
    else:
        raise ConfigurationError(
            f"{condition.match_type!r} is no way to match. Choose from: prefix, suffix."
        )
    return all(wanted in {"*", label} for label, wanted in zip(compared, path, strict=True))
