"""A pattern of JSON Schema is searched for; a terminal matches the whole. This turns the one into the other."""

from __future__ import annotations

from functools import lru_cache

from atc.regex.parse import PatternError, parse
from atc.regex.tree import (
    ANY,
    EMPTY,
    NOTHING,
    Alternatives,
    Anchor,
    Repeated,
    Row,
    Tree,
    alternatives,
    row,
)

_SURROUNDINGS = Repeated(ANY, 0, None)
_MOST_PATHS = 64


def searched(tree: Tree) -> Tree:
    """The strings in which a search for `tree` finds something, as an expression without anchors.

    It matches nothing where no string can hold it, as for `a^b`.

    Raises:
        PatternError: anchors stand in too many alternatives.
    """
    return alternatives(_surrounded(path) for path in _paths(tree))


@lru_cache(maxsize=2048)
def sought(pattern: str) -> Tree:
    """The strings in which a search for `pattern`, as JSON Schema has them, finds something.

    Raises:
        PatternError: it is no regular expression, or holds what no terminal can say.
    """
    return searched(parse(pattern))


def _surrounded(path: tuple[Tree, ...]) -> Tree:
    """One row of parts, as a whole string: what stands before the last `^` and after the first `$` must be empty."""
    begins = max((i for i, part in enumerate(path) if part == Anchor("^")), default=-1)
    ends = min((i for i, part in enumerate(path) if part == Anchor("$")), default=len(path))
    outside = [part for i, part in enumerate(path) if (i < begins or i > ends) and not isinstance(part, Anchor)]
    if not all(map(nullable, outside)):
        return NOTHING
    inside = [part for part in path[begins + 1 : ends] if not isinstance(part, Anchor)]
    if ends < begins:
        inside = []
    before = [] if begins >= 0 else [_SURROUNDINGS]
    after = [] if ends < len(path) else [_SURROUNDINGS]
    return row([*before, *inside, *after])


def nullable(tree: Tree) -> bool:
    """Whether the empty string matches (anchors aside)."""
    match tree:
        case Row(parts):
            return all(map(nullable, parts))
        case Alternatives(parts):
            return any(map(nullable, parts))
        case Repeated(part, least, _):
            return least == 0 or nullable(part)
        case Anchor():
            return True
    return False


def _anchored(tree: Tree) -> bool:
    match tree:
        case Row(parts) | Alternatives(parts):
            return any(map(_anchored, parts))
        case Repeated(part):
            return _anchored(part)
    return isinstance(tree, Anchor)


def _paths(tree: Tree) -> list[tuple[Tree, ...]]:
    """`tree` as rows in which anchors stand at the top and nowhere else."""
    if not _anchored(tree):
        return [(tree,)]
    match tree:
        case Anchor():
            return [(tree,)]
        case Alternatives(parts):
            found = [path for part in parts for path in _paths(part)]
        case Row(parts):
            found = [()]
            for part in parts:
                found = _few([(*before, *path) for before in found for path in _paths(part)])
        case Repeated(part, least, most):
            # Each round but one is empty where an anchor stands in it: none or one round says nearly all.
            once = _paths(part) if most != 0 else []
            found = ([(EMPTY,)] if least == 0 else []) + (once if least <= 1 else [])
            if least > 1:
                raise PatternError("an anchor is repeated")
        case _:
            found = [(tree,)]
    return _few(found)


def _few(paths: list[tuple[Tree, ...]]) -> list[tuple[Tree, ...]]:
    if len(paths) > _MOST_PATHS:
        raise PatternError("anchors stand in too many alternatives")
    return paths
