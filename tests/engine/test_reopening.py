"""Opening a store again answers as before, from the indexes that were kept."""

import pytest

from langchain_memengine.retrieval.keyword_index import KeywordIndex
from langchain_memengine.storage.locking import IndexLock
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine

CORPUS = [f"tea number{i} of the {'morning' if i % 2 else 'evening'}" for i in range(600)]
QUERIES = ["tea morning", "number7 evening", "milk", "number3 number599"]


def engine_of(root, **settings):
    return make_engine(root, embeddings=FakeEmbeddings(), vector_search="exact", **settings)


def answers(engine):
    results = [engine.search(query, 20) for query in QUERIES]
    assert all(result.degraded == () for result in results)
    return [[(hit.id, hit.score) for hit in result.hits] for result in results]


def index_files(root):
    return {path: path.stat().st_mtime_ns for path in (root / ".memengine/index").rglob("*.*")}


@pytest.fixture
def root(tmp_path):
    """Return a store of 600 texts that was searched and closed."""
    with engine_of(tmp_path) as engine:
        engine.add_texts(CORPUS, ids=[str(i) for i in range(len(CORPUS))])
        answers(engine)
    return tmp_path


@pytest.fixture
def indexed(monkeypatch):
    """Return the number of documents of each call that adds to a keyword index."""
    sizes = []
    add = KeywordIndex.add

    def noting(self, documents):
        first = add(self, documents)
        sizes.append(len(self._alive) - first)
        return first

    monkeypatch.setattr(KeywordIndex, "add", noting)
    return sizes


@pytest.mark.parametrize("read_only", [False, True])
def test_answers_are_the_same_and_nothing_is_indexed_again(root, indexed, read_only):
    with engine_of(root, read_only=read_only) as engine:
        kept = answers(engine)
    assert sum(indexed) == 0
    (root / ".memengine/index").rename(root / ".memengine/away")
    with engine_of(root, read_only=read_only) as engine:
        assert answers(engine) == kept
    assert sum(indexed) == 600


def test_changes_after_the_snapshot_are_followed(root, indexed):
    with engine_of(root) as engine:
        engine.delete(["7"])
        engine.add_texts(["milk came in the morning"], ids=["8"])
    with engine_of(root) as engine:
        kept = answers(engine)
        assert len(kept[2]) >= 1
    assert sum(indexed) == 1
    (root / ".memengine/index").rename(root / ".memengine/away")
    with engine_of(root) as engine:
        assert answers(engine) == kept


def test_second_engine_on_a_root_reads_snapshots_and_never_writes(root, indexed):
    before = index_files(root)
    with engine_of(root), engine_of(root) as second:
        second.add_texts([f"milk {i}" for i in range(100)])
        answers(second)
        second.close()
        assert index_files(root) == before
    assert sum(indexed) == 100
    with engine_of(root) as engine:
        answers(engine)
    assert index_files(root).keys() != before.keys()


def test_read_only_engine_takes_no_lock_and_writes_nothing(root):
    (root / ".memengine/index").rename(root / ".memengine/away")
    lock = IndexLock(root / ".memengine")
    with engine_of(root, read_only=True) as engine:
        answers(engine)
        lock.acquire()
        lock.release()
    assert not (root / ".memengine/index").exists()


def test_lock_is_free_after_closing(root):
    engine = engine_of(root)
    engine.close()
    engine.close()
    lock = IndexLock(root / ".memengine")
    lock.acquire()
    lock.release()


def test_new_database_in_the_same_folder_is_not_answered_from_the_old_index(root, indexed):
    for path in (root / ".memengine").glob("memory.sqlite*"):
        path.unlink()
    with engine_of(root) as engine:
        engine.add_texts(["milk"])
        engine.add_texts(["tea"])
        engine.add_texts(["tea morning"])
        assert len(engine.search("number7 tea", 20, ranking="goclaw").hits) <= 3
        assert engine.stats().chunks == 3
    assert sum(indexed) == 3


def test_full_disk_while_closing_is_no_error(tmp_path, monkeypatch, caplog):
    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("langchain_memengine.retrieval.array_files.write_array", full)
    with engine_of(tmp_path) as engine:
        engine.add_texts(CORPUS)
        engine.search("tea")
    assert "was not saved" in caplog.text
    with engine_of(tmp_path) as engine:
        assert engine.search("number7").hits[0].text == CORPUS[7]
