"""The gateway through clients that no one here wrote, each in an environment of its own.

Variables name them: `ATC_FASTMCP_PYTHON`, `ATC_PYDANTIC_AI_PYTHON` and `ATC_OPENAI_AGENTS_PYTHON` a Python that has
`fastmcp`, `pydantic-ai-slim[mcp]` and `openai-agents`, `ATC_MCP_INSPECTOR` the command of npm's
`@modelcontextprotocol/inspector`.
"""

import json
import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the MCP SDK (extra 'mcp') is not installed")

ROOT = Path(__file__).resolve().parents[1]
TOOLS = '''
from pathlib import Path

def add(a: int, b: int) -> int:
    """Add two numbers.

    read_only = True
    """
    return a + b

def tick() -> int:
    """Count on.

    read_only = True
    """
    with Path(TICKS).open("a") as file:
        return file.write(".")

def write_note(text: str) -> str:
    """Write a note down."""
    return f"noted {text}"
'''

# A client calls some tools, then runs an endless program and cancels it once it is known to run. The program has ended
# when another one takes its time and meanwhile nothing was counted.
PRELUDE = """
import asyncio, json, os, sys
command, steps, ticks = json.loads(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3]
asked = []

async def person(message, response_type, params, context):
    asked.append(message)
    return {"allow": "this call"}

async def drive(call):
    replies = [await call(*step) for step in steps]
    running = asyncio.create_task(call("run_program", {"source": "while True:\\n    n = tick()\\nprint(n)"}))
    while not os.path.exists(ticks):
        await asyncio.sleep(0.01)
    running.cancel()
    await asyncio.gather(running, return_exceptions=True)
    ended = False
    for _ in range(200):
        before = os.path.getsize(ticks)
        await call("run_program", {"source": "print(sum(range(100000)))"})
        ended = ended or os.path.getsize(ticks) == before
        if ended:
            break
    print(json.dumps({"replies": replies, "asked": asked, "ended": ended}))
"""
FASTMCP = """
from fastmcp import Client
from fastmcp.client.transports import StdioTransport

async def main():
    transport = StdioTransport(command[0], command[1:], env=dict(os.environ))
    async with Client(transport, elicitation_handler=person) as client:
        async def call(name, arguments):
            return (await client.call_tool(name, arguments, raise_on_error=False)).content[0].text
        await drive(call)

asyncio.run(main())
"""
PYDANTIC_AI = """
from fastmcp.client.transports import StdioTransport
from pydantic_ai import Agent
from pydantic_ai.mcp import MCPToolset
from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
from pydantic_ai.models.function import FunctionModel

def said(content):
    return content if isinstance(content, str) else json.dumps(content)

async def main():
    transport = StdioTransport(command[0], command[1:], env=dict(os.environ))
    toolset = MCPToolset(transport, elicitation_handler=person)
    async with toolset:
        async def call(name, arguments):
            def model(messages, info):
                if any(isinstance(message, ModelResponse) for message in messages):
                    return ModelResponse(parts=[TextPart(said(messages[-1].parts[0].content))])
                return ModelResponse(parts=[ToolCallPart(name, arguments)])
            return (await Agent(FunctionModel(model), toolsets=[toolset]).run("go")).output
        await drive(call)

asyncio.run(main())
"""
OPENAI_AGENTS = """
from agents import Agent, Runner, set_tracing_disabled
from agents.items import ModelResponse
from agents.mcp import MCPServerStdio
from agents.models.interface import Model
from agents.usage import Usage
from openai.types.responses import ResponseFunctionToolCall, ResponseOutputMessage, ResponseOutputText

class Scripted(Model):
    def __init__(self, name, arguments):
        self.call = ResponseFunctionToolCall(
            type="function_call", call_id="c", name=name, arguments=json.dumps(arguments))

    async def get_response(self, system_instructions, input, *args, **kwargs):
        output = self.call
        if isinstance(input, list) and input[-1].get("type") == "function_call_output":
            text = ResponseOutputText(type="output_text", text=input[-1]["output"][0]["text"], annotations=[])
            output = ResponseOutputMessage(
                id="m", type="message", role="assistant", status="completed", content=[text])
        return ModelResponse(output=[output], usage=Usage(), response_id=None)

    def stream_response(self, *args, **kwargs):
        raise NotImplementedError

async def main():
    set_tracing_disabled(True)
    params = {"command": command[0], "args": command[1:], "env": dict(os.environ)}
    async with MCPServerStdio(params, client_session_timeout_seconds=60) as server:
        async def call(name, arguments):
            agent = Agent(name="x", model=Scripted(name, arguments), mcp_servers=[server])
            return (await Runner.run(agent, "go")).final_output
        await drive(call)

asyncio.run(main())
"""


@pytest.fixture
def command(tmp_path, monkeypatch):
    """What starts a gateway over `TOOLS`."""
    tools = tmp_path / "counting.py"
    tools.write_text(f"TICKS = {str(tmp_path / 'ticks')!r}\n{TOOLS}")
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    monkeypatch.chdir(ROOT)
    # Without --max-calls an endless program would end by itself.
    start = [sys.executable, "-c", "from atc.cli.main import main; main()", "serve", "--max-calls", "1000000"]
    return [*start, "--tools", str(tools)]


def installed(variable):
    value = os.environ.get(variable)
    if not value:
        pytest.skip(f"{variable} names no client")
    return shlex.split(value)


@pytest.mark.parametrize(
    ("variable", "script", "asks"),
    [
        ("ATC_FASTMCP_PYTHON", FASTMCP, True),
        ("ATC_PYDANTIC_AI_PYTHON", PYDANTIC_AI, True),
        ("ATC_OPENAI_AGENTS_PYTHON", OPENAI_AGENTS, False),  # it has no elicitation
    ],
)
def test_a_foreign_client_searches_runs_is_asked_and_cancels(command, tmp_path, variable, script, asks):
    steps = [
        ("search_tools", {"query": "add numbers"}),
        ("run_program", {"source": "print(add(a=20, b=22))"}),
        ("run_program", {"source": "print(write_note(text='x'))"}),
    ]
    python = installed(variable)
    run = subprocess.run(
        [*python, "-c", PRELUDE + script, json.dumps(command), json.dumps(steps), str(tmp_path / "ticks")],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0, run.stderr
    told = json.loads(run.stdout.splitlines()[-1])
    found, added, written = map(json.loads, told["replies"])
    assert found["tools"][0]["tool"] == "add(a, b)"
    assert (added["status"], added["answer"]) == ("solved", 42)
    if asks:
        assert '"text": "x"' in told["asked"][0]
        assert (written["status"], written["answer"]) == ("solved", "noted x")
    else:
        assert written["status"] == "paused"
        assert f"atc runs resume {written['run'].rpartition('.')[0]} --allow-writes write_note" in written["next"]
    assert told["ended"]


def test_the_inspector_lists_searches_runs_and_ends(command, tmp_path):
    inspector = installed("ATC_MCP_INSPECTOR")

    # It hands none of its own environment on.
    environment = [
        part for name in ("PYTHONPATH", "XDG_STATE_HOME", "PATH") for part in ("-e", f"{name}={os.environ[name]}")
    ]

    def ask(*words):
        whole = [*inspector, "--cli", *environment, *command, *words]
        run = subprocess.run(whole, capture_output=True, text=True, timeout=60)
        assert run.returncode == 0, run.stderr
        return json.loads(run.stdout)

    def call(tool, argument):
        reply = ask("--method", "tools/call", "--tool-name", tool, "--tool-arg", argument)
        return json.loads(reply["content"][0]["text"])

    names = [tool["name"] for tool in ask("--method", "tools/list")["tools"]]
    assert names == ["search_tools", "describe_tools", "run_program", "check_program", "resume_run"]
    assert call("search_tools", "query=add numbers")["tools"][0]["tool"] == "add(a, b)"
    assert call("run_program", "source=print(add(a=20, b=22))")["answer"] == 42
    assert call("run_program", "source=print(write_note(text='x'))")["status"] == "paused"

    # It knows no request to cancel: whoever ends it ends its gateway, and so the program.
    endless = "source=while True:\n    n = tick()\nprint(n)"
    words = ["--method", "tools/call", "--tool-name", "run_program", "--tool-arg", endless]
    with subprocess.Popen([*inspector, "--cli", *environment, *command, *words], stdout=subprocess.DEVNULL) as running:
        wait_until((tmp_path / "ticks").exists)
        running.terminate()
        running.wait(30)

    def still():
        size = (tmp_path / "ticks").stat().st_size
        time.sleep(0.5)
        return (tmp_path / "ticks").stat().st_size == size

    wait_until(still)


def wait_until(holds):
    end = time.monotonic() + 30
    while not holds():
        assert time.monotonic() < end
        time.sleep(0.02)
