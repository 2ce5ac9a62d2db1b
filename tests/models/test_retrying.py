"""When a failed call is made again."""

import pytest

from langchain_memengine.models.retrying import Retries

NOW, LATER = "Thu, 01 Jan 2026 00:00:00 GMT", "Thu, 01 Jan 2026 00:00:30 GMT"


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
        (StatusError(429, {"retry-after": "²"}), 1, 0, 0.5),  # a digit, and no number
        (StatusError(429, {"Retry-After": LATER, "Date": NOW}), 1, 0, 30.0),
        (StatusError(429, {"Retry-After": LATER}), 1, 0, 0.5),  # no clock to measure it with
        (StatusError(429, {"Retry-After": NOW, "Date": LATER}), 1, 0, 0.0),
        (StatusError(429, {"Retry-After": f"{LATER[:-3]}+{'9' * 30}", "Date": NOW}), 1, 0, 0.5),
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
