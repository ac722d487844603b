"""Tools with a given schema, what their grammars accept, and a reader of GBNF that matches it exactly."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from atc.decode.arguments import arguments_grammar
from atc.decode.formats import ArgumentForm
from atc.decode.lark import lark
from atc.decode.matcher import Matcher
from atc.decode.vocabulary import Vocabulary
from protocols.protocol import ToolProtocol
from protocols.toolbox import Tool

BYTES = Vocabulary.byte_level()


def tool(
    properties: Mapping[str, Any],
    required: Sequence[str] = (),
    *,
    name: str = "book",
    definitions: Mapping[str, Any] | None = None,
) -> Tool:
    """A tool of these arguments; `definitions` are its schema's `$defs`."""
    schema = {"type": "object", "properties": dict(properties), "required": list(required)}
    return of_schema(schema | ({"$defs": dict(definitions)} if definitions else {}), name)


def of_schema(schema: Mapping[str, Any], name: str = "book") -> Tool:
    """A tool of this input schema."""
    return Tool(protocol=ToolProtocol(name=name, input_schema=dict(schema)), call=lambda arguments: dict(arguments))


@lru_cache(maxsize=256)
def matcher(text: str) -> Matcher:
    """The matcher of a grammar in Lark, to be copied."""
    return Matcher(BYTES, text)


def accepts(one: Tool, text: str, form: ArgumentForm = "json") -> bool:
    """Whether llguidance takes `text` for the arguments of `one`."""
    return takes(lark(arguments_grammar(one, form)), text)


def takes(grammar: str, text: str) -> bool:
    """Whether llguidance takes `text` for a sentence of a grammar in Lark."""
    here, data = matcher(grammar).copy(), text.encode()
    return here.feed(data) == len(data) and here.is_complete


class Gbnf:
    """A grammar in GBNF, matched by the sets of places where its parts can end: slow, and exact.

    It knows what llama.cpp's own reader does of literals, classes, groups, alternatives and counts.
    """

    _TOKEN = re.compile(
        r'\s*(?:(?P<literal>"(?:\\.|[^"\\])*")|(?P<chars>\[(?:\\.|[^\]\\])*\])|(?P<name>[a-z][a-z0-9-]*)'
        r"|(?P<sign>[()|*+?])|\{(?P<least>\d+)(?P<comma>,?)(?P<most>\d*)\})"
    )
    _ESCAPE = re.compile(r"\\(x[0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)

    def __init__(self, grammar: str) -> None:
        self._rules: dict[str, Any] = {}
        for line in grammar.splitlines():
            name, _, body = line.partition(" ::= ")
            tokens = [match.groupdict() for match in self._TOKEN.finditer(body)]
            assert "".join(m[0] for m in self._TOKEN.finditer(body)).strip() == body.strip(), body
            self._tokens, self._at = tokens, 0
            self._rules[name] = self._alternatives()
            assert self._at == len(tokens), body

    def matches(self, text: str) -> bool:
        """Whether the whole of `text` is a sentence."""
        self._text: str = text
        self._known: dict[tuple[int, int], frozenset[int]] = {}
        return len(text) in self._ends(self._rules["root"], 0)

    def _peek(self) -> Mapping[str, Any]:
        return self._tokens[self._at] if self._at < len(self._tokens) else {}

    def _alternatives(self) -> Any:
        rows = [self._row()]
        while self._peek().get("sign") == "|":
            self._at += 1
            rows.append(self._row())
        return ("or", rows)

    def _row(self) -> Any:
        parts = []
        while self._peek() and self._peek().get("sign") not in ("|", ")"):
            token = self._peek()
            self._at += 1
            if token["literal"] is not None:
                part: Any = ("text", self._unescaped(token["literal"][1:-1]))
            elif token["chars"] is not None:
                part = ("chars", self._ranges(token["chars"][1:-1]))
            elif token["name"] is not None:
                part = ("rule", token["name"])
            else:
                assert token["sign"] == "(", token
                part = self._alternatives()
                assert self._peek().get("sign") == ")"
                self._at += 1
            parts.append(self._counted(part))
        return ("row", parts)

    def _counted(self, part: Any) -> Any:
        token = self._peek()
        counts = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(token.get("sign") or "")
        if counts is None and token.get("least") is not None:
            most = token["most"] or (None if token["comma"] else token["least"])
            counts = int(token["least"]), None if most is None else int(most)
        if counts is None:
            return part
        self._at += 1
        return ("repeat", part, *counts)

    def _unescaped(self, text: str) -> str:
        named = {"n": "\n", "r": "\r", "t": "\t"}
        return self._ESCAPE.sub(
            lambda m: chr(int(m[1][1:], 16)) if m[1][0] in "xuU" and len(m[1]) > 1 else named.get(m[1], m[1]), text
        )

    def _ranges(self, text: str) -> Any:
        negated = text.startswith("^")
        parts = re.findall(r"(?:\\(?:x..|u....|U........|.)|[^\\])", text[negated:], re.DOTALL)
        ranges, at = [], 0
        while at < len(parts):
            low = self._unescaped(parts[at])
            if parts[at + 1 : at + 2] == ["-"] and at + 2 < len(parts):
                ranges.append((low, self._unescaped(parts[at + 2])))
                at += 3
            else:
                ranges.append((low, low))
                at += 1
        return negated, ranges

    def _ends(self, node: Any, start: int) -> frozenset[int]:
        key = (id(node), start)
        if key not in self._known:
            self._known[key] = frozenset(self._found(node, start))
        return self._known[key]

    def _found(self, node: Any, start: int) -> set[int] | frozenset[int]:
        match node:
            case ("text", text):
                return {start + len(text)} if self._text.startswith(text, start) else set()
            case ("chars", (negated, ranges)):
                char = self._text[start : start + 1]
                inside = any(low <= char <= high for low, high in ranges)
                return {start + 1} if char and inside != negated else set()
            case ("rule", name):
                return self._ends(self._rules[name], start)
            case ("or", rows):
                return {end for row in rows for end in self._ends(row, start)}
            case ("row", parts):
                here = {start}
                for part in parts:
                    here = {end for place in here for end in self._ends(part, place)}
                return here
            case ("repeat", part, least, most):
                return self._repeated(part, least, most, start)
        raise AssertionError(node)

    def _repeated(self, part: Any, least: int, most: int | None, start: int) -> set[int]:
        found: set[int] = {start} if least == 0 else set()
        here, count = {start}, 0
        while here and (most is None or count < most):
            here = {end for place in here for end in self._ends(part, place)}
            count += 1
            if count >= least:
                if here <= found:
                    break
                found |= here
        return found
