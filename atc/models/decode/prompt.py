"""Prompts that ask for tool calls: with documentation of the tools, or with their names alone.

Names alone make the prompt shorter. They are enough if a grammar enforces the arguments, since the
name of a tool shows its purpose (section 5 of ToolDec's paper).
"""

from __future__ import annotations

import json
import re
from functools import cache
from pathlib import Path

from atc.models.decode.formats import CallFormat
from atc.models.decode.parse import write_as
from atc.models.decode.prompts import fill
from protocols.model import Message
from protocols.protocol import load
from protocols.render import Docs, describe_within_budget
from protocols.schema import Json
from protocols.tool import Tool
from protocols.toolbox import Toolbox

_EXAMPLE_CALLS: tuple[tuple[str, dict[str, Json]], ...] = (
    ("exchange_rate", {"base": "CHF", "quote": "JPY", "year": 2019}),
    ("celsius", {"fahrenheit": 212}),
    ("inflation", {"country": "France", "year": 2003}),
)
"""The calls that answer the example tasks, one for each line of `example_tasks.md`."""
_AMPLE = 1_000_000
"""Maximum number of tokens of the tools' documentation if the caller sets none."""
_SHAPES = {
    "json": '{"ARGUMENT": VALUE, …}',
    "positional": "VALUE, …",
    "keywords": "ARGUMENT=VALUE, …",
}


def call_prompt(
    task: str, tools: Toolbox, form: CallFormat, docs: Docs = "full", *, budget: int | None = None
) -> list[Message]:
    """Build the conversation that asks a model for one call.

    It begins with example calls of other tools. They are always the same, so the model can cache
    them. There are three, since a model with 135M parameters answers in prose after a single
    example. `docs` chooses how much the prompt says about each tool. All descriptions of tools
    together take at most `budget` tokens; tools that do not fit are left out.
    """
    arguments = _SHAPES[form.arguments]
    shape = f"{form.trigger}{form.before}NAME{form.between}{arguments}{form.after}".strip()
    system = fill(
        "call_in_text" if form.trigger else "call",
        shape=shape,
        arguments=fill(f"arguments_{form.arguments}"),
    )
    return [
        Message("system", system),
        *_examples(form, docs),
        Message("user", _build_task_message(task, tools, form, docs, budget)),
    ]


def _examples(form: CallFormat, docs: Docs) -> list[Message]:
    tools = _example_tools()
    words = fill("example_words") + " " if form.trigger else ""
    messages: list[Message] = []
    for task, (name, arguments) in zip(
        fill("example_tasks").splitlines(), _EXAMPLE_CALLS, strict=True
    ):
        asked = (
            fill("next_task", task=task)
            if messages
            else _build_task_message(task, tools, form, docs, None)
        )
        call = words + write_as(tools[name], arguments, form).rstrip()
        messages += [Message("user", asked), Message("assistant", call)]
    return messages


def _build_task_message(
    task: str, tools: Toolbox, form: CallFormat, docs: Docs, budget: int | None
) -> str:
    # Responses are left out: they do not show how a tool is called.
    shown = describe_within_budget(
        tools, budget=budget or _AMPLE, docs="names" if docs == "names" else "requests"
    )[0]
    if docs == "names":
        return fill("task_names", functions=shown, task=task)
    if form.arguments == "positional":
        # Stubs mark arguments as keyword-only, but here they are positional.
        shown = re.sub(r"(?m)^(def \w+\()\*, ", r"\1", shown)
    return fill("task", functions=shown, task=task)


@cache
def _example_tools() -> Toolbox:
    documents = json.loads(Path(__file__).with_name("example_tools.json").read_text())
    return Toolbox(Tool(load(document), call=dict) for document in documents)
