"""Which stored programs a change of their tools breaks: those in which the static check finds more than before."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from atc.check import check
from atc.recording.recording import RecordedTools
from atc.store import Store
from atc.store.stored import StoredRun
from atc.types import Finding, Program
from protocols.protocol import ToolProtocol


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A stored run whose last program would not work any more, and what the check finds in it now."""

    run: str
    task: str
    tools: tuple[str, ...]
    """The changed tools that it calls, by their own names."""
    findings: tuple[Finding, ...]


def broken_runs(store: Store, old: Mapping[str, ToolProtocol], new: Mapping[str, ToolProtocol]) -> Iterator[Broken]:
    """The stored runs that the step from `old` to `new` breaks, newest first; both by the tools' own names."""
    changed = {name for name, protocol in old.items() if new.get(name) != protocol}
    if changed:
        for summary in store.list(None):
            broken = _broken(store.load(summary.id), changed, old, new)
            if broken is not None:
                yield broken


def _broken(
    run: StoredRun, changed: set[str], old: Mapping[str, ToolProtocol], new: Mapping[str, ToolProtocol]
) -> Broken | None:
    called = {alias: p.name for alias, p in run.protocols.items() if p.name in changed and _same(p, old[p.name])}
    if not called or not run.attempts:
        return None
    program = run.attempts[-1].program
    before = set(_certain(program, _with(run, called, old)))
    after = [finding for finding in _certain(program, _with(run, called, new)) if finding not in before]
    if not after:
        return None
    names = tuple(dict.fromkeys(called.values()))
    return Broken(run=run.summary.id, task=run.summary.task, tools=names, findings=tuple(after))


def _same(one: ToolProtocol, other: ToolProtocol) -> bool:
    """Whether two protocols are of one tool: of several services that have a tool of this name, the same."""
    return one.binding is None or other.binding is None or one.binding == other.binding


def _with(
    run: StoredRun, called: Mapping[str, str], protocols: Mapping[str, ToolProtocol]
) -> Mapping[str, ToolProtocol]:
    """The run's tools, by alias, with those called as they are in `protocols`; a tool that is gone is not among them.

    What was observed is taken at its word here: the check itself holds no observed key against a program, but a key
    that was there and is gone breaks it.
    """
    kept = {alias: protocol for alias, protocol in run.protocols.items() if alias not in called}
    current = {alias: protocols[name] for alias, name in called.items() if name in protocols}
    return kept | {
        alias: replace(protocol, evidence=replace(protocol.evidence, level="declared"))
        for alias, protocol in current.items()
    }


def _certain(program: Program, protocols: Mapping[str, ToolProtocol]) -> Iterable[Finding]:
    return (finding for finding in check(program, RecordedTools(protocols)) if finding.certain)
