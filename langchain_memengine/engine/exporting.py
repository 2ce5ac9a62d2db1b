"""Export: everything that somebody may read, as lines of JSON or as Markdown."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import IO, Any, Literal

from langchain_memengine.answers import as_json
from langchain_memengine.conversation.source_uris import message_source
from langchain_memengine.engine.parts import EngineParts
from langchain_memengine.errors import ConfigurationError
from langchain_memengine.reports import ExportReport
from langchain_memengine.retrieval import note_erasing, visibility
from langchain_memengine.retrieval.record_chunks import record_source
from langchain_memengine.retrieval.sources import source_uri
from langchain_memengine.storage import (
    commits,
    exports,
    quarantines,
    records,
    revisions,
    supersessions,
)
from langchain_memengine.storage.chunk_values import StoredChunk
from langchain_memengine.storage.record_values import Quarantine, RecordFilter
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.erasing import Erasure
from langchain_memengine.types import Actor
from langchain_memengine.workspace.files import UnreadableFileError, write_atomic

EXPORT_VERSION = 1
TEXT_PREFIXES = ("doc:", "learnt:", "message:")
"""What the source URIs of texts begin with that are neither files nor records."""

_PAGE = 500

Line = Mapping[str, Any]


class Exporting(EngineParts):
    """The chapter of the engine that gives everything out."""

    def export(
        self,
        target: str | Path | IO[str],
        *,
        format: Literal["jsonl", "markdown"] = "jsonl",  # noqa: A002  # the word for it
        quarantined: bool = False,
        actor: Actor | None = None,
    ) -> ExportReport:
        """Write everything that the actor may read; return how much, and what was left out.

        Lines of JSON hold records with their revisions, texts as their chunks, archived messages
        with their memory commits, and notes; :meth:`import_` reads them. Markdown is for people:
        records, texts and archived messages. Chat histories, sessions, jobs, experiences, what
        conversations of several users keep and items of stores are in no export; the report counts
        them.

        Args:
            target: Path of a file, which is replaced, or an open text file.
            format: ``jsonl`` or ``markdown``.
            quarantined: Export what is set aside, too; an import sets it aside again.
            actor: Whose export it is.

        Raises:
            ConfigurationError: The format is unknown.
            StorageError: The file cannot be written, or the database failed.
        """
        if format not in {"jsonl", "markdown"}:
            raise ConfigurationError(f"format={format!r} is unknown. Use 'jsonl' or 'markdown'.")
        actor = actor or self.actor
        counted: Counter[str] = Counter()
        left_out: Counter[str] = Counter()
        lines = []
        for line in self._lines(actor, left_out, with_quarantined=quarantined):
            counted[line["kind"]] += _size(line)
            lines.append(
                json.dumps(line, ensure_ascii=False) if format == "jsonl" else _as_markdown(line)
            )
        head = {
            "kind": "memengine export",
            "version": EXPORT_VERSION,
            "user_id": actor.user_id,
            "at": self._clock().isoformat(),
        }
        first = json.dumps(head) if format == "jsonl" else f"# Memory of {actor.user_id}\n"
        text = "\n".join(line for line in (first, *lines) if line) + "\n"
        if isinstance(target, str | Path):
            write_atomic(Path(target), text)
        else:
            target.write(text)
        return ExportReport(dict(counted), {kind: n for kind, n in left_out.items() if n})

    def _lines(
        self, actor: Actor, left_out: Counter[str], *, with_quarantined: bool
    ) -> Iterator[Line]:
        """Yield the lines; count what is left out."""
        owner = visibility.owner_of("personal", actor)
        with self._database.read() as tx:
            known = quarantines.everything(tx)
            aside = quarantines.hidden_sources(tx, known)
            for line in _lines_of_rows(tx, actor):
                is_aside = line.get("source") in aside
                if is_aside and not with_quarantined:
                    left_out[f"quarantined {line['kind']}"] += 1
                elif line["kind"] == "messages":
                    yield _without(line, () if with_quarantined else aside, left_out)
                else:
                    yield {**line, "quarantined": True} if is_aside else line
            shared = visibility.THREAD_OWNERS if actor.is_admin else None
            left_out.update(exports.kept_elsewhere(tx, owner, actor.user_id, shared))
            words = Erasure(() if with_quarantined else exports.words_of(tx, aside))
        yield from self._note_lines(owner, () if with_quarantined else known, words, left_out)

    def _note_lines(
        self, owner: str, known: Sequence[Quarantine], words: Erasure, left_out: Counter[str]
    ) -> Iterator[Line]:
        for name in note_erasing.notes_of(self._notes, ("", owner)):
            source = source_uri(self._sources[0].workspace_id, name)
            if any(one.covers(source) for one in known):
                left_out["quarantined notes"] += 1
                continue
            try:
                text = self._notes.read(name)
            except UnreadableFileError:  # a file that is no text was no memory either
                left_out["unreadable files"] += 1
                continue
            if words.holds(text):  # transcripts and logs show what is stored elsewhere
                left_out["notes with quarantined words"] += 1
            else:
                yield {"kind": "notes", "name": name, "text": text}


def _lines_of_rows(tx: Transaction, actor: Actor) -> Iterator[Line]:
    learnt: set[str] = set()  # commits that tell on which branches these are seen
    for line in _record_lines(tx, actor):
        yield line
        learnt |= {line["record"]["commit_id"]} - {None}
    partitions = visibility.readable_partitions(actor)
    for source, found in exports.texts(tx, partitions, TEXT_PREFIXES):
        yield {"kind": "texts", "source": source, "chunks": list(map(_chunk, found))}
        learnt |= {chunk.commit_id for chunk in found if chunk.commit_id is not None}
    yield from _archive_lines(tx, actor, learnt)


def _without(line: Line, aside: Collection[str], left_out: Counter[str]) -> Line:
    """Return a conversation's line without its quarantined messages."""
    thread = line["thread_id"]
    kept = [
        one
        for one in line["messages"]
        if message_source(thread, one["message_id"], one["commit_id"]) not in aside
    ]
    left_out["quarantined messages"] += len(line["messages"]) - len(kept)
    return {**line, "messages": kept}


def _record_lines(tx: Transaction, actor: Actor) -> Iterator[Line]:
    places, after = visibility.readable_places(actor), None
    while page := records.page(tx, places, RecordFilter(), after=after, limit=_PAGE):
        ids = [record.id for record in page]
        changes: dict[str, list[Any]] = {one: [] for one in ids}
        for revision in revisions.of_records(tx, ids):
            changes[revision.target_id].append(as_json(revision))
        over: dict[str, list[Any]] = {one: [] for one in ids}
        for one in supersessions.of_records(tx, ids):
            over[one.old_id].append(as_json(one))
        for record in page:
            yield {
                "kind": "records",
                "source": record_source(record.id),
                "record": as_json(record),
                "revisions": changes[record.id],
                "superseded_by": over[record.id],
            }
        after = page[-1]


def _archive_lines(tx: Transaction, actor: Actor, learnt: set[str]) -> Iterator[Line]:
    found = exports.archive(tx, ("", visibility.owner_of("personal", actor)))
    by_thread: dict[str, list[Any]] = {}
    for message in found:
        by_thread.setdefault(message.thread_id, []).append(message._asdict())
    threads = sorted(
        {one.thread_id for one in commits.by_id(tx, sorted(learnt)).values()} | by_thread.keys()
    )
    heads = commits.newest_heads(tx, threads)
    for thread in threads:
        known = commits.of_threads(tx, [thread])
        if known:
            yield {
                "kind": "messages",
                "thread_id": thread,
                "commits": as_json(known),
                "heads": list(heads.get(thread, ())),
                "messages": by_thread.get(thread, []),
            }


def _chunk(stored: StoredChunk) -> dict[str, Any]:
    return {"chunk": as_json(stored.chunk), "provenance": as_json(stored.provenance)}


def _size(line: Line) -> int:
    return len(line["messages"]) if line["kind"] == "messages" else 1


def _as_markdown(line: Line) -> str:
    """Return a line as Markdown for people, ``""`` for what is a file of theirs already."""
    if line["kind"] == "records":
        record: dict[str, Any] = line["record"]
        told = [record["origin"], record["created_at"][:10], record["source"]]
        return f"## Record {record['id']}\n\n{record['text']}\n\n*{_told(told)}*\n"
    if line["kind"] == "texts":
        pieces = "\n\n".join(one["chunk"]["text"] for one in line["chunks"])
        return f"## Text {line['source']}\n\n{pieces}\n"
    if line["kind"] == "messages":
        said = "\n\n".join(_message(message["body"]) for message in line["messages"])
        return f"## Conversation {line['thread_id']}\n\n{said}\n" if said else ""
    return ""


def _message(body: str) -> str:
    told = json.loads(body)
    content = told["data"]["content"]
    text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
    return f"**{told['type']}**: {text}"


def _told(parts: list[str]) -> str:
    return ", ".join(part for part in parts if part)
