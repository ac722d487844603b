"""`atc tools call` of a saved tool: its program runs without a model, as in `atc exec`."""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from typing import Any, NoReturn

from atc.agent import Agent
from atc.cli import output
from atc.cli.earlier_runs import (
    RepeatGuard,
    ask_on_terminal,
    describe_broken_run,
    describe_sent_writes,
)
from atc.cli.errors import ExitCode, error_document
from atc.cli.wiring import make_asker, open_learned
from atc.core.config import Config
from atc.core.types import Solution
from atc.safety.redaction import Redactor
from atc.store import RunStore
from atc.store.questions import Questions
from atc.strategies.provided import NoModel
from protocols.schema import JsonObject
from protocols.tool import Tool
from protocols.toolbox import Toolbox


def run_saved(
    tool: Tool,
    values: JsonObject,
    toolbox: Toolbox,
    config: Config,
    store: RunStore,
    questions: Sequence[Questions],
) -> NoReturn:
    """Run a saved tool with arguments that a person typed, print its result, and exit.

    `values` are keyed by the names that the tool's document uses. The exit code is that of `atc
    run`.
    """
    aliases = {name: alias for alias, name in tool.arguments.items()}
    arguments = {aliases.get(name, name): value for name, value in values.items()}
    began = time.monotonic()
    with Agent(
        toolbox,
        model=NoModel(),
        config=config,
        ask_person=make_asker(),
        store=store,
        learned=open_learned(config),
        questions=questions,
    ) as agent:
        agent.in_shell = True
        guard = RepeatGuard(store, toolbox, ask_on_terminal())
        agent.before_write = guard.before_write
        try:
            with output.break_line_on_interrupt(), output.printing_tools():
                guard.check_start(agent.saved_call(tool, arguments))
                solution = agent.call_saved(tool, arguments)
        except BaseException as error:
            for sentence in describe_broken_run(agent):
                error.add_note(sentence)
            raise
        sent = describe_sent_writes(store, toolbox, agent.run_id)
    redact = Redactor(toolbox)
    redact.learn_sources(config.tools)
    redact.learn_attempts(solution.attempts)
    report = {"tool": tool.alias, "arguments": values} | _describe_end(solution, sent, redact)
    report["seconds"] = round(time.monotonic() - began, 4)
    is_solved = solution.status == "solved"
    shown = output.json_text(report["result"], indent=2) if is_solved else ""
    output.print_result(report | error_document(report["error"], ExitCode.FAILED), shown)
    for doubt in solution.attempts[-1].doubts:
        output.say(f"doubt: {redact(doubt)}")
    if not is_solved:
        output.say(f"atc: {report['error']}")
        for sentence in sent:
            output.say(redact(sentence))
    sys.exit(ExitCode.DONE if is_solved else ExitCode.FAILED)


def _describe_end(solution: Solution, sent: Sequence[str], redact: Redactor) -> dict[str, Any]:
    """Return the entries of the JSON report that say how a saved tool ended.

    They are those of any call, and the id of the run. `sent` says which writes were sent.
    """
    last = solution.attempts[-1]
    is_solved = solution.status == "solved"
    outcome = "unknown" if sent else "not_run"
    return {
        "result": last.trace.value if is_solved and last.trace is not None else None,
        "error": None if is_solved else redact(solution.problem or ""),
        "status": None,
        "outcome": "done" if is_solved else outcome,
        "curl": None,
        "remedy": None,
        "drift": [clause for call in last.calls for clause in call.drift],
        "run_id": solution.run_id,
    }
