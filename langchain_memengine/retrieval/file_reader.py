"""Read and cut the files of a large sync in another process, or here if there can be none."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import Any, BinaryIO, cast

from langchain_memengine.config import MemEngineConfig
from langchain_memengine.retrieval.file_messages import READY, receive, send, unpacked
from langchain_memengine.retrieval.file_plan import PreparedFile, prepare_file
from langchain_memengine.retrieval.sources import FolderSource, Source
from langchain_memengine.retrieval.traffic import Traffic
from langchain_memengine.storage.files import IndexedFile
from langchain_memengine.workspace.files import FileStat

logger = logging.getLogger(__name__)

MANY_FILES = 300
"""Files from which on starting a process (half a second of work) pays."""

_FILES_A_REQUEST = 8
_REQUESTS_AHEAD = 3
_CONFIG = ("chunk_tokens", "overlap_tokens", "split_on_headers", "max_file_bytes", "language")

Prepared = tuple[list[PreparedFile], Mapping[str, str]]


class FileReader:
    """Prepares stale files, a few at a time, and gives way to searches before each step."""

    def __init__(self, config: MemEngineConfig, traffic: Traffic) -> None:
        self._config = config
        self._traffic = traffic

    def prepare(
        self, source: Source, stale: Sequence[FileStat], known: Mapping[str, IndexedFile]
    ) -> Iterator[Prepared]:
        """Yield the prepared files in order, with the words of texts that are known already."""
        done = 0
        if isinstance(source, FolderSource) and len(stale) >= MANY_FILES:
            for files, words in self._elsewhere(source, stale, known):
                done += len(files)
                yield files, words
        for stat in stale[done:]:
            self._traffic.give_way()
            yield [prepare_file(source, stat, _hash(known, stat), self._config)], {}

    def _elsewhere(
        self, source: FolderSource, stale: Sequence[FileStat], known: Mapping[str, IndexedFile]
    ) -> Iterator[Prepared]:
        """Yield what another process prepares; ends early if it cannot be started, or dies."""
        if self._config.file_process == "off":
            return
        asked = ([s.path, s.size, s.mtime_ns, _hash(known, s)] for s in stale)
        requests = iter(lambda: list(islice(asked, _FILES_A_REQUEST)), [])
        try:
            with _started() as (to_process, from_process):
                send(to_process, self._settings(source))
                ahead = _send_some(to_process, requests, _REQUESTS_AHEAD)
                while ahead:
                    self._traffic.give_way()
                    files, words = receive(from_process)
                    ahead += _send_some(to_process, requests, 1) - 1
                    yield [unpacked(file) for file in files], words
        except (OSError, EOFError, ValueError) as error:
            logger.warning(
                "files are read in this process: another one could not do it (%s: %s)",
                type(error).__name__,
                error,
            )

    def _settings(self, source: FolderSource) -> dict[str, Any]:
        return {
            "root": os.fspath(source.root.absolute()),
            "workspace_id": source.workspace_id,
            "config": {name: getattr(self._config, name) for name in _CONFIG},
        }


def _send_some(to_process: BinaryIO, requests: Iterator[Any], number: int) -> int:
    """Send requests, as many as there are; return how many that were."""
    some = list(islice(requests, number))
    for request in some:
        send(to_process, request)
    return len(some)


def _hash(known: Mapping[str, IndexedFile], stat: FileStat) -> str | None:
    row = known.get(stat.path)
    return None if row is None else row.hash


@contextmanager
def _started() -> Iterator[tuple[BinaryIO, BinaryIO]]:
    """Start the process; yields its input and its output.

    It is a command, no fork and no copy of ``__main__``: neither a program's threads nor what its
    script does at the top level may matter.

    Raises:
        OSError: It cannot be started.
        EOFError: It ended before it was ready.
    """
    if not sys.executable or getattr(sys, "frozen", False):
        raise OSError("this program is no Python interpreter that can be started again")
    home = Path(__file__).parents[2]  # where this package is imported from
    path = os.pathsep.join([str(home), *filter(None, sys.path)])
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "langchain_memengine.retrieval.file_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={**os.environ, "PYTHONPATH": path},
    ) as process:
        try:
            pipes = cast("tuple[BinaryIO, BinaryIO]", (process.stdin, process.stdout))
            if receive(pipes[1]) != READY:
                raise OSError("something else answered")
            yield pipes
        finally:
            process.kill()  # it holds nothing that could be lost
