"""Functions of the program: analysed anew at each call, with the types of its arguments."""

from __future__ import annotations

import ast
from collections.abc import Mapping, Sequence

from atc.check.functions.arity import report_call
from atc.check.functions.lapses import lapse
from atc.check.known.constants import chosen
from atc.check.known.core import Core
from atc.check.known.frames import Env, Frame, join_env
from atc.check.known.kinds import ANY, NEVER, Awaitable, DictCell, Function, Iterating, Mapped, Tuple, Type
from atc.check.known.lattice import join

MOST_DEPTH = 12


def call_function(
    core: Core,
    function: Function,
    positional: Sequence[Type],
    named: Mapping[str, Type],
    *,
    sure: bool = True,
    call: ast.expr | None = None,
) -> Type:
    """What a call gives. With `sure` False the arguments are not all known, and every parameter is `ANY`."""
    node = function.node
    if sure and call is not None:
        report_call(core, function, len(positional), named, call)
    if node in core.active or len(core.active) >= MOST_DEPTH:
        core.escape([*positional, *named.values()])
        return ANY
    bound = bind_parameters(core, function, positional, named) if sure else None
    core.analysed.add(node)
    if bound is None:
        core.escape([*positional, *named.values()])
        bound = unknown_parameters(node.args)
    frame = Frame(node, function.frame, Env(bound, core.env.calm), late=_runs_late(core, node, call))
    before = len(core.stored)
    result = run_body(core, function, frame)
    core.forget(core.stored[before:])
    return result


def _runs_late(core: Core, node: ast.AST, call: ast.expr | None) -> bool:
    """Whether the body runs some time after the call."""
    if isinstance(node, ast.AsyncFunctionDef):
        return call not in core.hints.immediate
    return node in core.scopes.generators and call in core.hints.kept


def run_body(core: Core, function: Function, frame: Frame) -> Type:
    """Run a function's body in `frame` and give what the call gives."""
    node = function.node
    outer, core.frame = core.frame, frame
    core.active.append(node)
    try:
        if isinstance(node, ast.Lambda):
            result = core.evaluate(node.body)
            return result if not frame.yields else ANY
        core.execute(node.body)
        if frame.yields:
            return Iterating(join(*frame.yields), "generator")
        if frame.env is not None:
            frame.returns.append(lapse(node, frame.returns))
            frame.last = join_env(frame.last, frame.env)
        result = chosen(frame.returns)
        return Awaitable(result) if isinstance(node, ast.AsyncFunctionDef) else result
    finally:
        core.active.pop()
        core.frame = outer


def unknown_parameters(arguments: ast.arguments) -> dict[str, Type]:
    """Every parameter as `ANY`."""
    every = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    every += [extra for extra in (arguments.vararg, arguments.kwarg) if extra is not None]
    return {argument.arg: ANY for argument in every}


def bind_parameters(
    core: Core, function: Function, positional: Sequence[Type], named: Mapping[str, Type]
) -> dict[str, Type] | None:
    """The parameters' types; None where the call does not fit, which is not ours to report."""
    arguments = function.node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    bound = dict(core.defaults.get(function.node, {}))
    bound.update(zip(names, positional, strict=False))
    if len(positional) > len(names) and arguments.vararg is None:
        return None
    if arguments.vararg is not None:
        bound[arguments.vararg.arg] = Tuple(tuple(positional[len(names) :]))
    keywords = {*names, *(argument.arg for argument in arguments.kwonlyargs)}
    for name, value in named.items():
        if name in keywords:
            bound[name] = value
        elif arguments.kwarg is None:
            return None
    if arguments.kwarg is not None:
        # Each call has a dict of its own, whose keys are all known.
        rest = {name: value for name, value in named.items() if name not in keywords}
        bound[arguments.kwarg.arg] = Mapped(DictCell(rest, first=frozenset(rest)))
    return bound if all(name in bound for name in keywords) else None


def note_defaults(core: Core, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> None:
    """Evaluate the defaults of a function where it is defined, and keep their types."""
    arguments = node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    given: list[tuple[str, ast.expr]] = []
    if arguments.defaults:
        given += zip(names[-len(arguments.defaults) :], arguments.defaults, strict=True)
    keyword_only = zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True)
    given += [(argument.arg, default) for argument, default in keyword_only if default is not None]
    known = core.defaults.setdefault(node, {})
    for name, default in given:
        known[name] = join(known.get(name, NEVER), core.evaluate(default))
