"""What stands around a chunk: the file or conversation it belongs to, and its neighbours in it."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from langchain_memengine.retrieval.growing import GrowingArray

Ints = NDArray[np.int64]

NOBODY = -1
"""Stands for "no neighbour"."""


class Surroundings:
    """The groups that the slots of a partition belong to, and their order within them.

    A chunk of a file is grouped with the file's other chunks, a message with its conversation, in
    which it has neighbours; everything else is a group of its own.

    Attributes:
        groups: How many groups there are or were.
    """

    def __init__(self) -> None:
        self.groups = 0
        self._codes = GrowingArray(np.int32)
        self._places = GrowingArray(np.float64)
        self._known: dict[str, int] = {}
        self._members: dict[int, list[tuple[float, int]]] = {}

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]], names: Sequence[str]) -> Self:
        """Return the surroundings that :meth:`to_arrays` described, over the same arrays."""
        around = cls()
        codes, places, members = arrays["groups"], arrays["places"], arrays["members"]
        around._codes = GrowingArray.of(codes)
        around._places = GrowingArray.of(places)
        around.groups = int(codes.max(initial=-1)) + 1
        around._known = dict(zip(names, arrays["named_groups"].tolist(), strict=True))
        standing = zip(places[members].tolist(), members.tolist(), strict=True)
        for code, place in zip(codes[members].tolist(), standing, strict=True):
            around._members.setdefault(code, []).append(place)
        return around

    def to_arrays(self) -> tuple[dict[str, NDArray[Any]], list[str]]:
        """Return (arrays, names of the named groups) to keep."""
        members = [slot for group in self._members.values() for _, slot in group]
        arrays = {
            "groups": self.codes,
            "places": self._places.values,
            "members": np.asarray(members, np.int64),
            "named_groups": np.asarray(list(self._known.values()), np.int64),
        }
        return arrays, list(self._known)

    @property
    def codes(self) -> NDArray[np.int32]:
        """Group of each slot."""
        return self._codes.values

    @property
    def has_groups(self) -> bool:
        """Whether any group can have more than one member."""
        return bool(self._known)

    def add(self, keys: Sequence[str], places: Sequence[float | None]) -> None:
        """Append slots.

        Args:
            keys: Name of each slot's group; ``""`` is a group of its own.
            places: Where each stands in its group, ``None`` if it has no neighbours there; equal
                places are in order of slots.
        """
        first = len(self._codes)
        self._codes.extend(np.asarray([self._code(key) for key in keys], np.int32))
        self._places.extend(np.asarray([place or 0.0 for place in places], np.float64))
        for slot, place in enumerate(places, first):
            if place is not None:
                members = self._members.setdefault(int(self.codes[slot]), [])
                insort(members, (place, slot))

    def _code(self, key: str) -> int:
        code = self._known.get(key)
        if code is None:
            code = self.groups
            self.groups += 1
            if key:
                self._known[key] = code
        return code

    def remove(self, slots: Iterable[int]) -> None:
        """Take slots out of their groups."""
        for slot in slots:
            members, at = self._standing(slot)
            if at < len(members) and members[at][1] == slot:
                del members[at]

    def neighbours(self, slots: Ints) -> tuple[Ints, Ints]:
        """Return the slots before and after each slot in its group, ``NOBODY`` at the ends."""
        before, after = [], []
        for slot in slots.tolist():
            members, at = self._standing(slot)
            before.append(members[at - 1][1] if 0 < at <= len(members) else NOBODY)
            after.append(members[at + 1][1] if at + 1 < len(members) else NOBODY)
        return np.asarray(before, np.int64), np.asarray(after, np.int64)

    def _standing(self, slot: int) -> tuple[list[tuple[float, int]], int]:
        """Return the members of a slot's group and where it stands among them."""
        members = self._members.get(int(self._codes.values[slot]), [])
        return members, bisect_left(members, (float(self._places.values[slot]), slot))
