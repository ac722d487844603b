"""Search for writes of earlier runs that a new run may repeat, or whose outcome is not known."""

from __future__ import annotations

from collections.abc import Sequence

from atc.agent import Agent
from atc.cli.output import confirmed
from atc.core.messages import format_list
from atc.core.quoting import command, quote_name
from atc.core.text import count
from atc.store import RunStore
from atc.store.stored import RunRefused, StoredRun
from protocols.toolbox import Toolbox
from sandbox.journal import Journal
from sandbox.trace import ToolCall

_MOST_RUNS = 200
"""Number of the latest runs among which an unfinished one is searched for."""
_UNFINISHED = ("interrupted", "paused", "error")
_MOST_NAMED = 3


def require_no_unfinished_run(agent: Agent, task: str) -> None:
    """Check that no unfinished run of the same task has made writes, which a new run would repeat.

    A user who repeats a command after a crash does not know what the first run has sent. On a
    terminal, the user is asked, and may begin a new run nevertheless.

    Raises:
        RunRefused: There is such a run, and the user did not agree to begin a new one.
    """
    for summary in agent.store.list(_MOST_RUNS):
        if summary.task != task or summary.gateway or summary.status not in _UNFINISHED:
            continue
        run = summary.run_id
        writes = _find_writes(agent.store.load(run), agent.toolbox)
        if not writes:
            continue
        made = f"{count(len(writes), 'write')} ({_format_names(writes)})"
        found = f"run {run} of this task is {summary.status} and has sent {made}."
        if confirmed(f"{found} Begin a new run, which may send them again?"):
            return
        raise RunRefused(
            f"{found} Go on with it: {_command('resume', run)}. To begin a new run, which may send"
            f" them again, first remove it: {_command('purge', run)}"
        )


def describe_lost_writes(store: RunStore, toolbox: Toolbox, run: str) -> str:
    """Return a sentence that names the writes of a run that got no answer; "" without any."""
    stored = store.load(run)
    lost = [call for call in _find_writes(stored, toolbox) if call.outcome == "unknown"]
    if not lost:
        return ""
    verb = "was" if len(lost) == 1 else "were"
    answer = "its answer is" if len(lost) == 1 else "their answers are"
    return f"{_format_names(lost)} {verb} sent and {answer} not known: look at the service."


def _find_writes(stored: StoredRun, toolbox: Toolbox) -> tuple[ToolCall, ...]:
    """Return the writes of a stored run that took effect or may have done so.

    Left out are calls of tools that no longer exist, or whose name belongs to another tool by now.
    """
    known = stored.summary.identities
    same = [
        alias for alias in known if alias in toolbox and toolbox[alias].identity == known[alias]
    ]
    journal = Journal()
    journal.restore(stored.calls, toolbox.only(same))
    return journal.writes()


def _format_names(calls: Sequence[ToolCall]) -> str:
    return format_list(dict.fromkeys(quote_name(call.tool) for call in calls), most=_MOST_NAMED)


def _command(verb: str, run: str) -> str:
    return command("atc", "runs", verb, run) or f"atc runs {verb} RUN"
