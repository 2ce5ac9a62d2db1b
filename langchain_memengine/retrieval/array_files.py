"""Arrays and lists of texts as files that are mapped or read back only if they are whole."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, TypeAdapter

Arrays = dict[str, NDArray[Any]]
Texts = dict[str, list[str]]

_LINES = TypeAdapter(list[str])


class ArrayFile(BaseModel):
    """What an array's file must be.

    Attributes:
        shape: Of the array.
        dtype: Of the array, with its byte order.
        size: Of the file, in bytes.
    """

    model_config = ConfigDict(frozen=True)

    shape: tuple[int, ...]
    dtype: str
    size: int


def write_array(folder: Path, name: str, array: NDArray[Any]) -> ArrayFile:
    """Write ``<name>.npy``, which must be new, and flush it to disk."""
    with (folder / f"{name}.npy").open("xb") as file:
        np.save(file, array, allow_pickle=False)
        size = _flushed_size(file)
    return ArrayFile(shape=array.shape, dtype=array.dtype.str, size=size)


def write_texts(folder: Path, name: str, texts: list[str]) -> int:
    """Write ``<name>.json``, which must be new, and flush it to disk; return its size."""
    with (folder / f"{name}.json").open("xb") as file:
        file.write(_LINES.dump_json(texts))
        return _flushed_size(file)


def read_array(folder: Path, name: str, expected: ArrayFile) -> NDArray[Any]:
    """Map ``<name>.npy``; what is written to the array stays in memory.

    Raises:
        OSError: The file cannot be read.
        ValueError: It is not the expected one.
    """
    path = folder / f"{name}.npy"
    _require_size(path, expected.size)
    # Copy-on-write: the system copies a page when it is written to. Nothing cannot be mapped.
    mode: Literal["c"] | None = None if 0 in expected.shape else "c"
    array: NDArray[Any] = np.asarray(np.load(path, mmap_mode=mode, allow_pickle=False))
    if (array.shape, array.dtype.str) != (expected.shape, expected.dtype):
        raise ValueError(f"{path.name} is damaged: it holds another array")
    return array


def read_texts(folder: Path, name: str, size: int) -> list[str]:
    """Read ``<name>.json``.

    Raises:
        OSError: The file cannot be read.
        ValueError: It does not have this size, or is no list of texts.
    """
    path = folder / f"{name}.json"
    _require_size(path, size)
    return _LINES.validate_json(path.read_bytes())


def _flushed_size(file: IO[bytes]) -> int:
    """Return the size of a written file; a power cut must not leave it with holes."""
    file.flush()
    os.fsync(file.fileno())
    return file.tell()


def _require_size(path: Path, size: int) -> None:
    found = path.stat().st_size
    if found != size:
        raise ValueError(f"{path.name} is damaged: it has {found} bytes instead of {size}")
