"""Probing: learn tools by calling them (Chain of Tools, §4).

Two sets, as in the paper: tools that have not answered yet (B) and tools that have (H). Round 0 calls each tool alone;
each further round calls the tools of B with values that those of H gave, until B is empty or the rounds are over. What
a tool takes and refuses is found out as soon as it answers, since its longer lists feed the next round.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from probing.demands import needed
from probing.discover import discover
from probing.effects.words import repeats_harmlessly
from probing.events import Note, Phase, Step, Watch, unwatched
from probing.facts import ToolFacts
from probing.gate.caller import Caller, NotCalled
from probing.gate.plan import reads, why_not
from probing.infer import infer
from probing.links import link_tests, observed_links
from probing.log import Log
from probing.made import Made
from probing.output import protocols_of
from probing.probed import Probed, Round
from probing.session import Session
from probing.settings import ProbeSettings
from probing.sharpen import sharpen
from probing.teacher import Teacher
from probing.teacher.instance import Instance
from probing.teacher.selection import private
from probing.teacher.words import Words
from probing.writes import Writes
from protocols.ask import Ask
from protocols.reply import one_line
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox

LINK_CALLS = 3
"""Calls of one tool's budget that are kept for finding out whether values flow as they seem to."""


def probe(
    toolbox: Toolbox,
    log: Log,
    *,
    settings: ProbeSettings | None = None,
    ask: Ask | None = None,
    sandbox: Sandbox | None = None,
    caller: Caller | None = None,
    watch: Watch = unwatched,
) -> Probed:
    """Probe all tools of one source, going on from what the log holds.

    With a model (`ask`), tools that no other source of values makes answer are tried by programs that it proposes,
    which run in `sandbox`; each tool that answers gets a question and a program as its example, and words.

    The result is whole at any time: of tools that could not be called it says why. Nothing is raised for what a tool
    does; an interruption passes through, and the log holds all that was learned.
    """
    settings = settings or ProbeSettings()
    caller = caller or Caller(toolbox, log, settings, watch=watch)
    teacher = Teacher(ask, sandbox, caller, toolbox, log) if ask is not None else None
    suggest = teacher.suggest if teacher is not None else None
    probing = _Probing(Session(toolbox, log, caller, settings, watch=watch, suggest=suggest), teacher)
    probing.run()
    return probing.result()


def known(toolbox: Toolbox, log: Log, *, settings: ProbeSettings | None = None) -> Probed:
    """What the log of a probing says, without any call."""
    settings = settings or ProbeSettings()
    return _Probing(Session(toolbox, log, Caller(toolbox, log, settings), settings), None).result()


_LONGEST = 80
"""Characters of a text by which a report names what was made."""
PERSEVERANCE = 8
"""Calls in vain of a tool that no round made answer."""


class _Probing:
    def __init__(self, session: Session, teacher: Teacher | None) -> None:
        self._session, self._teacher = session, teacher
        self._writes = Writes(session)
        self._reads = [name for name, protocol in session.protocols.items() if reads(protocol)]
        settings, protocols = session.settings, session.protocols
        self._stopped = {name: why for name, protocol in protocols.items() if (why := why_not(protocol, settings))}
        self._last, self._alone = 0, False
        self._words: dict[str, Words] = {}

    def run(self) -> None:
        for number in range(self._session.settings.rounds + 1):
            before, self._last = self._session.log.sent, number
            waiting = self._waiting(self._reads)
            self._each("chain" if number else "discover", self._ordered(waiting, alone=number == 0), self._discover)
            self._alone = number == 0 and bool(self._waiting(self._reads))
            self._each("sharpen", self._answering(self._reads), self._sharpen)
            makers = self._waiting(self._allowed(self._writes.makers()))
            if number or not self._session.settings.rounds:
                self._each("write", makers, self._make)
                self._each("sharpen", self._answering(makers), self._sharpen)
                self._each("chain", self._waiting(self._reads), self._look_again)
            if not self._waiting([*self._reads, *makers]) or (number and self._session.log.sent == before):
                break
        self._each("chain", self._waiting(self._reads), self._persevere)
        self._each("link", self._answering(self._reads), self._links)
        self.take_away()
        if self._teacher is not None:
            tools = self._answering(self._session.protocols)
            self._each("describe", tools, partial(self._describe, self._teacher))
            if self._teacher.failed:
                self._session.watch(Note(self._teacher.failed))

    def take_away(self) -> None:
        """Take away what was made, as far as a tool for it is known and may be called."""
        self._each("write", self._allowed(self._writes.removers()), self._remove)
        self._writes.look_again(round=self._last)

    def result(self) -> Probed:
        session = self._session
        facts = {name: session.facts(name) for name in session.protocols}
        probed = Probed(
            facts=facts,
            links=tuple(observed_links(facts, session.pools)),
            effects=self._writes.effects(),
            words=dict(self._words),
            stopped={**_cut_off(session.log), **session.caller.stopped, **self._stopped},
            rounds=tuple(rounds_of(facts)),
            made=tuple(_told(session)),
        )
        return probed if self._teacher is None else replace(probed, instances=_instances(self._teacher, probed))

    def _each(self, phase: Phase, tools: Iterable[str], work: Callable[[str], None]) -> None:
        names = list(tools)
        for place, name in enumerate(names):
            self._session.watch(Step(phase=phase, round=self._last, tool=name, left=len(names) - place))
            try:
                work(name)
            except NotCalled as refusal:
                if refusal.scope != "call":
                    self._stopped[name] = str(refusal)

    def _ordered(self, waiting: list[str], *, alone: bool) -> list[str]:
        """Tools whose arguments can be had go first: they may feed those after them."""
        return sorted(waiting, key=lambda name: (self._wanting(name, alone=alone), waiting.index(name)))

    def _wanting(self, name: str, *, alone: bool) -> tuple[int, int]:
        wanted = needed(self._session.facts(name))
        choice = next(self._session.choices(name, wanted, alone=alone, suggest=False), None)
        made_up = sum(value.origin.kind == "generated" for value in choice.values()) if choice else len(wanted)
        return made_up, len(wanted)

    def _discover(self, name: str) -> None:
        found = discover(self._session, name, round=self._last)
        if self._teacher is None or (self._last == 0 and private(self._session.facts(name))):
            return  # alone, a model knows the ids of no service
        tries = 0
        while not found and tries < self._session.settings.attempts and self._session.caller.left(name):
            tries += 1
            found = self._instance(self._teacher, name)

    def _look_again(self, name: str) -> None:
        """Make a call that gave nothing once more, now that there may be something: a write came between."""
        session = self._session
        empty = session.facts(name).done
        written = [s.number for s in session.log.samples if s.done and not reads(session.protocols[s.tool])]
        if empty and written and max(written) > empty[-1].number:
            known = len(session.log.samples)
            session.caller.call(name, empty[0].arguments, purpose="effect", round=self._last, again=True)
            session.take_from(known)

    def _persevere(self, name: str) -> None:
        """Go on with ids that other tools gave, each of which may be the one of which the tool knows something."""
        if discover(self._session, name, round=self._last, attempts=PERSEVERANCE):
            self._sharpen(name)

    def _instance(self, teacher: Teacher, name: str) -> bool:
        """One proposal of the model (paper, §4.1), in a chain round with the help of tools that it chose (§4.2)."""
        session = self._session
        known = [session.facts(other) for other in session.protocols]
        alone = self._last == 0 and not session.facts(name).fruitful
        helpers = [] if alone else teacher.select(session.facts(name), [f for f in known if f.fruitful])
        before = len(session.log.samples)
        teacher.instance(session.facts(name), [session.facts(helper) for helper in helpers], round=self._last)
        session.take_from(before)
        return bool(session.facts(name).fruitful)

    def _sharpen(self, name: str) -> None:
        reserve = LINK_CALLS + self._writes.reserved(name)
        sharpen(self._session, name, round=self._last, reserve=reserve, alone=self._alone)

    def _make(self, name: str) -> None:
        self._writes.make(name, round=self._last)
        if not self._session.facts(name).samples and (why := self._session.ledger.last.get(name)):
            raise NotCalled(f"{why}.", scope="tool")

    def _remove(self, name: str) -> None:
        self._writes.remove(name, round=self._last)

    def _allowed(self, tools: Iterable[str]) -> list[str]:
        return [name for name in tools if name not in self._stopped]

    def _waiting(self, tools: Iterable[str]) -> list[str]:
        """The paper's B."""
        return [name for name in tools if not self._session.facts(name).fruitful]

    def _answering(self, tools: Iterable[str]) -> list[str]:
        """The paper's H."""
        return [name for name in tools if self._session.facts(name).fruitful]

    def _describe(self, teacher: Teacher, name: str) -> None:
        """An example of use, where none came about, and words; both from what was seen."""
        protocol, tried = self._session.protocols[name], teacher.instances(name)
        if not reads(protocol) and not repeats_harmlessly(protocol):
            pass  # a message sent once more for the sake of an example would be one too many
        elif not any(instance.worked for instance in tried) and len(tried) < self._session.settings.attempts:
            self._instance(teacher, name)
        facts = self._session.facts(name)
        responses = [sample.response for sample in facts.done]
        self._words[name] = teacher.words(facts, infer(responses, facts.protocol.output_schema))

    def _links(self, name: str) -> None:
        """Send values along links that may hold, and values from elsewhere along those that seem to."""
        session = self._session
        made = sum(sample.purpose == "link" for sample in session.log.of(name))
        while made < LINK_CALLS and session.caller.left(name):
            facts = {known: session.facts(known) for known in session.protocols}
            tests = (test.arguments for test in link_tests(facts, session.pools, tools=[name]))
            arguments = next((given for given in tests if not session.called(name, given)), None)
            if arguments is None:
                return
            session.call(name, arguments, purpose="link", round=self._last)
            made += 1


def take_away(toolbox: Toolbox, log: Log, *, settings: ProbeSettings, watch: Watch = unwatched) -> None:
    """Take away what a probing made that was interrupted."""
    session = Session(toolbox, log, Caller(toolbox, log, settings, watch=watch), settings, watch=watch)
    if session.ledger.removable():
        _Probing(session, None).take_away()


def _told(session: Session) -> Iterator[dict[str, Any]]:
    """Everything that this probing made, or may have made, and what became of it."""
    ledger = session.ledger
    for one in ledger.made():
        by = f"with what it stood in, by {one.gone_by}" if one.within else f"by {one.gone_by}"
        yield {
            "tool": one.tool,
            "calls": [call.number for call in one.calls],
            "marks": sorted({_clipped(text) for text in one.marks}),
            "ids": sorted({text for _, text in one.ids | one.given} - one.marks),
            "removed": not one.there,
            "why": f"removed {by}" if not one.there else _why_left(session, one),
        }
    for intent in session.log.intents.values():
        if ledger.restricts(tool := str(intent["tool"])):
            why = "the call was cut off, so nobody knows whether it made anything"
            marks = sorted(map(_clipped, ledger.marks_in(intent["arguments"])))
            number = intent["number"]
            yield {"tool": tool, "calls": [number], "marks": marks, "ids": [], "removed": False, "why": why}


def _clipped(text: str) -> str:
    """The beginning of a long text."""
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def _why_left(session: Session, one: Made) -> str:
    """Why a record was not taken away."""
    ledger = session.ledger
    removers = [name for name in session.protocols if ledger.removes(name) and ledger.takes(name, one)]
    if not removers:
        return "no tool is known that takes it away"
    if one.gone:
        return f"{one.gone_by} was called, and a read shows it still"
    texts = one.marks | {text for _, text in one.ids | one.given}
    later = [s for s in session.log.samples if s.tool in removers and s.number > one.calls[-1].number]
    tried = [s for s in later if texts & set(map(str, s.plain.values()))]
    if tried:
        return f"{tried[-1].tool} refused: {one_line(tried[-1].error, limit=120)}"
    if not one.shown:
        return f"no read showed that it carries the mark, so {removers[0]} was not called"
    why = session.caller.stopped.get(removers[0]) or ("" if session.caller.left(removers[0]) else "its calls are spent")
    return f"{removers[0]} was not called{why and ': '}{why}"


def _instances(teacher: Teacher, probed: Probed) -> dict[str, tuple[Instance, ...]]:
    """The instances of each tool, but for those whose programs do not run over the protocols as they are now."""
    protocols = protocols_of(probed)
    return {
        name: tuple(i for i in teacher.instances(name) if not i.worked or teacher.holds(i, protocols))
        for name in probed.facts
    }


def _cut_off(log: Log) -> dict[str, str]:
    """Tools of which no call came back, since a kill came between."""
    why = "a call was cut off by a kill, and is not made again (--resend sends reads again)"
    answered = {sample.tool for sample in log.samples}
    return {tool: why for intent in log.intents.values() if (tool := str(intent["tool"])) not in answered}


def rounds_of(facts: Mapping[str, ToolFacts]) -> Iterator[Round]:
    """The rounds so far: the calls of each, and the tools that first answered with anything in it."""
    samples = [sample for one in facts.values() for sample in one.samples]
    first = {name: one.fruitful[0].round for name, one in facts.items() if one.fruitful}
    for number in range(max((sample.round for sample in samples), default=-1) + 1):
        yield Round(
            number=number,
            calls=sum(sample.round == number for sample in samples),
            documented=tuple(name for name, began in first.items() if began == number),
        )
