"""What an agent is told from memory in one turn: asked once, within its time, and never stored."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Mapping
from typing import Any

from langgraph.config import get_config

from langchain_memengine.conversation.thread import Thread, messages_of
from langchain_memengine.conversation.transcript import is_human, newest_human
from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.faces.running import actor_named, head_in
from langchain_memengine.faces.timed_recall import Asked, TimedRecall, TurnMemory

_KEPT_TURNS = 256

TurnKey = tuple[str, str, str, str]


class TurnRecall:
    """Recalls once a turn; a memory that fails or is slow costs the turn nothing but itself.

    Args:
        engine: The memory; says who asks.
        recall: Asks it.
    """

    def __init__(self, engine: MemoryEngine, recall: TimedRecall) -> None:
        self._engine = engine
        self._recall = recall
        self._kept: OrderedDict[TurnKey, tuple[int, TurnMemory]] = OrderedDict()
        self._lock = threading.Lock()

    def begin(self, state: Mapping[str, Any], thread: Thread) -> TurnMemory:
        """Recall for a turn that begins."""
        key, taken_back = _key(state, thread), self._engine.taken_back
        return self._keep(key, taken_back, self._recall.recall(self._asked(key, thread)))

    async def abegin(self, state: Mapping[str, Any], thread: Thread) -> TurnMemory:
        """Recall without blocking the event loop, see :meth:`begin`."""
        key, taken_back = _key(state, thread), self._engine.taken_back
        return self._keep(key, taken_back, await self._recall.arecall(self._asked(key, thread)))

    def current(self, state: Mapping[str, Any], thread: Thread) -> TurnMemory:
        """Return what the turn was told.

        A turn recalls again in another process, and when memory was forgotten or set aside since.
        """
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

    def _asked(self, key: TurnKey, thread: Thread) -> Asked:
        actor = actor_named(self._engine, thread.user_id)
        if not thread.is_named:  # there is no other branch of it
            return Asked(key[-1], actor, None, None)
        head = head_in({"memory_head": thread.head}, get_config(), is_private=True)
        return Asked(key[-1], actor, thread.thread_id, head)

    def _known(self, key: TurnKey) -> TurnMemory | None:
        with self._lock:
            taken_back, found = self._kept.get(key, (0, None))
        return found if taken_back == self._engine.taken_back else None

    def _keep(self, key: TurnKey, taken_back: int, found: TurnMemory) -> TurnMemory:
        with self._lock:
            self._kept[key] = taken_back, found
            self._kept.move_to_end(key)
            while len(self._kept) > _KEPT_TURNS:
                self._kept.popitem(last=False)
        return found


def turn_begins(state: Mapping[str, Any]) -> bool:
    """Return whether a person spoke last, so that nothing is done about it yet."""
    messages = messages_of(state)
    return bool(messages) and is_human(messages[-1])


def _key(state: Mapping[str, Any], thread: Thread) -> TurnKey:
    """Return what a turn is known by: thread, user, id and text of the newest human message."""
    said = newest_human(messages_of(state))
    return (
        thread.thread_id,
        thread.user_id,
        str(said.id) if said else "",
        str(said.text) if said else "",
    )
