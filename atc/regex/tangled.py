"""Expressions that a lexer cannot match without following very many readings at once."""

from __future__ import annotations

from atc.regex.search import beginnings
from atc.regex.tree import Alternatives, Repeated, Row, Tree, chars, common

_DEEPEST = 3


def tangled(tree: Tree) -> bool:
    """Whether repetitions are counted while others within them may be read in many ways, as in `(.{3,}"+){3,}`.

    llguidance then gives up in the middle of a string, for each count and each place of it is a state of its own.
    """
    return _nested(tree) >= _DEEPEST or _counts_the_unclear(tree)


def _nested(tree: Tree) -> int:
    match tree:
        case Row(parts) | Alternatives(parts):
            return max(map(_nested, parts), default=0)
        case Repeated(part):
            return _nested(part) + _varies(tree)
    return 0


def _varies(tree: Tree) -> bool:
    return isinstance(tree, Repeated) and tree.least != tree.most and (tree.most is None or tree.most > 1)


def _counts_the_unclear(tree: Tree) -> bool:
    match tree:
        case Row(parts) | Alternatives(parts):
            return any(map(_counts_the_unclear, parts))
        case Repeated(part, least, most):
            counts = _varies(tree) and (least > 1 or most is not None)
            return (counts and _unclear(part, part)) or _counts_the_unclear(part)
    return False


def _unclear(tree: Tree, after: Tree) -> bool:
    """Whether a repetition in `tree` may be read on where `after`, or what follows it in `tree`, may begin."""
    match tree:
        case Alternatives(parts):
            return any(_unclear(part, after) for part in parts)
        case Row(parts):
            return any(_unclear(part, Row((*parts[i + 1 :], after))) for i, part in enumerate(parts))
        case Repeated(part):
            here, next_one = (chars(beginnings(one)) for one in (part, after))
            return (_varies(tree) and bool(common(here, next_one).ranges)) or _unclear(part, Row((part, after)))
    return False
