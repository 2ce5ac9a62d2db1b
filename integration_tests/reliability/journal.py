"""What a process was about to store and what was acknowledged, written down to survive its kill.

A store is a mapping of names to words. Each word stands in one text, file or note and nowhere
else, so that a search for what they all have in common tells what the store holds.
"""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

WORD = re.compile(r"unique\w+x")

State = dict[str, str]
Change = Mapping[str, str | None]
"""New words by name; ``None`` removes a name. It happens as a whole or not at all."""


def text_of(word: str) -> str:
    """Return the text that holds a word."""
    return f"common tea {word}"


def after(state: State, change: Change) -> State:
    """Return the state that a change leads to."""
    return {name: word for name, word in {**state, **change}.items() if word is not None}


class Journal:
    """Lines that a process appends in one piece each, which a kill does not take back."""

    def __init__(self, path: Path) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def write(self, kind: str, value: Any) -> None:
        os.write(self._file, (json.dumps([kind, value]) + "\n").encode())


@dataclass(frozen=True)
class Told:
    """What a journal tells.

    Attributes:
        state: What was acknowledged.
        pending: What was begun and not acknowledged, if anything.
        acknowledged: Changes, counted.
        wrong: What the process itself found to be wrong.
    """

    state: State
    pending: Change
    acknowledged: int
    wrong: list[Any]

    def differences(self, found: set[str]) -> tuple[set[str], set[str]]:
        """Return (words lost, words found that nobody stored or that were deleted)."""
        either = [set(self.state.values()), set(after(self.state, self.pending).values())]
        if found in either:
            return set(), set()
        return (either[0] & either[1]) - found, found - (either[0] | either[1])

    def settled(self, found: set[str]) -> State:
        """Return the state that the words found belong to.

        Raises:
            AssertionError: Neither what was acknowledged nor that with the pending change.
        """
        for state in (self.state, after(self.state, self.pending)):
            if set(state.values()) == found:
                return state
        missing, ghosts = self.differences(found)
        raise AssertionError(f"lost {missing}, ghosts {ghosts}, half of {self.pending}")


def read(path: Path, state: State) -> Told:
    """Return what a journal tells of a store that was in ``state`` before."""
    pending: Change = {}
    acknowledged, wrong = 0, []
    lines = path.read_text().splitlines() if path.exists() else []
    for kind, value in map(json.loads, lines):
        if kind == "begin":
            pending = value
        elif kind == "done":
            state, pending = after(state, pending), {}
            acknowledged += 1
        elif kind == "wrong":
            wrong.append(value)
    return Told(state, pending, acknowledged, wrong)
