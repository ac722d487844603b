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
from atc.models.prices import FREE, price_of
from atc.serve.view.calls import Lanes, ShownCall
from atc.serve.view.provenance import provenance
from atc.serve.view.source import diff_programs, highlight_lines
from atc.store.stored import StoredRun
from sandbox.trace import ToolCall

PACKAGE = "atc.serve.view"
MADE_BY = "atc runs view"
_RUN: Any = load_templates(PACKAGE).get_template("run.html").module
_LIST: Any = load_templates(PACKAGE).get_template("list.html").module
_TEXTS = 3_000_000
"""Characters of all arguments and responses that a page shows."""
_LEAST = 300
_MOST = 30_000


@dataclass(frozen=True, slots=True)
class Execution:
    """A program with its calls so far. `seconds` is how long it ran, or 0 while it runs."""

    attempt: Attempt
    calls: Sequence[ShownCall]
    seconds: float
    running: bool = False

    @property
    def span(self) -> float:
        """Seconds from the start to the end of the last call, for the bars."""
        return (
            max([self.seconds, *(one.call.started + one.call.seconds for one in self.calls)]) or 1.0
        )


@dataclass(slots=True)
class ProgramLine:
    """A line of a program: why it is marked (`fault`, `pause`), its calls, and the remarks below
    it.
    """

    code: Markup
    mark: str = ""
    calls: list[int] = field(default_factory=list)
    below: list[Finding | Fault] = field(default_factory=list)


def format_moment(moment: float) -> str:
    """Return a time as `2026-11-26 10:42`, local time."""
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(moment))


def listing(runs: Sequence[StoredRun], *, total: int, live: str) -> str:
    """Return the page of `runs`, the newest of `total`, in which secrets are placeholders.

    `live` is the address of the events that announce changes.
    """
    values = {
        name: sorted({getattr(run.summary, name) for run in runs})
        for name in ("status", "strategy", "model")
    }
    selects = {
        name: {"": f"any {name}"} | {value: clipped(value, 60) for value in found if value}
        for name, found in values.items()
        if len(found) > 1
    }
    body = _LIST.page(_LIST.rows(runs, format_moment), len(runs), total, live, selects)
    return build_page(
        body, title="Runs of atc", made_by=MADE_BY, package=PACKAGE, skip="runs", live=True
    )


def page(stored: StoredRun, *, act: Markup = NOTHING, live: str = "") -> str:
    """Return the page of a run, in which secrets are placeholders.

    `act` is the markup of what can be done, `live` the address of the events that announce changes.
    """
    run = stored.summary
    return build_page(
        _RUN.page(_parts(stored, act), live),
        title=f"{clipped(run.task or 'A program', 70)} · {run.status}",
        made_by=MADE_BY,
        package=PACKAGE,
        skip="attempts",
        live=bool(live),
    )


def _parts(stored: StoredRun, act: Markup) -> dict[str, str]:
    """Return the parts of the page by id. An open page replaces those that have changed."""
    executions = _executions(stored)
    calls = [one.call for execution in executions for one in execution.calls]
    called = {call.tool for call in calls}
    room = max(_LEAST, min(_MOST, _TEXTS // (len(calls) or 1)))
    found = {
        "head": _RUN.head(
            stored, stored.summary.task or "A program that its caller wrote", _facts(stored, calls)
        ),
        "act": _RUN.act(act),
        "tools": _RUN.tools(
            sorted(stored.summary.tools, key=lambda alias: alias not in called), called
        ),
        "attempts": _RUN.heading("Attempts" if executions else "No program is written yet."),
    }
    for number, one in enumerate(executions, start=1):
        before = executions[max(number - 2, 0)].attempt.program.source
        after = one.attempt.program.source
        changed = diff_programs(before, after) if before and after and before != after else None
        found[f"attempt-{number}"] = _RUN.attempt(
            number, one, Lanes(one.calls), changed, *_lines(one), room
        )
    return found | {"model": _RUN.model(stored.exchanges)}


def _executions(stored: StoredRun) -> list[Execution]:
    """Return the attempts of a run. If the last one has not ended, it has the calls that were made
    so far.
    """
    running = stored.summary.status == "running"
    left = stored.unfinished_calls
    last = max((one.execution for one in left), default=-1)
    without_outcome = "running" if running else "no outcome recorded"
    found = []
    for attempt in stored.attempts:
        waits = (
            attempt is stored.attempts[-1]
            and attempt.trace is None
            and not (attempt.fault or attempt.findings)
        )
        made = [(call, True) for call in attempt.calls]
        if waits:
            made = [(one.call, one.complete) for one in left if one.execution == last]
        origins = provenance([call for call, _ in made], stored.summary.task)
        shown = [
            ShownCall(
                call,
                origins[call.index],
                writes=(protocol := stored.protocols.get(call.tool)) is not None
                and protocol.writes,
                open="" if complete else without_outcome,
            )
            for call, complete in made
        ]
        took = attempt.trace.seconds if attempt.trace is not None else 0.0
        found.append(Execution(attempt, shown, took, running=waits and running))
    return found


def _facts(stored: StoredRun, calls: Sequence[ToolCall]) -> dict[str, str]:
    """Return facts about the run and its costs, by name."""
    run = stored.summary
    usage = stored.summary.usage
    took = seconds(max((run.ended or time.time()) - run.created, 0.0))
    made = sum(not call.reused and call.outcome != "not_run" for call in calls)
    price = price_of(run.model, run.config.get("model_price")) if usage.model_calls else FREE
    cached = f" ({usage.cached_tokens:,} cached)" if usage.cached_tokens else ""
    return {
        "Run": run.run_id,
        "Begun": format_moment(run.created),
        "Took": f"{took}, {seconds(usage.model_seconds)} of it the model" if run.ended else took,
        "Model": run.model or "–",
        "Tokens": f"{usage.input_tokens:,} in{cached}, {usage.output_tokens:,} out",
        "Cost": dollars(price.of(usage.input_tokens, usage.output_tokens) if price else None),
        "Calls": f"{made:,}"
        + (f", {len(calls) - made:,} from the journal or not sent" if made < len(calls) else ""),
        "Repairs": str(max((attempt.round for attempt in stored.attempts), default=0)),
        "Strategy": run.strategy or "–",
        "Sandbox": next((a.trace.backend for a in stored.attempts[::-1] if a.trace), run.sandbox)
        or "–",
    }


def _lines(one: Execution) -> tuple[list[ProgramLine], list[Finding | Fault]]:
    """Return the lines of the program, and the remarks that belong to no line."""
    attempt = one.attempt
    lines = (
        [ProgramLine(code) for code in highlight_lines(attempt.program.source)]
        if attempt.program.source
        else []
    )
    loose: list[Finding | Fault] = []

    def say(number: int | None, remark: Finding | Fault, mark: str) -> None:
        if number is None or not 0 < number <= len(lines):
            loose.append(remark)
        else:
            lines[number - 1].below.append(remark)
            lines[number - 1].mark = mark

    for shown in one.calls:
        if 0 < shown.call.line <= len(lines):
            lines[shown.call.line - 1].calls.append(shown.call.index)
    for finding in attempt.findings:
        say(finding.line, finding, "fault")
    failure = attempt.trace.failure if attempt.trace is not None else None
    if attempt.fault is not None:
        number = attempt.fault.line or (failure.line if failure is not None else None)
        say(number, attempt.fault, "pause" if attempt.paused else "fault")
    return lines, loose
