"""A migration that fails half-way, on a database with transactional schema changes."""

import pytest
from sqlalchemy import inspect

from langchain_memengine.storage import conversation_schema
from langchain_memengine.storage.database import Database
from langchain_memengine.storage.migrations import MIGRATIONS, migrate
from tests.storage.contract import NOW


def test_a_failed_migration_leaves_nothing_behind(tmp_path):
    database = Database(f"sqlite:///{tmp_path}/s", store_id="a", now=NOW, busy_timeout_ms=0)

    def half(connection, _there):
        connection.exec_driver_sql("CREATE TABLE half (x INTEGER)")
        raise RuntimeError("power cut")

    def attempt():
        with database.write() as tx:
            migrate(tx.connection, 1, [*MIGRATIONS, ("m900_half", half)])

    with pytest.raises(RuntimeError, match="power cut"):
        attempt()
    with database.write() as tx:
        assert not inspect(tx.connection).has_table("half")
        assert migrate(tx.connection, 1, [*MIGRATIONS, ("m900_half", lambda *_: None)]) == [
            "m900_half"
        ]
    database.close()


def test_a_database_without_conversations_gets_their_tables_and_the_index_by_commit(tmp_path):
    database = Database(f"sqlite:///{tmp_path}/s", store_id="a", now=NOW, busy_timeout_ms=0)
    with database.write() as tx:  # as the first release left it
        for table in conversation_schema.CONVERSATION_TABLES:
            table.drop(tx.connection)
        tx.connection.exec_driver_sql("DROP INDEX ix_chunks_commit")
        tx.connection.exec_driver_sql("DELETE FROM schema_migrations WHERE name LIKE 'm003%'")
        assert "m003_conversations" in migrate(tx.connection, 1)
        found = inspect(tx.connection)
        assert all(found.has_table(table.name) for table in conversation_schema.CONVERSATION_TABLES)
        assert "ix_chunks_commit" in {index["name"] for index in found.get_indexes("chunks")}
    database.close()


def test_a_database_without_the_index_of_limited_chunks_gets_it(tmp_path):
    database = Database(f"sqlite:///{tmp_path}/s", store_id="a", now=NOW, busy_timeout_ms=0)
    with database.write() as tx:
        tx.connection.exec_driver_sql("DROP INDEX ix_chunks_limited")
        tx.connection.exec_driver_sql("DELETE FROM schema_migrations WHERE name LIKE 'm006%'")
        assert migrate(tx.connection, 1) == ["m006_limited_chunks"]
        names = {index["name"] for index in inspect(tx.connection).get_indexes("chunks")}
    assert "ix_chunks_limited" in names
    database.close()
