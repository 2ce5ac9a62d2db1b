"""When a schedule runs: local times over changes of the clock."""

from datetime import UTC, date, datetime, timedelta

import pytest
import tzlocal
from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.storage.schedules import last_day, local_timezone, next_run

BERLIN, NEW_YORK = "Europe/Berlin", "America/New_York"


def utc(*numbers: int) -> datetime:
    return datetime(*numbers, tzinfo=UTC)


@pytest.mark.parametrize(
    ("after", "at", "zone", "expected"),
    [
        # an ordinary day: 03:00 CET is 02:00 UTC, 03:00 CEST is 01:00 UTC
        (utc(2026, 1, 10, 1, 59), "03:00", BERLIN, utc(2026, 1, 10, 2)),
        (utc(2026, 1, 10, 2, 0), "03:00", BERLIN, utc(2026, 1, 11, 2)),
        (utc(2026, 7, 10, 0, 0), "03:00", BERLIN, utc(2026, 7, 10, 1)),
        # Berlin, 29 March 2026: 02:00 CET becomes 03:00 CEST at 01:00 UTC
        (utc(2026, 3, 28, 12), "02:30", BERLIN, utc(2026, 3, 29, 1, 30)),  # shown as 03:30
        (utc(2026, 3, 29, 1, 30), "02:30", BERLIN, utc(2026, 3, 30, 0, 30)),
        (utc(2026, 3, 28, 12), "03:00", BERLIN, utc(2026, 3, 29, 1)),
        # Berlin, 25 October 2026: 03:00 CEST becomes 02:00 CET at 01:00 UTC
        (utc(2026, 10, 24, 12), "02:30", BERLIN, utc(2026, 10, 25, 0, 30)),  # the first 02:30
        (utc(2026, 10, 25, 0, 30), "02:30", BERLIN, utc(2026, 10, 26, 1, 30)),
        (utc(2026, 10, 25, 1, 15), "02:30", BERLIN, utc(2026, 10, 26, 1, 30)),  # between both
        # New York, 8 March 2026: 02:00 EST becomes 03:00 EDT at 07:00 UTC
        (utc(2026, 3, 8, 0), "02:30", NEW_YORK, utc(2026, 3, 8, 7, 30)),  # shown as 03:30
        (utc(2026, 3, 8, 7, 30), "02:30", NEW_YORK, utc(2026, 3, 9, 6, 30)),
        # New York, 1 November 2026: 02:00 EDT becomes 01:00 EST at 06:00 UTC
        (utc(2026, 11, 1, 0), "01:30", NEW_YORK, utc(2026, 11, 1, 5, 30)),
        (utc(2026, 11, 1, 5, 30), "01:30", NEW_YORK, utc(2026, 11, 2, 6, 30)),
        # the local day is another one than the day in UTC
        (utc(2026, 1, 10, 3), "23:00", NEW_YORK, utc(2026, 1, 10, 4)),  # 23:00 on the 9th
    ],
)
def test_next_run(after, at, zone, expected):
    assert next_run(after, at, zone) == expected


@pytest.mark.parametrize(
    ("now", "at", "expected"),
    [
        (utc(2026, 3, 29, 1, 29), "02:30", date(2026, 3, 28)),
        (utc(2026, 3, 29, 1, 30), "02:30", date(2026, 3, 29)),
        (utc(2026, 10, 25, 0, 29), "02:30", date(2026, 10, 24)),
        (utc(2026, 10, 25, 1, 30), "02:30", date(2026, 10, 25)),  # the second 02:30
    ],
)
def test_last_day(now, at, expected):
    assert last_day(now, at, BERLIN) == expected


@given(
    st.integers(0, 3 * 365 * 24 * 60).map(lambda m: utc(2025, 1, 1) + timedelta(minutes=m)),
    st.times().map(lambda time: f"{time:%H:%M}"),
    st.sampled_from([BERLIN, NEW_YORK, "Asia/Kathmandu", "Australia/Lord_Howe", "UTC"]),
)
def test_each_local_day_has_one_run(after, at, zone):
    first = next_run(after, at, zone)
    second = next_run(first, at, zone)
    assert after < first < second
    assert timedelta(hours=22) < second - first < timedelta(hours=26)
    assert last_day(second, at, zone) - last_day(first, at, zone) == timedelta(days=1)
    assert last_day(second - timedelta(microseconds=1), at, zone) == last_day(first, at, zone)


@pytest.mark.parametrize("zone", [BERLIN, NEW_YORK])
def test_the_zone_of_the_machine_has_a_name(monkeypatch, zone):
    monkeypatch.setenv("TZ", zone)
    tzlocal.reload_localzone()
    try:
        assert local_timezone() == zone
    finally:
        monkeypatch.undo()
        tzlocal.reload_localzone()


def test_without_a_name_it_is_utc(monkeypatch, caplog):
    def unknown():
        raise LookupError("nothing is set")

    monkeypatch.setattr(tzlocal, "get_localzone_name", unknown)
    assert local_timezone() == "UTC"
    assert "nothing is set" in caplog.text
