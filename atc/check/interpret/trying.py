"""`try` and `with`: what may have happened, and which failures the program deals with."""

from __future__ import annotations

import ast

from atc.check.interpret.targets import bind_target
from atc.check.known.constants import loosened, settled
from atc.check.known.core import Core
from atc.check.known.frames import Env, join_env
from atc.check.known.kinds import ANY, Iterating, Type
from atc.check.known.lattice import join
from atc.check.library.pools import EXECUTOR
from atc.check.operations.moments import TASK_GROUP, TOOL_ERROR
from atc.check.source.scopes import caught


def try_statement(core: Core, node: ast.Try) -> None:
    """`try`."""
    frame = core.frame
    before = frame.env
    if before is None:
        return
    frame.risky.append({})
    core.shielded.append(shield(node.handlers))
    frame.env = before.copy()
    core.execute(node.body)
    core.shielded.pop()
    assigned = frame.risky.pop()
    broken = before.copy()
    for name, value in assigned.items():
        broken.names[name] = join(broken.names[name], value) if name in broken.names else value
    # What failed is not known, so neither is in which turn of a loop.
    broken.names = {name: loosened(value) for name, value in broken.names.items()}
    core.execute(node.orelse)
    result: Env | None = frame.env
    for handler in node.handlers:
        frame.env = broken.copy()
        if handler.name:
            core.bind(handler.name, TOOL_ERROR if caught(handler) == {"ToolError"} else ANY)
        with core.condition():
            core.execute(handler.body)
        result = join_env(result, frame.env)
    _finally(core, node.finalbody, result, broken)


def _finally(core: Core, body: list[ast.stmt], result: Env | None, broken: Env) -> None:
    core.frame.env = result if result is not None or not body else broken.copy()
    core.execute(body)
    if result is None:
        core.frame.env = None


def shield(handlers: list[ast.ExceptHandler]) -> frozenset[str]:
    """The exceptions that a `try` deals with.

    A handler that only says that something failed is no way of dealing with a wrong key: then what it catches is
    still worth a finding, except a None, against which `try` is a guard.
    """
    names: set[str] = set()
    for handler in handlers:
        own = caught(handler)
        if own & {"Exception", "BaseException"} and _only_tells(handler.body):
            own = own - {"Exception", "BaseException"} | {"told"}
        names |= own
    return frozenset(names)


def _only_tells(body: list[ast.stmt]) -> bool:
    for statement in body:
        match statement:
            case ast.Raise():
                pass
            case ast.Expr(value=ast.Call(func=ast.Name(id="print" | "exit" | "quit"))):
                pass
            case ast.Expr(
                value=ast.Call(func=ast.Attribute(value=ast.Name(id="logging" | "logger" | "traceback" | "sys")))
            ):
                pass
            case _:
                return False
    return True


def _entered(value: Type) -> Type:
    """What `with value as x` gives x."""
    if isinstance(value, Iterating) and value.kind == "generator":
        return settled(value.item)  # a function under `@contextmanager`
    return value if value in (EXECUTOR, TASK_GROUP) else ANY


def with_statement(core: Core, node: ast.With | ast.AsyncWith) -> None:
    """`with`."""
    shielded = frozenset[str]()
    for item in node.items:
        value = core.evaluate(item.context_expr)
        if item.optional_vars is not None:
            bind_target(core, item.optional_vars, _entered(value), item.context_expr)
        match item.context_expr:
            case ast.Call(func=ast.Name(id="suppress") | ast.Attribute(attr="suppress"), args=names):
                shielded |= {name.id for name in names if isinstance(name, ast.Name)}
    core.shielded.append(shielded)
    before = core.frame.env.copy() if core.frame.env is not None and shielded else None
    core.execute(node.body)
    core.shielded.pop()
    core.frame.env = join_env(before, core.frame.env)
