"""Times that a text names."""

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.text.dates import MAX_PERIODS, periods_named

NOW = datetime(2026, 5, 19, 12, 30, tzinfo=UTC)  # a Tuesday


def named(text, now=NOW):
    """Return each period as its first day and the first day after it."""
    return [f"{since:%Y-%m-%d} {until:%Y-%m-%d}" for since, until in periods_named(text, now)]


@pytest.mark.parametrize(
    "text",
    [
        "What happened on 5 May 2023?",
        "on the 5th of May, 2023",
        "MAY 5TH, 2023",
        "May 5 2023",
        "on 2023-05-05",
    ],
)
def test_day_is_named_in_many_ways(text):
    assert named(text) == ["2023-05-05 2023-05-06"]


@pytest.mark.parametrize(
    ("text", "period"),
    [
        ("in May 2023", "2023-05-01 2023-06-01"),
        ("since then, and December, 2023", "2023-12-01 2024-01-01"),
        ("early feb. of 2024", "2024-02-01 2024-03-01"),
        ("in 2022", "2022-01-01 2023-01-01"),
        ("two weeks ago", "2026-05-04 2026-05-11"),
        ("3 days ago", "2026-05-16 2026-05-17"),
        ("a month ago", "2026-04-01 2026-05-01"),
        ("ten years ago", "2016-01-01 2017-01-01"),
        ("last week", "2026-05-11 2026-05-18"),
        ("last month", "2026-04-01 2026-05-01"),
        ("this year", "2026-01-01 2027-01-01"),
        ("yesterday", "2026-05-18 2026-05-19"),
        ("today", "2026-05-19 2026-05-20"),
        ("on Monday", "2026-05-18 2026-05-19"),
        ("last Tuesday", "2026-05-12 2026-05-13"),
    ],
)
def test_periods(text, period):
    assert named(text) == [period]


def test_date_without_a_year_is_the_latest_that_has_begun():
    assert named("on 19 May") == ["2026-05-19 2026-05-20"]
    assert named("on 20 May") == ["2025-05-20 2025-05-21"]
    assert named("last May") == ["2026-05-01 2026-06-01"]
    assert named("in June") == ["2025-06-01 2025-07-01"]


@pytest.mark.parametrize(
    "text",
    [
        "",
        "who may march with us?",
        "the 2000 campaign on port 8080",
        "since May 2023",
        "before the 5th of May, 2023",
        "31 June 2023",
        "2023-13-45",
        "v2023-05-05-rc1",
        "2001-02",
        "release 1.2.3",
        "at last this is it",
    ],
)
def test_what_only_looks_like_a_time_is_none(text):
    assert named(text) == []


def test_every_time_of_a_text_counts_up_to_a_number():
    assert named("12 May 2022 or 14 May 2022") == [
        "2022-05-12 2022-05-13",
        "2022-05-14 2022-05-15",
    ]
    assert len(named("on 5 May 2023, " * 10)) == MAX_PERIODS


def test_days_begin_at_midnight_in_the_time_zone_of_now():
    ((since, _),) = periods_named("on 5 May 2023", NOW.astimezone(timezone(timedelta(hours=2))))
    assert since == datetime(2023, 5, 4, 22, tzinfo=UTC)


_PIECES = ("may", "5", "31", "2023", "0", "999", "days", "ago", "last", "in", "on", "monday", ",")


@given(st.lists(st.sampled_from(_PIECES) | st.text(max_size=3), max_size=12).map(" ".join))
def test_any_text_gives_periods_that_are_not_empty(text):
    periods = periods_named(text, NOW)
    assert len(periods) <= MAX_PERIODS
    assert all(period.since < period.until for period in periods)
