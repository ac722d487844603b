"""Calls of tools: names and kinds of arguments, and what the call gives."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from atc.check.functions.arguments import exact
from atc.check.known.containers import certain_keys
from atc.check.known.core import Core
from atc.check.known.fields import calmed
from atc.check.known.kinds import Mapped, Record, ToolRef, Tuple, Type
from atc.check.report import listed, nearest, spelled
from atc.check.tools.argument_types import check_value
from atc.check.tools.nested import key_type
from protocols.schema import resolve, types
from protocols.toolbox import Tool

_SELECTING = frozenset({"min", "max", "minimum", "maximum", "has", "with", "only", "is", "exclude", "status", "state"})


@dataclass(frozen=True, slots=True)
class Given:
    """What a call passes: by position, by `*`, by name, by `**`, and whether `**` may pass more."""

    positional: tuple[ast.expr, ...]
    starred: tuple[tuple[ast.expr, Type], ...]
    named: tuple[tuple[ast.keyword, Type], ...]
    spread: tuple[tuple[ast.keyword, str], ...]
    more: bool


def given(core: Core, call: ast.Call, *, skip: int = 0) -> Given:
    """The arguments of a call after the first `skip` positional ones, each evaluated."""
    positional = [argument for argument in call.args[skip:] if not isinstance(argument, ast.Starred)]
    starred: list[tuple[ast.expr, Type]] = []
    for argument in call.args[skip:]:
        if isinstance(argument, ast.Starred):
            starred.append((argument, core.evaluate(argument.value)))
        else:
            core.evaluate(argument)
    named = [(keyword, core.evaluate(keyword.value)) for keyword in call.keywords]
    open_ended = any(keyword.arg is None and not exact(value) for keyword, value in named)
    spread = [
        (keyword, name) for keyword, value in named if keyword.arg is None for name in sorted(certain_keys(core, value))
    ]
    by_name = tuple((k, value) for k, value in named if k.arg is not None)
    return Given(tuple(positional), tuple(starred), by_name, tuple(spread), open_ended)


def call_tool(
    core: Core,
    alias: str,
    call: ast.Call,
    *,
    skip: int = 0,
    partial: bool = False,
    before: tuple[tuple[str, Type], ...] = (),
) -> Type:
    """Check one call of a tool and give the type of its result.

    `partial` calls may leave arguments out; `before` are those that a `partial` has passed.
    """
    tool = core.tools[alias]
    arguments = given(core, call, skip=skip)
    _check_names(core, tool, arguments, call, partial=partial, before={name for name, _ in before})
    for keyword, value in (*arguments.named, *_taken(core, call)):
        name = tool.arguments.get(keyword.arg or "")
        if name is not None:
            check_value(core, tool, name, keyword, value)
    result = core.tool_result(alias)
    return calmed(result) if any(_selects(tool, keyword.arg) for keyword, _ in arguments.named) else result


def _taken(core: Core, call: ast.Call) -> Iterator[tuple[ast.keyword, Type]]:
    """What `**` certainly passes of a dict, as though it were written `key=dict["key"]`."""
    for keyword in call.keywords:
        if keyword.arg is not None:
            continue
        with core.silence():
            value = core.evaluate(keyword.value)
        if not isinstance(value, Mapped | Record):
            continue
        for name in sorted(certain_keys(core, value)):
            kind = key_type(core, value, name)
            place: ast.expr = ast.Subscript(keyword.value, ast.Constant(name), ast.Load())
            place = ast.copy_location(place, keyword.value)
            yield ast.copy_location(ast.keyword(name, place), keyword), kind


def _selects(tool: Tool, argument: str | None) -> bool:
    """Whether an argument may be there to leave out what lacks a value (`min_delay=60`, `delayed=True`)."""
    name = tool.arguments.get(argument or "")
    if name is None:
        return False
    words = (argument or "").lower().split("_")
    return bool(_SELECTING & set(words)) or "boolean" in types(resolve(tool.protocol.parameters[name], {}))


def _check_names(core: Core, tool: Tool, arguments: Given, call: ast.Call, *, partial: bool, before: set[str]) -> None:
    alias, known = tool.alias, list(tool.arguments)
    seen: set[str] = set()
    unknown: list[tuple[ast.keyword, str]] = []
    for keyword, _ in arguments.named:
        name = keyword.arg or ""
        if name in seen:
            message = f"argument {name!r} of {alias} is given twice. Keep one of them."
            core.report("doubled-argument", keyword, message, tool=alias)
        elif name not in tool.arguments and not _open(tool):
            unknown.append((keyword, name))
        seen.add(name)
    for keyword, name in arguments.spread:
        if name in seen:
            message = (
                f"argument {name!r} of {alias} is given by name and in {spelled(keyword.value)}. Keep one of them."
            )
            core.report("doubled-argument", keyword, message, tool=alias)
        elif name not in tool.arguments and not _open(tool):
            unknown.append((keyword, name))
        seen.add(name)
    seen |= before
    for keyword, name in unknown:
        _report_unknown(core, tool, keyword, name, [free for free in known if free not in seen])
    for argument, free in zip(arguments.positional, _open_names(tool, seen), strict=False):
        if free is None:
            message = f"{alias} takes {_signature(tool)}, by name only; {spelled(argument)} is one too many."
        else:
            message = f"{alias} takes its arguments by name only. Write {alias}({free}={spelled(argument, most=30)})."
        better = f"{free}={spelled(argument)}" if free else None
        core.report("positional-argument", argument, message, tool=alias, better=better)
    _check_starred(core, tool, arguments, seen, partial=partial)
    if arguments.more or partial or arguments.positional or arguments.starred:
        return
    missing = [name for name in known if name in tool.required and name not in seen]
    # An unknown argument is often the missing one under another name, and then that finding says so.
    if missing and not (len(missing) == 1 and unknown):
        plural = "s" * (len(missing) > 1)
        message = f"{alias} needs the argument{plural} {listed(missing)}. Write {alias}({_needed(tool)})."
        core.report("missing-argument", call, message, tool=alias, better=", ".join(f"{name}=…" for name in missing))


def _check_starred(core: Core, tool: Tool, arguments: Given, seen: set[str], *, partial: bool) -> None:
    """`tool(*row)`. Where arguments are still lacking it fails even if there is nothing in `row`."""
    lacking = not arguments.more and not partial and any(name not in seen for name in tool.required)
    for node, value in arguments.starred:
        if value.items if isinstance(value, Tuple) else lacking:
            message = f"{tool.alias} takes {_signature(tool)}, by name only; {spelled(node)} passes by position."
            core.report("positional-argument", node, message, tool=tool.alias)
            return


def _open(tool: Tool) -> bool:
    """Whether the tool takes arguments that its schema does not name."""
    more = tool.protocol.input_schema.get("additionalProperties")
    return more is True or isinstance(more, Mapping)


def _open_names(tool: Tool, seen: set[str]) -> list[str | None]:
    names = [name for name in tool.arguments if name not in seen]
    ordered = [name for name in names if name in tool.required] + [n for n in names if n not in tool.required]
    return [*ordered, *([None] * 20)]


def _needed(tool: Tool) -> str:
    return ", ".join(f"{name}=…" for name in tool.arguments if name in tool.required)


def _signature(tool: Tool) -> str:
    return listed(tool.arguments) if tool.arguments else "no arguments"


def _report_unknown(core: Core, tool: Tool, keyword: ast.keyword, name: str, free: list[str]) -> None:
    alias = tool.alias
    by_original = [a for a, original in tool.arguments.items() if original == name]
    near = by_original[0] if by_original else nearest(name, free)
    lacking = [n for n in free if n in tool.required]
    if near is None and len(lacking) == 1:
        near = lacking[0]
    then = f" Did you mean {near!r}?" if near else " Leave it out." if tool.arguments else f" Write {alias}()."
    message = f"{alias} has no argument {name!r}; it takes {_signature(tool)}.{then}"
    core.report("unknown-argument", keyword, message, tool=alias, better=near)


def report_passed(core: Core, callee: ToolRef, node: ast.expr) -> None:
    """`sorted(rows, key=tool)`, `reduce(tool, rows)`: what calls a function passes by position."""
    message = (
        f"{callee.alias} takes its arguments by name only, and is called here with values by position. "
        "Give a function of your own that calls it."
    )
    core.report("positional-argument", node, message, tool=callee.alias)


def report_mapped(core: Core, callee: ToolRef, node: ast.Call) -> None:
    """`map(tool, values)` passes by position."""
    name = next(iter(core.tools[callee.alias].arguments), "…")
    over = spelled(node.args[1]) if len(node.args) > 1 else "…"
    better = f"[{callee.alias}({name}=x) for x in {over}]"
    message = f"map() passes by position, and {callee.alias} takes its arguments by name only. Write {better}."
    core.report("positional-argument", node, message, tool=callee.alias, better=better)
