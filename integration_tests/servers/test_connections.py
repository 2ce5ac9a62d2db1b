"""Connections that break, servers that refuse, and transactions in each other's way."""

import gc
import warnings
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Barrier

import pytest
from sqlalchemy import create_engine, event, make_url, text, update

from langchain_memengine.errors import StorageError, StoreBusyError, StoreUnreachableError
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.documents import TableNotes
from langchain_memengine.storage.schema import counters
from tests.storage.contract import NOW, keep
from tests.storage.contracts import opening

OTHERS = {
    "postgresql": "SELECT pid FROM pg_stat_activity WHERE datname = current_database() "
    "AND pid <> pg_backend_pid()",
    "mysql": "SELECT id FROM information_schema.processlist WHERE db = database() "
    "AND id <> connection_id()",
}
KILL = {"postgresql": "SELECT pg_terminate_backend({})", "mysql": "KILL {}"}


def collect_sockets() -> None:
    """Let go of what PyMySQL leaves open when it cannot connect; Python warns of that."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()


@pytest.fixture
def url(server):
    """The address of a database that a test has to itself."""
    return server.url()


@pytest.fixture
def break_connections(url):
    """Return a function that breaks all other connections to the database."""
    kind = make_url(url).get_backend_name()
    admin = create_engine(url, isolation_level="AUTOCOMMIT")

    def broken() -> int:
        with admin.connect() as connection:
            others = connection.execute(text(OTHERS[kind])).scalars().all()
            for other in others:
                connection.execute(text(KILL[kind].format(other)))
        return len(others)

    yield broken
    admin.dispose()


def test_connections_that_broke_while_nobody_used_them_are_replaced(opened, break_connections):
    database = opened()
    keep(database, "text")
    with database.read(), database.read() as tx:
        assert tx.counters().changes == 1
    assert break_connections() >= 2
    with database.read() as tx:
        assert tx.counters().changes == 1
    assert break_connections() >= 1
    keep(database, "other")
    with database.read() as tx:
        assert tx.counters().changes == 2


def test_a_view_that_breaks_is_named_and_the_next_one_works(opened, break_connections):
    database = opened()

    def broken() -> None:
        with database.read() as tx:
            break_connections()
            tx.counters()

    with pytest.raises(StoreUnreachableError, match="connects anew"):
        broken()
    with database.read() as tx:
        assert tx.counters().changes == 0


def test_a_transaction_that_breaks_is_named_and_leaves_nothing(opened, break_connections):
    database = opened()

    def broken() -> None:
        with database.write() as tx:
            tx.set_meta("key", "lost")
            break_connections()
            tx.set_meta("other", "lost")

    with pytest.raises(StoreUnreachableError, match="may or may not"):
        broken()
    with database.write() as tx:  # the lock went with the connection
        assert tx.get_meta("key") is None
        tx.set_meta("key", "stored")
    with database.read() as tx:
        assert tx.get_meta("key") == "stored"


@pytest.mark.parametrize("begin", ["read", "write", "write beside others"])
def test_a_connection_that_breaks_while_it_is_set_up_is_named(opened, break_connections, begin):
    database = opened()
    options = {"alone": False} if begin == "write beside others" else {}
    event.listen(database._engine, "engine_connect", lambda _: break_connections(), once=True)
    with (
        pytest.raises(StoreUnreachableError, match="connects anew"),
        getattr(database, begin.split()[0])(**options) as tx,
    ):
        tx.get_meta("key")
    keep(database, "text")


def test_a_server_that_is_not_there_is_named(url):
    query = {"host": "/nowhere"} if url.startswith("postgresql") else {"unix_socket": "/nowhere"}
    nowhere = make_url(url).set(query=query).render_as_string(hide_password=False)
    with pytest.raises(StoreUnreachableError, match="cannot be reached"):
        Database(nowhere, store_id="a", now=NOW, busy_timeout_ms=0)
    collect_sockets()


@pytest.mark.parametrize(
    "wrong", [{"database": "nowhere"}, {"username": "nobody", "password": "hunter2"}]
)
def test_a_wrong_database_or_user_is_named_without_the_password(url, wrong):
    address = make_url(url).set(**wrong).render_as_string(hide_password=False)
    with pytest.raises(StorageError, match="does not let this user in") as refused:
        Database(address, store_id="a", now=NOW, busy_timeout_ms=0)
    assert "hunter2" not in str(refused.value)
    collect_sockets()


def test_a_password_may_have_any_characters(mariadb):
    url, password = make_url(mariadb.url()), "p@ss/wörd 🍵"
    admin = create_engine(url)
    with admin.begin() as connection:
        connection.execute(
            text(f"CREATE USER {url.database}@localhost IDENTIFIED BY :p"), {"p": password}
        )
        connection.execute(text(f"GRANT ALL ON {url.database}.* TO {url.database}@localhost"))
    admin.dispose()
    theirs = url.set(username=url.database, password=password)
    with opening(partial(Database, theirs.render_as_string(hide_password=False))) as opened:
        keep(opened(), "text")


def test_a_writer_waits_for_another_of_its_store_only(opened):
    one, same, other = opened("a"), opened("a"), opened("b")
    with one.write() as tx:
        tx.set_meta("key", "one")
        with pytest.raises(StoreBusyError, match="busy_timeout_ms"), same.write():
            pass
        keep(other, "text")
        with same.read() as reading:
            assert reading.get_meta("key") is None
    with same.write() as tx:
        assert tx.get_meta("key") == "one"


def test_a_writer_that_waits_reads_what_the_one_before_it_stored(opened):
    database = opened(busy_timeout_ms=20_000)
    notes = TableNotes(database, lambda: NOW)

    def add(name):
        for _ in range(10):
            notes.update("list.md", lambda text: f"{text}{name}")

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, "abcd"))
    assert sorted(notes.read("list.md")) == sorted("abcd" * 10)


def test_a_deadlock_ends_one_of_the_two_and_says_so(opened):
    database = opened(busy_timeout_ms=20_000)
    met = Barrier(2, timeout=20)

    def take(names):
        with database.write(alone=False) as tx:
            for name in names:
                row = (counters.c.store_id == tx.store_id) & (counters.c.name == name)
                tx.connection.execute(update(counters).where(row).values(value=7))
                if name == names[0]:
                    met.wait()

    with ThreadPoolExecutor(2) as pool:
        taking = [
            pool.submit(take, names) for names in (("changes", "accesses"), ("accesses", "changes"))
        ]
        errors = [one.exception(60) for one in taking]
    assert sorted(type(error) for error in errors if error) == [StoreBusyError]
    with database.read() as tx:
        assert (tx.counters().changes, tx.counters().accesses) == (7, 7)


def test_several_may_open_an_empty_database_at_once(url):
    def opened(number):
        database = Database(url, store_id=f"{number % 2}", now=NOW, busy_timeout_ms=30_000)
        keep(database, "text", source=f"doc:/{number}")
        database.close()

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(opened, range(4)))
    database = Database(url, store_id="0", now=NOW, busy_timeout_ms=0)
    with database.read() as tx:
        assert tx.counters().changes == 2
    database.close()


def test_more_threads_than_are_kept_may_read_at_once(opened):
    database = opened()
    keep(database, "text")
    together = Barrier(20, timeout=30)

    def read(_):
        with database.read() as tx:
            together.wait()
            return tx.counters().changes

    with ThreadPoolExecutor(20) as pool:
        assert list(pool.map(read, range(20))) == [1] * 20


def test_a_name_that_is_too_long_is_named_and_nothing_is_stored(opened):
    database = opened()
    with pytest.raises(StorageError, match="longer than this database holds"):
        TableNotes(database, lambda: NOW).update("n" * 3000, lambda _: "text")
    assert TableNotes(database, lambda: NOW).names() == []


def test_a_text_that_is_too_large_for_mariadb_is_named(mariadb):
    """PostgreSQL takes texts of up to 1 GB."""
    with opening(partial(Database, mariadb.url())) as opened:
        notes = TableNotes(opened(), lambda: NOW)
        with pytest.raises(StorageError, match="max_allowed_packet"):
            notes.update("note.md", lambda _: "x" * 20_000_000)
        notes.update("note.md", lambda _: "small")
        assert notes.read("note.md") == "small"
