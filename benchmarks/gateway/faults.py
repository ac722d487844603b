"""Faulty programs: gold programs with one mechanical fault each, of the kinds that models make, drawn by seed."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atc.edits import with_text
from atc.types import Program
from protocols.schema import resolve
from protocols.toolbox import Tool, Toolbox
from toolflow_bench.task import Task

_Edits = Iterator[tuple[ast.expr, str]]
_VERBS = {"get": "fetch", "list": "get", "search": "find", "create": "add", "update": "edit", "delete": "remove"}
_PAGES = ("page", "page_number")


@dataclass(frozen=True, slots=True, kw_only=True)
class Faulty:
    """A task's gold program with one fault of `kind`."""

    task: Task
    kind: str
    program: str
    before: str
    after: str
    unknown: str = ""
    """The tool that no service has, where that is the fault."""


def faulty_programs(tasks: Sequence[Task], tools: Toolbox, *, count: int, seed: int) -> list[Faulty]:
    """The kinds in turn, each in the next of the tasks, in an order drawn by seed, that it can be put into."""
    order = list(tasks)
    random.Random(f"{seed} faults").shuffle(order)
    queues = {kind: iter(order) for kind in KINDS}
    used: set[str] = set()
    found: list[Faulty] = []
    while queues and len(found) < count:
        for kind in list(queues):
            one = next((f for t in queues[kind] if t.id not in used and (f := _faulty(t, kind, tools, seed))), None)
            if one is None:
                del queues[kind]
            elif len(found) < count:
                used.add(one.task.id)
                found.append(one)
    return found


def _faulty(task: Task, kind: str, tools: Toolbox, seed: int) -> Faulty | None:
    rng = random.Random(f"{seed} {task.id} {kind}")
    edits = list(KINDS[kind](ast.parse(task.program), tools, rng))
    if not edits:
        return None
    node, text = rng.choice(edits)
    program = with_text(Program(task.program), node, text).source
    unknown = text if kind == "unknown_tool" else ""
    before = ast.get_source_segment(task.program, node) or ast.unparse(node)
    return Faulty(task=task, kind=kind, program=program, before=before, after=text, unknown=unknown)


def _calls(tree: ast.Module, tools: Toolbox) -> Iterator[tuple[ast.Call, ast.Name, Tool]]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in tools:
            yield node, node.func, tools[node.func.id]


def _keywords(tree: ast.Module, tools: Toolbox) -> Iterator[tuple[ast.keyword, Tool, Mapping[str, Any]]]:
    """The arguments of the tools' calls, each with its schema."""
    for call, _, tool in _calls(tree, tools):
        for keyword in call.keywords:
            if keyword.arg in tool.arguments:
                protocol = tool.protocol
                schema = protocol.parameters[tool.arguments[keyword.arg]]
                yield keyword, tool, resolve(schema, protocol.input_schema)


def _wrong_keys(tree: ast.Module, tools: Toolbox, rng: random.Random) -> _Edits:
    """A field is read under a name that no response of the program's tools has."""
    known = {key for _, _, tool in _calls(tree, tools) for key in _properties(tool.protocol.output_schema)}
    for node in ast.walk(tree):
        match node:
            case ast.Subscript(ctx=ast.Load(), slice=ast.Constant(value=str() as key)) if key in known:
                other = rng.choice([name for name in _misremembered(key) if name not in known])
                yield node.slice, repr(other)


def _wrong_arguments(tree: ast.Module, tools: Toolbox, rng: random.Random) -> _Edits:
    for call, _, tool in _calls(tree, tools):
        for keyword in call.keywords:
            if keyword.arg in tool.arguments:
                name = rng.choice([one for one in _misremembered(keyword.arg) if one not in tool.arguments])
                others = [ast.unparse(one) for one in call.keywords if one is not keyword]
                yield call, f"{ast.unparse(call.func)}({', '.join([f'{name}={ast.unparse(keyword.value)}', *others])})"


def _unknown_tools(tree: ast.Module, tools: Toolbox, rng: random.Random) -> _Edits:
    for _, name, _ in _calls(tree, tools):
        verb, _, rest = name.id.partition("_")
        made = [f"{_VERBS.get(verb, 'do_' + verb)}_{rest}", f"{name.id}s", f"{verb}_all_{rest}"]
        yield name, rng.choice([one for one in made if one not in tools])


def _wrong_enums(tree: ast.Module, tools: Toolbox, rng: random.Random) -> _Edits:
    for keyword, _, schema in _keywords(tree, tools):
        allowed = schema.get("enum", ())
        match keyword.value:
            case ast.Constant(value=str() as word) if word in allowed:
                made = [word.upper(), word.title(), f"{word}s", word.replace("_", "-"), word.replace("_", " ")]
                yield keyword.value, repr(rng.choice([one for one in made if one not in allowed]))


def _str_for_ints(tree: ast.Module, tools: Toolbox, _rng: random.Random) -> _Edits:
    for keyword, _, schema in _keywords(tree, tools):
        if schema.get("type") == "integer":
            text = ast.unparse(keyword.value)
            yield keyword.value, repr(text) if isinstance(keyword.value, ast.Constant) else f"str({text})"


def _wrong_pages(tree: ast.Module, tools: Toolbox, rng: random.Random) -> _Edits:
    """One page before the right one, or one after it."""
    for call, name, tool in _calls(tree, tools):
        page = next((alias for alias in tool.arguments if alias in _PAGES), None)
        given = next((keyword.value for keyword in call.keywords if keyword.arg == page), ast.Constant(1))
        if page is None:
            continue
        if isinstance(given, ast.Constant):
            wrong = str(given.value + rng.choice((-1, 1)))
        else:
            wrong = ast.unparse(given) + rng.choice((" - 1", " + 1"))
        others = [ast.unparse(keyword) for keyword in call.keywords if keyword.arg != page]
        yield call, f"{name.id}({', '.join([*others, f'{page}={wrong}'])})"


def _misremembered(name: str) -> list[str]:
    """Names that mean the same to a person."""
    first, *rest = name.split("_")
    made = [first + "".join(map(str.capitalize, rest)), "".join(map(str.capitalize, name.split("_")))]
    made += [name.removesuffix("s") if name.endswith("s") else f"{name}s"]
    made += ["_".join(rest) if rest else f"{name}_name", first if rest else f"{name}_id"]
    return [one for one in dict.fromkeys(made) if one and one != name]


def _properties(schema: Any) -> Iterator[str]:
    """Every field that a schema names, at any depth."""
    if isinstance(schema, Mapping):
        yield from schema.get("properties", ())
        for value in schema.values():
            yield from _properties(value)
    elif isinstance(schema, list | tuple):
        for value in schema:
            yield from _properties(value)


KINDS: Mapping[str, Callable[[ast.Module, Toolbox, random.Random], _Edits]] = {
    "wrong_key": _wrong_keys,
    "wrong_argument": _wrong_arguments,
    "unknown_tool": _unknown_tools,
    "wrong_enum": _wrong_enums,
    "str_for_int": _str_for_ints,
    "wrong_page": _wrong_pages,
}
