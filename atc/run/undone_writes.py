"""Writes that a later call has undone, so that they do not remain as orphans."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from protocols.schema import Json
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall


def drop_undone(
    orphans: Sequence[ToolCall], made: Sequence[ToolCall], tools: Toolbox
) -> tuple[ToolCall, ...]:
    """Return the writes in `orphans` that no later call has undone.

    Orphans are writes that the final program does not make; `made` are the calls of the run. A call
    undoes a write if another tool, which is declared destructive, is called for the same record.
    That is so if each required argument of the call equals the field of the same name in the
    write's response, or else the argument of the same name in the write.
    """
    return tuple(orphan for orphan in orphans if not _is_undone(orphan, made, tools))


def _is_undone(orphan: ToolCall, made: Sequence[ToolCall], tools: Toolbox) -> bool:
    return any(_is_undoing(call, orphan, tools) for call in made)


def _is_undoing(call: ToolCall, orphan: ToolCall, tools: Toolbox) -> bool:
    tool = tools.get(call.tool)
    if tool is None or not tool.protocol.annotations.destructive or call.tool == orphan.tool:
        return False
    answered = dict(orphan.arguments) | _fields(orphan.result)
    given = [(name, value) for name, value in call.arguments.items() if name in tool.required]
    return bool(given) and all(
        name in answered and answered[name] == value for name, value in given
    )


def _fields(value: Json) -> dict[str, Json]:
    """Return the fields of a response, keyed by name.

    If the response has only one field and its value is an object, as in `{"user": {…}}`, the fields
    of this object are included.
    """
    if not isinstance(value, Mapping):
        return {}
    inner = next(iter(value.values())) if len(value) == 1 else None
    return {**value, **inner} if isinstance(inner, Mapping) else dict(value)
