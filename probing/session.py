"""The state of a probing run in progress, and the choice of the arguments of the next call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from probing.caller import Caller
from probing.candidates import ValueFilter, candidates, combinations
from probing.model_hints import Teacher, hints_in
from probing.record_fields import is_id_name, iter_records
from probing.refusals import refusal_in, reply_of, template_of
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
from protocols.naming import snake
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.schema import Json
from protocols.toolbox import Toolbox

_SET_BY_SERVICE = frozenset(
    {"created_at", "id", "key", "last_modified", "uid", "updated_at", "uuid"}
)
"""Fields of a record that a service sets itself."""


class Session:
    """The state of a probing run in progress: its tools, its calls, and what the calls showed.

    All of it is derived from the log. It is kept here only because deriving it again is slow.
    """

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
        self.roles = caller.roles
        self.created = caller.created
        self.rules = caller.rules
        self.kinds = caller.roles.kinds
        # An allowed GET that is not known to be read-only is called like a read-only tool.
        self.reads = {
            name: protocol
            for name, protocol in self.protocols.items()
            if is_known_read(protocol)
            or (is_safe(protocol) and self.kinds[name] == "read" and settings.allows(name))
        }
        # Read-only tools, and tools whose names suggest that they only read.
        self.looks = [name for name in self.protocols if name not in self.roles.writes]
        self.pools = Pools(self.protocols.values())
        self._teacher = teacher
        self._read = hints_in(log)
        self.round = 0
        self._suggested: dict[tuple[str, str], Sequence[Json]] = {}
        self._facts: dict[str, ToolFacts] = {}
        for sample in log.samples:
            self._take(sample)

    def facts(self, tool: str) -> ToolFacts:
        """Return what the calls so far have shown about a tool and its arguments."""
        if tool not in self._facts:
            self._facts[tool] = learn(self.protocols[tool], self.log.samples_of(tool), self._read)
        return self._facts[tool]

    @property
    def all_facts(self) -> dict[str, ToolFacts]:
        """The facts that are known about each tool so far, keyed by the tool's name."""
        return {name: self.facts(name) for name in self.protocols}

    def call(
        self, tool: str, arguments: ArgumentValues, *, purpose: Purpose, again: bool = False
    ) -> Sample:
        """Make one call and return it with its answer, or return an equal call from the log.

        If `again` is True, the call is made even if the log contains an equal one. If the tool may
        change something, the random mark of this probing run is inserted into the arguments first.

        Raises:
            NotCalled: the call may not be made.
        """
        known = len(self.log.samples)
        arguments = self.mark_arguments(tool, arguments)
        try:
            return self.caller.call(tool, arguments, purpose=purpose, again=again)
        finally:
            for sample in self.log.samples[known:]:
                self._take(sample)

    def was_called(self, tool: str, arguments: ArgumentValues) -> bool:
        """Return True if this call need not be tried, for one of three reasons.

        It is in the log, an earlier process that was killed may have sent it, or the rules for
        tools that change something do not allow it.
        """
        plain = {name: value.value for name, value in self.mark_arguments(tool, arguments).items()}
        made = self.log.find(tool, plain) is not None or self.log.was_intended(tool, plain)
        return made or bool(self.rules.refusal_reason(tool, plain))

    def mark_arguments(self, tool: str, arguments: ArgumentValues) -> ArgumentValues:
        """Return a call's arguments, some of which contain the random mark of this probing run.

        The mark is inserted into values that were not returned by a tool, and into values that
        identify a record. The arguments of a tool that only reads are returned unchanged.
        """
        if tool not in self.roles.writes:
            return arguments
        return {
            name: self._mark_value(self.facts(tool), name, value)
            for name, value in arguments.items()
        }

    def choices(
        self, tool: str, wanted: Sequence[str], *, alone: bool
    ) -> Iterator[dict[str, Value]]:
        """Yield combinations of values for the arguments of a tool that `wanted` names, best first.

        If `alone` is True, values that other tools returned are not used.
        """
        facts = self.facts(tool)
        offered = {name: self._candidates(facts, name, alone=alone) for name in wanted}
        for name in wanted:
            is_asked = (tool, name) in self._suggested
            if self._teacher is None or is_asked:
                continue
            if all(value.is_generated for value in offered[name]):
                self._suggested[tool, name] = self._teacher.suggest(facts, facts.arguments[name])
                offered[name] = self._candidates(facts, name, alone=alone)
        return combinations(offered, [] if alone or len(wanted) < 2 else self.pools.records)

    def fields_of_records(self, tool: str) -> dict[str, Value]:
        """Return arguments for a POST, PUT or PATCH whose document does not declare a body.

        They are the fields of the largest record of the same kind that a read-only tool returned,
        except the fields that the service sets itself. Return {} for other tools.
        """
        protocol = self.protocols[tool]
        http = protocol.binding
        if not isinstance(http, HttpBinding) or http.method not in ("POST", "PUT", "PATCH"):
            return {}
        if any(place_of(protocol, name) != "path" for name in protocol.parameters):
            return {}
        record, origin = self._largest_record(tool)
        facts = self.facts(tool)
        unknown = {
            hint.argument
            for refusal in facts.refusal_hints.values()
            for hint in refusal
            if hint.kind == "unknown"
        }
        arguments: dict[str, Value] = {}
        for name, value in record.items():
            is_open = name not in unknown and name[:1] not in "_$@"
            if is_open and snake(name) not in _SET_BY_SERVICE:
                form = self._field_form(facts, name, value)
                if form is not None:
                    arguments[name] = Value(form, origin)
        return arguments

    def _largest_record(self, tool: str) -> tuple[Mapping[str, Json], ValueOrigin]:
        """Return the existing record of the kind that a tool creates, with its origin.

        It is the largest such object in the responses of read-only tools. If no response has one,
        the record is empty.
        """
        largest: Mapping[str, Json] = {}
        origin = GENERATED_ORIGIN
        for name in self.reads:
            if not self.roles.is_about(name, tool):
                continue
            for sample in self.facts(name).fruitful[:3]:
                for record, _ in islice(iter_records(sample.response), 20):
                    if len(record) > len(largest):
                        largest = record
                        origin = ValueOrigin(kind="response", tool=name, sample=sample.number)
        return largest, origin

    def _field_form(self, facts: ToolFacts, name: str, value: Json) -> Json:
        """Return the value of an existing record's field in the form in which a tool can take it.

        The value is sent to create a similar record, so it contains the random mark of this probing
        run if possible. Return None if the argument cannot take the value.
        """
        argument = facts.arguments.get(name, ArgumentFacts(name=name))
        # A required object or list is sent as it is: nothing describes its parts.
        is_whole = argument.required and isinstance(value, list | Mapping)
        if not is_whole and not isinstance(value, str | int | float):
            return None
        forms = [value]
        if not is_id_name(name):
            forms.insert(0, self.created.mark.insert_into(value, {}, {}))
        value_filter = ValueFilter(facts, argument)
        return next((form for form in forms if value_filter.is_allowed(form)), None)

    def _mark_value(self, facts: ToolFacts, name: str, value: Value) -> Value:
        """Return an argument's value with this run's random mark in it, or unchanged.

        A value gets the mark only if it can contain it, and if it was invented, is an example from
        a description, was proposed by a model, or identifies a record.
        """
        identifies = self.roles.identifies_record(facts.name, name)
        may_be_replaced = identifies or value.origin.kind in ("generated", "given", "model")
        if not may_be_replaced or self.created.belongs_to_probe(
            facts.name, name, value.value, unconfirmed=True
        ):
            return value
        declared = facts.protocol.parameters.get(name, {})
        root = facts.protocol.input_schema
        marked = self.created.mark.insert_into(value.value, declared, root, key=identifies)
        if marked == value.value:
            return value
        if name in facts.arguments:
            value_filter = ValueFilter(facts, facts.arguments[name])
            if value_filter.is_allowed(value.value) and not value_filter.is_allowed(marked):
                return value
        return Value(marked, GENERATED_ORIGIN)

    def _candidates(self, facts: ToolFacts, name: str, *, alone: bool) -> list[Value]:
        writes = facts.name in self.roles.writes
        suggested = self._suggested.get((facts.name, name), ())
        listed = candidates(
            facts, facts.arguments[name], pools=None if alone else self.pools, suggested=suggested
        )
        return self._prefer_own(facts, name, listed) if writes else listed

    def _prefer_own(self, facts: ToolFacts, name: str, values: Sequence[Value]) -> list[Value]:
        """Return the values that may be sent to a tool that changes something, best first.

        An argument that identifies the record to change gets only ids of records that this probing
        run created, and values with its random mark. For other arguments, values with the mark come
        first, and values of existing records follow. An argument that refers to some other record
        gets values of existing records first.
        """
        pairs = [(value, self._mark_value(facts, name, value)) for value in values]
        if self.roles.identifies_record(facts.name, name):
            chosen = self._identifying_values(facts, name, [marked for _, marked in pairs])
        else:
            chosen = self._other_values(facts.name, name, pairs)
        unique: dict[str, Value] = {}
        for value in chosen:
            # Of equal values the first is kept, at the position of the last.
            first = unique.pop(repr(value.value), value)
            unique[repr(value.value)] = first
        return list(unique.values())

    def _identifying_values(
        self, facts: ToolFacts, name: str, marked: Sequence[Value]
    ) -> list[Value]:
        """Return values for an argument that identifies a record of this probing run, best first.

        Ids of records that this run created come first. They are followed by those of the values
        `marked` that contain the run's random mark.
        """
        value_filter = ValueFilter(facts, facts.arguments[name])
        origin = ValueOrigin(kind="response")
        own = [
            value_filter.adapt(Value(id_, origin)) for id_ in self.created.own_ids(facts.name, name)
        ]
        new = [
            value
            for value in marked
            if self.created.belongs_to_probe(facts.name, name, value.value, unconfirmed=True)
        ]
        new.sort(key=lambda value: value.origin != GENERATED_ORIGIN)
        return [*(value for value in own if value is not None), *new]

    def _other_values(
        self, tool: str, name: str, pairs: Sequence[tuple[Value, Value]]
    ) -> list[Value]:
        """Return values for an argument that does not identify the record to change, best first.

        `pairs` has each value together with a copy that contains the random mark of this probing
        run. If the value cannot contain the mark, the pair has the same object twice.
        """
        is_reference = self.roles.is_reference(tool, name)
        marked = [new for value, new in pairs if new is not value]
        unmarked = [value for value, new in pairs if new is value]
        if marked and not is_reference:
            unmarked = [value for value in unmarked if not isinstance(value.value, str)]

        def exists(value: Value) -> bool:
            from_service = value.origin.kind in ("given", "response")
            return from_service and self.created.exists_already(tool, name, value.value)

        unmarked.sort(key=exists)
        return [*unmarked, *marked] if is_reference else [*marked, *unmarked]

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
    """Return the arguments of the next call of a tool to try, or None.

    The call has the arguments that are known to be needed, with a combination of values that was
    not tried yet. None means that there is no value to try for an argument, or that all
    combinations were tried.

    Args:
        session: the state of the probing run.
        facts: what is known about the tool.
        alone: True to use no values that other tools returned.
        beside: further arguments that the call must have.
    """
    whole = {
        name: value for name, value in beside.items() if isinstance(value.value, list | Mapping)
    }
    for wanted in _argument_sets(session, facts):
        left = [name for name in wanted if name not in whole]
        for choice in session.choices(facts.name, left, alone=alone):
            arguments = {**beside, **choice}
            if not session.was_called(facts.name, arguments):
                return arguments
    return None


def _argument_sets(session: Session, facts: ToolFacts) -> list[list[str]]:
    """Return the sets of arguments with which a tool may be called, as lists of their names.

    Usually there is one set: the needed arguments. If calls were refused and the replies gave no
    hint, sets with optional arguments are added, because one of these may in fact be required. The
    set that was tried least often comes first.
    """
    first = _first_arguments(session, facts)
    optional = [
        name
        for name in facts.usable
        if name not in first and facts.arguments[name].required is None
    ]
    unexplained = [
        sample
        for sample in facts.samples
        if not sample.done and not facts.refusal_hints.get(sample.number)
    ]
    patience = 5 if facts.protocol.required else 0
    if len(unexplained) <= patience or not optional or facts.done:
        return [first]
    sets = [first, [*first, *optional]]
    if len(optional) > 1:
        sets += [[*first, name] for name in optional]
    tried = [frozenset(sample.arguments) for sample in facts.samples]
    return sorted(sets, key=lambda wanted: tried.count(frozenset(wanted)))


def _first_arguments(session: Session, facts: ToolFacts) -> list[str]:
    """Return the names of the arguments that the first call of a tool needs.

    These are the required arguments. If the tool creates a record, the arguments that name the new
    record are added.
    """
    needed = facts.needed
    if not session.roles.creates_records(facts.name):
        return needed
    # Without its name, the new record might be confused with an existing one.
    if needed:
        naming = session.roles.identifying_arguments(facts.name)
    else:
        naming = [
            name for name in facts.usable if facts.arguments[name].place not in ("header", "cookie")
        ]
    return [*needed, *(name for name in naming if name not in needed and name in facts.usable)]
