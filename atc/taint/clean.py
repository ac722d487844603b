"""Where a clean value comes from: the words of a person, or what the user trusts (a tool, a field, one value)."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property

from atc.config import InvalidConfig
from atc.paths import EACH, Path, Step, places, walk
from atc.taint.framed import decoded
from atc.taint.sensitive import NAMES, Sensitivity
from atc.taint.values import Same, number, numbers, plain, same
from protocols.jsontypes import Json
from protocols.toolbox import Tool, Toolbox
from sandbox.trace import ToolCall

_BLANK = r"\s\u00a0\u202f"
_BEFORE = (  # an apostrophe within a word opens nothing; `@ann` and `#general` are Ann and General; `to:` is a label
    rf"""(?:\A|[{_BLANK}(\[{{<"“„«‹`—–|]|(?<!\w)(?:['‘’]|[@#](?=[^\W\d_]))|(?<!\d)[,;]|[,;](?!\d)"""
    rf"""|(?:\A|[\s(\[{{"'])[^\W\d]+[:=](?!/))"""
)
_AFTER = (
    rf"""(?=\Z|[{_BLANK})\]}}>"”“»›`—–|]|['’](?!\w)|['’]s\b|(?<!\d)[,;]|[,;](?!\d)|[.!?:…]+(?:\Z|[\s)\]}}>"'”’»]))"""
)
_NO_DIGITS_BEFORE, _NO_DIGITS_AFTER = r"(?<!\d[ \u00a0\u202f])", r"(?![ \u00a0\u202f]\d)"
"""Groups of digits with blanks between them are one number."""
_QUOTED = re.compile(r"`([^`\n]+)`|\"([^\"\n]+)\"|“([^”\n]+)”|(?<!\w)'([^'\n]+)'(?!\w)")


class Words:
    """The text of a person, asked whether a value stands in it."""

    def __init__(self, text: str) -> None:
        self.text = text

    def hold(self, value: Json, kind: Sensitivity) -> bool:
        """Whether `value` stands in the text as a whole.

        A text must be there character by character, with a boundary of words on both sides. A number must be written
        there as a number. A command that is part of a quoted one is not there.
        """
        if isinstance(value, bool):
            return _has("true" if value else "false", self.text.lower())
        if isinstance(value, int | float):
            if kind == "amount":
                return same(value)[1] in self._numbers
            return isinstance(value, int) and _has(plain(value), self.text)
        if not isinstance(value, str) or not value.strip():
            return False
        if kind == "amount":
            return _has(value, self.text) or (_is_plain(value) and number(value) in self._numbers)
        if value.casefold() in NAMES["nobody"]:
            return False
        if kind == "command":
            quoted = [next(filter(None, match.groups())).strip() for match in _QUOTED.finditer(self.text)]
            return value in quoted or _has(value, _QUOTED.sub("\0", self.text))
        return _has(value, self.text) or _has(value, " ".join(self.text.split()))  # a line break reads as a blank

    @cached_property
    def _numbers(self) -> frozenset[Decimal]:
        return numbers(self.text)


def _has(value: str, text: str) -> bool:
    """Whether the value stands in the text and is no part of anything longer."""
    if value not in text:
        return False
    before = _NO_DIGITS_BEFORE if value[0].isdigit() else ""
    after = _NO_DIGITS_AFTER if value[-1].isdigit() else ""
    return re.search(f"{_BEFORE}{before}{re.escape(value)}{after}{_AFTER}", text) is not None


def _is_plain(text: str) -> bool:
    """Whether a number is written so that nobody can read another one: `1.200` is 1200 to half of the world."""
    return re.fullmatch(r"-?\d+(?:\.\d+)?", text) is not None and re.fullmatch(r"-?\d{1,3}\.\d{3}", text) is None


# --- what the user trusts

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

    def given(self, call: ToolCall) -> frozenset[Same]:
        """The values in the call's response that the rule trusts.

        A rule for a whole tool trusts nothing that is made of words which the call was given itself, whatever text or
        encoding they stood in: a tool that repeats its arguments, or reads them as JSON, would make everything trusted.
        """
        if self.path is not None:
            found = [place.value for place in places(call.result, self.path) if place.missing is None]
            return frozenset(same(value) for value in found if not isinstance(value, list | dict))
        given = [
            inner for _, value in walk(call.arguments) for inner in (value if isinstance(value, dict) else [value])
        ]
        texts = [_text(inner) for inner in given if not isinstance(inner, list | dict)]
        told = {word for text in texts for form in decoded(text) for word in _words(form)}
        leaves = (value for _, value in walk(call.result) if not isinstance(value, list | dict))
        return frozenset(same(value) for value in leaves if not told.issuperset(_words(_text(value))))


def tool_named(name: str, tools: Toolbox, *, setting: str) -> Tool | None:
    """The tool that a setting means by `name`; None where none of `tools` has it.

    Raises:
        InvalidConfig: more than one has it, or it is an alias that another source would change.
    """
    found = tools.meant(name)
    if len(found) == 1 or (not found and name not in tools):
        return found[0] if found else None
    listed = " or ".join(tool.qualified for tool in found or [tools[name]])
    problem = f"{len(found)} tools are named" if found else "other tools decide which one is named"
    raise InvalidConfig(f"{setting}: {problem} {name!r}; write {listed}.")


class Trusted:
    """The rules of one run, asked about values; what a response holds is looked up once."""

    def __init__(self, rules: Iterable[str]) -> None:
        self._rules = tuple(map(Rule.read, rules))
        self._by_alias: list[tuple[str, Rule]] = []
        self._seen: dict[tuple[Rule, int], tuple[ToolCall, frozenset[Same]]] = {}

    def name(self, value: Json) -> bool:
        """Whether a rule is for this very value."""
        return any(rule.names(value) for rule in self._rules)

    def over(self, tools: Toolbox) -> None:
        """Work with these tools, among which each rule means one at most.

        Raises:
            InvalidConfig: a rule may mean more than one of them.
        """
        named = [(rule, tool_named(rule.tool, tools, setting="trust")) for rule in self._rules]
        self._by_alias = [(tool.alias, rule) for rule, tool in named if tool is not None]

    def gave(self, value: Json, calls: Callable[[], Iterable[ToolCall]]) -> bool:
        """Whether a response of `calls` holds the value, unchanged, where a rule says."""
        made = calls() if self._by_alias else ()
        return any(
            same(value) in self._given(rule, call)
            for call in made
            for alias, rule in self._by_alias
            if alias == call.tool
        )

    def _given(self, rule: Rule, call: ToolCall) -> frozenset[Same]:
        known = self._seen.get((rule, id(call)))
        if known is None or known[0] is not call:
            known = self._seen[rule, id(call)] = (call, rule.given(call))
        return known[1]


def _words(text: str) -> list[str]:
    """Runs of letters and digits, in one spelling for compatibility forms and letter case."""
    return re.findall(r"[^\W_]+", unicodedata.normalize("NFKC", text).casefold())


def _text(value: Json) -> str:
    """A text as it is; of a number one spelling, however it was written."""
    whole = int(value) if isinstance(value, float) and value.is_integer() else value
    return whole if isinstance(whole, str) else plain(whole)


def _path(text: str) -> Path:
    """The steps of `contacts[].email`, `rows[0]['full name']`; empty where the text is no path."""
    steps: list[Step] = []
    position = 0
    while position < len(text):
        match = _STEP.match(text, position)
        if match is None:
            return ()
        position = match.end()
        index, _, quoted, key = match.groups()
        if index is not None:
            steps.append(int(index) if index else EACH)
        else:
            steps.append(key if key is not None else re.sub(r"\\(.)", r"\1", quoted))
    return tuple(steps)
