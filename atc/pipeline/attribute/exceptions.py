"""Faults of programs that raised an exception.

Such a fault says which call's result the program misread, or which call's result was empty. If no
call explains the exception, the fault is an error in the program's own logic.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from atc.core.json_paths import EACH, KEY, JsonPath, format_json_path, generalize, get_at_path
from atc.core.messages import (
    describe_keys,
    describe_type,
    format_expression,
    format_list,
    format_tool_call,
    snippet,
)
from atc.core.program import Program
from atc.core.types import Fact, Fault, FaultKind
from atc.pipeline.attribute.blame import MOST_ITEMS, AttributionTrace, Candidate, choose_candidate
from atc.pipeline.attribute.facts import build_fault
from atc.pipeline.attribute.failing_values import Suspect, is_empty, suspects
from atc.pipeline.attribute.sources import CallSource
from protocols.schema import Json
from sandbox.trace import Failure, ToolCall


def from_exception(program: Program, failure: Failure, record: AttributionTrace) -> Fault:
    """Return the fault that explains why a program raised an exception other than `ToolError`."""
    is_own = _is_raised_by_program(failure, record)
    found: list[Suspect] = []
    chosen: Candidate | None = None
    for around in suspects(failure, record.tree):
        candidate = choose_candidate(
            [candidate for suspect in around for candidate in record.find_candidates(suspect)]
        )
        if candidate is not None:
            filtered = candidate.source.filters and candidate.suspect.unfilled and not is_own
            if candidate.proven or filtered:
                return explain(failure, candidate, record)
        if not found:  # Suspects in wider regions are only blamed if proven.
            found = around
            chosen = candidate
    # An unproven call is still to blame if no constant of the program can have failed.
    known = (
        chosen is not None and chosen.suspect.role not in ("key", "value") and chosen.source.exact
    )
    if is_own or chosen is None or not known or any(map(record.is_caused_by_constant, found)):
        return _own_mistake(program, failure, chosen, record)
    return explain(failure, chosen, record)


def _is_raised_by_program(failure: Failure, record: AttributionTrace) -> bool:
    """Return True if the program raised this exception with its own `raise` statement."""
    raised = failure.type.rpartition(".")[2]
    for node in ast.walk(record.tree.root):
        if isinstance(node, ast.Raise) and failure.line is not None and node.exc is not None:
            called = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            covers = node.lineno <= failure.line <= (node.end_lineno or node.lineno)
            if covers and isinstance(called, ast.Name) and called.id == raised:
                return True
    return False


def from_unfilled(
    failure: Failure, call: ToolCall, name: str, record: AttributionTrace
) -> Fault | None:
    """Return the fault of an earlier call that left a variable at None, or None if no call did.

    The program passed this variable to the failed `call` as the argument `name`. An earlier call is
    to blame if its result was empty, or if no item of its result satisfied the program's
    conditions, so that the program never gave the variable another value.
    """
    given = record.argument(call, name)
    if call.arguments.get(name) is not None or given is None:
        return None
    chosen = choose_candidate(
        record.candidates(Suspect(given, "empty", is_empty), record.sources.find_control(given))
    )
    return (
        explain(failure, chosen, record)
        if chosen and (chosen.proven or chosen.source.filters)
        else None
    )


def explain(failure: Failure, chosen: Candidate, record: AttributionTrace) -> Fault:
    """Build the fault for the chosen candidate, depending on how the program used its value."""
    detail = f" {failure.message}" if failure.message else ""
    head = f"line {failure.line}: {failure.type}{detail}"
    suspect = chosen.suspect
    if chosen.place.path[-1:] == (KEY,):
        return _explain_iteration(head, failure, chosen, record)
    if chosen.broken:
        return _explain_read(head, failure, chosen, record)
    if chosen.source.filters and not chosen.proven:
        return _explain_filter(head, failure, chosen, record)
    if _is_empty_result(chosen, record) or (suspect.role == "empty" and chosen.proven):
        return _explain_empty_value(head, failure, chosen, record)
    if suspect.role == "value" and suspect.key is not None:
        return _explain_missing_value(head, failure, chosen, record)
    return _explain_read(head, failure, chosen, record)


def _is_empty_result(chosen: Candidate, record: AttributionTrace) -> bool:
    """Return True if the blamed value is an empty list, or a whole result of null or `{}`."""
    place = chosen.place
    if place.missing is not None:
        return False
    is_whole = place.path in ((), record.facts.prefix(chosen.call)) and chosen.suspect.role != "key"
    return place.value == [] or (is_whole and place.value in (None, {}))


def _explain_missing_value(
    head: str, failure: Failure, chosen: Candidate, record: AttributionTrace
) -> Fault:
    """Build the fault for a dict of the program that lacks a key which came from a response.

    The program took the key from a tool's response and looked it up in a dict that it had built
    itself.
    """
    call = chosen.call
    path = chosen.place.path
    key = chosen.suspect.key
    facts = record.facts
    above = facts.result_of(call, path[:-1])
    advice = f"Ask the dict with .get({key!r}), or use another field of {above}."
    evidence = [facts.fact("field", call, advice, path[:-1]), *facts.about_schema(call, path)]
    origin = facts.result_of(call, path)
    message = f"{head}: the dict has no key {key!r}, which came from {origin}."
    return build_fault(
        "misread_result", message, failure.line, call, format_json_path(path), evidence
    )


def _explain_read(
    head: str, failure: Failure, chosen: Candidate, record: AttributionTrace
) -> Fault:
    """Build the fault for a program that read a response wrongly.

    It read a missing key, or used a value of another type than it expected.
    """
    call = chosen.call
    place = chosen.place
    facts = record.facts
    where = facts.result_of(call, place.path)
    missing = _find_missing_key(chosen)
    wanted = (*place.path, missing) if missing is not None else place.path
    evidence: list[Fact] = []
    drift = chosen.broken or facts.departure(call, wanted) is not None
    if missing is not None:
        what = f"{where} has no key {missing!r}; {describe_keys(place.value)}"
        keys = map(str, islice(place.value, 20))
        keys_told = f"{where}: {describe_keys(place.value)}."
        evidence.append(facts.fact("keys", call, keys_told, place.path, keys))
        evidence += facts.about_key(call, place.path, place.value, missing)
    else:
        what = f"{where} is {describe_type(place.value)}{_hint(place.value, chosen.suspect)}"
    prefix = facts.prefix(call)
    if prefix and place.path == prefix and prefix[0] in (missing, chosen.suspect.key):
        advice = (
            f"{call.tool} gives the value of {prefix[0]!r} itself: do not write [{prefix[0]!r}]"
            " after it."
        )
        evidence.append(facts.fact("advice", call, advice, place.path))
    evidence += list(facts.about_schema(call, wanted)) or list(facts.about_schema(call, place.path))
    if "JSON object must be" in failure.message:
        advice = "Results are parsed already: do not call json.loads on them."
        evidence.append(Fact(kind="advice", text=advice))
    if drift:
        evidence += facts.about_drift(call, wanted)
    kind: FaultKind = "drift" if drift else "misread_result"
    path = format_json_path(wanted)
    return build_fault(kind, f"{head}: {what}.", failure.line, call, path, evidence)


def _find_missing_key(chosen: Candidate) -> str | None:
    """Return the key that the program read but that the response object does not have, or None."""
    key: Json = chosen.place.missing
    if not isinstance(key, str):
        key = chosen.suspect.key if chosen.suspect.role == "key" else None
    value = chosen.place.value
    is_missing = isinstance(key, str) and isinstance(value, Mapping) and key not in value
    return key if is_missing and isinstance(key, str) else None


def _explain_iteration(
    head: str, failure: Failure, chosen: Candidate, record: AttributionTrace
) -> Fault:
    """Build the fault for a response object that the program iterated as if it were a list."""
    call = chosen.call
    path = chosen.place.path[:-1]
    facts = record.facts
    where = facts.result_of(call, path)
    value = get_at_path(call.result, path)
    lists = [key for key, inner in value.items() if isinstance(inner, list)]
    advice = "Read a value by its key, or take all with .values()."
    if len(lists) == 1:
        advice = f"The list in it is at `{facts.format_subscripts(call, (*path, lists[0]))}`."
    message = (
        f"{head}: {where} is an object, and iterating it gives its keys; {describe_keys(value)}."
    )
    evidence = [facts.fact("keys", call, advice, path, lists), *facts.about_schema(call, path)]
    return build_fault(
        "misread_result", message, failure.line, call, format_json_path(path), evidence
    )


def _hint(value: Json, suspect: Suspect) -> str:
    """Return advice, for the end of a message, on how to use the value that was misused."""
    if isinstance(value, Mapping):
        # If the mapping has the attribute, one of its items failed instead.
        dotted = suspect.role == "attribute" and not hasattr(value, str(suspect.key))
        return f"; {describe_keys(value)}" + ('; write ["key"], not .key' if dotted else "")
    if isinstance(value, list) and value:
        return "; take an element with [0] or loop over it"
    if value is None:
        return "; test that it is not None before using it"
    has_no = " and has no keys" if isinstance(value, str) and isinstance(suspect.key, str) else ""
    return f" ({snippet(value, most=60)}){has_no}"


def _explain_empty_value(
    head: str, failure: Failure, chosen: Candidate, record: AttributionTrace
) -> Fault:
    """Build the fault for an empty result that the program used without testing for this case."""
    call = chosen.call
    place = chosen.place
    facts = record.facts
    answer = snippet(get_at_path(call.result, facts.prefix(call)))
    evidence = [
        facts.fact(
            "call", call, f"{format_tool_call(call)} (call {call.index}) answered with {answer}."
        )
    ]
    evidence += [
        facts.about_origin(call, name, record.find_argument_origin(call, name))
        for name in call.arguments
    ]
    evidence += [*facts.about_schema(call, place.path), *facts.about_location(call)]
    # Fields that the filters tested in lists that are not empty.
    tested = (one for test in chosen.source.filters for one in _find_field_tests(test, record))
    evidence += [facts.fact("test", one.call, one.sentence, one.path) for one in tested]
    empty = "0" if place.value == 0 else describe_type(place.value)
    what = f"{facts.result_of(call, place.path)} is {empty}"
    advice = "Test that the result is not empty before using it, or call with other arguments."
    return build_fault(
        "empty_result",
        f"{head}: {what}.",
        failure.line,
        call,
        format_json_path(place.path),
        [*evidence, Fact(kind="advice", text=advice)],
    )


class _FieldTest(NamedTuple):
    """A response field that a condition of the program tests, as in `if row["status"] == "late"`.

    `sentence` says what values the field actually has. `absent` is True if the field is missing, or
    if none of its values can satisfy the condition.
    """

    sentence: str
    path: JsonPath
    call: ToolCall
    absent: bool
    kind: FaultKind


def _explain_filter(
    head: str, failure: Failure, chosen: Candidate, record: AttributionTrace
) -> Fault:
    """Build the fault for a program whose conditions excluded every item of a tool's result.

    The program expected other values in the fields that the conditions test.
    """
    call = chosen.call
    place = chosen.place
    facts = record.facts
    tested = [one for test in chosen.source.filters for one in _find_field_tests(test, record)]
    # Blame a field that is missing everywhere, whichever call it belongs to; otherwise the last
    # field tested on these items.
    own = [one for one in tested if one.call.tool == call.tool]
    meant = next((one for one in tested if one.absent), own[-1] if own else None)
    count = sum(
        len(p.value) for _, p in record.items(chosen.source) if isinstance(p.value, list | Mapping)
    )
    tests = format_list((f"`{format_expression(test)}`" for test in chosen.source.filters), most=3)
    message = (
        f"{head}: none of the {count} items of {facts.result_of(call, place.path)} passed {tests}."
    )
    evidence = [facts.fact("test", one.call, one.sentence, one.path) for one in tested]
    if meant is None:
        return build_fault(
            "misread_result",
            message,
            failure.line,
            call,
            format_json_path(generalize(place.path)),
            evidence,
        )
    blamed = call if call.tool == meant.call.tool else meant.call
    evidence += facts.about_drift(blamed) if meant.kind == "drift" else ()
    return build_fault(
        meant.kind,
        message,
        failure.line,
        blamed,
        format_json_path(generalize(meant.path)),
        evidence,
    )


def _find_field_tests(test: ast.expr, record: AttributionTrace) -> Iterator[_FieldTest]:
    """Yield each response field that the condition `test` examines, with its actual values."""
    for node in ast.walk(test):
        alone = node is test or isinstance(record.tree.parents.get(node), ast.BoolOp | ast.UnaryOp)
        sides: list[ast.expr] = (
            [node] if alone and isinstance(node, ast.Subscript | ast.Call | ast.Name) else []
        )
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        for number, side in enumerate(sides):
            within = (
                number
                and isinstance(node, ast.Compare)
                and isinstance(node.ops[0], ast.In | ast.NotIn)
            )
            known = [
                source
                for source in record.sources.find_sources(side, (EACH,) if within else ())
                if source.path
            ]
            if (
                known
                and isinstance(node, ast.expr)
                and (found := _values_at(known[-1], node, record)) is not None
            ):
                yield found


def _values_at(source: CallSource, test: ast.expr, record: AttributionTrace) -> _FieldTest | None:
    """Return the response field to which `source` leads, with the values that it actually has.

    `test` is the condition of the program that compares the field. Return None if no response has
    anything at this path.
    """
    facts = record.facts
    every = list(islice(record.items(source), MOST_ITEMS))
    for call, place in every:
        if isinstance(place.missing, str) and isinstance(place.value, Mapping):
            path = (*place.path, place.missing)
            sentence = (
                f"{facts.result_of(call, place.path)} has no key {place.missing!r};"
                f" {describe_keys(place.value)}."
            )
            gone: FaultKind = "drift" if facts.departure(call, path) else "misread_result"
            return _FieldTest(sentence, path, call, absent=True, kind=gone)
    if not every:
        return None
    call = every[0][0]
    path = generalize(every[0][1].path)
    broken = any(facts.departure(call, place.path) is not None for call, place in every)
    values = format_list(dict.fromkeys(snippet(p.value_or_none, most=40) for _, p in every), most=8)
    sentence = (
        f"`{format_expression(test)}` was tested, but the values at"
        f" `{facts.format_subscripts(call, path)}` are {values}."
    )
    constants = {type(n.value) for n in ast.iter_child_nodes(test) if isinstance(n, ast.Constant)}
    unlike = constants == {str} and not any(isinstance(p.value_or_none, str) for _, p in every)
    return _FieldTest(
        sentence, path, call, absent=unlike or broken, kind="drift" if broken else "misread_result"
    )


def _own_mistake(
    program: Program, failure: Failure, chosen: Candidate | None, record: AttributionTrace
) -> Fault:
    """Build the fault for an exception that no tool call explains: an error in the program's logic.

    `chosen` says from which call the failing value was computed, if it came from a call.
    """
    head = f"line {failure.line}: {failure.type}" if failure.line is not None else failure.type
    message = f"{head}: {failure.message}." if failure.message else f"{head}."
    line = program.line(failure.line)
    evidence = [Fact(kind="line", text=f"Line {failure.line} is `{line}`.")] if line else []
    evidence += [
        Fact(kind="call", text=sentence) for sentence in record.describe_survived_failures()
    ]
    if chosen is not None and isinstance(chosen.place.value, str | int | float):
        origin = record.facts.result_of(chosen.call, chosen.place.path)
        sentence = f"{origin} is {snippet(chosen.place.value, most=60)}."
        evidence.append(record.facts.fact("origin", chosen.call, sentence, chosen.place.path))
    return Fault(kind="error", message=message, line=failure.line, evidence=tuple(evidence))
