"""What the numbers and states of database servers mean, without a server."""

import pytest
from sqlalchemy.exc import DBAPIError, OperationalError

from langchain_memengine.errors import (
    StorageError,
    StorageFullError,
    StoreBusyError,
    StoreUnreachableError,
)
from langchain_memengine.storage import mysql, postgresql


class ServerError(Exception):
    """What a driver raises."""

    def __init__(self, *args: object, sqlstate: str | None = None) -> None:
        super().__init__(*args)
        self.sqlstate = sqlstate


def wrapped(error, kind=DBAPIError, *, lost=False):
    return kind("SELECT", None, error, connection_invalidated=lost)


@pytest.mark.parametrize(
    ("state", "kind"),
    [
        ("40P01", StoreBusyError),  # deadlock detected
        ("53100", StorageFullError),  # disk full
        ("08006", StoreUnreachableError),  # of the class of connection exceptions
        ("28P01", StorageError),  # invalid password
        ("XX000", StorageError),  # internal error
    ],
)
def test_states_of_postgresql(state, kind):
    assert type(postgresql.named_error(wrapped(ServerError("said so", sqlstate=state)))) is kind


def test_a_postgresql_that_says_nothing_is_lost_or_failed_in_an_unknown_way():
    silent = ServerError("nothing")
    for error in (wrapped(silent, lost=True), wrapped(silent, OperationalError)):
        assert type(postgresql.named_error(error)) is StoreUnreachableError
    assert type(postgresql.named_error(wrapped(silent))) is StorageError


@pytest.mark.parametrize(
    ("number", "kind", "told"),
    [
        (1213, StoreBusyError, "raise busy_timeout_ms"),  # deadlock
        (1114, StorageFullError, "Free space"),  # table is full
        (2006, StoreUnreachableError, "raise max_allowed_packet"),  # server has gone away
        (1406, StorageError, "Use a shorter one"),  # data too long
        (9999, StorageError, "refused the operation"),
    ],
)
def test_numbers_of_mysql(number, kind, told):
    error = mysql.named_error(wrapped(ServerError(number, "said so")))
    assert type(error) is kind
    assert told in str(error)


def test_a_mysql_that_gives_no_number_is_lost_or_failed_in_an_unknown_way():
    assert type(mysql.named_error(wrapped(ServerError(), lost=True))) is StoreUnreachableError
    assert type(mysql.named_error(wrapped(ServerError("odd")))) is StorageError
