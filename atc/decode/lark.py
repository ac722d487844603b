"""A grammar as llguidance's Lark: the same text for its Python package and for the llguidance in a llama.cpp server."""

from __future__ import annotations

import re
from functools import lru_cache

from atc.decode.grammar import (
    MOST_ITEMS,
    AnyOrder,
    Choice,
    Grammar,
    Node,
    Pattern,
    Ref,
    Repeat,
    Sequence,
    Text,
    optional,
    repeated,
)

_KEPT = 4096
"""Names, texts and expressions kept as they are rendered: the grammars of a program's statements share most."""
HEAD = "%llguidance {}\n"
"""By this first line a llama.cpp server knows the text for llguidance's."""


def lark(grammar: Grammar) -> str:
    """`grammar` as text, the same for the same grammar. Rules that `start` does not lead to are left out."""
    return _Lark(grammar).text()


class _Lark:
    """One rendering. Names of rules are our own, since those of a grammar may hold any character."""

    def __init__(self, grammar: Grammar) -> None:
        self._grammar = grammar
        self._names: dict[str, str] = {}
        self._met: list[str] = []  # rules in the order in which they are named
        self._lines: list[str] = []
        self._terminals: dict[Pattern, str] = {}
        self._orders: dict[AnyOrder, str] = {}

    def text(self) -> str:
        start = self._render(self._grammar.start)
        # Rendering a rule may name others, which are then rendered too.
        rules = [f"{self._names[rule]}: {self._render(self._grammar.rules[rule])}\n" for rule in self._met]
        return HEAD + f"start: {start}\n" + "".join(rules) + "".join(self._lines)

    def _render(self, node: Node, *, within: bool = False) -> str:
        """`within`: where a choice or a row of parts needs parentheses."""
        match node:
            case Text(text):
                return quoted(text)
            case Pattern():
                return self._pattern(node)
            case Ref(rule):
                return self._named(rule)
            case Sequence(parts):
                if len(parts) == 1:
                    return self._render(parts[0], within=within)
                row = " ".join(self._render(part, within=True) for part in parts) or '""'
                return f"({row})" if within and len(parts) > 1 else row
            case Choice(parts):
                row = " | ".join(self._render(part) for part in parts)
                return f"({row})" if within or len(parts) > 1 else row
            case Repeat(part, least, most):
                return repeated(self._render(part, within=True), least, most) if most else '""'
            case AnyOrder():
                return self._any_order(node)

    def _named(self, rule: str) -> str:
        if rule not in self._names:
            self._names[rule] = _name(rule, len(self._names))
            self._met.append(rule)
        return self._names[rule]

    def _pattern(self, pattern: Pattern) -> str:
        if not pattern.also and not pattern.never and len(pattern.regex) < 40:
            return _slashed(pattern.regex)
        # A long terminal stands once: llguidance compiles each occurrence of an inline one.
        if pattern not in self._terminals:
            name = self._terminals[pattern] = f"T{len(self._terminals)}"
            both = [_slashed(regex) for regex in (pattern.regex, *pattern.also)]
            never = [f"~{_slashed(regex)}" for regex in pattern.never]
            self._lines.append(f"{name}: {' & '.join([*both, *never])}\n")
        return self._terminals[pattern]

    def _any_order(self, node: AnyOrder) -> str:
        if len(node.items) == 1:
            part, needed = node.items[0]
            free = optional(node)
            return self._render(Repeat(part, free.start + needed, free.stop - 1 + needed), within=True)
        if node not in self._orders:
            self._orders[node] = f"order{len(self._orders)}"
            self._lines.append(self._order_rules(node, self._orders[node]))
        return f"{self._orders[node]}::0x0"

    def _order_rules(self, node: AnyOrder, name: str) -> str:
        """Rules whose parameter has a bit for each part that has come, those that must first.

        Parametric rules (`rule::_`) are llguidance's; they are written once before any part and once after one.
        """
        if len(node.items) > MOST_ITEMS:
            raise ValueError(f"{len(node.items)} items in any order; {MOST_ITEMS} is the most")
        items = sorted(node.items, key=lambda item: not item[1])
        must = sum(needed for _, needed in items)
        # Each part stands in two rules: it is one of its own.
        parts = [f"{name}i{place}" for place in range(len(items))]
        self._lines += [f"{part}: {self._render(item)}\n" for part, (item, _) in zip(parts, items, strict=True)]
        separator = self._render(node.separator, within=True)
        # What need not come is counted, so that there is always room for what must.
        free, may = optional(node), f"[{must}:{len(parts)}]"
        ends = [f"is_ones([0:{must}])"] * bool(must) + [f"bit_count_ge({may}, {free.start})"] * bool(free.start)
        room = [f"bit_count_lt({may}, {free.stop - 1})"] * (free.stop - 1 < len(parts) - must)
        lines = []
        for head, between in ((name, ""), (f"{name}r", separator + " ")):
            bodies = [f'""{_when(ends)}']
            for bit, part in enumerate(parts):
                when = [f"bit_clear({bit})", *(room if bit >= must else [])]
                bodies.append(f"{between}{part} {name}r::set_bit({bit}){_when(when)}")
            lines.append(f"{head}::_: " + "\n | ".join(bodies) + "\n")
        return "".join(lines)


def _when(conditions: list[str]) -> str:
    if not conditions:
        return ""
    joined = conditions[-1]
    for condition in reversed(conditions[:-1]):
        joined = f"and({condition}, {joined})"
    return f" %if {joined}"


@lru_cache(maxsize=_KEPT)
def _name(rule: str, index: int) -> str:
    kept = re.sub(r"[^a-z0-9_]+", "_", rule.lower()).strip("_")[:24]
    return f"r{index}_{kept}" if kept else f"r{index}"


@lru_cache(maxsize=_KEPT)
def quoted(text: str) -> str:
    """`text` as a literal of Lark and of GBNF: JSON's escapes for what is not printable, on one line."""
    return '"' + "".join(_ESCAPES.get(char) or (char if char.isprintable() else _code(char)) for char in text) + '"'


def _code(char: str) -> str:
    return f"\\u{ord(char):04x}" if ord(char) < 0x10000 else char


_ESCAPES = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


@lru_cache(maxsize=_KEPT)
def _slashed(regex: str) -> str:
    return f"/{_SLASH.sub(_escape_slash, regex)}/"


_SLASH = re.compile(r"\\.|/|\n", re.DOTALL)


def _escape_slash(match: re.Match[str]) -> str:
    return {"/": "\\/", "\n": "\\n"}.get(match[0], match[0])
