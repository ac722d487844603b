"""Keeps a run's secrets in its journal: wherever else they would go, a placeholder stands in their place.

What is a secret is said by `protocols.secrets`. Replaced are the characters themselves, in each spelling of
`protocols.secrets`, and nothing that a program made of them: half a token, its base64, its hash.
"""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from atc.core.replies import program_in_reply
from atc.core.types import Attempt, Program
from atc.safety.redaction.text import SecretText
from atc.store.stored import StoredRun
from protocols.model import Completion
from protocols.schema import Json, JsonObject
from protocols.secrets import (
    PLACEHOLDER,
    escape_for_literal,
    find_embedded_secrets,
    is_blank_or_mask,
    placeholder,
    replace_secrets,
    secret_with_parts,
    secrets_of,
)
from protocols.secrets.sources import secrets_in
from protocols.toolbox import Tool
from sandbox.trace import ToolCall

_T = TypeVar("_T")
_LONG_NUMBER = 4
"""Digits from which a number that is a secret somewhere is replaced in every place of a value."""
_IN_QUOTES = re.compile(rf"([\"'])({PLACEHOLDER.pattern})\1")


class Redactor:
    """A run's secrets, and everything without them. Safe to share between threads. `tools` are asked for their schemas.

    Each secret has a mark, by which its placeholder tells it from the others: `0.3.1` is the first one of call 3 in
    execution 0, `p0.1` the first one of a program, `s0.1` of a source's address, `v0.1` of another value. So the same
    run gives the same placeholders, whatever the order in which concurrent calls come out.
    """

    def __init__(self, tools: Mapping[str, Tool] | None = None) -> None:
        self._tools = tools or {}
        self._lock = threading.Lock()
        self._text = SecretText()
        self._placeholders: dict[tuple[str, str], str] = {}
        self._values: dict[str, Json] = {}
        self._counts = {"p": 0, "s": 0, "v": 0}

    def learn_call(self, call: ToolCall, execution: int) -> None:
        """Take the secrets of a recorded call: of its arguments, and of its response, or what its error said.

        By names alone where its tool is not known.
        """
        given, gave = self._schemas(call)
        came = call.result if call.error is None else call.error
        found = (
            secrets_of(call.arguments, given)
            + secrets_of(came, gave)
            + secrets_of(call.baseline, None)
        )
        self._take(found, f"{execution}.{call.index}")

    def learn_run(self, stored: StoredRun) -> None:
        """Take all secrets of a stored run, as they were met: they get the placeholders that they had."""
        left = list(stored.calls)
        for attempt in stored.attempts:
            self.learn_program(attempt.program)
            while left and attempt.execution is not None and left[0].execution <= attempt.execution:
                first = left.pop(0)
                self.learn_call(first.call, first.execution)
        for found in left:
            self.learn_call(found.call, found.execution)

    def learn_attempts(self, attempts: Iterable[Attempt]) -> None:
        """Take the secrets of attempts that are not stored, or no longer: each counts as one execution."""
        for number, attempt in enumerate(attempts):
            self.learn_program(attempt.program)
            for call in attempt.trace.calls if attempt.trace else ():
                self.learn_call(call, number)

    def learn_sources(self, sources: Iterable[str]) -> None:
        """Take the secrets of the addresses and commands of tool sources."""
        for source in sources:
            self._take(secrets_in(source), "s")

    def learn_program(self, program: Program) -> None:
        """Take the literals of a program that it gives to secret arguments or variables."""
        self._take(secrets_in_program(program, self._tools), "p")

    def __call__(self, text: str) -> str:
        """`text` with a placeholder for each secret: from 6 characters on wherever it stands, below as a whole word."""
        return self._text(text)

    def value(self, thing: _T, schema: JsonObject | None = None) -> _T:
        """A JSON value, or a dataclass of the run (a call, an event, an attempt), with placeholders for secrets.

        Those in secret places of `schema`, and under names that say so, are replaced even if nobody learned them.
        """
        changed: Any
        match thing:
            case ToolCall():
                changed = self._call(thing)
            case Program(source=source):
                self.learn_program(thing)
                changed = Program(self(source))
            case Completion(text=text):
                if (program := program_in_reply(text)) is not None:
                    self.learn_program(program)
                changed = replace(thing, text=self(text))
            case tuple():
                changed = tuple(self.value(item) for item in thing)
            case list() if any(map(is_dataclass, thing)):
                changed = [self.value(item) for item in thing]
            case _ if is_dataclass(thing) and not isinstance(thing, type):
                parts = {
                    field.name: self.value(getattr(thing, field.name))
                    for field in fields(thing)
                    if field.init
                }
                changed = replace(thing, **parts)
            case _:
                changed = replace_secrets(thing, schema, self._cover, rest=self._rest)
        return cast("_T", changed)

    def restore(self, text: str) -> str:
        """A model's reply with the secrets in place of their placeholders, so that its program can be executed.

        Whatever a secret holds, it cannot leave the literal that its placeholder stood in.
        """

        def number(found: re.Match[str]) -> str:
            value = self._values.get(found[2])
            return found[0] if value is None or isinstance(value, str) else str(value)

        def characters(found: re.Match[str]) -> str:
            value = self._values.get(found[0])
            return found[0] if value is None else escape_for_literal(str(value))

        return PLACEHOLDER.sub(characters, _IN_QUOTES.sub(number, text))

    @property
    def placeholders(self) -> frozenset[str]:
        """All placeholders that may stand in this run's texts and values."""
        with self._lock:
            return frozenset(self._values)

    def _take(self, values: Iterable[Json], mark: str) -> None:
        """Take secrets of a call, by its mark, or of the next program, source or value that has new ones."""
        with self._lock:
            first = f"{mark}{self._counts[mark]}" if mark in self._counts else mark
            new = [
                self._add(value, f"{first}.{number}")
                for number, value in enumerate(values, start=1)
            ]
            if any(new) and mark in self._counts:
                self._counts[mark] += 1

    def _add(self, value: Json, mark: str) -> bool:
        """Whether it is a new one."""
        key = _key(value)
        if key in self._placeholders or is_blank_or_mask(key[1]):
            return False
        while (
            name := placeholder(value, mark)
        ) in self._values:  # a call of the same number was learned before
            mark += ".1"
        self._values[name] = value
        self._text.add(key[1], name)
        self._placeholders[key] = name
        return True

    def _schemas(self, call: ToolCall) -> tuple[JsonObject | None, JsonObject | None]:
        """Of a call's arguments, as programs name them, and of its response; None where its tool is not known."""
        tool = self._tools.get(call.tool)
        return (by_alias(tool), tool.protocol.output_schema) if tool is not None else (None, None)

    def _call(self, call: ToolCall) -> ToolCall:
        given, gave = self._schemas(call)
        # Their secrets first: the texts may tell of them.
        changed = replace(
            call,
            arguments=self.value(dict(call.arguments), given),
            result=self.value(call.result, gave),
        )
        names = ("error", "curl", "note", "drift", "baseline")
        return replace(changed, **{name: self.value(getattr(call, name)) for name in names})

    def _cover(self, leaf: Json) -> Json:
        self._take(secret_with_parts(leaf), "v")
        return self._placeholders.get(_key(leaf), leaf)

    def _rest(self, leaf: Json) -> Json:
        if isinstance(leaf, str):
            return self(leaf)
        if isinstance(leaf, bool) or not isinstance(leaf, int | float):
            return leaf
        key = _key(leaf)
        return (
            self._placeholders.get(key, leaf)
            if sum(map(str.isdigit, key[1])) >= _LONG_NUMBER
            else leaf
        )


def _key(value: Json) -> tuple[str, str]:
    return type(value).__name__, str(value)


# --- secrets that stand in a program as literals


def by_alias(tool: Tool) -> JsonObject:
    """The schema of a tool's arguments under the names that programs give them."""
    schema = tool.protocol.input_schema
    properties = tool.protocol.parameters
    return {
        **schema,
        "properties": {alias: properties[name] for alias, name in tool.arguments.items()},
    }


def secrets_in_program(program: Program, tools: Mapping[str, Tool]) -> list[Json]:
    """Literals of a program that are secrets by the variable, key or argument that they are given to.

    Empty for a source that is no Python.
    """
    tree = program.tree
    names: dict[str, Json] = {}
    found: list[Json] = []
    for node in ast.walk(tree):
        match node:
            case (
                ast.Assign(targets=[ast.Name(id=name)], value=value)
                | ast.AnnAssign(target=ast.Name(id=name), value=value)
            ):
                names[name] = _literal(value, {})
                found += secrets_of({name: names[name]}, None)
            case ast.Dict():
                found += secrets_of(_literal(node, {}), None)
            case ast.Constant(value=str(text)):
                found += find_embedded_secrets(text)
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            given: dict[str, Json] = {}
            for keyword in node.keywords:
                value = _literal(keyword.value, names)
                given |= (
                    {keyword.arg: value}
                    if keyword.arg is not None
                    else value
                    if isinstance(value, dict)
                    else {}
                )
            # The tool stands in front of the arguments, or among them: `asyncio.to_thread(login, password=…)`.
            called = (
                tools[n.id]
                for n in (node.func, *node.args[:1])
                if isinstance(n, ast.Name) and n.id in tools
            )
            tool = next(called, None)
            found += secrets_of(given, by_alias(tool) if tool is not None else None)
    return found


def _literal(node: ast.expr | None, names: Mapping[str, Json]) -> Json:
    """The value of an expression as far as it can be read off; None for what cannot."""
    match node:
        case ast.Constant(value=str() | int() | float() as value):
            return value
        case ast.Name(id=name):
            return names.get(name)
        case ast.List(elts=items) | ast.Tuple(elts=items):
            return [_literal(item, names) for item in items]
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            return {
                str(_literal(k, names)): _literal(v, names)
                for k, v in pairs
                if isinstance(k, ast.Constant)
            }
        case _:
            return None
