"""Rules about one value: what type it has, which values there are, and how long or large it may be."""

from __future__ import annotations

import re
from datetime import date, datetime
from email.utils import parseaddr
from uuid import UUID

from toolflow_bench.probing.planted.fake import Fake, Planted, Reply, Request, ok
from toolflow_bench.probing.planted.stated import any_of, argument, calls, keyword, told

_JOBS = ("0d0f8a52-6f0c-4d8b-9c55-0f4f2c1f7a01", "7b1c2f74-90c4-4ad6-8f1a-3c5a2be9d402")
_RATES = {"EUR": 1.0, "GBP": 0.86, "JPY": 163.2, "USD": 1.08}


def _shipments(request: Request) -> Reply:
    since = request.arguments.get("since")
    if since is not None and not _is(date.fromisoformat, since, r"\d{4}-\d\d-\d\d"):
        message = "Failed to parse 'since': expected format yyyy-MM-dd"
        return Reply(400, {"timestamp": "2026-03-01T10:00:00Z", "status": 400, "error": "Bad Request",
                           "message": message, "path": "/shipments"})  # fmt: skip
    return ok({"shipments": [{"number": 4711, "sent": "2025-11-03"}, {"number": 4712, "sent": "2025-12-01"}]})


def _posts(request: Request) -> Reply:
    sort = request.arguments.get("sort", "new")
    if sort not in ("new", "top", "rising"):
        error = {"type": "literal_error", "loc": ["query", "sort"], "msg": "Input should be 'new', 'top' or 'rising'",
                 "input": sort, "ctx": {"expected": "'new', 'top' or 'rising'"}}  # fmt: skip
        return Reply(422, {"detail": [error]})
    return ok([{"title": "Hello", "score": 12}, {"title": "Again", "score": 3}])


def _songs(request: Request) -> Reply:
    kind = request.arguments.get("art")
    if kind not in ("kurz", "lang", "voll"):
        return Reply(400, {"fehler": "Der Parameter 'art' muss einer der folgenden Werte sein: kurz, lang, voll"})
    return ok({"lieder": [{"titel": "Der Mond", "minuten": 3}]})


def _photos(request: Request) -> Reply:
    size = request.arguments.get("per_page", "20")
    if not size.isdigit() or not 1 <= int(size) <= 50:
        detail = (
            "per_page must not exceed 50" if size.isdigit() and int(size) else "per_page must be a positive integer"
        )
        error = {"status": "400", "title": "Invalid value", "detail": detail, "source": {"parameter": "per_page"}}
        return Reply(400, {"errors": [error]}, "application/vnd.api+json")
    return ok({"data": [{"type": "photo", "id": str(n), "width": 640 + n} for n in range(min(3, int(size)))]})


def _parcel(request: Request) -> Reply:
    tracking = request.arguments["tracking"]
    if not re.fullmatch(r"PX-[0-9]{6}", tracking):
        return Reply(400, {"message": "tracking does not match ^PX-[0-9]{6}$"})
    return ok({"tracking": tracking, "status": "in transit", "weight_g": 1250})


def _donate(request: Request) -> Reply:
    amount = request.arguments.get("amount")
    if amount is None:
        problem = "The amount field is required."
    elif isinstance(amount, bool) or not isinstance(amount, int | float):
        problem = "The amount must be a number."
    elif amount < 5:
        problem = "The amount must be at least 5."
    else:
        return Reply(201, {"donation": 881, "amount": amount})
    return Reply(422, {"message": "The given data was invalid.", "errors": {"amount": [problem]}})


def _label(request: Request) -> Reply:
    text = request.arguments.get("text")
    if text is None:
        return Reply(400, {"text": ["This field is required."]})
    if not isinstance(text, str):
        return Reply(400, {"text": ["Not a valid string."]})
    if len(text) > 12:
        return Reply(400, {"text": ["Ensure this field has no more than 12 characters."]})
    return Reply(201, {"label": text, "printed": False})


def _suggest(request: Request) -> Reply:
    prefix = request.arguments.get("prefix", "")
    if len(prefix) < 3:
        message = "The value for parameter 'prefix' is too short (minimum is 3 characters)."
        return Reply(400, {"error": {"code": "BadArgument", "message": message, "target": "prefix"}})
    return ok({"suggestions": [f"{prefix}ing", f"{prefix}er"]})


def _rate(request: Request) -> Reply:
    currency = request.arguments["currency"]
    if currency not in _RATES:
        return Reply(404, {"error": "unknown_currency", "hint": "Codes are three upper case letters, e.g. GBP"})
    return ok({"currency": currency, "rate": _RATES[currency]})


def _payout(request: Request) -> Reply:
    amount = request.arguments.get("amount")
    if isinstance(amount, int | float):
        return Reply(
            400, {"__type": "SerializationException", "message": "NUMBER_VALUE can not be converted to a String"}
        )
    if not isinstance(amount, str) or not re.fullmatch(r"[0-9]+\.[0-9]{2}", amount):
        wanted = r"Member must satisfy regular expression pattern: [0-9]+\.[0-9]{2}"
        message = f"1 validation error detected: Value '{amount}' at 'amount' failed to satisfy constraint: {wanted}"
        return Reply(400, {"__type": "ValidationException", "message": message})
    return ok({"payoutId": "po-1", "amount": amount})


def _rooms(request: Request) -> Reply:
    free = request.arguments.get("available")
    if free not in (None, "0", "1"):
        return Reply(400, {"error": "parameter 'available' must be 0 or 1"})
    return ok({"rooms": [{"room": 12, "beds": 2}, {"room": 14, "beds": 1}]})


def _floor(request: Request) -> Reply:
    level = request.arguments["level"]
    if not re.fullmatch(r"[+-]?[0-9]+", level):
        return Reply(400, f'strconv.Atoi: parsing "{level}": invalid syntax\n')
    return ok({"Level": int(level), "Rooms": 8})


def _job(request: Request) -> Reply:
    job = request.arguments["job_id"]
    if not _is(UUID, job, r"[0-9a-f-]{36}"):
        message = "Input should be a valid UUID, invalid character: expected an optional prefix of `urn:uuid:`"
        return Reply(
            422, {"detail": [{"type": "uuid_parsing", "loc": ["path", "job_id"], "msg": message, "input": job}]}
        )
    if job not in _JOBS:
        return Reply(404, {"detail": "Job not found"})
    return ok({"job_id": job, "state": "done"})


def _jobs(_request: Request) -> Reply:
    return ok({"jobs": [{"job_id": job} for job in _JOBS]})


def _invite(request: Request) -> Reply:
    address, problems = request.arguments.get("email"), {}
    if address is None:
        problems["email"] = ["This field is required."]
    elif not isinstance(address, str) or not re.fullmatch(r"[^@\s]+@[^@\s]+\.[a-z]+", parseaddr(address)[1]):
        problems["email"] = ["Enter a valid email address."]
    return Reply(400, problems) if problems else Reply(201, {"invitation": 7, "email": address})


def _book(request: Request) -> Reply:
    minutes = request.arguments.get("minutes")
    if isinstance(minutes, bool) or not isinstance(minutes, int):
        error = {"keyword": "type", "instanceLocation": "/minutes", "error": "expected integer"}
    elif minutes % 15:
        error = {"keyword": "multipleOf", "instanceLocation": "/minutes", "error": f"{minutes} is not a multiple of 15"}
    else:
        return Reply(201, {"appointment": 91, "minutes": minutes})
    return Reply(400, {"valid": False, "errors": [error]})


def _readings(request: Request) -> Reply:
    at = request.arguments.get("at")
    if at is None or not _is(
        datetime.fromisoformat, at, r"\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(\.\d+)?([Zz]|[+-]\d\d:\d\d)"
    ):
        return Reply(400, {"errors": [{"message": f"at: {at!r} is not an RFC 3339 date-time", "path": ["at"]}]})
    return ok({"at": at, "celsius": 4.5})


def _alarm(request: Request) -> Reply:
    time = request.arguments.get("time")
    if not isinstance(time, str) or not re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", time):
        return Reply(400, {"ok": False, "why": "time must be given as HH:MM (24 hour clock)"})
    return Reply(201, {"ok": True, "alarm": 3})


def _mail(request: Request) -> Reply:
    to = request.arguments.get("recipients")
    if not isinstance(to, list):
        problems = ["recipients must contain no more than 3 elements", "recipients must be an array"]
    elif len(to) > 3:
        problems = ["recipients must contain no more than 3 elements"]
    else:
        return Reply(201, {"mailing": 5, "sent": len(to)})
    return Reply(400, {"statusCode": 400, "message": problems, "error": "Bad Request"})


def _news(request: Request) -> Reply:
    limit = request.arguments.get("limit", "25")
    if not limit.isdigit():
        return Reply(400, {"error": "limit: not a number"})
    return ok({"limit": int(limit), "items": [{"headline": f"News {n}"} for n in range(min(int(limit), 25))]})


def _is(read: object, text: object, pattern: str) -> bool:
    try:
        return isinstance(text, str) and bool(re.fullmatch(pattern, text)) and callable(read) and bool(read(text))
    except ValueError:
        return False


def _one(name: str, method: str, path: str, given: str, answer: object) -> tuple[Fake, ...]:
    assert callable(answer)
    return (Fake(name, method, path, tuple(given.split()), answer),)


VALUES = (
    Planted(
        "iso_date",
        "the date is written YYYY-MM-DD",
        _one("list_shipments", "GET", "/shipments", "since", _shipments),
        argument("list_shipments", "since", good=["2024-03-01"], bad=["01/03/2024", "yesterday"]),
    ),
    Planted(
        "enum",
        "one of three words",
        _one("list_posts", "GET", "/posts", "sort", _posts),
        argument("list_posts", "sort", good=["new", "top", "rising"], bad=["old", "NEW"]),
    ),
    Planted(
        "enum_german",
        "one of three words, told in German",
        _one("list_songs", "GET", "/lieder", "art", _songs),
        argument("list_songs", "art", good=["kurz", "lang", "voll"], bad=["short", "x"]),
    ),
    Planted(
        "page_of_50",
        "pages of at most 50",
        _one("list_photos", "GET", "/photos", "per_page", _photos),
        calls("list_photos", good=[{"per_page": 50}, {"per_page": 1}], bad=[{"per_page": 51}]),
    ),
    Planted(
        "pattern",
        "an id of a certain form",
        _one("get_parcel", "GET", "/parcels/{tracking}", "tracking", _parcel),
        argument("get_parcel", "tracking", good=["PX-123456"], bad=["PX-12", "abc"]),
    ),
    Planted(
        "minimum",
        "at least 5",
        _one("donate", "POST", "/donations", "amount", _donate),
        argument("donate", "amount", good=[5, 20], bad=[4]),
    ),
    Planted(
        "max_length",
        "at most 12 characters",
        _one("print_label", "POST", "/labels", "text", _label),
        argument("print_label", "text", good=["a" * 12], bad=["a" * 13]),
    ),
    Planted(
        "min_length",
        "at least 3 characters",
        _one("suggest_words", "GET", "/suggest", "prefix", _suggest),
        argument("suggest_words", "prefix", good=["abc"], bad=["ab"]),
    ),
    Planted(
        "case",
        "codes are upper case",
        _one("get_rate", "GET", "/rates/{currency}", "currency", _rate),
        any_of(argument("get_rate", "currency", good=["GBP"], bad=["gbp"]), told("get_rate", "upper case")),
    ),
    Planted(
        "number_as_text",
        "an amount is a text with two decimals",
        _one("pay_out", "POST", "/payouts", "amount", _payout),
        argument("pay_out", "amount", good=["12.50"], bad=[12.5, "12.5"]),
    ),
    Planted(
        "zero_or_one",
        "a truth is spelled 0 or 1",
        _one("list_rooms", "GET", "/rooms", "available", _rooms),
        calls("list_rooms", good=[{"available": 0}, {"available": 1}], bad=[{"available": "true"}, {"available": 2}]),
    ),
    Planted(
        "integer",
        "a whole number",
        _one("get_floor", "GET", "/floors/{level}", "level", _floor),
        argument("get_floor", "level", good=[3], bad=["abc", 3.5]),
    ),
    Planted(
        "uuid",
        "an id is a UUID",
        (*_one("get_job", "GET", "/jobs/{job_id}", "job_id", _job), *_one("list_jobs", "GET", "/jobs", "", _jobs)),
        argument("get_job", "job_id", good=list(_JOBS), bad=["abc", "12"]),
    ),
    Planted(
        "email",
        "an address",
        _one("invite", "POST", "/invitations", "email", _invite),
        argument("invite", "email", good=["a@example.org"], bad=["abc"]),
    ),
    Planted(
        "multiple",
        "a multiple of 15",
        _one("book_slot", "POST", "/appointments", "minutes", _book),
        argument("book_slot", "minutes", good=[30, 45], bad=[31]),
    ),
    Planted(
        "date_time",
        "a time with its zone",
        _one("get_reading", "GET", "/readings", "at", _readings),
        argument("get_reading", "at", good=["2024-01-01T00:00:00Z"], bad=["2024-01-01", "noon"]),
    ),
    Planted(
        "clock",
        "a time of day as HH:MM",
        _one("set_alarm", "POST", "/alarms", "time", _alarm),
        argument("set_alarm", "time", good=["09:30", "23:59"], bad=["9h30", "noon"]),
    ),
    Planted(
        "max_items",
        "at most 3 of a list",
        _one("send_mailing", "POST", "/mailings", "recipients", _mail),
        argument("send_mailing", "recipients", good=[["a", "b", "c"]], bad=[["a", "b", "c", "d"], "a"]),
    ),
    Planted(
        "default",
        "25 where none is given",
        _one("list_news", "GET", "/news", "limit", _news),
        keyword("list_news", "limit", "default", 25),
    ),
)
"""One tool each, or one and where its ids are listed."""
