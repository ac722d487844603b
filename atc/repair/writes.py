"""Writes that have happened already, as the next program must know of them (DESIGN, orphans)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atc.findings import invocation, snippet
from atc.prompts import fill
from atc.repair.reading import unclipped_secrets
from protocols.jsontypes import Json
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall


def writes_told(made: Sequence[ToolCall], tools: Toolbox) -> str:
    """What writes did, and how the next program is to treat them; empty where there are none.

    The program that keeps such a call gets its stored result: the journal answers it.
    """
    done = [f"- {_told(call, tools)}" for call in made]
    return fill("repair_writes", calls="\n".join(done)) if done else ""


def _told(call: ToolCall, tools: Toolbox) -> str:
    if call.outcome == "unknown":
        return f"{invocation(call)}, of which nobody knows whether it took effect"
    schema = tools[call.tool].protocol.output_schema if call.tool in tools else None
    gave, undo = snippet(unclipped_secrets(call.result, schema, most=0)), undoing(call, tools)
    return f"{invocation(call)} gave {gave}" + (f"; {undo} would undo it" if undo else "")


def undoing(call: ToolCall, tools: Toolbox) -> str | None:
    """The call that undoes a write, where one tool alone can: declared destructive, and needing only what is known.

    Known are the fields of the write's answer, then its arguments.
    """
    known = {**call.arguments, **_fields(call.result)}
    found = []
    for tool in tools.values():
        given = {alias: known[alias] for alias in tool.arguments if alias in tool.required and alias in known}
        if (
            tool.protocol.annotations.destructive
            and tool.alias != call.tool
            and given
            and given.keys() == tool.required
        ):
            found.append(ToolCall(index=0, tool=tool.alias, arguments=given, line=1))
    return invocation(found[0]) if len(found) == 1 else None


def _fields(value: Json) -> Mapping[str, Json]:
    """The fields of an answer, those of an object that it only wraps included."""
    if not isinstance(value, Mapping):
        return {}
    inner = next(iter(value.values())) if len(value) == 1 else None
    return {**value, **inner} if isinstance(inner, Mapping) else value
