"""What the parts of a probing share: the gate, the facts as they stand, the pools of values."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice

from probing.combine import MOST_CANDIDATES, Record, combinations, records_of
from probing.events import Watch, unwatched
from probing.facts import ArgumentFacts, ToolFacts, learn
from probing.fits import Fits
from probing.fresh import fresh_path
from probing.gate.caller import Caller
from probing.log import Log
from probing.pools import Pools
from probing.propose import candidates
from probing.sample import Origin, Purpose, Sample, Value
from probing.settings import ProbeSettings
from probing.soft_errors import refusal_in
from protocols.jsontypes import Json
from protocols.protocol import ToolProtocol
from protocols.toolbox import Toolbox
from protocols.vocabulary import ID_WORDS
from protocols.words import snake

_SEVERAL = 2
"""Tools that took the same value for their arguments of one name, or refused it,
so that it will fare alike with others."""
_MADE_UP = Origin(kind="generated")
_OTHERS = ("given", "response")
_OURS = Origin(kind="response")
_OPEN = ("generated", "given", "model")
"""Where values come from that may as well be others."""

Suggest = Callable[[ToolFacts, ArgumentFacts], Sequence[Json]]


class Session:
    """One probing under way. All it knows follows from the log; it only keeps what would be slow to find anew."""

    def __init__(
        self,
        toolbox: Toolbox,
        log: Log,
        caller: Caller,
        settings: ProbeSettings,
        *,
        watch: Watch = unwatched,
        suggest: Suggest | None = None,
    ) -> None:
        """`suggest` proposes values of an argument for which there are only made-up ones: a model's part."""
        self.log, self.caller, self.settings, self.watch = log, caller, settings, watch
        self.protocols: Mapping[str, ToolProtocol] = {t.protocol.name: t.protocol for t in toolbox.values()}
        self.ledger = caller.ledger
        caller.prepare = self.marked
        self.pools = Pools(self.protocols.values())
        self._suggest = suggest
        self._suggested: dict[tuple[str, str], Sequence[Json]] = {}
        self._facts: dict[str, ToolFacts] = {}
        self._records: dict[int, list[Record]] = {}
        for sample in log.samples:
            self._take(sample)

    def facts(self, tool: str) -> ToolFacts:
        """What is known of a tool now."""
        if tool not in self._facts:
            self._facts[tool] = learn(self.protocols[tool], self.log.of(tool))
        return self._facts[tool]

    def call(self, tool: str, arguments: Mapping[str, Value], *, purpose: Purpose, round: int) -> Sample:  # noqa: A002
        """Make one call, or take its answer from the log.

        Raises:
            NotCalled: it may not be made.
        """
        known = len(self.log.samples)
        sample = self.caller.call(tool, arguments, purpose=purpose, round=round)
        self.take_from(known)
        return sample

    def take_from(self, number: int) -> None:
        """Take in the samples that were added to the log after the first `number`."""
        for sample in self.log.samples[number:]:
            self._take(sample)

    def called(self, tool: str, arguments: Mapping[str, Value]) -> bool:
        """Whether this very call was made before, or may have been, or is not to be made at all."""
        plain = {name: value.value for name, value in self.marked(tool, arguments).items()}
        made = self.log.find(tool, plain) is not None or self.log.intended(tool, plain)
        return made or bool(self.ledger.refuses(tool, plain))

    def marked(self, tool: str, arguments: Mapping[str, Value]) -> Mapping[str, Value]:
        """The arguments with this probing's mark in each text that is made up, or names what a write makes."""
        if not self.ledger.restricts(tool):
            return arguments
        facts = self.facts(tool)
        return {name: self._marked(facts, name, value) for name, value in arguments.items()}

    def _marked(self, facts: ToolFacts, name: str, value: Value) -> Value:
        tool, key = facts.name, self.ledger.names_it(facts.name, name)
        kept = value.origin.kind not in _OPEN and not key
        if kept or self.ledger.is_own(tool, name, value.value, born=True):
            return value
        declared, root = facts.protocol.parameters.get(name, {}), facts.protocol.input_schema
        made = self.ledger.mark.put(value.value, declared, root, key=key)
        if made == value.value or name not in facts.arguments:
            return value if made == value.value else Value(made, _MADE_UP)
        fits = Fits(facts, facts.arguments[name])
        return Value(made, _MADE_UP) if fits.allows(made) or not fits.allows(value.value) else value

    def choices(
        self, tool: str, wanted: Sequence[str], *, alone: bool, suggest: bool = True
    ) -> Iterator[dict[str, Value]]:
        """Values for the arguments in `wanted`, best first.

        `alone`: without those that other tools gave. `suggest`: a model may be asked for more.
        """
        facts = self.facts(tool)
        found = {name: self._candidates(facts, name, alone=alone) for name in wanted}
        if suggest and self._suggest is not None:
            for name in wanted:
                if (tool, name) not in self._suggested and all(v.origin.kind == "generated" for v in found[name]):
                    self._suggested[tool, name] = self._suggest(facts, facts.arguments[name])
                    found[name] = self._candidates(facts, name, alone=alone)
        records = [] if alone else [record for held in self._records.values() for record in held]
        # A refusal may say where to look: "list_team_managers has who did".
        told = {hint.tool for said in facts.said.values() for hint in said if hint.kind == "source"}
        # What conflicts with what is there (409) is not mended by describing what is there.
        conflicts = any(sample.status == 409 for sample in facts.samples)
        # Until it answers, what others agree on stays while the rest is varied; then all other values are of interest.
        held = {n for n, values in found.items() if values and not facts.done and self._is_agreed(n, values[0])}
        return combinations(found, records, preferred=told, apart=conflicts, held=held)

    def _is_agreed(self, argument: str, value: Value) -> bool:
        return repr(value.value) == _agreed(self._namesakes(argument))

    def _namesakes(self, argument: str) -> list[ArgumentFacts]:
        """What is known of the arguments of this name, of all tools."""
        all_facts = (self.facts(tool) for tool, one in self.protocols.items() if argument in one.parameters)
        return [facts.arguments[argument] for facts in all_facts]

    def _candidates(self, facts: ToolFacts, name: str, *, alone: bool) -> list[Value]:
        pools = None if alone else self.pools
        writes = self.ledger.restricts(facts.name)
        if writes and not alone and (fresh := fresh_path(facts, name, self.pools, self.ledger.mark)) is not None:
            return [fresh]
        suggested = self._suggested.get((facts.name, name), ())
        found = candidates(facts, facts.arguments[name], pools=pools, suggested=suggested)
        listed = list(islice(found, MOST_CANDIDATES))
        if writes:
            listed = self._of_ours(facts, name, listed)
        if pools is None or len(listed) < _SEVERAL:
            return listed
        namesakes = self._namesakes(name)
        agreed = None if facts.done else _agreed(namesakes)
        return sorted(listed, key=lambda value: (repr(value.value) != agreed, _in_vain(namesakes, value)))

    def _of_ours(self, facts: ToolFacts, name: str, values: Sequence[Value]) -> list[Value]:
        """Values for a write: marked ones before those of what is there; of what it is to name, nothing else."""
        tool = facts.name
        marked = [self._marked(facts, name, value) for value in values]
        if self.ledger.names_it(tool, name):
            ours = [Value(value, _OURS) for value in self.ledger.owned(tool, name)]
            found = [value for value in marked if self.ledger.is_own(tool, name, value.value, born=True)]
            known = {repr(value.value) for value in found}
            # A record is called by what was shown, a new one by the mark.
            marked = [v for v in ours if repr(v.value) not in known] + sorted(found, key=lambda v: v.origin != _MADE_UP)
        else:
            pairs = list(zip(marked, values, strict=True))
            free = [v for v, old in pairs if v is not old]
            same = [v for v, old in pairs if v is old]
            said_no = (
                s for s in facts.samples if s.outcome == "refused" or (s.status is None and s.answer is not None)
            )
            if free and not any(self.ledger.mark.on(s.plain.get(name)) for s in said_no):
                same = [v for v in same if not isinstance(v.value, str) or snake(name).rpartition("_")[2] in ID_WORDS]
            elif free:
                same += [v for v in values if isinstance(v.value, str) and v.origin.kind == "given" and v not in same]
            same = [v for v in same if v.origin.kind not in _OTHERS or not self.ledger.holds(tool, name, v.value)]
            marked = [*same, *free] if snake(name).rpartition("_")[2] in ID_WORDS else [*free, *same]
        found_once: dict[str, Value] = {}
        for value in marked:
            found_once.setdefault(repr(value.value), value)
        return list(found_once.values())

    def _take(self, sample: Sample) -> None:
        self._facts.pop(sample.tool, None)
        if sample.done and not refusal_in(sample.response):
            self.pools.add(sample)
            self._records[sample.number] = records_of(sample)


def _agreed(namesakes: Sequence[ArgumentFacts]) -> str | None:
    """The one value that all tools with an argument of this name took so far, if several did."""
    took = [{repr(held.value) for held in argument.accepted} for argument in namesakes if argument.accepted]
    values = set().union(*took)
    return next(iter(values)) if len(took) >= _SEVERAL and len(values) == 1 else None


def _in_vain(namesakes: Sequence[ArgumentFacts], value: Value) -> bool:
    """Whether several tools refused a made-up value for their arguments of one name, and none took it."""
    if value.origin != _MADE_UP:
        return False
    text = repr(value.value)
    refused = sum(any(repr(held.value) == text for held in (*a.refused, *a.not_found)) for a in namesakes)
    return refused >= _SEVERAL and not any(repr(held.value) == text for a in namesakes for held in a.accepted)
