"""Two gateways behind one address, over one PostgreSQL store: whatever one began, the other goes on with."""

import itertools
import json
import os
import signal
import time
from contextlib import ExitStack, asynccontextmanager, suppress
from pathlib import Path

import psycopg
import pytest

pytest.importorskip("mcp", reason="the MCP SDK (extra 'mcp') is not installed")

import anyio
import httpx2
import mcp_types as types
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from benchmarks.local import free_port
from tests.labs import commands
from tests.labs.patience import PATIENCE

TOOLS = '''
import os, time
from pathlib import Path
HERE = Path(__file__).parent

def add_note(text: str) -> dict:
    """Write a note down."""
    with (HERE / "notes").open("a") as file:
        file.write(text + "\\n")
    while text == "slow" and not (HERE / "go").exists():
        time.sleep(0.01)
    return {"note": text}
'''


class Pair:
    """Two gateways; requests go to one and to the other in turn."""

    def __init__(self, folder: Path, address: str, stack: ExitStack) -> None:
        self.folder, self.address = folder, address
        (folder / "shop.py").write_text(TOOLS)
        own = {"ATC_SERVE_TOKEN": "a-token", "ATC_STORE": address, "PYTHONPATH": str(Path.cwd())}
        own |= {"XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
        self.processes = {}  # those that live, by port
        for port in (free_port(), free_port()):
            words = f"serve --tools shop.py --http 127.0.0.1:{port} --allow-host gateway".split()
            started = commands.in_background(words, port=port, folder=folder, env=own)
            self.processes[port] = stack.enter_context(started)

    def kill(self, owner: str) -> None:
        """Kill the gateway that holds a lease."""
        port = next(
            port for port, process in self.processes.items() if process == json.loads(owner)["pid"]
        )
        process = self.processes.pop(port)
        os.kill(process, signal.SIGKILL)
        while Path(f"/proc/{process}").exists():
            time.sleep(0.01)

    @property
    def notes(self) -> list[str]:
        path = self.folder / "notes"
        return path.read_text().split() if path.exists() else []

    @asynccontextmanager
    async def client(self, **how):
        turns = itertools.cycle(self.processes)

        class Alternating(httpx2.AsyncHTTPTransport):
            async def handle_async_request(self, request):
                request.url = request.url.copy_with(host="127.0.0.1", port=next(turns))
                return await super().handle_async_request(request)

        headers = {"Authorization": "Bearer a-token"}
        async with (
            httpx2.AsyncClient(headers=headers, transport=Alternating(), timeout=PATIENCE) as http,
            Client(
                streamable_http_client("http://gateway/mcp", http_client=http), mode="auto", **how
            ) as client,
        ):
            yield client


@pytest.fixture
def pair(postgres, tmp_path):
    with ExitStack() as stack:
        yield Pair(tmp_path, postgres.database(), stack)


async def person(_, question):
    return types.ElicitResult(action="accept", content={"allow": "this call"})


async def run_program(client, source, **more):
    result = await client.call_tool("run_program", {"source": source, **more})
    return json.loads(result.content[0].text)


def test_consent_reaches_the_other_gateway(pair) -> None:
    async def conversation():
        async with pair.client(elicitation_callback=person) as client:
            first = await run_program(client, "made = add_note(text='a')\nprint(made['nte'])")
            second = await run_program(
                client, "made = add_note(text='a')\nprint(made['note'])", continues=first["run"]
            )
            third = await run_program(client, "print(add_note(text='b')['note'])")
            return first, second, third

    first, second, third = anyio.run(conversation)
    assert (first["status"], second["status"], second["answer"]) == ("failed", "solved", "a")
    assert "1 of 1 calls" in second["reused"]
    assert (third["status"], pair.notes) == ("solved", ["a", "b"])
    with psycopg.connect(pair.address) as connection:
        owners = connection.execute("SELECT DISTINCT owner FROM atc.leases").fetchall()
    assert {json.loads(owner)["pid"] for (owner,) in owners} <= set(pair.processes.values())


def test_a_resent_program_writes_nothing_twice(pair) -> None:
    program = "add_note(text='done')\nadd_note(text='slow')\nprint('over')"

    async def lose():
        async with (
            pair.client(elicitation_callback=person) as client,
            anyio.create_task_group() as tasks,
        ):
            tasks.start_soon(run_program, client, program)
            with anyio.fail_after(30):
                while "slow" not in pair.notes:
                    await anyio.sleep(0.01)
            with psycopg.connect(pair.address, autocommit=True) as connection:
                (owner,) = connection.execute("SELECT owner FROM atc.leases").fetchone()
                pair.kill(owner)
                connection.execute(
                    "UPDATE atc.leases SET expires = '-infinity'"
                )  # some seconds later

    async def again():
        async with pair.client(elicitation_callback=person) as client:
            return await run_program(client, program)

    with suppress(Exception):  # the connection is lost
        anyio.run(lose)
    assert len(pair.processes) == 1
    reply = anyio.run(again)
    assert reply["status"] == "paused"
    assert "add_note is not sent: run 2" in reply["next"]
    assert "it took effect before that run was interrupted" in reply["next"]
    assert pair.notes == ["done", "slow"]
