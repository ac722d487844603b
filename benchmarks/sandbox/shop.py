"""Sample tools of a shop, and a function that runs a program with them."""

from __future__ import annotations

from typing import Any

from protocols.errors import ToolError
from protocols.schema import Json
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.testing import make_tool
from sandbox.trace import Trace

ITEM = {
    "type": "object",
    "properties": {
        "id": {"type": "integer"},
        "name": {"type": "string"},
        "price": {"type": "number"},
    },
    "required": ["id", "name", "price"],
}


def shop() -> Toolbox:
    """Return the sample tools: `get_item(id)`, `list_items(page)`, `echo(text)`."""

    def get_item(id: int) -> Json:  # noqa: A002 - the tool's argument
        if not 0 <= id < 1000:
            raise ToolError(404, f"no item {id}", curl=f"curl http://shop.example/items/{id}")
        return {"id": id, "name": f"item {id}", "price": id * 1.5}

    def list_items(page: int) -> Json:
        return {"items": [get_item(page * 10 + row) for row in range(10)] if page < 5 else []}

    listing = {
        "type": "object",
        "properties": {"items": {"type": "array", "items": ITEM}},
        "required": ["items"],
    }
    item = make_tool("get_item", {"id": {"type": "integer"}}, get_item, output=ITEM)
    items = make_tool("list_items", {"page": {"type": "integer"}}, list_items, output=listing)
    return Toolbox(
        [item, items, make_tool("echo", {"text": {"type": "string"}}, lambda text: text)]
    )


def run(
    sandbox: Sandbox,
    source: str,
    tools: Toolbox | None = None,
    *,
    journal: Journal | None = None,
    **limits: Any,
) -> Trace:
    """Run `source` with `tools` (default: the sample tools), within low time limits."""
    within = Limits(**{"wall_seconds": 20.0, "cpu_seconds": 10.0, **limits})
    return sandbox.run(
        source, shop() if tools is None else tools, limits=within, journal=journal or Journal()
    )
