"""Short pieces of use, and faults at the n-th step in them that others could see.

Such a step is a commit, a call that changes a folder, an fsync, or a change of Chroma. Where the
process ends between two of them makes no difference to anybody else.
"""

import io
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy.engine.default import DefaultDialect

from integration_tests.reliability.user import User
from langchain_memengine.retrieval import chroma_client

CHANGING = ("fsync", "replace", "rename", "unlink", "remove", "mkdir", "rmdir")
OPENING = ("open", "scandir")


@dataclass(frozen=True)
class Scenario:
    """What a user does.

    Attributes:
        run: Does it, with an engine that is open.
        is_new: Whether there is no store before, so that opening it is part of it.
        vector_search: Setting of the engine.
    """

    run: Callable[[User], None]
    is_new: bool = False
    vector_search: str = "exact"


def _first_text(user: User) -> None:
    user.put("1")
    user.engine.close()


def _texts(user: User) -> None:
    user.put("1", "2", "new")
    user.delete("2", "3")
    user.put_in_an_outage("4")
    user.search()
    user.do_jobs()


def _files(user: User) -> None:
    user.write_file("a.md")
    user.write_file("projects/new.md")
    user.rename_file("projects/b.md", "projects/c.md")
    user.remove_file("a.md")
    user.search()


def _notes(user: User) -> None:
    user.append_to_the_day()
    user.append_to_the_day()  # to a file that is there
    user.pin_a_fact()
    user.write_task("1")
    user.learn()
    user.search()


def _reopening(user: User) -> None:
    user.put("1")
    user.search()
    user.reopen()
    user.search()


def _maintenance(user: User) -> None:
    user.put_in_an_outage("1")
    user.engine.reembed()
    user.engine.doctor(repair=True)
    user.engine.backup(user.root.parent / "backup.sqlite", force=True)


def _chroma(user: User) -> None:
    user.put("1", "new")
    user.delete("2")
    user.search()
    user.engine.wait_for_chroma()
    user.engine.close()


SCENARIOS = {
    "new store": Scenario(_first_text, is_new=True),
    "texts": Scenario(_texts),
    "files": Scenario(_files),
    "notes": Scenario(_notes),
    "reopening": Scenario(_reopening),
    "maintenance": Scenario(_maintenance),
    "Chroma": Scenario(_chroma, vector_search="chroma"),
}


def prepare(user: User) -> None:
    """Fill a store that a scenario begins with."""
    user.put("1", "2", "3", "4")
    user.write_file("a.md")
    user.write_file("projects/b.md")
    user.search()
    user.engine.close()


def _patch(at_step: Callable[[str], None], patch: pytest.MonkeyPatch, names: tuple[str, ...]):
    """Call ``at_step`` with the kind of each step, right before it."""

    def before(owner: Any, name: str, *, is_ours: Callable[..., bool]) -> Callable[..., Any]:
        original = getattr(owner, name)

        def step(*arguments: Any, **options: Any) -> Any:
            if is_ours(*arguments, **options):
                at_step("commit" if name == "do_commit" else "call")
            return original(*arguments, **options)

        patch.setattr(owner, name, step)
        return step

    for name in names:
        before(os, name, is_ours=lambda *arguments, **options: True)
    before(DefaultDialect, "do_commit", is_ours=lambda *arguments: True)
    return before


def exit_at(point: int) -> None:
    """Let this process end right before its n-th step from now on."""
    left = point

    def at_step(_kind: str) -> None:
        nonlocal left
        left -= 1
        if left == 0:
            os._exit(0)

    before = _patch(at_step, pytest.MonkeyPatch(), CHANGING)
    for name in ("upsert", "delete"):
        before(chroma_client, name, is_ours=lambda *arguments: True)


class Fault:
    """An error at the n-th step.

    Attributes:
        happened: Whether there were that many.
    """

    def __init__(self, point: int, number: int, sqlite_number: int) -> None:
        self.happened = False
        self._left = point
        self._number = number
        self._sqlite_number = sqlite_number

    def __call__(self, kind: str) -> None:
        self._left -= 1
        if self._left:
            return
        self.happened = True
        if kind == "commit":
            error = sqlite3.OperationalError("injected")
            error.sqlite_errorcode = self._sqlite_number
            raise error
        raise OSError(self._number, os.strerror(self._number))


@contextmanager
def failing(fault: Fault, root: Path) -> Iterator[None]:
    """Let a step fail, among them the opening of files and the listing of folders of a store."""

    def is_below(path: Any, *_arguments: Any, dir_fd: int | None = None, **_options: Any) -> bool:
        return dir_fd is not None or (
            isinstance(path, str | Path) and str(path).startswith(str(root))
        )

    with pytest.MonkeyPatch.context() as patch:
        before = _patch(fault, patch, CHANGING)
        for name in OPENING:
            step = before(os, name, is_ours=is_below)
            patch.setattr(os, "supports_dir_fd", {*os.supports_dir_fd, step})
        before(io, "open", is_ours=is_below)
        yield
