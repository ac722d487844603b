"""Probing: learning how tools behave by calling them (Chain of Tools, ATC paper §4).

The paper divides the tools into those that have not yet returned data (B) and those that have (H).
Round 0 calls each tool without values of other tools. Each further round calls the tools of B with
values that tools of H returned, until B is empty or the number of rounds is reached. As soon as a
tool answers, experiments show what it accepts and refuses, because its responses provide values for
the next round. Links between tools are tested in each further round and at the end.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from socket import gethostname
from typing import Any

from probing.call_plan import host_label
from probing.caller import ApprovalCheck, Caller, NotCalled, needs_no_approval
from probing.experiments import discover, sharpen
from probing.links import Flows
from probing.model_hints import Teacher
from probing.record_matching import CreatedRecord
from probing.samples import SOURCE, Log, ProbeSettings, Watch
from probing.session import Session
from probing.tool_facts import ToolFacts
from probing.writes import Writes
from protocols.client import Invoker
from protocols.effects import UNKNOWN_EFFECT, likely_action
from protocols.errors import AtcError
from protocols.model import Ask
from protocols.private_files import CannotWrite
from protocols.protocol import Link, ToolProtocol
from protocols.response import one_line
from protocols.tool import Tool
from protocols.toolbox import Toolbox

LINK_CALLS = 3
"""Number of calls of each tool that are reserved for testing links."""
PERSEVERANCE = 8
"""Maximum number of further failed calls, after all rounds, of a tool that returned no data."""
_LONGEST = 80
"""Maximum number of characters of a marked text in the description of a created record."""


@dataclass(frozen=True, kw_only=True)
class Probed:
    """The result of a probing run.

    Tools are identified by their names in the source, such as an OpenAPI document.
    """

    facts: Mapping[str, ToolFacts]
    links: Mapping[str, Sequence[Link]] = field(default_factory=dict)
    words: Mapping[str, str] = field(default_factory=dict)
    """Descriptions of tools that a model wrote."""
    stopped: Mapping[str, str] = field(default_factory=dict)
    """The reason for each tool that was not called (any more)."""
    made: tuple[Mapping[str, Any], ...] = ()
    """A JSON object for each created record: its calls, ids and texts with the random mark, whether
    it was removed, and by which tool or why not."""
    interrupted: bool = False


def probe(
    toolbox: Toolbox,
    log: Log,
    *,
    settings: ProbeSettings | None = None,
    ask: Ask | None = None,
    caller: Caller | None = None,
    watch: Watch = lambda _: None,
    needs_approval: ApprovalCheck = needs_no_approval,
) -> Probed:
    """Probe all tools of one source, continuing from what the log contains.

    The failure of a tool raises no exception: the result says which tools could not be called, and
    why. After Ctrl-C, created records are removed, and what was learned so far is returned.

    Args:
        toolbox: the tools of one source, such as an OpenAPI document or MCP server.
        log: the samples of earlier runs. New samples are added.
        settings: limits of the calls.
        ask: calls a language model. It proposes values, reads error replies that no rule can read,
            and describes tools. None: no model is used.
        caller: makes the calls. None: a new one is created.
        watch: called with each sample and with messages for the user.
        needs_approval: returns True for a call that needs the approval of a person. Such a call is
            not made.
    """
    settings = settings or ProbeSettings()
    caller = caller or Caller(toolbox, log, settings, watch=watch, needs_approval=needs_approval)
    teacher = Teacher(ask, log) if ask is not None else None
    session = Session(toolbox, log, caller, settings, watch=watch, teacher=teacher)
    for intent in [intent for intent in log.intents.values() if intent["tool"] in session.reads]:
        log.void(intent["number"])  # a read that was cut off by a kill is repeated
    probing = _Probing(session, teacher)
    try:
        probing.run()
    except KeyboardInterrupt:
        with suppress(
            KeyboardInterrupt
        ):  # after a second Ctrl-C the records stay, and the report names them
            if session.created.count_removable():
                probing.take_away()
        return replace(probing.result(), interrupted=True)
    return probing.result()


@dataclass(frozen=True, kw_only=True)
class SourceProbing:
    """A source of tools to probe. After the probing, `probed` is the result."""

    source: str
    folder: Path
    protocols: Sequence[ToolProtocol] = ()
    """The protocols of the source's tools. Callable tools are created only in the process that
    probes the source."""
    probed: Probed | None = None
    sent: int = 0
    """Number of calls that were sent."""
    error: str = ""
    """Why the probing of this source failed; "" if it did not."""


def by_host(sources: Iterable[SourceProbing]) -> list[list[SourceProbing]]:
    """Return the sources in groups, so that sources with a common host are in the same group.

    Sources A and C are in one group, too, if A has a host in common with a source B, and B has
    another host in common with C.
    """
    groups: dict[frozenset[str], list[SourceProbing]] = {}
    for source in sources:
        hosts = frozenset(map(host_label, source.protocols))
        met = [known for known in groups if known & hosts or known == hosts]
        groups[hosts.union(*met)] = [*(one for known in met for one in groups.pop(known)), source]
    return list(groups.values())


def probe_in_turn(
    sources: Sequence[SourceProbing],
    *,
    invoker: Invoker,
    settings: ProbeSettings,
    ask: Ask | None,
    needs_approval: ApprovalCheck,
) -> list[SourceProbing]:
    """Probe sources with a common host one after another, so that its rate limit is respected.

    A source that fails does not affect the others. After Ctrl-C, the remaining sources are skipped.
    """
    ended: list[SourceProbing] = []
    for one in sources:
        if ended and settings.requests_per_second:
            time.sleep(1 / settings.requests_per_second)
        try:
            with Log(one.folder) as log:
                if SOURCE not in log.notes:
                    raise CannotWrite(
                        f"{one.folder} is another folder on {gethostname()}: "
                        "give one that is shared."
                    )
                tools = Toolbox(
                    Tool(
                        protocol,
                        invoker.bind(protocol),
                        place=invoker.servers.place(protocol.binding),
                    )
                    for protocol in one.protocols
                )
                probed = probe(
                    tools, log, settings=settings, ask=ask, needs_approval=needs_approval
                )
                ended.append(replace(one, probed=probed, sent=log.sent_count))
            if probed.interrupted:
                break
        except AtcError as error:  # the other sources are still probed
            ended.append(replace(one, error=str(error)))
    return ended


class _Probing:
    """One run of the probing algorithm."""

    def __init__(self, session: Session, teacher: Teacher | None) -> None:
        self._session = session
        self._teacher = teacher
        self._writes = Writes(session)
        self._reads = list(session.reads)
        self._stopped = dict(session.caller.stopped)
        self._words: dict[str, str] = {}

    def run(self) -> None:
        """Run the whole probing: all rounds, tests of links, removals, and descriptions."""
        session = self._session
        for number in range(session.settings.rounds + 1):
            before = session.log.sent_count
            session.round = number
            self._each(self._unanswered_tools(self._reads), partial(discover, session))
            self._each(self._answered_tools(self._reads), self._sharpen)
            if number:
                self._test_links()
            makers = self._unanswered_tools(self._callable_tools(self._writes.makers()))
            if number or not session.settings.rounds:
                self._each(makers, self._writes.make)
                self._each(self._answered_tools(makers), self._sharpen)
                self._each(self._unanswered_tools(self._reads), self._look_again)
            if not self._unanswered_tools([*self._reads, *makers]) or (
                number and session.log.sent_count == before
            ):
                break
        self._each(self._unanswered_tools(self._reads), self._persevere)
        self._test_links()
        self.take_away()
        if self._teacher is not None:
            descriptions = {
                name: self._teacher.description(session.facts(name)) for name in session.protocols
            }
            self._words = {name: words for name, words in descriptions.items() if words}
            if self._teacher.failed:
                session.watch(self._teacher.failed)

    def take_away(self) -> None:
        """Remove created records with the tools that can remove them and may be called."""
        self._each(self._callable_tools(self._writes.removers()), self._writes.remove)
        self._writes.look_again()

    def result(self) -> Probed:
        """Return what this probing run has found out so far about the tools."""
        session = self._session
        facts = session.all_facts
        cut_off = "a call was cut off by a kill, and is not made again"
        answered = {sample.tool for sample in session.log.samples}
        cut = {
            t: cut_off
            for intent in session.log.intents.values()
            if (t := str(intent["tool"])) not in answered
        }
        return Probed(
            facts=facts,
            links=Flows(facts, session.pools).links(),
            words=dict(self._words),
            stopped={**cut, **session.caller.stopped, **self._stopped},
            made=tuple(_describe_created_records(session)),
        )

    def _each(self, tools: Iterable[str], work: Callable[[str], object]) -> None:
        """Call the function `work` with the name of each tool.

        If a tool must not be called again, store the reason.
        """
        for name in list(tools):
            try:
                work(name)
            except NotCalled as refusal:
                if refusal.scope != "call":
                    self._stopped[name] = str(refusal)

    def _look_again(self, name: str) -> None:
        """Repeat a tool's call that returned no data, if a later call may have created data."""
        session = self._session
        empty = session.facts(name).done
        written = [s.number for s in session.log.samples if s.done and s.tool not in session.reads]
        if empty and written and max(written) > empty[-1].number:
            session.call(name, empty[0].arguments, purpose="effect", again=True)

    def _persevere(self, name: str) -> None:
        """Call a tool with further ids from other tools, because it may accept only some ids."""
        discover(self._session, name, attempts=PERSEVERANCE)
        if self._answered_tools([name]):
            self._sharpen(name)

    def _sharpen(self, name: str) -> None:
        sharpen(self._session, name, reserve=LINK_CALLS + self._writes.count_reserved(name))

    def _test_links(self) -> None:
        """Test likely links: call tools with values that other tools returned."""
        session = self._session
        for _ in range(LINK_CALLS):
            sent: set[str] = set()
            for tool, arguments in Flows(session.all_facts, session.pools).plan_tests():
                used = sum(sample.purpose == "link" for sample in session.log.samples_of(tool))
                free = (
                    tool in session.reads
                    and tool not in sent
                    and used < LINK_CALLS
                    and session.caller.remaining_calls(tool)
                )
                if free and not session.was_called(tool, arguments):
                    sent.add(tool)
                    with suppress(NotCalled):
                        session.call(tool, arguments, purpose="link")
            if not sent:
                return

    def _callable_tools(self, tools: Iterable[str]) -> list[str]:
        return [name for name in tools if name not in self._stopped]

    def _unanswered_tools(self, tools: Iterable[str]) -> list[str]:
        """Return the tools that have not returned data (the paper's B)."""
        return [name for name in tools if not self._session.facts(name).fruitful]

    def _answered_tools(self, tools: Iterable[str]) -> list[str]:
        """Return the tools that have returned data (the paper's H)."""
        return [name for name in tools if self._session.facts(name).fruitful]


def _describe_created_records(session: Session) -> Iterator[dict[str, Any]]:
    """Yield a JSON object for each record that this probing run created, or may have created."""
    for record in session.created.all():
        is_present = record.is_present
        why = _why_left(session, record) if is_present else f"removed by {record.removed_by}"
        yield {
            "tool": record.tool,
            "calls": [call.number for call in record.calls],
            "marks": sorted({one_line(text, limit=_LONGEST) for text in record.marks}),
            "ids": sorted({text for _, text in record.ids | record.answered_ids} - record.marks),
            "removed": not is_present,
            "why": why,
        }
    for intent in session.log.intents.values():
        tool = str(intent["tool"])
        if tool not in session.roles.writes:
            continue
        marks = session.created.marks_in(intent["arguments"])
        yield {
            "tool": tool,
            "calls": [intent["number"]],
            "marks": sorted(one_line(text, limit=_LONGEST) for text in marks),
            "ids": [],
            "removed": False,
            "why": "the call was cut off, so nobody knows whether it made anything",
        }


def _why_left(session: Session, record: CreatedRecord) -> str:
    """Return why a created record was not removed, as a phrase for the report."""
    is_unknown_effect = likely_action(session.protocols[record.tool])[1] == UNKNOWN_EFFECT
    if is_unknown_effect and not record.last_shown and not record.answered_ids:
        return "nothing tells whether it made anything"
    roles = session.roles
    removers = [
        name
        for name in session.protocols
        if roles.kinds[name] == "remove" and roles.works_on(name, record.noun)
    ]
    called = next((name for name in removers if session.facts(name).samples), "")
    called = record.removed_by or called
    if called:
        return f"{called} did not take it away"
    return f"{removers[0]} was not called" if removers else "no tool is known that takes it away"
