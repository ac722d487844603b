"""Dates and times that a task writes in words, and that a program does not use.

Examples are "22 July 2013", "July 22nd", "Christmas Day" and "3 p.m.". A date counts as used if the
program, its calls or their responses have it, in whatever form.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date
from typing import NamedTuple

_MONTHS = (
    "january", "february", "march", "april", "may", "june",
    "july", "august", "september", "october", "november", "december",
)  # fmt: skip
_MONTH = "|".join(f"{name[:3]}(?:{name[3:]})?\\.?" if name[3:] else name for name in _MONTHS)
_YEAR = r"(?:,?\s+(?P<year>\d{4}))?"
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_DATE = re.compile(
    rf"(?<![\w.,'-])(?:{_DAY}\s+(?:of\s+)?(?P<month>{_MONTH}){_YEAR}(?!\w))", re.IGNORECASE
)
_MONTH_FIRST = re.compile(
    rf"(?<![\w'-])(?P<month>{_MONTH})\s+{_DAY}{_YEAR}(?![\w:.]?\d)(?!\s*(?:[ap]\.?m\b|%))",
    re.IGNORECASE,
)
_HOLIDAYS = {
    "new year's day": (1, 1),
    "valentine's day": (2, 14),
    "independence day": (7, 4),
    "fourth of july": (7, 4),
    "halloween": (10, 31),
    "christmas eve": (12, 24),
    "christmas day": (12, 25),
    "new year's eve": (12, 31),
}
"""Holidays with a fixed date in the United States, where a country is not named."""
_HOLIDAY = re.compile(rf"\b(?:{'|'.join(_HOLIDAYS)})\b(?:,?\s+(?P<year>\d{{4}}))?", re.IGNORECASE)
_SHIFTED = re.compile(
    r"\b(?:day|days|eve|night|morning|week|weeks|weekend|month|months|year|years|anniversary)\s+"
    r"(?:before|after|of|from|following|preceding|ending|starting|around|until|to|on)"
    r"(?:\s+(?:the|on))?\s+(?:\w+\s+)?$",
    re.IGNORECASE,
)
"""Words before a date that mean another date, such as "the day after"."""
_BOUND = re.compile(
    r"\b(?:before|after|until|till|since|by|through|than|from|between|to|and|or|up to|-|–)\s+"
    r"(?:and\s+including\s+)?(?:\w+\s+)?$",
    re.IGNORECASE,
)
"""Words before a date that is the bound of a period. The program may write the next day."""
_TIME = re.compile(
    r"(?<![\w:.])(?P<hour>1[0-2]|0?[1-9])(?::[0-5]\d)?\s?(?P<half>[ap])\.?m\b", re.IGNORECASE
)
_ISO = re.compile(r"(?<!\d)(\d{4})-(\d\d)-(\d\d)(?!\d)")
_BEFORE = 40
"""Number of characters before a date that are read."""
_MOST_DATES = 10
"""Maximum number of dates of a task that are looked for."""
_ANY_YEAR = 2000
"""A leap year, in which every date exists."""


class _TaskDate(NamedTuple):
    """A date that a task writes in words. `year` is None if the task gives none."""

    text: str
    month: int
    day: int
    year: int | None
    before: str
    """The part of the task that stands directly before the date."""
    after: str
    """The part of the task that stands directly after it."""


def find_unused_dates(task: str, used: str, results: str) -> list[str]:
    """Return the dates that a task writes in words and that a program does not use.

    `used` are the program and the arguments of its calls as text, and `results` are the responses.
    Dates near which the task means another one, such as "the day after Christmas", are left out.
    """
    found = []
    for written in list(_find_dates(task))[:_MOST_DATES]:
        if written.after.startswith(("'s ", "’s ")):
            continue  # its anniversary, its week
        is_bound = _BOUND.search(written.before) is not None
        is_end_of_year = is_bound and (written.month, written.day) in ((1, 1), (12, 31))
        if (
            is_end_of_year
            or _SHIFTED.search(written.before)
            or _has_iso_date(written, results, shift=0)
        ):
            continue
        if not _has_date(written, used, shift=1 if is_bound else 0):
            found.append(written.text)
    return list(dict.fromkeys(found))


def find_unused_times(task: str, used: str) -> list[str]:
    """Return the times such as "3 p.m." of a task that a program does not use.

    The hour before or after counts as the same at a bound such as "before 6 a.m.", because a tool
    may take the last whole hour.
    """
    numbers = {int(number) for number in re.findall(r"(?<!\d)\d{1,2}(?!\d)", used)}
    keeps_halves = re.search(r"\b[ap]\.?m\b", used, re.IGNORECASE) is not None
    found = []
    for time in _TIME.finditer(task):
        hour = int(time["hour"]) % 12 + 12 * (time["half"].lower() == "p")
        accepted = {hour, hour - 1, hour + 1} if _BOUND.search(_before(task, time)) else {hour}
        if keeps_halves:
            accepted.add(int(time["hour"]))
        if not accepted & numbers:
            found.append(time[0])
    return list(dict.fromkeys(found))


def _find_dates(task: str) -> Iterator[_TaskDate]:
    """Yield the dates that a task writes in words, with the words before each."""
    for pattern in (_DATE, _MONTH_FIRST):
        for found in pattern.finditer(task):
            month = _MONTHS.index(next(m for m in _MONTHS if m[:3] == found["month"][:3].lower()))
            yield from _make(task, found, month + 1, int(found["day"]))
    for found in _HOLIDAY.finditer(task):
        name = re.sub(r",?\s+\d{4}$", "", found[0]).lower()
        yield from _make(task, found, *_HOLIDAYS[name])


def _make(task: str, found: re.Match[str], month: int, day: int) -> Iterator[_TaskDate]:
    """Yield the date of a match, unless there is no such day."""
    year = int(found["year"]) if found["year"] else None
    try:
        date(year or _ANY_YEAR, month, day)
    except ValueError:
        return
    after = task[found.end() :][:_BEFORE]
    yield _TaskDate(found[0].strip(), month, day, year, _before(task, found), after)


def _before(task: str, found: re.Match[str]) -> str:
    return task[max(0, found.start() - _BEFORE) : found.start()]


def _days_near(written: _TaskDate, shift: int) -> list[date]:
    """Return a date and those that are at most `shift` days from it."""
    base = date(written.year or _ANY_YEAR, written.month, written.day)
    ordinals = range(base.toordinal() - shift, base.toordinal() + shift + 1)
    return [date.fromordinal(n) for n in ordinals if 0 < n <= date.max.toordinal()]


def _has_iso_date(written: _TaskDate, text: str, *, shift: int) -> bool:
    """Return True if a text has a date as `2013-07-22`, or one at most `shift` days from it."""
    found = {(int(year), int(month), int(day)) for year, month, day in _ISO.findall(text)}
    return any(
        (day.month, day.day) == (month, number) and written.year in (None, year)
        for day in _days_near(written, shift)
        for year, month, number in found
    )


def _has_date(written: _TaskDate, text: str, *, shift: int) -> bool:
    """Return True if a program has a date, or one that is at most `shift` days from it.

    It has the date as `2013-07-22`, or has its month and its day as separate numbers or words.
    """
    if _has_iso_date(written, text, shift=shift):
        return True
    days = _days_near(written, shift)
    if any(re.search(rf"(?<!\d){day.month:02}-?['\"]?\s*(?:\{{|\+)", text) for day in days):
        return True  # the program computes the day: f"2013-07-{day:02}"
    rest = _ISO.sub(" ", text)
    numbers = {int(number) for number in re.findall(r"(?<!\d)\d{1,2}(?!\d)", rest)}
    lowered = rest.lower()
    return any(
        day.day in numbers and (day.month in numbers or _MONTHS[day.month - 1][:3] in lowered)
        for day in days
    )
