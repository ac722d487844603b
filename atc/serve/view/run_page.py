"""The page that lists all runs, and the page of one run."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from atc.core.pages.document import build_page
from atc.core.pages.formats import dollars, seconds
from atc.core.pages.markup import NOTHING, Markup
from atc.core.pages.templates import load_templates
from atc.core.text import clipped
from atc.core.types import Attempt, Fault, Finding
from atc.models.prices import cost_of
from atc.serve.view.calls import Lanes, ShownCall
from atc.serve.view.provenance import provenance
from atc.serve.view.source import diff_programs, highlight_lines
from atc.serve.view.timeline import make_timeline
from atc.store.stored import StoredRun
from sandbox.trace import ToolCall

PACKAGE = "atc.serve.view"
MADE_BY = "atc runs view"
_RUN: Any = load_templates(PACKAGE).get_template("run.html").module
_LIST: Any = load_templates(PACKAGE).get_template("list.html").module
_TEXTS = 3_000_000
"""Maximum number of characters of all arguments and responses on a page together.

Each call gets an equal share.
"""
_LEAST = 300
_MOST = 30_000
"""`_LEAST` and `_MOST` limit the share of `_TEXTS` that one call gets."""


@dataclass(frozen=True, slots=True)
class Execution:
    """One attempt of a run with its calls so far, in the form in which the page shows it."""

    attempt: Attempt
    calls: Sequence[ShownCall]
    seconds: float
    """How long the program ran; 0 if it has not ended."""
    running: bool = False
    """True if the program is running now."""

    @property
    def span(self) -> float:
        """Seconds from the start of the program to its end: the full width of the calls' bars."""
        ends = (one.call.started + one.call.seconds for one in self.calls)
        return max([self.seconds, *ends]) or 1.0


@dataclass(slots=True)
class ProgramLine:
    """A line of a program as the page of a run shows it."""

    code: Markup
    """The line as highlighted HTML."""
    mark: str = ""
    """Why the line is marked: `fault`, `pause`, or empty if it is not."""
    calls: list[int] = field(default_factory=list)
    """Indices of the calls that the line made."""
    below: list[Finding | Fault] = field(default_factory=list)
    """The problems in the line, which are shown below it."""


def format_moment(moment: float) -> str:
    """Return a Unix time as local time, such as `2026-11-26 10:42`."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))


def listing(runs: Sequence[StoredRun], *, total: int, live: str) -> str:
    """Return the HTML page that lists `runs`, whose secrets the caller has replaced.

    `total` is the number of all runs, of which `runs` are the newest. `live` is the address of the
    server-sent events that announce changes.
    """
    selects = {}
    for name in ("status", "strategy", "model"):
        values = sorted({getattr(run.summary, name) for run in runs})
        if len(values) > 1:
            options = {value: clipped(value, 60) for value in values if value}
            selects[name] = {"": f"any {name}"} | options
    body = _LIST.page(_LIST.rows(runs, format_moment, _cost), len(runs), total, live, selects)
    return build_page(
        body, title="Runs of atc", made_by=MADE_BY, package=PACKAGE, skip="runs", live=True
    )


def page(stored: StoredRun, *, act: Markup = NOTHING, live: str = "") -> str:
    """Return the HTML page of one run, whose secrets the caller has replaced.

    `act` is the HTML for continuing the run. `live` is the address of the server-sent events that
    announce changes; empty for a page that does not change.
    """
    run = stored.summary
    return build_page(
        _RUN.page(_parts(stored, act, served=bool(live)), live),
        title=f"{clipped(run.task or 'A program', 70)} · {run.status}",
        made_by=MADE_BY,
        package=PACKAGE,
        skip="attempts",
        live=bool(live),
    )


def _parts(stored: StoredRun, act: Markup, *, served: bool) -> dict[str, str]:
    """Return the parts of the page of a run as HTML, keyed by id.

    When the run changes, a page that is open in a browser replaces only the changed parts.
    """
    executions = _executions(stored, served=served)
    calls = [one.call for execution in executions for one in execution.calls]
    called = {call.tool for call in calls}
    room = max(_LEAST, min(_MOST, _TEXTS // (len(calls) or 1)))
    task = stored.summary.task or "A program that its caller wrote"
    tools = sorted(stored.summary.tools, key=lambda alias: alias not in called)
    parts = {
        "head": _RUN.head(stored, task, _facts(stored, calls)),
        "act": _RUN.act(act),
        "tools": _RUN.tools(tools, called),
        "time": _RUN.time(make_timeline(stored)),
        "attempts": _RUN.heading("Attempts" if executions else "No program is written yet."),
    }
    for number, one in enumerate(executions, start=1):
        before = executions[max(number - 2, 0)].attempt.program.source
        after = one.attempt.program.source
        changed = diff_programs(before, after) if before and after and before != after else None
        parts[f"attempt-{number}"] = _RUN.attempt(
            number, one, Lanes(one.calls), changed, *_lines(one), room
        )
    return parts | {"model": _RUN.model(stored.exchanges)}


def _executions(stored: StoredRun, *, served: bool) -> list[Execution]:
    """Return the attempts of a run with their calls.

    An attempt that has not ended has the calls that were made so far.
    """
    running = stored.summary.status == "running"
    left = stored.unfinished_calls
    last = max((one.execution for one in left), default=-1)
    without_outcome = "running" if running else "no outcome recorded"
    executions = []
    for attempt in stored.attempts:
        ended = attempt.trace is not None or attempt.fault or attempt.findings
        is_open = attempt is stored.attempts[-1] and not ended
        if is_open:
            current = (one for one in left if one.execution == last)
            calls = [(one.call, "" if one.complete else without_outcome) for one in current]
        else:
            calls = [(call, "") for call in attempt.calls]
        shown = _show_calls(stored, calls, served=served)
        took = attempt.trace.seconds if attempt.trace is not None else 0.0
        executions.append(Execution(attempt, shown, took, running=is_open and running))
    return executions


def _show_calls(
    stored: StoredRun, calls: Sequence[tuple[ToolCall, str]], *, served: bool
) -> list[ShownCall]:
    """Return the calls in the form in which the page of a run shows them.

    Each of `calls` is a pair: the call, and its state in words if it has no outcome yet, else "".
    `served` is True if the viewer serves the page, and so the files of the run.
    """
    origins = provenance([call for call, _ in calls], stored.summary.task)
    shown = []
    for call, state in calls:
        protocol = stored.protocols.get(call.tool)
        writes = protocol is not None and protocol.writes
        run = stored.summary.run_id if served else ""
        shown.append(ShownCall(call, origins[call.index], writes=writes, run=run, open=state))
    return shown


def _facts(stored: StoredRun, calls: Sequence[ToolCall]) -> dict[str, str]:
    """Return the rows of the table at the top of the page of a run, such as `Tokens` and `Cost`."""
    run = stored.summary
    usage = stored.summary.usage
    took = seconds(max((run.ended or time.time()) - run.created, 0.0))
    if run.ended:
        took = f"{took}, {seconds(usage.model_seconds)} of it the model"
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    backend = next((a.trace.backend for a in stored.attempts[::-1] if a.trace), run.sandbox)
    clock = {"Date given": run.context.now} if run.context.now else {}
    return {
        "Run": run.run_id,
        "Begun": format_moment(run.created),
        **clock,
        "Took": took,
        "Model": run.model or "–",
        "Tokens": f"{usage.input_tokens:,} in{cached}, {usage.output_tokens:,} out",
        "Cost": dollars(_cost(stored)),
        "Calls": _count_calls(calls),
        "Repairs": str(max((attempt.round for attempt in stored.attempts), default=0)),
        "Strategy": run.strategy or "–",
        "Sandbox": backend or "–",
        "Consent": "none: nobody was asked" if run.consent == "none" else "asks",
    }


def _cost(stored: StoredRun) -> float | None:
    """Return what the model cost in USD; None if its price is not known."""
    run = stored.summary
    return cost_of(run.usage, run.model, run.config.get("model_price"))


def _count_calls(calls: Sequence[ToolCall]) -> str:
    """Return a text that says how many calls were sent, and how many were not.

    An example is `5, 2 from the journal or not sent`: 5 calls were sent, and 2 further calls were
    not. The result of a call "from the journal" was stored by an earlier execution.
    """
    sent = sum(not call.reused and call.outcome != "not_run" for call in calls)
    rest = len(calls) - sent
    return f"{sent:,}, {rest:,} from the journal or not sent" if rest else f"{sent:,}"


def _lines(one: Execution) -> tuple[list[ProgramLine], list[Finding | Fault]]:
    """Return the lines of the program with their problems, and the problems without a line.

    Problems are the findings of the check, and the fault of the attempt.
    """
    attempt = one.attempt
    source = attempt.program.source
    lines = [ProgramLine(code) for code in highlight_lines(source)] if source else []
    loose: list[Finding | Fault] = []

    def attach(number: int | None, remark: Finding | Fault, mark: str) -> None:
        if number is None or not 0 < number <= len(lines):
            loose.append(remark)
        else:
            lines[number - 1].below.append(remark)
            lines[number - 1].mark = mark

    for shown in one.calls:
        if 0 < shown.call.line <= len(lines):
            lines[shown.call.line - 1].calls.append(shown.call.index)
    for finding in _other_findings(attempt):
        attach(finding.line, finding, "fault")
    failure = attempt.trace.failure if attempt.trace is not None else None
    if attempt.fault is not None:
        number = attempt.fault.line or (failure.line if failure is not None else None)
        attach(number, attempt.fault, "pause" if attempt.paused else "fault")
    return lines, loose


def _other_findings(attempt: Attempt) -> Sequence[Finding]:
    """Return the findings of the check without the one that the fault says."""
    if attempt.fault is None:
        return attempt.findings
    return [one for one in attempt.findings if one.message not in attempt.fault.message]
