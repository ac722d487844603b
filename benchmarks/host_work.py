"""The time and memory that hostile values and documents cost the host.

Each attack is one `atc` command in a process of its own, which uses a service on the loopback
interface. The report has the duration in seconds and the peak memory of each command's process.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from benchmarks.local import ATC, ROOT, measure_command
from benchmarks.runner import suite
from toolflow_bench.services.serve import serve

REFERENCE = "#/components/schemas/s"
CALL = ["tools", "call", "list_answers"]
RUN = [
    "run",
    "How long are the answers?",
    "--strategy",
    "chain",
    "--model",
    "scripted:replies.json",
]
PROGRAM = "```python\nprint(len(str(list_answers())))\n```"


def attacks() -> Iterator[tuple[str, list[str], dict[str, Any], Any, dict[str, Any]]]:
    """Yield each attack.

    It consists of a name, the command's arguments, the schema of the response, the response, and
    the other schemas of the service's document.
    """
    names = {"propertyNames": {"maxLength": 1}}
    items = {"anyOf": [{"type": "array", "items": {"type": "string"}}, {"type": "object"}]}
    yield "nothing: one small answer", RUN, {}, 1, {}
    yield "80 KB of eyJ-", RUN, {}, "eyJ-" * 20_000, {}
    yield "8,000 keys, propertyNames", CALL, names, {f"key{i:05}": 1 for i in range(8_000)}, {}
    yield "a list of 1 MiB, anyOf", CALL, items, [1] * 349_525, {}
    yield (
        "8,000 api_keys that begin alike",
        RUN,
        {},
        [{"api_key": f"sk_house_{i:06}x"} for i in range(8_000)],
        {},
    )
    first = {"$ref": f"{REFERENCE}0"}
    twice: dict[str, Any] = {
        f"s{i}": {"allOf": [{"$ref": f"{REFERENCE}{i + 1}"}] * 2} for i in range(30)
    }
    twice["s30"] = {"type": "integer"}
    yield "allOf twice, 30 levels: called", CALL, first, 1, twice
    every = {f"p{j}": {"$ref": f"{REFERENCE}{j}"} for j in range(700)}
    dense = {f"s{i}": {"type": "object", "properties": every} for i in range(700)}
    yield "700 schemas, each of all others", ["tools", "list"], first, {}, dense


def openapi_document(url: str, response: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    content = {"application/json": {"schema": response}}
    operation = {
        "operationId": "list_answers",
        "summary": "List the answers",
        "responses": {"200": {"description": "", "content": content}},
    }
    head = {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "servers": [{"url": url}]}
    return head | {"paths": {"/answers": {"get": operation}}, "components": {"schemas": schemas}}


@suite
@click.option(
    "--seconds",
    "limit",
    default=120.0,
    show_default=True,
    help="The most that one attack may take.",
)
def main(limit: float) -> dict[str, Any]:
    current: Any = None

    async def answered(_: Request) -> JSONResponse:
        return JSONResponse(current)

    rows = {}
    with serve(Starlette(routes=[Route("/answers", answered)])) as served:
        env = {name: value for name, value in os.environ.items() if not name.startswith("ATC_")}
        env |= {"PYTHONPATH": str(ROOT)}
        # The service answers with `current`.
        for name, arguments, response, current, schemas in attacks():  # noqa: B007
            with tempfile.TemporaryDirectory() as made:
                folder = Path(made)
                (folder / "doc.json").write_text(
                    json.dumps(openapi_document(served.url, response, schemas))
                )
                (folder / "replies.json").write_text(json.dumps([PROGRAM]))
                own = {"ATC_STATE_DIR": f"{made}/state", "XDG_CONFIG_HOME": f"{made}/user"}
                command = [sys.executable, *ATC, *arguments, "--tools", "doc.json"]
                rows[name] = measure_command(
                    command, folder, folder / "told.txt", env=env | own, limit=limit
                )
    return {"suite": "host_work", "attacks": rows}


if __name__ == "__main__":
    main()
