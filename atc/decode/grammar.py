"""Grammars as values: what an automaton compiles and what an endpoint is sent, rendered as Lark or GBNF."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias


@dataclass(frozen=True, slots=True)
class Text:
    """These very characters."""

    text: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """One terminal: the whole of it matches this regular expression (Rust's syntax, without anchors).

    It matches each of the expressions `also` too, and none of `never`. A lexer reads terminals greedily: what may
    follow one must not look like its continuation, and no terminal that may stand at a place may be the beginning of
    another that may stand there, unless what follows tells them apart at once.
    """

    regex: str
    also: tuple[str, ...] = ()
    never: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Ref:
    """The rule of this name."""

    rule: str


@dataclass(frozen=True, slots=True)
class Sequence:
    """One part after another."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of the parts."""

    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A part `least` to `most` times."""

    part: Node
    least: int
    most: int


@dataclass(frozen=True, slots=True)
class AnyOrder:
    """Items in any order with separators between them, each at most once: the keys of an object, keyword arguments.

    `items` are at most `MOST_ITEMS` parts, each with whether it must come. In all there are `least` to `most` of them.
    """

    items: tuple[tuple[Node, bool], ...]
    separator: Node
    least: int = 0
    most: int | None = None


MOST_ITEMS = 60
"""Of an `AnyOrder`: llguidance keeps what has come in 64 bits."""

Node: TypeAlias = Text | Pattern | Ref | Sequence | Choice | Repeat | AnyOrder

EMPTY = Sequence(())


@dataclass(frozen=True, slots=True)
class Grammar:
    """What can be derived from `start`. Rules of one grammar may be joined with another's where their names differ.

    `unheld` lists what no grammar can hold a writer to, as `/properties/tags: uniqueItems`: who finds it not empty
    validates what was written. Everything else that the schema demands is in the rules. `left_out` lists optional parts
    that cannot be derived because nothing conforms to their schema, each with why.
    """

    start: Node
    rules: Mapping[str, Node] = field(default_factory=dict)
    unheld: tuple[str, ...] = ()
    left_out: tuple[str, ...] = ()


def optional(node: AnyOrder) -> range:
    """How many parts may come besides those that must: the least and, below `stop`, the most."""
    must = sum(needed for _, needed in node.items)
    most = len(node.items) if node.most is None else min(len(node.items), node.most)
    return range(max(0, node.least - must), most - must + 1)


def inside(node: Node) -> Iterator[Node]:
    """The nodes directly in `node`, in order."""
    match node:
        case Sequence(parts) | Choice(parts):
            yield from parts
        case Repeat(part):
            yield part
        case AnyOrder(items, separator):
            yield from (part for part, _ in items)
            yield separator


def used(grammar: Grammar) -> list[str]:
    """Names of the rules that `start` leads to, in the order in which they are met."""
    found: dict[str, None] = {}
    waiting = [grammar.start]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Ref):
            if node.rule not in found:
                found[node.rule] = None
                waiting.append(grammar.rules[node.rule])
        else:
            waiting.extend(reversed(list(inside(node))))
    return list(found)


def repeated(inner: str, least: int, most: int) -> str:
    """A repeat of what is rendered already, as Lark and GBNF both write it; `most` is not 0."""
    if (least, most) == (1, 1):
        return inner
    return f"{inner}?" if (least, most) == (0, 1) else f"{inner}{{{least},{most}}}"
