"""What an endpoint is sent so that a reply is held to one call: a grammar, or a schema where only that is enforced."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from typing import Any, Literal

from atc.decode.bounds import Bounds
from atc.decode.formats import CallFormat
from atc.decode.gbnf import NotExpressible, gbnf
from atc.decode.grammar import Grammar, Node, Pattern, Sequence, Text
from atc.decode.lark import lark
from atc.decode.names import names_pattern
from protocols.ask import GrammarKind, Powers
from protocols.toolbox import Tool, Toolbox

Verdict = Literal["complete", "unfinished", "outside"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """What stands before a call: text of at most `characters` characters, which ends where `until` begins.

    `start` stands before the text. The text does not hold the first character of `until`, so where it ends is certain.
    """

    start: str
    characters: int
    until: str
    least: int = 0

    def node(self) -> Node:
        """The lead as grammar."""
        stop = {"\n": "\\n", "\\": "\\\\", "]": "\\]", "[": "\\[", "^": "\\^", "-": "\\-", "&": "\\&", "~": "\\~"}
        first = stop.get(self.until[0], self.until[0])
        text = Pattern(f"[^{first}]{{{self.least},{self.characters}}}")
        return Sequence((Text(self.start), text, Text(self.until)))


def lead_of(form: CallFormat, *, thought: bool, characters: int) -> Lead | None:
    """What stands before a call of this format: a thought, text up to the trigger, or nothing."""
    if thought:
        return Lead(start="Thought: ", characters=characters, until="\n", least=1)
    return Lead(start="", characters=characters, until=form.trigger) if form.trigger else None


def verdict(grammar: str, text: str) -> Verdict | None:
    """Whether the endpoint held to `grammar`; None where nothing here can tell."""
    if not grammar.startswith("%llguidance") or find_spec("llguidance") is None:
        return None
    from atc.decode.matcher import judge

    return judge(grammar, text)


@dataclass(frozen=True, slots=True)
class Constraint:
    """A grammar as an endpoint reads it, None where it reads none that can express it, and in what it departs from the
    tools' schemas: a sentence, empty where it does not.
    """

    text: str | None
    note: str = ""


def naming(tools: Toolbox, form: CallFormat, lead: Lead | None, powers: Powers) -> Constraint:
    """A reply up to where its arguments begin. `between` belongs to it: it tells `max(` from `maximum(`."""
    return _naming(_Catalogue(tools), form, lead, _kind(powers))


def whole_call(tools: Toolbox, form: CallFormat, lead: Lead | None, bounds: Bounds, powers: Powers) -> Constraint:
    """A reply with one call of any of the tools. Raises Undecodable, naming the tool that cannot be held to."""
    return _whole_call(_Catalogue(tools), form, lead, bounds, _kind(powers))


def rest_of_call(tool: Tool, form: CallFormat, bounds: Bounds, powers: Powers, *, head: str = "") -> Constraint:
    """The arguments of the tool that was chosen, and what closes the call; before them `head` once more, if given.

    Raises Undecodable where the tool cannot be held to.
    """
    from atc.decode.arguments import arguments_grammar

    rest = arguments_grammar(tool, form.arguments, bounds=bounds)
    return _rendered(_row(Text(head), rest.start, Text(form.after)), rest, _kind(powers))


class _Catalogue:
    """Tools as a key: the same aliases and protocol objects."""

    def __init__(self, tools: Toolbox) -> None:
        self.tools = tools
        self._key = tuple((alias, id(tool.protocol)) for alias, tool in tools.items())

    def __hash__(self) -> int:
        return hash(self._key)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Catalogue) and self._key == other._key


@lru_cache(maxsize=8)
def _naming(catalogue: _Catalogue, form: CallFormat, lead: Lead | None, kind: GrammarKind) -> Constraint:
    names = names_pattern(catalogue.tools)
    return _rendered(_row(*_before(lead), Text(form.before), names, Text(form.between)), Grammar(names), kind)


@lru_cache(maxsize=8)
def _whole_call(
    catalogue: _Catalogue, form: CallFormat, lead: Lead | None, bounds: Bounds, kind: GrammarKind
) -> Constraint:
    from atc.decode.arguments import call_grammar

    call = call_grammar(catalogue.tools, form, bounds=bounds)
    return _rendered(_row(*_before(lead), call.start), call, kind)


def _row(*parts: Node) -> Sequence:
    return Sequence(tuple(part for part in parts if part != Text("")))


def _rendered(start: Node, grammar: Grammar, kind: GrammarKind) -> Constraint:
    whole = Grammar(start, grammar.rules)
    notes = [
        f"{said} {', '.join(clauses[:3])}{' …' if len(clauses) > 3 else ''}."
        for said, clauses in (("No grammar holds", grammar.unheld), ("Left out:", grammar.left_out))
        if clauses
    ]
    try:
        return Constraint(lark(whole) if kind == "lark" else gbnf(whole), " ".join(notes))
    except NotExpressible:
        return Constraint(None)


def _kind(powers: Powers) -> GrammarKind:
    return "lark" if "lark" in powers.grammars else "gbnf"


def call_schema(tools: Toolbox, *, thought_characters: int = 0) -> dict[str, Any]:
    """JSON Schema of `{"call": {"name": …, "arguments": …}}`, a thought before it where asked for.

    The alternatives stand inside an object: several endpoints refuse `anyOf` at the top.
    """
    calls = [
        _object({"name": {"const": tool.alias}, "arguments": _arguments(tool, f"#/properties/call/anyOf/{index}")})
        for index, tool in enumerate(tools.values())
    ]
    return _object({**_thought(thought_characters), "call": {"anyOf": calls}})


def name_schema(names: Iterable[str], *, thought_characters: int = 0) -> dict[str, Any]:
    """JSON Schema of `{"name": …}` over these names."""
    return _object({**_thought(thought_characters), "name": {"enum": list(names)}})


def _before(lead: Lead | None) -> tuple[Node, ...]:
    return () if lead is None else (lead.node(),)


def _thought(characters: int) -> dict[str, Any]:
    return {"thought": {"type": "string", "minLength": 1, "maxLength": characters}} if characters else {}


def _object(properties: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


def _arguments(tool: Tool, place: str) -> dict[str, Any]:
    """The tool's schema with its arguments under their aliases, for use at `place` of a larger one."""
    root = tool.protocol.input_schema
    aliases = {name: alias for alias, name in tool.arguments.items()}
    moved = {key: _moved(value, f"{place}/properties/arguments", aliases) for key, value in root.items()}
    moved["type"] = "object"
    moved["properties"] = {aliases[name]: schema for name, schema in moved.get("properties", {}).items()}
    moved["required"] = [aliases.get(name, name) for name in moved.get("required", ())]
    moved.setdefault("additionalProperties", False)
    return moved


def _moved(value: Any, place: str, aliases: Mapping[str, str]) -> Any:
    """A part of a schema with its local references pointing to where its root now stands."""
    if isinstance(value, list):
        return [_moved(item, place, aliases) for item in value]
    if not isinstance(value, Mapping):
        return value
    moved = {key: _moved(item, place, aliases) for key, item in value.items()}
    ref = value.get("$ref")
    if isinstance(ref, str) and ref.startswith("#"):
        moved["$ref"] = place + _renamed(ref.removeprefix("#"), aliases)
    return moved


def _renamed(pointer: str, aliases: Mapping[str, str]) -> str:
    """`/properties/from/items` → `/properties/from_/items`."""
    parts = pointer.split("/")
    if len(parts) < 3 or parts[1] != "properties":
        return pointer
    name = parts[2].replace("~1", "/").replace("~0", "~")
    return "/".join([*parts[:2], aliases.get(name, parts[2]), *parts[3:]])
