"""The check of sensitive argument values before a call is sent.

A sensitive argument decides, for example, who receives a message or how much is paid. Each of its
values must come, as a whole, from the task, from a tool that the user trusts, or from a person.
Such a value is called clean. Any other value is called tainted, and a person is asked about it.

Values are not followed through the program. Only the value itself is compared with the task and the
recorded responses, so no transformation in a program can make a value clean. docs/how/security.md
describes what this check finds and what it does not.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace

from atc.core.json_paths import JsonPath, format_json_path, generalize, walk_responses
from atc.core.program import Program
from atc.core.quoting import format_number, quote_name, quoted, safe_shell_argument
from atc.safety.taint.contacts import is_email
from atc.safety.taint.files import (
    PassedFile,
    calls_that_returned,
    describe_origin,
    iter_passed_files,
    without_files,
)
from atc.safety.taint.guesses import is_page_token
from atc.safety.taint.leaves import Leaf, SensitiveKind
from atc.safety.taint.opaque import may_be_id
from atc.safety.taint.sensitive import sensitive_leaves
from atc.safety.taint.siblings import sibling_arguments
from atc.safety.taint.trusted import TrustRules, is_in_text
from atc.safety.taint.values import EqualityKey, equality_key, parse_url_host
from protocols.protocol import dump
from protocols.schema import Json, JsonObject, iter_parts
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall

__all__ = ["Taint", "TaintedValue", "find_sensitive"]

_SHORTEST_PART = 4
"""A shorter text is not searched for within other texts, since it would be found by chance."""
_MOST_SEARCHED = 20
"""Maximum number of values of one call that are searched for within texts, to explain their origin.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class TaintedValue(Leaf):
    """A value of a sensitive argument that may come from another source than the user."""

    origin: str
    """Where the value came from, for a sentence: "it equals `id` in the response of `search`"."""
    rules: tuple[str, ...]
    """Values of the option `--trust` that would make this value clean, quoted for a shell. The one
    that trusts the least comes first.
    """

    def __str__(self) -> str:
        """Return a sentence with the argument, its value and the value's origin.

        Names and values in the sentence are quoted, so that it is safe to display.
        """
        host = (
            parse_url_host(self.value)
            if self.kind == "url" and isinstance(self.value, str)
            else None
        )
        leads = f", which leads to {quoted(host)}," if host else ""
        argument = f"argument {quoted(self.place)} = {quoted(self.value)}"
        return f"{argument}{leads} is not known to come from you: {self.origin}"


def find_sensitive(tool: Tool, arguments: JsonObject) -> list[Leaf]:
    """Return the sensitive values of a call; see `sensitive_leaves`."""
    return sensitive_leaves(tool.protocol, arguments, is_told_by_user=tool.told_by == "user")


class Taint:
    """Finds the tainted values in the calls of one run. `calls` returns the completed calls.

    A value is clean if the task contains it as a whole, it is one of the values in `given` (which
    the user gave to the program), a rule of `rules` names it or opens its argument, a response
    contains it at a position that a rule trusts, or a person has agreed to it for the same
    argument. A text with several e-mail addresses is clean if each address is.

    Texts in a program are clean, too, if the program was written before any tool output existed,
    and all tools are functions of the user without a description. Then the model has read only the
    user's words.

    Raises:
        InvalidConfig: a rule is malformed, or may mean more than one of `tools`.
    """

    def __init__(
        self,
        task: str,
        tools: Toolbox,
        *,
        rules: Iterable[str],
        calls: Callable[[], Sequence[ToolCall]],
        given: Json = None,
    ) -> None:
        self._task = task
        self._tools = tools
        self._calls = calls
        self._trusted = TrustRules(rules, tools, given=given)
        self._written: set[str] = set()
        self._agreed: set[tuple[str, str, EqualityKey]] = set()

    @property
    def ambiguous_rules(self) -> Sequence[str]:
        """Sentences about the rules that have no effect, since they can be read in two ways."""
        return self._trusted.ambiguous

    def begin_program(self, program: Program, *, blind: bool) -> None:
        """Prepare for the next program.

        `blind` is True if the model had seen no tool output when it wrote the program.
        """
        if not blind or any(map(_has_foreign_description, self._tools.values())):
            return
        constants = [node for node in ast.walk(program.tree) if isinstance(node, ast.Constant)]
        self._written |= {node.value for node in constants if isinstance(node.value, str)}

    def find_tainted(self, tool: Tool, arguments: JsonObject) -> tuple[TaintedValue, ...]:
        """Return the tainted values of a call. `arguments` are keyed by their original names."""
        files = tuple(self._find_tainted_files(tool, arguments))
        leaves = [
            leaf
            for leaf in find_sensitive(tool, without_files(arguments))
            if not self._is_surely_clean(tool, leaf)
        ]
        if not leaves:
            return files
        values = self._response_values()
        scalars = [found for found in values if not isinstance(found[2], list | dict)]
        # Reversed, so that the latest response wins.
        places = {equality_key(value): (call, path) for call, path, value in reversed(scalars)}
        texts = [
            (call, path, value.casefold())
            for call, path, value in scalars
            if isinstance(value, str)
        ]
        return files + tuple(
            self._make_tainted(leaf, places, texts if number < _MOST_SEARCHED else ())
            for number, leaf in enumerate(leaves)
        )

    def _find_tainted_files(self, tool: Tool, arguments: JsonObject) -> Iterator[TaintedValue]:
        """Yield the files of a call whose content has a tainted value, or cannot be judged."""
        for passed in iter_passed_files(arguments):
            calls = calls_that_returned(passed.file.info, self._calls())
            if any(self._trusted.trusts_whole(call.tool) for call in calls):
                continue
            kind = self._tainted_kind(tool, passed)
            leaf = Leaf(
                argument=passed.argument,
                path=passed.path,
                value=passed.label,
                kind=kind or "opaque",
            )
            if kind is None or self._is_surely_clean(tool, leaf):
                continue
            rules = [self._rule_for_place(call, ()) for call in calls[:1]]
            known = {field.name: getattr(leaf, field.name) for field in fields(leaf)}
            yield TaintedValue(
                **known,
                origin=describe_origin(calls),
                rules=tuple(rule for rule in rules if rule is not None),
            )

    def _tainted_kind(self, tool: Tool, passed: PassedFile) -> SensitiveKind | None:
        """Return the kind of the first tainted value in a file, or None if it has none."""
        if (text := passed.text) is None:
            is_readable = passed.is_for_people or not tool.protocol.writes
            return None if is_readable else "opaque"
        found = find_sensitive(tool, {passed.argument: text})
        unclean = (leaf.kind for leaf in found if not self._is_surely_clean(tool, leaf))
        return next(unclean, None)

    def _response_values(self) -> list[tuple[ToolCall, JsonPath, Json]]:
        """Return each value in the responses of the run, with its call and its path.

        Values of the latest response come first.
        """
        return list(walk_responses(reversed(self._calls())))

    def sibling_arguments(
        self, tainted: Sequence[TaintedValue], arguments: JsonObject
    ) -> list[dict[str, Json]]:
        """Return the arguments of further calls that a program probably makes besides this one.

        If its tainted values came from an item of a list in a response, they are the same arguments
        with the values of each other item. The result is empty if the values came from elsewhere.
        """
        return list(sibling_arguments(tainted, arguments, self._response_values()))

    def has_sensitive_values(self, tool: Tool, arguments: JsonObject) -> bool:
        """Return True if a call has sensitive values, whether clean or tainted."""
        plain = find_sensitive(tool, without_files(arguments))
        return bool(plain) or any(
            self._tainted_kind(tool, passed) for passed in iter_passed_files(arguments)
        )

    def agree(self, tool: Tool, tainted: Iterable[TaintedValue]) -> None:
        """Record that a person agreed to these values for these arguments.

        From now on, the values are clean in these arguments.
        """
        self._agreed |= {(tool.alias, one.argument, equality_key(one.value)) for one in tainted}

    def _is_surely_clean(self, tool: Tool, leaf: Leaf) -> bool:
        """Return True if the sensitive value `leaf` of a call is certainly clean.

        Return False if it is tainted, or if the check itself fails with an exception.
        """
        try:
            return self._is_clean(tool, leaf)
        except Exception:  # noqa: BLE001 - a person decides what cannot be judged
            return False

    def _is_clean(self, tool: Tool, leaf: Leaf) -> bool:
        """Return True if the sensitive value `leaf` of a call is clean.

        The docstring of `Taint` says which values are clean.
        """
        value = leaf.value
        if (tool.alias, leaf.argument, equality_key(value)) in self._agreed:
            return True
        texts = [text for text in (value, leaf.within) if isinstance(text, str)]
        if not self._written.isdisjoint(texts):
            return True
        if (
            self._trusted.is_open(tool, leaf)
            or self._trusted.is_trusted_value(value)
            or is_in_text(self._task, value, leaf.kind)
            or self._trusted.is_from_trusted_place(value, self._calls)
            or (leaf.kind == "opaque" and self._is_known_id(leaf))
        ):
            return True
        if leaf.kind != "recipient" or not isinstance(value, str):
            return False
        addresses = re.split(r"[,;] *", value)
        return len(addresses) > 1 and all(
            is_email(one) and self._is_clean(tool, replace(leaf, value=one)) for one in addresses
        )

    def _is_known_id(self, leaf: Leaf) -> bool:
        """Return True if an opaque text is an id or page token that a tool has returned.

        A response must contain exactly this text.
        """
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
        """Return the sensitive value `leaf` of a call as a tainted value, with its origin.

        `places` has the values in responses, each with its call and path. `texts` are the texts in
        responses, in lower case; the value may be a part of one of them.
        """
        value = leaf.value if isinstance(leaf.value, str) else format_number(leaf.value)
        rules = [safe_shell_argument(f"value={value}")]
        origin = "the program has it as a literal, or computed it"
        if (found := places.get(equality_key(leaf.value))) is not None:
            call, path = found
            origin = f"it equals {_field(call, path)}"
            if self._trusted.has_rule_for_place(call, leaf.value):
                origin += ", which could be built from the arguments of that call"
            else:
                rules.append(self._rule_for_place(call, path))
        elif len(value) >= _SHORTEST_PART:
            folded = value.casefold()
            around = (_field(call, path) for call, path, text in texts if folded in text)
            origin = next((f"it is a part of {field}" for field in around), origin)
        known = {field.name: getattr(leaf, field.name) for field in fields(leaf)}
        return TaintedValue(
            **known, origin=origin, rules=tuple(rule for rule in rules if rule is not None)
        )

    def _rule_for_place(self, call: ToolCall, path: JsonPath) -> str | None:
        """Return the trust rule for a field of a tool's responses, quoted for a shell.

        The result is None if the rule cannot be quoted safely.
        """
        tool = self._tools.get(call.tool)
        name = self._tools.shortest_name(tool) if tool is not None else call.tool
        where = format_json_path(generalize(path))
        return safe_shell_argument(f"{name}:{where}" if where else name)


def _field(call: ToolCall, path: JsonPath) -> str:
    """Return a position in a response as words: "`id` in the response of `search`"."""
    place = quote_name(format_json_path(path)) if path else "the whole"
    return f"{place} in the response of {quote_name(call.tool)}"


def _has_foreign_description(tool: Tool) -> bool:
    """Return True if the model may have read words about the tool that are not the user's.

    That is so if the tool comes from a document, or its definition has any text besides names.
    """
    if tool.source:
        return True
    texts = (
        inner
        for part in iter_parts(dump(tool.protocol))
        for inner in (part if isinstance(part, dict) else [part])
        if isinstance(inner, str)
    )
    return any(not re.fullmatch(r"[\w-]*", text) for text in texts)
