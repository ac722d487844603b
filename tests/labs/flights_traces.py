"""A small flights API, and traces of programs that a sandbox really ran over it."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

from protocols.errors import ToolError
from protocols.protocol import load
from protocols.schema import JsonObject
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Trace
from tests.labs.paths import DATA

DESK: dict[str, Any] = json.loads((DATA / "flights_desk.json").read_text("utf-8"))
"""The protocols of the tools below, and what they answer from."""
AIRPORTS, FLIGHTS, AIRLINES = DESK["airports"], DESK["flights"], DESK["airlines"]
PLANES = {plane["tail_number"]: plane for plane in DESK["planes"]}
PAGE = 2


def search_airports(query: str) -> Any:
    found = [a for a in AIRPORTS if query.lower() in (a["name"] + a["city"]).lower()]
    return {"results": found}


def list_flights(origin: str, date: str, page: int = 1) -> Any:
    if origin not in {a["code"] for a in AIRPORTS}:
        raise ToolError(404, f"no airport {origin!r}")
    flights = FLIGHTS if origin == "JFK" else []
    shown = flights[(page - 1) * PAGE : page * PAGE]
    return {
        "flights": shown,
        "total": len(flights),
        "next_page": page + 1 if page * PAGE < len(flights) else None,
    }


def get_plane(tail_number: str) -> Any:
    if tail_number not in PLANES:
        raise ToolError(404, "no such plane")
    return PLANES[tail_number]


def get_weather(airport: str, date: str, hour: int = 12) -> Any:
    if airport not in {a["code"] for a in AIRPORTS}:
        raise ToolError(422, '[{"loc": ["query", "airport"], "msg": "unknown airport code"}]')
    return {
        "weather": {
            "temp": 39.0,
            "wind_speed": None if airport == "LGA" else 10.4,
            "visibility": 10.0,
        }
    }


def get_airline(carrier: str) -> Any:
    if carrier not in AIRLINES:
        raise ToolError(404, f"unknown carrier {carrier}")
    return {"code": carrier, "name": AIRLINES[carrier]}


def list_delays(tail_number: str) -> Any:
    return {"delays": [{"minutes": 31, "reason": "weather"}] if tail_number == "N14228" else []}


def get_comments(post_id: int) -> Any:
    shown = [
        {"id": 100 * post_id + n, "postId": post_id, "who": f"u{n}", "text": f"Text {n}"}
        for n in range(8)
    ]
    return {
        "comments": [row | ({} if n == 5 else {"score": 300 + n}) for n, row in enumerate(shown)]
    }


def book_seat(flight_id: str, seat: str) -> Any:
    if seat == "13A":
        raise ToolError(503, "try later", outcome="unknown")
    return {"booking": {"id": "BK-77", "flight_id": flight_id, "seat": seat}}


def _tool(document: Any) -> Tool:
    protocol = load(document)
    call: Callable[..., Any] = globals()[protocol.name]
    return Tool(protocol=protocol, call=lambda arguments: call(**arguments), alias=protocol.name)


TOOLS = Toolbox(map(_tool, DESK["tools"]))

Change = Callable[[str, int, Any], Any]
"""Takes a tool's alias, the call's index and its response; gives the response that comes instead (drift, errors)."""


@cache
def sandbox() -> Sandbox:
    """A sandbox that stays open for the test run."""
    return open_sandbox("zygote")


def trace_of(source: str, *, change: Change | None = None) -> Trace:
    """What a run of a program left behind."""
    made = [0]

    def changed(tool: Tool) -> Tool:
        def call(arguments: JsonObject) -> Any:
            number, made[0] = made[0], made[0] + 1
            result = copy.deepcopy(tool.call(arguments))
            return result if change is None else change(tool.alias, number, result)

        return replace(tool, call=call)

    return sandbox().run(
        source, TOOLS.map(changed), limits=Limits(tool_calls=60), journal=Journal()
    )
