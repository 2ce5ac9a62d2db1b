"""Lists cut into statements."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import bindparam, column, create_engine, select, table
from sqlalchemy.exc import OperationalError

from langchain_memengine.storage.statements import MAX_PARAMETERS, HotQuery, any_of, batches


@given(st.integers(0, 3 * MAX_PARAMETERS + 1))
def test_batches_hold_everything_in_order_and_are_never_too_long(size):
    values = list(range(size))
    cut = list(batches(values))
    assert [value for batch in cut for value in batch] == values
    assert all(0 < len(batch) <= MAX_PARAMETERS for batch in cut)


@pytest.mark.parametrize("wanted", [[], [2], [0, 2]])
def test_any_of_no_conditions_is_met_by_nothing(wanted):
    numbers = table("numbers", column("n"))
    with create_engine("sqlite://").connect() as connection:
        connection.exec_driver_sql("CREATE TABLE numbers (n INTEGER)")
        connection.exec_driver_sql("INSERT INTO numbers VALUES (0), (1), (2)")
        found = select(numbers.c.n).where(any_of(numbers.c.n == n for n in wanted))
        assert list(connection.execute(found).scalars()) == wanted


@given(st.lists(st.integers(0, 20), max_size=8), st.integers(0, 20))
def test_a_hot_query_gives_the_rows_of_its_statement(wanted, least):
    numbers = table("numbers", column("n"), column("name"))
    statement = select(numbers.c.n, numbers.c.name).where(
        numbers.c.n >= bindparam("least"), numbers.c.n.in_(bindparam("wanted", expanding=True))
    )
    hot = HotQuery(statement)
    with create_engine("sqlite://").connect() as connection:
        connection.exec_driver_sql("CREATE TABLE numbers (n INTEGER, name TEXT)")
        connection.exec_driver_sql(
            "INSERT INTO numbers VALUES (?, ?)", [(n, str(n)) for n in range(20)]
        )
        for parameters in ({"wanted": wanted, "least": least}, {"least": least, "wanted": wanted}):
            plain = [tuple(row) for row in connection.execute(statement, parameters)]
            assert hot.rows(connection, parameters) == plain


def test_a_hot_query_that_fails_raises_what_sqlalchemy_raises():
    hot = HotQuery(select(column("n")).select_from(table("nowhere")))
    with create_engine("sqlite://").connect() as connection, pytest.raises(OperationalError):
        hot.rows(connection, {})
