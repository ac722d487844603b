"""The gateway, through a client of the `mcp` package: what an agent sees, over each way to connect."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

pytest.importorskip("mcp", reason="the MCP SDK (extra 'mcp') is not installed")

import anyio
import httpx2
import mcp_types as types
from mcp import Client

from atc import Agent
from atc.archive.learned_schemas import LearnedSchemas
from atc.core.config import Config
from atc.serve.gateway import Gateway
from atc.serve.gateway_limits import GatewayLimits
from atc.serve.server import INSTRUCTIONS, gateway_server, tools_server
from atc.store import Store
from benchmarks.local import free_port
from protocols.errors import ToolError
from protocols.protocol import ToolProtocol
from protocols.render import token_estimate
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from tests.labs import commands
from tests.labs.patience import PATIENCE
from tests.labs.tools import tool

pytestmark = pytest.mark.usefixtures("shared_sandbox")

ORDERS = {
    "type": "object",
    "properties": {
        "orders": {
            "type": "array",
            "items": {"type": "object", "properties": {"id": {"type": "integer"}}},
        }
    },
    "required": ["orders", "page"],
    "additionalProperties": False,
}
ORDERS["properties"]["page"] = {"type": "integer"}


class Shop:
    """Three tools, and what reached them."""

    def __init__(self):
        self.calls = []
        self.lose_answers = False

    def tools(self):
        orders = {"orders": [{"id": number} for number in range(3000)], "page": 1}
        note = {"title": "hello", "api_key": "sk-abcdefghijklmnopqrstuvwxyz012345"}
        made = [
            tool(
                "list_orders",
                orders,
                output=ORDERS,
                description="The orders, in pages.",
                sent=self.calls,
            ),
            tool("get_secret_note", note, description="A note.", sent=self.calls),
            tool(
                "add_note",
                self._add,
                {"text": "string"},
                reads=False,
                description="Write it down.",
                sent=self.calls,
            ),
        ]
        return Toolbox(replace(one, source="shop") for one in made)

    def _add(self, _):
        if self.lose_answers:
            raise ToolError(None, "connection closed", outcome="unknown")
        return {"ok": True}


@pytest.fixture
def shop():
    return Shop()


@pytest.fixture
def open_gateway(shop, tmp_path):
    """Makes gateways over the shop; all of a test share one store."""
    opened = []

    def make(*, tools=None, learn=True, key=None, **config):
        store = Store(tmp_path / "runs.sqlite")
        learned = LearnedSchemas(tmp_path / "learned") if learn else None
        agent = Agent(
            tools or shop.tools(),
            model="none",
            store=store,
            learned=learned,
            config=Config(state_dir=tmp_path, **config),
        )
        opened.extend([agent, store])
        return Gateway(agent, key=key, limits=GatewayLimits(run_seconds=PATIENCE))

    yield make
    for part in opened:
        part.close()


@pytest.fixture
def gateway(open_gateway):
    return open_gateway()


def talk(gateway, conversation, server=gateway_server, **client):
    """Runs `conversation(client)` over a connection in this process."""

    async def go():
        async with Client(server(gateway), **client) as connected:
            return await conversation(connected)

    return anyio.run(go)


def read(result):
    return json.loads(result.content[0].text)


async def run_program(client, source, **more):
    return read(await client.call_tool("run_program", {"source": source, **more}))


def test_an_agent_searches_reads_and_runs_programs(gateway, shop):
    async def conversation(client):
        found = read(await client.call_tool("search_tools", {"query": "orders"}))
        stub = (
            (await client.call_tool("describe_tools", {"names": ["list_orders", "add_not"]}))
            .content[0]
            .text
        )
        return found, stub, await run_program(client, "print(len(list_orders()['orders']))")

    found, stub, reply = talk(gateway, conversation)
    assert found["tools"][0].startswith("def list_orders() -> dict: ...  # The orders")
    assert "def list_orders() -> Orders:" in stub
    assert stub.endswith("# no tool named 'add_not'; did you mean add_note?")
    assert (reply["status"], reply["answer"]) == ("solved", 3000)
    assert reply["calls"][0].startswith("line 1: list_orders() → {orders: [{id: integer}] × 3000")


@pytest.mark.parametrize("text", ["1,234", "+4915", "0xff", "1, 2"])
def test_numeric_texts_are_answered_as_texts(gateway, text):
    assert talk(gateway, lambda client: run_program(client, f"print({text!r})"))["answer"] == text
    reply = talk(gateway, lambda client: run_program(client, "print(list_orders()['orders'][0])"))
    assert (reply["answer"], reply.get("warnings")) == ({"id": 0}, None)


def test_nullable_values_are_answered_over_plain_mcp(open_gateway):
    schema = {"anyOf": [{"type": "object"}, {"type": "null"}]}
    gateway = open_gateway(tools=Toolbox([tool("get_note", {"title": "a"}, output=schema)]))
    note = talk(gateway, lambda client: client.call_tool("get_note", {}), tools_server)
    assert note.structured_content == {"result": {"title": "a"}}


def test_a_fault_is_found_before_any_call(gateway, shop):
    reply = talk(gateway, lambda client: run_program(client, "print(list_orders()['order'])"))
    assert reply["status"] == "failed"
    assert reply["findings"][0]["problem"] == (
        "the result of list_orders has no key 'order'; its keys are orders, page. Did you mean 'orders'?"
    )
    assert shop.calls == []


def test_a_repeated_program_overrules_response_schemas_alone(gateway, shop):
    async def conversation(client):
        wrong = "print(list_orders()['order'])"
        replies = [await run_program(client, wrong) for _ in range(2)]
        unknown = [await run_program(client, "print(list_orders(size=3))") for _ in range(2)]
        return replies, unknown

    (first, second), unknown = talk(gateway, conversation)
    assert "send the same program again" in first["next"]
    assert "findings" not in second
    assert second["fault"]["problem"].startswith("line 1: KeyError 'order'")
    assert len(shop.calls) == 1
    assert all("findings" in reply and "next" not in reply for reply in unknown)


def test_no_other_run_resends_a_lost_write(open_gateway, shop):
    """The client that got no answer sends its program anew, also when the gateway was started again."""

    async def conversation(client):
        first = await run_program(client, program)
        return (
            first,
            await run_program(client, f"x = 1\n{program}"),
            await run_program(client, "add_note(text='b')"),
        )

    program, key = "print(sorted(add_note(text='a')))", b"one gateway".ljust(32)
    shop.lose_answers = True
    first, again, _ = talk(open_gateway(allow_writes=("all",), key=key), conversation)
    shop.lose_answers = False
    assert [reply["status"] for reply in (first, again)] == ["paused", "paused"]
    assert f"continues={first['run']!r}" in again["next"]
    assert [arguments["text"] for _, arguments in shop.calls] == ["a", "b"]

    gateway = open_gateway(allow_writes=("all",), key=key)
    later = talk(gateway, lambda client: run_program(client, program))
    run = first["run"].rpartition(".")[0]
    assert f"run {run} made this same call: its answer was lost" in later["next"]
    assert "atc runs" not in json.dumps(later)  # an agent could give the command itself
    assert first["run"] not in later["next"]  # whose run it was is not known any more
    assert len(shop.calls) == 2

    solved = gateway._agent.resume(run, resend=True)  # what that command does
    assert solved.status == "solved"
    assert talk(gateway, lambda client: run_program(client, program))["status"] == "solved"
    assert [arguments["text"] for _, arguments in shop.calls] == ["a", "b", "a", "a"]


@pytest.mark.parametrize("mode", ["legacy", "auto"])
def test_a_write_asks_the_person_at_the_client(gateway, shop, mode):
    asked = []

    async def person(_, question):
        asked.append(question.message)
        return types.ElicitResult(action="accept", content={"allow": "this call"})

    program = "add_note(text='a')\nadd_note(text='b')\nprint('done')"
    reply = talk(
        gateway, lambda client: run_program(client, program), elicitation_callback=person, mode=mode
    )
    assert reply["status"] == "solved"
    assert [arguments for _, arguments in shop.calls] == [{"text": "a"}, {"text": "b"}]
    assert len(asked) == 2
    assert "argument 'text' = 'a'" in asked[0]


def test_a_declined_or_unaskable_write_is_not_sent(gateway, shop):
    async def person(_, question):
        return types.ElicitResult(action="decline")

    program = "add_note(text='a')\nprint('done')"
    for callback, status in ((None, "paused"), (person, "declined")):
        reply = talk(
            gateway, lambda client: run_program(client, program), elicitation_callback=callback
        )
        assert reply["status"] == status
        assert not re.search("runs resume|--allow", json.dumps(reply))
    assert shop.calls == []


def test_an_allowed_run_continues(open_gateway, shop):
    async def start(client):
        return await run_program(client, "add_note(text='a')\nprint('done')")

    async def go_on(client):
        return read(await client.call_tool("resume_run", {"run": paused["run"]}))

    key = b"the same gateway, started again".ljust(32)
    paused = talk(open_gateway(key=key), start)
    gateway = open_gateway(key=key)
    assert talk(gateway, go_on)["status"] == "paused"
    gateway._agent.resume(
        paused["run"].rpartition(".")[0], ask_person=lambda _: True
    )  # as 'runs resume' on a terminal
    reply = talk(gateway, go_on)
    assert (reply["status"], reply["answer"], len(shop.calls)) == ("solved", "done", 1)


def test_response_schemas_are_learned_without_secrets(open_gateway, tmp_path):
    async def use(client):
        await run_program(client, "print(get_secret_note()['title'])")
        return await look(client)

    async def look(client):
        return (
            (await client.call_tool("describe_tools", {"names": ["get_secret_note"]}))
            .content[0]
            .text
        )

    assert "title" not in talk(open_gateway(), look)
    assert "title: str" in talk(open_gateway(), use)
    assert "title: str" in talk(open_gateway(), look)  # kept for the next gateway
    assert "title" not in talk(open_gateway(learn=False), look)
    kept = [path.read_text() for path in (tmp_path / "learned").iterdir()]
    assert len(kept) == 1
    assert "sk-abc" not in kept[0]
    assert "hello" not in kept[0]


def test_learned_schemas_change_no_results(open_gateway):
    """A response of one key must not be unwrapped only because it was seen."""
    program = "print(sorted(add_note(text='a')))"
    gateway = open_gateway(allow_writes=("all",))
    replies = [talk(gateway, lambda client: run_program(client, program)) for _ in range(3)]
    assert [reply["answer"] for reply in replies] == ["['ok']"] * 3 or [
        r["answer"] for r in replies
    ] == [["ok"]] * 3


def test_large_answers_are_read_by_handle(gateway):
    async def conversation(client):
        large = await run_program(client, "list_orders()['orders']")
        handle = large["answer"]["handle"]
        return large, await run_program(
            client, f"print(read_result(handle={handle!r})[2999]['id'])"
        )

    large, small = talk(gateway, conversation)
    assert large["answer"]["shape"] == "[{id: integer}] × 3000"
    assert large["answer"]["preview"].startswith("[{'id': 0}")
    assert len(json.dumps(large)) < 8000
    assert small["answer"] == 2999


def test_mistakes_of_the_model_are_told_as_results(gateway):
    async def conversation(client):
        return [
            read(await client.call_tool(name, arguments))["error"]
            for name, arguments in [
                ("run_program", {}),
                ("describe_tools", {"names": ["list_order"]}),
                ("list_orders", {}),
            ]
        ]

    empty, misnamed, called = talk(gateway, conversation)
    assert empty == "argument 'source' is missing"
    assert misnamed == "no tool named 'list_order'; did you mean list_orders?"
    assert called.endswith("API functions are called by run_program.")


class Noted:
    """A call of a tool whose source left something out."""

    notes = ("the MCP server 's': a second tool with the name 'a' is left out.",)

    def __call__(self, arguments):
        return {"n": 1}


def test_what_a_source_leaves_out_is_said(open_gateway):
    noted = replace(tool("count", output={"type": "object"}), call=Noted())
    gateway = open_gateway(tools=Toolbox([noted, tool("other")]))
    assert gateway.overview().endswith(f"\n\nNote: {Noted.notes[0]}")
    reply = gateway.run_program("print(count()['n'])")
    assert (reply["status"], reply["notes"]) == ("solved", [*Noted.notes])


def test_many_tools_are_described_in_600_tokens(open_gateway):
    async def listed(client):
        tools = (await client.list_tools()).tools
        return json.dumps([tool.model_dump(by_alias=True, exclude_none=True) for tool in tools])

    assert "def list_orders() -> Orders:" in talk(open_gateway(), listed)
    many = Toolbox(
        Tool(
            ToolProtocol(name=f"tool_{number}", description="Does something."),
            dict,
            source=f"source {number % 9}",
        )
        for number in range(10_000)
    )
    text = talk(open_gateway(tools=many), listed)
    assert "10000 tools: " in text
    assert token_estimate(text + INSTRUCTIONS) <= 600


def test_runs_and_protocols_are_resources(gateway):
    async def conversation(client):
        run = (await run_program(client, "print(get_secret_note())"))["run"]
        return [
            (await client.read_resource(uri)).contents[0].text
            for uri in (f"atc://runs/{run}", "atc://protocols/add_note")
        ]

    run, protocol = talk(gateway, conversation)
    assert json.loads(run)["attempts"][0]["program"]["source"] == "print(get_secret_note())"
    assert "sk-abc" not in run
    assert json.loads(protocol)["description"] == "Write it down."


def test_the_same_sources_are_plain_mcp_tools(open_gateway, shop):
    gateway = open_gateway(allow_writes=("add_note",))

    async def conversation(client):
        await client.call_tool("get_secret_note", {})
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        return tools, [
            await client.call_tool(name, arguments)
            for name, arguments in [
                ("get_secret_note", {}),
                ("add_note", {"text": "a"}),
                ("add_note", {}),
            ]
        ]

    tools, (note, written, wrong) = talk(gateway, conversation, tools_server)
    assert list(tools) == ["list_orders", "get_secret_note", "add_note"]
    assert tools["get_secret_note"].output_schema["properties"]["title"] == {
        "type": "string"
    }  # learned
    assert note.structured_content["title"] == "hello"
    assert "sk-abc" not in note.content[0].text
    assert written.structured_content == {"ok": True}
    assert wrong.is_error
    assert "needs the argument text" in wrong.content[0].text
    assert [name for name, _ in shop.calls] == ["get_secret_note", "get_secret_note", "add_note"]


def test_http_serves_only_token_holders_from_here(tmp_path):
    (tmp_path / "notes.py").write_text(
        'def add(a: int, b: int) -> int:\n    """Add."""\n    return a + b\n'
    )
    port = free_port()
    command = ["serve", "--tools", "notes.py", "--http", f"127.0.0.1:{port}"]
    good = {"Authorization": "Bearer a-token"}
    hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}  # fmt: skip
    kinds = {"Accept": "application/json, text/event-stream"}

    def status(path="", **headers):
        url = f"http://127.0.0.1:{port}/mcp{path}"
        return httpx2.post(url, json=hello, headers=kinds | headers, timeout=PATIENCE).status_code

    with commands.in_background(
        command,
        port=port,
        folder=tmp_path,
        env={"ATC_SERVE_TOKEN": "a-token", "PYTHONPATH": str(Path.cwd())},
    ):
        assert status(**good) == 200
        assert status() == status("/other") == 401
        assert status(Authorization="Bearer a-toke") == 401
        assert status(**good, Origin="http://evil.example") == 403
        assert status(**good, Host="evil.example") == 421  # a name that was rebound to this address


def test_the_client_in_the_documentation_gets_its_answer(tmp_path):
    page = (Path.cwd() / "docs" / "guides" / "agent.md").read_text()
    for name, text in re.findall(
        r'^```python title="(\w+\.py)"\n(.*?)^```$', page, re.DOTALL | re.MULTILINE
    ):
        (tmp_path / name).write_text(text)
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {
        **os.environ,
        "HOME": str(tmp_path),
        "PATH": path,
    }  # what a client hands on to its server
    done = subprocess.run(
        [sys.executable, "client.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    failed, solved = done.stdout.splitlines()
    assert "its keys are id, total" in failed
    reply = json.loads(solved)
    assert (reply["status"], reply["answer"]) == ("solved", 24.5)
    assert "1 of 1 calls" in reply["reused"]
