"""A check of the values of sensitive arguments: each must come, as a whole, from the task, a trusted tool or a person.

Nothing is followed through a program: a value is clean for what it is and where it stands, so that no transformation
launders it. docs/how/security.md says what that sees and what it does not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from atc.core.json_paths import EACH, JsonPath, format_json_path, generalize, walk_responses
from atc.core.quoting import format_number, quote_name, quoted, safe_shell_argument
from atc.safety.taint.guesses import is_email, is_page_token
from atc.safety.taint.opaque import may_be_id
from atc.safety.taint.sensitive import Leaf, sensitive_leaves
from atc.safety.taint.trusted import TrustRules, is_in_text
from atc.safety.taint.values import EqualityKey, equality_key, parse_url_host
from protocols.protocol import dump
from protocols.python_source import parse_python_or_none
from protocols.schema import Json, JsonObject, iter_parts
from protocols.toolbox import Tool, Toolbox
from sandbox.trace import ToolCall

__all__ = ["Taint", "TaintedValue"]

_SHORTEST_PART = 4
"""Characters from which a text that stands within another one tells something."""
_MOST_SEARCHED = 20
"""Values of a call that are looked for within texts; of a call with more, nobody reads all the reasons."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaintedValue(Leaf):
    """A value of a sensitive argument that is not known to be clean."""

    origin: str
    """Where it came from, as part of a sentence."""
    rules: tuple[str, ...]
    """What `--trust` would have to be given to let it pass, the narrowest first, quoted for a shell."""

    def __str__(self) -> str:
        """Return a sentence that is safe to show: which argument, its value and where that came from."""
        host = (
            parse_url_host(self.value)
            if self.kind == "url" and isinstance(self.value, str)
            else None
        )
        leads = f", which leads to {quoted(host)}," if host else ""
        given = f"argument {quoted(self.place)} = {quoted(self.value)}"
        return f"{given}{leads} is not known to come from you: {self.origin}"


class Taint:
    """The check of the values of one run; `calls` gives its completed calls.

    A value is clean where it stands in the task as a whole, is named by a rule, equals what a rule trusts in a
    response, or was agreed to before for the same argument. A list of e-mail addresses in one text is clean where each
    of them is. Texts that a program wrote out before there was any tool output count too, but only where the tools are
    functions of the user's own without a word of description: nobody but the user has then said anything to the model.

    Raises:
        InvalidConfig: a rule is none, or may mean more than one of `tools`.
    """

    def __init__(
        self,
        task: str,
        tools: Toolbox,
        *,
        rules: Iterable[str],
        calls: Callable[[], Sequence[ToolCall]],
    ) -> None:
        self._task = task
        self._tools = tools
        self._calls = calls
        self._trusted = TrustRules(rules, tools)
        self._written: set[str] = set()
        self._agreed: set[tuple[str, str, EqualityKey]] = set()

    def begin_program(self, source: str, *, blind: bool) -> None:
        """A program is about to run. `blind`: whoever wrote it had seen no tool output."""
        if blind and not any(map(_has_foreign_description, self._tools.values())):
            constants = [
                node
                for node in ast.walk(parse_python_or_none(source) or ast.Module([], []))
                if isinstance(node, ast.Constant)
            ]
            self._written |= {node.value for node in constants if isinstance(node.value, str)}

    def find_tainted(self, tool: Tool, arguments: JsonObject) -> tuple[TaintedValue, ...]:
        """The values of a call that ask; `arguments` by original name."""
        leaves = [
            leaf
            for leaf in sensitive_leaves(tool.protocol, arguments)
            if not self._is_surely_clean(tool, leaf)
        ]
        found = (
            walk_responses(reversed(self._calls())) if leaves else ()
        )  # the latest response first
        seen = [
            (call, path, inner) for call, path, inner in found if not isinstance(inner, list | dict)
        ]
        places = {equality_key(inner): (call, path) for call, path, inner in reversed(seen)}
        texts = [
            (call, path, inner.casefold()) for call, path, inner in seen if isinstance(inner, str)
        ]
        return tuple(
            self._make_tainted(leaf, places, texts if number < _MOST_SEARCHED else ())
            for number, leaf in enumerate(leaves)
        )

    def sibling_values(self, one: TaintedValue) -> list[Json]:
        """The other values at the place of the response that a whole argument came from, where it is an item's."""
        if one.path or one.within is not None:
            return []
        seen = [
            (call, generalize(path), inner)
            for call, path, inner in walk_responses(reversed(self._calls()))
        ]
        came = next(
            (made for made in seen if equality_key(made[2]) == equality_key(one.value)), None
        )
        if came is None or EACH not in came[1]:
            return []
        there = [inner for call, path, inner in seen if call is came[0] and path == came[1]]
        values = {
            equality_key(inner): inner for inner in there if isinstance(inner, str | int | float)
        }
        return [inner for key, inner in values.items() if key != equality_key(one.value)]

    def has_sensitive_values(self, tool: Tool, arguments: JsonObject) -> bool:
        """Return True if a call has sensitive values, clean or not."""
        return bool(list(sensitive_leaves(tool.protocol, arguments)))

    def agree(self, tool: Tool, tainted: Iterable[TaintedValue]) -> None:
        """A person has agreed to these values for these arguments; they are not asked about again."""
        self._agreed |= {(tool.alias, one.argument, equality_key(one.value)) for one in tainted}

    def _is_surely_clean(self, tool: Tool, leaf: Leaf) -> bool:
        try:
            return self._is_clean(tool, leaf)
        except Exception:  # noqa: BLE001 - what cannot be judged is judged to need a person
            return False

    def _is_clean(self, tool: Tool, leaf: Leaf) -> bool:
        value = leaf.value
        if (
            (tool.alias, leaf.argument, equality_key(value)) in self._agreed
            or not self._written.isdisjoint(
                text for text in (value, leaf.within) if isinstance(text, str)
            )
            or self._trusted.is_trusted_value(value)
            or is_in_text(self._task, value, leaf.kind)
            or self._trusted.is_from_trusted_place(value, self._calls)
            or (leaf.kind == "opaque" and self._is_known_id(leaf))
        ):
            return True
        parts = (
            re.split(r"[,;] *", value)
            if leaf.kind == "recipient" and isinstance(value, str)
            else []
        )
        return len(parts) > 1 and all(
            is_email(one) and self._is_clean(tool, replace(leaf, value=one)) for one in parts
        )

    def _is_known_id(self, leaf: Leaf) -> bool:
        """Return True if a response has the text as it is, and it is as short as an id, or says where a page begins."""
        value = leaf.value
        names = [step for step in (leaf.argument, *leaf.path) if isinstance(step, str)]
        if not isinstance(value, str) or not (may_be_id(value) or is_page_token(names[-1])):
            return False
        return any(inner == value for _, _, inner in walk_responses(self._calls()))

    def _make_tainted(
        self,
        leaf: Leaf,
        places: Mapping[EqualityKey, tuple[ToolCall, JsonPath]],
        texts: Iterable[tuple[ToolCall, JsonPath, str]],
    ) -> TaintedValue:
        """The leaf with where it came from: a response that has it (`places`), or a text that it is a part of."""
        value = leaf.value if isinstance(leaf.value, str) else format_number(leaf.value)
        rules = [safe_shell_argument(f"value={value}")]
        origin = "the model wrote it, or the program computed it"
        if (found := places.get(equality_key(leaf.value))) is not None:
            call, path = found
            where = format_json_path(generalize(path))
            tool = self._tools.get(call.tool)
            named = self._tools.shortest_name(tool) if tool is not None else call.tool
            origin = f"it equals {_field(call, path)}"
            if self._trusted.has_rule_for_place(call, leaf.value):
                origin += ", which could be built from the arguments of that call"
            else:
                rules.append(safe_shell_argument(f"{named}:{where}" if where else named))
        elif len(value) >= _SHORTEST_PART:
            parts = (_field(call, path) for call, path, held in texts if value.casefold() in held)
            origin = next((f"it is a part of {field}" for field in parts), origin)
        known = {field.name: getattr(leaf, field.name) for field in fields(leaf)}
        return TaintedValue(
            **known, origin=origin, rules=tuple(rule for rule in rules if rule is not None)
        )


def _field(call: ToolCall, path: JsonPath) -> str:
    """Return a place in a response, as words of a sentence."""
    return f"{quote_name(format_json_path(path)) if path else 'the whole'} in the response of {quote_name(call.tool)}"


def _has_foreign_description(tool: Tool) -> bool:
    """Return True if the model read a document of somebody else, or any text but names, about the tool."""
    held = (
        inner
        for part in iter_parts(dump(tool.protocol))
        for inner in (part if isinstance(part, dict) else [part])
    )
    return bool(tool.source) or any(
        isinstance(one, str) and not re.fullmatch(r"[\w-]*", one) for one in held
    )
