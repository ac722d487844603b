"""Many clients at once over HTTP: is each program answered, by its own answer, how fast, and at what cost."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from socket import create_connection, socket
from typing import Any

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from benchmarks.gateway.compare import percentile
from benchmarks.gateway.gateways import ATC, FASTMCP, ROOT, read_atc, read_fastmcp

TOKEN = "a-token"
_PROGRAM = """seen = stamp(client={client}, number={number})
print(seen["mark"], sum(range({number})))
"""
_RIVAL = """seen = await call_tool("stamp", {{"client": {client}, "number": {number}}})
return str(seen["mark"]) + " " + str(sum(range({number})))
"""
_SERVICE = """
import sys
from starlette.applications import Starlette
from starlette.responses import JSONResponse
from starlette.routing import Route
from toolflow_bench.services.serve import serve

whole = {"type": "integer"}
answer = {"type": "object", "properties": {"mark": {"type": "string"}, "at": whole}, "required": ["mark"]}
asked = [{"name": name, "in": "query", "required": True, "schema": whole} for name in ("client", "number")]
async def stamp(request):
    return JSONResponse({"mark": "{client}-{number}".format(**request.query_params), "at": 1})
async def document(request):
    operation = {"operationId": "stamp", "summary": "A mark of two numbers.", "parameters": asked, "responses": {
        "200": {"description": "The mark.", "content": {"application/json": {"schema": answer}}}}}
    info = {"title": "Stamps", "version": "1"}
    servers = [{"url": str(request.base_url)}]
    return JSONResponse({"openapi": "3.1.0", "info": info, "servers": servers, "paths": {"/stamp": {"get": operation}}})
with serve(Starlette(routes=[Route("/stamp", stamp), Route("/openapi.json", document)])) as service:
    print(service.document_url, flush=True)
    sys.stdin.read()
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    name: str
    process: int
    url: str
    tool: str
    argument: str
    program: str
    read: Any


def measure(*, clients: int, programs: int, rival_python: str | None) -> list[dict[str, Any]]:
    """A row for each gateway, printed too; the rival's where its Python is given."""
    rows = []
    with _service() as document, _atc(document) as target:
        rows.append(_loaded(target, clients, programs))
    if rival_python is not None:
        with _service() as document, _fastmcp(document, rival_python) as target:
            rows.append(_loaded(target, clients, programs))
    return rows


def _loaded(target: _Target, clients: int, programs: int) -> dict[str, Any]:
    own, whole = _cpu([target.process]), _cpu(_family(target.process), ended=True)
    began = time.perf_counter()
    taken, wrong = anyio.run(_drive, target, clients, programs)
    seconds = time.perf_counter() - began
    own_each = 1000 * (_cpu([target.process]) - own) / programs
    whole_each = 1000 * (_cpu(_family(target.process), ended=True) - whole) / programs
    row = {
        "gateway": target.name,
        "clients": clients,
        "programs": programs,
        "answered": len(taken),
        "lost_or_mixed_up": wrong[:20],
        "p50_ms": round(1000 * percentile(taken, 50), 1),
        "p99_ms": round(1000 * percentile(taken, 99), 1),
        "programs_a_second": round(programs / seconds, 1),
        "own_cpu_ms_a_program": round(own_each, 2),
        "cpu_of_all_processes_ms_a_program": round(whole_each, 2),
    }
    print("\n".join(f"{name:36} {value}" for name, value in row.items()), flush=True)
    return row


async def _drive(target: _Target, clients: int, programs: int) -> tuple[list[float], list[str]]:
    """Seconds of every right reply, and what was wrong with the others."""
    taken: list[float] = []
    wrong: list[str] = []
    connected, started = 0, anyio.Event()

    async def client(mine: int) -> None:
        nonlocal connected
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=120) as http,
            Client(streamable_http_client(target.url, http_client=http)) as session,
        ):
            connected += 1
            if connected == clients:
                started.set()
            await started.wait()
            for number in range(mine, programs, clients):
                program = target.program.format(client=mine, number=number)
                began = time.perf_counter()
                reply = target.read(await session.call_tool(target.tool, {target.argument: program}))
                expected = f"{mine}-{number} {sum(range(number))}"
                if reply.answer == expected:
                    taken.append(time.perf_counter() - began)
                else:
                    wrong.append(f"{expected!r} was expected: {reply.said[:300]}")

    async with anyio.create_task_group() as group:
        for mine in range(clients):
            group.start_soon(client, mine)
    return taken, wrong


@contextmanager
def _service() -> Iterator[str]:
    command = [sys.executable, "-c", _SERVICE]
    env = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=env, cwd=ROOT
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


@contextmanager
def _atc(document: str) -> Iterator[_Target]:
    port = _free_port()
    with tempfile.TemporaryDirectory() as state:
        env = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": state, "ATC_SERVE_TOKEN": TOKEN}
        command = [sys.executable, *ATC, "--tools", document, "--http", f"127.0.0.1:{port}"]
        with _running(command, env, port) as process:
            url = f"http://127.0.0.1:{port}/mcp"
            yield _Target(
                name="atc", process=process, url=url, tool="run_program", argument="source", program=_PROGRAM,
                read=read_atc,
            )  # fmt: skip


@contextmanager
def _fastmcp(document: str, python: str) -> Iterator[_Target]:
    port = _free_port()
    command = [python, FASTMCP, "--http", str(port), document]
    with _running(command, {"PATH": os.environ["PATH"], "FASTMCP_LOG_LEVEL": "CRITICAL"}, port) as process:
        url = f"http://127.0.0.1:{port}/mcp"
        yield _Target(
            name="fastmcp", process=process, url=url, tool="execute", argument="code", program=_RIVAL,
            read=read_fastmcp,
        )  # fmt: skip


@contextmanager
def _running(command: Sequence[str], env: dict[str, str], port: int) -> Iterator[int]:
    """The process id of a server, once it listens."""
    with subprocess.Popen(command, env=env, cwd=ROOT, stderr=subprocess.DEVNULL) as process:
        try:
            while process.poll() is None:
                try:
                    create_connection(("127.0.0.1", port), timeout=1).close()
                    break
                except OSError:
                    time.sleep(0.05)
            yield process.pid
        finally:
            process.terminate()


def _free_port() -> int:
    with socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def _family(process: int) -> list[int]:
    """A process and its descendants."""
    parents = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdecimal():
            try:
                parents[int(folder.name)] = int(_stat(int(folder.name))[1])
            except OSError:
                continue
    found = [process]
    for one in found:
        found += [child for child, parent in parents.items() if parent == one]
    return found


def _cpu(processes: Sequence[int], *, ended: bool = False) -> float:
    """Seconds of user and system time so far; with those of their children that have ended."""
    ticks = 0
    for process in processes:
        try:
            fields = _stat(process)
        except OSError:
            continue
        ticks += sum(map(int, fields[11:15] if ended else fields[11:13]))
    return ticks / os.sysconf("SC_CLK_TCK")


def _stat(process: int) -> list[str]:
    return Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
