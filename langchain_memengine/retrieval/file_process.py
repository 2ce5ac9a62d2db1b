"""A process that reads files and cuts them, ``python -m`` and the name of this module.

It has the time-consuming part of a large sync and none of its consequences: it opens no database
and writes nothing. It ends with its standard input, that is, at the latest with who started it.
"""

from __future__ import annotations

import contextlib
import os
import queue
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.retrieval.file_messages import READY, packed, receive, send
from langchain_memengine.retrieval.file_plan import PreparedFile, prepare_file
from langchain_memengine.retrieval.row_reading import keyword_text, said_in_front
from langchain_memengine.retrieval.sources import FolderSource
from langchain_memengine.text.words import WordSplitter
from langchain_memengine.workspace.files import FileStat

_NICENESS = 5
_END = None


def serve(requests: BinaryIO, answers: BinaryIO) -> None:
    """Answer requests in order until there is no other.

    The first message says what to read and how, each other one names files; each is answered by
    the prepared files and by the words of their chunks.
    """
    send(answers, READY)
    asked: queue.SimpleQueue[Any] = queue.SimpleQueue()
    # Read on while answers are written: else either side could wait for the other to read.
    threading.Thread(target=_read_all, args=(requests, asked), daemon=True).start()
    settings = asked.get()
    if settings is _END:
        return
    config = MemEngineConfig(**settings["config"])
    source = FolderSource(Path(settings["root"]), settings["workspace_id"], config)
    splitter = WordSplitter(config.language)
    for files in iter(asked.get, _END):
        prepared = [
            prepare_file(source, FileStat(path, size, mtime_ns), known_hash, config)
            for path, size, mtime_ns, known_hash in files
        ]
        words = {text: " ".join(splitter(text)) for file in prepared for text in _texts(file)}
        send(answers, [[packed(file) for file in prepared], words])


def _texts(file: PreparedFile) -> Iterator[str]:
    for chunk, provenance in file.chunks or ():
        front = "" if chunk.ord else said_in_front(provenance.metadata)
        yield keyword_text(provenance.path, chunk.heading, chunk.text, front)


def _read_all(requests: BinaryIO, asked: queue.SimpleQueue[Any]) -> None:
    with contextlib.suppress(EOFError, OSError):
        while True:
            asked.put(receive(requests))
    asked.put(_END)


def main() -> None:
    """Serve standard input and output."""
    if hasattr(os, "nice"):
        os.nice(_NICENESS)
    answers, sys.stdout = sys.stdout.buffer, sys.stderr  # what anybody prints is no answer
    with contextlib.suppress(BrokenPipeError):
        serve(sys.stdin.buffer, answers)


if __name__ == "__main__":
    main()
