"""Rules about several calls and about responses: what must come first, and what may come back."""

from __future__ import annotations

from collections.abc import Mapping

from protocols.protocol import ToolProtocol
from toolflow_bench.probing.planted.fake import Fake, Planted, Reply, Request, ok
from toolflow_bench.probing.planted.stated import any_of, linked, responses, told

_COMPANIES = {
    "SC-20881": "Harbour Lines",
    "SC-31770": "North Mill",
    "SC-44102": "Harbour Foods",
    "SC-50093": "Vale & Sons",
}
_DOCUMENTS = {"d-71": "Lease", "d-72": "Minutes"}
_DAYS = [f"2025-{month:02}-{day:02}" for month in (1, 2, 3) for day in (3, 10, 17, 24)]


def _session(request: Request) -> Reply:
    number = request.memory["sessions"] = request.memory.get("sessions", 0) + 1
    return Reply(201, {"session_token": f"tok_{number * 7919:08x}", "expires_in": 3600})


def _ledger(request: Request) -> Reply:
    token = request.arguments.get("session_token", "")
    known = [f"tok_{number * 7919:08x}" for number in range(1, request.memory.get("sessions", 0) + 1)]
    if token not in known:
        return Reply(401, {"code": "AUTH_004"})
    return ok({"entries": [{"entry": 1, "cents": 1200}, {"entry": 2, "cents": -350}]})


def _companies(request: Request) -> Reply:
    text = request.arguments.get("q", "")
    if not text:
        return Reply(400, {"message": "q must not be empty"})
    found = [{"company_id": key, "name": name} for key, name in _COMPANIES.items() if text.lower() in name.lower()]
    return ok({"companies": found, "total": len(found)})


def _company(request: Request) -> Reply:
    key = request.arguments["company_id"]
    if key not in _COMPANIES:
        return Reply(404, "No company with that number\n")
    return ok({"company_id": key, "name": _COMPANIES[key], "founded": 1974})


def _documents(_request: Request) -> Reply:
    return ok({"documents": [{"document_id": key, "title": title} for key, title in _DOCUMENTS.items()]})


def _lock(request: Request) -> Reply:
    key = request.arguments["document_id"]
    if key not in _DOCUMENTS:
        return _problem(404, "Not Found", f"There is no document {key}.")
    request.memory[key] = True
    return ok({"document_id": key, "locked": True})


def _edit(request: Request) -> Reply:
    key = request.arguments["document_id"]
    if key not in _DOCUMENTS:
        return _problem(404, "Not Found", f"There is no document {key}.")
    if not request.memory.get(key):
        return _problem(423, "Locked", f"Document {key} is not checked out by you. Call lock_document first.")
    return ok({"document_id": key, "version": 4})


def _problem(status: int, title: str, detail: str) -> Reply:
    body = {"type": "about:blank", "title": title, "status": status, "detail": detail}
    return Reply(status, body, "application/problem+json")


def _history(_request: Request) -> Reply:
    rates = {day: {"USD": round(1.05 + number / 100, 4), "GBP": 0.85} for number, day in enumerate(_DAYS)}
    return ok({"base": "EUR", "rates": rates})


def _feed(_request: Request) -> Reply:
    items = [
        {"kind": "photo", "url": "https://img.example.org/1.jpg", "width": 800},
        {"kind": "note", "text": "Back on Monday"},
        {"kind": "photo", "url": "https://img.example.org/2.jpg", "width": 640},
        {"kind": "note", "text": "Closed today"},
    ]
    return ok({"items": items})


def _devices(_request: Request) -> Reply:
    return ok({"devices": [f"dev-{number}" for number in range(1, 25)]})


def _device(request: Request) -> Reply:
    text = request.arguments["device"].removeprefix("dev-")
    if not text.isdigit() or not 1 <= int(text) <= 24:
        return Reply(404, {"error": {"status": 404, "reason": "no such device"}})
    number = int(text)
    return ok({"device": f"dev-{number}", "last_seen": None if number % 8 == 5 else f"2026-01-{number:02}T08:00:00Z"})


def _thread(request: Request) -> Reply:
    page = request.arguments.get("cursor")
    cursors = {None: (0, "c2VjMQ"), "c2VjMQ": (3, "c2VjMg"), "c2VjMg": (6, None)}
    if page not in cursors:
        return Reply(400, {"errors": [{"code": "invalid_cursor", "message": "cursor was not issued by this API"}]})
    start, following = cursors[page]
    return ok({"messages": [{"number": n, "text": f"message {n}"} for n in range(start, start + 3)], "next": following})


def _map_of_rates(protocols: Mapping[str, ToolProtocol]) -> bool:
    """Another day is as good as those that were seen."""
    good = {"base": "EUR", "rates": {"2031-05-05": {"USD": 1.2, "GBP": 0.9}}}
    bad = {"base": "EUR", "rates": {"2031-05-05": "1.2"}}
    return responses("get_rate_history", good=[good], bad=[bad])(protocols)


FLOWS = (
    Planted(
        "token",
        "a token that another tool gives",
        (
            Fake("create_session", "POST", "/sessions", (), _session),
            Fake("get_ledger", "GET", "/ledger", ("session_token",), _ledger),
        ),
        linked("get_ledger", "session_token", producer="create_session", path="session_token"),
    ),
    Planted(
        "id_of_search",
        "an id that a search gives",
        (
            Fake("get_company", "GET", "/companies/{company_id}", ("company_id",), _company),
            Fake("search_companies", "GET", "/companies", ("q",), _companies),
        ),
        linked("get_company", "company_id", producer="search_companies", path="companies[].company_id"),
    ),
    Planted(
        "lock",
        "a write that needs a lock first",
        (
            Fake("edit_document", "PUT", "/documents/{document_id}", ("document_id", "text"), _edit),
            Fake("list_documents", "GET", "/documents", (), _documents),
            Fake("lock_document", "POST", "/documents/{document_id}/lock", ("document_id",), _lock),
        ),
        told("edit_document", "lock_document"),
    ),
    Planted(
        "map",
        "an object whose keys are days",
        (Fake("get_rate_history", "GET", "/history", ("base",), _history),),
        _map_of_rates,
    ),
    Planted(
        "union",
        "items of two kinds",
        (Fake("get_feed", "GET", "/feed", (), _feed),),
        responses(
            "get_feed",
            good=[
                {"items": [{"kind": "note", "text": "x"}]},
                {"items": [{"kind": "photo", "url": "https://a.example/x.jpg", "width": 1}]},
            ],
            bad=[
                {"items": [{"kind": "note", "url": "https://a.example/x.jpg", "width": 1}]},
                {"items": [{"kind": "photo", "text": "x"}]},
            ],
        ),
    ),
    Planted(
        "rare_null",
        "a field that is null for one in eight",
        (
            Fake("get_device", "GET", "/devices/{device}", ("device",), _device),
            Fake("list_devices", "GET", "/devices", (), _devices),
        ),
        responses(
            "get_device", good=[{"device": "dev-5", "last_seen": None}], bad=[{"device": "dev-5", "last_seen": 5}]
        ),
    ),
    Planted(
        "cursor",
        "a cursor that the page before gives",
        (Fake("list_messages", "GET", "/messages", ("cursor",), _thread),),
        any_of(
            linked("list_messages", "cursor", producer="list_messages", path="next"),
            told("list_messages", "cursor", "next"),
        ),
    ),
)
"""Tools that belong together."""
