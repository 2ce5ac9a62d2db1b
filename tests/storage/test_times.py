"""Times as milliseconds, worked out by hand, and back."""

from datetime import UTC, datetime, timedelta, timezone

from hypothesis import given
from hypothesis import strategies as st

from langchain_memengine.storage.times import from_ms, to_ms


def test_times_are_milliseconds_since_1970_in_utc():
    east = timezone(timedelta(hours=2))
    assert to_ms(datetime(1970, 1, 1, 2, 0, 1, 999, tzinfo=east)) == 1000
    assert to_ms(datetime(1969, 12, 31, 23, 59, 59, tzinfo=UTC)) == -1000
    assert from_ms(1500) == datetime(1970, 1, 1, 0, 0, 1, 500_000, tzinfo=UTC)
    assert to_ms(None) is None
    assert from_ms(None) is None


@given(st.datetimes(timezones=st.just(UTC)))
def test_times_come_back_to_the_millisecond(moment):
    back = from_ms(to_ms(moment))
    assert timedelta(0) <= moment - back < timedelta(milliseconds=1)
    assert to_ms(back) == to_ms(moment)
