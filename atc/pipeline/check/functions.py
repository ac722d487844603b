"""Analysis of calls of the program's own functions by the static check.

It evaluates arguments, binds them to parameters, and follows the function's body to its result.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from atc.pipeline.check import types as t
from atc.pipeline.check.budget import spend
from atc.pipeline.check.interpreter import Env, Interpreter, ScopeFrame
from atc.pipeline.check.pending import Pending
from atc.pipeline.check.syntax import FunctionNode, has_yield, is_deferred, parameters

MOST_DEPTH = 12


@dataclass(frozen=True, slots=True)
class CallArguments:
    """The types of the arguments of a call of a function, method or builtin (not of a tool).

    `values` and `nodes` are the types and the expressions of the positional arguments; `named` are
    the types of the keyword arguments. `sure` is False if the call unpacks values of unknown length
    with `*` or `**`. The types of the unpacked values are then in `loose`.
    """

    values: list[t.Type]
    nodes: list[ast.expr]
    named: dict[str, t.Type]
    sure: bool
    loose: list[t.Type]

    def after(self) -> CallArguments:
        """Return a copy of the arguments without the first positional one."""
        return replace(self, values=self.values[1:], nodes=self.nodes[1:])

    def every(self) -> Iterator[t.Type]:
        """Yield the types of all arguments, including unpacked ones."""
        yield from self.values
        yield from self.named.values()
        yield from self.loose


def read_arguments(core: Interpreter, node: ast.Call) -> CallArguments:
    """Evaluate the arguments of a call and return their types."""
    values: list[t.Type] = []
    nodes: list[ast.expr] = []
    named: dict[str, t.Type] = {}
    loose: list[t.Type] = []
    for argument in node.args:
        if not isinstance(argument, ast.Starred):
            values.append(core.evaluate(argument))
            nodes.append(argument)
            continue
        value = core.evaluate(argument.value)
        if isinstance(value, t.Tuple):
            values.extend(value.items)
            nodes.extend([argument.value] * len(value.items))
        else:
            loose.append(value)
    for keyword in node.keywords:
        value = core.evaluate(keyword.value)
        if keyword.arg is None:
            loose.append(value)
        else:
            named[keyword.arg] = value
    return CallArguments(values, nodes, named, not loose, loose)


def call_function(
    core: Interpreter,
    function: t.Function,
    positional: Sequence[t.Type],
    named: Mapping[str, t.Type],
    *,
    sure: bool = True,
    call: ast.Call | None = None,
) -> t.Type:
    """Analyse a call of one of the program's own functions, and return the type of its result.

    If `sure` is False, not all arguments are known, and every parameter gets the type `ANY`.
    """
    node = function.node
    spend(8 * (len(parameters(node)) + len(named)))
    bound = _bind_parameters(function, positional, named) if sure else None
    if sure and bound is None and call is not None and not core.catches("TypeError"):
        code = "missing-argument"
        if len(positional) > len(parameters(node)):
            code = "positional-argument"
        elif named.keys() - set(parameters(node)):
            code = "unknown-argument"
        takes = f"{getattr(node, 'name', 'the lambda')} takes ({ast.unparse(node.args)})"
        core.report(code, call, f"{takes}: the arguments of this call do not fit.")
    too_deep = node in core.active or len(core.active) >= MOST_DEPTH
    if bound is None or too_deep:
        core.escape([*positional, *named.values()])
        bound = dict.fromkeys(parameters(node), t.ANY)
    if too_deep:
        return t.ANY
    core.analysed.add(node)
    return run_body(
        core,
        function,
        ScopeFrame(
            node, function.frame, Env(bound, core.env.null_checked), detached=is_deferred(node)
        ),
    )


def run_body(core: Interpreter, function: t.Function, frame: ScopeFrame) -> t.Type:
    """Analyse a function's body as if it were executed, and return the type of its result.

    `frame` has the types of the parameters. It is the interpreter's current frame until the body
    ends.
    """
    node = function.node
    outer = core.frame
    core.frame = frame
    core.active.append(node)
    try:
        if isinstance(node, ast.Lambda):
            return core.evaluate(node.body)
        core.execute(node.body)
        if frame.yields:
            return t.Iterating(t.join(*frame.yields), "generator")
        if frame.env is not None:
            # If only some paths return a value, do not report None for the others.
            frame.returns.append(t.ANY if frame.returns else t.NONE)
        # Also a generator whose `yield`s are not reached with these arguments returns no result.
        result = t.join_all(frame.returns)
        if not is_deferred(node):
            return result
        is_coroutine = isinstance(node, ast.AsyncFunctionDef) and result is not t.NEVER
        return Pending(result) if is_coroutine and not has_yield(node) else t.ANY
    finally:
        core.active.pop()
        core.frame = outer


def _bind_parameters(
    function: t.Function, positional: Sequence[t.Type], named: Mapping[str, t.Type]
) -> dict[str, t.Type] | None:
    """Return the type that each parameter gets in a call of a function.

    Return None if the arguments do not fit the function's signature.
    """
    arguments = function.node.args
    names = [argument.arg for argument in (*arguments.posonlyargs, *arguments.args)]
    keywords = {*names, *(argument.arg for argument in arguments.kwonlyargs)}
    optional = [
        *names[len(names) - len(arguments.defaults) :],
        *(a.arg for a in arguments.kwonlyargs),
    ]
    bound = dict.fromkeys(optional, t.ANY) | dict(zip(names, positional, strict=False))
    bound |= {name: value for name, value in named.items() if name in keywords}
    rest = {name: value for name, value in named.items() if name not in keywords}
    if (len(positional) > len(names) and arguments.vararg is None) or (
        rest and arguments.kwarg is None
    ):
        return None
    if arguments.vararg is not None:
        bound[arguments.vararg.arg] = t.Tuple(tuple(positional[len(names) :]))
    if arguments.kwarg is not None:
        # Each call gets its own dict, and all its keys are known.
        bound[arguments.kwarg.arg] = t.Mapped(t.DictCell(rest, first=frozenset(rest)))
    return bound if keywords <= bound.keys() else None


def note_function(core: Interpreter, node: FunctionNode) -> t.Type:
    """Return the type of a function that the program defines.

    The defaults of its parameters are evaluated at the same time.
    """
    core.defined_in[node] = core.frame
    for default in (*node.args.defaults, *node.args.kw_defaults):
        if default is not None:
            core.evaluate(default)
    return t.Function(node, core.frame)


def apply(core: Interpreter, function: t.Type, values: list[t.Type]) -> t.Type:
    """Return the type that `function(*values)` returns.

    It is `ANY` unless `function` is a function of the program or a tool.
    """
    values = [t.ANY if value is t.NEVER else value for value in values]
    return t.join_all(_apply_member(core, member, values) for member in t.members(function))


def _apply_member(core: Interpreter, member: t.Type, values: list[t.Type]) -> t.Type:
    match member:
        case t.Function():
            return call_function(core, member, values, {})
        case t.ToolRef(alias):
            return core.tool_result(alias)
        case _:
            return t.ANY
