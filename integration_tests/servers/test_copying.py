"""A database that is copied from SQLite to a server, on to the other one, and back."""

from itertools import pairwise

import pytest
from sqlalchemy import text

from langchain_memengine.errors import StorageError
from langchain_memengine.storage.copying import copy_database
from langchain_memengine.storage.database import Database
from tests.fakes.full_database import everything, fill
from tests.storage.contract import NOW, keep


@pytest.fixture
def full(tmp_path):
    """The address of a SQLite database with rows in every table."""
    url = f"sqlite:///{tmp_path}/full.sqlite"
    fill(url)
    return url


def test_a_database_comes_back_from_both_servers_as_it_was(full, postgresql, mariadb, tmp_path):
    back = f"sqlite:///{tmp_path}/back.sqlite"
    path = [full, postgresql.url(), mariadb.url(), back]
    done = [copy_database(*step) for step in pairwise(path)]
    assert all(everything(url) == everything(full) for url in path[1:])
    assert done[0] == done[1] == done[2]


def test_numbers_go_on_where_the_source_is(server, tmp_path):
    """Numbers of what was removed are not used again, from and to a server."""
    settings = {"store_id": "numbers", "now": NOW, "busy_timeout_ms": 0}
    before = [f"sqlite:///{tmp_path}/numbers.sqlite", server.url()]
    database = Database(before[0], **settings)
    keep(database, "one", "two")
    keep(database)
    database.close()
    copy_database(*before)
    after = server.url()
    copy_database(before[1], after)
    database = Database(after, **settings)
    keep(database, "three")
    with database.read() as tx:
        assert tx.connection.execute(text("SELECT num FROM chunks")).scalars().all() == [3]
    keep(database)
    database.close()


def test_nothing_of_a_failed_copy_stays(full, server):
    target = server.url()

    def fail(done, total):
        if done > total // 2:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        copy_database(full, target, progress=fail)
    copy_database(full, target)
    assert everything(target) == everything(full)
    with pytest.raises(StorageError, match="not empty"):
        copy_database(full, target)
