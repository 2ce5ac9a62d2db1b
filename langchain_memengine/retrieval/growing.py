"""Arrays that grow at the end."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray


class GrowingArray:
    """A NumPy array with room behind its last value, so that appending is cheap.

    Args:
        dtype: Type of the values.
        shape: Of one value: ``(3,)`` for rows of three numbers.
    """

    def __init__(self, dtype: DTypeLike, shape: tuple[int, ...] = ()) -> None:
        self._room: NDArray[Any] = np.zeros((0, *shape), dtype)
        self._size = 0

    @classmethod
    def of(cls, values: NDArray[Any]) -> Self:
        """Return one that starts with these values and takes the array over, without a copy."""
        array = cls(values.dtype)
        array._room = values
        array._size = len(values)
        return array

    def __len__(self) -> int:
        """Return the number of values."""
        return self._size

    @property
    def values(self) -> NDArray[Any]:
        """The values, as a view: valid until the next growth."""
        return self._room[: self._size]

    def extend(self, values: NDArray[Any]) -> None:
        """Append values of shape (n, ...)."""
        start = self._size
        self.grow_to(start + len(values))
        self._room[start : self._size] = values

    def grow_to(self, size: int) -> None:
        """Append zeros until there are ``size`` values; never shrinks."""
        if size > len(self._room):
            capacity = max(size, len(self._room) * 5 // 4 + 64)
            room = np.zeros((capacity, *self._room.shape[1:]), self._room.dtype)
            room[: self._size] = self.values
            self._room = room
        self._size = max(size, self._size)
