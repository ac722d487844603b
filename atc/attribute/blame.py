"""From suspects to one call: the definitions give the calls, the recorded responses decide between them."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from atc.attribute.facts import Facts
from atc.attribute.paths import MAX_NODES, Place, at, places
from atc.attribute.sources import Source, Sources
from atc.attribute.suspects import Suspect, nothing
from atc.attribute.tree import Tree, called_name, covers
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
    source: Source
    proven: bool
    broken: bool = False

    @property
    def weight(self) -> tuple[bool, bool, bool, bool, bool]:
        """Facts first, then what a promise was broken on, then values that came unchanged."""
        settled, swallowed = self.source.index is not None, self.source.kind == "swallowed"
        return self.proven, self.proven and self.broken, swallowed, settled, self.source.exact


class Record:
    """A trace as attribution sees it: which calls an expression of the program made, and what they answered."""

    def __init__(self, program: str, trace: Trace, tools: Toolbox) -> None:
        self.trace, self.facts, self.tree = trace, Facts(tools), Tree.of(program)
        self.calls = {call.index: call for call in trace.calls}
        failure = trace.failure
        hints = [hint for hint in failure.hints if hint.call in self.calls] if failure is not None else []
        aliases = {call.index: call.tool for call in trace.calls}
        self.sources = Sources(self.tree, tools, hints, aliases)
        self._lines = {frame.line for frame in failure.frames} if failure is not None else set()

    def made(self, source: Source) -> list[ToolCall]:
        """The calls that a source's expression made, the likeliest first."""
        if source.index is not None:
            return [self.calls[source.index]]
        own = [call for call in self.trace.calls if call.tool == source.tool]
        found = [call for call in own if covers(source.node, call.line)] or own
        if isinstance(source.node, ast.Call):
            constants = {k.arg: k.value.value for k in source.node.keywords if isinstance(k.value, ast.Constant)}
            agreeing = [
                c for c in found if all(c.arguments.get(str(name)) == value for name, value in constants.items())
            ]
            found = agreeing or found
        # The failing line goes through the results of a finished loop from the first; a running one fails at its last.
        return found if self._over(source) else found[::-1]

    def _over(self, source: Source) -> bool:
        """Whether a loop that made a source's calls was over when the program failed."""
        return any(not any(covers(loop, line) for line in self._lines) for loop in self.tree.loops(source.node))

    def argument(self, call: ToolCall, name: str) -> ast.expr | None:
        """What the program's text gives for an argument of a call."""
        nodes = [n for n in self.tree.nodes() if isinstance(n, ast.Call) and called_name(n) == call.tool]
        here = [node for node in nodes if covers(node, call.line)] or nodes
        agreeing = [node for node in here if call in self.made(Source("call", node, call.tool))]
        given = [keyword.value for node in agreeing or here for keyword in node.keywords if keyword.arg == name]
        return given[0] if given else None

    def places(self, call: ToolCall, source: Source) -> Iterator[Place]:
        """Where a source's value can stand in the full response of a call."""
        if call.error is not None:
            return iter(())
        return places(
            call.result, source.path if source.index is not None else (*self.facts.prefix(call), *source.path)
        )

    def items(self, source: Source) -> Iterator[tuple[ToolCall, Place]]:
        """Where a source's value can stand, the likeliest first."""
        return ((call, place) for call in self.made(source) for place in self.places(call, source))

    def candidates(self, suspect: Suspect, sources: Iterable[Source]) -> list[Candidate]:
        """One candidate for each call expression behind the suspect, nearest last."""
        found = [self._candidate(suspect, source) for source in sources if source.from_call]
        return [candidate for candidate in found if candidate is not None]

    def _candidate(self, suspect: Suspect, source: Source) -> Candidate | None:
        calls = self.made(source)
        if source.kind == "swallowed":  # failed calls in whose place an `except` went on; of a loop's, if all failed
            failed = [call for call in calls if call.error is not None]
            if not failed or (not source.exact and len(failed) < len(calls)):
                return None
            return Candidate(failed[0], Place((), None), suspect, source, suspect.fails(None))
        for call in calls if any(call.drift for call in calls) else ():
            for place in islice(self.places(call, source), 50):
                path = (*place.path, place.missing) if isinstance(place.missing, str) else place.path
                if (away := self.facts.departure(call, path)) is not None:
                    above = at(call.result, away[:-1])
                    gone = bool(away) and isinstance(above, Mapping) and away[-1] not in above
                    where = Place(away[:-1], above, away[-1]) if gone else Place(away, at(call.result, away))
                    return Candidate(call, where, suspect, source, proven=True, broken=True)
        fallback: Candidate | None = None
        every = True
        gathered = suspect.role == "empty" and not source.exact and len(calls) > 1 and self._over(source)
        for call, place in islice(self.items(source), MAX_NODES):
            proven = proves(suspect, place)
            if proven and not gathered:
                return Candidate(call, place, suspect, source, proven=True)
            every = every and proven
            fallback = fallback or Candidate(call, place, suspect, source, proven=False)
        if fallback is not None:  # what was gathered from many is empty only if all of them are
            return replace(fallback, proven=every and gathered)
        empty = next((call for call in calls if call.error is None), None)  # an empty list on the way
        return Candidate(empty, Place(self.facts.prefix(empty), None), suspect, source, proven=False) if empty else None

    def behind(self, suspect: Suspect) -> list[Candidate]:
        """Candidates of a suspect: what it reads, what gave the key asked for, or what should have filled it."""
        known = self.sources.of(suspect.expr, suspect.path)
        if suspect.index is not None and suspect.role == "key":
            key = suspect.key
            asked = Suspect(suspect.index, "value", lambda v: type(v) is type(key) and bool(v == key), key=key)
            keyed = self.candidates(asked, self.sources.of(asked.expr))
            return [*self.candidates(suspect, [s for s in known if s.exact]), *keyed]
        found = self.candidates(suspect, known)
        unfilled = replace(suspect, role="empty", fails=nothing, path=())
        if self.explained(suspect):  # by a constant of the program that something should have replaced
            return [c for c in found if c.proven] or self.candidates(unfilled, self.sources.control(suspect.expr))
        if suspect.role in ("empty", "index") and not any(candidate.proven for candidate in found):
            filling = self.candidates(unfilled, self.sources.control(_rooted(suspect.expr)))
            return [*found, *(candidate for candidate in filling if candidate.proven)]
        return found

    def explained(self, suspect: Suspect) -> bool:
        """Whether a constant of the program can be the value that failed."""
        literals = [
            s for s in self.sources.of(suspect.expr, suspect.path) if s.kind == "literal" and s.exact and not s.path
        ]
        return any(isinstance(s.node, ast.Constant) and suspect.fails(s.node.value) for s in literals)


def proves(suspect: Suspect, place: Place) -> bool:
    """Whether the value at the place fails as the program did."""
    if place.missing is not None and not (isinstance(place.missing, str) and isinstance(place.value, Mapping)):
        return False
    return suspect.fails(place.seen)


def best(candidates: Sequence[Candidate]) -> Candidate | None:
    """The weightiest candidate; of one suspect's equals the one nearest to the failing expression."""
    chosen: Candidate | None = None
    for candidate in candidates:
        nearer = chosen is not None and candidate.suspect is chosen.suspect and candidate.weight == chosen.weight
        if chosen is None or candidate.weight > chosen.weight or nearer:
            chosen = candidate
    return chosen


def _rooted(expr: ast.expr) -> ast.expr:
    """What an expression starts from: `xs` of `xs[0]`, `xs.most_common(1)` and `sorted(xs)`."""
    while True:
        match expr:
            case ast.Subscript(value=value) | ast.Attribute(value=value) | ast.Call(func=ast.Attribute(value=value)):
                expr = value
            case ast.Call(args=[value, *_]):
                expr = value
            case _:
                return expr
