"""The id of a workspace: only who holds it may remove rows of its files."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from uuid import uuid4

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.workspace.files import UnreadableFileError, read_text, update_text
from langchain_memengine.workspace.layout import Layout

WORKSPACE_ID = "workspace-id"
"""File of the state folder that holds the id."""


def workspace_id(
    root: Path, *, known: Callable[[], Iterable[str]] = tuple, read_only: bool = False
) -> str:
    """Return the id of the workspace, 32 hexadecimal digits; the first caller creates it.

    Args:
        root: Folder of the workspace.
        known: Returns what its files may be known by, should the folder have lost its id; the first
            that is one becomes it again.
        read_only: Write none.

    Raises:
        ConfigurationError: The id file holds something else.
        StorageError: There is none and it cannot be written.
    """
    state = Layout(root).state_dir
    path = state / WORKSPACE_ID
    text = _text_of(path)
    if not text.strip():
        made = next(filter(is_workspace_id, known()), uuid4().hex)
        if read_only:
            return made
        text = update_text(
            path,
            lambda old: old if old.strip() else f"{made}\n",
            lock=state / f"{WORKSPACE_ID}.lock",
        )
    found = text.strip()
    if not is_workspace_id(found):
        raise ConfigurationError(
            f"{path} holds no workspace id. Restore it from a backup, or remove it: the next "
            "engine writes the one that the folder's database knows."
        )
    return found


def is_workspace_id(text: str) -> bool:
    """Return whether a text can be the id of a workspace; named folders have others."""
    return re.fullmatch(r"[0-9a-f]{32}", text) is not None


def _text_of(path: Path) -> str:
    try:
        return read_text(path.parent, path.name, None).text
    except UnreadableFileError as error:
        if error.gone:
            return ""
        raise
