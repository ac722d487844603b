"""From suspects to one call: the slice gives the calls, the recorded responses decide between them."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

from atc.attribute.facts import Facts
from atc.attribute.paths import MAX_NODES, Path, Place, places
from atc.attribute.picking import picked
from atc.attribute.slice import Slicer
from atc.attribute.source import Source
from atc.attribute.suspects import Suspect
from atc.attribute.syntax import called_name
from protocols.jsontypes import Json
from protocols.toolbox import Toolbox
from sandbox.trace import ToolCall, Trace

_ENOUGH = 2_000
"""Values of one place that are compared with an argument."""


@dataclass(frozen=True, eq=False, slots=True)
class Candidate:
    """A call that may be to blame, and a place in its response; `proven` if its value fails as the program did.

    `broken`: the response departs from its schema there. `others` are calls of the same expression that fail alike,
    where nothing tells which of them the program had in hand.
    """

    call: ToolCall
    place: Place
    suspect: Suspect
    source: Source
    proven: bool
    broken: bool = False
    others: tuple[ToolCall, ...] = ()

    @property
    def weight(self) -> tuple[bool, bool, bool, int, bool]:
        """Facts first, then what a promise was broken on, then values that came unchanged."""
        swallowed = self.source.kind == "swallowed"
        return self.proven, self.proven and self.broken, swallowed, self.suspect.odd, self.source.exact


class Record:
    """A trace as the slice sees it: which calls a call expression made, and what they answered."""

    def __init__(self, trace: Trace, tools: Toolbox, slicer: Slicer) -> None:
        self.trace, self.slicer, self.facts = trace, slicer, Facts(tools)
        self._known: dict[tuple[int, tuple[int, ...]], frozenset[str] | None] = {}
        layout = slicer.layout
        lines = {frame.line for frame in slicer.frames}
        here = [n for n in ast.walk(layout.tree) if isinstance(n, ast.expr | ast.stmt) and n.lineno in lines]
        self._running = {id(loop) for node in here for loop in layout.loops(node)}
        self._running |= {id(node) for node in here if isinstance(node, ast.For | ast.While | ast.AsyncFor)}

    def calls(self, source: Source) -> list[ToolCall]:
        """The calls that a source's expression made, the likeliest first."""
        found = self._made(source)
        if len(found) > 1:
            found = [call for call in found if self._agrees(call, source)] or found
        # The failing line goes through the results of a finished loop from the first; a running one fails at its last.
        return found if self._finished(source) else found[::-1]

    def _finished(self, source: Source) -> bool:
        """Whether a loop that made a source's calls was over when the program failed."""
        layout = self.slicer.layout
        for node, entry in zip((source.node, *source.context[::-1]), (*source.context[::-1], None), strict=True):
            loop = layout.parents.get(id(entry))
            if entry is not None and id(loop) in self._running and isinstance(loop, ast.For):
                continue  # a generator that a running loop goes through is suspended, not over
            if any(id(around) not in self._running for around in layout.loops(node)):
                return True
        return False

    def site(self, call: ToolCall) -> ast.Call | None:
        """The call expression that made a call; the one whose arguments agree where a line has several."""
        nodes = [
            node
            for node in ast.walk(self.slicer.layout.tree)
            if isinstance(node, ast.Call)
            and called_name(node) == call.tool
            and node.lineno <= call.line <= (node.end_lineno or node.lineno)
        ]
        if not nodes:  # awaited elsewhere: the line is that of the `await`
            tree = self.slicer.layout.tree
            nodes = [n for n in ast.walk(tree) if isinstance(n, ast.Call) and called_name(n) == call.tool]
        agreeing = [n for n in nodes if self._agrees(call, Source("call", n, call.tool))] if len(nodes) > 1 else nodes
        return next(iter(agreeing or nodes), None)

    def _made(self, source: Source) -> list[ToolCall]:
        own = [call for call in self.trace.calls if call.tool == source.tool]
        node = source.node
        exact = [call for call in own if node.lineno <= call.line <= (node.end_lineno or node.lineno)]
        return exact or own

    def _agrees(self, call: ToolCall, source: Source) -> bool:
        """Whether the call's arguments can be those that the expression's text gives."""
        if not isinstance(source.node, ast.Call):
            return True
        keywords = {keyword.arg: keyword.value for keyword in source.node.keywords}
        if None not in keywords and not set(keywords) >= set(call.arguments):
            return False
        known = ((name, self._possible(value, source)) for name, value in keywords.items() if name in call.arguments)
        return all(values is None or _exactly(call.arguments[name or ""]) in values for name, values in known)

    def _possible(self, argument: ast.expr, source: Source) -> frozenset[str] | None:
        """Every value that an argument can have had, in `_exactly`'s form; None where the text leaves that open."""
        key = (id(argument), tuple(map(id, source.context)))
        if key not in self._known:
            sources = self.slicer.sources(argument, (), source.context)
            settled = bool(sources) and all(s.exact and s.kind in ("call", "literal") for s in sources)
            self._known[key] = frozenset(_exactly(v) for s in sources for v in self._values(s)) if settled else None
        return self._known[key]

    def _values(self, source: Source) -> Iterator[Json]:
        if isinstance(source.node, ast.Constant):
            yield source.node.value
            return
        every = (place for call in self._made(source) for place in self.places(call, source.path))
        yield from (place.seen for place in islice(every, _ENOUGH))

    def places(self, call: ToolCall, path: Path) -> Iterator[Place]:
        """Where a path of the program's view leads in the full response."""
        if call.error is not None:
            return iter(())
        return places(call.result, (*self.facts.prefix(call), *path))

    def candidates(self, suspect: Suspect, sources: Sequence[Source]) -> list[Candidate]:
        """One candidate for each call expression behind the suspect, nearest last."""
        found = [self._candidate(suspect, source) for source in sources if source.from_call]
        return [candidate for candidate in found if candidate is not None]

    def _candidate(self, suspect: Suspect, source: Source) -> Candidate | None:
        calls = self.calls(source)
        if source.kind == "swallowed":
            return self._swallowed(suspect, source, calls)
        for call in calls:
            if (place := self.departure(call, source)) is not None:
                return Candidate(call, place, suspect, source, proven=True, broken=True)
        found = self._first(suspect, source, self.items(source))
        gathered = suspect.role == "empty" and not source.exact and len(calls) > 1 and self._finished(source)
        if found is not None and found.proven and gathered:
            # What was gathered from many is empty only if all of them are.
            found = replace(found, proven=all(proves(suspect, place) for _, place in self.items(source)))
        if found is None:  # an empty list on the way
            empty = next((call for call in calls if call.error is None), None)
            if empty is None:
                return None
            return Candidate(empty, Place(self.facts.prefix(empty), None), suspect, source, proven=False)
        if found.proven and source.pick is not None and source.pick.rank is None:
            alike = [call for call in calls if call is not found.call and self._proven(suspect, source, call)]
            return replace(found, others=tuple(alike))
        return found

    def departure(self, call: ToolCall, source: Source) -> Place | None:
        """Where on the way to a source's value a response departs from its schema."""
        return self.facts.departure(call, (*self.facts.prefix(call), *source.path)) if call.error is None else None

    def _swallowed(self, suspect: Suspect, source: Source, calls: Sequence[ToolCall]) -> Candidate | None:
        """A failed call in whose place an `except` went on; of those that a loop made, if all failed."""
        failed = [call for call in calls if call.error is not None]
        if not failed or (not source.exact and len(failed) < len(calls)):
            return None
        return Candidate(failed[0], Place((), None), suspect, source, suspect.fails(None))

    def _first(self, suspect: Suspect, source: Source, items: Iterable[tuple[ToolCall, Place]]) -> Candidate | None:
        """The first place that fails as the program did; else the first one."""
        fallback: Candidate | None = None
        for call, place in islice(items, MAX_NODES):
            if proves(suspect, place):
                return Candidate(call, place, suspect, source, proven=True, broken=self.facts.breaks(call, place))
            fallback = fallback or Candidate(call, place, suspect, source, proven=False)
        return fallback

    def _proven(self, suspect: Suspect, source: Source, call: ToolCall) -> bool:
        return any(proves(suspect, place) for place in islice(self.places(call, source.path), _ENOUGH))

    def items(self, source: Source) -> Iterable[tuple[ToolCall, Place]]:
        """Where a source's value can stand, the likeliest first; the one place that it does where that can be known."""
        calls = self.calls(source)
        return self._picked(source, calls) or self._every(source, calls)

    def _every(self, source: Source, calls: Sequence[ToolCall]) -> Iterator[tuple[ToolCall, Place]]:
        return ((call, place) for call in calls for place in self.places(call, source.path))

    def _picked(self, source: Source, calls: Sequence[ToolCall]) -> list[tuple[ToolCall, Place]]:
        """The place in the item that the program chose by order, where the recorded values tell which that was."""
        if source.pick is None or source.pick.depth > len(source.path):
            return []
        cut = len(source.path) - source.pick.depth
        inorder = sorted(calls, key=lambda call: call.index)
        chosen = picked(source, self._every(replace(source, path=source.path[:cut]), inorder))
        if chosen is None:
            return []
        call, item = chosen
        return [(call, place) for place in places(call.result, (*item.path, *source.path[cut:]))]


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


def _exactly(value: Json) -> str:
    """One text for one value of one type: `1`, `true` and `"1"` all differ; 3.0 is 3, as the host passes it on."""
    whole = isinstance(value, float) and value.is_integer()
    return json.dumps(int(value) if whole else value, sort_keys=True, default=str)
