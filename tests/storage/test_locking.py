"""The lock on the derived indexes, within one process."""

import os
import socket
import threading

import pytest

from langchain_memengine.errors import StorageError, StoreLockedError
from langchain_memengine.storage.locking import IndexLock


def test_the_second_one_is_refused_at_once_until_the_first_lets_go(tmp_path):
    first, second = IndexLock(tmp_path), IndexLock(tmp_path)
    first.acquire()
    with pytest.raises(StoreLockedError, match="maintains the indexes"):
        second.acquire()
    first.release()
    second.acquire()
    with pytest.raises(StoreLockedError):
        first.acquire()
    second.release()


def test_holder_is_named_while_the_lock_is_held(tmp_path):
    lock, other = IndexLock(tmp_path), IndexLock(tmp_path)
    assert lock.holder() is None
    lock.acquire()
    assert (lock.is_held, other.is_held) == (True, False)
    assert other.holder()[:2] == (os.getpid(), socket.gethostname())
    assert other.holder().since.tzinfo is not None
    other.release()  # what it does not hold, it does not give back
    assert other.holder() is not None
    lock.release()
    assert other.holder() is None


@pytest.mark.parametrize("note", ["", "[1]", '{"pid": "x", "host": ""}', "{}"])
def test_note_that_is_damaged_names_nobody(tmp_path, note):
    (tmp_path / "index.lock.json").write_text(note)
    assert IndexLock(tmp_path).holder() is None


def test_releasing_twice_or_what_was_never_taken_is_fine(tmp_path):
    lock, other = IndexLock(tmp_path), IndexLock(tmp_path)
    lock.release()
    lock.acquire()
    lock.release()
    lock.release()
    other.acquire()
    other.release()


def test_it_belongs_to_all_threads(tmp_path):
    """An engine is opened in one thread and closed in another, as ``async with`` does."""
    lock, seen = IndexLock(tmp_path), []

    def let_go():
        seen.append(lock.is_held)
        lock.release()

    lock.acquire()
    thread = threading.Thread(target=let_go)
    thread.start()
    thread.join()
    assert seen == [True]
    IndexLock(tmp_path).acquire()


def test_stores_do_not_lock_each_other(tmp_path):
    locks = [IndexLock(tmp_path / name) for name in ("a", "b")]
    for lock in locks:
        lock.acquire()
    for lock in locks:
        lock.release()


def test_a_lock_that_cannot_be_made_is_a_storage_error(tmp_path):
    (tmp_path / "state").write_text("no folder")
    with pytest.raises(StorageError, match="cannot be made") as refused:
        IndexLock(tmp_path / "state").acquire()
    assert not isinstance(refused.value, StoreLockedError)
