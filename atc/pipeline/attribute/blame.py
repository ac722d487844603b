"""Selection of the tool call to blame for a program's failure.

A suspect is an expression of the program that may have caused the failure. The calls that may have
produced its value are candidates for the blame. The recorded responses decide between them.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from atc.core.json_paths import (
    KEY,
    MAX_NODES,
    JsonPath,
    Place,
    find_origins,
    find_places,
    get_at_path,
)
from atc.core.messages import format_tool_call
from atc.core.program import Program
from atc.pipeline.attribute.dataflow import Tree, called_name, is_on_line
from atc.pipeline.attribute.facts import Facts
from atc.pipeline.attribute.failing_values import Suspect, is_empty
from atc.pipeline.attribute.sources import CallSource, CallSources
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall, Trace

MOST_ITEMS = 5_000
"""Maximum number of response values that are examined for one expression."""


@dataclass(frozen=True, eq=False, slots=True)
class Candidate:
    """A tool call that may be to blame for a failure.

    `suspect` is the expression that may have failed, `source` the tool result from which its value
    may come, and `place` the position of this value in the call's response. `proven` is True if the
    value there would have caused the failure. `broken` is True if the response violates its schema
    there.
    """

    call: ToolCall
    place: Place
    suspect: Suspect
    source: CallSource
    proven: bool
    broken: bool = False

    @property
    def weight(self) -> tuple[bool, bool, bool, bool]:
        """Sort key of a candidate; the candidate with the highest weight is blamed.

        Proven candidates weigh most, and among them those whose response violates its schema. Next
        come candidates whose call the sandbox itself recorded as the origin of the value, then
        those whose value reached the failing expression unchanged.
        """
        return (
            self.proven,
            self.proven and self.broken,
            self.source.index is not None,
            self.source.exact,
        )


class AttributionTrace:
    """The recorded calls of one execution, with methods that find which call is to blame.

    The methods connect expressions of the program with the calls that produced their values, and
    with the positions of these values in the responses.
    """

    def __init__(self, program: Program, trace: Trace, tools: Toolbox) -> None:
        self.trace = trace
        self.facts = Facts(tools)
        self.tree = Tree(program.tree)
        self.calls = {call.index: call for call in trace.calls}
        hints = (
            [hint for hint in trace.failure.hints if hint.call in self.calls]
            if trace.failure is not None
            else []
        )
        self.sources = CallSources(self.tree, tools, hints)

    def describe_survived_failures(self) -> list[str]:
        """Return a sentence about each failed call whose error the program caught.

        At most three calls are described.
        """
        failed = [call for call in self.trace.calls if call.error is not None][:3]
        template = "{} on line {} (call {}) failed, and an `except` went on: {}"
        return [
            template.format(format_tool_call(c), c.line, c.index, c.error).rstrip(".") + "."
            for c in failed
        ]

    def find_calls(self, source: CallSource) -> list[ToolCall]:
        """Return the recorded calls that may have returned the tool result `source`, latest first.

        If the source has the number of the call, only this call is returned. Otherwise, return the
        calls of the source's tool that were made on the line of its expression. If no call was made
        on this line, return all calls of the tool.
        """
        if source.index is not None:
            return [self.calls[source.index]]
        own = [call for call in self.trace.calls if call.tool == source.tool]
        return [call for call in own[::-1] if is_on_line(source.node, call.line)] or own[::-1]

    def argument(self, call: ToolCall, name: str) -> ast.expr | None:
        """Return the expression that the program passes as the argument `name` of a recorded call.

        Return None if the program's source has no such call or argument.
        """
        nodes = [
            n
            for n in ast.walk(self.tree.root)
            if isinstance(n, ast.Call) and called_name(n) == call.tool
        ]
        here = [node for node in nodes if is_on_line(node, call.line)] or nodes
        return next(
            (keyword.value for node in here for keyword in node.keywords if keyword.arg == name),
            None,
        )

    def items(self, source: CallSource) -> Iterator[tuple[ToolCall, Place]]:
        """Yield the positions in recorded responses to which a source leads, likeliest first.

        `source` is a value in the result of a tool call that the program text contains. This call
        may have been executed several times, and the source's path may match several items, so
        there may be several positions. Each is yielded with its call. Paths start at the full
        response.
        """
        for call in self.find_calls(source):
            path = (
                source.path
                if source.index is not None
                else (*self.facts.prefix(call), *source.path)
            )
            yield from (
                (call, place)
                for place in (find_places(call.result, path) if call.error is None else ())
            )

    def find_argument_places(self, call: ToolCall, name: str) -> Iterator[tuple[ToolCall, Place]]:
        """Yield the positions in earlier responses from which the value of an argument may come.

        First come the positions that are found by tracing the argument back through the program's
        source code, likeliest first. Then comes the nearest position at which a response contains
        the same value, if the value is distinctive.
        """
        value = call.arguments.get(name)
        given = self.argument(call, name)
        for source in self.sources.find_sources(given)[::-1] if given is not None else ():
            yield from (
                pair
                for pair in islice(self.items(source), MOST_ITEMS)
                if pair[0].index < call.index
            )
        for origin in find_origins(
            value, (other for other in self.trace.calls if other.index < call.index)
        )[:1]:
            yield self.calls[origin.call], Place(origin.steps, value)

    def find_argument_origin(self, call: ToolCall, name: str) -> tuple[ToolCall, JsonPath] | None:
        """Return the earlier call, and the path in its response, that gave an argument its value.

        This is the first position yielded by `find_argument_places` at which the response contains
        exactly the value of the argument. Return None if no response contains it.
        """
        value = call.arguments.get(name)
        for made, place in self.find_argument_places(call, name):
            if place.missing is None and type(place.value) is type(value) and place.value == value:
                return made, place.path
        return None

    def candidates(self, suspect: Suspect, sources: Iterable[CallSource]) -> list[Candidate]:
        """Return the calls that may be to blame for the failure of a suspect expression.

        `sources` are the tool results from which the expression may get its value. Each of them
        gives at most one candidate; the order is kept. Candidates whose value cannot have caused
        the failure are left out.
        """
        found = [self._candidate(suspect, source) for source in sources]
        # An unchanged value of another type than the exception reports did not cause the exception.
        kind = suspect.role in ("type", "attribute", "length")
        unlike = [
            c
            for c in found
            if c and not c.proven and (c.place.missing is KEY or (kind and c.source.exact))
        ]
        return [c for c in found if c is not None and c not in unlike]

    def _candidate(self, suspect: Suspect, source: CallSource) -> Candidate | None:
        """Return the candidate for the case that the value of `suspect` comes from `source`.

        If `source` leads to several positions in responses, the best one is taken: first a position
        at which the response violates its schema, then one whose value would cause the failure,
        then the first one. Return None if there is no position.
        """
        broken = self._find_broken_candidate(suspect, source)
        if broken is not None:
            return broken
        first: Candidate | None = None
        # The length of a computed value is not known.
        known = source.exact or suspect.role != "length"
        for call, place in islice(self.items(source), MAX_NODES):
            first = first or Candidate(call, place, suspect, source, proven=False)
            is_missing_key = isinstance(place.missing, str) and isinstance(place.value, Mapping)
            reached = place.missing is None or is_missing_key
            if known and reached and suspect.fails(place.value_or_none):
                return Candidate(call, place, suspect, source, proven=True)
        return first

    def _find_broken_candidate(self, suspect: Suspect, source: CallSource) -> Candidate | None:
        """Return a candidate whose response violates its schema at the suspect value or above it.

        Return None if no response of `source` violates its schema there.
        """
        if not any(call.drift for call in self.find_calls(source)):
            return None
        for call, place in islice(self.items(source), 200):
            path = (*place.path, place.missing) if isinstance(place.missing, str) else place.path
            away = self.facts.departure(call, path)
            if away is None:
                continue
            where = Place(away, get_at_path(call.result, away))
            above = get_at_path(call.result, away[:-1])
            if away and isinstance(above, Mapping) and away[-1] not in above:
                where = Place(away[:-1], above, away[-1])
            return Candidate(call, where, suspect, source, proven=True, broken=True)
        return None

    def find_candidates(self, suspect: Suspect) -> list[Candidate]:
        """Return all candidates for a suspect expression: the calls that may explain its failure.

        Such a call produced the value of the expression or the key with which it was read, or
        returned an empty list, so that a loop never assigned a value to the variable.
        """
        known = self.sources.find_sources(suspect.expr, suspect.path)
        if suspect.index is not None and suspect.role == "key":
            key = suspect.key
            asked = Suspect(
                suspect.index, "value", lambda v: type(v) is type(key) and bool(v == key), key=key
            )
            keyed = self.candidates(asked, self.sources.find_sources(asked.expr))
            return [*self.candidates(suspect, [source for source in known if source.exact]), *keyed]
        found = self.candidates(suspect, known)
        if any(candidate.proven for candidate in found) or not suspect.unfilled:
            return found
        unfilled = replace(suspect, role="empty", fails=is_empty, path=())
        filling = self.candidates(
            unfilled, self.sources.find_control(_root_expression(suspect.expr))
        )
        # The failing value is a constant of the program that something should have replaced.
        if self.is_caused_by_constant(suspect):
            return filling
        return [*found, *(candidate for candidate in filling if candidate.proven or not found)]

    def is_caused_by_constant(self, suspect: Suspect) -> bool:
        """Return True if the value that caused the failure may be a constant in the program."""
        given = [suspect.expr]
        expr = suspect.expr
        if isinstance(expr, ast.Name):
            given = [
                made.value
                for made in self.tree.find_reaching_definitions(
                    expr.id, expr, self.tree.scope(expr, expr.id)
                )
            ]
        return any(
            isinstance(value, ast.Constant) and suspect.fails(value.value) for value in given
        )


def choose_candidate(candidates: Sequence[Candidate]) -> Candidate | None:
    """Return the candidate to blame: the one with the highest weight, or None without candidates.

    If several candidates have this weight, only those with the same suspect expression as the first
    of them are considered. Of these, the last one whose value was selected by an `if` condition is
    chosen. If none was selected by a condition, the last one is chosen.
    """
    heaviest = max((candidate.weight for candidate in candidates), default=None)
    equal = [candidate for candidate in candidates if candidate.weight == heaviest]
    alike = [candidate for candidate in equal if candidate.suspect is equal[0].suspect]
    filtered = [candidate for candidate in alike if candidate.source.filters]
    return next(iter([*filtered[-1:], *alike[-1:]]), None)


def _root_expression(expr: ast.expr) -> ast.expr:
    """Return the variable from which an expression starts: `xs` for `xs[0]` and `sorted(xs)`."""
    match expr:
        case (
            ast.Subscript(value=value)
            | ast.Attribute(value=value)
            | ast.Call(func=ast.Attribute(value=value))
        ):
            return _root_expression(value)
        case ast.Call(args=[value, *_]):
            return _root_expression(value)
    return expr
