"""Comparisons that never come out true: with a value that the schema never gives, or of another kind."""

from __future__ import annotations

import ast
import re

from atc.check.known.constants import only
from atc.check.known.core import Core
from atc.check.known.kinds import Atom, Listing, Mapped, Null, Record, Type
from atc.check.known.lattice import members
from atc.check.known.words import described
from atc.check.operations.apartness import both_null, form_of, texts_apart
from atc.check.operations.hashing import check_hashable
from atc.check.operations.iteration import iterate_items
from atc.check.operations.keys import finds_nothing, keys_of, plural
from atc.check.operations.operators import category
from atc.check.report import listed, nearest, spelled
from atc.check.tools.literals import matches


def check_equal(core: Core, node: ast.Compare, left: Type, right: Type) -> None:
    """Check `left == right`, `left != right` or `left in right` (a single comparison, not one of several)."""
    if len(node.ops) != 1:
        return
    op, other = node.ops[0], node.comparators[0]
    if node in core.hints.alternative:
        if isinstance(op, ast.Eq):
            check_case(core, node, left, right, node.left)
        return
    if isinstance(op, ast.In | ast.NotIn):
        _check_in(core, node, left, right)
    elif isinstance(op, ast.Eq | ast.NotEq):
        node_left, node_right = node.left, other
        if isinstance(node_left, ast.Constant):
            node_left, left, node_right, right = node_right, right, node_left, left
        if isinstance(op, ast.Eq) and _check_kinds(core, node, node_left, left, node_right, right):
            return
        found = len(core.findings)
        _check_value(core, node, node_left, left, right)
        if len(core.findings) == found:
            _check_forms(core, node, node_left, left, node_right, right)


def _check_kinds(
    core: Core, node: ast.Compare, left_node: ast.expr, left: Type, right_node: ast.expr, right: Type
) -> bool:
    kinds = category(left), category(right)
    if kinds[0] is None or kinds[1] is None or kinds[0] == kinds[1] or {"tuple", "list"} == set(kinds):
        return False
    better = _converted(right_node, kinds[0])
    then = f" Write {better}." if better else ""
    message = (
        f"{spelled(left_node)} is {described(members(left)[0])} and {spelled(right_node)} is "
        f"{described(members(right)[0])}: they are never equal.{then}"
    )
    core.report("never-equal", node, message, better=better)
    return True


def _converted(node: ast.expr, kind: str) -> str | None:
    if not isinstance(node, ast.Constant):
        return None
    if kind == "number" and isinstance(node.value, str) and node.value.strip("-").isdigit():
        return node.value
    return repr(str(node.value)) if kind == "str" and isinstance(node.value, int) else None


def _check_value(core: Core, node: ast.Compare, left_node: ast.expr, left: Type, right: Type) -> None:
    """A constant string against what a schema says of the other side."""
    if not (isinstance(right, Atom) and right.name == "str" and right.values is not None and len(right.values) == 1):
        return
    if not isinstance(left_node, ast.Subscript | ast.Call | ast.Name):
        return
    text = right.values[0]
    alternatives = [member for member in members(left) if not isinstance(member, Null)]
    if not alternatives or not all(isinstance(m, Atom) and _impossible(m, text) for m in alternatives):
        return
    values = [v for m in alternatives if isinstance(m, Atom) for v in m.values or () if isinstance(v, str)]
    near = nearest(text, values, cutoff=0.75) if values else None
    if isinstance(node.ops[0], ast.NotEq) and near is None:
        return
    pattern = alternatives[0].pattern if isinstance(alternatives[0], Atom) else None
    wanted = f"is one of {listed(map(repr, values))}" if values else f"matches the pattern {pattern!r}"
    then = f" Did you mean {near!r}?" if near else ""
    message = f"{spelled(left_node)} is never {text!r}: it {wanted}.{then}"
    core.report("never-equal", node, message, better=repr(near) if near else None)


def _check_forms(
    core: Core, node: ast.Compare, left_node: ast.expr, left: Type, right_node: ast.expr, right: Type
) -> None:
    """Texts of forms that have none in common."""
    if both_null(left, right) or not texts_apart(left, right) or not (_has_form(left) or _has_form(right)):
        return
    # A word that is written out may well be there to be ruled out.
    words = [text for text in (only(left), only(right)) if isinstance(text, str)]
    if isinstance(node.ops[0], ast.NotEq) and any(not re.search(r"\d", text) for text in words):
        return
    message = (
        f"{spelled(left_node)} and {spelled(right_node)} are never equal: "
        f"the one is {form_of(left)}, the other is {form_of(right)}."
    )
    core.report("never-equal", node, message)


def _has_form(value: Type) -> bool:
    return any(isinstance(m, Atom) and (m.pattern is not None or m.listed) for m in members(value))


def check_sought(core: Core, node: ast.expr, sought: Type, sought_node: ast.expr, held: Type, text: str) -> None:
    """Report something that is looked for (`in`, `count`, `index`) among texts of which none can be it."""
    if not texts_apart(sought, held) or core.catches("ValueError"):
        return
    listed_values = [v for m in members(held) if isinstance(m, Atom) for v in m.values or ()]
    wanted = only(sought)
    # What the program holds of its own it may well test without need.
    if not (_has_form(sought) or _has_form(held)):
        return
    near = nearest(wanted, listed_values, cutoff=0.75) if isinstance(wanted, str) and listed_values else None
    then = f" Did you mean {near!r}?" if near else ""
    message = f"{spelled(sought_node)} is never in {text}: what it holds is {form_of(held)}.{then}"
    core.report("never-equal", node, message, better=repr(near) if near else None)


def check_case(core: Core, node: ast.expr, left: Type, right: Type, left_node: ast.expr) -> None:
    """One of several values that something is compared with. There the schema may lack one, but no misspelled one."""
    alternatives = [member for member in members(left) if not isinstance(member, Null)]
    if not (isinstance(right, Atom) and right.name == "str" and right.values is not None and len(right.values) == 1):
        return
    if not alternatives or not all(isinstance(m, Atom) and _impossible(m, right.values[0]) for m in alternatives):
        return
    text, values = right.values[0], [v for m in alternatives if isinstance(m, Atom) for v in m.values or ()]
    near = nearest(text, values, cutoff=0.8, loose=False)
    # A program that also writes the right one out allows for both spellings.
    if near is not None and near not in core.hints.texts:
        message = f"{spelled(left_node)} is never {text!r}: it is one of {listed(map(repr, values))}."
        core.report("never-equal", node, f"{message} Did you mean {near!r}?", better=repr(near))


def _impossible(member: Atom, text: str) -> bool:
    if member.name != "str":
        return False
    if member.values is not None:
        return member.listed and len(member.values) > 1 and text not in member.values
    return member.pattern is not None and matches(member.pattern, text) is False


_HASHING = ("set", "frozenset")


def _check_keys(core: Core, node: ast.Compare, left: Type, right: Type) -> None:
    """A key looked for in a dict that has keys of another kind only."""
    dicts = [member for member in members(right) if isinstance(member, Mapped)]
    if len(dicts) < len(members(right)) or not finds_nothing(dicts, left):
        return
    what = f"{spelled(node.left)} is {described(members(left)[0])}"
    kinds = plural(keys_of(dicts[0]))
    message = f"{what}, and the keys of {spelled(node.comparators[0])} are {kinds}: it is never in it."
    core.defer(lambda: finds_nothing(dicts, left), "never-equal", node, message)


def _check_in(core: Core, node: ast.Compare, left: Type, right: Type) -> None:
    """Something looked for among things of another kind."""
    if all(isinstance(m, Mapped | Record) or (isinstance(m, Listing) and m.kind in _HASHING) for m in members(right)):
        check_hashable(core, left, node.left)
        _check_keys(core, node, left, right)
    if not all(isinstance(member, Listing) or category(member) == "list" for member in members(right)):
        return
    held = iterate_items(core, right)
    kinds = category(left), category(held)
    if kinds == ("str", "str") and isinstance(node.ops[0], ast.In):
        check_sought(core, node, left, node.left, held, spelled(node.comparators[0]))
    if kinds[0] not in ("str", "number") or kinds[1] not in ("str", "number", "dict") or kinds[0] == kinds[1]:
        return
    what_held = {"dict": "objects", "str": "strings", "number": "numbers"}[kinds[1] or ""]
    container = node.comparators[0]
    what = f"{spelled(node.left)} is {described(members(left)[0])}"
    message = f"{what}, and {spelled(container)} holds {what_held}: it is never in it."
    core.report("never-equal", node, message)
