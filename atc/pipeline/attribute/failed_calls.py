"""Faults of failed tool calls: which argument is to blame, and where its value came from."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from atc.core.json_paths import JsonPath, Place, format_json_path, get_at_path, is_distinctive
from atc.core.messages import MOST_KEYS, describe_keys, format_list, format_tool_call, snippet
from atc.core.types import Cure, Fact, Fault, FaultKind
from atc.pipeline.attribute.blame import AttributionTrace
from atc.pipeline.attribute.facts import build_fault, describe_schema
from protocols.schema import JsonObject
from protocols.tool import Tool
from protocols.validate import Violation, find_violation
from sandbox.trace import Failure, ToolCall, Trace

REMEDY_NEEDED = "RemedyNeeded"
"""Type of the failure that pauses a run until a person has put something right."""
_BLAMES_ARGUMENTS = frozenset({400, 404, 405, 406, 410, 413, 414, 422})
_TRANSIENT = frozenset({408, 425, 429, 500, 502, 503, 504})
_ERROR_SHOWN = 300


def find_failed_call(failure: Failure, trace: Trace) -> ToolCall | None:
    """Return the failed tool call that caused the exception, or None."""
    known = next((call for call in trace.calls if call.index == failure.call), None)
    if known is not None and known.error is not None:
        return known
    failed = [call for call in trace.calls if call.error is not None]
    return failed[-1] if failed and failure.type.rpartition(".")[2] == "ToolError" else None


def from_tool_error(failure: Failure, call: ToolCall, record: AttributionTrace) -> Fault:
    """Return the fault that explains why a tool call failed.

    The fault blames the call itself, or an earlier call that returned a bad value for an argument.
    """
    tool = record.facts.tools[call.tool]
    line = failure.line if failure.line is not None else call.line
    error = " ".join((call.error or "").split())[:_ERROR_SHOWN]
    if call.status is not None and not error.startswith("HTTP"):
        error = f"HTTP {call.status}: {error}"
    message = f"line {line}: {call.tool} (call {call.index}) failed: {error}".rstrip(".")
    broken = _find_violations(call, tool)
    kind = _kind(call, tool, broken)
    evidence = [record.facts.fact("call", call, f"The call was {format_tool_call(call)}.")]
    if kind != "bad_arguments":
        cure = _cure(call, kind)
        evidence.append(Fact(kind="advice", text=_advice(call, kind, cure)))
        evidence += _describe_violations(broken)
        return replace(build_fault(kind, f"{message}.", line, call, None, evidence), cure=cure)
    name = _offender(call, tool, broken)
    names = [name] if name is not None else list(call.arguments)
    for argument in names:
        fault = _blame_earlier_call(message, line, call, argument, record)
        if fault is not None:
            return fault
    evidence += _describe_violations(broken)
    for argument in names:
        evidence += _about_argument(call, argument, record)
    return build_fault(kind, f"{message}.", line, call, name, evidence)


def _describe_violations(broken: Sequence[Violation]) -> Iterator[Fact]:
    """Yield a fact about each of the first two violations of a tool's input schema."""
    for violation in broken[:2]:
        text = f"{violation.message}."
        if violation.path:
            text = f"Argument {violation.path!r}: {text}"
        yield Fact(kind="argument", text=text, path=violation.path)


def _kind(call: ToolCall, tool: Tool, broken: Sequence[Violation]) -> FaultKind:
    if call.outcome == "unknown" and tool.protocol.writes:
        return "unknown_outcome"
    if call.status in _BLAMES_ARGUMENTS:
        return "bad_arguments"
    says_so = call.status is None and call.outcome in ("not_run", "refused")
    return (
        "bad_arguments"
        if says_so and (broken or _find_mentioned_argument(call, tool) is not None)
        else "tool_failed"
    )


def _cure(call: ToolCall, kind: FaultKind) -> Cure:
    """Return the remedy (`Fault.cure`) for a failed call whose arguments are not to blame."""
    if kind == "unknown_outcome":
        return "program"
    if call.remedy is not None or call.status in (401, 403):
        return "permission"
    is_lost = call.status is None and call.outcome in ("unknown", "not_run")
    return "retry" if is_lost or call.status in _TRANSIENT else "program"


def _advice(call: ToolCall, kind: FaultKind, cure: Cure) -> str:
    if kind == "unknown_outcome":
        return (
            f"Nobody knows whether {call.tool} took effect; find out with a read before calling it"
            " again."
        )
    if cure == "permission":
        return (
            "The credentials do not allow this call, and no change of its arguments gives them the"
            f" permission: use another tool than {call.tool}, or catch ToolError around the call."
        )
    if cure == "retry":
        return (
            "The failure is transient: the same call may succeed later; the program need not"
            " change."
        )
    return f"Use another tool than {call.tool}, or catch ToolError around the call."


def _find_violations(call: ToolCall, tool: Tool) -> list[Violation]:
    """Return how the call's arguments violate the tool's input schema.

    An argument that the tool does not have counts as a violation.
    """
    try:
        found = find_violation(tool.protocol.input_schema, tool.original_arguments(call.arguments))
    except ValueError:  # the schema is invalid
        return []
    unknown = [name for name in call.arguments if name not in tool.arguments]
    return [
        *(Violation(name, "there is no such argument") for name in unknown),
        *([found] if found else []),
    ]


def _offender(call: ToolCall, tool: Tool, broken: Sequence[Violation]) -> str | None:
    """Return the name of the argument that the tool rejected, or None if it is unclear.

    It is the argument that the error names, else the argument that violates the input schema, else
    the argument whose value the error quotes, else the only argument of the call.
    """
    if (named := _find_mentioned_argument(call, tool)) is not None:
        return named
    aliases = {original: alias for alias, original in tool.arguments.items()}
    for one in broken:
        if first := re.split(r"[.\[]", one.path)[0]:
            return aliases.get(first, first)
    plain = {
        name: value
        for name, value in call.arguments.items()
        if is_distinctive(value) and isinstance(value, str | int)
    }
    quoted = {
        n: re.search(rf"(?<!\w){re.escape(str(value))}(?!\w)", call.error or "")
        for n, value in plain.items()
    }
    placed = [(match.start(), name) for name, match in quoted.items() if match is not None]
    if placed:  # The error most likely concerns the value that it mentions first.
        return min(placed)[1]
    return next(iter(call.arguments)) if len(call.arguments) == 1 else None


def _find_mentioned_argument(call: ToolCall, tool: Tool) -> str | None:
    """Return the argument that the error text of a call mentions first, or None.

    A name in quotes has precedence over one that occurs as an ordinary word.
    """
    found: list[tuple[int, int, str]] = []
    for alias, original in ({n: n for n in call.arguments} | dict(tool.arguments)).items():
        for name in dict.fromkeys((alias, original)):
            for rank, pattern in enumerate(
                (rf"['\"`]{re.escape(name)}['\"`]", rf"\b{re.escape(name)}\b")
            ):
                if (match := re.search(pattern, call.error or "")) is not None:
                    found.append((rank, match.start(), alias))
    return min(found)[2] if found else None


def _blame_earlier_call(
    message: str, line: int, call: ToolCall, name: str, record: AttributionTrace
) -> Fault | None:
    """Return the fault of an earlier call that produced the bad value of argument `name`, or None.

    The earlier call is to blame if its response violates its schema where the value came from, or
    if the field is missing or null there and the program passed on None.
    """
    for made, place in record.find_argument_places(call, name):
        missing = place.missing if isinstance(place.missing, str) else None
        if not isinstance(place.value, Mapping):
            missing = None
        full: JsonPath = (*place.path, missing) if missing is not None else place.path
        drift = record.facts.departure(made, full)
        if drift:
            fault = _blame_drift(message, line, call, name, made, drift, record)
        elif full and call.arguments.get(name) is None and _is_null(place, missing):
            fault = _blame_null(message, line, call, name, made, place, missing, record)
        else:
            continue
        return fault
    return None


def _is_null(place: Place, missing: str | None) -> bool:
    """Return True if a response has null at a position, or lacks the key `missing` there.

    `missing` is None if the whole path to the position exists.
    """
    return place.value_or_none is None and bool(missing or place.missing is None)


def _blame_drift(
    message: str,
    line: int,
    call: ToolCall,
    name: str,
    made: ToolCall,
    path: JsonPath,
    record: AttributionTrace,
) -> Fault:
    """Build the fault of the earlier call `made`, whose response violates its schema at `path`."""
    facts = record.facts
    where = facts.result_of(made, path)
    evidence = [
        facts.fact("call", call, f"The call was {format_tool_call(call)}."),
        facts.fact("origin", made, f"Argument {name!r} came from {where}.", path),
        *facts.about_drift(made, path),
        *facts.about_schema(made, path),
    ]
    text = f"{message}: {where} departs from its schema."
    return build_fault("drift", text, line, made, format_json_path(path), evidence)


def _blame_null(
    message: str,
    line: int,
    call: ToolCall,
    name: str,
    made: ToolCall,
    place: Place,
    missing: str | None,
    record: AttributionTrace,
) -> Fault:
    """Build the fault of a program that passed on a null or missing field of an earlier response.

    `made` is the earlier call that returned this response.
    """
    facts = record.facts
    path: JsonPath = place.path
    what = "is None"
    about: Iterable[Fact] = ()
    if missing is not None:
        path = (*place.path, missing)
        about = facts.about_key(made, place.path, place.value, missing)
    if missing:
        what = f"has no key {missing!r}; {describe_keys(place.value)}"
    where = facts.result_of(made, place.path if missing else path)
    reason = f"{name!r} was None, since {where} {what}"
    evidence = [
        facts.fact("call", call, f"The call was {format_tool_call(call)}."),
        facts.fact("origin", made, f"Argument {reason}.", path),
        *about,
        *facts.about_schema(made, path),
    ]
    text = f"{message}: {reason}."
    return build_fault("misread_result", text, line, made, format_json_path(path), evidence)


def _about_argument(call: ToolCall, name: str, record: AttributionTrace) -> Iterator[Fact]:
    """Yield facts about an argument of a failed call.

    They say where its value came from, which other fields exist there, and what its schema allows.
    """
    tool = record.facts.tools[call.tool]
    origin = record.find_argument_origin(call, name)
    if name in call.arguments:
        yield record.facts.about_origin(call, name, origin)
        yield from _suggest_other_field(call, name, *origin, record) if origin is not None else ()
    else:
        yield Fact(
            kind="argument", text=f"Argument {name!r} was not given.", call=call.index, path=name
        )
    if schema := tool.protocol.parameters.get(tool.arguments.get(name, name)):
        yield Fact(
            kind="argument", text=f"Argument {name!r} must be {describe_schema(schema)}.", path=name
        )


def _suggest_other_field(
    call: ToolCall, name: str, source_call: ToolCall, path: JsonPath, record: AttributionTrace
) -> Iterator[Fact]:
    """Yield a fact about the field that the program should probably have passed as an argument.

    The program passed a value from an earlier response as the argument `name` of `call`, and the
    tool refused it. Another field of the same object may be the right one, such as `id` instead of
    `title`. If none is likely, the fact lists all fields of the object. Yield nothing if the value
    is not in an object, or if the program did not get this object.

    Args:
        call: the call that failed.
        name: the argument whose value was refused.
        source_call: the earlier call from whose response the value was taken.
        path: the path of the value in that response.
        record: the trace of the run.
    """
    facts = record.facts
    above = path if isinstance(call.arguments.get(name), Mapping) else path[:-1]
    parent = get_at_path(source_call.result, above)
    # The program did not see an object that contains the value.
    if not isinstance(parent, Mapping) or path == facts.prefix(source_call):
        return
    where = facts.result_of(source_call, above)
    for field, why in _guess_fields(call, name, source_call, parent, record):
        if field in parent and (*above, field) != path:
            sentence = f"The field {field!r} of {where} = {snippet(parent[field], most=60)} {why}."
            yield facts.fact("field", source_call, sentence, (*above, field), [field])
            return
    sentence = f"The fields of {where} are {format_list(map(str, parent), most=MOST_KEYS)}."
    yield facts.fact("keys", source_call, sentence, above, map(str, parent))


def _guess_fields(
    call: ToolCall, name: str, source_call: ToolCall, parent: JsonObject, record: AttributionTrace
) -> Iterator[tuple[str, str]]:
    """Yield the response fields that may be the right value for an argument, likeliest first.

    Each is yielded with the reason, as the end of a sentence.
    """
    tool = record.facts.tools[call.tool]
    original = tool.arguments.get(name, name)
    source = record.facts.tools[source_call.tool].protocol.name
    for link in tool.protocol.links:
        if link.tool == source and link.argument == original:
            perhaps = "perhaps " if link.support == "guessed" else ""
            yield link.path.rpartition(".")[2], f"is {perhaps}what {name!r} takes"
    for field in (name, original):
        yield field, "has the argument's name"
    schema = tool.protocol.parameters.get(original, {})
    is_narrow = bool({"enum", "format", "pattern"} & schema.keys())
    if is_narrow and find_violation(schema, call.arguments.get(name)):
        fitting = [f for f, value in parent.items() if not find_violation(schema, value)]
        if len(fitting) == 1:
            yield fitting[0], f"is the only one that {name!r} accepts"
    for field in parent:
        if field.endswith(f"_{name}") or name.endswith(f"_{field}"):
            yield field, f"has a name like {name!r}"
