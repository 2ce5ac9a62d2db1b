"""Tables are made as SQLAlchemy makes them, and written down once for a kind of database."""

import pytest
from sqlalchemy import create_engine, inspect
from sqlalchemy.dialects import mysql, postgresql

from langchain_memengine.storage import creating, graph_schema
from langchain_memengine.storage.creating import create_missing, create_missing_index
from langchain_memengine.storage.schema import chunks, metadata

TABLES = metadata.sorted_tables


@pytest.fixture
def connection():
    engine = create_engine("sqlite://")
    with engine.begin() as connection:
        yield connection
    engine.dispose()


def made(connection):
    rows = connection.exec_driver_sql("SELECT type, name, sql FROM sqlite_master")
    return {(kind, name): sql and " ".join(sql.split()) for kind, name, sql in rows}


@pytest.mark.parametrize("tables", [TABLES, graph_schema.metadata.sorted_tables])
def test_tables_and_indexes_are_those_that_sqlalchemy_makes(connection, tables):
    create_missing(connection, tables, ())
    other = create_engine("sqlite://")
    with other.begin() as theirs:
        tables[0].metadata.create_all(theirs)
        assert made(connection) == made(theirs)
    other.dispose()


def test_what_is_there_stays_and_what_is_missing_comes(connection):
    create_missing(connection, [chunks], ())
    connection.exec_driver_sql("DROP INDEX ix_chunks_commit")
    before = made(connection)
    create_missing(connection, [chunks], {"chunks"})
    create_missing_index(connection, chunks, "ix_chunks_commit", ())
    assert made(connection) == before
    create_missing_index(connection, chunks, "ix_chunks_commit", {"chunks"})
    create_missing_index(connection, chunks, "ix_chunks_seq", {"chunks"})
    names = {one["name"] for one in inspect(connection).get_indexes("chunks")}
    assert {"ix_chunks_commit", "ix_chunks_seq"} <= names
    assert len(made(connection)) == len(before) + 1


def test_statements_are_written_once_for_all_databases_of_a_kind(connection):
    create_missing(connection, TABLES, ())
    written = creating._written.cache_info().misses
    other = create_engine("sqlite://")
    with other.begin() as theirs:
        create_missing(theirs, TABLES, ())
    other.dispose()
    assert creating._written.cache_info().misses == written


def test_databases_of_another_kind_have_statements_of_their_own():
    one, other = (creating._Kind(kind()) for kind in (mysql.dialect, postgresql.dialect))
    assert one == creating._Kind(mysql.dialect())
    assert one != other
    assert creating._written(chunks, one) != creating._written(chunks, other)
    newer = mysql.dialect()
    newer.server_version_info = (9, 0)
    assert creating._Kind(newer) != one
