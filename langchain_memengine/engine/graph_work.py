"""Let the graph follow the memory: what is queued for it, and who does it."""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from typing import TYPE_CHECKING

from langchain_memengine.engine.parts import EngineParts
from langchain_memengine.errors import ConfigurationError, StorageError
from langchain_memengine.storage.job_values import Effect, Handler, Job, JobContext

if TYPE_CHECKING:
    from langchain_memengine.graph.background import GraphExtract, GraphSync


logger = logging.getLogger(__name__)


class GraphWork(EngineParts):
    """The chapter of the engine about the graph as it follows the memory."""

    def _tell_graph(self) -> None:
        """Let the graph forget what deleted memories told, and read new ones if it is to.

        If that fails, the next question or the next change does it.
        """
        self._forget_in_graph()
        if self.config.graph_learning == "all":
            with _logged():
                self.graph.queue_sync()

    def _tell_graph_of_release(self) -> None:
        """Let the graph read what was to be read while it was quarantined."""
        with _logged():
            self.graph.queue_released()

    def _forget_in_graph(self) -> None:
        """Forget what deleted memories told; if that fails, the next question does it."""
        with _logged():
            self.graph.sync()

    def _chapter_handlers(self) -> Mapping[str, Handler]:
        handlers = {**super()._chapter_handlers(), "graph_sync": self._sync_graph}
        if self._chat_model is not None:
            handlers["graph_extract"] = self._extract_graph
        return handlers

    def _sync_graph(self, job: Job, context: JobContext) -> Effect | None:
        return self._graph_sync(job, context)

    def _extract_graph(self, job: Job, context: JobContext) -> Effect | None:
        return self._graph_extract(job, context)

    # Made when the first job needs them, for the same reason as the handlers of facts.

    @cached_property
    def _graph_sync(self) -> GraphSync:
        from langchain_memengine.graph.background import GraphSync

        reads_all = self.config.graph_learning == "all"
        return GraphSync(self._database, self.graph, reads_all=reads_all)

    @cached_property
    def _graph_extract(self) -> GraphExtract:
        from langchain_memengine.graph.asking import told_extractor
        from langchain_memengine.graph.background import GraphExtract
        from langchain_memengine.graph.reading import TextReader
        from langchain_memengine.models.chat_providers import make_chat_model

        if self._chat_model is None:
            raise ConfigurationError("There is no chat model. Open the engine with one.")
        extractor = told_extractor(make_chat_model(self._chat_model))
        return GraphExtract(self._database, TextReader(self.graph, extractor))


@contextmanager
def _logged() -> Iterator[None]:
    try:
        yield
    except StorageError as error:
        logger.warning("the graph was not brought up to date: %s", error)
