"""Comparisons."""

from __future__ import annotations

import ast

from atc.check.known.core import Core
from atc.check.known.kinds import ANY, BOOL, Type
from atc.check.known.lattice import members
from atc.check.known.nulls import need_value
from atc.check.known.words import described
from atc.check.operations.equality import check_equal
from atc.check.operations.operators import category, check_ordered
from atc.check.report import spelled


def compare(core: Core, node: ast.Compare) -> Type:
    """A chain of comparisons: always a bool, as far as we know."""
    left_node, left = node.left, core.evaluate(node.left)
    for op, right_node in zip(node.ops, node.comparators, strict=True):
        right = core.evaluate(right_node)
        if isinstance(op, ast.Lt | ast.LtE | ast.Gt | ast.GtE):
            left = need_value(core, left, left_node, "comparing None fails")
            right = need_value(core, right, right_node, "comparing None fails")
            check_ordered(core, op, left_node, left, right_node, right, node)
        elif isinstance(op, ast.In | ast.NotIn):
            right = need_value(core, right, right_node, "`in` fails on None")
            if category(right) in ("number", "function") and not core.catches("TypeError"):
                message = f"{spelled(right_node)} is {described(members(right)[0])}: nothing is in it."
                core.report("not-a-list", right_node, message)
                right = ANY
            check_equal(core, node, left, right)
        else:
            check_equal(core, node, left, right)
        left_node, left = right_node, right
    return BOOL
