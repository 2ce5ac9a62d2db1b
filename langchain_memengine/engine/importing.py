"""Import: what this engine, mem0 or ChatGPT exported."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import IO, Any

from langchain_memengine.engine.exporting import EXPORT_VERSION, TEXT_PREFIXES
from langchain_memengine.engine.import_lines import (
    chunk_of,
    commit_of,
    json_of,
    note_of,
    provenance_of,
    record_of,
    require_own,
    require_personal,
    storable,
    text_of,
)
from langchain_memengine.engine.import_tally import ImportTally
from langchain_memengine.engine.importing_foreign import ForeignImporting
from langchain_memengine.engine.remembering import stored_time
from langchain_memengine.errors import (
    ConfigurationError,
    ScopeError,
    UnknownCommitError,
)
from langchain_memengine.reports import ImportReport
from langchain_memengine.retrieval import note_erasing
from langchain_memengine.retrieval.record_chunks import chunks_of_record, record_source
from langchain_memengine.storage import (
    chunks,
    commits,
    exports,
    messages,
    quarantines,
    records,
    revisions,
    supersessions,
)
from langchain_memengine.storage.record_values import (
    MemoryRecord,
    Quarantine,
    Revision,
    Supersession,
)
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.text.foreign_exports import read_export
from langchain_memengine.types import MAX_THREAD_CHARS, Actor
from langchain_memengine.workspace.files import UnreadableFileError

_HEAD = "memengine export"
_QUARANTINED = "It was quarantined where it was exported."


class _SkippedError(Exception):
    """A line is left out; the argument says why."""


class Importing(ForeignImporting):
    """The chapter of the engine that takes in what was exported."""

    def import_(self, origin: str | Path | IO[str], *, actor: Actor | None = None) -> ImportReport:
        """Take in an export; return what is new, what was there, and what was left out and why.

        Known are the lines of JSON that :meth:`export` writes, mem0's JSON of memories, and
        ChatGPT's ``conversations.json`` and memories. The same import again changes nothing. What
        is here and differs stays as it is here. What others export becomes the actor's own:
        memories as unverified records, messages as texts of their conversation.

        Args:
            origin: Path of a file, or an open text file.
            actor: Who imports; it must be allowed to write what comes in.

        Raises:
            ConfigurationError: The file cannot be read, or is no such export.
            StorageError: The database failed; what was imported before stays.
        """
        self._require_writable()
        actor = actor or self.actor
        text = text_of(origin)
        tally = ImportTally()
        head = json_of(text.partition("\n")[0])
        if isinstance(head, dict) and head.get("kind") == _HEAD:
            if head.get("version") != EXPORT_VERSION:
                raise ConfigurationError(
                    f"The export has the version {head.get('version')!r}; this release reads "
                    f"{EXPORT_VERSION}. Upgrade langchain-memengine."
                )
            for number, line in enumerate(text.split("\n"), 1):  # words may hold other line ends
                if number > 1 and line.strip():
                    self._import_line(number, line, actor, tally)
        else:
            export = read_export(json_of(text))
            if export is None:
                raise ConfigurationError(
                    "This is no export of memengine, mem0 or ChatGPT. Give lines of JSON from "
                    "engine.export(), a JSON list of memories, or conversations.json."
                )
            tally.skipped.update(export.skipped)
            self._import_foreign(export, actor, tally)
        return tally.report()

    def _import_line(self, number: int, line: str, actor: Actor, tally: ImportTally) -> None:
        value = storable(json_of(line))
        kinds: dict[str, Callable[[Any, Actor], Counter[bool]]] = {
            "records": self._import_record,
            "texts": self._import_texts,
            "messages": self._import_messages,
            "notes": self._import_note,
        }
        kind = value.get("kind") if isinstance(value, dict) else None
        if not isinstance(kind, str) or kind not in kinds:
            tally.leave_out("a line that is none of an export", number)
            return
        try:
            for is_new, count in kinds[kind](value, actor).items():
                (tally.imported if is_new else tally.unchanged)[kind] += count
        except _SkippedError as error:
            tally.leave_out(f"{kind}: {error}", number)
        except UnreadableFileError:
            tally.leave_out(f"{kind}: what is here cannot be read", number)
        except ScopeError:
            tally.leave_out(f"{kind}: not yours to write", number)
        except (UnknownCommitError, KeyError, TypeError, ValueError, AttributeError, OverflowError):
            tally.leave_out(f"{kind}: damaged", number)

    def _import_record(self, line: Mapping[str, Any], actor: Actor) -> Counter[bool]:
        record, (past, over) = record_of(line)
        require_own(record.scope, record.owner, actor)
        require_personal(record, actor)
        with self._database.read() as tx:
            here = records.by_ids(tx, [record.id]).get(record.id)
        if here is not None:
            if here != record:
                raise _SkippedError("the record here differs")
            return Counter({False: 1})
        source = record_source(record.id)
        aside = self._set_aside(line, source)

        def put(tx: Transaction) -> None:
            _put_record(tx, record, past, over)
            aside(tx)

        self._indexer.put_with({source: chunks_of_record(record, self.config)}, put)
        return Counter({True: 1})

    def _import_texts(self, line: Mapping[str, Any], actor: Actor) -> Counter[bool]:
        source = line["source"]
        if not source.startswith(TEXT_PREFIXES):
            raise _SkippedError("of a kind that is not imported")
        self._require_nameable(source)
        pairs = [
            (chunk_of(one["chunk"], source), provenance_of(one, source)) for one in line["chunks"]
        ]
        if not pairs:
            raise _SkippedError("damaged")
        for _, provenance in pairs:
            require_own(provenance.scope, provenance.owner, actor)
        with self._database.read() as tx:
            here = chunks.scopes_of_sources(tx, [source]).get(source)
            known = exports.ids_of_source(tx, source)
        if here is not None:
            if here not in {(p.scope, p.owner) for _, p in pairs} or known != {
                chunk.id for chunk, _ in pairs
            }:
                raise _SkippedError("the text here differs")
            return Counter({False: 1})
        self._indexer.put_with({source: pairs}, self._set_aside(line, source))
        return Counter({True: 1})

    def _require_nameable(self, name: str) -> None:
        if self._database.key_problem(name):
            raise _SkippedError("its name is too long for this database")

    def _set_aside(self, line: Mapping[str, Any], source: str) -> Callable[[Transaction], None]:
        """Return what quarantines a memory again that was quarantined where it was exported."""
        if not line.get("quarantined"):
            return _nothing
        new = Quarantine(source, _QUARANTINED, "", stored_time(self._clock()))
        return lambda tx: quarantines.put(tx, new.target_id, new)

    def _import_messages(self, line: Mapping[str, Any], actor: Actor) -> Counter[bool]:
        from langchain_memengine.conversation.message_json import from_json

        thread = line["thread_id"]
        made = {one.id: one for one in (commit_of(told, thread) for told in line["commits"])}
        now = self._clock()
        count: Counter[bool] = Counter()
        with self._database.write() as tx:
            commits.restore(tx, list(made.values()), [str(head) for head in line["heads"]], now=now)
            followed = {*made, *(parent for one in made.values() for parent in one.parents)}
            known = commits.by_id(tx, sorted(followed))
            commits.require_thread(known, sorted(followed), thread)
            commits.require_thread(known, line["heads"], thread)
            for one in line["messages"]:
                owner = str(one["owner"])
                require_own("personal" if owner else "global", owner, actor)
                if one["commit_id"] not in known or len(one["message_id"]) > MAX_THREAD_CHARS:
                    raise _SkippedError("damaged")
                from_json(one["body"])  # what cannot be restored is not taken in
                stored = messages.StoredMessage(owner, thread, one["message_id"], one["body"])
                held = messages.archiving_commits(tx, [stored.key]).get(stored.key, set())
                count[one["commit_id"] not in held] += 1
                messages.archive(tx, one["commit_id"], [stored], now=now)
        return count

    def _import_note(self, line: Mapping[str, Any], actor: Actor) -> Counter[bool]:
        name, text = note_of(line)
        owner = note_erasing.owner_of_note(name)
        require_own("personal" if owner else "global", owner, actor)
        self._require_nameable(name)
        here = self._notes.read(name)
        if here and here != text:
            raise _SkippedError("the note here differs")
        if here == text:
            return Counter({False: 1})
        self._notes.update(name, lambda old: old or text)
        self._last_scan = -float("inf")  # the next search finds it
        return Counter({True: 1})


def _nothing(tx: Transaction) -> None:
    """Do nothing in a transaction."""


def _put_record(
    tx: Transaction, record: MemoryRecord, past: list[Revision], over: list[Supersession]
) -> None:
    records.put(tx, record)
    known = revisions.known(tx, [revision.id for revision in past])
    revisions.put(tx, [revision for revision in past if revision.id not in known])
    if over:
        supersessions.replace(tx, record.id, over)
