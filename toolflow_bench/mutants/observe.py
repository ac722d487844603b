"""What a gold run shows of each expression: its values, and the responses that they came from."""

from __future__ import annotations

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from atc.attribute.paths import Path, at
from protocols.errors import AtcError
from protocols.jsontypes import Json
from protocols.parsing import parse
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.trace import ToolCall
from toolflow_bench.checks.gold import run_program
from toolflow_bench.mutants.edit import numbered
from toolflow_bench.mutants.probes import MARK, probed
from toolflow_bench.task import Task


class NoObservation(AtcError):
    """A gold program that does not run to its end with probes in it; says why."""


@dataclass(frozen=True, slots=True)
class Seen:
    """One value of an expression: `order` counts all of the run's values.

    `call` and `path` say where in which call's full response it stands (None: unknown). `value` is a text, number,
    truth value or None as it is, and for anything else its type's name and length.
    """

    order: int
    call: int | None
    path: Path
    value: Json

    @property
    def is_scalar(self) -> bool:
        """Whether `value` is the value itself."""
        return not isinstance(self.value, list)

    @property
    def is_nothing(self) -> bool:
        """Whether it is None, or has no items."""
        return self.value is None or (isinstance(self.value, list) and self.value[1] == 0)


@dataclass(frozen=True)
class Gold:
    """A task's gold program, taken apart, with what its run showed."""

    task: Task
    toolbox: Toolbox
    tree: ast.Module
    calls: tuple[ToolCall, ...]
    sites: tuple[ast.AST, ...]
    """The expression that made each call."""
    seen: Mapping[int, tuple[Seen, ...]]
    """By id of the expression, in order of evaluation; of one that is evaluated often, the first ones."""
    parents: Mapping[int, ast.AST] = field(default_factory=dict)

    @property
    def source(self) -> str:
        """The program's text."""
        return self.task.program

    def values(self, node: ast.AST) -> tuple[Seen, ...]:
        """The values that an expression had; none where it never ran."""
        return self.seen.get(id(node), ())

    def traced(self, node: ast.AST) -> tuple[Seen, ...]:
        """Those of its values whose origin is known."""
        return tuple(one for one in self.values(node) if one.call is not None)

    def response(self, call: int, path: Path = ()) -> Json:
        """What stands at a path of a call's full response."""
        return at(self.calls[call].result, path)

    def tool_calls(self) -> list[ast.Call]:
        """The expressions that called a tool by its name, in order of the text."""
        found = [node for node in ast.walk(self.tree) if isinstance(node, ast.Call) and self.alias(node)]
        return sorted(found, key=lambda node: (node.lineno, node.col_offset))

    def alias(self, node: ast.Call) -> str | None:
        """The alias of the tool that an expression called; None where it is no such call, or never ran."""
        name = node.func.id if isinstance(node.func, ast.Name) else ""
        return name if name in self.toolbox and self.values(node) else None

    def ancestors(self, node: ast.AST) -> list[ast.AST]:
        """The nodes around `node`, innermost first."""
        found = []
        while (above := self.parents.get(id(node))) is not None:
            found.append(above)
            node = above
        return found


def observe(task: Task, toolbox: Toolbox, sandbox: Sandbox) -> Gold:
    """Run the gold program with probes, from whatever state the services are in.

    Raises:
        NoObservation: it fails, or says less than its probes should.
    """
    tree = parse(task.program)
    trace = run_program(probed(task.program, toolbox), toolbox, sandbox)
    if trace.failure is not None:
        raise NoObservation(f"{task.id}: with probes it fails: {trace.failure.type}: {trace.failure.message}.")
    told = trace.stdout.rpartition(MARK)[2]
    if MARK not in trace.stdout:
        raise NoObservation(f"{task.id}: its probes said nothing.")
    nodes = numbered(tree)
    seen: dict[int, list[Seen]] = {}
    sites, values = json.loads(told)
    for number, order, call, path, value in values:
        seen.setdefault(id(nodes[number]), []).append(Seen(order, call, _full(call, path, trace.calls, toolbox), value))
    parents = {id(child): node for node in nodes for child in ast.iter_child_nodes(node)}
    every = {key: tuple(sorted(values, key=lambda one: one.order)) for key, values in seen.items()}
    made = tuple(nodes[number] for number in sites)
    return Gold(task, toolbox, tree, trace.calls, made, every, parents)


def _full(call: int | None, path: list[str | int] | None, calls: tuple[ToolCall, ...], toolbox: Toolbox) -> Path:
    """A path of what the program got of a response, as one of the full response."""
    if call is None or path is None:
        return ()
    wrapper = toolbox[calls[call].tool].wrapper
    result = calls[call].result
    hidden = (wrapper,) if wrapper is not None and isinstance(result, Mapping) and wrapper in result else ()
    return (*hidden, *path)
