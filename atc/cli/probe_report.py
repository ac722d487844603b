"""What a person sees of a probing: the plan, how it goes, how it ended, and what a check found and which runs break."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from rich.console import Console
from rich.text import Text

from atc.check import check
from atc.cli.output import error_document, print_json, print_text, say
from atc.recording.recording import RecordedTools
from atc.store import RunStore
from atc.store.stored import StoredRun
from atc.terminal import clipped, count, escape_controls
from atc.types import Finding
from atc.view import Moving
from probing.drift import Checked
from probing.gate import Plan, PlannedTool
from probing.output import READABLE, Written, coverage, made_line
from probing.probe import Probed
from probing.samples import Called, Event, Log, Note, Phase, Step
from protocols.jsontypes import Json
from protocols.protocol import ToolProtocol

_PHASES: dict[Phase, str] = {
    "discover": "calling tools alone",
    "chain": "calling tools with what others gave",
    "sharpen": "finding out what tools take and refuse",
    "link": "finding out whether values flow as they seem to",
    "write": "calling what changes something",
    "describe": "putting it into words",
}
_MOST_SHOWN, _WIDTH = 12, 200
"""Tools without a response that the summary lists, and characters of a finding; reports have all."""


def plan_lines(plan: Plan) -> list[str]:
    """The plan as columns of text, a line a tool, and what it comes to."""
    called = [tool for tool in plan.tools if tool.at_most]
    skipped = [tool for tool in plan.tools if not tool.at_most]
    lines = [*tool_lines((*called, *skipped)), *([""] if plan.tools else [])]
    writes = f", {len(plan.writes)} of them may change something" if plan.writes else ""
    lines.append(
        f"{count(len(called), 'tool')} of {len(plan.tools)} would be called{writes}; {len(skipped)} would not."
    )
    for host, most in plan.hosts.items():
        rate = "" if plan.rate is None or host.startswith("Python ") else f", no more than {plan.rate:g} in a second"
        lines.append(f"{host}: at most {count(most, 'call')}{rate}")
    return [*lines, f"In all at most {count(plan.total, 'call')}."]


def plan_document(plan: Plan) -> Json:
    """The plan as JSON."""
    hosts = [{"host": host, "at_most": most} for host, most in plan.hosts.items()]
    tools = [asdict(tool) for tool in plan.tools]
    return {"tools": tools, "hosts": hosts, "total": plan.total, "requests_per_second": plan.rate}


def tool_lines(tools: Sequence[PlannedTool]) -> Iterator[str]:
    """A line for each tool: how often it is called at most, or why not, and how."""
    width = max((len(tool.name) for tool in tools), default=0)
    for tool in tools:
        often = f"at most {count(tool.at_most, 'call')}" if tool.at_most else f"not called: {tool.why_not}"
        yield f"{tool.name:<{width}}  {'reads ' if tool.reads else 'writes'}  {often}  ({tool.how})"


class ProbeView(Moving):
    """Takes the events of one probing, on stderr: one moving line on a terminal, a line for each phase elsewhere.

    A context manager, so that the moving line never outlives it. `sent` gives the calls so far, `most` says how many
    there may be.
    """

    def __init__(self, console: Console, *, sent: Callable[[], int], most: int) -> None:
        super().__init__(console, first="reading what is known")
        self._sent, self._most = sent, most
        self._step: Step | None = None
        self._answered: set[str] = set()

    def __call__(self, event: Event) -> None:
        """Show one event."""
        match event:
            case Step():
                last, self._step = self._step, event
                if self._status is None and (last is None or (last.phase, last.round) != (event.phase, event.round)):
                    self._say(f"round {event.round}: {_PHASES[event.phase]} ({self._sums(event.left)})")
            case Called():
                self._answered |= {event.sample.tool} if event.sample.done else set()
            case Note():
                self._say(event.text)
        if self._status is not None and self._step is not None:
            step = self._step
            line = f"round {step.round} · {self._sums(step.left)} · {_PHASES[step.phase]}: {step.tool}"
            self._status.update(Text(clipped(escape_controls(line), self._console.width - 2)))

    def _say(self, sentence: str) -> None:
        self._console.print(Text(escape_controls(sentence)), soft_wrap=not self._console.is_terminal)

    def _sums(self, left: int) -> str:
        sent = f"{self._sent():,} of at most {count(self._most, 'call')}"
        return f"{count(left, 'tool')} to go, {sent}, {len(self._answered)} answered"


def cut_off(log: Log) -> str:
    """A sentence about the calls that a kill cut off and that are not made again; empty where there are none."""
    if not log.intents:
        return ""
    names = sorted({str(intent["tool"]) for intent in log.intents.values()})
    shown = ", ".join(names[:5]) + (" …" if len(names) > 5 else "")
    calls = count(len(log.intents), "call")
    return f"Not made again: {calls} that an earlier probing was cut off in ({shown}); --resend sends reads again."


def conclude(written: Written, probed: Probed, log: Log, *, ended: int, as_json: bool) -> int:
    """Print what became of the probing, and give the exit code: `ended` where a signal ended it (0: none did)."""
    folder = written.folder
    report = coverage(probed, written.protocols)
    code, problem = ended, ""
    if not ended and not report["totals"]["answered"]:
        problem = f"No tool could be documented; {folder / READABLE} says why."
        # Nothing answered at all although calls were allowed: it is down, and says nothing of the tools.
        code = 3 if not log.samples and any("connect" in why for why in probed.stopped.values()) else 1
    if as_json:
        files = {"written": list(written.written), "kept": list(written.kept), "stale": list(written.stale)}
        document = {"folder": str(folder), "interrupted": bool(ended), "sent": log.sent, **files, **report}
        print_json(document | (error_document(problem, code) if problem else {}))
    else:
        print_text("\n".join(_summary(report, log, written)))
    if told := cut_off(log):
        say(told)
    if ended:
        say("Interrupted. The same command goes on; no call is made twice.")
    elif problem or not as_json:
        say(problem or f'Next: atc run "…" --tools {folder}')
    return code


def _summary(report: Mapping[str, Any], log: Log, written: Written) -> Iterator[str]:
    totals = report["totals"]
    known = f"{count(totals['fields'], 'response field')}, {count(totals['links'], 'link')}"
    yield f"{totals['answered']} of {count(totals['tools'], 'tool')} documented with {count(log.sent, 'call')}: {known}"
    silent = [(name, tool) for name, tool in report["coverage"].items() if not tool["answered"]]
    for name, tool in silent[:_MOST_SHOWN]:
        yield f"  {name}: {'; '.join(text.rstrip('.') for text in tool['missing']) or 'not called'}"
    if len(silent) > _MOST_SHOWN:
        yield f"  … and {len(silent) - _MOST_SHOWN} more"
    for made in report["made"]:
        yield f"{'Made and removed' if made['removed'] else 'Made and left'}: {escape_controls(made_line(made))}"
    if written.kept:
        yield f"Kept as they were changed by hand: {', '.join(written.kept)}; new versions are in {written.aside}"
    if written.stale:
        yield f"Of tools that the source has no more: {', '.join(written.stale)}"
    yield f"Protocols in {written.folder}; what is missing, and why, in {written.folder / READABLE}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Broken:
    """A stored run whose last program would not work any more, and what the check finds in it now.

    `tools` are the changed tools that it calls, by their own names.
    """

    run: str
    task: str
    tools: tuple[str, ...]
    findings: tuple[Finding, ...]


def broken_runs(store: RunStore, old: Mapping[str, ToolProtocol], new: Mapping[str, ToolProtocol]) -> Iterator[Broken]:
    """The stored runs that the step from `old` to `new` breaks, newest first; both by the tools' own names."""
    changed = {name: protocol for name, protocol in old.items() if new.get(name) != protocol}
    for summary in store.list(None) if changed else ():
        run = store.load(summary.id)
        # Of several services that have a tool of this name, the same.
        called = {
            alias: one.name for alias, one in run.protocols.items()
            if one.name in changed and (not one.binding or changed[one.name].binding in (None, one.binding))
        }  # fmt: skip
        if not called or not run.attempts:
            continue
        before, after = (_certain(run, called, protocols) for protocols in (old, new))
        if findings := tuple(finding for finding in after if finding not in before):
            names = tuple(dict.fromkeys(called.values()))
            yield Broken(run=run.summary.id, task=run.summary.task, tools=names, findings=findings)


def _certain(run: StoredRun, called: Mapping[str, str], protocols: Mapping[str, ToolProtocol]) -> list[Finding]:
    """What is certainly wrong with a run's last program, with the tools that it called as they are in `protocols`.

    A tool that is gone is not among them. What was observed is taken at its word here: the check itself holds no
    observed key against a program, but a key that was there and is gone breaks it.
    """
    kept = {alias: protocol for alias, protocol in run.protocols.items() if alias not in called}
    current = {alias: protocols[name] for alias, name in called.items() if name in protocols}
    taken = {a: replace(one, evidence=replace(one.evidence, level="declared")) for a, one in current.items()}
    findings = check(run.attempts[-1].program, RecordedTools(kept | taken))
    return [finding for finding in findings if finding.certain]


def conclude_check(checked: Checked, broken: Sequence[Broken], *, as_json: bool) -> int:
    """Print what a check found, and give the exit code."""
    problem = "" if checked.breaking or checked.calls else "Nothing could be checked."
    if as_json:
        document = {
            "breaking": bool(checked.breaking),
            "changes": [asdict(change) for change in checked.changes],
            "broken_runs": [asdict(one) for one in broken],
            "unchecked": dict(checked.unchecked),
            "calls": checked.calls,
        }
        print_json({**document, **(error_document(problem, 3) if problem else {})})
    else:
        print_text("\n".join(_check_lines(checked, broken)))
    if problem:
        say(problem)
    return 1 if checked.breaking else 3 if problem else 0


def _check_lines(checked: Checked, broken: Sequence[Broken]) -> Iterator[str]:
    for change in checked.changes:
        yield f"{change.severity:<9} {change.tool}: {change.text}"
    for one in broken:
        yield f"breaks    run {one.run} ({clipped(' '.join(one.task.split()), 80)})"
        for finding in one.findings:
            yield f"          line {finding.line}: {clipped(' '.join(finding.message.split()), _WIDTH)}"
    for tool, why in checked.unchecked.items():
        yield f"unchecked {tool}: {why.rstrip('.')}"
    seen = len(checked.old) - len(checked.unchecked)
    kinds = [f"{sum(c.severity == kind for c in checked.changes)} {kind}" for kind in ("breaking", "risky", "harmless")]
    changes = f"{count(len(checked.changes), 'change')} ({', '.join(kinds)})" if checked.changes else "no change"
    runs = f", {count(len(broken), 'stored run')} broken" if broken else ""
    yield f"{changes} in {seen} of {count(len(checked.old), 'tool')} with {count(checked.calls, 'call')}{runs}"
