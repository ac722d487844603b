"""Values that an argument of some name takes at most services, whatever its type."""

from __future__ import annotations

import re

from probing.naming import Name, ends_range, words_of
from protocols.jsontypes import Json

_BY_NAME: dict[str, tuple[Json, ...]] = {
    "age": (30,),
    "altitude elevation": (100,),
    "amount price cost total": (10, 1),
    "base": ("USD",),
    "bbox bounds": ("-74.1,40.6,-73.7,40.9",),
    "body content comment message note text description": ("hello",),
    "brand company manufacturer vendor": ("Apple",),
    "category genre topic tag": ("books",),
    "cidr subnet network": ("10.0.0.0/24",),
    "city town": ("London", "New York"),
    "color colour": ("red", "#ff0000"),
    "continent": ("Europe", "EU"),
    "country": ("US", "United States", "Germany"),
    "country_code": ("US", "DE", "USA"),
    "currency currency_code": ("USD", "EUR"),
    "cwd dir directory folder path root": (".", "/", "/tmp"),  # noqa: S108 - a path to read, nothing is written there
    "day": (15, "monday"),
    "delay duration interval seconds timeout": (1, 10),
    "dimension height width": (100,),
    "distance radius": (100, 10),
    "domain host hostname": ("example.com",),
    "email mail": ("user@example.com",),
    "expression formula": ("1+1",),
    "file file_name filename": ("README.md", "test.txt"),
    "first_name given_name": ("John",),
    "format": ("json",),
    "hour": (12,),
    "ip ip_address": ("8.8.8.8",),
    "isbn": ("9780140328721",),
    "keyword term": ("a", "test"),
    "lang language locale": ("en", "en-US", "English"),
    "last_name surname": ("Smith",),
    "latitude": (40.7, 51.5),
    "level status_code": (1, 200),
    "limit max_results page_size pagesize per_page perpage results_per_page rows size take top": (5, 1, 10),
    "longitude": (-74.0, -0.1),
    "max maximum": (10_000, 100),
    "method": ("GET",),
    "min minimum offset skip start start_index": (0, 1),
    "minute second": (30,),
    "month": (6, "2024-06"),
    "name": ("test", "John"),
    "n count num number quantity": (5, 1),
    "op operation": ("add",),
    "order order_dir sort_order direction": ("asc", "desc"),
    "page page_no page_number": (1, 2),
    "pattern": ("*", ".*"),
    "password": ("Password123!",),
    "percent percentage ratio rate": (0.5, 50),
    "person user_name username login user owner author": ("admin", "john"),
    "phone phone_number mobile": ("+12025550123",),
    "postal_code postcode zip zip_code zipcode": ("10001",),
    "q query search phrase": ("a", "new", "john", "test"),
    "recipient receiver to": ("user@example.com", "john"),
    "region state province": ("CA", "California"),
    "repository repository_path": (".",),
    "branch base_branch commit commit_sha ref refspec revision revspec rev sha tree_ish": ("HEAD", "main", "master"),
    "seed": (1,),
    "sort sort_by order_by": ("id", "name"),
    "stock symbol ticker": ("AAPL", "MSFT"),
    "temperature": (20,),
    "time": ("12:00", "12:00:00"),
    "time_zone zone": ("UTC", "Europe/London", "America/New_York"),
    "title": ("test", "The"),
    "unit units system": ("metric", "km"),
    "uri url link href website callback": ("https://example.com/",),
    "uuid guid": ("123e4567-e89b-42d3-a456-426614174000",),
    "version": (1, "1.0.0"),
    "weight": (70,),
    "x y z a b": (1, 2),
    "year season": (2020, 2010, 2000),
}
_TABLE = {name: values for names, values in _BY_NAME.items() for name in names.split()}
_YES = frozenset({"active", "all", "debug", "dry_run", "enabled", "force", "full", "pretty", "recursive", "verbose"})
_YES_FIRST = frozenset(
    {"allow", "can", "do", "enable", "has", "include", "includes", "is", "only", "show", "use", "with"}
)
_DAYS = frozenset({"arrival", "checkin", "checkout", "departure", "since", "until"})
_UNITS = frozenset({
    "c", "cm", "days", "degrees", "eur", "f", "feet", "ft", "hours", "kg", "kilometers", "kilometres", "km", "kmh", "m",
    "meters", "metres", "mi", "miles", "minutes", "mm", "mph", "ms", "pct", "percent", "seconds", "usd",
})  # fmt: skip
"""Last words that only say in what a number is measured: `radius_km`."""
_DATES = ("2024-01-15", "2020-06-01", "2010-01-01", "2030-06-01", "2000-01-01")
_LATER = ("2024-01-16", "2020-06-02", "2010-01-02", "2030-06-02", "2000-01-02")


def named(name: str) -> tuple[Json, ...]:
    """Good guesses by an argument's name, best first; empty where the name says nothing."""
    own = words_of(name).rstrip("0123456789_") or words_of(name)
    words = own.split("_")
    while len(words) > 1 and words[-1] in _UNITS:
        words.pop()
    if words[0] in _YES_FIRST or own in _YES:
        return (True, False)
    if own in _TABLE:
        return _TABLE[own]
    if Name(own, own).identifies and words[-1] not in _TABLE:
        return ()
    if words[-1] in ("datetime", "timestamp") or words[-1] == "at":
        return tuple(f"{day}T00:00:00Z" for day in dates(name)) if words[-1] != "at" or len(words) > 1 else ()
    if set(words) & {"date", "birthday", "dob"} or own.replace("_", "") in _DAYS:
        return dates(name)
    if words[0] in ("max", "min", "maximum", "minimum") and words[-1] not in ("date", "year"):
        return _TABLE[words[0]]
    last_two = "_".join(words[-2:])
    return _TABLE.get(last_two) or _TABLE.get(words[-1]) or ()


def dates(name: str) -> tuple[str, ...]:
    """Dates of some years; for the end of a range the days after those."""
    return _LATER if ends_range(name) else _DATES


def plural(name: str) -> bool:
    """Whether a name is that of a list: `ids`, `airport_codes`, `tags`."""
    return re.search(r"(?:ids|codes|names|tags|list|array|items|keys|values|emails|urls)$", words_of(name)) is not None
