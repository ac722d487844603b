"""Decision of whether a value comes from the task or from something that the user trusts.

The user can trust all responses of a tool, one field of them, or a single value. The user can also
open one argument of a tool, which then accepts any value.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple

from atc.core.config import InvalidConfig
from atc.core.json_paths import EACH, JsonPath, find_places, format_json_path, walk
from atc.core.quoting import format_number
from atc.safety.taint.echo import ArgumentTexts
from atc.safety.taint.guesses import NAMES, Guesses
from atc.safety.taint.kinds import SENSITIVE
from atc.safety.taint.leaves import Leaf, SensitiveKind
from atc.safety.taint.values import (
    EqualityKey,
    currency,
    equality_key,
    has_currency,
    number,
    numbers,
    shares,
)
from protocols.errors import UnknownTool
from protocols.naming import closest_spellings, identifier
from protocols.schema import Json, parse_path
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall

_BLANK = r"\s\u00a0\u202f"
# An apostrophe within a word opens no quotation. `@ann` and `#general` are Ann and General, and
# `to:` is a label.
_BEFORE = (
    rf"""(?:\A|[{_BLANK}(\[{{<"“„«‹`—–|]|(?<!\w)(?:['‘’]|[@#](?=[^\W\d_]))|(?<!\d)[,;]|[,;](?!\d)"""
    rf"""|(?:\A|[\s(\[{{"'])[^\W\d]+[:=](?!/))"""
)
_AFTER = (
    rf"""(?=\Z|[{_BLANK})\]}}>"”“»›`—–|]|['’](?!\w)|['’]s\b|(?<!\d)[,;]|[,;](?!\d)"""
    r"""|[.!?:…]+(?:\Z|[\s)\]}>"'”’»]))"""
)
_NO_DIGITS_BEFORE = r"(?<!\d[ \u00a0\u202f])"
_NO_DIGITS_AFTER = r"(?![ \u00a0\u202f]\d)"
"""A number must not be a part of a longer one, whose digits are separated by spaces."""
_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|(?<!\w)'([^'\n]+)'(?!\w)")

_PLAIN = re.compile(r"-?(?!\d{1,3}\.\d{3}\Z)\d+(?:\.\d+)?")
"""A number that is unambiguous. `1.200` is not: in half of the world, it is 1200."""


def is_in_text(text: str, value: Json, kind: SensitiveKind) -> bool:
    """Return True if a text that a person wrote, such as the task, contains `value` as a whole.

    A text value must occur character by character, with word boundaries on both sides. A number
    must be written in digits. A command must not be a part of a longer command in quotation marks.
    A currency may be named by its sign or its name.
    """
    if isinstance(value, bool):
        return _has(_text(value), text.lower())
    if isinstance(value, int | float):
        return _has_number(text, value, kind)
    if not isinstance(value, str) or not value.strip():
        return False
    if kind == "amount":
        return _is_amount_of(text, value)
    if value.casefold() in NAMES["common_words"]:
        return False
    if kind == "command":
        quoted = [next(filter(None, match.groups())).strip() for match in _QUOTED.finditer(text)]
        return value in quoted or _has(value, _QUOTED.sub("\0", text))
    if kind == "unit" and (code := currency(value)) is not None and has_currency(text, code):
        return True
    return _has(value, text) or _has(value, " ".join(text.split()))  # with line breaks as spaces


def _has_number(text: str, value: float, kind: SensitiveKind) -> bool:
    """Return True if the text contains the number.

    An amount may be written in any usual form, such as `1,200.00`.
    """
    if kind not in ("amount", "unit"):
        return isinstance(value, int) and _has(format_number(value), text)
    amount = equality_key(value)[1]
    return amount in numbers(text) or amount in shares(text)


def _is_amount_of(text: str, value: str) -> bool:
    """Return True if the text contains the amount `value`, written in digits.

    An amount in words does not count, since it may be a part of a larger amount in words.
    """
    if (amount := number(value)) is None:
        return any(map(str.isdigit, value)) and _has(value, text)
    return amount in numbers(text) and (_has(value, text) or _PLAIN.fullmatch(value) is not None)


def _has(value: str, text: str) -> bool:
    """Return True if a text contains the value, but not as a part of a longer word or number."""
    if value not in text:
        return False
    before = _NO_DIGITS_BEFORE if value[0].isdigit() else ""
    after = _NO_DIGITS_AFTER if value[-1].isdigit() else ""
    return re.search(f"{_BEFORE}{before}{re.escape(value)}{after}{_AFTER}", text) is not None


# --- what the user trusts

_VALUE = "value="


class TrustRule(NamedTuple):
    """The parts of a rule that names a tool.

    A rule with an `argument` allows any value for this argument of `tool`. A rule without one
    trusts the responses of `tool`, or only the field `place` of them if there is a `place`.
    """

    tool: str
    place: str = ""
    argument: str = ""


def split_rule(rule: str, tools: Toolbox) -> TrustRule:
    """Return the parts of a rule that names one of `tools`: TOOL, TOOL:PATH or TOOL.ARGUMENT.

    The rule must not be ambiguous, see `explain_ambiguity`.
    """
    return _readings(rule, tools)[0]


def _readings(rule: str, tools: Toolbox) -> list[TrustRule]:
    """Return each way to read a rule that names a tool. The first one is that of the whole tool.

    There are two ways if the rule is the name of a tool, since that may contain a dot, and also
    names an argument of another tool.
    """
    name, colon, place = rule.strip().partition(":")
    tool, _, argument = name.rpartition(".")
    whole = TrustRule(name, place)
    if colon or not (tool and argument):
        return [whole]
    inner = TrustRule(tool, argument=argument)
    if not _is_known(name, tools):
        return [inner]
    has_argument = any(_has_argument(one, argument) for one in tools.find_all(tool))
    return [whole, inner] if has_argument else [whole]


def _is_known(name: str, tools: Toolbox) -> bool:
    return name in tools or bool(tools.find_all(name))


def _has_argument(tool: Tool, argument: str) -> bool:
    return argument in tool.arguments or argument in tool.protocol.parameters


def explain_ambiguity(rule: str, tools: Toolbox) -> str | None:
    """Return a sentence about a rule that can be read in two ways; None if there is only one.

    A source chooses the names of its tools. So the rule must not mean more than the user meant.
    """
    if rule.startswith(_VALUE) or len(readings := _readings(rule, tools)) == 1:
        return None
    meanings = []
    clear = []
    for _, _, argument in readings:
        name = rule.strip().removesuffix(f".{argument}") if argument else rule.strip()
        for tool in tools.find_all(name):
            named = f"the tool {tool.qualified!r}"
            meanings.append(f"the argument {argument!r} of {named}" if argument else named)
            clear += _clear_rules(tool, argument, tools)[:1]
    advice = f"write {' or '.join(clear)}" if clear else "rename one of them"
    return f"the rule {rule!r} may mean {' or '.join(meanings)}; {advice}."


def _clear_rules(tool: Tool, argument: str, tools: Toolbox) -> list[str]:
    """Return the rules that mean only this tool, or this argument of it."""
    in_source = identifier(f"{tool.source}_{tool.protocol.name}")
    names = [tool.qualified, in_source, tool.alias]
    rules = []
    for name in names:
        found = [one.qualified for one in tools.find_all(name)]
        rule = f"{name}.{argument}" if argument else name
        if found == [tool.qualified] and len(_readings(rule, tools)) == 1:
            rules.append(rule)
    return rules


def require_trusted_tools(rules: Iterable[str], tools: Toolbox) -> None:
    """Check that each rule that names a tool names one of `tools`, and can be read in one way.

    Raises:
        UnknownTool: there is no such tool. The error names the most similar ones.
        InvalidConfig: a rule can be read in two ways.
    """
    for rule in rules:
        if problem := explain_ambiguity(rule, tools):
            raise InvalidConfig(problem)
        if not rule.startswith(_VALUE) and not _is_known(split_rule(rule, tools).tool, tools):
            raise UnknownTool(rule.strip().partition(":")[0], list(tools))


class TrustRules:
    """The rules of one run about what the user trusts.

    A rule is `search_contacts` (all responses of this tool), `search_contacts:contacts[].email`
    (one field of them), `query.sql` (any value for this argument of this tool), or `value=bob`.
    A rule that can be read in two ways has no effect; `ambiguous` has a sentence about each. Each
    value in `given` counts as if a rule named it.

    Raises:
        InvalidConfig: a rule has none of these forms, names an argument that the tool lacks, or may
            mean more than one of the tools.
    """

    def __init__(self, rules: Iterable[str], tools: Toolbox, *, given: Json = None) -> None:
        self._values = {
            _text(value) for _, value in walk(given) if isinstance(value, str | int | float)
        }
        # Trusted paths in the responses of a tool, by its alias. An empty path means all.
        self._places: dict[str, list[JsonPath]] = {}
        self._open: set[tuple[str, str]] = set()
        """The arguments that accept any value: (alias of the tool, original name)."""
        self.ambiguous: list[str] = []
        for rule in rules:
            if problem := explain_ambiguity(rule, tools):
                self.ambiguous.append(problem)
                continue
            if rule.startswith(_VALUE) and rule != _VALUE:
                self._values.add(rule.removeprefix(_VALUE))
                continue
            name, place, argument = split_rule(rule, tools)
            path = _path(place)
            if not name or (":" in rule and not path) or rule == _VALUE:
                raise InvalidConfig(
                    f"trust: {rule!r} is no rule; write TOOL, TOOL:PATH such as"
                    " search_contacts:contacts[].email, TOOL.ARGUMENT such as query.sql, or"
                    " value=TEXT."
                )
            if (tool := find_named_tool(name, tools, setting="trust")) is None:
                continue
            if argument:
                self._open.add((tool.alias, _original_name(rule, tool, argument)))
            else:
                self._places.setdefault(tool.alias, []).append(path)

    def is_open(self, tool: Tool, leaf: Leaf) -> bool:
        """Return True if a rule allows any value for the argument that contains `leaf`.

        Such a rule covers commands and URLs anywhere in the argument. It covers a recipient or an
        amount only if this is the whole argument, and if the name or schema of the argument says
        that it is one, because the user then knew it when writing the rule. A recipient within an
        object or a text is not covered, and neither is a value that cannot be read (`opaque`),
        since it may hide one.
        """
        if (tool.alias, leaf.argument) not in self._open:
            return False
        if leaf.kind in ("command", "url"):
            return True
        if leaf.path or leaf.within is not None:
            return False
        schema = tool.protocol.parameters.get(leaf.argument, {})
        guesses = Guesses(tool.protocol, is_told_by_user=tool.told_by == "user")
        named = guesses.field_kind(leaf.argument, [schema])
        return leaf.kind in (schema.get(SENSITIVE), named)

    def is_trusted_value(self, value: Json) -> bool:
        """Return True if a rule names exactly this value, as `value=bob` does.

        A number may be written in any form, such as `1,200`.
        """
        if isinstance(value, int | float) and not isinstance(value, bool):
            return any(equality_key(value) == ("number", number(text)) for text in self._values)
        return isinstance(value, str | bool) and _text(value) in self._values

    def is_from_trusted_place(self, value: Json, calls: Callable[[], Iterable[ToolCall]]) -> bool:
        """Return True if one of the calls returned the value in a field that a rule trusts.

        A value that can be built from the arguments of the call does not count, since it may come
        from the program. Otherwise a tool that repeats its arguments would make every value clean.
        """
        wanted = equality_key(value)
        for call in calls() if self._places else ():
            paths = self._places.get(call.tool, ())
            is_trusted = any(wanted in _values_at(call, path) for path in paths)
            if is_trusted and not ArgumentTexts(call.arguments).can_build(value):
                return True
        return False

    def trusts_whole(self, alias: str) -> bool:
        """Return True if a rule trusts all that a tool returns."""
        return () in self._places.get(alias, ())

    def has_rule_for_place(self, call: ToolCall, value: Json) -> bool:
        """Return True if a rule trusts a field of this call's response that contains the value."""
        return any(
            equality_key(value) in _values_at(call, path)
            for path in self._places.get(call.tool, ())
        )


def _original_name(rule: str, tool: Tool, argument: str) -> str:
    """Return the original name of the argument for which a rule allows any value.

    Raises:
        InvalidConfig: the tool has no such argument.
    """
    if argument in tool.protocol.parameters:
        return argument
    if argument in tool.arguments:
        return tool.arguments[argument]
    near = closest_spellings(argument, list(tool.arguments))
    hint = (
        f"did you mean {near[0]!r}?" if near else f"it has {', '.join(tool.arguments) or 'none'}."
    )
    raise InvalidConfig(
        f"trust: {rule!r}: the tool {tool.alias!r} has no argument {argument!r}; {hint}"
    )


def _values_at(call: ToolCall, path: JsonPath) -> Iterator[EqualityKey]:
    """Yield the values at a path of a call's response; all of its values if the path is empty.

    Each is yielded as its `equality_key`.
    """
    if path:
        yield from (
            equality_key(place.value)
            for place in find_places(call.result, path)
            if place.missing is None
        )
    else:
        yield from (
            equality_key(value)
            for _, value in walk(call.result)
            if not isinstance(value, list | dict)
        )


def find_named_tool(name: str, tools: Toolbox, *, setting: str) -> Tool | None:
    """Return the tool that is named in the setting `setting`, or None if there is no such tool.

    Raises:
        InvalidConfig: several tools have the name, or it is an alias that may belong to another
            tool if the sources change.
    """
    found = tools.find_all(name)
    if len(found) == 1 or (not found and name not in tools):
        return found[0] if found else None
    listed = " or ".join(tool.qualified for tool in found or [tools[name]])
    problem = f"{len(found)} tools are named" if found else "other tools decide which one is named"
    raise InvalidConfig(f"{setting}: {problem} {name!r}; write {listed}.")


def _text(value: Json) -> str:
    """Return a value as text. Equal numbers, such as 2 and 2.0, have the same text."""
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    return whole if isinstance(whole, str) else format_number(whole)


def _path(place: str) -> JsonPath:
    """Return the steps of a path in a rule, such as `contacts[].email`.

    The result is empty if the text is not a path.
    """
    path = tuple(parse_path(place, each=EACH))
    return path if format_json_path(path) == place else ()
