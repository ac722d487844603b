"""Finds what a program made up: ids that neither the task nor any result gave, and answers that no result can change.

A model that lacks a flight's number writes 1234 and goes on. The call that follows finds nothing, or worse, something.
"""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterator, Mapping

from atc.findings import finding
from atc.types import Finding, Program
from protocols.parsing import parsed
from protocols.toolbox import Tool, Toolbox

_SMALL = 100
"""Below it a number may be an hour, a count or a limit; from it on it is likely an id."""

_MEASURES = re.compile(
    r"(^|_)(km|m|mi|miles|ft|feet|kt|kts|knots|mph|kg|lb|lbs|ms|seconds|minutes|hours|days|nights|years|usd|eur|percent|"
    r"radius|distance|limit|count|amount|size|length|width|height|weight|population|price|duration)$",
    re.IGNORECASE,
)
"""Names of arguments whose numbers are measures: a program may choose how wide it looks, as a person would."""


def made_up(program: Program, task: str, tools: Toolbox) -> tuple[Finding, ...]:
    """Findings for literals in required arguments whose values, by the links, come from another tool.

    Only telling ones count, integers from 100 on and words with letters and digits, and only where the task does not
    hold them: a code such as `BOS` may be known to the model, a date may be spelled otherwise in the task. A measure
    (`radius_km`) is no id, whatever response has one of its name.
    """
    tree = parsed(program.source)
    if tree is None:
        return ()
    given = task.casefold()
    found: list[Finding] = []
    for tool, keyword, value in _literals(tree, tools):
        name = tool.arguments[keyword.arg or ""]
        sources, measure = tools.producers(tool, name), isinstance(value, int) and is_measure(keyword.arg or "")
        if not sources or measure or is_common(value) or str(value).casefold() in given:
            continue
        message = (
            f"{value!r} for {keyword.arg!r} of {tool.alias} is made up: the task does not give it. Take it from"
            f" {sources[0].expression()}, or use a function that does not need it."
        )
        found.append(finding("made-up-value", keyword.value, message, tool=tool.alias))
    return tuple(found)


def fixed_answer(program: Program, tools: Toolbox) -> tuple[Finding, ...]:
    """A finding where a program calls tools that only read, and prints what none of their responses can change.

    `print(len([flights[0]]))` is 1 whatever comes. A print that responses may skip (in an `if`, a loop, a `try`) is
    left alone, and so is a program that writes: what it did is its answer.
    """
    tree = parsed(program.source)
    if tree is None:
        return ()
    nodes = list(ast.walk(tree))
    used = Counter((n.id, isinstance(n.ctx, ast.Load)) for n in nodes if isinstance(n, ast.Name))
    named = {name for name, _ in used} & tools.keys()
    calls = [n for n in nodes if isinstance(n, ast.Call) and getattr(n.func, "id", None) == program.printing]
    plain = [s.value for s in tree.body if isinstance(s, ast.Expr) and s.value in calls]
    if not named or any(tools[name].protocol.writes for name in named) or not calls or len(plain) < len(calls):
        return ()
    once: dict[str, ast.expr] = {}
    for node in tree.body:
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if used[name, False] == 1:
                once[name] = value
    if not all(_is_fixed(argument, once) for call in plain for argument in call.args):
        return ()
    message = "This prints the same whatever the functions return: the answer has to come from what they return."
    return (finding("fixed-answer", plain[-1], message),)


def _is_fixed(node: ast.expr, given: Mapping[str, ast.expr]) -> bool:
    """Whether an expression has one value; `given` are the names that are assigned once, at the top."""
    rest = {name: value for name, value in given.items() if name != getattr(node, "id", None)}
    match node:
        case ast.Constant():
            return True
        case ast.Name(id=name) if name in given:
            return _is_fixed(given[name], rest) and not isinstance(given[name], ast.List | ast.Dict | ast.Set)
        case ast.Call(func=ast.Name(id="len"), args=[ast.List(elts=items) | ast.Tuple(elts=items)], keywords=[]):
            return not any(isinstance(item, ast.Starred) for item in items)
        case ast.Call(func=ast.Name(id="str" | "int" | "float" | "round" | "abs"), args=items, keywords=[]):
            return all(_is_fixed(item, given) for item in items)
        case ast.List() | ast.Tuple() | ast.JoinedStr() | ast.FormattedValue() | ast.BinOp() | ast.UnaryOp():
            return all(_is_fixed(inner, given) for inner in ast.iter_child_nodes(node) if isinstance(inner, ast.expr))
    return False


def _literals(tree: ast.Module, tools: Toolbox) -> Iterator[tuple[Tool, ast.keyword, str | int]]:
    """Each literal that fills a required argument of a tool by name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in tools:
            tool = tools[node.func.id]
            for keyword in node.keywords:
                if keyword.arg in tool.required and isinstance(keyword.value, ast.Constant):
                    value = keyword.value.value
                    if isinstance(value, str | int) and not isinstance(value, bool):
                        yield tool, keyword, value


def is_common(value: str | int) -> bool:
    """Whether a value says too little to be made up: a small number, or no code of letters and digits."""
    if isinstance(value, int):
        return abs(value) < _SMALL
    telling = any(map(str.isdigit, value)) and any(map(str.isalpha, value))
    return not (telling and re.fullmatch(r"[\w-]+", value))


def words_of(task: str) -> frozenset[str]:
    """What a task gives: its words and numbers, casefolded."""
    return frozenset(re.findall(r"\w+", task.casefold()))


def is_measure(argument: str) -> bool:
    """Whether an argument of this name is a measure, of which a program may choose the number."""
    return _MEASURES.search(argument) is not None
