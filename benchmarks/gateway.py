"""Many concurrent HTTP clients of one gateway: correctness, latency and cost of the replies.

The exit status is 1 if a reply is lost or belongs to another program.
"""

from __future__ import annotations

import json
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import anyio
import click
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from benchmarks.local import ATC, ROOT, cpu_seconds, free_port, process_family, run_in_background
from benchmarks.runner import percentile, suite
from toolflow_bench.services.serve import serve

TOKEN = "a-token"
PROGRAM = (
    "seen = stamp(client={client}, number={number})\nprint(seen['mark'], sum(range({number})))"
)
WHOLE = {"type": "integer"}
ANSWER = {
    "type": "object",
    "properties": {"mark": {"type": "string"}, "at": WHOLE},
    "required": ["mark"],
}
STAMP = {
    "operationId": "stamp",
    "summary": "Return a mark of two numbers.",
    "parameters": [
        {"name": name, "in": "query", "required": True, "schema": WHOLE}
        for name in ("client", "number")
    ],
    "responses": {
        "200": {"description": "The mark.", "content": {"application/json": {"schema": ANSWER}}}
    },
}


async def stamp(request: Request) -> JSONResponse:
    return JSONResponse({"mark": "{client}-{number}".format(**request.query_params), "at": 1})


async def openapi_document(request: Request) -> JSONResponse:
    head = {"openapi": "3.1.0", "info": {"title": "Stamps", "version": "1"}}
    servers = [{"url": str(request.base_url).rstrip("/")}]
    return JSONResponse({**head, "servers": servers, "paths": {"/stamp": {"get": STAMP}}})


async def drive(url: str, clients: int, programs: int) -> tuple[list[float], list[str]]:
    """Let the clients send all programs, and return the times and the mistakes of the replies.

    The results are the seconds that each right reply took, and a message about each wrong reply.
    All clients begin at the moment when the last one is connected.
    """
    taken = list[float]()
    wrong = list[str]()
    connected = list[int]()
    started = anyio.Event()

    async def client(mine: int) -> None:
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=120) as http,
            Client(streamable_http_client(url, http_client=http)) as session,
        ):
            connected.append(mine)
            if len(connected) == clients:
                started.set()
            await started.wait()
            for number in range(mine, programs, clients):
                began = time.perf_counter()
                program = PROGRAM.format(client=mine, number=number)
                reply = await session.call_tool("run_program", {"source": program})
                seconds = time.perf_counter() - began
                said = "".join(getattr(one, "text", "") for one in reply.content)
                expected = f"{mine}-{number} {sum(range(number))}"
                if json.loads(said).get("answer") == expected:
                    taken.append(seconds)
                else:
                    wrong.append(f"{expected!r} was expected: {said[:300]}")

    async with anyio.create_task_group() as group:
        for mine in range(clients):
            group.start_soon(client, mine)
    return taken, wrong


@suite
@click.option("--clients", type=click.IntRange(1), default=50, show_default=True)
@click.option("--programs", type=click.IntRange(1), default=2000, show_default=True)
def main(clients: int, programs: int) -> dict[str, Any]:
    port = free_port()
    routes = [Route("/stamp", stamp), Route("/openapi.json", openapi_document)]
    with serve(Starlette(routes=routes)) as service, tempfile.TemporaryDirectory() as folder:
        env = {"PYTHONPATH": str(ROOT), "XDG_STATE_HOME": folder, "ATC_SERVE_TOKEN": TOKEN}
        command = [
            sys.executable,
            *ATC,
            "serve",
            "--tools",
            service.document_url,
            "--http",
            f"127.0.0.1:{port}",
        ]
        with run_in_background(command, port=port, folder=Path(folder), env=env) as process:
            own = cpu_seconds([process])
            whole = cpu_seconds(process_family(process), ended=True)
            began = time.perf_counter()
            taken, wrong = anyio.run(drive, f"http://127.0.0.1:{port}/mcp", clients, programs)
            seconds = time.perf_counter() - began
            own = cpu_seconds([process]) - own
            whole = cpu_seconds(process_family(process), ended=True) - whole
    about = {"suite": "gateway", "passed": not wrong and len(taken) == programs, "clients": clients}
    return about | {
        "programs": programs,
        "answered": len(taken),
        "p50_ms": round(1000 * percentile(taken, 50), 1),
        "p99_ms": round(1000 * percentile(taken, 99), 1),
        "programs_a_second": round(programs / seconds, 1),
        "own_cpu_ms_a_program": round(1000 * own / programs, 2),
        "cpu_of_all_processes_ms_a_program": round(1000 * whole / programs, 2),
        "lost_or_mixed_up": wrong[:20],
    }


if __name__ == "__main__":
    main()
