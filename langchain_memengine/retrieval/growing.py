"""Arrays that grow at the end."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray


class GrowingArray:
    """A NumPy array with room behind its last row, so that appending is cheap.

    Args:
        dtype: Type of the values.
        width: Length of a row; ``None`` for a one-dimensional array.
        fill: Value of rows that were added without one.
    """

    def __init__(self, dtype: DTypeLike, width: int | None = None, fill: Any = 0) -> None:
        self._shape_of_row = () if width is None else (width,)
        self._fill = fill
        self._room: NDArray[Any] = np.full((0, *self._shape_of_row), fill, dtype)
        self._size = 0

    def __len__(self) -> int:
        """Return the number of rows."""
        return self._size

    @property
    def values(self) -> NDArray[Any]:
        """The rows, as a view: valid until the next growth."""
        return self._room[: self._size]

    def extend(self, rows: NDArray[Any]) -> None:
        """Append rows of shape (n,) or (n, width)."""
        start = self._size
        self.grow_to(start + len(rows))
        self._room[start : self._size] = rows

    def grow_to(self, size: int) -> None:
        """Append rows of the fill value until there are ``size``; never shrinks."""
        if size > len(self._room):
            capacity = max(size, len(self._room) * 3 // 2 + 16)
            room = np.full((capacity, *self._shape_of_row), self._fill, self._room.dtype)
            room[: self._size] = self.values
            self._room = room
        self._size = max(size, self._size)
