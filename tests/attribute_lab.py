"""A small flights API and an in-process tracer, so that attribution is tested on traces that really happened."""

from __future__ import annotations

import ast
import asyncio
import contextlib
import copy
import io
import sys
import traceback
from collections.abc import Callable, Generator
from dataclasses import replace
from typing import Any
from unittest import mock

from protocols.errors import ToolError
from protocols.protocol import Annotations, Link, ToolProtocol
from protocols.schema import violations
from protocols.toolbox import Tool, Toolbox
from sandbox.trace import Failure, Frame, ToolCall, Trace

FILE = "<program>"

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


Hand = Callable[[Tool, int, Any], Any]
"""Takes a tool, the call's index and its full response; gives what the program gets of it."""


def unwrapped(tool: Tool, index: int, result: Any) -> Any:
    return tool.unwrap(result)


def trace_of(
    source: str, *, tools: Toolbox = TOOLS, change: Change | None = None, hand: Hand = unwrapped, most: int = 60
) -> Trace:
    """Run a program in this process and write down what a sandbox would."""
    calls: list[ToolCall] = []
    scope: dict[str, Any] = {"__name__": "__main__", "ToolError": ToolError}
    scope |= {alias: _stub(tool, calls, change=change, hand=hand, most=most) for alias, tool in tools.items()}
    printed, value, failure = io.StringIO(), None, None
    try:
        tree = ast.parse(source)
        last = tree.body.pop() if tree.body and isinstance(tree.body[-1], ast.Expr) else None
        with contextlib.redirect_stdout(printed), mock.patch.object(asyncio, "to_thread", _Later):
            _run(compile(tree, FILE, "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), scope)
            if isinstance(last, ast.Expr):
                code = compile(ast.Expression(last.value), FILE, "eval", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
                value = _run(code, scope)
    except SyntaxError as error:
        failure = Failure(kind="syntax", type="SyntaxError", message=error.msg, frames=(Frame(line=error.lineno or 1),))
    except _TooMany:
        failure = Failure(kind="limit", type="tool_calls", message=f"more than {most} calls")
    except Exception as error:
        failure = _failure(error, calls)
    return Trace(calls=tuple(calls), stdout=printed.getvalue(), value=value, failure=failure)


def _run(code: Any, scope: dict[str, Any]) -> Any:
    result = eval(code, scope)
    return asyncio.run(result) if asyncio.iscoroutine(result) else result


class _TooMany(BaseException):
    pass


def _failure(error: Exception, calls: list[ToolCall]) -> Failure:
    frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == FILE]
    failed = [call.index for call in calls if call.error is not None]
    return Failure(
        kind="exception",
        type=type(error).__name__,
        message=str(error),
        frames=tuple(Frame(line=f.lineno or 1, function=f.name) for f in frames),
        call=failed[-1] if isinstance(error, ToolError) and failed else None,
    )


class _Later:
    """`asyncio.to_thread` as a sandbox serves it: no thread, the call is made when it is awaited, on its own line."""

    line: int | None = None

    def __init__(self, function: Callable[..., Any], **arguments: Any) -> None:
        self.function, self.arguments, self.made_on = function, arguments, _line()

    def __await__(self) -> Generator[None, None, Any]:
        yield
        _Later.line = self.made_on
        try:
            return self.function(**self.arguments)
        finally:
            _Later.line = None


def _line() -> int:
    if _Later.line is not None:
        return _Later.line
    frame = sys._getframe(2)
    while frame.f_back is not None and frame.f_code.co_filename != FILE:
        frame = frame.f_back
    return frame.f_lineno


def _stub(tool: Tool, calls: list[ToolCall], *, change: Change | None, hand: Hand, most: int) -> Callable[..., Any]:
    def call(**arguments: Any) -> Any:
        if len(calls) >= most:
            raise _TooMany
        made = ToolCall(index=len(calls), tool=tool.alias, arguments=copy.deepcopy(arguments), line=_line())
        try:
            result = copy.deepcopy(_checked(tool, arguments))
            if change is not None:
                result = change(tool.alias, made.index, result)
        except ToolError as error:
            calls.append(replace(made, error=error.body, status=error.status, outcome=error.outcome))
            raise
        drift = tuple(f"{v.path}: {v.message}" for v in violations(tool.protocol.output_schema or {}, result))
        calls.append(replace(made, result=copy.deepcopy(result), drift=drift))
        return hand(tool, made.index, result)

    return call


def _checked(tool: Tool, arguments: dict[str, Any]) -> Any:
    for problem in violations(tool.protocol.input_schema, arguments):
        raise ToolError(None, f"tool {tool.alias!r}: argument {problem.path!r}: {problem.message}", outcome="not_run")
    return tool.call(arguments)
