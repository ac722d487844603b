"""Serving: it answers at once, ends cleanly, and says why it cannot start."""

from __future__ import annotations

import json
import signal
import subprocess
import threading
from pathlib import Path

import anyio
import psutil
import pytest
import requests

pytest.importorskip("uvicorn", reason="needs the extra 'toolflow'")

from benchmarks.local import free_port
from tests.labs import commands
from tests.labs.notes_service import notes_app
from tests.labs.patience import PATIENCE
from toolflow_bench.services.serve import serve


def test_it_answers_until_it_is_closed() -> None:
    closed: list[str] = []
    with serve(notes_app(lambda: closed.append("x"))) as service, requests.Session() as session:
        assert session.get(service.url + "/notes", timeout=10).json() == {"notes": []}
        document = session.get(service.document_url, timeout=PATIENCE).json()
        assert document["servers"] == [{"url": service.url}]
        port = int(service.url.rsplit(":", 1)[1])
    assert closed == ["x"]
    assert not [thread for thread in threading.enumerate() if thread.name == f"serve {service.url}"]
    assert port not in [
        one.laddr.port for one in psutil.Process().net_connections("tcp") if one.status == "LISTEN"
    ]
    service.close()  # a second time does nothing
    assert closed == ["x"]


def test_the_command_names_a_port_that_is_taken(atc_) -> None:
    with serve(notes_app()) as service:
        port = service.url.rsplit(":", 1)[1]
        code, _, talk = atc_("bench", "serve", "flights", "--port", port)
    assert code == 3
    assert f"port {port} on 127.0.0.1 cannot be used (Address already in use)" in talk


def test_the_command_serves_until_it_is_interrupted() -> None:
    command = ["bench", "serve", "flights", "--json"]
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with commands.Command(command, text=True, **pipes) as child:
        told = json.loads(child.stdout.readline())
        [shown] = told["services"]
        assert (shown["name"], shown["document"]) == ("flights", f"{shown['url']}/openapi.json")
        paths = requests.get(shown["document"], timeout=10).json()["paths"]
        assert shown["operations"] == sum(len(methods) for methods in paths.values())
        requests.post(
            shown["url"] + "/bench/faults", json={"seed": 7, "rate_500": 1}, timeout=10
        ).raise_for_status()
        assert requests.get(shown["url"] + "/airlines/AA", timeout=10).status_code == 500
        child.send_signal(signal.SIGINT)
        _, talk = child.communicate(timeout=PATIENCE)
    assert child.returncode == 130
    assert talk.endswith("atc: interrupted.\n")


def test_an_mcp_client_calls_the_services(tmp_path):
    pytest.importorskip("mcp", reason="needs the extra 'mcp'")
    from mcp import Client  # an optional package
    from mcp.client.streamable_http import streamable_http_client
    from mcp.shared._httpx_utils import create_mcp_http_client

    port = free_port()
    command = ["bench", "serve", "movies", "--mcp", str(port)]
    environment = {
        "HOME": str(Path.home()),
        "ATC_SERVE_TOKEN": "a-token",
        "ATC_STATE_DIR": str(tmp_path),
    }

    async def talk() -> tuple[int, object]:
        headers = {"Authorization": "Bearer a-token"}
        async with (
            create_mcp_http_client(headers=headers) as http,
            Client(
                streamable_http_client(f"http://127.0.0.1:{port}/mcp", http_client=http)
            ) as client,
        ):
            tools = await client.list_tools()
            found = await client.call_tool("search_films", {"title": "Casablanca", "limit": 1})
            return len(tools.tools), found.structured_content

    with commands.in_background(command, port=port, folder=tmp_path, env=environment):
        count, found = anyio.run(talk)
    assert count == 39
    assert found["films"][0]["title"] == "Casablanca"
