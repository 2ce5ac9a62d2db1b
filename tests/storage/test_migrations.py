"""A migration that fails half-way, on a database with transactional schema changes."""

import pytest
from sqlalchemy import inspect

from langchain_memengine.storage.database import Database
from langchain_memengine.storage.migrations import MIGRATIONS, migrate
from tests.storage.contract import NOW


def test_a_failed_migration_leaves_nothing_behind(tmp_path):
    database = Database(f"sqlite:///{tmp_path}/s", store_id="a", now=NOW, busy_timeout_ms=0)

    def half(connection):
        connection.exec_driver_sql("CREATE TABLE half (x INTEGER)")
        raise RuntimeError("power cut")

    def attempt():
        with database.write() as tx:
            migrate(tx.connection, 1, [*MIGRATIONS, ("m900_half", half)])

    with pytest.raises(RuntimeError, match="power cut"):
        attempt()
    with database.write() as tx:
        assert not inspect(tx.connection).has_table("half")
        assert migrate(tx.connection, 1, [*MIGRATIONS, ("m900_half", lambda _: None)]) == [
            "m900_half"
        ]
    database.close()
