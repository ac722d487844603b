"""The conversations in which a model is asked about tools."""

from __future__ import annotations

from collections.abc import Sequence

from probing.prompts import fill
from probing.teacher.instance import Instance
from probing.teacher.presented import address, inert
from protocols.ask import Message
from protocols.protocol import ToolProtocol


def conversation(tool: str, stubs: str, seen_before: str, last: Sequence[Instance]) -> list[Message]:
    """What asks for an instance (I_p): a worked example from another field, the tool, and what came of the last try."""
    messages = [
        Message("system", fill("instance")),
        Message("user", fill("instance_example_task")),
        Message("assistant", fill("instance_example_reply")),
        Message("user", fill("instance_task", stubs=stubs, seen=seen_before, tool=tool)),
    ]
    for instance in last:
        problem = "That worked." if instance.worked else f"That did not work: {inert(instance.error)}."
        program = f"Question: {instance.question}\n```python\n{instance.program}```"
        messages += [
            Message("assistant", program),
            Message("user", fill("instance_again", problem=problem, tool=tool)),
        ]
    return messages


def told(prompt: str, asked: str, *, most: int | None = None) -> list[Message]:
    """An instruction and what it is about."""
    values = {} if most is None else {"most": str(most)}
    return [Message("system", fill(prompt, **values)), Message("user", asked)]


def titled(protocol: ToolProtocol) -> str:
    """A tool's name with method and path."""
    return " ".join(filter(None, (inert(protocol.name), address(protocol) and f"({address(protocol)})")))


def evidence(name: str, values: Sequence[str]) -> str:
    """One argument or field, with values that were seen."""
    return f"- {inert(name)}" + (f": such as {', '.join(values)}" if values else "")
