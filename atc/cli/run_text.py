"""Formatting a stored run as text for people: its programs, calls, faults and prompts."""

from __future__ import annotations

import json
import time

from atc.core.text import clipped, count
from atc.core.types import Attempt
from atc.observe.terminal_view import format_whole_call
from atc.store.stored import Exchange, RunSummary, StoredRun
from sandbox.trace import ToolCall

_WIDTH = 200
"""Maximum number of characters of one line."""


def format_run(stored: StoredRun, *, prompts: bool) -> list[str]:
    """Return the lines that describe a run: its settings, each attempt, and its end.

    With `prompts`, each request to the model is shown too.
    """
    run = stored.summary
    lines = _format_settings(run)
    for number, attempt in enumerate(stored.attempts, start=1):
        lines += ["", f"attempt {number}", *_format_source(attempt), *_format_attempt(attempt)]
    if unfinished := stored.unfinished_calls:
        lines += ["", "calls of executions that broke off or were begun again"]
        lines += [_format_call(one.call, complete=one.complete) for one in unfinished]
    if prompts:
        for exchange in stored.exchanges:
            lines += _format_exchange(exchange)
    if run.status == "interrupted":
        lines += ["", f"error    interrupted; go on with: atc runs resume {run.run_id}"]
    elif run.error is not None:
        lines += ["", f"error    {run.error}"]
    return lines + (["", f"answer   {run.answer}"] if run.answer is not None else [])


def _format_settings(run: RunSummary) -> list[str]:
    """Return the lines that describe a run as a whole: its task, its model and its tools."""
    usage = run.usage
    tokens = f"{usage.input_tokens:,} tokens in, {usage.output_tokens:,} out"
    asked = count(usage.model_calls, "time")
    lines = [f"run      {run.run_id} ({run.status})", f"task     {run.task}"]
    if run.context.earlier:
        last = run.context.earlier[-1]
        lines.append(f"after    {last.run or 'a run that was not stored'}: {clip_line(last.task)}")
    if run.context.rules:
        lines.append(f"rules    {run.context.rules}")
    if run.context.now:
        lines.append(f"now      {run.context.now}")
    if run.context.answer_schema:
        lines.append(f"type     {clip_line(run.context.answer_schema)}")
    lines += [
        f"when     {format_time(run.created)}, took {format_duration(run)}",
        f"model    {run.model or '-'}, asked {asked}, {usage.model_seconds:.1f} s, {tokens}",
        f"tools    {', '.join(run.tools) or '-'}",
    ]
    if run.consent == "none":
        lines.append("consent  none: nobody was asked, whatever a call did")
    return [*lines, *(f"note     {note}" for note in run.notes)]


def _format_source(attempt: Attempt) -> list[str]:
    """Return the numbered lines of an attempt's program."""
    source = attempt.program.source.splitlines()
    return [f"{number:>7} │ {text}" for number, text in enumerate(source, start=1)]


def _format_exchange(exchange: Exchange) -> list[str]:
    """Return the lines that show a request to the model and its reply."""
    lines = ["", f"prompt ({exchange.purpose})"]
    lines += [f"[{message.role}]\n{message.content}" for message in exchange.messages]
    reply = exchange.reply
    if reply is None:
        return [*lines, "reply", "(none)"]
    took = f"{reply.output_tokens} tokens, {reply.seconds:.1f} s"
    return [*lines, f"reply ({took})", reply.text or "(none)"]


def _format_attempt(attempt: Attempt) -> list[str]:
    """Return the lines about an attempt: the findings of the check, the calls, output and fault.

    The fault of a program that was not executed says all its findings.
    """
    lines = _format_findings(attempt)
    lines += [
        f"mended   line {finding.line}: {clip_line(finding.message)}" for finding in attempt.mended
    ]
    if attempt.trace is not None:
        lines += [_format_call(call) for call in attempt.trace.calls]
        lines += (
            [f"printed  {clip_line(attempt.trace.stdout.rstrip())}"]
            if attempt.trace.stdout.strip()
            else []
        )
    if attempt.paused and attempt.trace is not None and attempt.trace.failure is not None:
        # Whole, because it may end with what a person must paste.
        lines.append(f"paused   {' '.join(attempt.trace.failure.message.split())}")
    elif attempt.fault is not None:
        lines += [f"fault    {attempt.fault.kind}: {clip_line(attempt.fault.message)}"]
        lines += [f"         {clip_line(fact.text)}" for fact in attempt.fault.evidence]
    return lines + [f"doubt    {clip_line(doubt)}" for doubt in attempt.doubts]


def _format_findings(attempt: Attempt) -> list[str]:
    """Return a line for each finding of the check that the fault does not say itself."""
    said: list[str] = []
    if attempt.fault is not None and attempt.trace is None:
        said = [attempt.fault.message, *(fact.text for fact in attempt.fault.evidence)]
    return [
        f"finding  line {finding.line}: {clip_line(finding.message)}"
        for finding in attempt.findings
        if not any(finding.message in text for text in said)
    ]


def _format_call(call: ToolCall, *, complete: bool = True) -> str:
    """Return one line with a call and its result; `complete` is False if it has no result yet."""
    result = call.error if call.error is not None else json.dumps(call.result, ensure_ascii=False)
    if not complete:
        result = "(no outcome was recorded)"
    how = f"{call.seconds * 1000:.0f} ms"
    if call.reused:
        how = "from the journal" if call.earlier is None else "from the earlier run"
    how += f" · within {call.within}" if call.within is not None else ""
    how += f" · {call.note}" if call.note is not None else ""
    return f"call {call.index:<3} {format_whole_call(call)} → {clip_line(result)} · {how}"


def clip_line(text: str) -> str:
    """Return a text on one line, cut to at most `_WIDTH` characters."""
    return clipped(text, _WIDTH)


def format_time(seconds: float) -> str:
    """Return a Unix time as local time, such as `2026-11-26 10:42:07`."""
    return time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(seconds))


def format_duration(run: RunSummary) -> str:
    """Return how long a run took, such as `3.2 s`, or `-` if it has not ended."""
    return "-" if run.ended is None else f"{run.ended - run.created:.1f} s"
