"""Builds grammars of tool calls in Lark, as llguidance reads it (section 3 of ToolDec's paper).

A grammar describes the text before a call, the trigger, the tool's name and the arguments. The same
grammar works in llguidance's Python package (`matcher.py`) and in a llama.cpp, vLLM or SGLang
server that includes llguidance. Each argument has a `%json` rule with its own schema, so that
arguments may be written in any order.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal

from atc.models.decode.bound_schema import BOUNDS, Bounds, json_text
from atc.models.decode.errors import Undecodable
from atc.models.decode.formats import ArgumentForm, CallFormat
from atc.models.decode.lark_syntax import (
    escape_regex,
    names_pattern,
    quote,
)
from atc.models.decode.schema import (
    GrammarArgument,
    GrammarArguments,
    arguments_of,
    require_llguidance,
)
from protocols.tool import Tool
from protocols.toolbox import Toolbox

if TYPE_CHECKING:
    from llguidance import LLMatcher, LLTokenizer

HEADER = "%llguidance {}\n"
"""The first line of a grammar. It tells a llama.cpp server that the grammar is for llguidance."""
_FREE = '%llguidance {"no_forcing": true}\n'
"""The first line of a grammar for a matcher in this process. Without `no_forcing`, a text that the
grammar prescribes could be written in one tokenization only.
"""
_FUEL = 4_000_000
"""llguidance's limit on the work to compute which tokens may come next. Ordinary grammars need up
to 400,000.
"""
_MOST_UNORDERED = 60
"""Maximum number of arguments that may be written in any order. llguidance uses one of 64 bits for
each.
"""
_INTEGER = "-?(0|[1-9][0-9]{0,18})"
_NUMBER = rf"{_INTEGER}(\.[0-9]{{1,20}})?([eE][+-]?[0-9]{{1,2}})?"
_QUOTIENT = rf"{_NUMBER}(\/[1-9][0-9]{{0,14}}(\.[0-9]{{1,15}})?)?"
"""A number or a fraction such as `4/3`, which FuncQA uses."""
_COMMA = "/, ?/"
"""Pattern of the comma between arguments or items as in Python, with or without a space."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """The text that a model writes before a call.

    It is `start`, then at most `characters` characters, then `until`. The characters in between do
    not include the first one of `until`.
    """

    start: str
    characters: int
    until: str


def lead_of(form: CallFormat, *, thought: bool, characters: int) -> Lead | None:
    """Return the rules for the text that a model writes before a call in this format.

    If `thought` is True, the text is a thought of one line. Otherwise it is any text up to the
    format's trigger, which begins a call. It has at most `characters` characters. Return None if
    the reply must begin with a call.
    """
    if thought:
        return Lead(start="Thought: ", characters=characters, until="\n")
    return Lead(start="", characters=characters, until=form.trigger) if form.trigger else None


@dataclass(frozen=True, slots=True)
class Grammar:
    """The text of a grammar in Lark.

    `unenforced` are the clauses of the tools' schemas that the grammar does not enforce.
    """

    text: str
    unenforced: tuple[str, ...] = ()


def call_grammar(
    tools: Toolbox, form: CallFormat, lead: Lead | None = None, bounds: Bounds = BOUNDS
) -> Grammar:
    """Build a grammar for a reply with exactly one call of any of `tools`.

    `lead` describes the text before the call. If it is None, the reply begins with the call.

    Raises:
        Undecodable: there are no tools, or no value fits a required argument.
    """
    rules = _Rules(form, bounds)
    return rules.grammar(f"{rules.lead(lead)} call", tools)


def text_grammar(tools: Toolbox, form: CallFormat, bounds: Bounds = BOUNDS) -> Grammar:
    """Build a grammar for text with any number of calls.

    Each call begins with the trigger of the format `form`, a text such as `<T>`.

    Raises:
        Undecodable: there are no tools, or no value fits a required argument.
    """
    rules = _Rules(form, bounds)
    rules.text_before(form.trigger)
    return rules.grammar(f"(text call)* {rules.tail()}", tools)


def names_grammar(
    tools: Iterable[str], form: CallFormat, lead: Lead | None = None, *, text: bool = False
) -> Grammar:
    """Build the grammar of the first of two requests: a call up to the beginning of its arguments.

    With many tools, the model first chooses a tool, and then writes the arguments (see
    `arguments_grammar`). The reply ends with `form.between`, which distinguishes `max(` from
    `maximum(`. If `text` is True, any text may come before the call, and a text without a call is
    allowed, too.

    Raises:
        Undecodable: there are no tools.
    """
    rules = _Rules(form, BOUNDS)
    head = f"{quote(form.before)} /{names_pattern(tools)}/ {quote(form.between)}"
    if text:
        rules.text_before(form.trigger)
        return Grammar(rules.text(f"text {head} | {rules.tail()}"))
    return Grammar(rules.text(f"{rules.lead(lead)} {head}"))


def arguments_grammar(
    tool: Tool, form: CallFormat, bounds: Bounds = BOUNDS, *, head: str = ""
) -> Grammar:
    """Build the grammar of the second of two requests: the arguments of the tool that was chosen.

    The reply consists of the text `head`, the arguments and the end of the call.

    Raises:
        Undecodable: no value fits a required argument.
    """
    rules = _Rules(form, bounds)
    body = rules.arguments(tool, "a")
    return Grammar(rules.text(f"{quote(head)} {body} {quote(form.after)}"), tuple(rules.unheld))


class _Rules:
    """Collects the rules of one grammar. Values with the same schema share a rule."""

    def __init__(self, form: CallFormat, bounds: Bounds) -> None:
        self._form = form
        self._bounds = bounds
        self._lines: list[str] = []
        self._values: dict[str, str] = {}
        self.unheld: list[str] = []

    def add(self, name: str, body: str) -> str:
        """Add a rule and return its name."""
        self._lines.append(f"{name}: {body}\n")
        return name

    def text_before(self, trigger: str) -> None:
        """Add the rule `text`: any text up to and including the first occurrence of the trigger."""
        self._lines.append(f"text[suffix={quote(trigger)}]: /(?s:.*)/\n")

    def tail(self) -> str:
        """Add the rule `tail`, and return its name. It matches any text that contains no trigger.

        A trigger is the text that begins a call.
        """
        self._lines.append(f"TAIL: /(?s:.*)/ & ~/(?s:.*{escape_regex(self._form.trigger)}.*)/\n")
        return self.add("tail", "TAIL")

    def lead(self, lead: Lead | None) -> str:
        """Return the Lark expression for the text before a call. It is empty if `lead` is None."""
        if lead is None:
            return ""
        # The text must not contain the first character of `until`, so that every lexer finds its
        # end.
        first = lead.until[0].replace("\n", r"\n")
        least = 1 if lead.start else 0
        return f"{quote(lead.start)} /[^{first}]{{{least},{lead.characters}}}/ {quote(lead.until)}"

    def text(self, start: str) -> str:
        """Return the grammar's text, with `start` as its start rule."""
        return f"{HEADER}start: {start}\n{''.join(self._lines)}"

    def grammar(self, start: str, tools: Toolbox) -> Grammar:
        """Return the grammar with the expression `start` as its start rule.

        A rule `call`, which matches a call of any of the tools, is added first.
        """
        if not tools:
            raise Undecodable("there is no tool to call.", hint="Offer at least one.")
        # The common beginning of all calls is written once: llguidance limits the states of a mask.
        form = self._form
        calls = []
        for number, (alias, tool) in enumerate(tools.items()):
            arguments = self.arguments(tool, f"t{number}")
            calls.append(f"{quote(alias + form.between)} {arguments} {quote(form.after)}")
        self.add("call", f"{quote(form.before)} ({' | '.join(calls)})")
        return Grammar(self.text(start), tuple(self.unheld))

    def arguments(self, tool: Tool, name: str) -> str:
        """Return the Lark expression for the arguments of a tool.

        The rules that the expression refers to are added. Their names begin with `name`.
        """
        found = arguments_of(tool, self._bounds)
        self.unheld += [f"{tool.alias}{clause}" for clause in found.unenforced]
        match self._form.arguments:
            case "positional":
                return self._positional(tool, found, name)
            case "keywords":
                return self._unordered(found.every, name, "{}=")
            case "json":
                return f'"{{" {self._unordered(found.every, name, None)} "}}"'

    def _positional(self, tool: Tool, found: GrammarArguments, name: str) -> str:
        arguments = list(found.every)
        for place, alias in enumerate(tool.arguments):
            if place >= len(arguments) or arguments[place].alias != alias:
                # An argument was left out, so later ones cannot be given by position.
                arguments = arguments[:place]
                break
        if lost := [a.alias for a in found.every if a.required and a not in arguments]:
            raise Undecodable(f"{lost[0]!r} cannot be given by position.", tool=tool.alias)
        needed = max((place for place, one in enumerate(arguments, 1) if one.required), default=0)
        following = '""'
        for place in reversed(range(len(arguments))):
            one = arguments[place]
            separator = f"{_COMMA} " if place else ""
            body = f"{separator}{self._value(one)} {following}"
            following = self.add(f"{name}p{place}", body if place < needed else f'"" | {body}')
        return following

    def _unordered(self, every: Sequence[GrammarArgument], name: str, keyword: str | None) -> str:
        """Return the Lark expression for the arguments in any order, each at most once.

        It uses llguidance's parametric rules, with one bit for each argument that was written.
        `keyword` is the text before a value, such as `{}=`, or None for JSON.
        """
        arguments = sorted(every, key=lambda one: not one.required)[:_MOST_UNORDERED]
        needed = sum(one.required for one in arguments)
        if not arguments:
            return '""'
        end = f'"" %if is_ones([0:{needed}])' if needed else '""'
        parts = []
        for bit, one in enumerate(arguments):
            key = escape_regex(
                keyword.format(one.alias) if keyword else f"{json.dumps(one.alias)}: "
            )
            parts.append((bit, key, self._value(one)))
        for rule, separator in ((name, ""), (f"{name}r", ", ?" if keyword else ", ")):
            options = [
                f"/{separator}{key}/ {value} {name}r::set_bit({bit}) %if bit_clear({bit})"
                for bit, key, value in parts
            ]
            self._lines.append(f"{rule}::_: {end}\n | " + "\n | ".join(options) + "\n")
        return f"{name}::0x0"

    def _value(self, one: GrammarArgument) -> str:
        form = self._form.arguments
        if one.plain_type in ("number", "integer"):
            number = _QUOTIENT if form == "positional" else _NUMBER
            return f"/{number if one.plain_type == 'number' else _INTEGER}/"
        return self._rule(_literal(one.schema, form))

    def _rule(self, body: str) -> str:
        if body not in self._values:
            self._values[body] = self.add(f"v{len(self._values)}", body)
        return self._values[body]


def _literal(schema: Mapping[str, Any], form: ArgumentForm) -> str:
    """Return the Lark expression for a value that conforms to a schema.

    If `form` is `json`, the value is written as JSON. Otherwise it is written as a Python literal
    if the schema is simple enough, and objects are written as JSON.
    """
    whole = f"%json {json_text(schema)}"
    if form == "json":
        return whole
    inside = schema.keys() - {"type"}
    match schema:
        case {"enum": values} if not any(isinstance(value, dict | list) for value in values):
            return _enum_literal(values)
        case {"anyOf": options}:
            return " | ".join(f"({_literal(option, form)})" for option in options)
        case {"type": "boolean"}:
            return '"True" | "False"'
        case {"type": "null"}:
            return '"None"'
        case {"type": "string", "maxLength": most} if not inside - {"minLength", "maxLength"}:
            count = f"{{{schema.get('minLength', 0)},{most}}}"
            return f"/{_string(chr(34), count)}|{_string(chr(39), count)}/"
        case {"type": "array", "items": items, "maxItems": most} if not inside - {
            "minItems",
            "maxItems",
            "items",
        }:
            return _list_literal(f"({_literal(items, form)})", schema.get("minItems", 0), most)
    return whole


def _enum_literal(values: Iterable[Any]) -> str:
    """Return the Lark expression for one of several values, written as in Python or as in JSON."""
    spellings: dict[str, None] = {}
    for value in values:
        spellings[repr(value)] = None
        if isinstance(value, str):
            spellings[json.dumps(value, ensure_ascii=False)] = None
    return " | ".join(map(quote, spellings))


def _list_literal(item: str, least: int, most: int) -> str:
    """Return the Lark expression for a list of `least` to `most` items in brackets."""
    if not most:
        return '"[]"'
    row = _row(item, least, most)
    return f'"[" {row} "]"' if least else f'"[" ({row})? "]"'


def _row(item: str, least: int, most: int) -> str:
    """Return the Lark expression for `least` to `most` items, separated by commas.

    Even if `least` is 0, the expression requires one item.
    """
    return item if most <= 1 else f"{item} ({_COMMA} {item}){{{max(0, least - 1)},{most - 1}}}"


def _string(quote: str, count: str) -> str:
    return rf"{quote}([^{quote}\\\x00-\x1F\x7F]|\\[{quote}\\nrt]){count}{quote}"


def compile_matcher(tokenizer: LLTokenizer, grammar: str) -> LLMatcher:
    """Return an llguidance matcher for a grammar. It has not read any text yet.

    Raises:
        Undecodable: llguidance refuses the grammar, or is not installed.
    """
    require_llguidance()
    from llguidance import LLMatcher, LLParserLimits

    text = _FREE + grammar.removeprefix(HEADER)
    matcher = LLMatcher(tokenizer, text, log_level=0, limits=LLParserLimits(step_lexer_fuel=_FUEL))
    require_sound(matcher)
    return matcher


def require_sound(matcher: LLMatcher) -> None:
    """Raise Undecodable if the matcher is in an error state.

    llguidance itself raises no exceptions.
    """
    if matcher.is_error():
        lines = [line.strip() for line in matcher.get_error().splitlines() if line.strip()]
        message = next((line for line in lines if "rror:" in line), lines[0] if lines else "")
        raise Undecodable(f"llguidance stopped: {message[:300]}")


def classify_text(grammar: str, text: str) -> Literal["complete", "unfinished", "outside"]:
    """Return how a text relates to a grammar.

    The result is `complete` if the text matches the grammar, `unfinished` if it is only the
    beginning of a text that matches, and `outside` otherwise.

    Raises:
        Undecodable: llguidance refuses the grammar, or is not installed.
    """
    matcher = _by_bytes(grammar).deep_copy()
    data = text.encode()
    if matcher.try_consume_tokens(list(data)) < len(data):
        return "outside"
    return "complete" if matcher.is_accepting() else "unfinished"


@lru_cache(maxsize=16)
def _by_bytes(grammar: str) -> LLMatcher:
    require_llguidance()
    from llguidance import LLTokenizer

    return compile_matcher(LLTokenizer("byte"), grammar)
