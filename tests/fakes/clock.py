"""A clock that stands still until it is told to move."""

from datetime import UTC, datetime, timedelta

START = datetime(2026, 5, 19, 12, 0, tzinfo=UTC)


class FixedClock:
    """Returns ``now`` whenever it is called."""

    def __init__(self, now: datetime = START) -> None:
        self.now = now

    def __call__(self) -> datetime:
        return self.now

    def pass_days(self, days: float) -> None:
        """Move on by some days."""
        self.now += timedelta(days=days)
