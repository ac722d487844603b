"""Replacement of the secrets of a run by placeholders.

Secrets are replaced everywhere except in the stored calls of the run. `protocols.secrets` decides
what is a secret. A secret is also replaced where it is escaped, as in JSON or in a URL. Values that
a program derived from a secret, such as a part, its base64 or its hash, are not replaced.
"""

from __future__ import annotations

import ast
import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from atc.core.line_edits import line_edits, readable_lines
from atc.core.program import Program
from atc.core.replies import program_in_reply
from atc.core.task import TaskContext
from atc.core.types import Attempt
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
from protocols.tool import Tool
from sandbox.trace import ToolCall

_T = TypeVar("_T")
_LONG_NUMBER = 4
"""Minimum number of digits of a secret number. A shorter number is replaced only in its own field,
not wherever else the same number occurs.
"""
_IN_QUOTES = re.compile(rf"([\"'])({PLACEHOLDER.pattern})\1")


class Redactor:
    """Collects the secrets of one run, and replaces them by placeholders in texts and values.

    Safe to share between threads. `tools`, keyed by alias, provide the schemas of calls.

    Each placeholder contains a mark that says where its secret was found: `0.3.1` is the first
    secret of call 3 in execution 0, `p0.1` the first one in a program, `s0.1` in the address of a
    tool source, and `v0.1` in another value. So a repeated run has the same placeholders, even if
    its concurrent calls end in another order.
    """

    def __init__(self, tools: Mapping[str, Tool] | None = None) -> None:
        self._tools = tools or {}
        self._lock = threading.Lock()
        self._text = SecretText()
        self._placeholders: dict[tuple[str, str], str] = {}
        self._values: dict[str, Json] = {}
        self._counts = {"p": 0, "s": 0, "v": 0}

    def learn_call(self, call: ToolCall, execution: int) -> None:
        """Add the secrets in the arguments and the response (or error) of a recorded call.

        If the tool of the call is not known, secrets are recognized by their names alone.
        """
        arguments, response = self._schemas(call)
        outcome = call.result if call.error is None else call.error
        secrets = secrets_of(call.arguments, arguments)
        secrets += secrets_of(outcome, response)
        secrets += secrets_of(call.baseline, None)
        secrets += secrets_of(call.headers, None)
        self._take(secrets, f"{execution}.{call.index}")

    def learn_run(self, stored: StoredRun) -> None:
        """Add the secrets of a stored run, in the order in which they were found during the run.

        So each secret gets the same placeholder as during the run.
        """
        left = list(stored.calls)
        for attempt in stored.attempts:
            self.learn_program(attempt.program)
            while left and attempt.execution is not None and left[0].execution <= attempt.execution:
                first = left.pop(0)
                self.learn_call(first.call, first.execution)
        for found in left:
            self.learn_call(found.call, found.execution)

    def learn_attempts(self, attempts: Iterable[Attempt]) -> None:
        """Add the secrets of attempts that are not stored. Each attempt counts as one execution.

        The secrets are in the programs and in their calls.
        """
        for number, attempt in enumerate(attempts):
            self.learn_program(attempt.program)
            for call in attempt.trace.calls if attempt.trace else ():
                self.learn_call(call, number)

    def learn_placeholders(self, secrets: Mapping[str, Json]) -> None:
        """Add secrets of an earlier run, keyed by the placeholders that they had there.

        Call this first, so that each of them keeps its placeholder.
        """
        with self._lock:
            for name, value in secrets.items():
                if _key(value) not in self._placeholders:
                    self._values[name] = value
                    self._text.add(_key(value)[1], name)
                    self._placeholders[_key(value)] = name

    def find_secrets(self, text: str) -> dict[str, Json]:
        """Return the secrets whose placeholders a text contains, keyed by placeholder."""
        named = dict.fromkeys(found[0] for found in PLACEHOLDER.finditer(text))
        with self._lock:
            return {name: self._values[name] for name in named if name in self._values}

    def learn_sources(self, sources: Iterable[str]) -> None:
        """Add the secrets in the addresses and commands of tool sources."""
        for source in sources:
            self._take(secrets_in(source), "s")

    def learn_program(self, program: Program) -> None:
        """Add the secrets that a program contains as literals.

        These are the literals that it assigns to secret arguments or variables.
        """
        self._take(secrets_in_program(program, self._tools), "p")

    def __call__(self, text: str) -> str:
        """Return `text` with a placeholder for each known secret.

        Secrets of fewer than 6 characters are replaced only as whole words.
        """
        return self._text(text)

    def value(self, thing: _T, schema: JsonObject | None = None) -> _T:
        """Return a copy of a JSON value or of a dataclass, with placeholders for its secrets.

        Values that are secrets according to their names or to `schema`, the schema of the value,
        are added to the known secrets, and replaced, too.
        """
        changed: Any
        match thing:
            case ToolCall():
                changed = self._call(thing)
            case TaskContext():
                changed = replace(
                    thing,
                    rules=self(thing.rules),
                    earlier=self.value(thing.earlier),
                    arguments=self.value(thing.arguments),
                    secrets={},
                )
            case Program(source=source):
                self.learn_program(thing)
                changed = Program(self(source))
            case Completion(text=text):
                if (program := program_in_reply(text)) is not None:
                    self.learn_program(program)
                if edits := line_edits(text):
                    self.learn_program(readable_lines(edits))
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
        """Return a model's reply in which placeholders are replaced by the secrets they stand for.

        So the program in the reply can run. Each secret is escaped, so that it cannot end the
        string literal that contains it.
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
        """The placeholders of all secrets that are known so far."""
        with self._lock:
            return frozenset(self._values)

    def _take(self, values: Iterable[Json], mark: str) -> None:
        """Add secrets that were found together, for example in one call.

        `mark` says where they were found, and each placeholder contains it (see `Redactor`). It is
        the mark of a call, or one of the letters `p`, `s` and `v`, to which a counter is added.
        """
        with self._lock:
            first = f"{mark}{self._counts[mark]}" if mark in self._counts else mark
            new = [
                self._add(value, f"{first}.{number}")
                for number, value in enumerate(values, start=1)
            ]
            if any(new) and mark in self._counts:
                self._counts[mark] += 1

    def _add(self, value: Json, mark: str) -> bool:
        """Add one secret. Return False if it was not added.

        It is not added if it is already known, if it is blank, or if it is a row of signs such as
        `****` that stands for a hidden secret.
        """
        key = _key(value)
        if key in self._placeholders or is_blank_or_mask(key[1]):
            return False
        # Another call with the same number may have been added before.
        while (name := placeholder(value, mark)) in self._values:
            mark += ".1"
        self._values[name] = value
        self._text.add(key[1], name)
        self._placeholders[key] = name
        return True

    def _schemas(self, call: ToolCall) -> tuple[JsonObject | None, JsonObject | None]:
        """Return the schemas of a call's arguments (with aliases as names) and of its response.

        Both are None if the tool is not known.
        """
        tool = self._tools.get(call.tool)
        return (by_alias(tool), tool.protocol.output_schema) if tool is not None else (None, None)

    def _call(self, call: ToolCall) -> ToolCall:
        """Return a recorded call with placeholders for its secrets."""
        arguments, response = self._schemas(call)
        # First the secrets of these, since the other texts may contain them.
        changed = replace(
            call,
            arguments=self.value(dict(call.arguments), arguments),
            result=self.value(call.result, response),
        )
        names = ("error", "curl", "remedy", "note", "drift", "baseline", "headers")
        return replace(changed, **{name: self.value(getattr(call, name)) for name in names})

    def _cover(self, leaf: Json) -> Json:
        """Return the placeholder of a value that is a secret. A new secret is added first."""
        self._take(secret_with_parts(leaf), "v")
        return self._placeholders.get(_key(leaf), leaf)

    def _rest(self, leaf: Json) -> Json:
        """Return a value that is not itself a secret, with placeholders for known secrets in it.

        A number is replaced only if it equals a known secret and is long.
        """
        if isinstance(leaf, str):
            return self(leaf)
        if isinstance(leaf, bool) or not isinstance(leaf, int | float):
            return leaf
        key = _key(leaf)
        is_long = sum(map(str.isdigit, key[1])) >= _LONG_NUMBER
        return self._placeholders.get(key, leaf) if is_long else leaf


def _key(value: Json) -> tuple[str, str]:
    return type(value).__name__, str(value)


# --- secrets among the literals of a program


def by_alias(tool: Tool) -> JsonObject:
    """Return the schema of a tool's arguments, with the aliases that programs use as keys."""
    schema = tool.protocol.input_schema
    properties = tool.protocol.parameters
    return {
        **schema,
        "properties": {alias: properties[name] for alias, name in tool.arguments.items()},
    }


def secrets_in_program(program: Program, tools: Mapping[str, Tool]) -> list[Json]:
    """Return the secrets among the literals of a program.

    A literal is a secret if its variable, key or argument has the name of a secret, or if the
    tool's schema says so. Secrets within longer texts count, too. The result is empty if the source
    is not valid Python.
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
            tool = _find_called_tool(node, tools)
            schema = by_alias(tool) if tool is not None else None
            found += secrets_of(_read_arguments(node, names), schema)
    return found


def _read_arguments(call: ast.Call, names: Mapping[str, Json]) -> dict[str, Json]:
    """Return the keyword arguments of a call in a program, with the values that are known.

    A value is known if it is a literal, or a variable whose value is in `names`. Any other value is
    returned as None.
    """
    arguments: dict[str, Json] = {}
    for keyword in call.keywords:
        value = _literal(keyword.value, names)
        if keyword.arg is not None:
            arguments[keyword.arg] = value
        elif isinstance(value, dict):
            arguments |= value
    return arguments


def _find_called_tool(call: ast.Call, tools: Mapping[str, Tool]) -> Tool | None:
    """Return the tool that the program calls with the expression `call`, or None.

    The name of the tool may also be the first argument, as in `asyncio.to_thread(login)`.
    """
    for node in (call.func, *call.args[:1]):
        if isinstance(node, ast.Name) and node.id in tools:
            return tools[node.id]
    return None


def _literal(node: ast.expr | None, names: Mapping[str, Json]) -> Json:
    """Return the value of an expression that consists of literals and the variables in `names`.

    Return None for any other expression. Within a list or dict, such an expression is replaced by
    None.
    """
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
