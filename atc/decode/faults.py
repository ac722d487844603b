"""What can be wrong with one call of a tool, and how that is found out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from atc.decode.arguments.build import VARIADIC
from protocols.jsontypes import Json
from protocols.schema import resolve, type_name, violations
from protocols.toolbox import Tool, Toolbox
from protocols.words import alike
from sandbox.contract import BadArguments, all_types, contract

ErrorClass = Literal[
    "no-call",
    "unknown-tool",
    "malformed",
    "missing-argument",
    "unknown-argument",
    "wrong-count",
    "wrong-type",
    "wrong-value",
]

PAPER: Mapping[ErrorClass, Literal["format", "name", "arguments", "type"]] = {
    "no-call": "format",
    "unknown-tool": "name",
    "malformed": "format",
    "missing-argument": "arguments",
    "unknown-argument": "arguments",
    "wrong-count": "arguments",
    "wrong-type": "type",
    "wrong-value": "type",
}
"""ToolDec's three classes of tool error (§3, §4.3, figure 4): a tool's name that does not exist, names or number of
arguments, their types. A value outside an enumeration, a pattern or a range breaks the declared type. A text that is no
call is no tool error in the paper, whose baselines are free to write text; here it is one, as `format`."""

_MOST_NAMES = 2000
"""Names that are compared to find what was meant; more would take seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CallError:
    """Why a call cannot be made, as a sentence that a model can act on; `argument` is its alias, if it is about one."""

    kind: ErrorClass
    message: str
    argument: str = ""


def unknown_tool(name: str, tools: Toolbox) -> CallError:
    """That there is no tool `name`, and which was probably meant."""
    names = list(tools) if len(tools) <= _MOST_NAMES else []
    near = alike(name, names, most=3, cutoff=0.5)
    hint = f"did you mean {', '.join(near)}?" if near else f"the first of the tools are {', '.join(list(tools)[:8])}."
    return CallError(kind="unknown-tool", message=f"There is no tool {name[:80]!r}; {hint}")


def ordered(tool: Tool, values: Sequence[Json]) -> dict[str, Json] | CallError:
    """Values in the order of the tool's parameters → arguments by alias; a variadic one takes all that are left."""
    aliases, given = list(tool.arguments), list(values)
    if (last := variadic(tool)) is not None and len(given) >= len(aliases):
        given = [*given[: len(aliases) - 1], given[len(aliases) - 1 :]]
        if not given[-1] and last not in tool.required:
            given.pop()
    if len(given) > len(aliases):
        return _count(tool, len(values))
    return dict(zip(aliases, given, strict=False))


def variadic(tool: Tool) -> str | None:
    """The alias of the last parameter where its items are written one after another, as in `add(1, 2, 3)`."""
    last = next(reversed(list(tool.arguments)), None)
    if last is None:
        return None
    schema = resolve(tool.protocol.parameters[tool.arguments[last]], tool.protocol.input_schema)
    return last if schema.get(VARIADIC) is True else None


def item_types(tool: Tool) -> tuple[str, ...]:
    """The JSON types of a variadic parameter's items; empty where there is none, or they are open."""
    if (last := variadic(tool)) is None:
        return ()
    root = tool.protocol.input_schema
    schema = resolve(tool.protocol.parameters[tool.arguments[last]], root)
    return all_types(resolve(schema.get("items", {}), root), root)


def accepted(tool: Tool, given: Mapping[str, Json], *, by_position: bool = False) -> dict[str, Json] | CallError:
    """The arguments, by alias, with which the host would make the call, or why it would refuse.

    What counts is the contract by which the host accepts calls, so a call that is valid here is not refused there.
    Names may be aliases or originals. `by_position`: a missing argument is a wrong count.
    """
    aliases = {name: alias for alias, name in tool.arguments.items()}
    named = {key if key in tool.arguments else aliases.get(key, key): value for key, value in given.items()}
    missing = [alias for alias in tool.arguments if alias in tool.required and alias not in named]
    if by_position and missing:
        return _count(tool, len(given))
    rules = contract(tool.protocol)
    try:
        return rules.accept(named)
    except BadArguments as error:
        unknown = [alias for alias in named if alias not in tool.arguments]
        if unknown and not rules.open:
            return CallError(kind="unknown-argument", message=_sentence(tool, error), argument=unknown[0])
        if missing:
            return CallError(kind="missing-argument", message=_sentence(tool, error), argument=missing[0])
        kind, argument = _broken(tool, named)
        return CallError(kind=kind, message=_sentence(tool, error), argument=argument)


def _count(tool: Tool, given: int) -> CallError:
    least, most = len(tool.required), len(tool.arguments)
    wanted = str(most) if least == most else f"{least} to {most}"
    names = f" ({', '.join(tool.arguments)})" if tool.arguments else ""
    return CallError(
        kind="wrong-count", message=f"{tool.alias} takes {wanted} arguments{names}, and was given {given}."
    )


def _sentence(tool: Tool, error: BadArguments) -> str:
    return f"{tool.alias}: {error}."


def _broken(tool: Tool, named: Mapping[str, Json]) -> tuple[Literal["wrong-type", "wrong-value"], str]:
    """Whether the first clause that the arguments break is about a type, and whose argument it is."""
    try:
        found = violations(tool.protocol.input_schema, tool.original(named))
    except ValueError:
        return "wrong-value", ""
    for path, _, clause in found:
        keyword = clause.rpartition("/")[2]
        if keyword == "format":
            continue
        argument = next((alias for alias, name in tool.arguments.items() if _within(path, name)), "")
        if keyword == "type":
            return "wrong-type", argument
        kinds = contract(tool.protocol).types.get(argument, ())
        top = argument and path == tool.arguments[argument]
        return ("wrong-type" if top and kinds and not _of(named[argument], kinds) else "wrong-value"), argument
    return "wrong-value", ""


def _within(path: str, name: str) -> bool:
    return path == name or path.startswith((f"{name}.", f"{name}["))


def _of(value: Any, kinds: Sequence[str]) -> bool:
    kind = type_name(value)
    return kind in kinds or (kind == "integer" and "number" in kinds)
