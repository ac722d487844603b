"""Endpoints with quirks: what they refuse is learned once, and remembered between processes."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from atc.agent import Agent
from atc.core.config import Config
from atc.models.openai import OpenAIModel
from protocols.model import Message
from protocols.toolbox import Toolbox
from tests.labs.loopback import Reply, Seen, serving
from tests.labs.tools import TEXT, fenced, record, tool

pytestmark = pytest.mark.usefixtures("own_folders")

ASK = [Message("system", "Be brief."), Message("user", "Name a city.")]
LIMIT = (
    "This model's maximum context length is 4096 tokens, but you requested 8192 tokens."
    " Please reduce the length of the messages."
)


def said(text: str) -> Reply:
    choice = {"finish_reason": "stop", "message": {"role": "assistant", "content": text}}
    return Reply(body={"choices": [choice]})


def refused(message: str, status: int = 400, **more: Any) -> Reply:
    return Reply(status, {"error": {"message": message, **more}}, {"retry-after-ms": "1"})


def streamed(text: str) -> Reply:
    event = {"choices": [{"delta": {"content": text}, "finish_reason": "stop"}]}
    body = f": ping\n\ndata: {json.dumps(event)}\n\ndata: [DONE]\n\n".encode()
    return Reply(body=body, headers={"Content-Type": "text/event-stream"})


def roles(body: Mapping[str, Any]) -> list[str]:
    return [turn["role"] for turn in body["messages"]]


QUIRKS: dict[str, Callable[[Mapping[str, Any]], Reply | None]] = {
    "only streams": lambda body: (
        streamed("Lima") if body.get("stream") else refused("only support stream mode")
    ),
    "always streams": lambda _: streamed("Lima"),
    "no stream options": lambda body: (
        refused("only stream mode is supported")
        if not body.get("stream")
        else refused("Unknown field: stream_options")
        if "stream_options" in body
        else streamed("Lima")
    ),
    "no system role": lambda body: (
        refused("messages[0].role does not support 'system' with this model", param="messages")
        if "system" in roles(body)
        else None
    ),
    "a template without system role": lambda body: (
        refused("System role not supported", 500) if "system" in roles(body) else None
    ),
    "another limit": lambda body: (
        refused("Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens'.")
        if "max_tokens" in body
        else None
    ),
    "no temperature": lambda body: (
        refused("Unsupported value", param="temperature") if "temperature" in body else None
    ),
    "no seed": lambda body: refused("Unknown field: seed", 422) if "seed" in body else None,
}


def stub(quirk: Callable[[Mapping[str, Any]], Reply | None]) -> Callable[[Seen], Reply]:
    return lambda seen: quirk(json.loads(seen.body)) or said("Lima")


@pytest.mark.parametrize("name", QUIRKS)
def test_a_quirk_is_learned_once(name: str, tmp_path: Path) -> None:
    memory = tmp_path / "endpoints.json"
    with serving(stub(QUIRKS[name])) as server:
        for _ in range(2):  # as two processes would
            model = OpenAIModel("m", base_url=f"{server.url}/v1", max_retries=0, memory=memory)
            first = len(server.seen)
            assert model(ASK).text == "Lima"
            model.close()
    assert len(server.seen) - first == 1
    assert "127.0.0.1" not in (memory.read_text() if memory.exists() else "")


@pytest.mark.parametrize("text", ['{"x": [', "[]", '{"x": {"at": 1%s}}' % ("0" * 400)])
def test_a_damaged_memory_is_ignored(tmp_path: Path, text: str) -> None:
    memory = tmp_path / "endpoints.json"
    memory.write_text(text)
    with serving(stub(QUIRKS["no seed"])) as server:
        model = OpenAIModel("m", base_url=f"{server.url}/v1", memory=memory)
        assert model(ASK).text == "Lima"
        model.close()
    assert "seed" in memory.read_text()


def test_a_prompt_that_is_too_long_shrinks() -> None:
    tools = Toolbox(
        tool(f"get_{n}", {"name": "b"}, {"name": TEXT}, record(name=TEXT)) for n in range(200)
    )
    asked: list[int] = []

    def answer(seen: Seen) -> Reply:
        if seen.method == "GET":
            return Reply(body={"data": []})
        asked.append(len(seen.body))
        return said(fenced("print(get_1(name='a'))")) if len(asked) > 1 else refused(LIMIT)

    with serving(answer) as server:
        model = OpenAIModel("m", base_url=f"{server.url}/v1", prompt_tokens=3000)
        with Agent(tools, model=model, store=None, config=Config()) as agent:
            solution = agent.run("What does 1 say?")
        model.close()
    assert solution.answer
    assert asked[1] < asked[0]
    assert "prompt_tokens = 750" in solution.notes[0]
