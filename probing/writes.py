"""Probes the tools that change data: it creates records with them, and removes these records."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from probing.caller import NotCalled
from probing.candidates import ValueFilter
from probing.experiments import ATTEMPTS
from probing.record_fields import is_id_name
from probing.record_matching import CreatedRecord
from probing.refusals import refusal_in
from probing.samples import Sample, Value, ValueOrigin
from probing.session import Session, next_arguments
from probing.tool_facts import ToolFacts
from protocols.effects import is_known_read, likely_action
from protocols.protocol import Annotations, ToolProtocol
from protocols.schema import Json, types

_REMOVAL_TRIES = 3
"""Number of calls with which a tool may try to remove one created record."""
_MOST_REMOVALS = 40
_READS_PER_WRITE = 2
"""Number of calls of a read-only tool that are reserved to look up what one other tool creates."""
_NOTHING_MADE = "it takes things away, and this probing made nothing that it could take"
_UNNAMED = "it takes things away without being told which, so nothing else would be safe from it"


def effects_of(protocol: ToolProtocol) -> Annotations:
    """Return what a call of a tool may do, as its HTTP method, name and annotations show."""
    if is_known_read(protocol):
        return Annotations(read_only=True)
    removes = likely_action(protocol)[0] == "remove" or protocol.annotations.destructive
    return replace(protocol.annotations, read_only=False, destructive=removes)


def find_done_calls(facts: ToolFacts) -> list[Sample]:
    """Return the successful calls of a tool, except those whose response reports an error."""
    return [sample for sample in facts.done if not refusal_in(sample.response)]


class Writes:
    """Probes the tools that change data. The session's write rules must allow every call."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._roles = session.roles
        self._created = session.created

    def makers(self) -> list[str]:
        """Return the tools that may create or update records, in the order of probing.

        Tools that are not known to be read-only, but whose names suggest it, come first.
        """
        return [name for name in self._in_order() if self._roles.kinds[name] != "remove"]

    def removers(self) -> list[str]:
        """Return the tools that remove records, in the order in which they are called.

        A tool that removes the records that were created last comes first.
        """
        removers = [name for name in self._in_order()[::-1] if self._roles.kinds[name] == "remove"]
        return sorted(removers, key=self._first_creation, reverse=True)

    def _first_creation(self, remover: str) -> int:
        """Return the number of the first call that created a record that `remover` can remove.

        Return 0 if no call created such a record.
        """
        numbers = [
            record.calls[0].number
            for record in self._created.all()
            if self._roles.works_on(remover, record.noun)
        ]
        return min(numbers, default=0)

    def count_reserved(self, tool: str) -> int:
        """Return how many calls of a read-only tool are reserved to look up created records."""
        session = self._session
        shown_writes = [
            name
            for name in session.protocols
            if name not in session.reads
            and session.settings.allows(name)
            and self._roles.is_about(tool, name)
        ]
        return min(_READS_PER_WRITE * len(shown_writes), session.settings.per_tool // 2)

    def make(self, tool: str) -> None:
        """Call a tool that creates or updates records until one call succeeds.

        Stop when all arguments were tried, or after a fixed number of calls.

        Raises:
            NotCalled: the tool may not be called (any more).
        """
        session = self._session
        if self._roles.kinds[tool] == "update":
            self._show()  # an update is given only records that a read has shown
        names_unknown_record = self._names_unknown_record(tool)
        for _ in range(ATTEMPTS):
            facts = session.facts(tool)
            if find_done_calls(facts):
                break
            arguments = self._next_write_arguments(facts)
            if arguments is None:
                break
            answer = session.call(tool, arguments, purpose="effect")
            if names_unknown_record and answer.status in (404, 410):
                break  # the tool does not create a record under a new id
        reason = session.rules.last_refusals.get(tool)
        if reason and not session.facts(tool).samples:
            raise NotCalled(f"{reason}.", scope="tool")

    def _names_unknown_record(self, tool: str) -> bool:
        """Return True if a tool needs the id of a record, but probing created no such record."""
        updates = self._roles.kinds[tool] == "update"
        return any(
            self._roles.identifies_record(tool, name) and not self._created.own_ids(tool, name)
            for name, argument in self._session.facts(tool).arguments.items()
            if updates or argument.place == "path"
        )

    def _next_write_arguments(self, facts: ToolFacts) -> dict[str, Value] | None:
        """Return the next arguments to try for a tool that changes data, or None if all were tried.

        If the tool's document does not declare a body, the fields of an existing record are added.
        If all such calls were tried, the same fields without ids are added, because an id may be in
        use already. Calls without these fields come last.
        """
        fields = self._session.fields_of_records(facts.name)
        without_ids = {name: value for name, value in fields.items() if not is_id_name(name)}
        for beside in (fields, without_ids, {}):
            arguments = next_arguments(self._session, facts, alone=False, beside=beside)
            if arguments is not None:
                return arguments
        return None

    def remove(self, tool: str) -> None:
        """Remove the records that this probing run created, as far as one removing tool can.

        Raises:
            NotCalled: the tool could remove none of these records, or it may not be called any
                more.
        """
        session = self._session
        parameters = session.protocols[tool].parameters.items()
        if not any(
            self._roles.identifies_record(tool, name) or _is_list(schema)
            for name, schema in parameters
            if not self._roles.is_filter(tool, name)
        ):
            raise NotCalled(f"{tool} is not called: {_UNNAMED}.", scope="tool")
        self._show()
        succeeded = find_done_calls(session.facts(tool))
        if not succeeded and self._removal_arguments(session.facts(tool)) is None:
            raise NotCalled(f"{tool} is not called: {_NOTHING_MADE}.", scope="tool")
        for _ in range(_MOST_REMOVALS):
            arguments = self._removal_arguments(session.facts(tool))
            if arguments is None:
                break
            session.call(tool, arguments, purpose="effect", again=True)

    def look_again(self) -> None:
        """Call some read-only tools again, to see whether removed records are gone.

        They are the tools that were last called before a record of their kind was removed. What the
        calls return is kept in the session.
        """
        session = self._session
        for tool in session.looks:
            facts = session.facts(tool)
            removals = [
                record.removed_at
                for record in self._created.all()
                if self._roles.is_about(tool, record.tool)
            ]
            last_removal = max(removals, default=0)
            was_read_before = facts.samples and facts.samples[-1].number < last_removal
            if was_read_before and not facts.needed:
                with suppress(NotCalled):
                    session.call(tool, {}, purpose="effect", again=True)

    def _show(self) -> None:
        """Call read-only tools to look up created records that no response has shown yet."""
        unshown = [record for record in self._created.present() if not record.last_shown]
        for record in unshown:
            for tool in self._session.looks:
                if not record.last_shown and self._session.caller.remaining_calls(tool):
                    self._show_by(tool, record)

    def _show_by(self, tool: str, record: CreatedRecord) -> None:
        """Call a read-only tool to look up a created record, if the tool can show it.

        Do nothing if the tool was already called since the record was created or changed.
        """
        session = self._session
        arguments = self._showing_arguments(tool, record)
        if arguments is None:
            return
        plain = {name: value.value for name, value in arguments.items()}
        earlier = session.log.find(tool, plain)
        if earlier is None or earlier.number < record.calls[-1].number:
            with suppress(NotCalled):
                session.call(tool, arguments, purpose="effect", again=True)

    def _showing_arguments(self, tool: str, record: CreatedRecord) -> dict[str, Value] | None:
        """Return arguments for which a read-only tool may return a record, or None."""
        needed = self._session.facts(tool).needed
        if not needed:
            return {} if self._roles.is_about(tool, record.tool) else None
        if len(needed) > 1:
            return None
        ids = self._created.own_ids(tool, needed[0], of=record, unconfirmed=True)
        if not ids:
            return None
        return {needed[0]: Value(ids[0], ValueOrigin(kind="response", tool=record.tool))}

    def _removal_arguments(self, facts: ToolFacts) -> dict[str, Value] | None:
        """Return arguments with which a tool may remove a created record, or None.

        They identify a record that still exists, and were not sent since it was last changed. None
        means that there are no such arguments.
        """
        wanted = self._removal_argument_names(facts)
        identifying = [name for name in wanted if self._roles.identifies_record(facts.name, name)]
        others = [name for name in wanted if name not in identifying]
        for record in reversed(self._created.present()):
            if not self._roles.works_on(facts.name, record.noun):
                continue
            for ids in self._id_choices(facts, identifying, record):
                arguments = self._find_usable_arguments(facts.name, ids, others, record)
                if arguments is not None:
                    return arguments
        return None

    def _removal_argument_names(self, facts: ToolFacts) -> list[str]:
        """Return the names of the arguments with which a tool removes a record.

        If no needed argument identifies a record, optional ones that can identify it are added.
        """
        roles = self._roles
        needed = facts.needed
        if any(roles.identifies_record(facts.name, name) for name in needed):
            return needed
        optional = [
            name
            for name, schema in facts.protocol.parameters.items()
            if name not in needed
            and (_is_list(schema) or roles.identifies_record(facts.name, name))
        ]
        return [*needed, *optional]

    def _id_choices(
        self, facts: ToolFacts, names: Sequence[str], record: CreatedRecord
    ) -> Iterator[dict[str, Value]]:
        """Yield combinations of ids for the arguments that identify a record.

        The first combination has the first id for each argument, the second one the second, and so
        on.
        """
        ids = {name: self._usable_ids(facts, name, record) for name in names}
        if not all(ids.values()):
            return
        for n in range(max(map(len, ids.values()), default=1)):
            yield {name: values[min(n, len(values) - 1)] for name, values in ids.items()}

    def _find_usable_arguments(
        self, tool: str, ids: dict[str, Value], others: Sequence[str], record: CreatedRecord
    ) -> dict[str, Value] | None:
        """Return arguments for a call that should remove a record, or None if none are usable.

        Several combinations of values are tried for the arguments that do not identify the record.
        A combination is usable if it was not sent since the record was last changed, and if
        `WriteRules` allows the call, that is, if it can only affect records of this probing.

        Args:
            tool: the tool that removes records.
            ids: values for the arguments that identify the record.
            others: the names of the other arguments, which need values.
            record: the record.
        """
        session = self._session
        choices: Iterator[dict[str, Value]] = iter([{}])
        if others:
            choices = islice(session.choices(tool, others, alone=False), _REMOVAL_TRIES)
        for choice in choices:
            arguments = {**choice, **ids}
            marked = session.mark_arguments(tool, arguments)
            plain = {name: value.value for name, value in marked.items()}
            earlier = session.log.find(tool, plain)
            is_new = earlier is None or earlier.number < record.calls[-1].number
            if is_new and not session.rules.refusal_reason(tool, plain):
                return arguments
        return None

    def _usable_ids(self, facts: ToolFacts, name: str, record: CreatedRecord) -> list[Value]:
        """Return the ids of a record that a removing tool's argument can take.

        If it can take no id of the record, return ids of other created records, because the
        argument may identify the container of the record.
        """
        origin = ValueOrigin(kind="response", tool=record.tool, sample=record.calls[0].number)
        value_filter = ValueFilter(facts, facts.arguments[name])
        for source in (record, None):
            ids = self._created.own_ids(facts.name, name, of=source)
            adapted = [value_filter.adapt(Value(id_, origin)) for id_ in ids]
            if usable := [value for value in adapted if value is not None]:
                return usable
        return []

    def _in_order(self) -> list[str]:
        """Return all tools that are not known to be read-only, containers before their contents.

        A tool with a shorter URL is assumed to be about the container.
        """
        kinds = self._roles.kinds
        protocols = self._session.protocols

        def order(name: str) -> tuple[bool, int, str]:
            depth = getattr(protocols[name].binding, "url", "").count("/")
            return kinds[name] != "read", depth, kinds[name]

        return sorted((name for name in protocols if name not in self._session.reads), key=order)


def _is_list(schema: Json) -> bool:
    return isinstance(schema, Mapping) and "array" in types(schema)
