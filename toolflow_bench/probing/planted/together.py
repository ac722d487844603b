"""Rules about several arguments of one call, and about arguments that nobody named."""

from __future__ import annotations

import re
from typing import Any

from toolflow_bench.probing.planted.fake import Fake, Planted, Reply, Request, ok
from toolflow_bench.probing.planted.stated import all_of, any_of, argument, calls, keyword, told


def _prices(request: Request) -> Reply:
    if "sku" in request.arguments and "barcode" in request.arguments:
        return Reply(400, {"error": "sku and barcode cannot be used together"})
    return ok({"prices": [{"amount": 3.5, "currency": "EUR"}]})


def _stops(request: Request) -> Reply:
    given = [name for name in ("lat", "lon") if name in request.arguments]
    if len(given) == 1:
        other = "lon" if given == ["lat"] else "lat"
        message = f"{given[0]} requires {other} to be set as well."
        return Reply(400, {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}})
    for name in given:
        if not re.fullmatch(r"-?\d+(\.\d+)?", request.arguments[name]):
            message = f"Invalid value at '{name}' (TYPE_DOUBLE), \"{request.arguments[name]}\""
            return Reply(400, {"error": {"code": 400, "message": message, "status": "INVALID_ARGUMENT"}})
    return ok({"stops": [{"name": "Market Square", "lines": ["4", "9"]}]})


def _patients(request: Request) -> Reply:
    if not {"name", "birth_date", "insurance_no"} & request.arguments.keys():
        issue = {"severity": "error", "code": "required",
                 "diagnostics": "At least one of name, birth_date, insurance_no must be supplied"}  # fmt: skip
        return Reply(400, {"resourceType": "OperationOutcome", "issue": [issue]}, "application/fhir+json")
    return ok({"resourceType": "Bundle", "total": 1, "entry": [{"name": "Ada Berg", "born": "1980-04-01"}]})


def _stays(request: Request) -> Reply:
    start, end = request.arguments.get("from"), request.arguments.get("to")
    for name, value in (("from", start), ("to", end)):
        if value is not None and not re.fullmatch(r"\d{4}-\d\d-\d\d", value):
            return _stripe(f"Invalid {name}: must be a date (YYYY-MM-DD)", name)
    if start and end and end < start:
        return _stripe("to must not be before from", "to")
    return ok({"stays": [{"room": 3, "guest": "B. Olsen"}]})


def _stripe(message: str, param: str) -> Reply:
    return Reply(400, {"error": {"type": "invalid_request_error", "message": message, "param": param}})


def _pay(request: Request) -> Reply:
    method, errors = request.arguments.get("method"), {}
    if method is None:
        errors["method"] = ["Missing data for required field."]
    elif method not in ("card", "cash"):
        errors["method"] = ["Must be one of: card, cash."]
    elif method == "card" and "card_number" not in request.arguments:
        errors["card_number"] = ["Required when method is card."]
    return Reply(422, {"errors": {"json": errors}}) if errors else Reply(201, {"payment": 12, "method": method})


def _ticket(request: Request) -> Reply:
    if not isinstance(request.arguments.get("subject"), str):
        got = "undefined" if "subject" not in request.arguments else "number"
        issue = {"code": "invalid_type", "expected": "string", "received": got, "path": ["subject"],
                 "message": "Required" if got == "undefined" else "Expected string, received number"}  # fmt: skip
        return Reply(400, {"success": False, "error": {"issues": [issue], "name": "ZodError"}})
    return Reply(201, {"ticket": 301, "subject": request.arguments["subject"]})


def _customer(request: Request) -> Reply:
    name, address = request.arguments.get("name"), request.arguments.get("address")
    if name is None:
        message = "body must have required property 'name'"
    elif address is None:
        message = "body must have required property 'address'"
    elif not isinstance(address, dict):
        message = "body/address must be object"
    elif missing := next((key for key in ("city", "zip") if key not in address), ""):
        message = f"body/address must have required property '{missing}'"
    else:
        return Reply(201, {"customer": 77, "name": name})
    return Reply(400, {"statusCode": 400, "code": "FST_ERR_VALIDATION", "error": "Bad Request", "message": message})


def _compute(request: Request) -> Reply:
    missing = [name for name in ("x", "y") if name not in request.arguments]
    if missing:
        names = " and ".join(f"'{name}'" for name in missing)
        plural = "s" if len(missing) > 1 else ""
        return Reply(500, f"TypeError: compute() missing {len(missing)} required positional argument{plural}: {names}")
    try:
        return ok({"sum": request.arguments["x"] + request.arguments["y"]})
    except TypeError as error:
        return Reply(500, f"TypeError: {error}")


def _order(request: Request) -> Reply:
    known = ("item", "quantity", "gift_note")
    unknown = next((name for name in request.arguments if name not in known), None)
    if unknown is not None or "item" not in request.arguments:
        reason = (
            f"[order] unknown field [{unknown}], expected one of [{', '.join(known)}]"
            if unknown is not None
            else "[order] missing required field [item]"
        )
        cause = {"type": "x_content_parse_exception", "reason": reason}
        return Reply(400, {"error": {"root_cause": [cause], **cause}, "status": 400})
    return Reply(201, {"order": 5, "item": request.arguments["item"]})


def _menu(request: Request) -> Reply:
    if "x-store-id" not in request.headers:
        return Reply(400, "Missing required header: X-Store-Id")
    return ok({"dishes": [{"dish": "Soup", "price": 4.2}]})


def _nearby(request: Request) -> Reply:
    distance = request.arguments.get("distance", "500")
    if not distance.isdigit() or not 100 <= int(distance) <= 5000:
        return Reply(400, {"error": "distance is in metres and must lie between 100 and 5000"})
    return ok({"cafes": [{"cafe": "Rosa", "metres": 240}]})


def _quotes(request: Request) -> Reply:
    symbols = request.arguments.get("symbols", "")
    if not re.fullmatch(r"[A-Z]{2,5}(,[A-Z]{2,5})*", symbols):
        return Reply(400, {"Note": "symbols: give a comma-separated list of tickers, e.g. ACME,INIT"})
    return ok([{"symbol": symbol, "last": 10.25} for symbol in symbols.split(",")])


def _lookup(request: Request) -> Reply:
    text = request.arguments.get("query", request.arguments.get("q"))
    if text is None:
        return Reply(400, {"error": "query is required"})
    body: dict[str, Any] = {"words": [{"word": text, "rank": 1}], "warnings": []}
    if "q" in request.arguments:
        body["warnings"] = ["parameter 'q' is deprecated, use 'query' instead"]
    return ok(body)


TOGETHER = (
    Planted(
        "exclusive",
        "two arguments exclude each other",
        (Fake("list_prices", "GET", "/prices", ("sku", "barcode"), _prices),),
        calls("list_prices", good=[{"sku": "1"}, {"barcode": "1"}], bad=[{"sku": "1", "barcode": "1"}]),
    ),
    Planted(
        "both_or_none",
        "two arguments go together",
        (Fake("list_stops", "GET", "/stops", ("lat", "lon"), _stops),),
        calls("list_stops", good=[{"lat": 52.5, "lon": 4.5}, {}], bad=[{"lat": 52.5}, {"lon": 4.5}]),
    ),
    Planted(
        "one_of_three",
        "at least one of three filters",
        (Fake("find_patients", "GET", "/Patient", ("name", "birth_date", "insurance_no"), _patients),),
        calls("find_patients", good=[{"name": "Ada"}, {"insurance_no": "1"}], bad=[{}]),
    ),
    Planted(
        "range_order",
        "the end is not before the beginning",
        (Fake("list_stays", "GET", "/stays", ("from", "to"), _stays),),
        any_of(told("list_stays", "to must not be before from"), told("list_stays", "from", "to", "not before")),
    ),
    Planted(
        "conditional",
        "a card payment needs the card's number",
        (Fake("pay", "POST", "/payments", ("method", "card_number"), _pay),),
        calls("pay", good=[{"method": "cash"}], bad=[{"method": "card"}]),
    ),
    Planted(
        "required_body",
        "one field of the body is required",
        (Fake("open_ticket", "POST", "/tickets", ("subject", "body", "priority"), _ticket),),
        calls("open_ticket", good=[{"subject": "x"}], bad=[{}, {"body": "x"}]),
    ),
    Planted(
        "nested_body",
        "an object with fields of its own",
        (Fake("add_customer", "POST", "/customers", ("name", "address"), _customer),),
        argument("add_customer", "address", good=[{"city": "Oslo", "zip": "0150"}], bad=["Oslo", {"city": "Oslo"}]),
    ),
    Planted(
        "positional",
        "both arguments, told by a traceback",
        (Fake("compute", "POST", "/compute", ("x", "y"), _compute),),
        calls("compute", good=[{"x": 1, "y": 2}], bad=[{"x": 1}, {"y": 1}, {}]),
    ),
    Planted(
        "unnamed",
        "an argument that nobody named",
        (Fake("place_order", "POST", "/orders", ("item",), _order),),
        argument("place_order", "quantity", good=[2], bad=[]),
    ),
    Planted(
        "header",
        "a header is needed",
        (Fake("get_menu", "GET", "/menu", (), _menu),),
        any_of(argument("get_menu", "X-Store-Id", good=["1"], bad=[]), told("get_menu", "X-Store-Id")),
    ),
    Planted(
        "unit",
        "a distance in metres",
        (Fake("list_cafes", "GET", "/cafes", ("distance",), _nearby),),
        all_of(told("list_cafes", "metres"), calls("list_cafes", good=[{"distance": 100}], bad=[{"distance": 5001}])),
    ),
    Planted(
        "comma_list",
        "several values with commas",
        (Fake("get_quotes", "GET", "/quotes", ("symbols",), _quotes),),
        any_of(
            argument("get_quotes", "symbols", good=[["ACME", "INIT"]], bad=["ACME INIT"]),
            argument("get_quotes", "symbols", good=["ACME,INIT"], bad=["ACME INIT"]),
            told("get_quotes", "comma"),
        ),
    ),
    Planted(
        "deprecated",
        "an old name of an argument",
        (Fake("look_up", "GET", "/lookup", ("query", "q"), _lookup),),
        any_of(told("look_up", "deprecated"), keyword("look_up", "q", "deprecated", True)),
    ),
)
"""One tool each."""
