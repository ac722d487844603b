"""The gateways side by side: each a subprocess on stdin and stdout, driven by the client of the `mcp` package."""

from __future__ import annotations

import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import mcp_types as types
from mcp import Client, StdioServerParameters

from benchmarks.gateway.translate import translated
from benchmarks.local import ATC, ROOT
from protocols.toolbox import Toolbox

FASTMCP = str(Path(__file__).with_name("fastmcp_server.py"))
QUIET = {"PATH": os.environ["PATH"], "FASTMCP_LOG_LEVEL": "CRITICAL"}
"""Variables of a rival's process."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What became of a program."""

    ok: bool
    answer: str | None
    said: str
    """The whole reply."""
    problem: str = ""
    """What was wrong, in a line."""
    run: str | None = None


@dataclass
class Gateway:
    """An open connection to a gateway."""

    name: str
    client: Client
    program_tool: str
    argument: str
    read: Callable[[types.CallToolResult], Reply]
    search_tool: str
    describe_tool: tuple[str, str]
    prefix: str | None = None
    """Before a tool's name in the gateway's programs; None where programs call functions."""

    def program(self, source: str, tools: Toolbox, *, also: str = "") -> str:
        """A program in the gateway's dialect."""
        return source if self.prefix is None else translated(source, tools, prefix=self.prefix, also=frozenset({also}))

    async def run(self, program: str, continues: str | None = None) -> Reply:
        """Send a program."""
        more = {"continues": continues} if continues else {}
        return self.read(await self.client.call_tool(self.program_tool, {self.argument: program, **more}))

    async def descriptions(self) -> str:
        """What a client's model reads when it connects."""
        listed = await self.client.list_tools()
        tools = [tool.model_dump(mode="json", by_alias=True, exclude_none=True) for tool in listed.tools]
        return (self.client.instructions or "") + json.dumps(tools)

    async def discovery(self, question: str, names: Sequence[str], descriptions: str) -> str:
        """What its model reads, after `descriptions`, to find the tools for a question and to learn their arguments."""
        if all(f"def {name}(" in descriptions for name in names):
            return ""
        found = await self.client.call_tool(self.search_tool, {"query": question})
        tool, argument = self.describe_tool
        described = await self.client.call_tool(tool, {argument: [(self.prefix or "") + name for name in names]})
        return _text(found) + _text(described)


@asynccontextmanager
async def atc(documents: Mapping[str, str]) -> AsyncIterator[Gateway]:
    """`atc serve`. The person at the client agrees to each write."""

    async def agree(*_: Any) -> types.ElicitResult:
        return types.ElicitResult(action="accept", content={"allow": "this call"})

    sources = [part for name, url in documents.items() for part in ("--tools", f"{name}={url.removeprefix('file://')}")]
    with tempfile.TemporaryDirectory() as state:
        server = StdioServerParameters(
            command=sys.executable,
            args=[*ATC, "serve", *sources, "--allow-writes", "all"],
            env={**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": state},
            cwd=ROOT,
        )
        async with Client(server, elicitation_callback=agree) as client:
            describe = ("describe_tools", "names")
            yield Gateway("atc", client, "run_program", "source", read_atc, "search_tools", describe)


@asynccontextmanager
async def fastmcp(documents: Mapping[str, str], *, python: str) -> AsyncIterator[Gateway]:
    """FastMCP's CodeMode over `FastMCP.from_openapi`."""
    server = StdioServerParameters(command=python, args=[FASTMCP, *documents.values()], env=QUIET)
    async with Client(server) as client:
        describe = ("get_schema", "tools")
        yield Gateway("fastmcp", client, "execute", "code", read_fastmcp, "search", describe, prefix="")


@asynccontextmanager
async def toolplane(documents: Mapping[str, str], *, command: str, python: str) -> AsyncIterator[Gateway]:
    """toolplane, with the operations as an MCP server of FastMCP's for its upstream."""
    with tempfile.TemporaryDirectory() as folder:
        config = Path(folder) / "toolplane.toml"
        arguments = json.dumps([FASTMCP, "--plain", *documents.values()])
        env = "\n".join(f"{name} = {json.dumps(value)}" for name, value in QUIET.items() if name != "HOME")
        config.write_text(
            "[session]\nenabled = false\n"  # else names of earlier programs are left
            f"[mcp.servers.api]\ncommand = {json.dumps(python)}\nargs = {arguments}\n[mcp.servers.api.env]\n{env}\n"
        )
        server = StdioServerParameters(
            command=command, args=["serve", "mcp", "--config", str(config)], env=QUIET | {"HOME": folder}
        )
        async with Client(server) as client:
            describe = ("get_capability_schemas", "names")
            search = "search_capabilities"
            yield Gateway(
                "toolplane", client, "execute_code", "code", _read_toolplane, search, describe, prefix="mcp:api/"
            )


def read_atc(result: types.CallToolResult) -> Reply:
    """A reply of `run_program`."""
    said = _text(result)
    reply = json.loads(said)
    answer = reply.get("answer")
    text = answer if isinstance(answer, str) or answer is None else json.dumps(answer)
    problems = [*reply.get("findings", ()), reply.get("fault", {"problem": reply.get("error", "")})]
    return Reply(reply.get("status") == "solved", text, said, problems[0]["problem"], reply.get("run"))


def read_fastmcp(result: types.CallToolResult) -> Reply:
    """A reply of `execute`."""
    said = _text(result)
    if result.is_error:
        return Reply(False, None, said, said.removeprefix("Error calling tool 'execute': "))
    return Reply(True, said, said)


def _read_toolplane(result: types.CallToolResult) -> Reply:
    said = _text(result)
    if result.is_error:
        return Reply(False, None, said, said)
    reply = json.loads(said)
    error = reply["error"]
    if error is not None:
        return Reply(False, None, said, f"{error['type']}: {error['message']}")
    return Reply(True, str(reply["value"]), said)


def _text(result: types.CallToolResult) -> str:
    return "".join(part.text for part in result.content if isinstance(part, types.TextContent))
