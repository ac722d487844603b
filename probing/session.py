"""What the parts of a probing share: the facts so far, calls, and which arguments the next call gets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from probing.caller import Caller
from probing.candidates import ValueFilter, candidates, combinations
from probing.error_replies import refusal_in, reply_of, template_of
from probing.model_hints import Teacher, hints_in
from probing.ownership import records
from probing.samples import (
    GENERATED_ORIGIN,
    ArgumentValues,
    Log,
    ProbeSettings,
    Purpose,
    Sample,
    Value,
    ValueOrigin,
    Watch,
)
from probing.tool_facts import ArgumentFacts, ToolFacts, learn, place_of
from probing.value_pool import Pools
from protocols.effects import is_known_read, is_safe
from protocols.naming import ID_WORDS, snake
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.schema import Json
from protocols.toolbox import Toolbox

_OF_THE_SERVICE = frozenset(
    {"created_at", "id", "key", "last_modified", "uid", "updated_at", "uuid"}
)
"""Fields of a record that a service gives by itself."""


class Session:
    """One probing under way. All it knows follows from the log; it only keeps what would be slow to find anew."""

    def __init__(
        self,
        toolbox: Toolbox,
        log: Log,
        caller: Caller,
        settings: ProbeSettings,
        *,
        watch: Watch = lambda _: None,
        teacher: Teacher | None = None,
    ) -> None:
        self.log = log
        self.caller = caller
        self.settings = settings
        self.watch = watch
        self.protocols: Mapping[str, ToolProtocol] = {
            t.protocol.name: t.protocol for t in toolbox.values()
        }
        self.ledger = caller.ledger
        self.kinds = caller.ledger.kinds
        # A GET that nothing speaks for, once a person allowed it, is asked as reads are.
        self.reads = {
            name: protocol
            for name, protocol in self.protocols.items()
            if is_known_read(protocol)
            or (is_safe(protocol) and self.kinds[name] == "read" and settings.allows(name))
        }
        # Reads, and what is named like one.
        self.looks = [name for name in self.protocols if name not in self.ledger.writes]
        self.pools = Pools(self.protocols.values())
        self._teacher = teacher
        self._read = hints_in(log)
        self.round = 0
        self._suggested: dict[tuple[str, str], Sequence[Json]] = {}
        self._facts: dict[str, ToolFacts] = {}
        for sample in log.samples:
            self._take(sample)

    def facts(self, tool: str) -> ToolFacts:
        """What is known of a tool now."""
        if tool not in self._facts:
            self._facts[tool] = learn(self.protocols[tool], self.log.samples_of(tool), self._read)
        return self._facts[tool]

    @property
    def all_facts(self) -> dict[str, ToolFacts]:
        """What is known of all tools now."""
        return {name: self.facts(name) for name in self.protocols}

    def call(
        self, tool: str, arguments: ArgumentValues, *, purpose: Purpose, again: bool = False
    ) -> Sample:
        """Make one call, or take its answer from the log. Raises `NotCalled` where it may not be made."""
        known = len(self.log.samples)
        arguments = self.mark_arguments(tool, arguments)
        try:
            return self.caller.call(tool, arguments, purpose=purpose, again=again)
        finally:
            for sample in self.log.samples[known:]:
                self._take(sample)

    def was_called(self, tool: str, arguments: ArgumentValues) -> bool:
        """Whether this very call was made before, or may have been, or is not to be made at all."""
        plain = {name: value.value for name, value in self.mark_arguments(tool, arguments).items()}
        made = self.log.find(tool, plain) is not None or self.log.was_intended(tool, plain)
        return made or bool(self.ledger.refusal_reason(tool, plain))

    def mark_arguments(self, tool: str, arguments: ArgumentValues) -> ArgumentValues:
        """The arguments with this probing's mark in each text that is made up, or names what a write makes."""
        if tool not in self.ledger.writes:
            return arguments
        return {
            name: self._mark_value(self.facts(tool), name, value)
            for name, value in arguments.items()
        }

    def choices(
        self, tool: str, wanted: Sequence[str], *, alone: bool
    ) -> Iterator[dict[str, Value]]:
        """Values for the arguments in `wanted`, best first; `alone`: without those that other tools gave."""
        facts = self.facts(tool)
        found = {name: self._candidates(facts, name, alone=alone) for name in wanted}
        for name in wanted:
            new = (tool, name) not in self._suggested
            if (
                self._teacher is not None
                and new
                and all(value.is_generated for value in found[name])
            ):
                self._suggested[tool, name] = self._teacher.suggest(facts, facts.arguments[name])
                found[name] = self._candidates(facts, name, alone=alone)
        return combinations(found, [] if alone or len(wanted) < 2 else self.pools.records)

    def fields_of_records(self, tool: str) -> dict[str, Value]:
        """Arguments for a write of which nobody named any: the fields of a record that a read of the thing gave."""
        http = (protocol := self.protocols[tool]).binding
        if not isinstance(http, HttpBinding) or http.method not in ("POST", "PUT", "PATCH"):
            return {}
        if any(place_of(protocol, name) != "path" for name in protocol.parameters):
            return {}
        best = dict[str, Json]()
        origin = GENERATED_ORIGIN
        for name in self.reads:
            for sample in self.facts(name).fruitful[:3] if self.ledger.is_about(name, tool) else ():
                record = max(
                    (one for one, _ in islice(records(sample.response), 20)), key=len, default={}
                )
                if len(record) > len(best):
                    best = dict(record)
                    origin = ValueOrigin(kind="response", tool=name, sample=sample.number)
        given = dict[str, Value]()
        facts = self.facts(tool)
        unknown = {
            hint.argument
            for said in facts.refusal_hints.values()
            for hint in said
            if hint.kind == "unknown"
        }
        for name, value in best.items():
            word = snake(name)
            argument = facts.arguments.get(name, ArgumentFacts(name=name))
            whole = argument.required and isinstance(
                value, list | Mapping
            )  # of parts that nobody has named
            known = name not in unknown and word not in _OF_THE_SERVICE and name[:1] not in "_$@"
            if known and (whole or isinstance(value, str | int | float)):
                by_id = word.rpartition("_")[2] in ID_WORDS
                fits = ValueFilter(facts, argument)
                forms = (
                    [value] if by_id else [self.ledger.mark.insert_into(value, {}, {}), value]
                )  # what is no free text stays
                given |= dict(
                    [(name, Value(form, origin)) for form in forms if fits.is_allowed(form)][:1]
                )
        return given

    def _mark_value(self, facts: ToolFacts, name: str, value: Value) -> Value:
        key = self.ledger.identifies_record(facts.name, name)
        found = value.origin.kind not in (
            "generated",
            "given",
            "model",
        )  # else it may as well be another
        if (found and not key) or self.ledger.belongs_to_probe(
            facts.name, name, value.value, born=True
        ):
            return value
        declared = facts.protocol.parameters.get(name, {})
        root = facts.protocol.input_schema
        made = self.ledger.mark.insert_into(value.value, declared, root, key=key)
        fits = ValueFilter(facts, facts.arguments[name]) if name in facts.arguments else None
        free = fits is None or fits.is_allowed(made) or not fits.is_allowed(value.value)
        return Value(made, GENERATED_ORIGIN) if made != value.value and free else value

    def _candidates(self, facts: ToolFacts, name: str, *, alone: bool) -> list[Value]:
        writes = facts.name in self.ledger.writes
        suggested = self._suggested.get((facts.name, name), ())
        listed = candidates(
            facts, facts.arguments[name], pools=None if alone else self.pools, suggested=suggested
        )
        return self._prefer_own(facts, name, listed) if writes else listed

    def _prefer_own(self, facts: ToolFacts, name: str, values: Sequence[Value]) -> list[Value]:
        """Values for a write: marked ones before those of what is there; of what it is to name, nothing else."""
        tool = facts.name
        ledger = self.ledger
        pairs = [(value, self._mark_value(facts, name, value)) for value in values]
        by_id = ledger.is_reference(tool, name)
        if ledger.identifies_record(
            tool, name
        ):  # a record is called by what was shown, a new one by the mark
            fits = ValueFilter(facts, facts.arguments[name])
            owned = (
                Value(value, ValueOrigin(kind="response")) for value in ledger.own_ids(tool, name)
            )
            ours = [value for value in map(fits.adapt, owned) if value is not None]
            found = [
                made
                for _, made in pairs
                if ledger.belongs_to_probe(tool, name, made.value, born=True)
            ]
            chosen = [*ours, *sorted(found, key=lambda value: value.origin != GENERATED_ORIGIN)]
        else:
            free = [made for value, made in pairs if made is not value]
            same = [value for value, made in pairs if made is value]
            if free:
                same = [value for value in same if not isinstance(value.value, str) or by_id]
            same.sort(
                key=lambda v: (
                    v.origin.kind in ("given", "response")
                    and ledger.exists_already(tool, name, v.value)
                )
            )
            chosen = [*same, *free] if by_id else [*free, *same]
        return list({repr(value.value): value for value in reversed(chosen)}.values())[::-1]

    def _take(self, sample: Sample) -> None:
        self._facts.pop(sample.tool, None)
        if sample.done and not refusal_in(sample.response):
            self.pools.add(sample)
        elif (
            self._teacher is not None
            and reply_of(sample)
            and (key := template_of(sample)) not in self._read
        ):
            facts = self.facts(sample.tool)
            if not facts.refusal_hints.get(sample.number):
                self._read[key] = self._teacher.read(facts, sample)
                self._facts.pop(sample.tool, None)


def next_arguments(
    session: Session, facts: ToolFacts, *, alone: bool, beside: ArgumentValues
) -> dict[str, Value] | None:
    """The arguments of the next call that may be answered: those that are needed, with values not tried together yet,
    and those `beside` them.

    None where there are none: an argument without any value, or all combinations were tried.
    """
    for wanted in _argument_sets(session, facts):
        whole = {
            name: value for name, value in beside.items() if isinstance(value.value, list | Mapping)
        }
        left = [name for name in wanted if name not in whole]
        choices = ({**beside, **one} for one in session.choices(facts.name, left, alone=alone))
        if (
            found := next((c for c in choices if not session.was_called(facts.name, c)), None)
        ) is not None:
            return found
    return None


def _argument_sets(session: Session, facts: ToolFacts) -> list[list[str]]:
    """Which arguments to give: those needed. Where that was refused without a reason, more of them too.

    Then the set that was tried least goes first: no reply tells which argument is to blame.
    """
    first = facts.needed
    usables = facts.usable
    if session.ledger.creates_records(
        facts.name
    ):  # what a new record is called is said, lest it is called as another
        body = [name for name in usables if facts.arguments[name].place not in ("header", "cookie")]
        named = session.ledger.identifying_arguments(facts.name) if first else body
        first = [*first, *(name for name in named if name not in first and name in usables)]
    rest = [
        name for name in usables if name not in first and facts.arguments[name].required is None
    ]
    dumb = [
        sample
        for sample in facts.samples
        if not sample.done and not facts.refusal_hints.get(sample.number)
    ]
    if len(dumb) <= (5 if facts.protocol.required else 0) or not rest or facts.done:
        return [first]
    sets = [first, [*first, *rest], *([[*first, name] for name in rest] if len(rest) > 1 else [])]
    tried = [frozenset(sample.arguments) for sample in facts.samples]
    return sorted(sets, key=lambda wanted: tried.count(frozenset(wanted)))
