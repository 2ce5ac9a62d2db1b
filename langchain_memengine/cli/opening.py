"""Open the memory a command works on."""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from langchain_memengine.cli import options
from langchain_memengine.cli.failing import usage_error
from langchain_memengine.cli.terminal import bar, complain
from langchain_memengine.errors import MemEngineError, ReadOnlyError, StorageError

if TYPE_CHECKING:
    from langchain_memengine.engine.memory_engine import MemoryEngine


def require_folder(root: Path) -> Path:
    """Return the folder of a memory that is there.

    Raises:
        UsageProblem: It is not there, or is a file.
    """
    root = root.expanduser()
    name = shlex.quote(str(root))
    if not root.exists():
        usage_error(f"There is no memory at {name}. Run: memengine init {name}")
    if not root.is_dir():
        usage_error(f"{name} is a file, not a folder. Name the folder of a memory with --root DIR.")
    return root


@contextmanager
def opened(root: Path, embeddings: str | None, **settings: Any) -> Iterator[MemoryEngine]:
    """Open the engine of a root that exists, without indexing anything yet.

    Args:
        root: Folder of the memory.
        embeddings: The embedder, ``None`` as the settings say.
        **settings: Others that the command decides.

    Raises:
        UsageProblem: The root is not there, or is a file.
        ConfigurationError: A setting cannot work.
        StorageError: The database cannot be opened, or what is done must write where nobody may.
    """
    folder = require_folder(root)
    from langchain_memengine.config import load_config
    from langchain_memengine.engine.memory_engine import MemoryEngine

    if embeddings is not None:
        settings["embeddings"] = embeddings
    # A command ends before a thread gets anywhere: jobs are for `memengine worker`.
    config = load_config(folder, sync_on_open=False, worker="off", **settings)
    read_only = may_only_be_read(folder)
    try:
        with MemoryEngine.open(folder, config=config, read_only=read_only) as engine:
            yield engine
    except ReadOnlyError as error:
        raise StorageError(
            f"{folder} may not be written; nothing was changed. Let this user write to it and to "
            "the folder .memengine in it, or mount the file system for writing."
        ) from error


@contextmanager
def opened_fresh(
    root: Path, embeddings: str | None
) -> Iterator[tuple[MemoryEngine, tuple[str, ...]]]:
    """Open the engine and index what changed, with a progress bar; yields it with the problems.

    What cannot be indexed does not keep the rest from being searched.

    Raises:
        UsageProblem: The root is not there, or is a file.
        ConfigurationError: A setting cannot work.
        StorageError: The database cannot be opened.
    """
    with opened(root, embeddings) as engine:
        if engine.read_only:
            told = f"{engine.root} may not be written: it is read as it is, nothing new is indexed."
            warn((told,))
        is_due = engine.config.sync_on_search and not engine.read_only
        yield engine, index_changes(engine) if is_due else ()


def may_only_be_read(folder: Path) -> bool:
    """Return whether there is a memory, as on a mounted image, where this user may not write."""
    from langchain_memengine.workspace.layout import Layout

    state = Layout(folder).state_dir
    return state.is_dir() and not os.access(state, os.W_OK)


def blank_advice(root: Path) -> str:
    """Return what to do about a memory in which nothing can be found."""
    at = options.root_option(root)
    return (
        f"The memory at {shlex.quote(str(root))} is empty. "
        f'Add something: memengine add "Deploys happen on Tuesdays."{at}'
    )


def index_changes(engine: MemoryEngine) -> tuple[str, ...]:
    """Index what changed, with a progress bar, and return the problems in words."""
    try:
        with bar("Indexing") as progress:
            report = engine.sync(progress=progress or False)
    except MemEngineError as error:
        return (f"sync: {error}",)
    return tuple(f"sync: {problem.path}: {problem.reason}" for problem in report.failed)


def warn(problems: tuple[str, ...]) -> None:
    """Print each problem once, as a warning."""
    for problem in dict.fromkeys(problems):
        complain("warning", problem)
