"""Which files of a source are to be indexed, and what they hold."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from langchain_memengine.answers import FileProblem
from langchain_memengine.config import MemEngineConfig
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.retrieval.sources import (
    Source,
    TextChunks,
    chunks_of_file,
    source_uri,
)
from langchain_memengine.retrieval.tally import Tally
from langchain_memengine.storage.files import IndexedFile
from langchain_memengine.text.suspicion import suspicion
from langchain_memengine.workspace.files import FileStat, Scan, UnreadableFileError


@dataclass(frozen=True, slots=True)
class FilePlan:
    """What a scan says about the files of a source.

    Attributes:
        stale: Files that are new or were changed since they were indexed.
        unchanged: How many files need nothing.
        gone: Indexed files that are no longer there.
        skipped: What is not read, and why.
        failed: What could not be looked at, and why.
    """

    stale: list[FileStat]
    unchanged: int
    gone: list[IndexedFile]
    skipped: list[FileProblem]
    failed: list[FileProblem]


class SourcePlan(NamedTuple):
    """A source, what was known of its files, and what is to be done about them."""

    source: Source
    known: Mapping[str, IndexedFile]
    files: FilePlan


@dataclass(frozen=True, slots=True)
class SyncPlan:
    """What a sync is to do, source by source."""

    parts: tuple[SourcePlan, ...]

    @property
    def stale(self) -> int:
        """How many files are to be looked at."""
        return sum(len(part.files.stale) for part in self.parts)


@dataclass(frozen=True, slots=True)
class PreparedFile:
    """A file that was looked at.

    Attributes:
        path: Its path.
        row: Its new row, ``None`` to look again the next time.
        chunks: Its chunks, ``None`` to keep those it has.
        problem: Why it has to be looked at again.
    """

    path: str
    row: IndexedFile | None
    chunks: TextChunks | None
    problem: str = ""


def scan_nameable(source: Source, problem_of: Callable[[str], str | None]) -> Scan:
    """Scan a source; files whose names the database cannot hold are skipped.

    Args:
        source: What is scanned.
        problem_of: Says in words why a name cannot be held; ``None`` if it can.
    """
    found = source.scan()
    reasons = {f.path: problem_of(source_uri(source.workspace_id, f.path)) for f in found.files}
    problems = [FileProblem(path, reason) for path, reason in reasons.items() if reason]
    return Scan(
        [file for file in found.files if not reasons[file.path]],
        sorted([*found.skipped, *problems], key=lambda problem: problem.path),
        found.failed,
    )


def plan_files(found: Scan, known: Mapping[str, IndexedFile]) -> FilePlan:
    """Compare what is on disk with what is indexed, by size and time of change."""
    stale = [stat for stat in found.files if not is_unchanged(stat, known.get(stat.path))]
    changed = {stat.path for stat in stale}
    fresh = [known[stat.path] for stat in found.files if stat.path not in changed]
    unreadable = [FileProblem(row.path, row.problem) for row in fresh if row.problem]
    return FilePlan(
        stale=stale,
        unchanged=len(fresh) - len(unreadable),
        gone=gone_files(found, known),
        skipped=[*found.skipped, *unreadable],
        failed=found.failed,
    )


def is_unchanged(stat: FileStat, known: IndexedFile | None) -> bool:
    """Return whether a file has the size and time of change it was indexed with."""
    return known is not None and (stat.size, stat.mtime_ns) == (known.size, known.mtime_ns)


def why_left_out(path: str, found: Scan, known: Mapping[str, IndexedFile]) -> str | None:
    """Return why nothing of a file can be found; ``None`` if there is none, or something can."""
    problems = (*found.skipped, *found.failed)
    reason = next((problem.reason for problem in problems if problem.path == path), None)
    stat = next((stat for stat in found.files if stat.path == path), None)
    if stat is None:
        return reason
    row = known.get(path)
    if row is None or not is_unchanged(stat, row):
        return "it was not indexed yet"
    return row.problem or "it holds no text of its own"


def gone_files(found: Scan, known: Mapping[str, IndexedFile]) -> list[IndexedFile]:
    """Return the indexed files that are gone; what could not be looked at is not."""
    present = {stat.path for stat in found.files}
    unseen = {problem.path for problem in (*found.skipped, *found.failed)}
    folders = tuple(path for path in unseen if path.endswith("/"))
    return [
        row
        for path, row in known.items()
        if path not in present and path not in unseen and not path.startswith(folders)
    ]


def prepare_file(
    source: Source, stat: FileStat, known_hash: str | None, config: MemEngineConfig
) -> PreparedFile:
    """Read and cut one file; what cannot be read keeps its earlier chunks."""
    uri = source_uri(source.workspace_id, stat.path)
    try:
        file = source.read(stat.path)
        row = IndexedFile(stat.path, uri, file.size, file.mtime_ns, file.hash)
        if known_hash == file.hash:
            return PreparedFile(stat.path, row, None)
        pieces = chunks_of_file(
            file,
            source.workspace_id,
            chunk_tokens=config.chunk_tokens,
            overlap_tokens=config.overlap_tokens,
            split_on_headers=config.split_on_headers,
        )
    except UnreadableFileError as error:
        if error.gone:  # deleted since the scan: the next sync removes it
            return PreparedFile(stat.path, None, None)
        if isinstance(error.__cause__, OSError):  # the file may be readable the next time
            return PreparedFile(stat.path, None, None, error.reason)
        row = IndexedFile(stat.path, uri, stat.size, stat.mtime_ns, "", error.reason)
        return PreparedFile(stat.path, row, None)
    except (OSError, ConfigurationError) as error:
        return PreparedFile(stat.path, None, None, str(error))
    return PreparedFile(stat.path, row, pieces)


def count_plan(files: FilePlan, tally: Tally) -> None:
    """Count what is known of files before any of them is opened."""
    tally.unchanged += files.unchanged
    tally.skipped += files.skipped
    tally.failed += files.failed
    tally.removed += len(files.gone)


def count_file(file: PreparedFile, tally: Tally) -> None:
    """Count what became of a file; one that is gone does not count."""
    if file.row is None:
        if file.problem:
            tally.failed.append(FileProblem(file.path, file.problem))
    elif file.row.problem:
        tally.skipped.append(FileProblem(file.path, file.row.problem))
    elif file.chunks is None:
        tally.unchanged += 1
    else:
        tally.indexed += 1
        untrusted = (chunk for chunk, carried in file.chunks if carried.trust == "untrusted")
        first = next(untrusted, None)
        if first is not None:
            reason = f"Line {first.start_line} ff.: {suspicion(first.text)}"
            tally.suspicious.append(FileProblem(file.path, reason))
