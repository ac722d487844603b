"""The MCP part of the probing bench, on a server of our own."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="needs the extra 'mcp'")
pytest.importorskip("uvicorn", reason="needs the extra 'toolflow'")

from toolflow_bench.probing import mcp as part
from toolflow_bench.probing.mcp import measure_server
from toolflow_bench.probing.mcp_servers import SERVERS, ServerUnderTest
from toolflow_bench.probing.part import Options, run_part

SERVER = """
import json, sys
from pathlib import Path
TEXT = {"type": "string"}
ASKS = {"type": "object", "properties": {"name": TEXT}, "required": ["name"]}
GIVES = {"type": "object", "properties": {"greeting": TEXT, "length": {"type": "integer"}}, "required": ["greeting"]}
TOOLS = [
    {"name": "get_greeting", "inputSchema": ASKS, "outputSchema": GIVES, "annotations": {"readOnlyHint": True}},
    {"name": "list_names", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}},
]
def call(name, arguments):
    if name == "list_names":
        found = json.loads(Path(sys.argv[1]).read_text())
        return {"content": [{"type": "text", "text": json.dumps(found)}]}
    told = {"greeting": "Hello " + arguments["name"], "length": len(arguments["name"])}
    return {"content": [{"type": "text", "text": "-"}], "structuredContent": told}
for line in sys.stdin:
    message = json.loads(line)
    params = message.get("params") or {}
    result, error = None, {"code": -32601, "message": "unknown"}
    match message["method"]:
        case "initialize":
            result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                      "serverInfo": {"name": "Names", "version": "1"}}
        case "tools/list":
            result = {"tools": TOOLS}
        case "tools/call" if params["name"] == "get_greeting" and "name" not in params["arguments"]:
            result = {"isError": True, "content": [{"type": "text", "text": "name is required"}]}
        case "tools/call":
            result = call(params["name"], params["arguments"])
    if "id" in message:
        told = {"error": error} if result is None else {"result": result}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **told}), flush=True)
"""


def prepare(folder: Path, seed: int) -> str:
    folder.mkdir(parents=True)
    (folder / "server.py").write_text(SERVER)
    (folder / "names.json").write_text('{"names": ["Ann"]}' if seed == 0 else '{"names": "nobody"}')
    return f"mcp:{sys.executable} {folder / 'server.py'} {folder / 'names.json'}"


NAMES = ServerUnderTest(
    name="names",
    program=sys.executable,
    install="",
    prepare=prepare,
    fresh=(("get_greeting", {"name": "Zoë of {folder}"}), ("list_names", {}), ("get_greeting", {})),
)


def test_schemas_are_made_and_tried_by_fresh_calls(tmp_path):
    row = measure_server(NAMES, Options(out=tmp_path, per_tool=6))
    assert (row["tools"], row["described"], row["documented"]["share"]) == (2, 1, 1.0)
    assert row["declared"] == {"right": 2, "said": 2, "wanted": 2, "precision": 1.0, "recall": 1.0}
    assert row["fresh"] == {"calls": 3, "done": 2}
    assert row["valid"] == {"right": 1, "of": 2, "share": 0.5}
    assert [(one["tool"], one["broken"][0].partition(":")[0]) for one in row["broken"]] == [("list_names", "names")]
    assert [one["error"] for one in row["not_done"]] == ["name is required"]
    assert 2 <= row["calls"]["max"] <= 6
    assert not list(tmp_path.glob("mcp/*/stripped/*output*"))
    assert "outputSchema" not in next(tmp_path.glob("mcp/*/stripped/get_greeting.json")).read_text()


def test_servers_that_are_not_installed_are_skipped_with_the_command(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    measured = run_part(part.PART, Options(out=tmp_path))
    assert dict(measured.rows) == {}
    told = measured.lines()
    assert len(told) == len(SERVERS) == 4
    assert "skipped  memory: there is no program 'mcp-server-memory' on PATH: npm install -g" in told[1]
    assert "pip install mcp-server-git 'mcp<2'" in told[3]


def test_rows_add_up(tmp_path, monkeypatch):
    monkeypatch.setattr(part, "SERVERS", (NAMES, replace(NAMES, name="more")))
    measured = run_part(part.PART, Options(out=tmp_path, per_tool=4))
    total = measured.total
    assert (total["tools"], total["fresh"], total["valid"]["of"]) == (4, {"calls": 6, "done": 4}, 4)
    assert total["calls"]["total"] == sum(row["calls"]["total"] for row in measured.rows.values())
    shown = "\n".join(measured.lines())
    assert "names.get_greeting refused a fresh call: name is required" in shown
    assert "more.list_names: names: " in shown


def test_fresh_calls_know_their_folder(tmp_path):
    filesystem = next(one for one in SERVERS if one.name == "filesystem")
    calls = dict(filesystem.fresh_calls(tmp_path))
    assert calls["read_multiple_files"] == {"paths": [f"{tmp_path}/readme.md", f"{tmp_path}/absent.txt"]}
    source = filesystem.prepare(tmp_path / "files", 1)
    assert source == f"mcp:mcp-server-filesystem {tmp_path / 'files'}"
    assert (tmp_path / "files" / "notes" / "quarry.txt").exists()


def test_a_repository_has_a_history_and_a_change(tmp_path):
    git = next(one for one in SERVERS if one.name == "git")
    try:
        git.prepare(tmp_path / "repository", 1)
    except FileNotFoundError:
        pytest.skip("git is not installed")
    said = subprocess.run(
        ["git", "status", "--short"],
        cwd=tmp_path / "repository",
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert said.stdout == " M file0.txt\n"
