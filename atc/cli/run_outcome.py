"""The end of `atc run` and `atc runs resume`: the answer on stdout, the last lines on stderr."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict

from atc.cli import output
from atc.cli.earlier_runs import budget_option, runs_command
from atc.cli.errors import ExitCode, error_document
from atc.core.quoting import escape_hidden
from atc.core.task import TaskContext
from atc.core.text import count
from atc.core.types import Solution
from atc.observe.terminal_view import RunView, format_whole_call, stderr_console
from atc.run.output_type import final_value

SCHEMA = 1
"""Version of the JSON documents of a run. It changes if a key changes its meaning or goes away."""


def print_answer(solution: Solution, shown: Solution, context: TaskContext) -> None:
    """Print the answer of a run on stdout, or with `--json` the whole solution.

    The answer is printed as it is, in JSON with the type that `context` asks for. Everything else
    is taken from `shown`, in which secrets are replaced by placeholders.
    """
    plain = asdict(shown) | {
        "answer": final_value(solution.answer, solution.attempts, context),
        "call_count": solution.call_count,
        "repairs": solution.repairs,
    }
    answer = solution.answer if solution.status in ("solved", "unsure") else None
    failure = error_document(_explain_failure(shown), ExitCode.FAILED)
    output.print_result({"schema": SCHEMA} | plain | failure, answer or "")


_COLORS = {"solved": "green", "unsure": "yellow"}


def conclude(solution: Solution, view: RunView, sent: Sequence[str]) -> None:
    """Write the last lines on stderr: how the run ended, and what the user can do next.

    The lines also give the time, calls and tokens of the run, and the writes that need attention.
    `sent` are sentences about writes that were sent. With --quiet, there are only lines about what
    went wrong.
    """
    seconds = f"{solution.seconds:.1f} s ({solution.usage.model_seconds:.1f} s model)"
    steps = f"{count(solution.call_count, 'call')}, {count(solution.repairs, 'repair')}"
    took = f"{seconds}, {steps}, {solution.usage.tokens} tokens · run {solution.run_id}"
    view.line(solution.status, took, _COLORS.get(solution.status, "red"))
    if output.is_quiet() and solution.status != "solved":
        view = RunView(stderr_console())
    for call in solution.orphans:
        view.line(
            "left",
            f"{format_whole_call(call)}: an earlier program made it, the answer's does not",
            "yellow",
        )
    for skipped in solution.skipped_questions:
        view.line("unasked", escape_hidden(skipped.why), "yellow")
    for call in solution.unknown_writes:
        view.line(
            "unknown", f"{format_whole_call(call)}: nobody knows whether it took effect", "yellow"
        )
    if (why := _explain_failure(solution)) is None:
        return
    output.say(why)
    for sentence in sent:
        output.say(sentence)
    run = solution.run_id or ""
    resume = runs_command("resume", run)
    if resume in why and solution.status == "paused":
        return
    if solution.status in ("failed", "unsure"):
        output.say(f"See every attempt with: {runs_command('show', run)}")
    elif solution.unknown_writes:
        output.say(
            f"Look at the service. If it did not happen: {resume} --resend. If it did: {resume}"
            f" --on-unknown done. To go on without it: {resume} --on-unknown skip. To look once"
            " more: the command without either."
        )
    else:
        output.say(
            f"Go on with: {resume}"
            + (" --accept-orphans, which lets them stand" if solution.orphans else "")
        )


def _explain_failure(solution: Solution) -> str | None:
    """Return why there is no answer, or why it is doubtful; None if the task was solved."""
    option = budget_option(solution.limit or "")
    if solution.status == "failed" and option:
        command = runs_command("resume", solution.run_id or "", *option)
        return f"The run's budget is spent: {solution.limit}. Go on with: {command}"
    return solution.problem
