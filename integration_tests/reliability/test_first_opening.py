"""Whoever opens a new database at the same moment as others gets it."""

import threading
from concurrent.futures import ThreadPoolExecutor

from sqlalchemy import make_url

from langchain_memengine.storage.sqlite import connect, file_url

OPENERS = 6
ROUNDS = 40


def test_a_new_file_is_opened_by_all_at_once(tmp_path):
    together = threading.Barrier(OPENERS)

    def opened(path):
        engine = connect(make_url(file_url(path)), busy_timeout_ms=5000, read_only=False)
        together.wait()
        try:
            with engine.connect() as connection:
                return connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()
        finally:
            engine.dispose()

    with ThreadPoolExecutor(OPENERS) as pool:
        for number in range(ROUNDS):
            path = tmp_path / f"{number}.sqlite"
            assert list(pool.map(opened, [path] * OPENERS)) == ["wal"] * OPENERS
