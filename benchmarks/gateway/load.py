"""Many clients at once over HTTP: is each program answered, by its own answer, how fast, and at what cost."""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import anyio
import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from benchmarks.gateway.gateways import FASTMCP, QUIET, read_atc, read_fastmcp
from benchmarks.local import ATC, ROOT, cpu_seconds, family, free_port, running
from benchmarks.runner import percentile

TOKEN = "a-token"
STAMPS = Path(__file__).with_name("stamps.py")
_PROGRAM = """seen = stamp(client={client}, number={number})
print(seen["mark"], sum(range({number})))
"""
_RIVAL = """seen = await call_tool("stamp", {{"client": {client}, "number": {number}}})
return str(seen["mark"]) + " " + str(sum(range({number})))
"""


class _Target(NamedTuple):
    """A gateway under load: how it is started, and how a program is sent to it."""

    name: str
    command: list[str]
    env: dict[str, str]
    tool: str
    argument: str
    program: str
    read: Any


def measure(*, clients: int, programs: int, rival_python: str | None) -> dict[str, dict[str, Any]]:
    """The figures of each gateway; the rival's where its Python is given."""
    rows = {}
    for rival in (None, rival_python) if rival_python else (None,):
        port = free_port()
        with _service() as document, tempfile.TemporaryDirectory() as folder:
            env = {"PYTHONPATH": str(ROOT), "XDG_STATE_HOME": folder, "ATC_SERVE_TOKEN": TOKEN}
            command = [sys.executable, *ATC, "serve", "--tools", document, "--http", f"127.0.0.1:{port}"]
            target = _Target("atc", command, env, "run_program", "source", _PROGRAM, read_atc)
            if rival is not None:
                command = [rival, FASTMCP, "--http", str(port), document]
                target = _Target("fastmcp", command, QUIET, "execute", "code", _RIVAL, read_fastmcp)
            with running(target.command, port=port, folder=Path(folder), env=target.env) as process:
                rows[target.name] = _loaded(target, f"http://127.0.0.1:{port}/mcp", process, clients, programs)
    return rows


def _loaded(target: _Target, url: str, process: int, clients: int, programs: int) -> dict[str, Any]:
    own, whole = cpu_seconds([process]), cpu_seconds(family(process), ended=True)
    began = time.perf_counter()
    taken, wrong = anyio.run(_drive, target, url, clients, programs)
    seconds = time.perf_counter() - began
    own, whole = cpu_seconds([process]) - own, cpu_seconds(family(process), ended=True) - whole
    return {
        "clients": clients,
        "programs": programs,
        "answered": len(taken),
        "lost_or_mixed_up": wrong[:20],
        "p50_ms": round(1000 * percentile(taken, 50), 1),
        "p99_ms": round(1000 * percentile(taken, 99), 1),
        "programs_a_second": round(programs / seconds, 1),
        "own_cpu_ms_a_program": round(1000 * own / programs, 2),
        "cpu_of_all_processes_ms_a_program": round(1000 * whole / programs, 2),
    }


async def _drive(target: _Target, url: str, clients: int, programs: int) -> tuple[list[float], list[str]]:
    """Seconds of every right reply, and what was wrong with the others."""
    taken: list[float] = []
    wrong: list[str] = []
    connected, started = 0, anyio.Event()

    async def client(mine: int) -> None:
        nonlocal connected
        headers = {"Authorization": f"Bearer {TOKEN}"}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=120) as http,
            Client(streamable_http_client(url, http_client=http)) as session,
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
    """A service in a process of its own: the address of its document."""
    command, pipes = [sys.executable, str(STAMPS)], {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(command, **pipes, text=True, cwd=ROOT) as process:
        yield process.stdout.readline().strip()
        process.stdin.close()
