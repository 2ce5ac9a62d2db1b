"""What every database must do; more of it is in the modules ``contract_…`` beside this one."""

import hashlib
from datetime import UTC, datetime, timedelta

import pytest
from sqlalchemy import insert

from langchain_memengine.errors import SchemaVersionError, StorageError
from langchain_memengine.storage import (
    access,
    chunks,
    documents,
    embeddings,
    files,
    stored_chunks,
    tombstones,
)
from langchain_memengine.storage.change_counters import Counters
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.documents import StoredDocument, TableNotes
from langchain_memengine.storage.files import IndexedFile
from langchain_memengine.storage.migrations import MIGRATIONS, check, migrate
from langchain_memengine.storage.schema import (
    meta,
    schema_migrations,
)
from langchain_memengine.types import (
    Chunk,
    Provenance,
)

NOW = datetime(2026, 5, 19, 12, 0, tzinfo=UTC)
MANY = 1203  # more than two of the batches that lists are cut into


def piece(text: str, *, source: str = "doc:/1", line: int = 1) -> Chunk:
    """Return a chunk as the chunker makes them."""
    return Chunk(
        id=hashlib.sha256(f"{source}\0{line}\0{text}".encode()).hexdigest(),
        source=source,
        ord=line - 1,
        start_line=line,
        end_line=line,
        tokens=len(text) // 4,
        text=text,
        hash=hashlib.sha256(text.encode()).hexdigest(),
    )


def keep(
    database: Database,
    *texts: str,
    source: str = "doc:/1",
    provenance: Provenance | None = None,
    now: datetime = NOW,
) -> list[Chunk]:
    """Make texts the chunks of a source, in a transaction of their own."""
    pieces = [piece(text, source=source, line=line) for line, text in enumerate(texts, start=1)]
    pairs = [(chunk, provenance or Provenance()) for chunk in pieces]
    with database.write() as tx:
        chunks.replace_sources(tx, {source: pairs}, now=now)
    return pieces


def counters(database: Database) -> Counters:
    with database.read() as tx:
        return tx.counters()


class DatabaseContract:
    """Transactions and the change counter."""

    def test_a_new_store_is_empty_and_at_zero(self, database):
        with database.read() as tx:
            assert tx.counters() == Counters(changes=0, accesses=0)
            assert tx.get_meta("model") is None
            assert chunks.count(tx) == 0
            assert files.count(tx) == 0

    def test_what_a_transaction_wrote_is_read_after_it(self, database):
        with database.write() as tx:
            tx.set_meta("model", "first")
            tx.set_meta("other", "kept")
        with database.write() as tx:
            tx.set_meta("model", "second 🜁")
        with database.read() as tx:
            assert (tx.get_meta("model"), tx.get_meta("other")) == ("second 🜁", "kept")

    def test_a_transaction_takes_one_number_however_often_it_asks(self, database):
        with database.write() as tx:
            assert [tx.seq, tx.seq, tx.seq] == [1, 1, 1]
        with database.write() as tx:
            assert tx.seq == 2
        assert counters(database).changes == 2

    def test_a_transaction_that_asks_for_no_number_takes_none(self, database):
        with database.write() as tx:
            tx.set_meta("model", "m")
        assert counters(database) == Counters(0, 0)

    def test_accesses_have_a_counter_of_their_own(self, database):
        with database.write() as tx:
            assert tx.access_seq == 1
        with database.write() as tx:
            assert (tx.seq, tx.access_seq) == (1, 2)
        assert counters(database) == Counters(changes=1, accesses=2)

    def test_an_error_leaves_nothing_behind(self, database):
        keep(database, "before")

        def fail() -> None:
            with database.write() as tx:
                chunks.replace_sources(
                    tx, {"doc:/1": [(piece("after"), Provenance())], "doc:/2": []}, now=NOW
                )
                access.record(tx, {"c" * 64: 1}, now=NOW)
                tx.set_meta("model", "m")
                assert tx.seq == 2
                raise RuntimeError("the caller's own")

        with pytest.raises(RuntimeError, match="the caller's own"):
            fail()
        with database.read() as tx:
            assert tx.counters() == Counters(changes=1, accesses=0)
            assert tx.get_meta("model") is None
            assert [row.text for row in chunks.index_rows(tx, "shared")] == ["before"]
            assert tombstones.removed_nums(tx, "shared", after_seq=0) == []

    def test_a_refused_statement_is_a_storage_error_and_leaves_nothing_behind(self, database):
        def insert_twice() -> None:
            with database.write() as tx:
                row = {"store_id": tx.store_id, "key": "model", "value": "m"}
                tx.connection.execute(insert(meta), [row])
                tx.connection.execute(insert(meta), [row])

        with pytest.raises(StorageError, match="refused"):
            insert_twice()
        with database.read() as tx:
            assert tx.get_meta("model") is None

    def test_transactions_go_on_after_a_failed_one(self, database):
        def fail() -> None:
            with database.write():
                raise RuntimeError

        for _ in range(20):  # more than a pool of connections holds
            with pytest.raises(RuntimeError):
                fail()
        with database.write() as tx:
            assert tx.seq == 1


class StoresContract:
    """Several openings of one database: ``opened(store_id="a", read_only=False)``."""

    def test_what_is_stored_is_there_when_opened_again(self, opened):
        keep(opened(), "kept")
        with opened().read() as tx:
            assert chunks.count(tx) == 1
            assert tx.counters().changes == 1

    def test_a_reader_does_not_see_what_is_not_committed(self, opened):
        writer, reader = opened(), opened()
        with writer.write() as tx:
            tx.set_meta("model", "m")
            with reader.read() as other:
                assert other.get_meta("model") is None
        with reader.read() as other:
            assert other.get_meta("model") == "m"

    def test_a_reader_keeps_the_view_it_began_with(self, opened):
        writer, reader = opened(), opened()
        with reader.read() as tx:
            assert tx.counters().changes == 0
            keep(writer, "new")
            assert tx.counters().changes == 0
            assert chunks.count(tx) == 0
        assert counters(reader).changes == 1

    def test_read_only_refuses_to_write_and_reads(self, opened):
        keep(opened(), "kept")
        reader = opened(read_only=True)
        with pytest.raises(StorageError, match="read_only"), reader.write():
            pass
        with reader.read() as tx:
            assert chunks.count(tx) == 1

    def test_read_only_makes_no_store(self, opened):
        opened(store_id="a")
        with pytest.raises(StorageError, match="b'"):
            opened(store_id="b", read_only=True)
        assert counters(opened(store_id="b")) == Counters(0, 0)

    def test_two_stores_do_not_see_each_other(self, opened):
        a, b = opened(store_id="a"), opened(store_id="b")
        (same,) = keep(a, "same text")
        with a.write() as tx:
            tx.set_meta("model", "m")
            embeddings.put(tx, {same.hash: [1.0, 0.0]}, "m", touch=True)
            files.put(tx, "w", [IndexedFile("a.md", "file:w/a.md", 1, 1, "h")], now=NOW)
            access.record(tx, {same.id: 3}, now=NOW)
        TableNotes(a, lambda: NOW).update("MEMORY.md", lambda _: "fact")
        with b.read() as tx:
            assert tx.counters() == Counters(0, 0)
            assert tx.get_meta("model") is None
            assert chunks.count(tx) == 0
            assert embeddings.known_hashes(tx, [same.hash], "m") == set()
            assert files.of_workspace(tx, "w") == {}
            assert documents.all_documents(tx) == []

        keep(b, "same text")
        keep(b)
        with b.read() as tx:
            assert len(tombstones.removed_nums(tx, "shared", after_seq=0)) == 1
        with a.read() as tx:
            assert tombstones.removed_nums(tx, "shared", after_seq=0) == []
            assert stored_chunks.by_id(tx, same.id, partitions=["shared"]).chunk == same
            assert list(access.counts_of_partition(tx, "shared").values()) == [3]
            assert embeddings.count_chunks(tx, "m") == 1


class MigrationsContract:
    """The order of schema changes."""

    @pytest.fixture
    def database(self, apart):
        return apart  # what it is taught to know, no other test's database may

    def test_a_new_database_has_every_migration(self, database):
        with database.write() as tx:
            check(tx.connection)
            assert migrate(tx.connection, 1) == []

    def test_missing_ones_are_applied_in_order_and_once(self, database):
        applied: list[str] = []
        more = [
            *MIGRATIONS,
            ("m900_first", lambda *_: applied.append("m900_first")),
            ("m100_second", lambda *_: applied.append("m100_second")),
        ]
        with database.write() as tx:
            assert migrate(tx.connection, 1, more) == ["m900_first", "m100_second"]
        with database.write() as tx:
            assert migrate(tx.connection, 2, more) == []
            check(tx.connection, more)
        assert applied == ["m900_first", "m100_second"]

    def test_a_database_of_a_newer_release_is_refused(self, database):
        with database.write() as tx:
            for name in ("m999_later", "m998_late"):
                tx.connection.execute(insert(schema_migrations), {"name": name, "applied_at": 1})
        for look in (check, lambda connection: migrate(connection, 1)):
            with database.write() as tx, pytest.raises(SchemaVersionError) as refused:
                look(tx.connection)
            assert refused.value.unknown == ["m998_late", "m999_later"]

    def test_a_reader_refuses_a_database_of_an_older_release(self, database):
        newer = [*MIGRATIONS, ("m900_new", lambda *_: None)]
        with database.read() as tx, pytest.raises(StorageError, match="read_only"):
            check(tx.connection, newer)


class FileContract:
    """File rows."""

    def test_a_file_comes_back_as_it_was_put_and_is_replaced(self, database):
        first = IndexedFile("daily/ü 🜁.md", "file:w/daily/ü 🜁.md", 5_000_000_000, 2**62, "h" * 64)
        unread = IndexedFile("b.md", "file:w/b.md", 0, 0, "", problem="binary")
        newer = IndexedFile(first.path, first.source, 1, 2, "i" * 64, problem="gone bad")
        with database.write() as tx:
            files.put(tx, "w", [first, unread], now=NOW)
            assert files.of_workspace(tx, "w") == {first.path: first, "b.md": unread}
            files.put(tx, "w", [newer], now=NOW)
            assert files.of_workspace(tx, "w") == {first.path: newer, "b.md": unread}

    def test_workspaces_are_apart(self, database):
        file = IndexedFile("a.md", "file:w/a.md", 1, 1, "h")
        with database.write() as tx:
            files.put(tx, "w", [file], now=NOW)
            files.put(tx, "v", [file], now=NOW)
            files.forget(tx, "w", ["a.md"])
            assert files.of_workspace(tx, "w") == {}
            assert files.of_workspace(tx, "v") == {"a.md": file}

    def test_only_files_without_a_problem_are_counted(self, database):
        with database.write() as tx:
            files.put(tx, "w", [IndexedFile("a.md", "s", 1, 1, "h")], now=NOW)
            files.put(tx, "v", [IndexedFile("b.md", "s", 1, 1, "h")], now=NOW)
            files.put(tx, "v", [IndexedFile("c.md", "s", 1, 1, "", "binary")], now=NOW)
            assert files.count(tx) == 2

    def test_thousands_of_files_are_put_and_forgotten(self, database):
        many = [IndexedFile(f"{n}.md", "s", 1, 1, "h") for n in range(MANY)]
        with database.write() as tx:
            files.put(tx, "w", many, now=NOW)
            assert files.count(tx) == MANY
            files.forget(tx, "w", [file.path for file in many[1:]])
            assert list(files.of_workspace(tx, "w")) == ["0.md"]

    def test_no_files_change_nothing(self, database):
        with database.write() as tx:
            files.put(tx, "w", [], now=NOW)
            files.forget(tx, "w", [])
            assert files.of_workspace(tx, "w") == {}


class DocumentContract:
    """Named texts."""

    def test_notes_are_read_changed_and_listed(self, database):
        notes = TableNotes(database, lambda: NOW)
        assert (notes.read("MEMORY.md"), notes.names()) == ("", [])
        notes.update("tasks/a.md", lambda old: old + "a")
        notes.update("MEMORY.md", lambda old: old + "één 🜁")
        notes.update("MEMORY.md", lambda old: old + "\ntwo")
        assert notes.read("MEMORY.md") == "één 🜁\ntwo"
        assert notes.names() == ["MEMORY.md", "tasks/a.md"]

    def test_documents_tell_their_time_and_hash(self, database):
        TableNotes(database, lambda: NOW).update("MEMORY.md", lambda _: "abc")
        with database.read() as tx:
            (document,) = documents.all_documents(tx)
        noon = 1_779_192_000_000  # 20,592 days of 86,400,000 ms, and twelve hours
        assert document == StoredDocument("MEMORY.md", "abc", noon)
        assert document.hash.startswith("ba7816bf8f01cfea")  # sha256("abc"), FIPS 180-2

    def test_a_change_shows_in_the_time_though_the_clock_stands_still(self, database):
        noon = 1_779_192_000_000
        notes = TableNotes(database, lambda: NOW)
        for text in ("abc", "xyz", "abc"):
            notes.update("MEMORY.md", lambda _, text=text: text)
        with database.read() as tx:
            assert documents.by_name(tx, "MEMORY.md") == StoredDocument(
                "MEMORY.md", "abc", noon + 2
            )
            assert documents.by_name(tx, "memory.md") is None

    def test_a_change_that_fails_changes_nothing(self, database):
        notes = TableNotes(database, lambda: NOW)
        notes.update("MEMORY.md", lambda _: "before")

        def fail(old: str) -> str:
            raise RuntimeError(old)

        with pytest.raises(RuntimeError, match="before"):
            notes.update("MEMORY.md", fail)
        assert notes.read("MEMORY.md") == "before"

    def test_the_same_text_is_not_written_again(self, database):
        TableNotes(database, lambda: NOW).update("MEMORY.md", lambda _: "same")
        later = TableNotes(database, lambda: NOW + timedelta(days=1))
        later.update("MEMORY.md", lambda old: old)
        later.update("DREAMS.md", lambda old: old)
        with database.read() as tx:
            (document,) = documents.all_documents(tx)
        assert document.updated_ms == 1_779_192_000_000


class AccessContract:
    """Access counts."""

    def test_counts_add_up_and_leave_the_change_counter_alone(self, database):
        one, two = keep(database, "one", "two")
        for accesses in ({one.id: 1, two.id: 5}, {one.id: 2}):
            with database.write() as tx:
                access.record(tx, accesses, now=NOW)
        with database.read() as tx:
            nums = {row.text: row.num for row in chunks.index_rows(tx, "shared")}
            assert access.counts_of_partition(tx, "shared") == {nums["one"]: 3, nums["two"]: 5}
        assert counters(database) == Counters(changes=1, accesses=2)

    def test_only_counts_changed_since_are_returned(self, database):
        one, two = keep(database, "one", "two")
        for accesses in ({one.id: 1, two.id: 5}, {two.id: 2}):
            with database.write() as tx:
                access.record(tx, accesses, now=NOW)
        with database.read() as tx:
            assert list(access.counts_of_partition(tx, "shared", after_seq=1).values()) == [7]
            assert access.counts_of_partition(tx, "shared", after_seq=2) == {}

    def test_counts_are_of_one_partition(self, database):
        (shared,) = keep(database, "x")
        mine = Provenance(scope="personal", owner="anna")
        (own,) = keep(database, "y", source="doc:anna/1", provenance=mine)
        with database.write() as tx:
            access.record(tx, {shared.id: 1, own.id: 2, "unknown": 9}, now=NOW)
        with database.read() as tx:
            assert list(access.counts_of_partition(tx, "personal/anna").values()) == [2]

    def test_no_accesses_write_no_rows(self, database):
        with database.write() as tx:
            access.record(tx, {}, now=NOW)
        assert counters(database) == Counters(0, 0)
