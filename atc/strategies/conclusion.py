"""How a run ended: its answer, what it left in the world, and whether a person has to decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from atc.meter import Meter
from atc.strategies.base import Parts
from atc.types import Attempt, Solution, Status
from protocols.jsontypes import Json
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall


def conclusion(
    task: str,
    attempts: Sequence[Attempt],
    tools: Toolbox,
    parts: Parts,
    meter: Meter,
    *,
    answer: str | None,
    limit: str | None,
) -> Solution:
    """The solution of a run that has come to its end.

    A run with an answer is not solved while writes of earlier attempts stand that the answer's program does not make
    (orphans): it is paused until they are undone, or accepted by a person.
    """
    orphans = not_undone(parts.journal.orphans(), parts.journal.completed(), parts.toolbox) if answer else ()
    status: Status = "failed"
    if any(attempt.paused for attempt in attempts[-1:]) or (orphans and not parts.accept_orphans):
        status = "paused"
    elif answer is not None:
        status = "solved"
    return Solution(
        task=task,
        attempts=tuple(attempts),
        status=status,
        answer=answer,
        tools=tuple(tools),
        usage=meter.usage,
        seconds=meter.seconds,
        limit=limit,
        orphans=orphans,
        unknown=parts.journal.unknown(),
        notes=meter.notes,
    )


def not_undone(orphans: Sequence[ToolCall], made: Sequence[ToolCall], tools: Toolbox) -> tuple[ToolCall, ...]:
    """The orphans that no later call has undone.

    A call undoes a write when its tool is declared destructive and it is given, under the same name, a value that the
    write answered with, or was itself given where it answered with nothing of that name.
    """
    return tuple(orphan for orphan in orphans if not any(_undoes(call, orphan, tools) for call in made))


def _undoes(call: ToolCall, orphan: ToolCall, tools: Toolbox) -> bool:
    tool = tools.get(call.tool)
    if tool is None or not tool.protocol.annotations.destructive or call.tool == orphan.tool:
        return False
    answered = dict(orphan.arguments) | dict(_fields(orphan.result))
    given = [(name, value) for name, value in call.arguments.items() if name in tool.required]
    return bool(given) and all(name in answered and answered[name] == value for name, value in given)


def _fields(value: Json) -> Mapping[str, Json]:
    """The plain fields of an answer, those of an object that it only wraps included."""
    if not isinstance(value, Mapping):
        return {}
    inner = next(iter(value.values())) if len(value) == 1 else None
    return {**value, **inner} if isinstance(inner, Mapping) else value
