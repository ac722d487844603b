"""Whether any string matches several expressions at once: by derivatives, breadth first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from atc.regex.anchors import nullable
from atc.regex.tree import (
    NOTHING,
    Alternatives,
    Chars,
    Repeated,
    Row,
    Tree,
    alternatives,
    row,
)

_MOST_STATES = 3000
_MOST_WORK = 30_000
"""States times parts of the expressions, some tenths of a second. Long expressions are given fewer states."""
_FEW_STATES = 40
"""That two expressions differ near their beginning, or near their end, shows soon."""


def disjoint(*trees: Tree) -> bool:
    """Whether no string matches all, as far as can be told: looked for from the beginning, and from the end."""
    backwards = [mirrored(tree) for tree in trees]
    for most in (_FEW_STATES, _MOST_STATES):
        for every in (trees, backwards):
            shared = found(every, most=most)
            if shared != "":
                return shared is None
    return False


def found(every: Sequence[Tree], never: Sequence[Tree] = (), *, most: int = _MOST_STATES) -> str | None:
    """A shortest string that each of `every` matches and none of `never`, or `None` where there is none.

    Expressions without anchors. Where the search grows too large it gives up, and says `""`: perhaps there is one.
    """
    start = (tuple(every), tuple(never))
    most = min(most, _MOST_WORK // sum(map(_size, (*every, *never))))
    seen = {start}
    waiting = [(start, "")]
    for (wanted, forbidden), text in waiting:
        if all(map(nullable, wanted)) and not any(map(nullable, forbidden)):
            return text
        if len(seen) > most:
            return ""
        for char in samples((*wanted, *forbidden)):
            after = (tuple(derived(t, char) for t in wanted), tuple(derived(t, char) for t in forbidden))
            if NOTHING not in after[0] and after not in seen:
                seen.add(after)
                waiting.append((after, text + chr(char)))
    return None


def mirrored(tree: Tree) -> Tree:
    """What matches the same strings written backwards; of expressions without anchors."""
    match tree:
        case Row(parts):
            return Row(tuple(mirrored(part) for part in reversed(parts)))
        case Alternatives(parts):
            return Alternatives(tuple(map(mirrored, parts)))
        case Repeated(part):
            return replace(tree, part=mirrored(part))
    return tree


def _size(tree: Tree) -> int:
    match tree:
        case Row(parts) | Alternatives(parts):
            return 1 + sum(map(_size, parts))
        case Repeated(part):
            return 1 + _size(part)
    return 1


def derived(tree: Tree, char: int) -> Tree:
    """What is left to match of `tree` once `char` (a code point) has been read."""
    match tree:
        case Chars(ranges):
            return Row(()) if any(low <= char <= high for low, high in ranges) else NOTHING
        case Alternatives(parts):
            return alternatives(derived(part, char) for part in parts)
        case Row(parts) if parts:
            rest = parts[1] if len(parts) == 2 else Row(parts[1:])
            here = row((derived(parts[0], char), rest))
            return alternatives((here, derived(rest, char))) if nullable(parts[0]) else here
        case Repeated(part, least, most) if most != 0:
            rest = Repeated(part, max(0, least - 1), None if most is None else most - 1)
            return row((derived(part, char), rest))
    return NOTHING


def samples(trees: Sequence[Tree]) -> Iterator[int]:
    """One character of each set that the next characters of `trees` tell apart."""
    edges = {0}
    for tree in trees:
        for low, high in beginnings(tree):
            edges |= {low, high + 1}
    return (edge for edge in sorted(edges) if edge < 0x110000)


def beginnings(tree: Tree) -> Iterator[tuple[int, int]]:
    """The characters that a matching string may begin with."""
    match tree:
        case Chars(ranges):
            yield from ranges
        case Alternatives(parts):
            for part in parts:
                yield from beginnings(part)
        case Row(parts):
            for part in parts:
                yield from beginnings(part)
                if not nullable(part):
                    break
        case Repeated(part):
            yield from beginnings(part)
