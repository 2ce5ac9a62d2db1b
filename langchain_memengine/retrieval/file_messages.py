"""What the process that reads files is asked and answers: lengths, then JSON."""

from __future__ import annotations

import json
import struct
from dataclasses import astuple
from typing import Any, BinaryIO

from langchain_memengine.retrieval.file_plan import PreparedFile
from langchain_memengine.storage.files import IndexedFile
from langchain_memengine.storage.times import from_ms, to_ms
from langchain_memengine.types import (
    Chunk,
    Provenance,
    Trust,
)

READY = "memengine files 1"
"""First answer of the process; whatever else answers is not ours."""

_LENGTH = struct.Struct(">I")


def send(stream: BinaryIO, message: Any) -> None:
    """Write a message and flush it.

    Raises:
        OSError: Nobody reads any more.
    """
    content = json.dumps(message, separators=(",", ":")).encode("ascii")
    stream.write(_LENGTH.pack(len(content)) + content)
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Return the next message.

    Raises:
        EOFError: There is no other.
        ValueError: What came is no message.
    """
    head = stream.read(_LENGTH.size)
    if len(head) < _LENGTH.size:
        raise EOFError
    (length,) = _LENGTH.unpack(head)
    content = stream.read(length)
    if len(content) < length:
        raise EOFError
    return json.loads(content)


def packed(file: PreparedFile) -> list[Any]:
    """Return a prepared file as JSON values; its chunks carry the same but for trust and time."""
    chunks = file.chunks
    about: list[Any] | None = None
    if chunks:
        first = chunks[0][1]
        about = [first.scope, first.owner, first.origin, first.path, first.workspace_id]
        about += [dict(first.metadata)]
    return [
        file.path,
        None if file.row is None else astuple(file.row),
        file.problem,
        about,
        None if chunks is None else [[*astuple(c), p.trust, to_ms(p.event_at)] for c, p in chunks],
    ]


def unpacked(values: list[Any]) -> PreparedFile:
    """Return the prepared file that :func:`packed` described."""
    path, row, problem, about, chunks = values
    pieces = None
    if chunks is not None:
        pieces = [(Chunk(*fields), _provenance(about, trust, at)) for *fields, trust, at in chunks]
    return PreparedFile(path, None if row is None else IndexedFile(*row), pieces, problem)


def _provenance(about: list[Any], trust: Trust, event_ms: int | None) -> Provenance:
    scope, owner, origin, path, workspace_id, metadata = about
    return Provenance(
        scope=scope,
        owner=owner,
        origin=origin,
        trust=trust,
        path=path,
        workspace_id=workspace_id,
        event_at=from_ms(event_ms),
        metadata=metadata,
    )
