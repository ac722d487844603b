"""Mistakes of the program's own, in which no call had a part as far as facts tell."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence

from atc.attribute.blame import Record
from atc.attribute.provenance import origins
from atc.attribute.suspects import Suspect
from atc.check.report import listed, nearest
from atc.types import Fault, Program
from sandbox.trace import Failure


def own_mistake(program: Program, failure: Failure, found: Sequence[Suspect], record: Record) -> Fault:
    """The fault of an exception that leads to no call: a misspelled name, a wrong signature, a slip in the logic."""
    head = f"line {failure.line}: {failure.type}" if failure.line is not None else failure.type
    message = f"{head}: {failure.message}." if failure.message else f"{head}."
    line = program.line(failure.line)
    evidence = [f"Line {failure.line} is `{line}`."] if line else []
    if failure.type in ("NameError", "UnboundLocalError"):
        return _unknown_name(message, evidence, failure, record)
    if (signature := _signature(message, evidence, failure, record)) is not None:
        return signature
    for suspect in found:
        for source in record.slicer.sources(suspect.expr, suspect.path):
            if isinstance(source.node, ast.Dict) and suspect.role == "key" and source.kind == "made":
                keys = [repr(key.value) for key in source.node.keys if isinstance(key, ast.Constant)]
                evidence.append(f"The dict made on line {source.node.lineno} has the keys {listed(keys)}.")
    if found and found[0].role == "key":
        key, calls = found[0].key, {call.index: call for call in record.trace.calls}
        held = [record.facts.result_of(calls[o.call], o.steps) for o in origins(key, calls.values())[:2]]
        evidence += [f"{key!r} is the value of {where}." for where in held]
    return Fault(kind="error", message=message, line=failure.line, evidence=tuple(dict.fromkeys(evidence)))


def _unknown_name(message: str, evidence: list[str], failure: Failure, record: Record) -> Fault:
    """A name that nothing defines; a call of it was meant for a tool."""
    quoted = re.search(r"'(\w+)'", failure.message)
    name = quoted.group(1) if quoted is not None else ""
    tree = record.slicer.layout.tree
    called = any(isinstance(n, ast.Call) and isinstance(n.func, ast.Name) and n.func.id == name for n in ast.walk(tree))
    if failure.type == "UnboundLocalError" or not called:
        return Fault(kind="error", message=message, line=failure.line, evidence=tuple(evidence))
    tools = record.facts.tools
    near = nearest(name, tools)
    evidence.append(f"The tools are {listed(tools)}.")
    if near is not None:
        evidence.append(f"The nearest tool to {name!r} is {near!r}.")
    return Fault(kind="unknown_tool", message=message, tool=near, line=failure.line, evidence=tuple(evidence))


def _signature(message: str, evidence: list[str], failure: Failure, record: Record) -> Fault | None:
    """A tool that was called with arguments that it does not take, where Python noticed before the host did."""
    said = re.match(r"(\w+)\(\)", failure.message)
    tool = record.facts.tools.get(said.group(1)) if said is not None else None
    if failure.type != "TypeError" or tool is None:
        return None
    known = [f"{name} (required)" if name in tool.required else name for name in tool.arguments]
    evidence.append(f"The arguments of {tool.alias} are {listed(known)}; give them by name.")
    named = re.search(r"argument:? '(\w+)'", failure.message)
    near = nearest(named.group(1), tool.arguments) if named is not None else None
    if named is not None and near is not None and near != named.group(1):
        evidence.append(f"The nearest argument to {named.group(1)!r} is {near!r}.")
    return Fault(
        kind="bad_arguments",
        message=message,
        tool=tool.alias,
        path=named.group(1) if named is not None else None,
        line=failure.line,
        evidence=tuple(evidence),
    )
