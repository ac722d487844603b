"""The sources of clean values: the words of a person, or what the user trusts (a tool, a field, one value)."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from atc.core.config import InvalidConfig
from atc.core.json_paths import EACH, JsonPath, find_places, format_json_path, walk
from atc.core.quoting import format_number
from atc.safety.taint.echo import ArgumentTexts
from atc.safety.taint.guesses import NAMES
from atc.safety.taint.sensitive import SensitiveKind
from atc.safety.taint.values import (
    EqualityKey,
    currency,
    equality_key,
    has_currency,
    number,
    numbers,
    shares,
)
from protocols.schema import Json, parse_path
from protocols.toolbox import Tool, Toolbox
from sandbox.trace import ToolCall

_BLANK = r"\s\u00a0\u202f"
_BEFORE = (  # an apostrophe within a word opens nothing; `@ann` and `#general` are Ann and General; `to:` is a label
    rf"""(?:\A|[{_BLANK}(\[{{<"“„«‹`—–|]|(?<!\w)(?:['‘’]|[@#](?=[^\W\d_]))|(?<!\d)[,;]|[,;](?!\d)"""
    rf"""|(?:\A|[\s(\[{{"'])[^\W\d]+[:=](?!/))"""
)
_AFTER = rf"""(?=\Z|[{_BLANK})\]}}>"”“»›`—–|]|['’](?!\w)|['’]s\b|(?<!\d)[,;]|[,;](?!\d)|[.!?:…]+(?:\Z|[\s)\]}}>"'”’»]))"""
_NO_DIGITS_BEFORE = r"(?<!\d[ \u00a0\u202f])"
_NO_DIGITS_AFTER = r"(?![ \u00a0\u202f]\d)"
"""Groups of digits with blanks between them are one number."""
_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|(?<!\w)'([^'\n]+)'(?!\w)")

_PLAIN = re.compile(r"-?(?!\d{1,3}\.\d{3}\Z)\d+(?:\.\d+)?")
"""A number that nobody can read as another one: `1.200` is 1200 to half of the world."""


def is_in_text(text: str, value: Json, kind: SensitiveKind) -> bool:
    """Return True if `value` stands as a whole in the text of a person.

    A text must be there character by character, with a boundary of words on both sides. A number must be written there
    as a number, in digits. A command that is part of a quoted one is not there. A currency may be there by its sign or
    its name.
    """
    if isinstance(value, bool):
        return _has(_text(value), text.lower())
    if isinstance(value, int | float):
        whole = isinstance(value, int) and _has(format_number(value), text)
        if kind not in ("amount", "unit"):
            return whole
        return equality_key(value)[1] in numbers(text) or equality_key(value)[1] in shares(text)
    if not isinstance(value, str) or not value.strip():
        return False
    if kind == "amount":
        return _is_amount_of(text, value)
    if value.casefold() in NAMES["nobody"]:
        return False
    if kind == "command":
        quoted = [next(filter(None, match.groups())).strip() for match in _QUOTED.finditer(text)]
        return value in quoted or _has(value, _QUOTED.sub("\0", text))
    if kind == "unit" and (code := currency(value)) is not None and has_currency(text, code):
        return True
    return _has(value, text) or _has(value, " ".join(text.split()))  # a line break reads as a blank


def _is_amount_of(text: str, value: str) -> bool:
    """Return True if the text has the amount in digits. One in words may be a part of a longer one, so it is not."""
    if (meant := number(value)) is None:
        return any(map(str.isdigit, value)) and _has(value, text)
    return meant in numbers(text) and (_has(value, text) or _PLAIN.fullmatch(value) is not None)


def _has(value: str, text: str) -> bool:
    """Return True if the value stands in the text and is no part of anything longer."""
    if value not in text:
        return False
    before = _NO_DIGITS_BEFORE if value[0].isdigit() else ""
    after = _NO_DIGITS_AFTER if value[-1].isdigit() else ""
    return re.search(f"{_BEFORE}{before}{re.escape(value)}{after}{_AFTER}", text) is not None


# --- what the user trusts

_VALUE = "value="


class TrustRules:
    """The rules of one run, asked about values.

    A rule is `search_contacts` (whatever it answers), `search_contacts:contacts[].email` (that field), or `value=bob`.

    Raises:
        InvalidConfig: a rule is none of the three, or may mean more than one of the tools.
    """

    def __init__(self, rules: Iterable[str], tools: Toolbox) -> None:
        self._values: set[str] = set()
        self._places: dict[
            str, list[JsonPath]
        ] = {}  # where in what a tool, by alias, gives; empty for all of it
        for rule in rules:
            name, colon, place = rule.strip().partition(":")
            path = _path(place)
            if rule.startswith(_VALUE) and rule != _VALUE:
                self._values.add(rule.removeprefix(_VALUE))
            elif not name or (colon and not path) or rule == _VALUE:
                raise InvalidConfig(
                    f"trust: {rule!r} is no rule; write TOOL, TOOL:PATH such as search_contacts:contacts[].email,"
                    " or value=TEXT."
                )
            elif (tool := find_named_tool(name, tools, setting="trust")) is not None:
                self._places.setdefault(tool.alias, []).append(path)

    def is_trusted_value(self, value: Json) -> bool:
        """Return True if a rule is for exactly this value; a number may be written in any form that means it."""
        if isinstance(value, int | float) and not isinstance(value, bool):
            return any(equality_key(value) == ("number", number(text)) for text in self._values)
        return isinstance(value, str | bool) and _text(value) in self._values

    def is_from_trusted_place(self, value: Json, calls: Callable[[], Iterable[ToolCall]]) -> bool:
        """Return True if a response of `calls` holds the value, unchanged, where a rule says.

        A value that can be built from what the call was given is the program's, and not the tool's: a tool that repeats
        its arguments, or reads them, would make everything trusted.
        """
        made = calls() if self._places else ()
        wanted = equality_key(value)
        places = ((call, path) for call in made for path in self._places.get(call.tool, ()))
        return any(
            wanted in _values_at(call, path) and not ArgumentTexts(call.arguments).can_build(value)
            for call, path in places
        )

    def has_rule_for_place(self, call: ToolCall, value: Json) -> bool:
        """Return True if a rule is for the place of the value in this response; it was not enough."""
        return any(
            equality_key(value) in _values_at(call, path)
            for path in self._places.get(call.tool, ())
        )


def _values_at(call: ToolCall, path: JsonPath) -> Iterator[EqualityKey]:
    """Yield the values at a place of a response, or all of them."""
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
    """The tool that a setting means by `name`; None where none of `tools` has it.

    Raises:
        InvalidConfig: more than one has it, or it is an alias that another source would change.
    """
    found = tools.find_all(name)
    if len(found) == 1 or (not found and name not in tools):
        return found[0] if found else None
    listed = " or ".join(tool.qualified for tool in found or [tools[name]])
    problem = f"{len(found)} tools are named" if found else "other tools decide which one is named"
    raise InvalidConfig(f"{setting}: {problem} {name!r}; write {listed}.")


def _text(value: Json) -> str:
    """Return a text as it is; of a number one spelling, however it was written."""
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    return whole if isinstance(whole, str) else format_number(whole)


def _path(place: str) -> JsonPath:
    """Return the steps of `contacts[].email`, `rows[0]["a.b"]`; empty where the text is no path."""
    path = tuple(parse_path(place, each=EACH))
    return path if format_json_path(path) == place else ()
