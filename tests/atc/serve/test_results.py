"""Files of runs as blocks of content, through a client of the `mcp` package."""

import base64
import json

import pytest

pytest.importorskip("mcp", reason="the MCP SDK (extra 'mcp') is not installed")

import anyio
from mcp import Client

from atc import Agent
from atc.core.config import Config
from atc.serve.gateway import Gateway
from atc.serve.gateway_limits import GatewayLimits
from atc.serve.server import gateway_server, tools_server
from atc.store import Store
from protocols.files import file_of_bytes
from protocols.toolbox import Toolbox
from tests.labs.patience import PATIENCE
from tests.labs.tools import tool

pytestmark = pytest.mark.usefixtures("shared_sandbox")


@pytest.fixture
def open_gateway(tmp_path):
    """Makes a gateway over tools."""
    opened = []

    def make(*, tools):
        store = Store(tmp_path / "runs.sqlite")
        agent = Agent(tools, model="none", store=store, config=Config(state_dir=tmp_path))
        opened.extend([agent, store])
        return Gateway(agent, limits=GatewayLimits(run_seconds=PATIENCE))

    yield make
    for one in opened:
        one.close()


def talk(gateway, conversation, server=gateway_server):
    async def go():
        async with Client(server(gateway)) as connected:
            return await conversation(connected)

    return anyio.run(go)


def read(result):
    return json.loads(result.content[0].text)


async def run_program(client, source):
    return read(await client.call_tool("run_program", {"source": source}))


PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(256))


def with_files(open_gateway):
    made = [
        tool("get_chart", lambda _: file_of_bytes(PNG, "chart.png", "image/png")),
        tool("get_svg", lambda _: file_of_bytes(b"<svg onload=x>", "a.svg", "image/svg+xml")),
        tool("get_sound", lambda _: file_of_bytes(b"ID3", "a.mp3", "audio/mpeg")),
        tool("get_dump", lambda _: file_of_bytes(b"x" * 2_000_000, "dump.bin")),
    ]
    return open_gateway(tools=Toolbox(made))


def test_files_of_an_answer_are_blocks_of_content(open_gateway):
    source = "print(get_chart(), get_svg(), get_sound(), get_dump())"

    async def conversation(client):
        result = await client.call_tool("run_program", {"source": source})
        link = result.content[-1]
        return result, (await client.read_resource(str(link.uri))).contents[0]

    result, dump = talk(with_files(open_gateway), conversation)
    assert [block["name"] for block in read(result)["files"]] == [
        "chart.png",
        "a.svg",
        "a.mp3",
        "dump.bin",
    ]
    _, chart, svg, sound, link = result.content
    assert (chart.mime_type, base64.b64decode(chart.data)) == ("image/png", PNG)
    assert (svg.type, svg.resource.mime_type) == ("resource", "image/svg+xml")
    assert (sound.type, sound.mime_type) == ("audio", "audio/mpeg")
    assert (link.type, link.size) == ("resource_link", 2_000_000)
    assert base64.b64decode(dump.blob) == b"x" * 2_000_000


def test_a_tool_of_files_gives_blocks(open_gateway):
    result = talk(
        with_files(open_gateway), lambda client: client.call_tool("get_chart", {}), tools_server
    )
    assert result.content[-1].type == "image"
    assert result.structured_content == {"result": "chart.png (image/png, 264 bytes)"}


def test_a_file_needs_the_handle_of_its_run(open_gateway):
    gateway = with_files(open_gateway)

    async def conversation(client):
        reply = await run_program(client, "print(get_chart())")
        digest = reply["files"][0]["sha256"]
        forged = reply["run"].rpartition(".")[0] + "." + "0" * 24
        errors = []
        for place in (f"{forged}/files/{digest}", f"{reply['run']}/files/{'0' * 64}"):
            with pytest.raises(Exception, match=r"no run|no such file") as caught:
                await client.read_resource(f"atc://runs/{place}")
            errors.append(caught)
        return errors

    assert len(talk(gateway, conversation)) == 2
