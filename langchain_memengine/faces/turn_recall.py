"""What an agent is told from memory in one turn: asked once, within its time, and never stored."""

from __future__ import annotations

import asyncio
import logging
import threading
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from langchain_core.messages import BaseMessage

from langchain_memengine.conversation.thread import Thread, messages_of
from langchain_memengine.conversation.transcript import is_human
from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.errors import ConfigurationError, MemEngineError
from langchain_memengine.faces.running import actor_named
from langchain_memengine.retrieval.recall import Recalled

logger = logging.getLogger(__name__)

_KEPT_TURNS = 256
_WORKERS = 4  # recalls at a time; while all of them hang, further ones run out of time in the queue

TurnKey = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class TurnMemory:
    """What a turn is told.

    Attributes:
        fragment: Markdown for the system prompt, fenced as data; ``""`` when there is nothing.
        note: What made it poorer than asked, ``""`` if nothing did.
    """

    fragment: str = ""
    note: str = ""


class TurnRecall:
    """Recalls once a turn; a memory that fails or is slow costs the turn nothing but itself.

    Args:
        engine: The memory.
        k: Memories, at most; default: the ranking's own.
        max_tokens: Estimated tokens of all of them; 0 is unlimited.
        seconds: How long a turn waits for its memories.

    Raises:
        ConfigurationError: ``seconds`` is negative.
    """

    def __init__(
        self, engine: MemoryEngine, *, k: int | None, max_tokens: int, seconds: float
    ) -> None:
        if seconds < 0:
            raise ConfigurationError(f"recall_seconds={seconds:g} must not be negative.")
        self._engine = engine
        self._k = k
        self._max_tokens = max_tokens
        self._seconds = seconds
        self._kept: OrderedDict[TurnKey, TurnMemory] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, state: Mapping[str, Any], thread: Thread) -> TurnMemory:
        """Recall for a turn that begins."""
        key = _key(state, thread)
        future = self._submitted(key, thread)
        try:
            found = _told(future.result(self._seconds))
        except Exception as error:  # noqa: BLE001  # no failure of a memory may cost the turn
            future.cancel()
            found = self._failed(error)
        return self._keep(key, found)

    async def abegin(self, state: Mapping[str, Any], thread: Thread) -> TurnMemory:
        """Recall without blocking the event loop, see :meth:`begin`."""
        key = _key(state, thread)
        future = asyncio.wrap_future(self._submitted(key, thread))
        try:
            found = _told(await asyncio.wait_for(future, self._seconds))
        except Exception as error:  # noqa: BLE001  # the same
            found = self._failed(error)
        return self._keep(key, found)

    def current(self, state: Mapping[str, Any], thread: Thread) -> TurnMemory:
        """Return what the turn was told; a turn resumed in another process recalls again."""
        found = self._known(_key(state, thread))
        return self.begin(state, thread) if found is None else found

    async def acurrent(self, state: Mapping[str, Any], thread: Thread) -> TurnMemory:
        """Return what the turn was told without blocking, see :meth:`current`."""
        found = self._known(_key(state, thread))
        return await self.abegin(state, thread) if found is None else found

    def end(self, state: Mapping[str, Any], thread: Thread) -> None:
        """Forget what the turn was told."""
        with self._lock:
            self._kept.pop(_key(state, thread), None)

    def _submitted(self, key: TurnKey, thread: Thread) -> Future[Recalled]:
        return self._pool.submit(
            self._engine.recall,
            key[-1],
            self._k,
            actor=actor_named(self._engine, thread.user_id),
            max_tokens=self._max_tokens,
            thread_id=thread.thread_id,
            head=thread.head,
        )

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(_WORKERS, thread_name_prefix="memengine-recall")

    def _known(self, key: TurnKey) -> TurnMemory | None:
        with self._lock:
            return self._kept.get(key)

    def _keep(self, key: TurnKey, found: TurnMemory) -> TurnMemory:
        if found.note:
            logger.warning("recall: %s", found.note)
        with self._lock:
            self._kept[key] = found
            self._kept.move_to_end(key)
            while len(self._kept) > _KEPT_TURNS:
                self._kept.popitem(last=False)
        return found

    def _failed(self, error: Exception) -> TurnMemory:
        if isinstance(error, TimeoutError):
            reason = f"it took longer than {self._seconds:g} s."
        elif isinstance(error, MemEngineError):
            reason = str(error)
        else:
            reason = f"{type(error).__name__}."
        return TurnMemory(note=f"Nothing was recalled: {reason}")


def turn_begins(state: Mapping[str, Any]) -> bool:
    """Return whether a person spoke last, so that nothing is done about it yet."""
    messages = messages_of(state)
    return bool(messages) and is_human(messages[-1])


def _told(recalled: Recalled) -> TurnMemory:
    return TurnMemory(recalled.prompt_fragment(), " ".join(dict.fromkeys(recalled.degraded)))


def _key(state: Mapping[str, Any], thread: Thread) -> TurnKey:
    """Return what a turn is known by: thread, user, id and text of the newest human message."""
    said = _newest_human(messages_of(state))
    return (
        thread.thread_id,
        thread.user_id,
        str(said.id) if said else "",
        str(said.text) if said else "",
    )


def _newest_human(messages: Sequence[BaseMessage]) -> BaseMessage | None:
    return next((message for message in reversed(messages) if is_human(message)), None)
