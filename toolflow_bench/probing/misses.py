"""What probing got wrong or did not find, tool by tool, for those who look for causes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from protocols.protocol import ToolProtocol
from protocols.schema import types
from toolflow_bench.probing.fields import says_something, schema_fields
from toolflow_bench.probing.prober import Probing
from toolflow_bench.probing.score import HINTS, STATUSES, argument_schema, missed
from toolflow_bench.probing.truth import LinkKey, Truth

_MOST = 8


def misses_of(
    probing: Probing, truth: Truth, *, false_links: Sequence[LinkKey], missing_links: Sequence[LinkKey]
) -> dict[str, Any]:
    """By kind: undocumented tools with their last calls, wrong and missing fields, arguments, errors, links."""
    found: dict[str, Any] = {"undocumented": {}, "fields": {}, "arguments": {}, "errors": {}, "effects": {}}
    for name, tool in truth.tools.items():
        produced = probing.protocols.get(name)
        if produced is None or not says_something(produced.output_schema):
            found["undocumented"][name] = _last_calls(probing, name)
        else:
            wrong, absent = missed(schema_fields(produced.output_schema), tool.seen_fields)
            if wrong or absent:
                found["fields"][name] = {"wrong": wrong[:_MOST], "missing": absent[:_MOST]}
        if produced is not None:
            if problems := list(_arguments(produced, tool.declared)):
                found["arguments"][name] = problems
            if problems := list(_errors(produced, tool.declared)):
                found["errors"][name] = problems
            if problems := list(_effects(produced, tool.declared)):
                found["effects"][name] = problems
    found["false_links"] = [_link(link) for link in false_links]
    found["missing_links"] = [_link(link) for link in missing_links]
    return found


def _arguments(produced: ToolProtocol, declared: ToolProtocol) -> Iterator[str]:
    for name in declared.parameters:
        said, true = argument_schema(produced, name), argument_schema(declared, name)
        if (name in produced.required) != (name in declared.required):
            yield f"{name} is {'required' if name in declared.required else 'optional'}"
        if set(types(said)) - {"null"} != set(types(true)) - {"null"}:
            yield f"{name} is {'/'.join(types(true))}, not {'/'.join(types(said)) or 'open'}"
        if said.get("enum") != true.get("enum"):
            yield f"{name} has the enum {true.get('enum')}, not {said.get('enum')}"
    for name in produced.parameters.keys() - declared.parameters.keys():
        yield f"{name} is no argument"


def _errors(produced: ToolProtocol, declared: ToolProtocol) -> Iterator[str]:
    said, true = ({error.status for error in one.errors} for one in (produced, declared))
    for status in STATUSES:
        if (status in said) != (status in true):
            yield f"{status} {'not seen' if status in true else 'not declared'}"


def _effects(produced: ToolProtocol, declared: ToolProtocol) -> Iterator[str]:
    for hint in HINTS:
        said, true = getattr(produced.annotations, hint), getattr(declared.annotations, hint)
        if said != true:
            yield f"{hint}: {said}, declared {true}"


def _last_calls(probing: Probing, tool: str) -> list[str]:
    mine = [sample for sample in probing.samples if sample.tool == tool]
    shown = [
        f"{sample.purpose} r{sample.round} {sample.plain} → {sample.outcome} {sample.status or ''} {sample.error[:120]}"
        for sample in mine[-_MOST:]
    ]
    stopped = probing.stopped.get(tool)
    return [*([f"stopped: {stopped}"] if stopped else []), *shown]


def _link(link: LinkKey) -> str:
    producer, path, consumer, argument = link
    return f"{producer}.{path} → {consumer}({argument})"
