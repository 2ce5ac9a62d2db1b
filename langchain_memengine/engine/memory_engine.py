"""The engine as applications see it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from langchain_memengine.answers import Stats
from langchain_memengine.config import MemEngineConfig, changed_config, load_config
from langchain_memengine.engine.background import BackgroundWork
from langchain_memengine.engine.consolidating import Consolidating
from langchain_memengine.engine.document_keeping import DocumentKeeping
from langchain_memengine.engine.experiencing import Experiencing
from langchain_memengine.engine.exporting import Exporting
from langchain_memengine.engine.forgetting import Forgetting
from langchain_memengine.engine.importing import Importing
from langchain_memengine.engine.item_keeping import ItemKeeping
from langchain_memengine.engine.learning import Learning
from langchain_memengine.engine.maintaining import Maintaining
from langchain_memengine.engine.note_keeping import NoteKeeping
from langchain_memengine.engine.parts import utc_now
from langchain_memengine.engine.quarantining import Quarantining
from langchain_memengine.engine.vacuuming import Vacuuming
from langchain_memengine.engine.watching import Watching
from langchain_memengine.jobs.worker import OnJobFailed
from langchain_memengine.models.embedding import EmbeddingsLike
from langchain_memengine.storage import chunks, files
from langchain_memengine.storage import embeddings as embedding_rows
from langchain_memengine.types import LOCAL_ADMIN, Actor

if TYPE_CHECKING:
    from langchain_memengine.models.asking import ChatModel

CONFIGURED = "configured"
"""Stands for "as the settings say"."""


class MemoryEngine(
    Learning,
    Consolidating,
    Quarantining,
    Forgetting,
    Vacuuming,
    Importing,
    Exporting,
    DocumentKeeping,
    NoteKeeping,
    Experiencing,
    ItemKeeping,
    BackgroundWork,
    Maintaining,
    Watching,
):
    """The memory of one store: its files, its texts, and the search over them.

    Make one with :meth:`open`, or by calling the class, and close it, best as a context manager:

    ```python
    with MemoryEngine.open("memory") as engine:
        engine.add_texts(["Deploys happen on Tuesdays."])
        print(engine.search("when do we deploy?").hits[0])
    ```

    Threads may share an engine. ``async with`` and the methods named ``a…`` do the same work
    without blocking the event loop.
    """

    def __init__(  # noqa: PLR0913  # every argument is a choice of the user's
        self,
        root: str | Path | None = "memory",
        config: MemEngineConfig | None = None,
        *,
        database_url: str | None = None,
        chroma_url: str | None = None,
        embeddings: EmbeddingsLike | str | None = CONFIGURED,
        chat_model: ChatModel | str | None = CONFIGURED,
        actor: Actor = LOCAL_ADMIN,
        read_only: bool = False,
        watch: bool = False,
        clock: Callable[[], datetime] = utc_now,
        on_job_failed: OnJobFailed | None = None,
    ) -> None:
        """Open a store as :meth:`open` does, with two more choices: who asks, and what time it is.

        Args:
            root: As for :meth:`open`, and so are all others that are not named here.
            config: All settings.
            database_url: SQLAlchemy URL.
            chroma_url: Address of a Chroma server.
            embeddings: Any LangChain ``Embeddings``, or the name of an embedder.
            chat_model: What learns from conversations in the background.
            actor: Who calls, when a call names nobody; default: the one local user, an admin.
            read_only: Never write.
            watch: Index files that change by themselves.
            clock: Tells the time now, aware, in UTC.
            on_job_failed: Called with each job that is given up.
        """
        folder = None if root is None else Path(root).expanduser()
        given = {"database_url": database_url, "chroma_url": chroma_url}
        settings = changed_config(
            config or load_config(folder),
            **{name: url for name, url in given.items() if url is not None},
        )
        super().__init__(
            folder,
            settings,
            embeddings=settings.embeddings if embeddings is CONFIGURED else embeddings,
            chat_model=settings.chat_model if chat_model is CONFIGURED else chat_model,
            actor=actor,
            read_only=read_only,
            clock=clock,
            on_job_failed=on_job_failed,
        )
        try:
            if settings.sync_on_open and not read_only:
                self.sync()
            self._resume_jobs()
            if watch:
                self.start_watching()
        except BaseException:  # Ctrl+C in a long sync, too, gives back the lock and the database
            self.close()
            raise

    @classmethod
    def open(  # noqa: PLR0913  # every argument is a choice of the user's
        cls,
        root: str | Path | None = "memory",
        *,
        config: MemEngineConfig | None = None,
        database_url: str | None = None,
        chroma_url: str | None = None,
        embeddings: EmbeddingsLike | str | None = CONFIGURED,
        chat_model: ChatModel | str | None = CONFIGURED,
        read_only: bool = False,
        watch: bool = False,
        on_job_failed: OnJobFailed | None = None,
    ) -> Self:
        """Open a store, make it if there is none, and index what changed in its files.

        Args:
            root: Folder of Markdown files; ``None`` for a store without a folder.
            config: All settings; default: ``MEMENGINE_*`` variables over ``memengine.toml`` in
                the root over the defaults.
            database_url: SQLAlchemy URL; default: SQLite in the root, in memory without one.
            chroma_url: Address of a Chroma server; default: a folder in the root.
            embeddings: Any LangChain ``Embeddings``, or ``"local"``, ``"local:minilm"``,
                ``"openai:MODEL"``, ``"google_genai:MODEL"``, ``"ollama:MODEL"``; ``None`` searches
                by keyword only. By default the settings decide, and they default to ``"local"``.
            chat_model: What learns from conversations in the background: any LangChain chat model
                or Runnable, or ``"openai:MODEL"``, ``"google_genai:MODEL"``, ``"ollama:MODEL"``;
                without one that work waits. By default the settings decide, and they name none.
            read_only: Never write, neither rows nor files.
            watch: Index files that change by themselves, in a thread, until closed; see
                :meth:`start_watching`.
            on_job_failed: Called with each job that is given up and its error, by the thread that
                does the jobs.

        Raises:
            ConfigurationError: A setting cannot work, or ``root`` is no folder.
            SchemaVersionError: A newer release wrote the database.
            StorageError: The database cannot be opened.
        """
        return cls(
            root,
            config,
            database_url=database_url,
            chroma_url=chroma_url,
            embeddings=embeddings,
            chat_model=chat_model,
            read_only=read_only,
            watch=watch,
            on_job_failed=on_job_failed,
        )

    def stats(self) -> Stats:
        """Return how much is stored, over all users."""
        with self._database.read() as tx:
            model = self._embedding.model(tx)
            return Stats(
                files=files.count(tx),
                chunks=chunks.count(tx),
                embeddings=embedding_rows.count_chunks(tx, model) if model else 0,
                embedding_model=self._embedding.name,
                change_counter=tx.counters().changes,
                refused=embedding_rows.count_zeros(tx, model) if model else 0,
                **self._job_counts(tx),
            )

    def __enter__(self) -> Self:
        """Return the engine; it closes at the end of the block."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the engine."""
        self.close()

    async def __aenter__(self) -> Self:
        """Return the engine; it closes at the end of the block."""
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Close the engine without blocking the event loop."""
        await asyncio.to_thread(self.close)
