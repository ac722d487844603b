"""A small flights API, and traces of programs that a sandbox really ran over it."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from protocols.errors import ToolError
from protocols.jsontypes import JsonObject
from protocols.protocol import Annotations, Link, ToolProtocol
from protocols.toolbox import Tool, Toolbox
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Trace

AIRPORTS = [
    {"code": "JFK", "name": "John F Kennedy Intl", "city": "New York", "location": {"lat": 40.64, "lon": -73.78}},
    {"code": "LGA", "name": "La Guardia", "city": "New York", "location": {"lat": 40.78, "lon": -73.87}},
    {"code": "ORD", "name": "Chicago Ohare Intl", "city": "Chicago", "location": {"lat": 41.98, "lon": -87.9}},
    {"code": "BOS", "name": "Logan Intl", "city": "Boston", "location": {"lat": 42.36, "lon": -71.0}},
]
UNITED, JETBLUE = {"name": "United", "country": "US"}, {"name": "JetBlue", "country": "US"}
PLANES = {
    "N14228": {"tail_number": "N14228", "model": "737-824", "seats": 149, "year": 1999, "owner": UNITED},
    "N24211": {"tail_number": "N24211", "model": "737-824", "seats": 149, "year": None, "owner": UNITED},
    "N619AA": {"tail_number": "N619AA", "model": "757-223", "seats": 178, "year": 1990, "owner": None},
    "N804JB": {"tail_number": "N804JB", "model": "A320-232", "seats": 200, "year": 2012, "owner": JETBLUE},
}
AIRLINES = {"UA": "United Air Lines", "AA": "American Airlines", "B6": "JetBlue Airways"}


def _flight(number: int, carrier: str, tail: str, dest: str, delay: int | None, seats: int) -> dict[str, Any]:
    return {
        "flight_id": f"{carrier}-{number}",
        "number": number,
        "carrier": carrier,
        "tail_number": tail,
        "dest": dest,
        "dep_delay": delay,
        "distance": 700 + number,
        "crew": [{"name": f"Pilot {number}", "rank": "captain"}, {"name": f"Mate {number}", "rank": "mate"}],
        "cabin": {"free": seats, "rows": {"first": 2, "last": 30}},
    }


FLIGHTS = [
    _flight(1545, "UA", "N14228", "ORD", 12, 4),
    _flight(1714, "UA", "N24211", "BOS", 24, 0),
    _flight(1141, "AA", "N619AA", "ORD", 32, 7),
    _flight(725, "B6", "N804JB", "BOS", None, 9),
    _flight(461, "UA", "N14228", "LGA", 6, 11),
]
PAGE = 2


def search_airports(query: str) -> Any:
    found = [a for a in AIRPORTS if query.lower() in (a["name"] + a["city"]).lower()]  # type: ignore[operator]
    return {"results": found}


def list_flights(origin: str, date: str, page: int = 1) -> Any:
    if origin not in {a["code"] for a in AIRPORTS}:
        raise ToolError(404, f"no airport {origin!r}")
    flights = FLIGHTS if origin == "JFK" else []
    shown = flights[(page - 1) * PAGE : page * PAGE]
    return {"flights": shown, "total": len(flights), "next_page": page + 1 if page * PAGE < len(flights) else None}


def get_plane(tail_number: str) -> Any:
    if tail_number not in PLANES:
        raise ToolError(404, "no such plane")
    return PLANES[tail_number]


def get_weather(airport: str, date: str, hour: int = 12) -> Any:
    if airport not in {a["code"] for a in AIRPORTS}:
        raise ToolError(422, '[{"loc": ["query", "airport"], "msg": "unknown airport code"}]')
    return {"weather": {"temp": 39.0, "wind_speed": None if airport == "LGA" else 10.4, "visibility": 10.0}}


def get_airline(carrier: str) -> Any:
    if carrier not in AIRLINES:
        raise ToolError(404, f"unknown carrier {carrier}")
    return {"code": carrier, "name": AIRLINES[carrier]}


def list_delays(tail_number: str) -> Any:
    return {"delays": [{"minutes": 31, "reason": "weather"}] if tail_number == "N14228" else []}


def get_comments(post_id: int) -> Any:
    shown = [{"id": 100 * post_id + n, "postId": post_id, "who": f"u{n}", "text": f"Text {n}"} for n in range(8)]
    return {"comments": [row | ({} if n == 5 else {"score": 300 + n}) for n, row in enumerate(shown)]}


def book_seat(flight_id: str, seat: str) -> Any:
    if seat == "13A":
        raise ToolError(503, "try later", outcome="unknown")
    return {"booking": {"id": "BK-77", "flight_id": flight_id, "seat": seat}}


def _object(properties: dict[str, Any], *, optional: tuple[str, ...] = ()) -> dict[str, Any]:
    return {"type": "object", "properties": properties, "required": [k for k in properties if k not in optional]}


def _list(items: dict[str, Any]) -> dict[str, Any]:
    return {"type": "array", "items": items}


TEXT, NUMBER, WHOLE = {"type": "string"}, {"type": "number"}, {"type": "integer"}
AIRPORT = _object({"code": TEXT, "name": TEXT, "city": TEXT, "location": _object({"lat": NUMBER, "lon": NUMBER})})
FLIGHT = _object(
    {
        "flight_id": TEXT,
        "number": WHOLE,
        "carrier": TEXT,
        "tail_number": TEXT,
        "dest": TEXT,
        "dep_delay": {"type": ["integer", "null"], "description": "Departure delay in minutes; null when cancelled."},
        "distance": WHOLE,
        "crew": _list(_object({"name": TEXT, "rank": TEXT})),
        "cabin": _object({"free": WHOLE, "rows": _object({"first": WHOLE, "last": WHOLE})}),
    }
)
OWNER = _object({"name": TEXT, "country": TEXT})
PLANE = _object(
    {
        "tail_number": TEXT,
        "model": TEXT,
        "seats": WHOLE,
        "year": {"type": ["integer", "null"]},
        "owner": {"anyOf": [OWNER, {"type": "null"}]},
    }
)
WEATHER = _object({"temp": NUMBER, "wind_speed": {"type": ["number", "null"]}, "visibility": NUMBER})
DELAY = _object({"minutes": WHOLE, "reason": TEXT})
COMMENT = _object({"id": WHOLE, "postId": WHOLE, "who": TEXT, "text": TEXT, "score": WHOLE}, optional=("score",))
CODE = {"type": "string", "pattern": "^[A-Z]{3}$", "description": "Three-letter airport code."}
FROM_SEARCH = (Link(argument="origin", tool="search_airports", path="results[].code", support="declared"),)


def _tool(
    call: Callable[..., Any],
    given: dict[str, Any],
    gives: dict[str, Any],
    *,
    optional: tuple[str, ...] = (),
    writes: bool = False,
    links: tuple[Link, ...] = (),
) -> Tool:
    protocol = ToolProtocol(
        name=call.__name__,
        input_schema={**_object(given, optional=optional), "additionalProperties": False},
        output_schema=gives,
        annotations=Annotations(read_only=not writes),
        links=links,
    )
    return Tool(protocol=protocol, call=lambda arguments: call(**arguments), alias=call.__name__)


TOOLS = Toolbox(
    [
        _tool(search_airports, {"query": TEXT}, _object({"results": _list(AIRPORT)})),
        _tool(
            list_flights,
            {"origin": TEXT, "date": TEXT, "page": WHOLE},
            _object({"flights": _list(FLIGHT), "total": WHOLE, "next_page": {"type": ["integer", "null"]}}),
            optional=("page",),
            links=FROM_SEARCH,
        ),
        _tool(get_plane, {"tail_number": TEXT}, PLANE),
        _tool(
            get_weather,
            {"airport": CODE, "date": {"type": "string", "format": "date"}, "hour": WHOLE},
            _object({"weather": WEATHER}),
            optional=("hour",),
        ),
        _tool(get_airline, {"carrier": TEXT}, _object({"code": TEXT, "name": TEXT})),
        _tool(list_delays, {"tail_number": TEXT}, _object({"delays": _list(DELAY)})),
        _tool(get_comments, {"post_id": WHOLE}, _object({"comments": _list(COMMENT)})),
        _tool(
            book_seat,
            {"flight_id": TEXT, "seat": TEXT},
            _object({"booking": _object({"id": TEXT, "flight_id": TEXT, "seat": TEXT})}),
            writes=True,
        ),
    ]
)

Change = Callable[[str, int, Any], Any]
"""Takes a tool's alias, the call's index and its response; gives the response that comes instead (drift, errors)."""


@cache
def sandbox(name: str) -> Sandbox:
    """A sandbox that stays open for the test run."""
    return open_sandbox(name)


def trace_of(
    source: str, *, tools: Toolbox = TOOLS, change: Change | None = None, most: int = 60, backend: str = "zygote"
) -> Trace:
    """What a run of a program left behind."""
    made = [0]

    def changed(tool: Tool) -> Tool:
        def call(arguments: JsonObject) -> Any:
            number, made[0] = made[0], made[0] + 1
            result = copy.deepcopy(tool.call(arguments))
            return result if change is None else change(tool.alias, number, result)

        return replace(tool, call=call)

    return sandbox(backend).run(source, tools.map(changed), limits=Limits(tool_calls=most), journal=Journal())
