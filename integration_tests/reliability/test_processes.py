"""Several processes and threads on one root: nothing lost, nothing stale, one keeper of indexes."""

import threading

import pytest

from integration_tests.reliability.children import Child, run
from integration_tests.reliability.sharing_processes import back_up, serve, write
from langchain_memengine.engine.restoring import restore
from langchain_memengine.errors import StoreLockedError
from langchain_memengine.storage.backup import contents
from langchain_memengine.storage.locking import IndexLock
from tests.fakes.embeddings import FakeEmbeddings
from tests.fakes.engines import make_engine


def servant(root, *, read_only=False):
    return Child(serve, root, read_only=read_only)


def test_rows_added_and_deleted_anywhere_are_seen_by_the_next_query_everywhere(tmp_path):
    """With Chroma in the process that holds the lock, and exact vectors in the others."""
    with servant(tmp_path) as holder:
        assert holder.hear() == "open True"
        assert holder.ask("add 1 tea of the holder") == "done"
        with servant(tmp_path) as second, servant(tmp_path, read_only=True) as reader:
            assert (second.hear(), reader.hear()) == ("open False", "open False")
            everyone = (holder, second, reader)

            def all_see(*texts):
                expected = str([sorted(texts), []]).replace("'", '"')
                assert [each.ask("search tea") for each in everyone] == [expected] * 3

            all_see("tea of the holder")
            assert second.ask("add 2 tea of the second") == "done"
            assert second.ask("add 3 more tea of the second") == "done"
            all_see("tea of the holder", "tea of the second", "more tea of the second")
            assert second.ask("delete 1 2") == "2"
            all_see("more tea of the second")
            assert holder.ask("add 3 tea that was changed") == "done"
            all_see("tea that was changed")


def test_lock_of_a_killed_process_is_taken_over(tmp_path):
    with servant(tmp_path) as first:
        assert first.hear() == "open True"
        lock = IndexLock(tmp_path / ".memengine")
        with pytest.raises(StoreLockedError):
            lock.acquire()
        assert lock.holder().pid == first.process.pid
        assert first.ask("add 1 tea") == "done"
        first.kill()
    with make_engine(tmp_path, embeddings=FakeEmbeddings()) as engine:
        assert engine._maintains
        assert [hit.text for hit in engine.search("tea").hits] == ["tea"]


def test_a_follower_that_lives_on_keeps_the_indexes_of_a_killed_holder(tmp_path):
    """Another one that follows does not: one process at a time opens the files of Chroma."""
    with servant(tmp_path) as holder:
        assert holder.hear() == "open True"
        assert holder.ask("add 1 tea of the holder") == "done"
        holder.ask("search tea")
        with servant(tmp_path) as second, servant(tmp_path) as third:
            assert (second.hear(), third.hear()) == ("open False", "open False")
            second.ask("search tea")
            assert second.ask("keeps") == "False"
            holder.kill()
            found = second.ask("search tea")
            assert found == third.ask("search tea") == '[["tea of the holder"], []]'
            assert (second.ask("keeps"), third.ask("keeps")) == ("True", "False")
            assert IndexLock(tmp_path / ".memengine").holder().pid == second.process.pid
            assert third.ask("add 2 tea of the third") == "done"
            assert second.ask("search tea") == third.ask("search tea")
            assert (tmp_path / ".memengine/chroma").is_dir()


def test_two_writing_processes_lose_nothing(tmp_path):
    names = ["alice", "bob"]
    with Child(write, tmp_path, names[0]) as one, Child(write, tmp_path, names[1]) as two:
        assert (one.rest(), two.rest()) == (["done"], ["done"])
    with make_engine(tmp_path, embeddings=FakeEmbeddings(), vector_search="chroma") as engine:
        assert engine.stats().chunks == engine.stats().embeddings == 60
        engine.search("tea")
        engine.wait_for_chroma()
        for name in names:
            found = {hit.text for hit in engine.search(f"tea {name}", 80).hits}
            mine = {text for text in found if text.endswith(name)}
            assert mine == {f"tea {number} of {name}" for number in range(10, 40)}
        assert engine.doctor()["indexes"].status == "ok"


def test_eight_threads_share_an_engine(tmp_path):
    """Each adds, searches and deletes; failures in a thread are failures of the test."""
    failures = []
    with make_engine(
        tmp_path, embeddings=FakeEmbeddings(), vector_search="chroma", stat_interval_seconds=60
    ) as engine:

        def work(name):
            try:
                for number in range(12):
                    engine.add_texts([f"tea {number} by{name}"], ids=[f"{name}-{number}"])
                    hits = engine.search(f"tea {number} by{name}", 3).hits
                    assert hits[0].text == f"tea {number} by{name}"
                    if number % 3 == 0:
                        engine.delete([f"{name}-{number}"])
                        texts = {h.text for h in engine.search(f"by{name} {number}", 99).hits}
                        assert f"tea {number} by{name}" not in texts
            except BaseException as error:  # noqa: BLE001  # told to the test below
                failures.append(error)

        threads = [threading.Thread(target=work, args=(name,)) for name in "abcdefgh"]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert failures == []
        engine.wait_for_chroma()
        assert engine.stats().chunks == 8 * 8
        report = engine.doctor()
        assert [check for check in report.checks if check.status != "ok"] == []


def test_backup_while_another_process_writes_is_consistent(tmp_path):
    root, folder = tmp_path / "memory", tmp_path / "backups"
    folder.mkdir()
    make_engine(root, embeddings=FakeEmbeddings()).close()
    with Child(write, root, "alice") as writer:
        assert run(back_up, root, folder) == [str(number) for number in range(6)]
        assert writer.rest() == ["done"]
    changes = []
    for number in range(6):
        file, restored = folder / f"{number}.sqlite", tmp_path / f"restored{number}"
        changes.append(contents(file).changes)
        restore(file, restored)
        with make_engine(restored, embeddings=FakeEmbeddings()) as engine:
            stats = engine.stats()
            assert stats.chunks == stats.embeddings
    assert changes == sorted(changes)
