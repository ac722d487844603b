"""What a model may reply, and what is done with it: only whole programs are run.

Each reply comes from an endpoint on loopback and goes through the model of a run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import pytest

from atc.core.config import Config
from atc.core.replies import program_in_reply
from atc.models.openai import OpenAIModel
from atc.run.model_budget import BudgetedModel
from protocols.model import Message
from tests.labs.loopback import Reply, serving

pytestmark = pytest.mark.usefixtures("own_folders")

RIGHT = "print(count())"
FENCED = f"```python\n{RIGHT}\n```"
DRAFT = "```python\nwipe_stock()\nprint(0)\nprint('a longer draft than the answer')\n```"
LITERAL = 'print(text.replace("</think>", "<think>"))'
CALL = json.dumps({"name": "python", "arguments": {"code": RIGHT}})
HARMONY = "<|end|><|start|>assistant<|channel|>"


def message(content: Any = None, finish: str | None = "stop", **more: Any) -> Reply:
    said = {"role": "assistant", "content": content, **more}
    return Reply(body={"choices": [{"message": said, "finish_reason": finish}]})


def calling(arguments: Any, name: str = "python") -> Reply:
    function = {"name": name, "arguments": arguments}
    return message(None, "tool_calls", tool_calls=[{"type": "function", "function": function}])


def streamed(*parts: Mapping[str, Any], end: str = "data: [DONE]\n\n") -> Reply:
    events = [f"data: {json.dumps({'choices': [{'delta': part}]})}\n\n" for part in parts]
    headers = {"Content-Type": "text/event-stream"}
    return Reply(body="".join((*events, end)).encode(), headers=headers)


whole = message(FENCED)
FORMS = {
    # thoughts
    "thoughts in think": ([message(f"<think>\n{DRAFT}\n</think>\n\n{FENCED}")], RIGHT, 1),
    "thoughts in thinking": ([message(f"<thinking>{DRAFT}</thinking>{FENCED}")], RIGHT, 1),
    "thoughts in THINK": ([message(f"[THINK]{DRAFT}[/THINK]{FENCED}")], RIGHT, 1),
    "thoughts in seed:think": ([message(f"<seed:think>{DRAFT}</seed:think>{FENCED}")], RIGHT, 1),
    "thoughts of Kimi": ([message(f"◁think▷{DRAFT}◁/think▷{FENCED}")], RIGHT, 1),
    "thoughts that began in the prompt": ([message(f"So {DRAFT}\n</think>\n{FENCED}")], RIGHT, 1),
    "thoughts twice": ([message(f"<think>a</think><think>{DRAFT}</think>{FENCED}")], RIGHT, 1),
    "thoughts after the program": ([message(f"{FENCED}\n<think>\n{DRAFT}")], RIGHT, 1),
    "an open fence in thoughts": ([message(f"<think>```python\nf(\n</think>{FENCED}")], RIGHT, 1),
    "thoughts that are cut": ([message(f"<think>{DRAFT}", "length"), whole], RIGHT, 2),
    "thoughts that only stop": ([message(f"<think>\n{DRAFT}"), whole], RIGHT, 2),
    "THINK that is cut": ([message(f"[THINK]{DRAFT}", "length"), whole], RIGHT, 2),
    "a mark in a text": ([message(f"```python\n{LITERAL}\n```")], LITERAL, 1),
    "a mark in a text without fence": ([message(LITERAL)], LITERAL, 1),
    "a mark in prose": ([message(f"No <think> is needed.\n{FENCED}")], RIGHT, 1),
    "harmony": (
        [message(f"<|channel|>analysis<|message|>{DRAFT}{HARMONY}final<|message|>{FENCED}")],
        RIGHT,
        1,
    ),
    "harmony without marks": ([message(f"analysisWe do {DRAFT}assistantfinal{FENCED}")], RIGHT, 1),
    "harmony that is cut": (
        [message(f"<|channel|>analysis<|message|>{DRAFT}", "length"), whole],
        RIGHT,
        2,
    ),
    "harmony that calls": (
        [
            message(
                f"<|channel|>analysis<|message|>Hm.{HARMONY}commentary to=python"
                f" <|constrain|>json<|message|>{json.dumps({'code': RIGHT})}<|call|>"
            )
        ],
        RIGHT,
        1,
    ),
    "parts with thoughts": (
        [message([{"type": "thinking", "thinking": DRAFT}, {"type": "text", "text": FENCED}])],
        RIGHT,
        1,
    ),
    "hidden thoughts beside": ([message(FENCED, reasoning_content=DRAFT)], RIGHT, 1),
    "hidden thoughts alone": ([message(None, reasoning_content="We add."), whole], RIGHT, 2),
    "a program in hidden thoughts": ([message(None, reasoning_content=FENCED)], RIGHT, 3),
    # fences, calls and prose
    "a fence": ([whole], RIGHT, 1),
    "a fence between prose": ([message(f"Here:\n{FENCED}\nIt counts.")], RIGHT, 1),
    "a fence that is indented": ([message(f"  ```py\n{RIGHT}\n  ```")], RIGHT, 1),
    "a fence without its end": ([message(f"```python\n{RIGHT}")], RIGHT, 1),
    "no fence": ([message(RIGHT)], RIGHT, 1),
    "several blocks": ([message(f"```sh\npip install x\n```\n{FENCED}")], RIGHT, 1),
    "a call as JSON": ([message(CALL)], RIGHT, 1),
    "a call as JSON in a fence": ([message(f"```json\n{CALL}\n```")], RIGHT, 1),
    "a call in marks": ([message(f"<tool_call>\n{CALL}\n</tool_call>")], RIGHT, 1),
    "a native call with code": ([calling(json.dumps({"code": RIGHT}))], RIGHT, 1),
    "a native call of a tool": ([calling("{}", name="count"), whole], RIGHT, 2),
    "prose alone": ([message("I cannot do that.")], None, 1),
    "a refusal": ([message(None, refusal="I cannot help with that.")], None, 1),
    # cut replies
    "a program cut at a line": ([message(f"```python\n{RIGHT}\n", "length"), whole], RIGHT, 2),
    "a program cut in a line": ([message("```python\nprint(cou", "length"), whole], RIGHT, 2),
    "a bracket that is open": ([message("```python\nprint(count("), whole], RIGHT, 2),
    "a block that is missing": ([message("```python\nfor a in b:"), whole], RIGHT, 2),
    "a bare program that is cut": ([message(f"{RIGHT}\nx = 1", "length"), whole], RIGHT, 2),
    "prose cut after the program": ([message(f"{FENCED}\nThis co", "length")], RIGHT, 1),
    "a second block that is cut": (
        [message(f"{FENCED}\nBetter:\n```python\nx", "length"), whole],
        RIGHT,
        2,
    ),
    "cut twice": ([message(f"```python\n{RIGHT}\n", "length")], None, 2),
    "endless repetition": ([message("```python\n" + "f(1)\n" * 90, "length")], None, 1),
    # nothing, errors and streams
    "an empty reply": ([message(None), whole], RIGHT, 2),
    "blanks": ([message(" \n"), message(""), whole], RIGHT, 3),
    "an error with status 200": ([Reply(body={"error": {"code": 502}}), whole], RIGHT, 2),
    "no finish reason": ([message(FENCED, None)], RIGHT, 1),
    "a stream": ([streamed({"content": "```python\nprint("}, {"content": "count())\n```"})], RIGHT, 1),
    "a stream with thoughts": (
        [streamed({"reasoning_content": DRAFT}, {"content": FENCED})],
        RIGHT,
        1,
    ),
    "a stream that broke off": ([streamed({"content": "```python\nf()\n"}, end=""), whole], RIGHT, 2),
    "a stream with a call": (
        [
            streamed(
                {"tool_calls": [{"index": 0, "function": {"name": "python", "arguments": '{"co'}}]},
                {"tool_calls": [{"index": 0, "function": {"arguments": f'de": "{RIGHT}"}}'}}]},
            )
        ],
        RIGHT,
        1,
    ),
}  # fmt: skip
"""Replies that an endpoint gives in turn, the last one for ever; the program that is found in
them; and the number of requests that this takes."""


@pytest.mark.parametrize("form", FORMS)
def test_only_whole_programs_are_taken(form: str) -> None:
    replies, expected, requests = FORMS[form]
    turn = iter(range(100))

    def answer(seen: Any) -> Reply:
        if seen.method == "GET":
            return Reply(body={"data": [{"id": "m", "owned_by": "stub"}]})
        return replies[min(next(turn), len(replies) - 1)]

    with serving(answer) as server:
        model = OpenAIModel("m", base_url=f"{server.url}/v1", max_retries=2)
        asked = BudgetedModel(model, lambda _: None, Config())
        reply = asked.complete([Message("user", "How many?")], purpose="write")
        model.close()
    program = program_in_reply(reply.text)
    assert (program and program.source.strip()) == expected
    assert sum(seen.method == "POST" for seen in server.seen) == requests
