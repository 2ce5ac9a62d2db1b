"""Who follows the change counter misses nothing, and who follows row numbers would."""

from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import wait as wait_for
from threading import Event

import pytest
from sqlalchemy import insert, select

from langchain_memengine.storage import chunks
from langchain_memengine.storage.conversation_schema import head_changes
from tests.storage.contract import keep

WRITERS = 4
EACH = 15


def write(database, *, begun, go_on, is_counted):
    """Write a row, and commit it when told to; others may write meanwhile."""
    with database.write(alone=False) as tx:
        seq = tx.seq if is_counted else 0
        row = {"store_id": tx.store_id, "thread_id": "t", "heads": "", "at": 0, "seq": seq}
        tx.connection.execute(insert(head_changes).values(**row))
        begun.set()
        assert go_on.wait(20)
    return seq


def newest(database, column):
    """Return the highest value that a reader sees."""
    with database.read() as tx:
        found = select(column).where(head_changes.c.store_id == tx.store_id).order_by(column.desc())
        return tx.connection.execute(found.limit(1)).scalar_one_or_none() or 0


@pytest.fixture
def pool():
    with ThreadPoolExecutor(WRITERS + 1) as pool:
        yield pool


def test_row_numbers_become_visible_out_of_order(opened, pool):
    """If this fails, the test below proves nothing."""
    database = opened()
    first, second, go_on, at_once = Event(), Event(), Event(), Event()
    at_once.set()
    slow = pool.submit(write, database, begun=first, go_on=go_on, is_counted=False)
    assert first.wait(20)
    pool.submit(write, database, begun=second, go_on=at_once, is_counted=False).result(20)
    seen = newest(database, head_changes.c.num)
    go_on.set()
    slow.result(20)
    assert newest(database, head_changes.c.num) == seen  # the slow one's is lower: never read


def test_values_of_the_counter_become_visible_in_order(opened, pool):
    database = opened(busy_timeout_ms=20_000)
    first, second, go_on, at_once = Event(), Event(), Event(), Event()
    at_once.set()
    slow = pool.submit(write, database, begun=first, go_on=go_on, is_counted=True)
    assert first.wait(20)
    quick = pool.submit(write, database, begun=second, go_on=at_once, is_counted=True)
    _, waiting = wait_for([quick], timeout=0.5)
    assert waiting  # for the row of the counter, which the slow one has
    assert newest(database, head_changes.c.seq) == 0
    go_on.set()
    assert (slow.result(20), quick.result(20)) == (1, 2)
    assert newest(database, head_changes.c.seq) == 2


def test_a_follower_sees_every_change_of_several_writers_once(opened, pool):
    database = opened(busy_timeout_ms=20_000)
    seen: list[str] = []

    def store(writer):
        for number in range(EACH):
            keep(database, f"{writer} {number}", source=f"doc:/{writer}/{number}")

    def follow():
        after = 0
        while len(seen) < WRITERS * EACH:
            with database.read() as tx:
                upto = tx.counters().changes
                seen.extend(row.text for row in chunks.index_rows(tx, "shared", after_seq=after))
            after = upto

    following = pool.submit(follow)
    for storing in [pool.submit(store, writer) for writer in range(WRITERS)]:
        storing.result(60)
    following.result(60)
    assert sorted(seen) == sorted(f"{w} {n}" for w in range(WRITERS) for n in range(EACH))
