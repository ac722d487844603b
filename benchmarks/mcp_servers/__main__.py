"""Set up real MCP servers in a folder, call each of their tools once, and print a table.

python -m benchmarks.mcp_servers FOLDER

The folder gets the npm packages @modelcontextprotocol/server-* and a virtual environment with
mcp-server-git, unless it has them. npm, git and Python's venv are needed.
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

from benchmarks.mcp_servers import calls, odd_server
from protocols.client import Invoker, InvokeSettings
from protocols.errors import ToolError
from protocols.protocol import McpBinding
from protocols.sources import load_tools
from protocols.tool import Tool
from sandbox.arguments import BadArguments, contract

NPM = ("filesystem", "memory", "everything")


@dataclass(frozen=True)
class Server:
    """A server: its command, its version, and a function of a folder that gives its calls."""

    name: str
    command: Sequence[str]
    version: str
    calls: Callable[[Path], calls.Calls]
    expected: Mapping[str, Any]
    """Results of tools, where it is known what they should be."""


@dataclass(frozen=True)
class Measured:
    """What was seen of one server: numbers of tools, and sentences about the others."""

    listed: int
    usable: int
    resource_tools: int
    problems: Mapping[str, str]
    left_out: Sequence[str]


def install(folder: Path) -> list[Server]:
    """Install what the folder does not have. Return the servers."""
    packages = [f"@modelcontextprotocol/server-{name}" for name in NPM]
    modules = folder / "node_modules"
    if not all((modules / package).is_dir() for package in packages):
        folder.mkdir(parents=True, exist_ok=True)
        options = ["--no-audit", "--no-fund", "--prefix", str(folder)]
        subprocess.run(["npm", "install", *options, *packages], check=True)
    python = folder / "venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    git = python.parent / "mcp-server-git"
    if not git.exists():
        subprocess.run([python, "-m", "pip", "install", "-q", "mcp-server-git"], check=True)
    servers = []
    for name, package in zip(NPM, packages, strict=True):
        about = json.loads((modules / package / "package.json").read_text("utf-8"))
        command = [str(modules / ".bin" / f"mcp-server-{name}")]
        servers.append(Server(name, command, about["version"], getattr(calls, name), {}))
    asked = "import importlib.metadata as m; print(m.version('mcp-server-git'))"
    found = subprocess.run([python, "-c", asked], check=True, capture_output=True, text=True)
    return [*servers, Server("git", [str(git)], found.stdout.strip(), calls.git, {})]


def odd() -> Server:
    """Return the server of this folder, which has every oddity."""
    command = [sys.executable, str(Path(odd_server.__file__))]
    return Server("odd", command, "`odd_server.py`", calls.odd, odd_server.EXPECTED)


def prepare(server: Server, home: Path) -> list[str]:
    """Return the command of a server that works in a folder, which gets what the server needs."""
    match server.name:
        case "filesystem":
            return [*server.command, str(home)]
        case "memory":
            return ["env", f"MEMORY_FILE_PATH={home / 'memory.jsonl'}", *server.command]
        case "git":
            (home / "old.txt").write_text("1\n", "utf-8")
            for words in (
                "init -q",
                "config user.name a",
                "config user.email a@example.org",
                "add .",
                "commit -qm Begin",
            ):
                subprocess.run(["git", "-C", str(home), *words.split()], check=True)
            (home / "old.txt").write_text("2\n", "utf-8")
            (home / "new.txt").write_text("3\n", "utf-8")
    return [*server.command]


def find_problem(tool: Tool, arguments: Mapping[str, Any], expected: Any) -> str:
    """Return why a call of a tool does not give what it should, or ""."""
    aliases = {name: alias for alias, name in tool.arguments.items()}
    given = {aliases.get(name, name): value for name, value in arguments.items()}
    try:
        accepted = contract(tool.protocol).accept(given)
        value = tool.send_for_value(tool.original_arguments(accepted))
    except (BadArguments, ToolError) as error:
        return str(error)
    return f"gave {value!r}" if expected is not None and value != expected else ""


def measure(server: Server, home: Path) -> Measured:
    """Load the tools of a server and call each of them."""
    settings = InvokeSettings(confirm_start=lambda _: True, trust_annotations=True)
    source = f"{server.name}=mcp:{shlex.join(prepare(server, home))}"
    with Invoker(settings) as invoker:
        box = load_tools(source, invoker=invoker)
        tools = {tool.protocol.name: tool for tool in box.values()}
        left_out = [note for note in box.notes if "left out" in note]
        problems = dict.fromkeys(tools, "was not called")
        for name, arguments in server.calls(home):
            given = arguments
            if name == "read_resource":
                given = {"uri": tools["list_resources"].send_for_value({})["resources"][0]["uri"]}
            problems[name] = find_problem(tools[name], given, server.expected.get(name))
    own = {name for name, tool in tools.items() if _calls_tool(tool)}
    usable = {name for name, problem in problems.items() if not problem}
    return Measured(
        listed=len(own) + len(left_out),
        usable=len(own & usable),
        resource_tools=len(usable - own),
        problems={name: problem for name, problem in problems.items() if problem},
        left_out=left_out,
    )


def _calls_tool(tool: Tool) -> bool:
    """Return True for a tool of the server, False for one that reads its resources."""
    binding = tool.protocol.binding
    return isinstance(binding, McpBinding) and binding.method == "tools/call"


def main(folder: Path) -> None:
    """Print the table, and below it what is not usable and why."""
    print(f"mcp {version('mcp')}\n")
    print("| server | version | tools listed | usable | left out by name | resource tools |")
    print("|---|---|---:|---:|---:|---:|")
    remarks = []
    for server in (*install(folder), odd()):
        with tempfile.TemporaryDirectory() as place:
            seen = measure(server, Path(place).resolve())
        numbers = f"{seen.listed} | {seen.usable} | {len(seen.left_out)} | {seen.resource_tools}"
        print(f"| {server.name} | {server.version} | {numbers} |")
        remarks += [f"- {server.name}: {name}: {why}" for name, why in seen.problems.items()]
        remarks += [f"- {note}" for note in seen.left_out]
    print("", *remarks, sep="\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
