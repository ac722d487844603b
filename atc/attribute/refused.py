"""A tool that failed: whose fault it is, which argument, and where that argument's value came from."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from atc.attribute.arguments import about_argument, argument_sources, origin_of
from atc.attribute.blame import Record
from atc.attribute.facts import invocation, keys_there
from atc.attribute.paths import Path, text
from atc.attribute.provenance import telling
from atc.types import Fault, FaultKind
from protocols.schema import Violation, violations
from protocols.toolbox import Tool
from sandbox.trace import Failure, ToolCall

_BLAMES_ARGUMENTS = frozenset({400, 404, 405, 406, 410, 413, 414, 422})
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_ERROR_SHOWN = 300


def from_tool_error(failure: Failure, call: ToolCall, record: Record, *, head: str | None = None) -> Fault:
    """The fault behind a failed call; `head` tells what came of it where its ToolError did not end the run."""
    tool = record.facts.tools.get(call.tool)
    broken = _broken(call, tool)
    line = failure.line if failure.line is not None else call.line
    said = " ".join((call.error or "").split())[:_ERROR_SHOWN]
    if call.status is not None and not said.startswith("HTTP"):
        said = f"HTTP {call.status}: {said}"
    message = f"{head or f'line {line}: {call.tool} (call {call.index}) failed'}: {said}"
    kind = kind_of(call, tool, broken)
    name = offender(call, tool, broken) if kind == "bad_arguments" else None
    evidence = [f"The call was {invocation(call)}."]
    if kind == "bad_arguments":
        for each in [name] if name is not None else call.arguments:
            if (changed := _changed(message, line, call, each, record)) is not None:
                return changed
            if (misread := _passed_on(message, line, call, each, record)) is not None:
                return misread
        evidence += [f"Argument {v.path or name!r}: {v.message}." for v in broken[:2]]
        for each in [name] if name is not None else call.arguments:
            evidence += about_argument(call, each, record)
    else:
        evidence.append(_advice(call, kind))
    return Fault(
        kind=kind,
        message=message.rstrip(".") + ".",
        call=call.index,
        tool=call.tool,
        path=name,
        line=line,
        evidence=tuple(dict.fromkeys(evidence)),
    )


def kind_of(call: ToolCall, tool: Tool | None, broken: Sequence[Violation]) -> FaultKind:
    """What kind of failure a call's error is."""
    if call.outcome == "unknown" and tool is not None and tool.protocol.writes:
        return "unknown_outcome"
    if call.status in _BLAMES_ARGUMENTS:
        return "bad_arguments"
    says_so = re.search(r"\bargument", call.error or "") is not None or _mentioned(call, tool) is not None
    if call.status is None and call.outcome in ("not_run", "refused") and (broken or says_so):
        return "bad_arguments"
    return "tool_failed"


def _advice(call: ToolCall, kind: FaultKind) -> str:
    if kind == "unknown_outcome":
        return f"Nobody knows whether {call.tool} took effect; find out with a read before calling it again."
    if call.status in _TRANSIENT or (call.status is None and call.outcome in ("unknown", "not_run")):
        return "The failure is transient: the same call may succeed later; the program need not change."
    if call.status in (401, 403):
        return "The tool refused the credentials; no change of the program helps."
    return f"Use another tool than {call.tool}, or catch ToolError around the call."


def _broken(call: ToolCall, tool: Tool | None) -> list[Violation]:
    try:
        return violations(tool.protocol.input_schema, tool.original(call.arguments)) if tool is not None else []
    except ValueError:  # the schema itself is none
        return []


def offender(call: ToolCall, tool: Tool | None, broken: Sequence[Violation]) -> str | None:
    """The argument that the tool objects to: named in its error, breaking its schema, quoted there, or the only one."""
    if (named := _mentioned(call, tool)) is not None:
        return named
    aliases = {original: alias for alias, original in tool.arguments.items()} if tool is not None else {}
    for violation in broken:
        if first := re.split(r"[.\[]", violation.path)[0]:
            return aliases.get(first, first)
    said = call.error or ""
    plain = {name: value for name, value in call.arguments.items() if telling(value) and isinstance(value, str | int)}
    quoted = {name: re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", said) for name, value in plain.items()}
    placed = [(match.start(), name) for name, match in quoted.items() if match is not None]
    if placed:  # what an error speaks of first is what it is about
        return min(placed)[1]
    return next(iter(call.arguments)) if len(call.arguments) == 1 else None


def _mentioned(call: ToolCall, tool: Tool | None) -> str | None:
    """The argument named first in the error's text; a quoted name goes before a mere word."""
    said = call.error or ""
    known = {name: name for name in call.arguments} | (dict(tool.arguments) if tool is not None else {})
    found: list[tuple[int, int, str]] = []
    for alias, original in known.items():
        for name in dict.fromkeys((alias, original)):
            for rank, pattern in enumerate((rf"['\"`]{re.escape(name)}['\"`]", rf"\b{re.escape(name)}\b")):
                if (match := re.search(pattern, said)) is not None:
                    found.append((rank, match.start(), alias))
    return min(found)[2] if found else None


def _changed(head: str, line: int, call: ToolCall, name: str, record: Record) -> Fault | None:
    """The fault is a response that departs from its schema where the argument's value came from."""
    for source in argument_sources(call, name, record):
        for made in record.calls(source) if source.kind == "call" else ():
            place = record.departure(made, source) if made.index < call.index else None
            if place is not None:
                missing = place.missing if isinstance(place.missing, str) else None
                return _departed(
                    head, line, call, name, made, (*place.path, missing) if missing else place.path, record
                )
    origin, _ = origin_of(call, name, record)
    if origin is None:
        return None
    maker = next(c for c in record.trace.calls if c.index == origin.call)
    if not record.facts.broken_promise(maker, origin.steps, call.arguments.get(name)):
        return None
    return _departed(head, line, call, name, maker, origin.steps, record)


def _departed(head: str, line: int, call: ToolCall, name: str, made: ToolCall, path: Path, record: Record) -> Fault:
    """An argument's value came through a place where a response departs from its schema."""
    where = record.facts.result_of(made, path)
    evidence = [f"The call was {invocation(call)}.", f"Argument {name!r} came from {where}."]
    evidence += [f"The response of {made.tool} departs from its schema: {said}." for said in made.drift[:3]]
    evidence += record.facts.about_schema(made, path)
    return Fault(
        kind="drift",
        message=f"{head.rstrip('.')}: {where} departs from its schema.",
        call=made.index,
        tool=made.tool,
        path=text(path),
        line=line,
        evidence=tuple(evidence),
    )


def _passed_on(head: str, line: int, call: ToolCall, name: str, record: Record) -> Fault | None:
    """The fault is the reading of an earlier response whose missing or null field was passed on as None."""
    if call.arguments.get(name) is not None:
        return None
    facts = record.facts
    sources = [s for s in argument_sources(call, name, record) if s.kind == "call" and s.path]
    for made, place in (found for source in reversed(sources) for found in record.items(source)):
        absent = place.missing if isinstance(place.missing, str) else None
        odd = place.missing is not None and not (absent is not None and isinstance(place.value, Mapping))
        if made.index >= call.index or place.seen is not None or odd:
            continue
        where = facts.result_of(made, place.path)
        what = f"has no key {absent!r}; {keys_there(place.value)}" if absent else "is None"
        path = (*place.path, absent) if absent is not None else place.path
        evidence = [f"The call was {invocation(call)}.", f"Argument {name!r} was None, since {where} {what}."]
        evidence += facts.about_key(made, place.path, place.value, absent) if absent is not None else []
        evidence += facts.about_schema(made, path)
        drift = facts.broken_promise(made, place.path, place.value, missing=absent)
        return Fault(
            kind="drift" if drift else "misread_result",
            message=f"{head.rstrip('.')}: {name!r} was None, since {where} {what}.",
            call=made.index,
            tool=made.tool,
            path=text(path),
            line=line,
            evidence=tuple(evidence),
        )
    return None
