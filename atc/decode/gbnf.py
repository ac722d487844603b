"""A grammar as llama.cpp's GBNF, for servers that know no llguidance."""

from __future__ import annotations

import re
from collections.abc import Callable

from atc.decode.errors import Undecodable
from atc.decode.grammar import (
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
    used,
)
from atc.regex import PatternError, as_gbnf, parse, searched

MOST_ORDERED = 4
"""Parts in any order are written out as so many rules as they have subsets; more parts come in the declared order."""


class NotExpressible(Undecodable):
    """GBNF cannot say what the grammar says. The message names it."""


def gbnf(grammar: Grammar, *, exact: bool = False) -> str:
    """`grammar` as text, the same for the same grammar.

    GBNF reads characters and has no lexer, so terminals need not be told apart at once. What may come in any order
    comes in the declared order where it is more than `MOST_ORDERED` parts: fewer sentences, each of them `grammar`'s.

    Raises:
        NotExpressible: a terminal must match several expressions, or not match one; with `exact`, also where only a
            part of the sentences could be derived.
    """
    return _Gbnf(grammar, exact=exact).text()


class _Gbnf:
    """One rendering. Names of rules are our own, since those of a grammar may hold any character."""

    def __init__(self, grammar: Grammar, *, exact: bool) -> None:
        self._grammar, self._exact = grammar, exact
        self._names = {rule: _name(rule, i) for i, rule in enumerate(used(grammar))}
        self._lines: list[str] = []
        self._written: dict[Node, str] = {}

    def text(self) -> str:
        root = self._render(self._grammar.start)
        rules = [f"{name} ::= {self._render(self._grammar.rules[rule])}\n" for rule, name in self._names.items()]
        return f"root ::= {root}\n" + "".join(rules) + "".join(self._lines)

    def _render(self, node: Node, *, within: bool = False) -> str:
        match node:
            case Text(text):
                return quoted(text)
            case Pattern():
                return self._once(node, "t", self._pattern)
            case Ref(rule):
                return self._names[rule]
            case Sequence(parts):
                row = " ".join(self._render(part, within=True) for part in parts) or '""'
                return f"({row})" if within and len(parts) > 1 else row
            case Choice(parts):
                return f"({' | '.join(self._render(part) for part in parts)})"
            case Repeat(part, least, most):
                return repeated(self._render(part, within=True), least, most) if most else '""'
            case AnyOrder():
                return self._any_order(node)

    def _once(self, node: Pattern, letter: str, render: Callable[[Pattern], str]) -> str:
        """A rule of its own for what may stand in several places."""
        if node not in self._written:
            name = self._written[node] = f"{letter}{len(self._written)}"
            self._lines.append(f"{name} ::= {render(node)}\n")
        return self._written[node]

    def _pattern(self, pattern: Pattern) -> str:
        if pattern.also or pattern.never:
            raise NotExpressible("a string must match two expressions at once, which GBNF cannot say.")
        try:
            return as_gbnf(searched(parse(f"^(?:{pattern.regex})$")))
        except PatternError as error:
            raise NotExpressible(f"the expression {pattern.regex!r}: {error}.") from error

    def _any_order(self, node: AnyOrder) -> str:
        if node in self._written:
            return self._written[node]
        name = self._written[node] = f"o{len(self._written)}"
        few = len(node.items) <= MOST_ORDERED
        parts = [self._render(part, within=True) for part, _ in node.items]
        separator = self._render(node.separator, within=True)
        if not few and self._exact:
            raise NotExpressible(f"{len(node.items)} parts in any order are too many rules for GBNF.")
        self._lines.extend(_sets(node, name, parts, separator) if few else _declared(node, name, parts, separator))
        return name


def _declared(node: AnyOrder, name: str, parts: list[str], separator: str) -> list[str]:
    """Rules for the parts in their order: by which is next, and how many have come that need not."""
    free = optional(node)
    # Where any number may come, only whether one has matters; else every one is counted.
    counted = free != range(sum(not needed for _, needed in node.items) + 1)
    lines = [f"{name} ::= {name}p0n0\n"]
    waiting, seen = [(0, 0, False)], {(0, 0, False)}
    for place, spent, begun in waiting:
        bodies = []
        if place == len(parts):
            bodies = ['""'] if spent in free or not counted else []
        else:
            part, needed = parts[place], node.items[place][1]
            enough = not counted or spent + 1 < free.stop
            follow = [(place + 1, spent + (counted and not needed), True)] if needed or enough else []
            left = sum(not other for _, other in node.items[place + 1 :])
            pass_by = [(place + 1, spent, begun)] if not needed and (not counted or spent + left >= free.start) else []
            between = f"{separator} " if begun else ""
            bodies = [f"{between}{part} {_state(name, state)}" for state in follow]
            bodies += [_state(name, state) for state in pass_by]
            waiting += [state for state in (*follow, *pass_by) if state not in seen]
            seen.update((*follow, *pass_by))
        lines.append(f"{_state(name, (place, spent, begun))} ::= {' | '.join(bodies)}\n")
    return lines


def _state(name: str, state: tuple[int, int, bool]) -> str:
    place, spent, begun = state
    return f"{name}{'q' if begun else 'p'}{place}n{spent}"


def _sets(node: AnyOrder, name: str, parts: list[str], separator: str) -> list[str]:
    """Rules for each set of parts that may have come."""
    must = {i for i, (_, needed) in enumerate(node.items) if needed}
    free = optional(node)
    lines = [f"{name} ::= {name}s0\n"]
    for come in range(1 << len(parts)):
        here = {i for i in range(len(parts)) if come >> i & 1}
        spent = len(here - must)
        if spent >= free.stop:
            continue
        left = [i for i in range(len(parts)) if i not in here and (i in must or spent + 1 < free.stop)]
        between = f"{separator} " if come else ""
        bodies = ['""'] if must <= here and spent in free else []
        bodies += [f"{between}{parts[i]} {name}s{come | 1 << i}" for i in left]
        lines.append(f"{name}s{come} ::= {' | '.join(bodies)}\n")
    return lines


def _name(rule: str, index: int) -> str:
    kept = re.sub(r"[^a-z0-9]+", "-", rule.lower()).strip("-")[:24]
    return f"r{index}-{kept}" if kept else f"r{index}"


def quoted(text: str) -> str:
    """`text` as a literal of GBNF, on one line."""
    return (
        '"' + "".join(char if 32 <= ord(char) < 127 and char not in '"\\' else _code(ord(char)) for char in text) + '"'
    )


def _code(code: int) -> str:
    return f"\\x{code:02X}" if code < 0x100 else f"\\u{code:04X}" if code < 0x10000 else f"\\U{code:08X}"
