"""Writes: in which order they are tried, what a call is taken to do, and how what was made is taken away again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice

from probing.caller import NotCalled
from probing.candidates import ValueFilter
from probing.error_replies import refusal_in
from probing.experiments import ATTEMPTS
from probing.ownership import CreatedRecord
from probing.samples import Sample, Value, ValueOrigin
from probing.session import Session, next_arguments
from probing.tool_facts import ToolFacts
from protocols.effects import is_known_read, likely_action
from protocols.naming import ID_WORDS, snake
from protocols.protocol import Annotations, ToolProtocol
from protocols.schema import Json, types

_TRIES = 3
_SHOWING = 2
"""Calls with one thing that this probing made, until it is left; calls of a read that one write may need."""
_NOTHING_MADE = "it takes things away, and this probing made nothing that it could take"
_UNNAMED = "it takes things away without being told which, so nothing else would be safe from it"


def effects_of(protocol: ToolProtocol) -> Annotations:
    """What a call may do, by method, name and declaration."""
    if is_known_read(protocol):
        return Annotations(read_only=True)
    removes = likely_action(protocol)[0] == "remove" or protocol.annotations.destructive
    return replace(protocol.annotations, read_only=False, destructive=removes)


def find_done_calls(facts: ToolFacts) -> list[Sample]:
    """The calls of a tool that were done."""
    return [s for s in facts.done if not refusal_in(s.response)]


class Writes:
    """The writes of one probing; each call of them passes the ledger."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def makers(self) -> list[str]:
        """The tools that may be called with any values: those called like reads, then what creates or updates."""
        return [name for name in self._in_order() if self._session.kinds[name] != "remove"]

    def removers(self) -> list[str]:
        """The tools to be called last: those that take something away, the latest things first."""
        ledger = self._session.ledger

        def since(name: str) -> int:
            return min(
                (
                    made.calls[0].number
                    for made in ledger.created_records()
                    if ledger.can_delete(name, made)
                ),
                default=0,
            )

        return sorted(
            (n for n in self._in_order()[::-1] if ledger.kinds[n] == "remove"),
            key=since,
            reverse=True,
        )

    def count_reserved(self, tool: str) -> int:
        """Calls of a read that are to be kept for showing what writes made."""
        session = self._session
        writes = (
            n for n in session.protocols if n not in session.reads and session.settings.allows(n)
        )
        shown = sum(session.ledger.is_about(tool, name) for name in writes)
        return min(_SHOWING * shown, session.settings.per_tool // 2)

    def make(self, tool: str) -> None:
        """Find arguments with which a write is done. Raises `NotCalled` where it may not be called, or not any more."""
        session = self._session
        ledger = self._session.ledger
        updates = session.kinds[tool] == "update"
        if updates:
            self._show()  # it is given only what was shown to be this probing's own
        named = [
            n for n, a in session.facts(tool).arguments.items() if updates or a.place == "path"
        ]
        vain = any(
            ledger.identifies_record(tool, name) and not ledger.own_ids(tool, name)
            for name in named
        )
        for _ in range(ATTEMPTS):
            if find_done_calls(before := session.facts(tool)):
                break
            fields = session.fields_of_records(tool)
            free = {
                n: v for n, v in fields.items() if snake(n).rpartition("_")[2] not in ID_WORDS
            }  # that id may be taken
            tried = (
                next_arguments(session, before, alone=False, beside=more)
                for more in (fields, free, {})
            )
            if (chosen := next((one for one in tried if one is not None), None)) is None:
                break
            answer = session.call(tool, chosen, purpose="effect")
            if vain and answer.status in (404, 410):
                break  # nor does it make a record of a new id
        if not session.facts(tool).samples and (why := ledger.last.get(tool)):
            raise NotCalled(f"{why}.", scope="tool")

    def remove(self, tool: str) -> None:
        """Take away what this probing made.

        Raises:
            NotCalled: there is nothing that may be taken away, or it may not be called any more.
        """
        session = self._session
        ledger = self._session.ledger
        told = {
            n: s
            for n, s in session.protocols[tool].parameters.items()
            if not ledger.is_filter(tool, n)
        }
        if not any(
            ledger.identifies_record(tool, name) or _is_list(schema)
            for name, schema in told.items()
        ):
            raise NotCalled(f"{tool} is not called: {_UNNAMED}.", scope="tool")
        self._show()
        if (
            not find_done_calls(session.facts(tool))
            and self._find_own_arguments(session.facts(tool)) is None
        ):
            raise NotCalled(f"{tool} is not called: {_NOTHING_MADE}.", scope="tool")
        for _ in range(40):
            if (arguments := self._find_own_arguments(session.facts(tool))) is None:
                break
            session.call(tool, arguments, purpose="effect", again=True)

    def look_again(self) -> None:
        """Ask lists of what was taken away once more: what they show still is not gone."""
        ledger = self._session.ledger
        session = self._session
        for tool in session.looks:
            facts = session.facts(tool)
            since = max(
                (
                    made.removed_at
                    for made in ledger.created_records()
                    if ledger.is_about(tool, made.tool)
                ),
                default=0,
            )
            if (facts.samples[-1].number if facts.samples else since) < since and not facts.needed:
                with suppress(NotCalled):
                    session.call(tool, {}, purpose="effect", again=True)

    def _show(self) -> None:
        """Ask reads that may show, with this probing's mark, what was made and not shown yet."""
        ledger = self._session.ledger
        session = self._session
        for one in [
            made for made in ledger.created_records() if made.is_present and not made.last_shown
        ]:
            for tool in session.looks:
                wanted = session.facts(tool).needed
                if one.last_shown or len(wanted) > 1 or not session.caller.remaining_calls(tool):
                    continue
                given: list[dict[str, Value]] = [{}] if ledger.is_about(tool, one.tool) else []
                if wanted:
                    ids = ledger.own_ids(tool, wanted[0], of=one, born=True)
                    given = [
                        {wanted[0]: Value(text, ValueOrigin(kind="response", tool=one.tool))}
                        for text in ids[:1]
                    ]
                for arguments in given:
                    known = session.log.find(
                        tool, {name: value.value for name, value in arguments.items()}
                    )
                    if known is None or known.number < one.calls[-1].number:
                        with suppress(NotCalled):
                            session.call(tool, arguments, purpose="effect", again=True)

    def _find_own_arguments(self, facts: ToolFacts) -> dict[str, Value] | None:
        """Arguments that name a thing that this probing made, with which the tool was not called yet."""
        ledger = self._session.ledger
        tool = facts.name
        session = self._session
        for one in reversed(
            [
                made
                for made in ledger.created_records()
                if made.is_present and ledger.can_delete(tool, made)
            ]
        ):
            wanted = facts.needed
            if not any(ledger.identifies_record(tool, name) for name in wanted):
                parameters = facts.protocol.parameters.items()
                wanted += [
                    n
                    for n, s in parameters
                    if n not in wanted and (_is_list(s) or ledger.identifies_record(tool, n))
                ]
            named = [name for name in wanted if ledger.identifies_record(tool, name)]
            ids = {name: list(self._ids(facts, name, one)) for name in named}
            rest = [name for name in wanted if name not in named]
            for place in range(max(map(len, ids.values()), default=1)) if all(ids.values()) else ():
                chosen = {name: found[min(place, len(found) - 1)] for name, found in ids.items()}
                for more in (
                    islice(session.choices(tool, rest, alone=False), _TRIES) if rest else [{}]
                ):
                    arguments = {**more, **chosen}
                    plain = {
                        name: value.value
                        for name, value in session.mark_arguments(tool, arguments).items()
                    }
                    last = session.log.find(tool, plain)
                    if (
                        last is None or last.number < one.calls[-1].number
                    ) and not ledger.refusal_reason(tool, plain):
                        return arguments
        return None

    def _ids(self, facts: ToolFacts, name: str, made: CreatedRecord) -> Sequence[Value]:
        """The ids of what was made, else of what it stands in, as an argument can take them."""
        origin = ValueOrigin(kind="response", tool=made.tool, sample=made.calls[0].number)
        fits = ValueFilter(facts, facts.arguments[name])
        for of in (made, None):
            values = (
                Value(held, origin)
                for held in self._session.ledger.own_ids(facts.name, name, of=of)
            )
            if found := [value for value in map(fits.adapt, values) if value is not None]:
                return found
        return []

    def _in_order(self) -> list[str]:
        """All tools that are not known to be reads; what stands in a thing after what may make the thing."""
        kinds = self._session.kinds
        protocols = self._session.protocols
        steps = {
            name: getattr(one.binding, "url", "").count("/") for name, one in protocols.items()
        }
        names = [name for name in protocols if name not in self._session.reads]
        return sorted(names, key=lambda name: (kinds[name] != "read", steps[name], kinds[name]))


def _is_list(schema: Json) -> bool:
    return isinstance(schema, Mapping) and "array" in types(schema)
