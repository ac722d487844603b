"""Samples the tools of a folder again, and compares: `atc probe --check`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from probing.drift import compare
from probing.drift.change import Change
from probing.drift.revise import revised
from probing.effects.words import kind_of
from probing.events import Watch, unwatched
from probing.facts import ToolFacts, learn, says_something
from probing.gate.caller import Caller, NotCalled
from probing.gate.plan import reads
from probing.log import FOLDER, Log
from probing.pools.harvest import harvest
from probing.sample import Origin, Sample, Value, call_key
from probing.settings import ProbeSettings
from protocols.placeholder import PLACEHOLDER
from protocols.protocol import ToolProtocol
from protocols.toolbox import Toolbox

CALLS = 3
"""Of one tool."""
_TRIES = 3
"""Values taken from other tools' new answers, until one is right."""
_NOT_READ = "it may change something, so it is not called"
_NO_ARGUMENTS = "no arguments are known with which it answers; probe with --keep-values, or keep the folder's log"


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What came of a check: the protocols by tool as they were and as they are now, the changes, the worst first.

    `unchecked` says of tools why nothing, or not all, is known of them.
    """

    old: Mapping[str, ToolProtocol]
    new: Mapping[str, ToolProtocol]
    changes: tuple[Change, ...] = ()
    unchecked: Mapping[str, str] = field(default_factory=dict)
    calls: int = 0

    @property
    def breaking(self) -> tuple[Change, ...]:
        """The changes on which programs fail."""
        return tuple(change for change in self.changes if change.severity == "breaking")


def earlier_samples(folder: Path) -> list[Sample]:
    """The samples of the probing that wrote `folder`; none where its log is gone.

    Raises:
        LogUnreadable: it cannot be read, or is being written.
    """
    if not (folder / FOLDER / "samples.jsonl").is_file():
        return []
    with Log(folder) as log:
        return list(log.samples)


def recheck(
    toolbox: Toolbox,
    log: Log,
    *,
    settings: ProbeSettings | None = None,
    earlier: Sequence[Sample] = (),
    caller: Caller | None = None,
    watch: Watch = unwatched,
) -> Checked:
    """Call the reads among `toolbox` again and compare their answers with their protocols.

    `toolbox` holds the folder's protocols, bound to the live tools. `log` is a fresh one, so that each call is made.
    Arguments are those of `earlier` samples that were done, then those of examples that hide none, then values that the
    links find in new answers. Nothing is raised for what a tool does.
    """
    settings = settings or ProbeSettings()
    checking = _Checking(toolbox, log, caller or Caller(toolbox, log, settings, watch=watch), earlier)
    checking.run()
    return checking.result()


class _Checking:
    def __init__(self, toolbox: Toolbox, log: Log, caller: Caller, earlier: Sequence[Sample]) -> None:
        self._log, self._caller, self._earlier = log, caller, earlier
        self._protocols = {tool.protocol.name: tool.protocol for tool in toolbox.values()}
        self._unchecked = {name: _NOT_READ for name, protocol in self._protocols.items() if not reads(protocol)}
        self._guessed: set[int] = set()
        """Numbers of samples whose arguments may be wrong by themselves."""
        self._removed = {repr(value) for s in earlier if s.done and self._removes(s.tool) for value in s.plain.values()}

    def run(self) -> None:
        waiting = [name for name in self._protocols if name not in self._unchecked]
        for name in list(waiting):
            known = list(self._known(name))
            for arguments in known[:CALLS]:
                self._call(name, arguments)
            if known:
                waiting.remove(name)
        found = True
        while waiting and found:
            # A tool that answers now may hold what the next one needs.
            tried = {name: self._linked(name) for name in waiting}
            found = any(tried.values())
            waiting = [name for name in waiting if not tried[name] and name not in self._unchecked]
        self._unchecked |= dict.fromkeys((name for name in waiting if name not in self._unchecked), _NO_ARGUMENTS)

    def result(self) -> Checked:
        changes: list[Change] = []
        new: dict[str, ToolProtocol] = {}
        for name, protocol in self._protocols.items():
            facts = self._facts(protocol)
            found = compare(protocol, facts)
            changes += found
            new[name] = revised(protocol, found, facts)
            if facts.samples and not facts.done and not found:
                self._unchecked.setdefault(name, f"no answer came: {facts.samples[-1].error}")
        return Checked(
            old=self._protocols,
            new=new,
            changes=tuple(sorted(changes, key=lambda change: _WORST.index(change.severity))),
            unchecked=self._unchecked,
            calls=len(self._log.samples),
        )

    def _facts(self, protocol: ToolProtocol) -> ToolFacts:
        mine = (s for s in self._log.of(protocol.name) if s.done or s.number not in self._guessed)
        return learn(protocol, mine)

    def _known(self, name: str) -> Iterator[dict[str, Value]]:
        """Arguments with which the tool answered before, and that are not known to be gone."""
        protocol = self._protocols[name]
        done = [s for s in self._earlier if s.tool == name and s.done and not self._gone(s)]
        done.sort(key=lambda s: (not says_something(s.response), len(s.arguments), s.number))
        spread = [*done[:1], *sorted(done[1:], key=lambda s: -len(s.arguments))]
        chosen = [dict(sample.arguments) for sample in spread]
        chosen += [
            {argument: Value(value, Origin(kind="given")) for argument, value in example.arguments.items()}
            for example in protocol.examples
            if not PLACEHOLDER.search(json.dumps(example.arguments)) and protocol.required <= example.arguments.keys()
        ]
        if not protocol.required:
            chosen.append({})
        unique = {call_key(name, {n: v.value for n, v in arguments.items()}): arguments for arguments in chosen}
        yield from unique.values()

    def _linked(self, name: str) -> bool:
        """Call a tool with values that its links find in new answers. Gives whether it answered."""
        protocol = self._protocols[name]
        values = {argument: list(self._values(protocol, argument)) for argument in sorted(protocol.required)}
        if not all(values.values()):
            return False
        for place in range(_TRIES):
            arguments = {argument: found[min(place, len(found) - 1)] for argument, found in values.items()}
            sample = self._call(name, arguments)
            if sample is None or sample.done:
                return sample is not None
            self._guessed.add(sample.number)
        self._unchecked.setdefault(name, _NO_ARGUMENTS)
        return False

    def _values(self, protocol: ToolProtocol, argument: str) -> Iterator[Value]:
        order = ("declared", "observed", "guessed")
        for link in sorted(protocol.links, key=lambda link: order.index(link.support)):
            if link.argument != argument:
                continue
            for sample in self._log.of(link.tool):
                for found in harvest(sample.response) if sample.done else ():
                    if found.path == link.path:
                        origin = Origin(kind="response", tool=link.tool, path=link.path, sample=sample.number)
                        yield Value(found.value, origin)

    def _call(self, name: str, arguments: Mapping[str, Value]) -> Sample | None:
        if name in self._unchecked:
            return None
        try:
            return self._caller.call(name, arguments, purpose="check")
        except NotCalled as refusal:
            if not any(True for _ in self._log.of(name)):
                self._unchecked[name] = str(refusal)
            return None

    def _gone(self, sample: Sample) -> bool:
        """Whether the probing itself took away what the call was about."""
        return any(repr(value) in self._removed for value in sample.plain.values())

    def _removes(self, name: str) -> bool:
        return name in self._protocols and kind_of(self._protocols[name])[0] == "remove"


_WORST = ("breaking", "risky", "harmless")
