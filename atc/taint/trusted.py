"""What the user trusts: a tool, a field of its responses, or one value."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from atc.attribute.paths import EACH, Path, places, walk
from atc.config import InvalidConfig
from atc.taint.literals import Same, same
from atc.taint.numbers import number
from protocols.jsontypes import Json
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall

_VALUE = "value="
_STEP = re.compile(r"\[(\d*)\]|\[(['\"])((?:\\.|(?!\2).)*)\2\]|\.?([^.\[\]]+)")


@dataclass(frozen=True, slots=True)
class Rule:
    """`search_contacts` (whatever it answers), `search_contacts:contacts[].email` (that field), `value=bob` (that)."""

    tool: str = ""
    path: Path | None = None
    value: str | None = None

    @classmethod
    def read(cls, text: str) -> Rule:
        """The rule of one setting.

        Raises:
            InvalidConfig: it is none of the three forms; the message shows them.
        """
        if text.startswith(_VALUE) and text != _VALUE:
            return cls(value=text.removeprefix(_VALUE))
        tool, colon, rest = text.strip().partition(":")
        path = _path(rest) if colon else None
        if not tool or (colon and not path) or text.startswith(_VALUE):
            raise InvalidConfig(
                f"trust: {text!r} is no rule; write TOOL, TOOL:PATH such as search_contacts:contacts[].email,"
                " or value=TEXT."
            )
        return cls(tool=tool, path=path)

    def names(self, value: Json) -> bool:
        """Whether it is a rule for exactly this value; a number may be written in any form that means it."""
        if self.value is None:
            return False
        if isinstance(value, bool):
            return self.value == ("true" if value else "false")
        if isinstance(value, int | float):
            meant = number(self.value)
            return meant is not None and same(value) == ("number", meant)
        return isinstance(value, str) and self.value == value

    def is_of(self, call: ToolCall, tools: Toolbox) -> bool:
        """Whether the call is one of the tool that the rule trusts, by alias or by its own name."""
        known = tools.get(call.tool)
        return self.tool in (call.tool, known.protocol.name if known is not None else "")

    def given(self, call: ToolCall) -> frozenset[Same]:
        """The values in the call's response that the rule trusts.

        A rule for a whole tool trusts nothing that the call was given itself: a tool that repeats its arguments would
        make everything trusted.
        """
        if self.path is not None:
            found = [place.value for place in places(call.result, self.path) if place.missing is None]
            return frozenset(same(value) for value in found if not isinstance(value, list | dict))
        told = {same(value) for _, value in walk(call.arguments)}
        return frozenset({same(v) for _, v in walk(call.result) if not isinstance(v, list | dict)} - told)


class Trusted:
    """The rules of one run, asked about values; what a response holds is looked up once."""

    def __init__(self, rules: Iterable[str]) -> None:
        self._rules = tuple(map(Rule.read, rules))
        self._seen: dict[tuple[int, int], tuple[ToolCall, frozenset[Same]]] = {}

    def name(self, value: Json) -> bool:
        """Whether a rule is for this very value."""
        return any(rule.names(value) for rule in self._rules)

    def gave(self, value: Json, calls: Callable[[], Iterable[ToolCall]], tools: Toolbox) -> bool:
        """Whether a response of `calls` holds the value, unchanged, where a rule says."""
        rules = [(number, rule) for number, rule in enumerate(self._rules) if rule.tool]
        wanted = same(value)
        made = calls() if rules else ()
        return any(rule.is_of(call, tools) and wanted in self._of(n, rule, call) for call in made for n, rule in rules)

    def _of(self, number: int, rule: Rule, call: ToolCall) -> frozenset[Same]:
        known = self._seen.get((number, id(call)))
        if known is None or known[0] is not call:
            known = self._seen[number, id(call)] = (call, rule.given(call))
        return known[1]


def _path(text: str) -> Path:
    """The steps of `contacts[].email`, `rows[0]['full name']`; empty where the text is no path."""
    steps: list[object] = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            return ()
        position = match.end()
        index, _, quoted, key = match.groups()
        if key is not None:
            steps.append(key)
        elif quoted is not None:
            steps.append(re.sub(r"\\(.)", r"\1", quoted))
        else:
            steps.append(int(index) if index else EACH)
    return tuple(steps)  # type: ignore[arg-type]  # each of them is a step
