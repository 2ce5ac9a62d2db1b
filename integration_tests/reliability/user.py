"""Somebody who uses an engine in every way that changes what is stored, and keeps a journal."""

import os
import random
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from integration_tests.reliability.journal import FILE, WORD, Change, Journal, State, after, text_of
from langchain_memengine.answers import (
    SearchResult,
)
from langchain_memengine.conversation.lineage import join_heads
from langchain_memengine.engine.memory_engine import MemoryEngine
from langchain_memengine.types import (
    Fact,
)
from langchain_memengine.workspace.files import write_atomic
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine

DOWN = ConnectionError("nobody answers")
EVERYTHING = 100_000

_replace, _unlink = os.replace, os.unlink  # what people do to their files does not fail


def utc_now() -> datetime:
    return datetime.now(UTC)


def open_engine(root: Path | None, clock: Callable[[], datetime] = utc_now, **settings: Any):
    settings = {"vector_search": "exact", **settings}
    return make_engine(root, embeddings=FakeEmbeddings(16), clock=clock, **settings)


def words_of(result: SearchResult) -> set[str]:
    return {word for hit in result.hits for word in WORD.findall(hit.text)}


class NotDoneError(Exception):
    """A sync reported files that it could not index."""


class User:
    """Changes a store; each change is begun in the journal, and done when it is acknowledged.

    Args:
        root: Folder of the store.
        journal: Where changes are written down.
        state: What the store holds.
        name: Part of each new word, which no other user of the store may have.
        settings: Of the engine.
    """

    def __init__(
        self, root: Path, journal: Journal, state: State, name: object, **settings: Any
    ) -> None:
        self.root = root
        self.state = state
        self.gone: list[str] = []
        self._journal = journal
        self._name = name
        self._settings = settings
        self._words = 0
        self._head = ""
        self.engine: MemoryEngine = open_engine(root, **settings)
        try:
            self.engine.sync()
        except BaseException:  # nobody will close a user that was not made
            self.engine.close()
            raise

    def reopen(self) -> None:
        self.engine.close()
        self.engine = open_engine(self.root, **self._settings)

    def word(self) -> str:
        self._words += 1
        return f"unique{self._name}n{self._words}x".replace(" ", "")

    def change(self, change: Change, act: Callable[[], object]) -> None:
        self._journal.write("begin", change)
        act()
        self._journal.write("done", None)
        self.gone += [self.state[name] for name in change if name in self.state]
        self.gone = self.gone[-3:]
        self.state = after(self.state, change)

    def put(self, *ids: str) -> None:
        new = {f"text {one}": self.word() for one in ids}
        texts = [text_of(word) for word in new.values()]
        self.change(new, lambda: self.engine.add_texts(texts, ids=ids))

    def put_in_an_outage(self, *ids: str) -> None:
        self.engine._embedding._embedder.embeddings._faults = [DOWN]
        self.put(*ids)

    def delete(self, *ids: str) -> None:
        self.change({f"text {one}": None for one in ids}, lambda: self.engine.delete(ids))

    def write_file(self, name: str) -> None:
        word = self.word()
        path = self.root / name
        self.change({f"{FILE}{name}": word}, lambda: self._sync(write_atomic, path, text_of(word)))

    def rename_file(self, old: str, new: str) -> None:
        if f"{FILE}{old}" in self.state:
            change = {f"{FILE}{old}": None, f"{FILE}{new}": self.state[f"{FILE}{old}"]}
            path = self.root / new
            path.parent.mkdir(parents=True, exist_ok=True)
            self.change(change, lambda: self._sync(_replace, self.root / old, path))

    def remove_file(self, name: str) -> None:
        if f"{FILE}{name}" in self.state:
            self.change({f"{FILE}{name}": None}, lambda: self._sync(_unlink, self.root / name))

    def append_to_the_day(self) -> None:
        word = self.word()
        self.change({word: word}, lambda: self.engine.append_daily("note", text_of(word)))

    def pin_a_fact(self) -> None:
        word = self.word()
        facts = [Fact("plan.md", text_of(word))]
        self.change({word: word}, lambda: self.engine.promote_facts("task", facts))

    def write_task(self, task: str) -> None:
        word = self.word()
        self.change(
            {f"task {task}": word},
            lambda: self.engine.write_task_summary(task, "title", text_of(word)),
        )

    def learn(self) -> None:
        word = self.word()

        def commit() -> None:
            thread = f"thread {self._name}"
            update = self.engine.commit(thread, self._head, "fact", [text_of(word)])
            self._head = join_heads(self._head, update)

        self.change({word: word}, commit)

    def search(self) -> None:
        """Look for everything and for what went last; note down what is wrong."""
        result = self.engine.search("common", EVERYTHING)
        found, expected = words_of(result), set(self.state.values())
        says_so = any(note.startswith("sync:") for note in result.degraded)
        lost, ghosts = sorted(expected - found), sorted(found - expected)
        if ghosts or (lost and not says_so):
            self._journal.write("wrong", f"lost {lost}, ghosts {ghosts}")
        for word in set(self.gone) - expected:
            if word in words_of(self.engine.search(word)):
                self._journal.write("wrong", f"ghost {word}")

    def do_jobs(self) -> None:
        self.engine.run_jobs()

    def _sync(self, act: Callable[..., object], *arguments: object) -> None:
        act(*arguments)
        report = self.engine.sync()
        if report.failed:
            raise NotDoneError(report)


def use_for_ever(user: User, generator: random.Random) -> None:
    """Do one thing after the other, as chance will have it."""

    def ids() -> list[str]:
        return [str(n) for n in generator.sample(range(24), generator.randint(1, 4))]

    names = ["a.md", "b.md", "projects/c.md", "projects/d.md", "deep/er/e.md"]
    things: list[Callable[[], None]] = [
        *[lambda: user.put(*ids())] * 6,
        *[lambda: user.delete(*ids())] * 3,
        *[lambda: user.write_file(generator.choice(names))] * 3,
        lambda: user.remove_file(generator.choice(names)),
        lambda: user.rename_file(*generator.sample(names, 2)),
        *[lambda: user.put_in_an_outage(*ids())] * 2,
        *[user.search] * 3,
        user.append_to_the_day,
        user.pin_a_fact,
        lambda: user.write_task(generator.choice("123")),
        user.learn,
        user.do_jobs,
        user.reopen,
    ]
    while True:
        generator.choice(things)()
