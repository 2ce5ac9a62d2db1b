"""Times that an English text names: "on 5 May 2023", "in March", "two weeks ago"."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from itertools import islice
from typing import NamedTuple

MAX_PERIODS = 4
"""Times of one text that are looked at: its first ones."""


class Period(NamedTuple):
    """A stretch of time.

    Attributes:
        since: Its first moment.
        until: The first moment after it.
    """

    since: datetime
    until: datetime


_MONTHS = (
    *("january", "february", "march", "april", "may", "june", "july", "august", "september"),
    *("october", "november", "december", "jan", "feb", "mar", "apr", "jun", "jul", "aug", "sep"),
    *("sept", "oct", "nov", "dec"),
)
_MONTH = rf"(?:{'|'.join(_MONTHS)})\b\.?"
_YEAR = r"(?:19|20)\d\d"
_DAY = r"(?:0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_WEEKDAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBERS = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_COUNTS = {"a": 1, "an": 1} | {word: count for count, word in enumerate(_NUMBERS, 1)}

# Looked for first, because most texts have none of these, and the pattern below takes longer.
_HINT = re.compile(r"[a-z]{3,}|\d")
_HINTS = frozenset("0123456789").union(
    _MONTHS, _WEEKDAYS, ("ago", "last", "this", "yesterday", "today")
)

_NAMED = re.compile(
    rf"""\b(?:
        (?P<day>{_YEAR}-\d\d-\d\d
            |{_DAY}\s+(?:of\s+)?{_MONTH}(?:,?\s+{_YEAR})?
            |{_MONTH}\s+{_DAY}(?:,?\s+{_YEAR})?)
        |(?P<month>{_MONTH}(?:,?\s+(?:of\s+)?{_YEAR})?)
        |(?P<year>{_YEAR})
        |(?P<count>\d{{1,3}}|{"|".join(_COUNTS)})\s+(?P<unit>day|week|month|year)s?\s+ago
        |(?P<this>last|this)\s+(?P<span>week|month|year)
        |(?:on|last)\s+(?P<weekday>{"|".join(_WEEKDAYS)})
        |(?P<near>yesterday|today)
    )(?![\w-])""",
    re.VERBOSE,
)
_LEADS = re.compile(r"(?:in|during|of|for|early|mid|late|last|this)\s+$")
_OPEN_ENDED = re.compile(r"\b(?:before|after|since|until|till|by)\s+(?:the\s+)?$")


def periods_named(text: str, now: datetime) -> tuple[Period, ...]:
    """Return the days, weeks, months and years that a text names, at most four.

    A date without a year, and "last Monday", is the latest one that has begun. A month or a year
    alone counts behind a word like "in" only: "may" is mostly a verb and 2000 a number. A text
    like "since May" names no period, nor does a date that does not exist.

    Args:
        text: What may name a time.
        now: What "yesterday" counts back from; days begin at midnight in its time zone.
    """
    lowered = text.lower()
    if _HINTS.isdisjoint(_HINT.findall(lowered)):
        return ()
    return tuple(islice(_periods(lowered, now), MAX_PERIODS))


def _periods(text: str, now: datetime) -> Iterator[Period]:
    today = now.replace(hour=0, minute=0, second=0, microsecond=0)
    for found in _NAMED.finditer(text):
        lead = text[max(found.start() - 20, 0) : found.start()]
        if _OPEN_ENDED.search(lead):
            continue
        stands_alone = found["year"] or (found["month"] or "").rstrip(".").isalpha()
        if stands_alone and not _LEADS.search(lead):
            continue
        try:
            yield _period(found, today)
        except (ValueError, OverflowError):  # 31 June, 999 years ago and the like
            continue


def _period(found: re.Match[str], today: datetime) -> Period:
    """Return the period that was found.

    Raises:
        ValueError: There is no such date.
        OverflowError: It is out of range.
    """
    # Most queries name no date, and pay for no import.
    from dateutil.parser import parse
    from dateutil.relativedelta import relativedelta

    if phrase := found["day"] or found["month"] or found["year"]:
        unit = next(name for name in ("day", "month", "year") if found[name])
        since: datetime = parse(phrase, default=today.replace(month=1, day=1))
        if since > today and not re.search(_YEAR, phrase):
            since = since.replace(year=since.year - 1)
    else:
        unit, count = _distance(found, today)
        since = _start(today - relativedelta(**{f"{unit}s": count}), unit)
    return Period(since, since + relativedelta(**{f"{unit}s": 1}))


def _distance(found: re.Match[str], today: datetime) -> tuple[str, int]:
    """Return (unit, how many of it back from today) of a relative time."""
    if name := found["weekday"]:
        return "day", (today.weekday() - _WEEKDAYS.index(name) - 1) % 7 + 1
    if unit := found["unit"]:
        return unit, _COUNTS.get(found["count"]) or int(found["count"])
    if span := found["span"]:
        return span, int(found["this"] == "last")
    return "day", int(found["near"] == "yesterday")


def _start(day: datetime, unit: str) -> datetime:
    """Return the first day of the week, month or year that a day is in; weeks begin on Monday."""
    match unit:
        case "week":
            return day - timedelta(days=day.weekday())
        case "month":
            return day.replace(day=1)
        case "year":
            return day.replace(month=1, day=1)
    return day
