"""What all nodes of a graph share: the frame around what they do."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForChainRun, CallbackManagerForChainRun
from langchain_core.runnables import Runnable, RunnableConfig


class StateNode(Runnable[Any, dict[str, Any]]):
    """A node that takes a graph's state and returns its update, with and without blocking.

    A subclass also has a ``__call__``: LangGraph reads from its annotations which state a node
    works on.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def invoke(
        self,
        input: Any,  # noqa: A002  # LangChain's signature
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Return the update of the state."""
        return self._call_with_config(self._traced, input, config, **kwargs)

    async def ainvoke(
        self,
        input: Any,  # noqa: A002  # LangChain's signature
        config: RunnableConfig | None = None,
        **kwargs: Any,
    ) -> dict[str, Any]:
        """Return the update of the state without blocking."""
        return await self._acall_with_config(self._atraced, input, config, **kwargs)

    def _traced(
        self,
        state: Any,
        run_manager: CallbackManagerForChainRun,  # noqa: ARG002  # asks for a config that traces
        config: RunnableConfig,
    ) -> dict[str, Any]:
        return self._run(state, config)

    async def _atraced(
        self,
        state: Any,
        run_manager: AsyncCallbackManagerForChainRun,  # noqa: ARG002  # the same
        config: RunnableConfig,
    ) -> dict[str, Any]:
        return await self._arun(state, config)

    @abstractmethod
    def _run(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        """Return the update; the config traces to the node's own run."""

    @abstractmethod
    async def _arun(self, state: Any, config: RunnableConfig) -> dict[str, Any]:
        """Return the update without blocking."""
