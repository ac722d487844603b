"""Whether any string matches several expressions at once: by derivatives, breadth first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

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


def found(every: Sequence[Tree], never: Sequence[Tree] = ()) -> str | None:
    """A shortest string that each of `every` matches and none of `never`, or `None` where there is none.

    Expressions without anchors. Where the search grows too large it gives up, and says `""`: perhaps there is one.
    """
    start = (tuple(every), tuple(never))
    seen = {start}
    waiting = [(start, "")]
    for (wanted, forbidden), text in waiting:
        if all(map(nullable, wanted)) and not any(map(nullable, forbidden)):
            return text
        if len(seen) > _MOST_STATES:
            return ""
        for char in samples((*wanted, *forbidden)):
            after = (tuple(derived(t, char) for t in wanted), tuple(derived(t, char) for t in forbidden))
            if NOTHING not in after[0] and after not in seen:
                seen.add(after)
                waiting.append((after, text + chr(char)))
    return None


def derived(tree: Tree, char: int) -> Tree:
    """What is left to match of `tree` once `char` (a code point) has been read."""
    match tree:
        case Chars(ranges):
            return Row(()) if any(low <= char <= high for low, high in ranges) else NOTHING
        case Alternatives(parts):
            return alternatives(derived(part, char) for part in parts)
        case Row(parts) if parts:
            rest = row(parts[1:])
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
