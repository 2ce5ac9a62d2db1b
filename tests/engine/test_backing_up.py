"""A backup is the whole database at one moment; a restore puts it back and keeps what was there."""

import os
import shutil
import sqlite3

import pytest

from langchain_memengine.engine.restoring import restore
from langchain_memengine.errors import (
    ConfigurationError,
    NotFoundError,
    SchemaVersionError,
    StorageError,
    StoreBusyError,
    StoreLockedError,
)
from langchain_memengine.storage.backup import EPOCH
from tests.engine.test_reopening import CORPUS, answers, engine_of
from tests.fakes.clock import FixedClock
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine, texts, write

CLOCK = FixedClock()


def store(root, *words, ids=None):
    with engine_of(root) as engine:
        engine.add_texts(words, ids=ids)


def remembered(root):
    with engine_of(root) as engine:
        return sorted(texts(engine.search("tea", 50)))


def epoch_of(root):
    with engine_of(root, read_only=True) as engine, engine._database.read() as tx:
        return tx.get_meta(EPOCH)


@pytest.fixture
def backed_up(tmp_path):
    """Return a memory of one text and its backup."""
    root, file = tmp_path / "memory", tmp_path / "backup.sqlite"
    with engine_of(root) as engine:
        engine.add_texts(["tea one"])
        written = engine.backup(file)
    assert (written.path, written.chunks, written.size) == (file, 1, file.stat().st_size)
    return root, file


def test_backup_holds_what_was_stored_before_it(backed_up, tmp_path):
    root, file = backed_up
    store(root, "tea two")
    restored = restore(file, root, clock=CLOCK)
    assert restored.chunks == 1
    assert remembered(root) == ["tea one"]
    assert restored.before.name == "memory.sqlite.before-restore-20260519T120000Z"
    assert restore(restored.before, tmp_path / "other", clock=CLOCK).before is None
    assert remembered(tmp_path / "other") == ["tea one", "tea two"]
    again = restore(file, root, clock=CLOCK)
    assert again.before.name.endswith("Z-2")
    assert not list((root / ".memengine").glob("*.tmp*"))


def test_a_graph_tells_nothing_that_the_backup_does_not_hold(backed_up):
    root, file = backed_up
    with engine_of(root) as engine:
        engine.add_texts(["Bert hides the key"], ids=["later"])
        held, later = (engine.search(one, 1).hits[0] for one in ("tea one", "Bert hides"))
        engine.graph.add_triples([("Ann", "drinks", "tea")], evidence=held.id)
        engine.graph.add_triples([("Bert", "hides", "the key")], evidence=later.id)
        engine.graph.add_triples([("Carl", "knows", "Bert")], evidence="by hand")
    restore(file, root, clock=CLOCK)
    with engine_of(root) as engine:
        with pytest.raises(NotFoundError):
            engine.graph.neighbours("the key")
        told = [engine.graph.neighbours(name).relations for name in ("Ann", "Carl")]
        assert [str(one) for (one,) in told] == ["Ann —drinks→ tea", "Carl —knows→ Bert"]


def test_a_damaged_graph_keeps_no_backup_from_being_restored(backed_up, caplog):
    root, file = backed_up
    graph = root / ".memengine" / "kg.sqlite"
    graph.write_bytes(b"no database" * 100)
    assert restore(file, root, clock=CLOCK).chunks == 1
    assert f"move it aside. {graph} is damaged" in caplog.text


def test_backup_while_others_write_is_one_file_that_is_sound(backed_up, tmp_path):
    root, _ = backed_up
    with engine_of(root) as one, engine_of(root) as other:
        with other._database.write() as tx:
            tx.set_meta("unfinished", "yes")
            one.backup(tmp_path / "during.sqlite")
        other.add_texts(["tea three"])
    assert [path.name for path in tmp_path.glob("during*")] == ["during.sqlite"]
    with sqlite3.connect(tmp_path / "during.sqlite") as copy:
        assert copy.execute("SELECT text FROM chunks").fetchall() == [("tea one",)]
        assert copy.execute("SELECT * FROM meta WHERE key = 'unfinished'").fetchall() == []
    copy.close()


def test_store_without_a_folder_is_backed_up_too(tmp_path):
    with make_engine(embeddings=FakeEmbeddings()) as engine:
        engine.add_texts(["tea"])
        assert engine.backup(tmp_path / "new" / "b.sqlite").chunks == 1
    restore(tmp_path / "new" / "b.sqlite", tmp_path / "memory", clock=CLOCK)
    assert remembered(tmp_path / "memory") == ["tea"]


@pytest.mark.parametrize("was_opened", [False, True])
def test_a_restored_memory_has_no_file_twice_in_another_folder(tmp_path, was_opened):
    root, other = tmp_path / "memory", tmp_path / "other"
    write(root, "a.md", "tea")
    with engine_of(root) as engine:
        engine.sync()
        engine.backup(tmp_path / "b.sqlite")
    write(other, "a.md", "tea")
    if was_opened:
        with engine_of(other) as engine:
            engine.sync()
    restore(tmp_path / "b.sqlite", other, clock=CLOCK)
    with engine_of(other) as engine:
        engine.sync()
        assert texts(engine.search("tea")) == ["tea"]
        write(other, "a.md", "coffee")
        assert engine.search("tea").hits == ()
        assert texts(engine.search("coffee")) == ["coffee"]
    with engine_of(root) as engine:  # the first one is as it was
        engine.sync()
        assert texts(engine.search("tea")) == ["tea"]


def test_nothing_is_overwritten_unless_forced(backed_up, tmp_path):
    root, file = backed_up
    before = file.read_bytes()
    with engine_of(root) as engine:
        engine.add_texts(["tea two"])
        with pytest.raises(ConfigurationError, match="exists"):
            engine.backup(file)
        assert file.read_bytes() == before
        assert engine.backup(file, force=True).chunks == 2
        with pytest.raises(ConfigurationError, match="is a folder"):
            engine.backup(tmp_path)
        for own in ("memory.sqlite", "memory.sqlite-wal"):
            with pytest.raises(ConfigurationError, match="the database itself"):
                engine.backup(root / ".memengine" / own, force=True)


def test_backup_that_cannot_be_written_leaves_nothing(backed_up, tmp_path):
    root, _ = backed_up
    (tmp_path / "file").write_text("no folder")
    with engine_of(root) as engine, pytest.raises(StorageError, match="cannot be written"):
        engine.backup(tmp_path / "file" / "b.sqlite")


def test_derived_files_of_another_history_are_not_used(tmp_path):
    """The restored database counts past the old one's changes, with other texts."""
    root = tmp_path / "memory"
    with engine_of(root) as engine:
        engine.add_texts(CORPUS, ids=[str(i) for i in range(len(CORPUS))])
        engine.backup(tmp_path / "b.sqlite")
        engine.add_texts([f"milk {i}" for i in range(50)])
        answers(engine)
    index = root / ".memengine/index"
    index.rename(tmp_path / "index")
    restore(tmp_path / "b.sqlite", root, clock=CLOCK)
    with engine_of(root) as engine:
        engine.delete(["7"])
        for i in range(3):
            engine.add_texts([f"cocoa {i}"])
        expected = answers(engine)
        assert engine.search("milk").hits == ()
    shutil.rmtree(index)
    (tmp_path / "index").rename(index)  # as if it had not been removed
    with engine_of(root) as engine:
        assert answers(engine) == expected
        assert engine.search("milk").hits == ()


def test_older_database_put_back_by_hand_is_not_answered_from_newer_indexes(tmp_path):
    root = tmp_path / "memory"
    state = root / ".memengine"
    with engine_of(root) as engine:
        engine.add_texts(CORPUS, ids=[str(i) for i in range(len(CORPUS))])
        engine.backup(tmp_path / "copy.sqlite")
        engine.delete(["7"])
        engine.add_texts([f"milk {i}" for i in range(50)])
        answers(engine)
    for path in state.glob("memory.sqlite*"):
        path.unlink()
    (tmp_path / "copy.sqlite").rename(state / "memory.sqlite")
    engine_of(root).close()  # it is noticed here, without any search
    noticed = epoch_of(root)
    engine_of(root).close()
    assert epoch_of(root) == noticed  # once
    with engine_of(root) as engine:
        for i in range(4):
            engine.add_texts([f"cocoa {i}"])  # the counter passes that of the snapshot
        assert engine.search("milk").hits == ()
        assert engine.search("number7").hits[0].text == CORPUS[7]


def test_stores_that_share_a_root_do_not_take_each_other_for_older(tmp_path):
    with engine_of(tmp_path) as engine:
        engine.add_texts(CORPUS)
        engine.search("tea")
    with engine_of(tmp_path, store_id="small") as engine, engine._database.read() as tx:
        first = tx.get_meta(EPOCH)
    with engine_of(tmp_path, store_id="small") as engine, engine._database.read() as tx:
        assert tx.get_meta(EPOCH) == first


# What is refused, with nothing changed


def states(root):
    return {
        path.name: path.read_bytes()
        for path in (root / ".memengine").iterdir()
        if path.is_file() and not path.name.startswith("index.lock")
    }


def garbage(file):
    file.write_bytes(b"\x5a" * 8192)


def flipped(file):
    content = bytearray(file.read_bytes())
    content[4096:8192] = os.urandom(4096)
    file.write_bytes(content)


def other_database(file):
    file.unlink()
    with sqlite3.connect(file) as connection:
        connection.execute("CREATE TABLE chunks (a)")
    connection.close()


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (lambda file: file.unlink(), "There is no backup"),
        (garbage, "is damaged, or no database"),
        (flipped, "damaged"),
        (lambda file: os.truncate(file, 0), "none of a memory"),
        (other_database, "none of a memory"),
    ],
    ids=["missing", "garbage", "flipped", "empty", "other database"],
)
def test_what_is_no_sound_backup_is_refused(backed_up, spoil, why):
    root, file = backed_up
    spoil(file)
    before = states(root)
    with pytest.raises(StorageError, match=why):
        restore(file, root, clock=CLOCK)
    assert states(root) == before


def test_backup_of_a_newer_release_is_refused(backed_up):
    root, file = backed_up
    with sqlite3.connect(file) as connection:
        connection.execute("INSERT INTO schema_migrations VALUES ('m999_later', 0)")
    connection.close()
    with pytest.raises(SchemaVersionError, match="m999_later"):
        restore(file, root, clock=CLOCK)


def test_memory_in_use_is_not_replaced(backed_up):
    root, file = backed_up
    with engine_of(root), pytest.raises(StoreLockedError):
        restore(file, root, clock=CLOCK)
    with engine_of(root, read_only=True) as reader:
        reader.search("tea")
        with pytest.raises(StoreBusyError, match="is open in another process"):
            restore(file, root, clock=CLOCK)
    assert not list((root / ".memengine").glob("*before*"))
    assert restore(file, root, clock=CLOCK).before is not None


@pytest.mark.parametrize(
    ("url", "tool"),
    [
        ("postgresql://localhost/memory", "pg_restore"),
        ("mysql+pymysql://localhost/memory", "mysqldump"),
        ("mariadb+pymysql://localhost/memory", "mariadb-dump"),
    ],
)
def test_server_is_restored_by_its_own_tools(backed_up, monkeypatch, url, tool):
    root, file = backed_up
    monkeypatch.setenv("MEMENGINE_DATABASE_URL", url)
    with pytest.raises(StorageError, match=tool):
        restore(file, root, clock=CLOCK)


def test_database_elsewhere_is_restored_there(backed_up, tmp_path, monkeypatch):
    root, file = backed_up
    monkeypatch.setenv("MEMENGINE_DATABASE_URL", f"sqlite:///{tmp_path}/else.sqlite")
    assert restore(file, root, clock=CLOCK).database == tmp_path / "else.sqlite"
    with make_engine(root, database_url=f"sqlite:///{tmp_path}/else.sqlite") as engine:
        assert engine.stats().chunks == 1


# A damaged database


@pytest.mark.parametrize("spoil", [garbage, flipped], ids=["garbage", "a page"])
def test_damaged_database_names_the_way_out_and_is_restored(backed_up, spoil):
    root, file = backed_up
    database = root / ".memengine/memory.sqlite"
    spoil(database)
    damaged = database.read_bytes()
    with pytest.raises(StorageError, match="memengine restore FILE"):
        remembered(root)
    assert database.read_bytes() == damaged
    restored = restore(file, root, clock=CLOCK)
    assert restored.before.read_bytes()[100:] == damaged[100:]  # SQLite notes its mode before
    assert remembered(root) == ["tea one"]


def test_log_of_a_damaged_database_is_not_played_into_the_new_one(backed_up):
    root, file = backed_up
    database = root / ".memengine/memory.sqlite"
    garbage(database)
    database.with_name("memory.sqlite-wal").write_bytes(b"log")
    restored = restore(file, root, clock=CLOCK)
    assert not database.with_name("memory.sqlite-wal").exists()
    assert restored.before.with_name(restored.before.name + "-wal").read_bytes() == b"log"
