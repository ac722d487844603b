"""From suspects to one call: the definitions give the calls, the recorded responses decide between them."""

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
from atc.pipeline.attribute.dataflow import Tree, called_name, is_on_line
from atc.pipeline.attribute.facts import Facts
from atc.pipeline.attribute.failing_values import Suspect, is_empty
from atc.pipeline.attribute.sources import CallSource, CallSources
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall, Trace

MOST_ITEMS = 5_000
"""Items of one place that are looked at."""


@dataclass(frozen=True, eq=False, slots=True)
class Candidate:
    """A call that may be to blame, and a place in its response; `proven` if its value fails as the program did.

    `broken`: the response departs from its schema there.
    """

    call: ToolCall
    place: Place
    suspect: Suspect
    source: CallSource
    proven: bool
    broken: bool = False

    @property
    def weight(self) -> tuple[bool, bool, bool, bool]:
        """Facts first, then what a promise was broken on, then values that came unchanged."""
        return (
            self.proven,
            self.proven and self.broken,
            self.source.index is not None,
            self.source.exact,
        )


class AttributionTrace:
    """A trace as attribution sees it: which calls an expression of the program made, and what they answered."""

    def __init__(self, program: str, trace: Trace, tools: Toolbox) -> None:
        self.trace = trace
        self.facts = Facts(tools)
        self.tree = Tree(program)
        self.calls = {call.index: call for call in trace.calls}
        hints = (
            [hint for hint in trace.failure.hints if hint.call in self.calls]
            if trace.failure is not None
            else []
        )
        self.sources = CallSources(self.tree, tools, hints)

    def describe_survived_failures(self) -> list[str]:
        """A sentence on each call that failed while the program went on, of the first three."""
        failed = [call for call in self.trace.calls if call.error is not None][:3]
        told = "{} on line {} (call {}) failed, and an `except` went on: {}"
        return [
            told.format(format_tool_call(c), c.line, c.index, c.error).rstrip(".") + "."
            for c in failed
        ]

    def find_calls(self, source: CallSource) -> list[ToolCall]:
        """The calls that a source's expression made, the latest first."""
        if source.index is not None:
            return [self.calls[source.index]]
        own = [call for call in self.trace.calls if call.tool == source.tool]
        return [call for call in own[::-1] if is_on_line(source.node, call.line)] or own[::-1]

    def argument(self, call: ToolCall, name: str) -> ast.expr | None:
        """What the program's text gives for an argument of a call."""
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
        """Where a source's value can stand in the full responses, the likeliest first."""
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
        """Where in earlier responses an argument's value can have come from, the likeliest first.

        Where the program's text leads, and the nearest equal value if it is a telling one.
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
        """The first of these places that holds the argument's value."""
        value = call.arguments.get(name)
        for made, place in self.find_argument_places(call, name):
            if place.missing is None and type(place.value) is type(value) and place.value == value:
                return made, place.path
        return None

    def candidates(self, suspect: Suspect, sources: Iterable[CallSource]) -> list[Candidate]:
        """One candidate for each call expression behind the suspect, nearest last."""
        found = [self._candidate(suspect, source) for source in sources]
        # A value that came unchanged, and is of another kind than the exception speaks of, is not the one that failed.
        kind = suspect.role in ("type", "attribute", "length")
        unlike = [
            c
            for c in found
            if c and not c.proven and (c.place.missing is KEY or (kind and c.source.exact))
        ]
        return [c for c in found if c is not None and c not in unlike]

    def _candidate(self, suspect: Suspect, source: CallSource) -> Candidate | None:
        drifted = any(call.drift for call in self.find_calls(source))
        for call, place in islice(self.items(source), 200) if drifted else ():
            path = (*place.path, place.missing) if isinstance(place.missing, str) else place.path
            if (away := self.facts.departure(call, path)) is not None:
                above = get_at_path(call.result, away[:-1])
                gone = bool(away) and isinstance(above, Mapping) and away[-1] not in above
                where = (
                    Place(away[:-1], above, away[-1])
                    if gone
                    else Place(away, get_at_path(call.result, away))
                )
                return Candidate(call, where, suspect, source, proven=True, broken=True)
        first: Candidate | None = None
        known = (
            source.exact or suspect.role != "length"
        )  # of a value that was made of others, nobody knows that
        for call, place in islice(self.items(source), MAX_NODES):
            first = first or Candidate(call, place, suspect, source, proven=False)
            reached = place.missing is None or (
                isinstance(place.missing, str) and isinstance(place.value, Mapping)
            )
            if known and reached and suspect.fails(place.value_or_none):
                return Candidate(call, place, suspect, source, proven=True)
        return first

    def find_candidates(self, suspect: Suspect) -> list[Candidate]:
        """Candidates of a suspect: what it reads, what gave the key asked for, or what should have filled it."""
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
        if self.is_caused_by_constant(
            suspect
        ):  # by a constant of the program that something should have replaced
            return filling
        return [*found, *(candidate for candidate in filling if candidate.proven or not found)]

    def is_caused_by_constant(self, suspect: Suspect) -> bool:
        """Whether a constant of the program can be the value that failed."""
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
    """The weightiest candidate; of one suspect's equals the one nearest to the failing expression."""
    heaviest = max((candidate.weight for candidate in candidates), default=None)
    equal = [candidate for candidate in candidates if candidate.weight == heaviest]
    return next(
        (candidate for candidate in equal[::-1] if candidate.suspect is equal[0].suspect), None
    )


def _root_expression(expr: ast.expr) -> ast.expr:
    """What an expression starts from: `xs` of `xs[0]`, `xs.most_common(1)` and `sorted(xs)`."""
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
