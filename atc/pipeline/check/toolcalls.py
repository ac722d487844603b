"""Check of tool calls in a program: argument names, argument values and the type of the result."""

from __future__ import annotations

import ast
from collections.abc import Mapping

from atc.core.messages import find_nearest, format_expression, format_list, may_guess
from atc.pipeline.check import types as t
from atc.pipeline.check.argument_values import allowed_types, find_mismatch, find_type_mismatch
from atc.pipeline.check.budget import spend
from atc.pipeline.check.interpreter import Interpreter
from atc.pipeline.check.kinds import describe_value_in_detail, json_types
from atc.pipeline.check.named_keys import KeywordArguments, find_selection
from atc.pipeline.check.read_findings import format_call_template
from atc.pipeline.check.schema import field_type, silence_nulls, with_selection
from atc.pipeline.check.subscripts import need_value
from protocols.effects.query_arguments import selects_response
from protocols.schema import as_mapping, expand_combinations
from protocols.text_arguments import is_sent_as_text
from protocols.tool import Tool

_MOST_NAMED = 5
"""Maximum number of other tools that a message suggests for an unknown argument.

They are tools that require an argument of this name. If more tools do, none is suggested.
"""
_MOST_VIEWS = 20


def call_tool(
    core: Interpreter, alias: str, call: ast.Call, *, skip: int = 0, partial: bool = False
) -> t.Type:
    """Check one call of a tool in a program, and return the type of the tool's result.

    `skip` is the number of positional arguments before those of the tool: 1 for
    `to_thread(tool, …)`. If `partial` is True, the call may leave arguments out.
    """
    tool = core.tools[alias]
    named, more = _read_keywords(core, call)
    starred = [argument.value for argument in call.args[skip:] if isinstance(argument, ast.Starred)]
    positional = [
        argument for argument in call.args[skip:] if not isinstance(argument, ast.Starred)
    ]
    for argument in positional + starred:
        core.evaluate(argument)
    _check_names(core, tool, call, named, positional, sure=not more and not partial and not starred)
    for place, name, node, value in named:
        if name in tool.arguments:
            written = isinstance(place, ast.keyword) and place.arg is not None
            _check_value(core, tool, name, node, value, written=written)
    result = core.tool_result(alias)
    if core.lenient:
        selection = find_selection(core, named)
        if selection is None or (more and any(map(selects_response, tool.arguments))):
            return t.ANY
        result = with_selection(result, selection)
    # Filters such as `min_delay=60` and `has_rating=True` exclude records with nulls.
    chosen = any(
        name.startswith(("min", "max", "has", "is", "with", "only", "exclude"))
        for _, name, _, _ in named
    )
    return silence_nulls(result) if chosen else result


def _read_keywords(core: Interpreter, call: ast.Call) -> tuple[KeywordArguments, bool]:
    """Return the types of the keyword arguments of a tool call.

    Also return True if `**` may pass further arguments.
    """
    found: KeywordArguments = []
    more = False
    for keyword in call.keywords:
        value = core.evaluate(keyword.value)
        if keyword.arg is not None:
            found.append((keyword, keyword.arg, keyword.value, value))
        elif (
            isinstance(value, t.Mapped)
            and not value.cell.open
            and value.cell.keys.keys() == value.cell.first
        ):
            found += [
                (keyword, str(name), keyword.value, kind) for name, kind in value.cell.keys.items()
            ]
        else:
            more = True
    return found, more


def _check_names(
    core: Interpreter,
    tool: Tool,
    call: ast.Call,
    named: KeywordArguments,
    positional: list[ast.expr],
    *,
    sure: bool,
) -> None:
    """Report the positional, unknown and missing arguments of a tool call.

    `sure` is False if the call may pass more arguments than are visible.
    """
    spend(2 * len(tool.arguments))
    passed = {name for _, name, _, _ in named}
    free = [name for name in tool.arguments if name not in passed]
    more = tool.protocol.input_schema.get("additionalProperties")
    accepts_any = more is True or isinstance(more, Mapping)
    meant: set[str | None] = set()
    for place, name, _, value in named:
        if name not in tool.arguments and not accepts_any:
            meant.add(_report_unknown(core, tool, place, name, value, free))
    _report_positional(core, tool, positional, free)
    missing = [name for name in free if name in tool.required]
    # An unknown argument is often the missing one under another name; then that finding is enough.
    if sure and not positional and missing and not meant.issuperset(missing):
        written = format_call_template(core, t.ToolRef(tool.alias))
        plural = "s" if len(missing) > 1 else ""
        message = (
            f"{tool.alias} needs the argument{plural} {format_list(missing)}. Write {written}."
        )
        better = ", ".join(f"{name}=…" for name in missing)
        core.report(
            "missing-argument", call, message, tool=tool.alias, argument=missing[0], better=better
        )


def _report_positional(
    core: Interpreter, tool: Tool, positional: list[ast.expr], unused: list[str]
) -> None:
    """Report each positional argument of a tool call, and suggest the argument's name.

    Tools take their arguments by name only. The suggestions come from `unused`, the arguments that
    the call does not pass, the required ones first.
    """
    signature = format_list(tool.arguments) if tool.arguments else "no arguments"
    ordered = sorted(unused, key=lambda name: name not in tool.required)
    for index, argument in enumerate(positional):
        if index < len(ordered):
            name = ordered[index]
            example = f"{tool.alias}({name}={format_expression(argument, most=30)})"
            message = f"{tool.alias} takes its arguments by name only. Write {example}."
            better = f"{name}={format_expression(argument)}"
            guessed = {"argument": name, "better": better}
        else:
            message = (
                f"{tool.alias} takes {signature}, by name only; {format_expression(argument)} is"
                " one too many."
            )
            guessed = {}
        core.report("positional-argument", argument, message, tool=tool.alias, **guessed)


def _report_unknown(
    core: Interpreter, tool: Tool, place: ast.AST, name: str, value: t.Type, unused: list[str]
) -> str | None:
    """Report an argument of a call that the tool does not have.

    Return the argument that was probably meant, or None if none is likely. `unused` are the tool's
    arguments that the call does not pass.
    """
    spend(2 * (len(core.tools) + len(tool.arguments)))
    containers = _arguments_with_key(tool, name, unused)
    near = _guess_argument(tool, name, value, unused, similar=not containers)
    if near:
        then = f"Did you mean {near!r}?"
    elif containers:
        then = f"It is a key of {containers[0]!r}: write {containers[0]}={{{name!r}: …}}."
    else:
        then = "Leave it out." if tool.arguments else f"Write {tool.alias}()."
        others = _tools_that_need(core, tool, name)
        if 0 < len(others) <= _MOST_NAMED:
            then = f"{then[:-1]}, or use a function that takes it: {format_list(others)}."
    takes = format_list(tool.arguments) if tool.arguments else "no arguments"
    message = f"{tool.alias} has no argument {name!r}; it takes {takes}. {then}"
    core.report("unknown-argument", place, message, tool=tool.alias, argument=name, better=near)
    return near


def _arguments_with_key(tool: Tool, key: str, unused: list[str]) -> list[str]:
    """Return those arguments of `unused` whose values are objects with a property named `key`."""
    root = tool.protocol.input_schema
    found = []
    for argument in unused:
        if may_guess(_MOST_VIEWS):
            schema = tool.protocol.parameters[tool.arguments[argument]]
            views = expand_combinations([schema], root, most=_MOST_VIEWS)
            found += [argument for view in views if key in as_mapping(view.get("properties"))]
    return found


def _guess_argument(
    tool: Tool, name: str, value_type: t.Type, unused: list[str], *, similar: bool
) -> str | None:
    """Return the argument that a program probably meant, or None if no argument is likely.

    These are tried in order: the argument whose name in the API is `name`, an argument with a
    similar name, and the only required argument that the call lacks, if it can have this value.

    Args:
        tool: the called tool.
        name: the argument's name in the program. The tool has no argument of this name.
        value_type: the type of the value that the program passes.
        unused: the arguments of the tool that the call does not pass.
        similar: False to skip arguments with a similar name.
    """
    for argument, original in tool.arguments.items():
        if original == name:
            return argument
    near = find_nearest(name, unused) if similar else None
    missing = [argument for argument in unused if argument in tool.required]
    if near is not None or len(missing) != 1:
        return near
    kinds = json_types(value_type)
    schema = tool.protocol.parameters[tool.arguments[missing[0]]]
    allowed = allowed_types(schema, tool.protocol.input_schema)
    return missing[0] if kinds is None or allowed is None or kinds & allowed else None


def _tools_that_need(core: Interpreter, tool: Tool, argument: str) -> list[str]:
    """Return the tools that require an argument with this name, as suggestions for a message.

    A tool that writes is not suggested instead of one that reads.
    """
    return [
        alias
        for alias, other in core.tools.items()
        if argument in other.required and other.protocol.writes <= tool.protocol.writes
    ]


def _check_value(
    core: Interpreter, tool: Tool, argument: str, node: ast.expr, value: t.Type, *, written: bool
) -> None:
    """Report a value that does not fit the schema of the argument for which it is passed.

    `written` is True if `node` is the value itself, and False if it is a dict that contains the
    value.
    """
    name = tool.arguments[argument]
    root = tool.protocol.input_schema
    schema = tool.protocol.parameters[name]
    if not isinstance(schema, Mapping):
        return
    try:
        known = ast.literal_eval(node if written else ast.Name("?"))
    except (ValueError, TypeError, SyntaxError, MemoryError, RecursionError):
        _check_type(core, tool, argument, node, value, schema)
        return
    if not isinstance(known, None | bool | int | float | str | list | dict):
        return
    if known is None and name not in tool.protocol.required:
        return  # None for an optional argument is not sent
    if found := find_mismatch(known, schema, root, as_text=is_sent_as_text(tool.protocol, name)):
        better = f" Write {argument}={found.better}." if found.better else ""
        actual = format_expression(node, most=40)
        message = (
            f"argument {argument!r} of {tool.alias} must be {found.expectation}, not"
            f" {actual}.{better}"
        )
        core.report(
            "bad-literal", node, message, tool=tool.alias, argument=argument, better=found.better
        )


def _check_type(
    core: Interpreter,
    tool: Tool,
    argument: str,
    node: ast.expr,
    value: t.Type,
    schema: Mapping[str, object],
) -> None:
    root = tool.protocol.input_schema
    shown = format_expression(node, most=40)
    allowed = allowed_types(schema, root)
    must = tool.arguments[argument] in tool.protocol.required
    if must and allowed is not None and "null" not in allowed and not core.catches("ToolError"):
        value = need_value(
            core, value, node, f"argument {argument!r} of {tool.alias} takes no None", argument
        )
    possible = [member for member in t.members(value) if not isinstance(member, t.Null)]
    as_text = is_sent_as_text(tool.protocol, tool.arguments[argument])
    misfits = [find_type_mismatch(one, schema, root, as_text=as_text) for one in possible]
    what = f"argument {argument!r} of {tool.alias} must be"
    if possible and all(misfits) and misfits[0] is not None:
        wanted, better = misfits[0]
        actual = " or ".join(dict.fromkeys(map(describe_value_in_detail, possible)))
        message = f"{what} {wanted}; {shown} is {actual}."
        key = _likely_key(argument, possible[0], schema, root) if len(possible) == 1 else None
        if key is not None:
            better = f"{shown}[{key!r}]"
            message += f" Write {argument}={better}."
        elif better is not None and isinstance(possible[0], t.Atom):
            message += f" Write {better}."
        core.report(
            "wrong-argument-type", node, message, tool=tool.alias, argument=argument, better=better
        )


def _likely_key(
    argument: str, value: t.Type, schema: Mapping[str, object], root: Mapping[str, object]
) -> str | None:
    """Return the key whose value was probably meant when a program passed a whole object.

    `value` is the type of the object, which was passed as an argument of a tool. Return None if it
    is no object or if no key fits.
    """
    if not isinstance(value, t.Record):
        return None
    kinds = {key: t.members(field_type(value, key) or t.ANY)[0] for key in value.shape.properties}
    fitting = [
        key
        for key, kind in kinds.items()
        if kind is not t.ANY and find_type_mismatch(kind, schema, root) is None
    ]
    if argument in fitting:
        return argument
    return find_nearest(argument, fitting) or next(
        (key for key in ("id", "code", "name") if key in fitting), None
    )
