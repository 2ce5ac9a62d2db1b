"""Schedules: jobs that are put once a day, at a local time."""

from __future__ import annotations

import json
import logging
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from sqlalchemy import RowMapping, func, select, update

from langchain_memengine.errors import ConfigurationError
from langchain_memengine.storage import dialects, jobs
from langchain_memengine.storage.job_schema import schedules
from langchain_memengine.storage.job_values import JOB_KINDS, JobKind, NewJob
from langchain_memengine.storage.times import from_ms, to_ms
from langchain_memengine.storage.transaction import Transaction
from langchain_memengine.types import Metadata

logger = logging.getLogger(__name__)

_FALLBACK = "UTC"


@dataclass(frozen=True, slots=True)
class Schedule:
    """A job a day.

    Attributes:
        name: What it is known by.
        kind: What is to be done.
        at: Local time of day, ``HH:MM``.
        timezone: Whose local time, like ``Europe/Berlin``.
        payload: JSON-able values for the handler.
        enabled: Whether it is put at all.
    """

    name: str
    kind: JobKind
    at: str
    timezone: str
    payload: Metadata = field(default_factory=dict)
    enabled: bool = True


def next_run(after: datetime, at: str, timezone: str) -> datetime:
    """Return the first moment after another (both aware) that is a local time of day.

    Each calendar day has one: a time that is left out when clocks go forward comes later by what
    was left out (02:30 becomes 03:30), and one that occurs twice counts at its first occurrence.

    Raises:
        ConfigurationError: ``at`` is no ``HH:MM``, or there is no such time zone.
    """
    zone, clock = _zone(timezone), _time_of_day(at)
    today = after.astimezone(zone).date()
    runs = (_moment(today + timedelta(days=days), clock, zone) for days in range(3))
    return next(run for run in runs if run > after)


def last_day(now: datetime, at: str, timezone: str) -> date:
    """Return the local day whose run is the last one at or before ``now``.

    Raises:
        ConfigurationError: ``at`` is no ``HH:MM``, or there is no such time zone.
    """
    zone, clock = _zone(timezone), _time_of_day(at)
    today = now.astimezone(zone).date()
    days = (today - timedelta(days=days) for days in range(3))
    return next(day for day in days if _moment(day, clock, zone) <= now)


def local_timezone() -> str:
    """Return the time zone of this machine; ``UTC`` where it has none that has a name."""
    from tzlocal import get_localzone_name

    try:
        return get_localzone_name() or _FALLBACK
    except LookupError as error:
        logger.warning("the time zone of this machine is unknown, UTC is taken: %s", error)
        return _FALLBACK


def ensure_schedule(tx: Transaction, schedule: Schedule, *, now: datetime) -> None:
    """Make a schedule be as given; its first run, or the first after a new time, lies ahead.

    Raises:
        ConfigurationError: Its time or time zone cannot be, or its payload cannot be stored.
    """
    row = {
        "store_id": tx.store_id,
        "name": schedule.name,
        "kind": schedule.kind,
        "payload": jobs.payload_json(schedule.payload),
        "at": schedule.at,
        "timezone": schedule.timezone,
        "enabled": schedule.enabled,
        "next_run_at": to_ms(next_run(now, schedule.at, schedule.timezone)),
    }
    stored = _row(tx, schedule.name)
    if stored is not None and (stored["at"], stored["timezone"]) == (row["at"], row["timezone"]):
        row["next_run_at"] = stored["next_run_at"]  # a run that was missed meanwhile stays due
    if stored is None or dict(stored) != row:
        dialects.upsert(tx.connection, schedules, [row])


def get(tx: Transaction, name: str) -> Schedule | None:
    """Return a schedule as it is, ``None`` if there is none of that name."""
    row = _row(tx, name)
    if row is None:
        return None
    return Schedule(
        name, row["kind"], row["at"], row["timezone"], json.loads(row["payload"]), row["enabled"]
    )


def next_scheduled(tx: Transaction) -> datetime | None:
    """Return when the next schedule is due, ``None`` if there is none."""
    statement = select(func.min(schedules.c.next_run_at)).where(
        schedules.c.store_id == tx.store_id,
        schedules.c.enabled,
        schedules.c.kind.in_(JOB_KINDS),
    )
    first: int | None = tx.connection.execute(statement).scalar_one()
    return from_ms(first)


def put_due(tx: Transaction, *, now: datetime) -> list[int]:
    """Put a job for each schedule that is due; return their numbers.

    Runs that were missed become one. The dedupe key ``name:YYYY-MM-DD`` stays taken for good, so
    there is one job for a local day whatever clocks and workers do.
    """
    due = tx.connection.execute(
        dialects.passing_locked(
            select(schedules).where(
                schedules.c.store_id == tx.store_id,
                schedules.c.enabled,
                schedules.c.kind.in_(JOB_KINDS),  # others are for newer releases to put
                schedules.c.next_run_at <= to_ms(now),
            )
        )
    ).mappings()
    return [num for row in due.all() if (num := _put_run(tx, row, now)) is not None]


def _put_run(tx: Transaction, row: RowMapping, now: datetime) -> int | None:
    day = last_day(now, row["at"], row["timezone"])
    upcoming = next_run(now, row["at"], row["timezone"])
    tx.connection.execute(
        update(schedules)
        .where(schedules.c.store_id == tx.store_id, schedules.c.name == row["name"])
        .values(next_run_at=to_ms(upcoming))
    )
    job = NewJob(
        row["kind"],
        json.loads(row["payload"]),
        dedupe_key=f"{row['name']}:{day.isoformat()}",
        keeps_key=True,
    )
    return jobs.put(tx, job, now=now)


def _row(tx: Transaction, name: str) -> RowMapping | None:
    of_name = (schedules.c.store_id == tx.store_id) & (schedules.c.name == name)
    return tx.connection.execute(select(schedules).where(of_name)).mappings().one_or_none()


def _moment(day: date, clock: time, zone: ZoneInfo) -> datetime:
    # A time in a gap is read with the offset before it, which is what makes 02:30 come at 03:30.
    return datetime.combine(day, clock, tzinfo=zone).astimezone(UTC)


def _time_of_day(at: str) -> time:
    try:
        return datetime.strptime(at, "%H:%M").time()  # noqa: DTZ007  # a time of day has no zone
    except ValueError as error:
        raise ConfigurationError(f"{at!r} is no time of day. Write it like 03:00.") from error


def _zone(timezone: str) -> ZoneInfo:
    try:
        return ZoneInfo(timezone)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ConfigurationError(
            f"There is no time zone {timezone!r}. Write it like Europe/Berlin."
        ) from error
