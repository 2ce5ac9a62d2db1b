"""A recall that a turn waits for so long and no longer, and that cannot make it fail."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property

from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.errors import ConfigurationError, MemEngineError
from langchain_memengine.given import whole
from langchain_memengine.retrieval.recall import Recalled
from langchain_memengine.types import Actor

logger = logging.getLogger(__name__)

RECALL_SECONDS = 2.0
"""How long a turn waits for its memories."""

_WORKERS = 4  # recalls at a time; while all of them hang, further ones run out of time in the queue


@dataclass(frozen=True, slots=True)
class TurnMemory:
    """What a turn is told.

    Attributes:
        fragment: Markdown for the system prompt, fenced as data; ``""`` when there is nothing.
        note: What made it poorer than asked, ``""`` if nothing did.
    """

    fragment: str = ""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Asked:
    """What a turn is about.

    Attributes:
        text: What was said.
        actor: By whom.
        thread_id: In which conversation, if in any.
        head: On which branch of it; ``None`` asks for no branch.
    """

    text: str
    actor: Actor
    thread_id: str | None
    head: str | None


class TimedRecall:
    """Recalls in a thread of its own; a memory that fails or is slow costs nothing but itself.

    Args:
        engine: The memory.
        k: Memories, at most; default: the ranking's own.
        max_tokens: Estimated tokens of all of them; 0 is unlimited.
        seconds: How long a turn waits for its memories.

    Raises:
        ConfigurationError: ``seconds`` is negative, or a number is none that a search takes.
    """

    def __init__(
        self, engine: MemoryEngine, *, k: int | None, max_tokens: int, seconds: float
    ) -> None:
        if seconds < 0:
            raise ConfigurationError(
                f"A turn cannot wait {seconds:g} seconds for its memories. Give 0 or more."
            )
        self._engine = engine
        self._k = None if k is None else whole("k", k)
        self._max_tokens = whole("max_tokens", max_tokens)
        self._seconds = seconds

    def recall(self, asked: Asked) -> TurnMemory:
        """Return what the turn is told."""
        try:
            future = self._submitted(asked)
            try:
                return _told(future.result(self._seconds))
            finally:
                future.cancel()  # what nobody waits for any more need not begin
        except Exception as error:  # noqa: BLE001  # no failure of a memory may cost the turn
            return self._failed(error)

    async def arecall(self, asked: Asked) -> TurnMemory:
        """Return what the turn is told without blocking the event loop."""
        try:
            future = asyncio.wrap_future(self._submitted(asked))
            return _told(await asyncio.wait_for(future, self._seconds))
        except Exception as error:  # noqa: BLE001  # the same
            return self._failed(error)

    def _submitted(self, asked: Asked) -> Future[Recalled]:
        return self._pool.submit(
            self._engine.recall,
            asked.text,
            self._k,
            actor=asked.actor,
            max_tokens=self._max_tokens,
            thread_id=asked.thread_id,
            head=asked.head,
        )

    @cached_property
    def _pool(self) -> ThreadPoolExecutor:
        return ThreadPoolExecutor(_WORKERS, thread_name_prefix="memengine-recall")

    def _failed(self, error: Exception) -> TurnMemory:
        if isinstance(error, TimeoutError):
            reason = f"it took longer than {self._seconds:g} s."
        elif isinstance(error, MemEngineError):
            reason = str(error)
        else:
            reason = f"{type(error).__name__}."
        return _noted(TurnMemory(note=f"Nothing was recalled: {reason}"))


def _told(recalled: Recalled) -> TurnMemory:
    note = " ".join(dict.fromkeys(recalled.degraded))
    return _noted(TurnMemory(recalled.prompt_fragment(), note))


def _noted(found: TurnMemory) -> TurnMemory:
    if found.note:
        logger.warning("recall: %s", found.note)
    return found
