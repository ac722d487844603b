"""Values that a program seems to have invented: ids that nothing gives, and constant answers.

A model that does not know a flight's number may write 1234 and continue; the next call then finds
nothing, or worse, a wrong record. So such values are findings of the check.
"""

from __future__ import annotations

import ast
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import TypeGuard

from atc.core.answer_print import print_name
from atc.core.messages import make_finding
from atc.core.program import Program
from atc.core.types import Finding
from atc.core.value_kinds import is_common, is_measure
from atc.pipeline.attribute.dataflow import simple_name
from atc.pipeline.guessed_links import find_proposable
from protocols.naming import snake
from protocols.render import describe_origin
from protocols.schema import Json
from protocols.tool import Tool
from protocols.toolbox import Toolbox

_AIRLINE = re.compile("[A-Z0-9]{2}")
"""A code so short that a model may know it, such as that of an airline."""


def find_invented_values(
    program: Program, task: str, tools: Toolbox, outputs: Iterable[Json] = ()
) -> tuple[Finding, ...]:
    """Return findings for values that the model invented instead of taking them from a response.

    They are literals in required arguments whose values, according to the links between the tools,
    come from the responses of another tool. Only distinctive values that the task does not contain
    are reported: integers from 100, and words with letters and digits. Codes such as `BOS` and `B6`
    are not reported, because the model may know them. Neither are dates and years, because the task
    may write them differently. A measure (`radius_km`) is not an id, even if a response has a field
    of that name.
    `outputs` are what earlier programs of the run printed and received from tools; a value that
    occurs in them is not reported.
    """
    given = task.casefold()
    found = list[Finding]()
    for tool, keyword in _arguments(program, tools):
        value = getattr(keyword.value, "value", None)
        name = keyword.arg
        if (
            name is None
            or name not in tool.required
            or not isinstance(value, str | int)
            or is_common(value)
            or _AIRLINE.fullmatch(str(value))
        ):
            continue
        sources = tools.producers(tool, tool.arguments[name])
        measure = isinstance(value, int) and is_measure(name)
        if not sources or measure or str(value).casefold() in given or _is_year(value, name):
            continue
        if any(_is_part_of(value, output) for output in outputs):
            continue
        proposed = find_proposable(tools, tool, tool.arguments[name])
        origin = describe_origin(name, proposed) or "from the result of a function"
        message = (
            f"{value!r} for {name!r} of {tool.alias} is made up: the task does not give it. Take it"
            f" {origin}, or use a function that does not need it."
        )
        found.append(make_finding("made-up-value", keyword.value, message, tool=tool.alias))
    return tuple(found)


def _is_year(value: str | int, argument: str) -> bool:
    """Return True for a year, which the task may give in words: "the season after 2001"."""
    is_period = snake(argument).split("_")[-1] in ("year", "season")
    return is_period and isinstance(value, int) and value in _YEARS


_YEARS = range(1800, 2101)


def _is_part_of(value: str | int, output: Json) -> bool:
    """Return True if a JSON value or a printed text contains another value as a whole word."""
    text = output if isinstance(output, str) else json.dumps(output, default=repr)
    written = value if isinstance(output, str) else json.dumps(value).strip('"')
    return re.search(rf"(?<!\w){re.escape(str(written))}(?!\w)", text, re.IGNORECASE) is not None


def _arguments(program: Program, tools: Toolbox) -> Iterator[tuple[Tool, ast.keyword]]:
    """Yield each keyword argument of each tool call, together with the tool."""
    for node in ast.walk(program.tree):
        match node:
            case ast.Call(func=ast.Name(id=alias), keywords=keywords) if alias in tools:
                yield from ((tools[alias], keyword) for keyword in keywords)


def find_fixed_answer(program: Program, tools: Toolbox) -> tuple[Finding, ...]:
    """Return a finding if a program prints a value that does not depend on any response.

    `print(len([flights[0]]))` always prints 1. A program is not reported if a print may be skipped
    (in an `if`, a loop or a `try`, or after a `raise`), or if it calls a tool that writes, because
    the effect of the call is then its answer. A sentence is not reported either: it may refuse what
    the task asks for, and is doubted after the program ran.
    """
    tree = program.tree
    nodes = list(ast.walk(tree))
    names = [node for node in nodes if isinstance(node, ast.Name)]
    named = {node.id for node in names} & tools.keys()
    if not named or any(tools[name].protocol.writes for name in named):
        return ()
    prints = _find_unconditional_prints(tree, nodes, program)
    once = _find_single_assignments(tree, names)
    printed = [argument for call in prints for argument in call.args]
    if _may_end_early(nodes) or any(_is_sentence(argument, once) for argument in printed):
        return ()
    if not prints or not all(_is_fixed(argument, once) for argument in printed):
        return ()
    message = (
        "This prints the same whatever the functions return: the answer has to come from what they"
        " return."
    )
    return (make_finding("fixed-answer", prints[-1], message),)


_EXITS = frozenset({"exit", "quit", "_exit"})


def _may_end_early(nodes: list[ast.AST]) -> bool:
    """Return True if the program may end early, because it raises an error or calls `exit`."""
    ends = (ast.Raise, ast.Assert)
    return any(
        isinstance(node, ends) or (isinstance(node, ast.Call) and simple_name(node) in _EXITS)
        for node in nodes
    )


def _is_sentence(node: ast.expr, once: Mapping[str, ast.expr]) -> bool:
    """Return True if an expression is a text of several words, or a name that is assigned one."""
    if isinstance(node, ast.Name):
        node = once.get(node.id, node)
    if isinstance(node, ast.JoinedStr):
        return any(_is_sentence(part, once) for part in node.values)
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, str) and len(value.split()) >= _SENTENCE_WORDS


_SENTENCE_WORDS = 3
"""Number of words from which a text counts as a sentence and not as a value."""


def _find_unconditional_prints(
    tree: ast.Module, nodes: list[ast.AST], program: Program
) -> list[ast.Call]:
    """Return the calls of `print` that a program certainly executes, in program order.

    The result is empty if a `print` is inside another statement, and may therefore be skipped.
    """
    top = [statement.value for statement in tree.body if isinstance(statement, ast.Expr)]
    prints = [node for node in top if _is_print(node, program)]
    every = [node for node in nodes if _is_print(node, program)]
    return prints if len(prints) == len(every) else []


def _find_single_assignments(tree: ast.Module, names: list[ast.Name]) -> dict[str, ast.expr]:
    """Return the names that a program assigns exactly once, each with the assigned expression.

    Only assignments at the top level of the program count.
    """
    stores = Counter(node.id for node in names if not isinstance(node.ctx, ast.Load))
    once: dict[str, ast.expr] = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if stores[name] == 1:
                once[name] = value
    return once


def _is_print(node: ast.AST, program: Program) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and getattr(node.func, "id", None) == print_name(program)


def _is_fixed(node: ast.expr, given: Mapping[str, ast.expr]) -> bool:
    """Return True if an expression has the same value whatever the tools respond.

    `given` maps names that are assigned once, at the top level, to the assigned expressions.
    """
    rest = {name: value for name, value in given.items() if name != getattr(node, "id", None)}
    match node:
        case ast.Constant():
            return True
        case ast.Name(id=name) if name in given:
            return _is_fixed(given[name], rest) and not isinstance(
                given[name], ast.List | ast.Dict | ast.Set
            )
        case ast.Call(
            func=ast.Name(id="len"),
            args=[ast.List(elts=items) | ast.Tuple(elts=items)],
            keywords=[],
        ):
            return not any(isinstance(item, ast.Starred) for item in items)
        case ast.Call(
            func=ast.Name(id="str" | "int" | "float" | "round" | "abs"), args=items, keywords=[]
        ):
            return all(_is_fixed(item, given) for item in items)
        case (
            ast.List()
            | ast.Tuple()
            | ast.JoinedStr()
            | ast.FormattedValue()
            | ast.BinOp()
            | ast.UnaryOp()
        ):
            return all(
                _is_fixed(inner, given)
                for inner in ast.iter_child_nodes(node)
                if isinstance(inner, ast.expr)
            )
    return False
