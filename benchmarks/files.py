"""The time and memory that files cost the host: a large export, and an image that is passed on.

Each case is one `atc exec` in a process of its own, which uses a service on the loopback interface.
The report has the seconds of each command, and the peak memory of its host process alone, without
the process of the program. The first case reads an export of some bytes, to compare with.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Any

import click
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from benchmarks.local import ROOT, measure_command
from benchmarks.runner import suite
from toolflow_bench.services.serve import serve

_MAIN = """
import os, pathlib, re
leave = os._exit
def report(code):
    status = pathlib.Path("/proc/self/status").read_text()
    pathlib.Path("peak").write_text(re.search(r"VmHWM:\\s+(\\d+)", status)[1])
    leave(code)
os._exit = report
from atc.cli.main import main
try:
    main()
except SystemExit as end:
    report(end.code or 0)
"""
_LINE = b"%08d,Ann Example,ann@example.org,an order of some length,12.50\n"
_PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 4000
_FILE = {"type": "string", "format": "binary"}
PROGRAMS = {
    "an export of 3 rows": "print(len(get_orders(limit=3).rows()))",
    "a large export, line by line": "print(sum(1 for _ in get_orders(limit=ROWS).lines()))",
    "a large export, row by row": (
        "print(round(sum(float(row['price']) for row in get_orders(limit=ROWS).rows()), 2))"
    ),
    "a large export, handed to the user": "print(get_orders(limit=ROWS))",
    "a large export, sent on": "print(upload_file(file=get_orders(limit=ROWS)))",
    "an image of 1 MB, sent on": "print(upload_file(file=get_image()))",
}


def document(url: str) -> dict[str, Any]:
    """Return the OpenAPI document of the service."""
    limit = {"name": "limit", "in": "query", "required": True, "schema": {"type": "integer"}}
    form = {"type": "object", "required": ["file"], "properties": {"file": _FILE}}
    sizes = {"type": "object", "properties": {"bytes": {"type": "integer"}}}
    return {
        "openapi": "3.0.3",
        "info": {"title": "files", "version": "1"},
        "servers": [{"url": url}],
        "paths": {
            "/orders": {
                "get": _operation("get_orders", {"text/csv": {"schema": _FILE}})
                | {"parameters": [limit]}
            },
            "/image": {"get": _operation("get_image", {"image/png": {"schema": _FILE}})},
            "/upload": {
                "post": _operation("upload_file", {"application/json": {"schema": sizes}})
                | {"requestBody": {"content": {"multipart/form-data": {"schema": form}}}}
            },
        },
    }


def _operation(name: str, content: Mapping[str, Any]) -> dict[str, Any]:
    return {"operationId": name, "responses": {"200": {"description": "", "content": content}}}


async def export(request: Request) -> Response:
    """Return the rows of a CSV export, piece by piece."""
    count = int(request.query_params["limit"])

    async def pieces() -> AsyncIterator[bytes]:
        yield b"id,name,mail,text,price\n"
        for first in range(0, count, 1000):
            yield b"".join(_LINE % number for number in range(first, min(first + 1000, count)))

    named = {"Content-Disposition": 'attachment; filename="orders.csv"'}
    return StreamingResponse(pieces(), media_type="text/csv", headers=named)


async def image(_: Request) -> Response:
    """Return an image."""
    return Response(_PNG, media_type="image/png")


async def upload(request: Request) -> Response:
    """Return the number of bytes of the body, without keeping it."""
    size = 0
    async for piece in request.stream():
        size += len(piece)
    return JSONResponse({"bytes": size})


@suite
@click.option("--mb", default=50, show_default=True, help="Size of the large export.")
def main(mb: int) -> dict[str, Any]:
    rows = mb * 2**20 // len(_LINE % 0)
    routes = [
        Route("/orders", export),
        Route("/image", image),
        Route("/upload", upload, methods=["POST"]),
    ]
    found = {}
    with serve(Starlette(routes=routes)) as served:
        env = {name: value for name, value in os.environ.items() if not name.startswith("ATC_")}
        env |= {"PYTHONPATH": str(ROOT)}
        for name, program in PROGRAMS.items():
            with tempfile.TemporaryDirectory() as made:
                folder = Path(made)
                (folder / "doc.json").write_text(json.dumps(document(served.url)))
                (folder / "program.py").write_text(program.replace("ROWS", str(rows)))
                own = {"ATC_STATE_DIR": f"{made}/state", "XDG_CONFIG_HOME": f"{made}/user"}
                options = ["--tools", "doc.json", "--files", "got"]
                # A large text cannot be judged, so a person must agree to send it on, or trust it.
                options += ["--allow-writes", "all", "--trust", "get_orders"]
                command = [sys.executable, "-c", _MAIN, "exec", "program.py", *options]
                row = measure_command(command, folder, folder / "told.txt", env=env | own)
                peak = int((folder / "peak").read_text())
                written = sum(path.stat().st_size for path in folder.glob("got/*"))
                found[name] = {
                    "seconds": row["seconds"],
                    "host_mb": round(peak / 1024),
                    "exit": row["exit"],
                    "answer": (folder / "told.txt").read_text().strip()[:100],
                    "written_mb": round(written / 2**20, 1),
                }
                if row["exit"]:
                    found[name]["log"] = (folder / "told.log").read_text()[-600:]
    return {"suite": "files", "mb": mb, "cases": found}


if __name__ == "__main__":
    main()
