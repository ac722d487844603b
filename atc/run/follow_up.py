"""A run that follows an earlier one: what its prompts show of it, and the reads that it may use.

Everything is stored with the new run, so that it can be resumed if the earlier run is gone.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from atc.archive.recording import RecordedTools, create_redactor
from atc.core.messages import format_tool_call
from atc.core.task import EarlierTask, TaskContext
from atc.core.types import Attempt, Solution
from atc.pipeline.repair.responses import escape_fences
from atc.safety.redaction import Redactor
from atc.store import RunRefused, RunStore
from atc.store.stored import StoredRun
from protocols.schema import shape
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from protocols.truncate import abridge_output, clip_text
from sandbox.arguments import contract
from sandbox.earlier_reads import LONGEST_SECONDS, EarlierReads

_MOST_TASKS = 3
"""Maximum number of earlier tasks in a prompt. Of all but the last, it shows only the answer."""
_LONGEST_PROGRAM = 4_000
_LONGEST_ANSWER = 1_000
_BRIEF = 200
"""Maximum number of characters of a task or an answer that is shown in brief."""
_MOST_CALLS = 8
_LONGEST_SHAPE = 300
_NOTHING = "(nothing)"
_ENDS = {
    "solved": "It answered:",
    "unsure": "It answered, but the answer is doubtful:",
    "failed": "It failed, without an answer. The reason:",
    "paused": "It is paused, because a person must decide. So far it would answer:",
    "interrupted": "It was interrupted before it had an answer:",
    "error": "An outage ended it before it had an answer:",
}
"""How a run of each status ended. What it printed, or the reason, stands below."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FollowUp:
    """What a new run takes from the run that it follows: its task's context, and its calls.

    `stored` is None if that run was not stored. Then none of its calls is used again.
    """

    context: TaskContext
    stored: StoredRun | None = None


def follow_stored(stored: StoredRun, context: TaskContext, *, shared: bool) -> FollowUp:
    """Return what a new run takes from a stored run that it follows.

    `context` is what the caller gives beside the new task. Without rules or a date there, those of
    the stored run apply. `shared` is True if other users can write to the store. Then no text in it
    counts as the user's words; neither does the task of a gateway's client, nor a task that only
    names a program and its arguments.

    Raises:
        RunRefused: See `require_program`.
    """
    run = stored.summary
    attempt = require_program(stored)
    redact = create_redactor(stored)
    last = describe_task(
        run.task,
        attempt,
        status=run.status,
        answer=run.answer,
        tools=RecordedTools(stored.protocols),
        redact=redact,
    )
    is_own = bool(run.task) and not (shared or run.gateway or run.context.names_program)
    last = replace(last, run=run.run_id, by_user=is_own)
    before = run.context
    if shared:
        before = replace(
            before, earlier=tuple(replace(one, by_user=False) for one in before.earlier)
        )
    return FollowUp(context=_join(context, before, last, redact), stored=stored)


def require_program(stored: StoredRun) -> Attempt:
    """Return the attempt with the last program of a run that is to be followed.

    Raises:
        RunRefused: The run has no program, or is still going.
    """
    run = stored.summary
    if run.status == "running":
        raise RunRefused(
            f"run {run.run_id} is still going, so nothing can follow it yet; wait for its end."
        )
    attempt = find_last_program(stored.attempts, run.answer)
    if attempt is None:
        raise RunRefused(
            f"run {run.run_id} has no program, so nothing can follow it; 'atc runs show"
            f" {run.run_id}' shows how it ended."
        )
    return attempt


def follow_solution(solution: Solution, context: TaskContext, tools: Toolbox) -> FollowUp:
    """Return what a new run takes from a solution whose run was not stored.

    `tools` are those of the new run. See `follow_stored` for `context`.

    Raises:
        RunRefused: The solution has no program.
    """
    attempt = find_last_program(solution.attempts, solution.answer)
    if attempt is None:
        raise RunRefused("the solution has no program, so no task can follow it; run its task.")
    redact = Redactor(tools)
    redact.learn_attempts(solution.attempts)
    last = describe_task(
        solution.task,
        attempt,
        status=solution.status,
        answer=solution.answer,
        tools=tools,
        redact=redact,
    )
    return FollowUp(context=_join(context, TaskContext(), last, redact))


def find_last_program(attempts: Sequence[Attempt], answer: str | None) -> Attempt | None:
    """Return the attempt that gave the answer of a run, or else the last one with a program.

    Return None if the run has no program.
    """
    written = [attempt for attempt in attempts if attempt.program.source.strip()]
    answered = [one for one in written if answer is not None and one.answer == answer]
    return next(iter([*reversed(answered), *reversed(written)]), None)


def describe_task(
    task: str,
    attempt: Attempt,
    *,
    status: str,
    answer: str | None,
    tools: Mapping[str, Tool],
    redact: Redactor,
) -> EarlierTask:
    """Return what prompts show of a run: its task, program and answer, and shapes of its results.

    `attempt` is the one with its last program, and `status` and `answer` say how it ended.
    """
    came = answer
    if came is None and attempt.fault is not None and status == "failed":
        came = attempt.fault.message
    return EarlierTask(
        task=escape_fences(redact(task)) or "(none: the program was given)",
        ended=_ENDS.get(status, f"It is {status}:"),
        answer=escape_fences(abridge_output(redact(came or _NOTHING), most=_LONGEST_ANSWER)),
        program=escape_fences(clip_text(redact(attempt.program.source.strip()), _LONGEST_PROGRAM)),
        results=escape_fences("\n".join(_describe_results(attempt, tools, redact))) or _NOTHING,
    )


def _describe_results(attempt: Attempt, tools: Mapping[str, Tool], redact: Redactor) -> list[str]:
    """Return a line for each tool that a program called, with the shape of its first response."""
    lines: dict[str, str] = {}
    for call in attempt.calls:
        if call.error is None and call.outcome == "done" and call.tool not in lines:
            shown = redact.value(call)
            tool = tools.get(call.tool)
            result = shown.result if tool is None else tool.unwrap(shown.result)
            came = clip_text(shape(result), _LONGEST_SHAPE)
            lines[call.tool] = f"{format_tool_call(shown)} → {came}"
    return list(lines.values())[:_MOST_CALLS]


def _join(
    context: TaskContext, before: TaskContext, last: EarlierTask, redact: Redactor
) -> TaskContext:
    """Return the context of the new task: `context`, and the earlier tasks.

    `before` is the context of the run that the new one follows, and `last` is that run.
    """
    brief = [
        replace(
            one,
            task=clip_text(one.task, _BRIEF),
            answer=clip_text(" ".join(one.answer.split()), _BRIEF),
            program="",
            results="",
        )
        for one in before.earlier
    ]
    earlier = (*brief, last)[-_MOST_TASKS:]
    shown = "\n".join(one.format() for one in earlier)
    return replace(
        context,
        rules=context.rules or before.rules,
        now=context.now or before.now,
        earlier=earlier,
        secrets=redact.find_secrets(shown),
    )


def earlier_reads(stored: StoredRun, tools: Toolbox, store: RunStore) -> EarlierReads:
    """Return the reads of a stored run that may answer equal reads of a run with these tools.

    A tool that had the same name but called something else is another tool. Reads from before the
    last write of any run in `store` answer nothing.
    """
    run = stored.summary
    same = [
        alias
        for alias in tools
        if run.identities.get(alias) == tools[alias].identity
        and alias in stored.protocols
        and contract(stored.protocols[alias]).defaults == contract(tools[alias].protocol).defaults
    ]
    since = time.time() - 2 * LONGEST_SECONDS  # a write may have taken long
    written = store.last_write(beside=run.run_id, since=since)
    return EarlierReads(stored.calls, tools.only(same), written=written)
