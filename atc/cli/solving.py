"""What `atc run` and `atc runs resume` share: the result on stdout, and how it ended on stderr."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import NoReturn

from atc.agent import Agent
from atc.cli.output import error_document, print_json, print_text
from atc.cli.wiring import asker, open_agent
from atc.config import Config
from atc.learned import amended
from atc.redaction import Redactor
from atc.types import Solution
from atc.view import RunView, stderr_console, told_call
from protocols.errors import ModelUnavailable
from sandbox.errors import SandboxUnavailable
from sandbox.trace import Failure


@contextmanager
def watched(config: Config, *, yes: bool, warm: bool = True) -> Iterator[tuple[Agent, RunView]]:
    """An agent, and what shows its run on stderr; writes are asked about on a terminal."""
    with RunView(stderr_console()) as view:
        person = asker(yes=yes, aside=view.interrupted)
        with open_agent(
            config, talk=view.say, progress=view.progress, reading=view.reading, ask_person=person, warm=warm
        ) as agent:
            yield agent, view


def solve(
    config: Config, run: Callable[[Agent, RunView], Solution], *, yes: bool, as_json: bool, name: str = "last"
) -> NoReturn:
    """Run, print the solution and exit: 0 solved, 1 failed or paused. `name` is what resumes the run.

    The answer is the user's, who asked for it; in all else secrets are placeholders.
    """
    with watched(config, yes=yes) as (agent, view):
        before = agent.toolbox
        try:
            solution = run(agent, view)
        except (KeyboardInterrupt, ModelUnavailable, SandboxUnavailable):
            view.say(f"Go on with: atc runs resume {name}")
            raise
    redact = Redactor(agent.toolbox)
    redact.learn_attempts(solution.attempts)
    shown = redact.value(solution)
    if as_json:
        plain = asdict(shown) | {"answer": solution.answer, "calls": solution.calls, "repairs": solution.repairs}
        print_json(plain | (error_document(why, 1) if (why := _why(shown)) else {}))
    elif solution.answer is not None and solution.status == "solved":
        print_text(solution.answer)
    _conclude(shown, view)
    for tool in amended(before, agent.toolbox):
        view.say(
            f"{tool.alias} answered otherwise than declared; later runs go by its answer."
            " To write it down: atc tools import SOURCE -o FOLDER"
        )
    sys.exit(0 if solution.status == "solved" else 1)


def _conclude(solution: Solution, view: RunView) -> None:
    """The last lines on stderr: how it ended, what it took, what it left behind, what to do next."""
    took = (
        f"{solution.seconds:.1f} s ({solution.usage.model_seconds:.1f} s model), {solution.calls} calls,"
        f" {solution.repairs} repairs, {solution.usage.tokens} tokens"
    )
    where = f" · run {solution.run}" if solution.run else ""
    view.line(solution.status, took + where, "green" if solution.status == "solved" else "red")
    for call in solution.orphans:
        view.line("left", f"{told_call(call)}: an earlier program made it, the answer's does not", "yellow")
    for call in solution.unknown:
        view.line("unknown", f"{told_call(call)}: nobody knows whether it took effect", "yellow")
    if solution.status == "paused":
        _say_how_to_resume(solution, view)
    elif solution.status == "failed":
        _say_why(solution, view)


def _say_how_to_resume(solution: Solution, view: RunView) -> None:
    failure = _pause(solution)
    resume = f"atc runs resume {solution.run}" if solution.run else ""
    if failure is None:
        view.say(f"It would answer: {solution.answer}")
        view.say(f"To let what is left stand: {resume} --accept-orphans" if resume else "Undo what is left by hand.")
        return
    view.say(failure.message)
    if not resume:
        return
    if solution.unknown:
        view.say(
            f"Look at the service. If it did not happen: {resume} --resend. To go on without it: {resume}"
            " --on-unknown skip. To look once more: the command without either."
        )
    elif resume not in failure.message:
        view.say(f"Go on with: {resume}")


def _why(solution: Solution) -> str | None:
    """Why there is no answer that stands, in a sentence; None where there is one."""
    last = solution.attempts[-1] if solution.attempts else None
    if solution.status == "solved":
        return None
    if solution.status == "paused":
        failure = _pause(solution)
        return failure.message if failure else "Writes are left that the final program does not make."
    if solution.limit:
        return f"The run's budget is spent: {solution.limit}. Raise it, or ask for less."
    return last.fault.message if last is not None and last.fault is not None else "No program gave an answer."


def _pause(solution: Solution) -> Failure | None:
    """What stopped the last program, if it was paused."""
    last = solution.attempts[-1] if solution.attempts else None
    return last.trace.failure if last is not None and last.paused and last.trace is not None else None


def _say_why(solution: Solution, view: RunView) -> None:
    if why := _why(solution):
        view.say(why)
    if solution.limit:
        setting, is_set, _ = solution.limit.partition(" = ")
        if solution.run and is_set:
            flag = setting.replace("_", "-")
            view.say(f"Go on with more of it: atc runs resume {solution.run} --{flag} MORE")
    if solution.run:
        view.say(f"See every attempt with: atc runs show {solution.run}")
