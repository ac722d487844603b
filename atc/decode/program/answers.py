"""Does a program print an answer whichever way it goes?"""

from __future__ import annotations

import ast


def answers(body: list[ast.stmt]) -> bool:
    """Whether something is printed on every way through the statements that ends well.

    A print in a loop over a list counts: the answer of an empty list is no line. One that a test may skip does not.
    """
    for statement in body:
        if _answers(statement):
            return True
        if _leaves(statement):
            return False
    return False


def _answers(statement: ast.stmt) -> bool:
    match statement:
        case ast.Expr(value=ast.Call(func=ast.Name(id="print"))) | ast.Raise():
            return True
        case ast.If(body=body, orelse=otherwise):
            return answers(body) and answers(otherwise)
        case ast.For(body=body):
            return answers(body)
        case ast.While(test=ast.Constant(value=True), body=body):
            return answers(body)
        case ast.Try(body=body, handlers=handlers, orelse=otherwise, finalbody=last):
            return answers(last) or (answers([*body, *otherwise]) and all(answers(h.body) for h in handlers))
        case _:
            return False


def _leaves(node: ast.AST) -> bool:
    """Whether it may leave the loop in which it stands, or go on to its next round."""
    if isinstance(node, ast.For | ast.While):
        return False
    return isinstance(node, ast.Break | ast.Continue) or any(map(_leaves, ast.iter_child_nodes(node)))
