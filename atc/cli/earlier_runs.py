"""Other runs of a task: a new run may repeat their writes, or the user may not know of them."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext, suppress
from dataclasses import dataclass
from functools import partial

from atc.agent import Agent
from atc.archive.recording import without_secrets
from atc.cli.output import confirmed
from atc.core.messages import format_list, format_tool_call
from atc.core.quoting import command, escape_hidden, quote_name
from atc.core.text import count
from atc.store import RunStore
from atc.store.stored import RunRefused, RunSummary, StoredRun
from protocols.errors import AtcError
from protocols.schema import JsonObject
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.base import Paused
from sandbox.journal import Journal
from sandbox.limits import waiting_on_person
from sandbox.trace import ToolCall

_MOST_NAMED = 3
_ENDS = {
    "interrupted": "was interrupted",
    "paused": "is paused",
    "error": "ended with an error",
    "failed": "has failed",
    "unsure": "has a doubtful answer",
    "solved": "is solved",
}
"""How a run of each status ended, as part of a sentence."""
_BUDGET = re.compile(r"\b(max_\w+) = ")
AskToRepeat = Callable[[str], bool]
"""A function that asks a person a question, and returns True only if the person says yes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _OtherRun:
    """Another run of the task, and its writes that took effect or may have done so."""

    summary: RunSummary
    writes: Sequence[ToolCall]

    def describe(self) -> str:
        """Return a sentence that says what the run has sent and how it ended."""
        run = self.summary.run_id
        number = count(len(self.writes), "write")
        is_running = self.summary.status == "running"
        lost = "no answer yet" if is_running else "its answer is not known"
        sent = f"has sent {number}: {_format_calls(self.writes, lost=lost)}"
        if is_running:
            sent = sent if self.writes else "is about to send a write"
            return f"another process is working on this task: its run {run} {sent}."
        status = _ENDS.get(self.summary.status, f"is {self.summary.status}")
        return f"run {run} of this task {status} and {sent}."

    def list_ways(self) -> list[str]:
        """Return a sentence without a full stop for each way to go on, with its command."""
        run = self.summary.run_id
        ways = [f"See it: {runs_command('show', run)}"]
        if can_resume(self.summary):
            option = budget_option(self.summary.error or "")
            ways.append(f"Go on with it: {runs_command('resume', run, *option)}")
        if self.summary.status != "running":
            ways.append(f"Forget it: {runs_command('purge', run, '--yes')}")
        return ways


class RepeatGuard:
    """Keeps a command that is given again from sending the writes of another run of its task.

    The tasks of two runs are the same if they have the same text and a tool in common. `ask` asks
    the person whether to send writes perhaps a second time; it returns False if there is nobody.
    """

    def __init__(self, store: RunStore, toolbox: Toolbox, ask: AskToRepeat) -> None:
        self._store = store
        self._toolbox = toolbox
        self._ask = ask
        self._accepted: set[str] = set()
        """Ids of the runs whose writes may be sent again, as the person said."""
        self._is_reserved = False
        self._refusal = ""
        self._lock = threading.Lock()

    def check_start(self, task: str) -> None:
        """Check that a new run of a task would not repeat the writes of an earlier one.

        A user who repeats a command after a crash or a failure does not know what the first run has
        sent. A run that was solved does not count, unless the outcome of a write is unknown.

        Raises:
            RunRefused: There is such a run, and the person did not agree to begin a new one.
        """
        others = [self._load(run) for run in self._store.reservations.runs_of(task)]
        found = [one for one in others if one is not None and _is_open(one)]
        if not found:
            return
        described = _describe_all(found)
        if not self._ask(f"{described} Begin a new run, which may send them again?"):
            raise RunRefused(
                f"{described} To send nothing twice, no new run was begun. {_list_ways(found)}"
            )
        self._accepted.update(one.summary.run_id for one in found)

    def before_write(self, run: str, tool: Tool, arguments: JsonObject) -> None:  # noqa: ARG002
        """Check that no other run of the task writes meanwhile. Called before each write of `run`.

        Before the first write, the task is reserved, so of several processes one goes on.

        Raises:
            Paused: There is such a run, and the person did not agree to write nevertheless.
        """
        with self._lock:
            if self._refusal:
                raise Paused(self._refusal)
            if not self._is_reserved:
                self._reserve(run, tool)
            self._is_reserved = True

    def _reserve(self, run: str, tool: Tool) -> None:
        """Reserve the task for the writes of `run`, or raise Paused."""
        created = self._store.load(run).summary.created
        beside: set[tuple[str, float]] = set()
        reserve = partial(self._store.reservations.reserve, run)
        while others := reserve(beside=beside, may_repeat=self._accepted):
            loaded = [self._load(other) for other in others]
            found = [one for one in loaded if one is not None and _is_open(one, since=created)]
            if found:
                described = _describe_all(found)
                with waiting_on_person():
                    agreed = self._ask(f"{described} Send {quote_name(tool.alias)} nevertheless?")
                if not agreed:
                    name = quote_name(tool.alias)
                    self._refusal = f"{name} is not sent: {described} {_list_ways(found)}"
                    raise Paused(self._refusal)
                self._accepted.update(one.summary.run_id for one in found)
            beside.update((one.run_id, one.writes_begun or 0.0) for one in others)

    def _load(self, run: RunSummary) -> _OtherRun | None:
        """Return a run with its writes, or None if it has no tool in common with this one."""
        known = run.identities
        same = (name for name in known if name in self._toolbox)
        if run.gateway or not any(self._toolbox[name].identity == known[name] for name in same):
            return None
        stored = self._store.load(run.run_id)
        return _OtherRun(summary=stored.summary, writes=find_writes(stored, self._toolbox))


def ask_on_terminal(aside: Callable[[], AbstractContextManager[None]] = nullcontext) -> AskToRepeat:
    """Return a function that asks at the terminal. `aside` hides progress output meanwhile."""

    def ask(question: str) -> bool:
        with aside():
            return confirmed(escape_hidden(question))

    return ask


def find_writes(stored: StoredRun, toolbox: Toolbox) -> tuple[ToolCall, ...]:
    """Return the writes of a stored run that took effect or may have done so, without secrets.

    Left out are calls of tools that no longer exist, or whose name belongs to another tool by now.
    """
    known = stored.summary.identities
    same = [
        alias for alias in known if alias in toolbox and toolbox[alias].identity == known[alias]
    ]
    journal = Journal()
    journal.restore(without_secrets(stored).calls, toolbox.only(same))
    return journal.writes()


def describe_sent_writes(store: RunStore, toolbox: Toolbox, run: str) -> list[str]:
    """Return sentences about the writes that a run has sent; none if there are no writes.

    One names those that took effect, another those without an answer.
    """
    writes = find_writes(store.load(run), toolbox)
    sent = [call for call in writes if call.outcome == "done"]
    lost = [call for call in writes if call.outcome == "unknown"]
    sentences = []
    if sent:
        number = f"{count(len(sent), 'write')} {'was' if len(sent) == 1 else 'were'} sent"
        sentences.append(f"{number}: {_format_calls(sent)}")
    if lost:
        one = len(lost) == 1
        verb, answer = ("was", "its answer is") if one else ("were", "their answers are")
        names = format_list(dict.fromkeys(quote_name(call.tool) for call in lost), most=_MOST_NAMED)
        sentences.append(f"{names} {verb} sent and {answer} not known: look at the service.")
    return sentences


def describe_broken_run(agent: Agent) -> list[str]:
    """Return sentences about the run that an error has ended: what it has sent, how to go on.

    There are none if no run was begun, and none about going on if the run cannot be resumed.
    """
    if not agent.run_id:
        return []
    sentences: list[str] = []
    with suppress(AtcError):  # the store may be what has failed
        sentences += describe_sent_writes(agent.store, agent.toolbox, agent.run_id)
        if can_resume(agent.store.load(agent.run_id).summary):
            sentences.append(f"Go on with: {runs_command('resume', agent.run_id)}")
    return sentences


def can_resume(run: RunSummary) -> bool:
    """Return True if `atc runs resume` can go on with a run."""
    out_of_budget = run.status in ("failed", "unsure") and run.error is not None
    return out_of_budget or run.status in ("paused", "interrupted", "error")


def budget_option(problem: str) -> list[str]:
    """Return the option that raises the budget that a text names, such as `max_seconds = 5`.

    It stands with an `N`, which the user replaces. Return an empty list if there is no budget.
    """
    found = _BUDGET.search(problem)
    return [] if found is None else [f"--{found[1].replace('_', '-')}", "N"]


def runs_command(verb: str, run: str, *options: str) -> str:
    """Return the command `atc runs VERB RUN`, with the word RUN if the id is not safe to paste."""
    safe = command("atc", "runs", verb, run, *options)
    return safe or " ".join(["atc runs", verb, "RUN", *options])


def _is_open(other: _OtherRun, *, since: float | None = None) -> bool:
    """Return True if a person must agree before writes of another run are repeated.

    A run that was solved matters only if the outcome of a write is unknown, or if it was still
    working after `since`, the time when this run was begun. A run that works and has not sent
    anything yet matters only once it is about to write, so only with `since`.
    """
    summary = other.summary
    if summary.status == "running" and since is not None:
        return True
    if summary.status != "solved" or not other.writes:
        return bool(other.writes)
    is_parallel = since is not None and summary.ended is not None and summary.ended > since
    return is_parallel or any(call.outcome == "unknown" for call in other.writes)


def _describe_all(found: Sequence[_OtherRun]) -> str:
    """Return sentences about other runs of the task, the newest first."""
    sentences = [one.describe() for one in found[:_MOST_NAMED]]
    if more := len(found) - len(sentences):
        sentences.append(f"The same holds for {count(more, 'earlier run')}.")
    return " ".join(sentences)


def _list_ways(found: Sequence[_OtherRun]) -> str:
    """Return the ways to go on with other runs of the task. The last sentence has no full stop."""
    return ". ".join(way for one in found[:_MOST_NAMED] for way in one.list_ways())


def _format_calls(writes: Sequence[ToolCall], *, lost: str = "") -> str:
    """Return the first writes, with `lost` behind those without an answer: `order(copies=2)`."""
    shown = [
        format_tool_call(call) + (f" ({lost})" if call.outcome == "unknown" else "")
        for call in writes[:_MOST_NAMED]
    ]
    more = [f"and {len(writes) - len(shown)} more"] if len(writes) > len(shown) else []
    return ", ".join(shown + more)
