"""Spans of runs, as a collector on loopback receives them over OTLP."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from atc.agent import Agent
from atc.core.config import Config
from atc.core.types import Solution
from atc.models.scripted import ScriptedModel
from protocols.errors import ModelUnavailable
from protocols.protocol import McpBinding
from protocols.toolbox import Toolbox
from tests.labs import commands
from tests.labs.loopback import serving
from tests.labs.patience import PATIENCE
from tests.labs.tools import fenced, tool
from tests.labs.viewed_runs import desk

sdk = pytest.importorskip("opentelemetry.sdk.trace", reason="the extra otel is not installed")
service = pytest.importorskip("opentelemetry.proto.collector.trace.v1.trace_service_pb2")
telemetry = pytest.importorskip("atc.observe.opentelemetry")

WRONG = "person = find(name='Ann')\nprint(person['age'])\n"
RIGHT = "person = find(name='Ann')\nprint(note(number=person['id'], password='hunter2-xyz'))\n"
CHAIN = Config(strategy="chain")
TASK = "Note for Ann with the password hunter2-xyz."


def tools() -> Toolbox:
    number, text = {"type": "integer"}, {"type": "string", "default": ""}
    binding = McpBinding(server="notes", tool="add-note")
    found = tool("find", lambda given: {"id": 4117, **given}, {"name": "string"})
    note = tool(
        "note", lambda given: f"noted for {given['number']}", {"number": number, "password": text},
        reads=False, binding=binding,
    )  # fmt: skip
    return Toolbox([found, note])


@pytest.fixture
def collected(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], list[Any]]]:
    """What a collector has received, after all was sent that waits."""
    with serving() as server:
        monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", server.url)
        monkeypatch.delenv(telemetry.CONTENT, raising=False)
        telemetry.provider.cache_clear()
        provider = telemetry.provider()

        def spans() -> list[Any]:
            provider.force_flush()
            requests = []
            for seen in server.seen:
                assert (seen.method, seen.path) == ("POST", "/v1/traces")
                requests.append(service.ExportTraceServiceRequest.FromString(seen.body))
            return [
                span
                for request in requests
                for resource in request.resource_spans
                for scope in resource.scope_spans
                for span in scope.spans
            ]

        yield spans
        provider.shutdown()
        telemetry.provider.cache_clear()


def solve(model: ScriptedModel, sandbox: Any) -> Solution:
    return Agent(tools(), model=model, sandbox=sandbox, config=CHAIN, allow_writes="all").run(TASK)


def attributes(span: Any) -> dict[str, Any]:
    return {one.key: getattr(one.value, one.value.WhichOneof("value")) for one in span.attributes}


def test_a_run_is_a_tree_of_spans(collected: Callable[[], list[Any]], sandbox: Any) -> None:
    model = ScriptedModel(fenced(WRONG), fenced(RIGHT))
    assert solve(model, sandbox).answer == "noted for 4117"
    spans = collected()
    names = {span.span_id: span.name for span in spans}
    tree = sorted(
        (span.start_time_unix_nano, names.get(span.parent_span_id, ""), span.name) for span in spans
    )
    assert {(above, name) for _, above, name in tree} == {
        ("", "invoke_agent atc"),
        ("invoke_agent atc", "chat scripted"),
        ("invoke_agent atc", "program"),
        ("program", "execute_tool find"),
        ("invoke_agent atc", "repair"),
        ("repair", "chat scripted"),
        ("program", "tools/call add-note"),
    }
    assert len({span.trace_id for span in spans}) == 1
    by_name = {span.name: attributes(span) for span in spans}
    assert by_name["invoke_agent atc"]["atc.status"] == "solved"
    assert by_name["chat scripted"]["gen_ai.operation.name"] == "chat"
    assert by_name["chat scripted"]["gen_ai.usage.output_tokens"] > 0
    assert (
        by_name["tools/call add-note"]
        | {"gen_ai.tool.name": "add-note", "mcp.method.name": "tools/call"}
        == (by_name["tools/call add-note"])
    )
    assert by_name["repair"]["atc.fault.kind"] == "misread_result"
    first = min(
        (span for span in spans if span.name == "program"),
        key=lambda span: span.start_time_unix_nano,
    )
    assert attributes(first)["error.type"] == "misread_result"
    assert first.status.code == 2
    everything = str(spans)
    for content in ("Ann", "hunter2", "4117", "noted for", "no key"):
        assert not re.search(rf"(?<![\d.]){content}(?!\d)", everything), (
            content
        )  # any digits may stand in a time


def test_content_is_sent_on_request_without_secrets(
    collected: Callable[[], list[Any]], sandbox: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(telemetry.CONTENT, "SPAN_ONLY")
    assert solve(ScriptedModel(fenced(RIGHT)), sandbox).status == "solved"
    spans = collected()
    by_name = {span.name: attributes(span) for span in spans}
    assert (
        '"parts": [{"type": "text", "content": "Note for Ann'
        in by_name["invoke_agent atc"]["gen_ai.input.messages"]
    )
    assert "find(name='Ann')" in by_name["program"]["atc.program"]
    assert by_name["execute_tool find"]["gen_ai.tool.call.arguments"] == '{"name": "Ann"}'
    assert '"id": 4117' in by_name["execute_tool find"]["gen_ai.tool.call.result"]
    assert "hunter2" not in str(spans)


def test_a_run_that_an_outage_ends_says_so(
    collected: Callable[[], list[Any]], sandbox: Any
) -> None:
    model = ScriptedModel(ModelUnavailable("the model is down"))
    with pytest.raises(ModelUnavailable):
        solve(model, sandbox)
    found = {span.name: attributes(span) for span in collected()}
    assert found["invoke_agent atc"]["error.type"] == "protocols.errors.ModelUnavailable"
    assert found["chat"]["error.type"] == "protocols.errors.ModelUnavailable"


def test_traces_are_sent_before_the_command_ends(own_folders: Path) -> None:
    with serving() as server:
        run_in_a_process(own_folders, server.url)
        assert [seen.path for seen in server.seen] == ["/v1/traces"]


def test_a_silent_collector_barely_delays_the_end(own_folders: Path) -> None:
    """It accepts connections and says nothing. Left alone, the exporter would wait as told."""
    with socket.create_server(("127.0.0.1", 0)) as silent, ThreadPoolExecutor(1) as pool:
        silent.settimeout(PATIENCE)
        ended = pool.submit(
            run_in_a_process, own_folders, f"http://127.0.0.1:{silent.getsockname()[1]}"
        )
        with silent.accept()[0]:
            asked = time.monotonic()
            ended.result()
    assert time.monotonic() - asked < PATIENCE


def run_in_a_process(folders: Path, endpoint: str) -> None:
    """Run a task by the command line."""
    options = desk(folders, "print(len(search_customers(name='Nolan')['results']))\n")
    environment = os.environ | {
        "OTEL_EXPORTER_OTLP_ENDPOINT": endpoint,
        "OTEL_EXPORTER_OTLP_TIMEOUT": str(int(2 * PATIENCE)),
    }
    done = commands.run(
        ["run", "How many?", *options],
        env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (0, "2\n"), done.stderr


def test_tracing_that_is_off_imports_nothing() -> None:
    script = (
        "import sys\nfrom atc import Agent\nfrom atc.models.scripted import ScriptedModel\n"
        "from sandbox.unconfined import UnconfinedSandbox\nimport warnings\nwarnings.simplefilter('ignore')\n"
        "def one() -> int:\n    'One.\\n\\nread_only = True'\n    return 1\n"
        "from atc import load_tools\n"
        "model = ScriptedModel('```python\\nprint(one())\\n```')\n"
        "Agent(load_tools(one), model=model, sandbox=UnconfinedSandbox()).run('x')\n"
        "print([name for name in sys.modules if 'opentelemetry' in name or name == 'atc.observe.opentelemetry'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr
