"""The route by what is seen: one program first, step by step where programs go on misreading what they get."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from atc.events import RouteChanged
from atc.repair import worth_repairing
from atc.strategies.attempts import MISREAD, writing_tools
from atc.strategies.chain import Chain
from atc.strategies.run import Parts
from atc.strategies.stepwise import Stepwise
from atc.synthesize import described, listed
from atc.types import Attempt, Fault, Program, Solution
from protocols.parsing import parsed
from protocols.toolbox import Toolbox

_MOST_MISREAD = 2
"""Rounds that end with a response misread before the route changes."""
_MOST_STEPS = 4
"""Assignments through which a value is followed, one behind the other."""


def solve(task: str, parts: Parts) -> Solution:
    """Solve with `chain`, and go on with `stepwise` once two rounds misread a response.

    So it does at once where a program would write what it takes from a response that nobody has described or seen. The
    run goes on with what it has: one budget, one journal.
    """
    route = _Route()
    chain = Chain(task, parts, route)
    tools, tried = chain.tools, chain.solve()
    if not route.why or tried.status != "failed" or tried.limit is not None:
        return tried
    parts.observer(RouteChanged("stepwise", route.why))
    return Stepwise(task, parts, tools=tools, meter=chain.meter, attempts=tried.attempts).solve()


@dataclass
class _Route:
    """Whether `chain` should be left, and why, in a clause."""

    why: str = ""

    def __call__(self, attempts: Sequence[Attempt], program: Program | None, tools: Toolbox) -> bool:
        """See `atc.strategies.chain.Leave`."""
        if program is not None:
            if found := next(unseen_writes(program, tools), None):
                self.why = "{} would be given what {} returns, which nobody has seen".format(*found)
        elif len(misread := _misreadings(attempts)) >= _MOST_MISREAD and not any(a.answer for a in attempts):
            blamed = list(dict.fromkeys(fault.tool for fault in misread if fault.tool is not None))
            self.why = f"programs misread what {listed(blamed) or 'the tools'} gave"
        return bool(self.why)


def unseen_writes(program: Program, tools: Toolbox) -> Iterator[tuple[str, str]]:
    """The tools that write what comes from a tool of which nobody knows what it returns, each with that tool.

    A value is followed by name: what is assigned from it, looped over, or put into a container.
    """
    tree, writing = parsed(program.source), writing_tools(program, tools)
    origin = {alias: alias for alias, tool in tools.items() if alias not in writing and not described(tool)}
    if tree is None or not writing or not origin:
        return
    nodes = list(ast.walk(tree))
    for _ in range(_MOST_STEPS):
        for node in nodes:
            for name, value in _given(node):
                if name not in tools and (source := _origin(value, origin)):
                    origin.setdefault(name, source)
    for node in nodes:
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in writing:
            arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
            if source := next((found for value in arguments if (found := _origin(value, origin))), None):
                yield node.func.id, source


def _given(node: ast.AST) -> Iterator[tuple[str, ast.AST]]:
    """The names that a statement or a comprehension gives a value, each with what it comes from."""
    value: ast.AST | None = getattr(node, "value", None) or getattr(node, "iter", None)
    targets = [*getattr(node, "targets", ()), getattr(node, "target", None)]
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=owner))):
            targets = [owner]
    stored = (name for target in targets if target is not None for name in ast.walk(target))
    yield from ((name.id, value) for name in stored if isinstance(name, ast.Name) and value is not None)


def _origin(value: ast.AST, origin: dict[str, str]) -> str | None:
    names = (node.id for node in ast.walk(value) if isinstance(node, ast.Name))
    return next((origin[name] for name in names if name in origin), None)


def _misreadings(attempts: Sequence[Attempt]) -> list[Fault]:
    """The faults of this kind that the model was told of, or would be: one a round."""
    rounds = [list(group) for _, group in groupby(attempts, key=lambda attempt: attempt.round)]
    told = [worth_repairing(tried).fault for tried in rounds]
    return [fault for fault in told if fault is not None and fault.kind in MISREAD]
