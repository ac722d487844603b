"""Writes: in which order they are tried, how their effects are seen, and how what they made is taken back.

Each decision follows from the log alone, so that a probing that was killed goes on where it was. What changes or takes
away gets only what this probing made (`probing.made`); where there is no such thing, it is not called.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from itertools import islice

from probing.demands import needed
from probing.discover import next_arguments, taught
from probing.effects.firsts import Firsts
from probing.effects.known import Effects, all_effects
from probing.effects.seen import GONE, Timeline, made_here
from probing.effects.words import repeats_harmlessly
from probing.facts import ToolFacts
from probing.fits import Fits
from probing.gate.caller import NotCalled
from probing.gate.plan import reads
from probing.made import Made
from probing.sample import Origin, Sample, Value, call_key
from probing.session import Session
from probing.writes.order import in_order
from probing.writes.watch import WatchedRead, watched_reads
from protocols.jsontypes import Json
from protocols.schema import types

_TRIES = 3
"""Calls with one thing that this probing made, until it is left as it is."""
_NOTHING_MADE = "it takes things away, and this probing made nothing that it could take"
_UNNAMED = "it takes things away without being told which, so nothing else would be safe from it"

_ALTERNATIVES = 3
"""Reads of which one is to show that a tool changes nothing."""

_SHOWING = 4
"""Calls of a read by which one write is seen: before it, after it, after its repetition, and once more."""
_STEPS = 40
"""Calls by which one tool is learned at most."""

_Step = tuple[str, Mapping[str, Value], bool]
"""A call: of a read that shows (its name) or of the tool itself (empty), and whether to make it once more."""
Choose = Callable[[ToolFacts, Timeline], dict[str, Value] | None]


class Writes:
    """The writes of one probing."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._firsts = Firsts()
        self._blind: set[str] = set()

    def makers(self) -> list[str]:
        """The tools that may be called with any values: those called like reads, then what creates, then what updates.

        Of one kind, those that need nothing of another write go first.
        """
        timeline = self._timeline()
        return [name for name in in_order(timeline) if timeline.kinds[name] not in ("remove", "end")]

    def removers(self) -> list[str]:
        """The tools to be called last: those that take something away, the latest things first; then `logout`."""
        timeline = self._timeline()
        found = [name for name in in_order(timeline) if timeline.kinds[name] in ("remove", "end")]
        return sorted(found, key=lambda name: (timeline.kinds[name] == "end", -self._latest(name)))

    def reserved(self, tool: str) -> int:
        """Calls of a read that are to be kept for showing what writes change."""
        timeline = self._timeline()
        settings = self._session.settings
        writes = (f for f in timeline.world.values() if not reads(f.protocol)) if settings.allow_writes else ()
        shown = sum(any(read.tool == tool for read in watched_reads(write, {}, timeline)) for write in writes)
        return min(_SHOWING * shown, settings.per_tool // 2)

    def make(self, tool: str, *, round: int) -> None:  # noqa: A002 - the paper's word
        """Find arguments with which a write is done, and see what it changes: reads before and after it, and what a
        second equal call changes more.

        Raises:
            NotCalled: it may not be called, or not any more.
        """
        self._learn(tool, self._any, round)

    def remove(self, tool: str, *, round: int) -> None:  # noqa: A002
        """Take away what this probing made, and see what that changes.

        Raises:
            NotCalled: there is nothing that may be taken away, or it may not be called any more.
        """
        ledger = self._session.ledger
        if not any(ledger.names_it(tool, name) or _is_list(schema) for name, schema in self._parameters(tool)):
            raise NotCalled(f"{tool} is not called: {_UNNAMED}.", scope="tool")
        self._show(round)
        facts = self._session.facts(tool)
        if not made_here(facts) and self._own(facts, self._timeline()) is None:
            raise NotCalled(f"{tool} is not called: {_NOTHING_MADE}.", scope="tool")
        self._learn(tool, self._own, round)
        while (arguments := self._own(self._session.facts(tool), self._timeline())) is not None:
            self._call(tool, arguments, round, again=True)

    def look_again(self, *, round: int) -> None:  # noqa: A002
        """Ask lists of what was taken away once more: what they show still is not gone."""
        ledger, session = self._session.ledger, self._session
        gone = [made for made in ledger.made() if made.gone]
        for tool, protocol in session.protocols.items():
            facts = session.facts(tool)
            since = max((made.gone for made in gone if ledger.is_about(tool, made.tool)), default=0)
            last = facts.samples[-1].number if facts.samples else since
            if reads(protocol) and last < since and not needed(facts):
                with suppress(NotCalled):
                    self._call(tool, {}, round, again=True)

    def _show(self, number: int) -> None:
        """Ask reads that may show, with this probing's mark, what was made and not shown yet."""
        ledger, session = self._session.ledger, self._session
        for one in [made for made in ledger.made() if made.there and not made.shown]:
            for tool, protocol in session.protocols.items():
                wanted = needed(facts := session.facts(tool)) if reads(protocol) and not one.shown else None
                if wanted is None or len(wanted) > 1 or not session.caller.left(tool):
                    continue
                last = max((s.number for s in facts.samples), default=0)
                ids: list[dict[str, Value]] = [{}] if one.calls[-1].number > last > 0 else []
                if wanted:
                    given = ledger.owned(tool, wanted[0], of=one, born=True)
                    ids = [{wanted[0]: Value(text, Origin(kind="response", tool=one.tool))} for text in given[:1]]
                for arguments in ids:
                    if wanted or ledger.is_about(tool, one.tool):
                        with suppress(NotCalled):
                            self._call(tool, arguments, number, again=True)

    def effects(self) -> dict[str, Effects]:
        """What is known of the effects of every tool."""
        return all_effects(self._timeline().world)

    def _learn(self, tool: str, choose: Choose, number: int) -> None:
        vain = 0
        for _ in range(_STEPS):
            before = self._session.facts(tool)
            step = self._next(before, choose, self._timeline()) if vain < self._session.settings.attempts else None
            if step is None:
                return
            read, arguments, again = step
            try:
                sample = self._call(read or tool, arguments, number, again=again)
            except NotCalled:
                if not read:
                    raise
                self._blind.add(read)
                continue
            if read and not sample.done and sample.status not in GONE:
                self._blind.add(read)  # it shows nothing
            if not read and not made_here(self._session.facts(tool)) and not taught(before, self._session.facts(tool)):
                vain += 1

    def _call(self, tool: str, arguments: Mapping[str, Value], number: int, *, again: bool = False) -> Sample:
        known = len(self._session.log.samples)
        sample = self._session.caller.call(tool, arguments, purpose="effect", round=number, again=again)
        self._session.take_from(known)
        return sample

    def _next(self, facts: ToolFacts, choose: Choose, timeline: Timeline) -> _Step | None:
        """The next call: of a read that shows (its name first), or of the tool itself (empty), and whether it is to
        be made although it was made before. `None` when all was seen.
        """
        live = made_here(facts)
        if not live:
            arguments = choose(facts, timeline)
            if arguments is None:
                return None
            return self._stale(facts, arguments, timeline) or ("", arguments, timeline.kinds[facts.name] == "remove")
        if timeline.kinds[facts.name] == "read":
            return self._unchanged(facts, timeline)
        first = live[0]
        second = next((s for s in facts.samples if s.number > first.number and _same_call(s, first)), None)
        latest = second if second is not None and second.done else first
        for read in self._watched(facts, latest.arguments, timeline):
            last = read.last(timeline)
            if (last is None or last.number < latest.number) and timeline.fresh(latest):
                return read.tool, read.arguments, True
        # The calls that take away what is there still are not spent on doing it twice.
        spared = 0 < self._session.caller.left(facts.name) <= self._session.ledger.removable()
        if second is not None or not repeats_harmlessly(facts.protocol) or spared:
            return None
        return self._stale(facts, first.arguments, timeline) or ("", first.arguments, True)

    def _unchanged(self, facts: ToolFacts, timeline: Timeline) -> _Step | None:
        """Of a tool that is called like a read: is another read the same after it as before?

        One that answers otherwise each time tells nothing, so another one is taken.
        """
        if reads(facts.protocol):
            return None
        seen = [shown for sample in made_here(facts) for shown in timeline.seen(sample)]
        for read in watched_reads(facts, made_here(facts)[0].arguments, timeline, alternatives=True)[:_ALTERNATIVES]:
            last = read.last(timeline)
            if read.tool in self._blind or not self._session.caller.left(read.tool):
                continue
            pairs = [shown for shown in seen if shown.read == read.tool]
            if last is not None and pairs:
                if all(shown.same for shown in pairs) or (timeline.settled(last) and not timeline.volatile(last)):
                    return None
                if not timeline.settled(last):
                    return read.tool, read.arguments, True
                continue
            if last is None or not timeline.fresh(last, beside=facts.name):
                return read.tool, read.arguments, True
            if any(sample.number > last.number for sample in made_here(facts)):
                return read.tool, read.arguments, True
            return "", made_here(facts)[0].arguments, True
        return None

    def _stale(self, facts: ToolFacts, arguments: Mapping[str, Value], timeline: Timeline) -> _Step | None:
        """A read that is to be asked before the write, since what it last answered may not hold any more."""
        for read in self._watched(facts, arguments, timeline):
            if not read.is_fresh(timeline):
                return read.tool, read.arguments, True
        return None

    def _watched(self, facts: ToolFacts, arguments: Mapping[str, Value], timeline: Timeline) -> Iterator[WatchedRead]:
        for read in watched_reads(facts, arguments, timeline):
            if read.tool not in self._blind and self._session.caller.left(read.tool):
                yield read

    def _any(self, facts: ToolFacts, _: Timeline) -> dict[str, Value] | None:
        """Arguments for what takes nothing away."""
        return next_arguments(self._session, facts, alone=False)

    def _own(self, facts: ToolFacts, _: Timeline) -> dict[str, Value] | None:
        """Arguments that name a thing that this probing made, with which the tool was not called yet."""
        ledger, tool = self._session.ledger, facts.name
        for one in reversed([made for made in ledger.made() if made.there and ledger.takes(tool, made)]):
            wanted = needed(facts)
            if not any(ledger.names_it(tool, name) for name in wanted):
                told = [n for n, schema in self._parameters(tool) if _is_list(schema) or ledger.names_it(tool, n)]
                wanted += [name for name in told if name not in wanted]
            named = [name for name in wanted if ledger.names_it(tool, name)]
            ids = {name: list(self._ids(facts, name, one)) for name in named}
            rest = [name for name in wanted if name not in named]
            for place in range(max(map(len, ids.values()), default=1)) if all(ids.values()) else ():
                chosen = {name: found[min(place, len(found) - 1)] for name, found in ids.items()}
                for more in islice(self._session.choices(tool, rest, alone=False), _TRIES) if rest else [{}]:
                    arguments = {**more, **chosen}
                    plain = {name: value.value for name, value in self._session.marked(tool, arguments).items()}
                    last = self._session.log.find(tool, plain)
                    if (last is None or last.number < one.calls[-1].number) and not ledger.refuses(tool, plain):
                        return arguments
        return None

    def _ids(self, facts: ToolFacts, name: str, made: Made) -> Iterator[Value]:
        """The ids of what was made, else of what it stands in, as an argument can take them."""
        origin = Origin(kind="response", tool=made.tool, sample=made.calls[0].number)
        fits = Fits(facts, facts.arguments[name])
        for of in (made, None):
            values = (Value(held, origin) for held in self._session.ledger.owned(facts.name, name, of=of))
            if found := list(filter(None, map(fits.adapted, values))):
                yield from found
                return

    def _latest(self, tool: str) -> int:
        ledger = self._session.ledger
        return max((made.calls[-1].number for made in ledger.made() if ledger.takes(tool, made)), default=0)

    def _parameters(self, tool: str) -> list[tuple[str, Json]]:
        return list(self._session.protocols[tool].parameters.items())

    def _timeline(self) -> Timeline:
        world = {name: self._session.facts(name) for name in self._session.protocols}
        return Timeline(world, self._firsts)


def _is_list(schema: Json) -> bool:
    return isinstance(schema, Mapping) and "array" in types(schema)


def _same_call(one: Sample, other: Sample) -> bool:
    return call_key(one.tool, one.plain) == call_key(other.tool, other.plain)
