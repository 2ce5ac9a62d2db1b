"""When a failed call is made again."""

import pytest

from langchain_memengine.models.retrying import Retries


class StatusError(Exception):
    def __init__(self, status, headers=None):
        self.status_code = status
        self.response = type("Response", (), {"status_code": status, "headers": headers or {}})()


@pytest.mark.parametrize(
    ("error", "attempt", "elapsed", "wait"),
    [
        (StatusError(500), 1, 0, 0.5),
        (StatusError(500), 2, 0, 1.0),
        (StatusError(500), 3, 0, 2.0),
        (StatusError(500), 4, 0, None),  # the last try
        (StatusError(429, {"Retry-After": "30"}), 1, 0, 30.0),
        (StatusError(429, {"Retry-After": "30"}), 1, 91, None),  # beyond the deadline
        (StatusError(401), 1, 0, None),
        (TimeoutError(), 1, 0, 0.5),
        (KeyError("x"), 1, 0, None),
    ],
)
def test_wait_before_the_next_try(error, attempt, elapsed, wait):
    assert Retries(4, 120).wait_seconds(error, attempt, elapsed) == wait


def test_waits_double_up_to_eight_seconds():
    waits = [Retries(9, 999).wait_seconds(StatusError(500), n, 0) for n in range(1, 9)]
    assert waits == [0.5, 1, 2, 4, 8, 8, 8, 8]
