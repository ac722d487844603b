"""What one value, one document or one server's line costs the host grows with its size, and not much faster."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from atc import Agent, Config, Solution, load_tools
from atc.models.scripted import ScriptedModel
from sandbox.zygote import ZygoteSandbox
from tests.labs import commands
from tests.labs.loopback import Reply, serving

# What `wait4` tells of a child's memory counts that of its parent before the child began.
ATC = """
import ctypes, os, sys
from contextlib import suppress
from pathlib import Path
from typing import Any
from atc.cli.main import main
ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)  # whatever process it leaves behind becomes its child
try:
    main(sys.argv[1:])
finally:
    with suppress(ChildProcessError):
        while True:
            os.wait()
    peak = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith("VmHWM"))
    Path("peak.txt").write_text(peak.split()[1])
"""
SERVER = """
import json, sys
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "initialize":
        given = {"protocolVersion": asked["params"]["protocolVersion"], "capabilities": {"tools": {}},
                 "serverInfo": {"name": "s", "version": "1"}}
    elif asked.get("method") == "tools/list":
        given = {"tools": [{"name": "say", "inputSchema": {"type": "object", "properties": {}}}]}
    elif asked.get("method") == "tools/call":
        print('{"a": ' + "[]" * 201 + '"' + '\\\\"' * int(sys.argv[1]), flush=True)  # a text that does not end
        given = {"content": [{"type": "text", "text": "done"}]}
    elif "id" in asked:
        print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": given}), flush=True)
"""


@pytest.fixture(scope="module")
def sandbox():
    with ZygoteSandbox() as running:
        yield running


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in [name for name in os.environ if name.startswith(("ATC_", "OPENAI_"))]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "user"))
    monkeypatch.setenv("ATC_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.chdir(tmp_path)


def document(
    url: str, response: object, arguments: object = None, **components: object
) -> dict[str, object]:
    """An OpenAPI document of one tool, `ask`, with this response; with `arguments` it is a POST of these."""
    operation = {
        "operationId": "ask",
        "description": "Returns the answer.",
        "x-atc-annotations": {"readOnlyHint": True},
        "responses": {
            "200": {"description": "", "content": {"application/json": {"schema": response}}}
        },
    }
    if arguments is not None:
        operation["requestBody"] = {
            "required": True,
            "content": {"application/json": {"schema": arguments}},
        }
    return {
        "openapi": "3.1.0",
        "info": {"title": "t", "version": "1"},
        "servers": [{"url": url}],
        "paths": {"/ask": {"get" if arguments is None else "post": operation}},
        "components": {"schemas": components},
    }


def atc(*arguments: str) -> tuple[str, float]:
    """What `atc` says, and its CPU seconds."""
    told = Path("told.txt")
    with told.open("w") as stream, commands.Command(arguments, stdout=stream, stderr=stream) as run:
        run.wait()
    return told.read_text(), run.cpu_seconds


def measured(*arguments: str) -> tuple[str, float, float]:
    """What a new Python with `atc` says, its CPU seconds with its children's, and its peak in MB."""
    told = Path("told.txt")
    with told.open("w") as stream:
        running = subprocess.Popen(
            [sys.executable, "-c", ATC, *arguments], stdout=stream, stderr=stream
        )
        _, _, used = os.wait4(running.pid, 0)
        running.returncode = 0
    return told.read_text(), used.ru_utime + used.ru_stime, int(Path("peak.txt").read_text()) / 1024


def called(response: object, answer: object, by: Callable[..., Any] = atc) -> Any:
    """`atc tools call` of a tool with this response schema that gives this answer."""
    with serving(lambda _: Reply(body=answer)) as server:
        Path("doc.json").write_text(json.dumps(document(server.url, response)))
        return by("tools", "call", "ask", "--tools", "doc.json")


def ran(
    sandbox: ZygoteSandbox, program: str, answer: object, **schemas: object
) -> tuple[Solution, float]:
    """A run of one program with `ask`, and the CPU seconds of the host."""
    body = json.dumps(answer).encode()
    headers = {"Content-Type": "application/json"}
    with serving(lambda _: Reply(body=body, headers=headers)) as server:
        Path("doc.json").write_text(
            json.dumps(document(server.url, schemas.pop("response", {}), **schemas))
        )
        model = ScriptedModel(f"```python\n{program}\n```")
        config = Config(samples=1, strategy="chain", max_repairs=0, state_dir=Path("state"))
        agent = Agent(load_tools("doc.json"), model=model, sandbox=sandbox, config=config)
        begun = time.process_time()
        solution = agent.run("Ask.", observer=lambda _: None)
        return solution, time.process_time() - begun


def grows(work: Callable[[int], float], size: int) -> float:
    """How many times as much work twice the size is."""
    return min(work(2 * size) for _ in range(2)) / min(work(size) for _ in range(2))


def test_searching_secrets_takes_proportional_time(sandbox) -> None:
    texts = {"a text that begins as a key again and again": lambda n: "eyJ-" * n}
    texts["keys that begin alike"] = lambda n: [
        {"api_key": f"sk_of_the_house_{i:06}x"} for i in range(n // 8)
    ]
    texts["short codes"] = lambda n: [{"pin": f"{i:04}"} for i in range(n // 8)]
    for what, made in texts.items():
        found = grows(
            lambda n, made=made: ran(sandbox, "ask()\nprint(1)", {"said": made(n)})[1], 10_000
        )
        assert found <= 3, what


def test_validating_responses_takes_proportional_time() -> None:
    for schema in (
        {"propertyNames": {"maxLength": 1}},
        {"required": [f"r{i}" for i in range(2000)]},
    ):
        said, _ = called(schema, {"key": 1})
        assert "departs from its protocol" in said
        assert (
            grows(
                lambda n, schema=schema: called(schema, {f"key{i}": 1 for i in range(n)})[1], 2_000
            )
            <= 3
        ), schema


def test_a_responses_errors_are_not_all_built() -> None:
    either = {"anyOf": [{"type": "string"}, {"type": "boolean"}]}
    schema = {"anyOf": [{"type": "array", "items": either}, {"type": "object"}]}
    said, _, megabytes = called(schema, [1] * 60_000, measured)
    assert "anyOf" in said
    assert megabytes < 200


def test_unvalidatable_responses_pass_and_arguments_do_not(sandbox) -> None:
    bomb = {f"s{i}": {"allOf": [{"$ref": f"#/components/schemas/s{i + 1}"}] * 2} for i in range(22)}
    bomb["s22"] = {"type": ["object", "string"]}
    schema = {"$ref": "#/components/schemas/s0"}
    solution, _ = ran(sandbox, "print(ask())", "x", response=schema, **bomb)
    call = solution.attempts[-1].trace.calls[0]
    assert (solution.answer, call.result) == ("x", "x")
    assert [said for said in call.drift if "not compared with its schema" in said]
    given = {"type": "object", "properties": {"note": schema}}
    solution, _ = ran(sandbox, "print(ask(note='x'))", "x", arguments=given, **bomb)
    call = solution.attempts[-1].trace.calls[0]
    assert call.outcome == "not_run"
    assert "cannot be compared with the tool's schema" in call.error


def test_reading_documents_takes_time_proportional_to_references() -> None:
    def dense(n: int) -> dict[str, object]:
        return {
            f"s{i}": {
                "type": "object",
                "properties": {
                    f"p{step}": {"$ref": f"#/components/schemas/s{(i + step) % n}"}
                    for step in (1, 2, 7)
                },
            }
            for i in range(n)
        }

    def bomb(n: int) -> dict[str, object]:
        n //= 200
        combined = {
            f"s{i}": {"allOf": [{"$ref": f"#/components/schemas/s{i + 1}"}] * 2} for i in range(n)
        }
        return combined | {f"s{n}": {"type": "object", "properties": {"id": {"type": "string"}}}}

    def shown(schemas: Callable[[int], dict[str, object]], n: int) -> float:
        whole = document("http://127.0.0.1:9", {"$ref": "#/components/schemas/s0"}, **schemas(n))
        Path("doc.json").write_text(json.dumps(whole))
        said, seconds = atc("tools", "show", "ask", "--tools", "doc.json")
        assert "def ask(" in said
        return seconds

    for schemas in (dense, bomb):
        assert grows(lambda n, schemas=schemas: shown(schemas, n), 2_000) <= 3, schemas.__name__


def test_mutual_schemas_cost_little_more() -> None:
    def listed(references: int, size: int = 150) -> float:
        names = [f"s{i}" for i in range(size)]
        whole = document("http://127.0.0.1:9", {})
        whole["components"]["schemas"] = {
            name: {
                "type": "object",
                "properties": {
                    f"p{i}": {"$ref": f"#/components/schemas/s{i}"} for i in range(references)
                },
            }
            for name in names
        }
        whole["paths"] = {
            f"/{name}": document("", {"$ref": f"#/components/schemas/{name}"})["paths"]["/ask"]
            for name in names
        }
        for name in names:
            whole["paths"][f"/{name}"]["get"]["operationId"] = f"get_{name}"
        Path("doc.json").write_text(json.dumps(whole))
        said, seconds = atc("tools", "list", "--tools", "doc.json")
        assert "get_s149" in said
        return seconds

    assert listed(150) <= 10 * listed(0)


def test_reading_server_lines_takes_proportional_time() -> None:
    pytest.importorskip("mcp")
    Path("server.py").write_text(SERVER)

    def answered(n: int) -> float:
        command = f"mcp:{sys.executable} server.py {n}"
        said, seconds, _ = measured(
            "tools", "call", "say", "--tools", command, "--start-servers", "--allow-writes", "say"
        )
        assert "done" in said
        return seconds

    assert grows(answered, 25_000) <= 3


def test_checking_takes_time_proportional_to_the_program() -> None:
    def checked(n: int) -> float:
        fields = {f"key_number_{i}": {"type": "string"} for i in range(n)}
        schema = {"type": "object", "properties": fields, "additionalProperties": False}
        Path("doc.json").write_text(json.dumps(document("http://127.0.0.1:9", schema)))
        wrong = "".join(f"print(r['kez_numbr_{i}q'])\n" for i in range(n))
        Path("program.py").write_text(f"r = ask()\n{wrong}")
        said, seconds = atc("check", "program.py", "--tools", "doc.json")
        assert "10 errors" in said
        return seconds

    assert grows(checked, 750) <= 3
