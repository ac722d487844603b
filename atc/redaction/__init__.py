"""Keeps a run's secrets in its journal: wherever else they would go, a placeholder stands in their place.

What is a secret is said by `protocols.secrets`. Replaced are the characters themselves, in each spelling of
`protocols.secrets`, and nothing that a program made of them: half a token, its base64, its hash.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar, cast

from atc.redaction.sources import by_alias, secrets_in_program
from atc.redaction.text import SecretText
from atc.store.stored import StoredRun
from atc.synthesize import parse
from atc.types import Attempt, Program
from protocols.ask import Completion
from protocols.jsontypes import Json, JsonObject
from protocols.secrets import (
    PLACEHOLDER,
    conceals_nothing,
    covered,
    in_literal,
    may_hold,
    placeholder,
    secrets_of,
    with_parts,
)
from protocols.toolbox import Tool
from sandbox.trace import ToolCall

_T = TypeVar("_T")
_LONG_NUMBER = 4
"""Digits from which a number that is a secret somewhere is replaced in every place of a value."""
_IN_QUOTES = re.compile(rf"([\"'])({PLACEHOLDER.pattern})\1")


class Redactor:
    """A run's secrets, and everything without them. Safe to share between threads. `tools` are asked for their schemas.

    Each secret has a mark, by which its placeholder tells it from the others: `0.3.1` is the first one of call 3 in
    execution 0, `p0.1` the first one of a program, `v0.1` of another value. So the same run gives the same
    placeholders, whatever the order in which concurrent calls come out.
    """

    def __init__(self, tools: Mapping[str, Tool] | None = None) -> None:
        self._tools = tools or {}
        self._lock = threading.Lock()
        self._text = SecretText()
        self._placeholders: dict[tuple[str, str], str] = {}
        self._values: dict[str, Json] = {}
        self._counts = {"p": 0, "v": 0}

    def learn_call(self, call: ToolCall, execution: int) -> None:
        """Take the secrets of a recorded call: of its arguments, and of its response, or what its error said.

        By names alone where its tool is not known.
        """
        tool = self._tools.get(call.tool)
        given, gave = (by_alias(tool), tool.protocol.output_schema) if tool is not None else (None, None)
        came = call.result if call.error is None else call.error
        found = secrets_of(call.arguments, given) + secrets_of(came, gave) + secrets_of(call.baseline, None)
        self._take(found, f"{execution}.{call.index}")

    def learn_run(self, stored: StoredRun) -> None:
        """Take all secrets of a stored run, as they were met: they get the placeholders that they had."""
        executions = {id(found.call): found.execution for found in stored.calls}
        left = sorted(stored.calls, key=lambda found: (found.execution, found.call.index))
        for attempt in stored.attempts:
            self.learn_program(attempt.program.source)
            made = attempt.trace.calls if attempt.trace else ()
            last = max((executions.get(id(call), -1) for call in made), default=-1)
            while left and left[0].execution <= last:
                first = left.pop(0)
                self.learn_call(first.call, first.execution)
        for found in left:
            self.learn_call(found.call, found.execution)

    def learn_attempts(self, attempts: Iterable[Attempt]) -> None:
        """Take the secrets of attempts that are not stored, or no longer: each counts as one execution."""
        for number, attempt in enumerate(attempts):
            self.learn_program(attempt.program.source)
            for call in attempt.trace.calls if attempt.trace else ():
                self.learn_call(call, number)

    def learn_program(self, source: str) -> None:
        """Take the literals of a program that it gives to secret arguments or variables."""
        self._take(secrets_in_program(source, self._tools), "p")

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
                self.learn_program(source)
                changed = Program(self(source))
            case Completion(text=text):
                if (program := parse(text)) is not None:
                    self.learn_program(program.source)
                changed = replace(thing, text=self(text))
            case tuple():
                changed = tuple(self.value(item) for item in thing)
            case list() if any(map(is_dataclass, thing)):
                changed = [self.value(item) for item in thing]
            case _ if is_dataclass(thing) and not isinstance(thing, type):
                parts = {field.name: self.value(getattr(thing, field.name)) for field in fields(thing) if field.init}
                changed = replace(thing, **parts)
            case _ if not self._placeholders and not may_hold(thing, schema):
                changed = thing
            case _:
                changed = covered(thing, schema, self._cover, rest=self._rest)
        return cast("_T", changed)

    def restored(self, text: str) -> str:
        """A model's reply with the secrets in place of their placeholders, so that its program can be executed.

        Whatever a secret holds, it cannot leave the literal that its placeholder stood in.
        """
        numbers = _IN_QUOTES.sub(self._number, text)
        return PLACEHOLDER.sub(self._characters, numbers)

    @property
    def placeholders(self) -> frozenset[str]:
        """All placeholders that may stand in this run's texts and values."""
        with self._lock:
            return frozenset(self._values)

    def _take(self, values: Iterable[Json], mark: str) -> None:
        """Take secrets of a call, by its mark, or of the next program ("p") or value ("v") that has new ones."""
        with self._lock:
            first = f"{mark}{self._counts[mark]}" if mark in self._counts else mark
        any_new = False
        for number, value in enumerate(values, start=1):
            with self._lock:  # not around all of them: nobody waits for a call that has very many
                any_new |= self._add(value, f"{first}.{number}")
        if any_new and mark in self._counts:
            with self._lock:
                self._counts[mark] = max(self._counts[mark], int(first[1:]) + 1)

    def _add(self, value: Json, mark: str) -> bool:
        """Whether it is a new one."""
        key = _key(value)
        if key in self._placeholders or conceals_nothing(key[1]):
            return False
        while (name := placeholder(value, mark)) in self._values:  # a call of the same number was learned before
            mark += ".1"
        self._values[name] = value
        self._text.add(key[1], name)
        self._placeholders[key] = name
        return True

    def _call(self, call: ToolCall) -> ToolCall:
        tool = self._tools.get(call.tool)
        return replace(
            call,
            arguments=self.value(dict(call.arguments), by_alias(tool) if tool is not None else None),
            result=self.value(call.result, tool.protocol.output_schema if tool is not None else None),
            error=self._said(call.error),
            curl=self._said(call.curl),
            note=self._said(call.note),
            drift=tuple(map(self, call.drift)),
            baseline=self.value(call.baseline),
        )

    def _said(self, text: str | None) -> str | None:
        return None if text is None else self(text)

    def _cover(self, leaf: Json) -> Json:
        self._take(with_parts(leaf), "v")
        return self._placeholders.get(_key(leaf), leaf)

    def _rest(self, leaf: Json) -> Json:
        if isinstance(leaf, str):
            return self(leaf)
        if isinstance(leaf, bool) or not isinstance(leaf, int | float):
            return leaf
        key = _key(leaf)
        return self._placeholders.get(key, leaf) if sum(map(str.isdigit, key[1])) >= _LONG_NUMBER else leaf

    def _number(self, found: re.Match[str]) -> str:
        value = self._values.get(found[2])
        return found[0] if value is None or isinstance(value, str) else str(value)

    def _characters(self, found: re.Match[str]) -> str:
        value = self._values.get(found[0])
        return found[0] if value is None else in_literal(str(value))


def _key(value: Json) -> tuple[str, str]:
    return type(value).__name__, str(value)
