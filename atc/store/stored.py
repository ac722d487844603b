"""A store of runs: what it does (`RunStore`), what it gives back, all frozen, and why it may refuse."""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol, Self, TypedDict, Unpack

from atc.events import Observer
from atc.types import Attempt, Solution, Usage
from protocols.ask import Completion, Message
from protocols.errors import AtcError
from protocols.jsontypes import Json
from protocols.protocol import ToolProtocol
from sandbox.journal import Sink
from sandbox.trace import Pins, ToolCall

_ALPHABET = "23456789abcdefghjkmnpqrstuvwxyz"  # without the characters that are read for one another


class StoreUnavailable(AtcError):
    """The store cannot be read or written. Says why and what to do."""


class UnknownRun(AtcError):
    """No run, or more than one, of this name; `suggestions` are the ids that come near."""

    exit_code = 2

    def __init__(self, name: str, suggestions: Sequence[str], *, ambiguous: bool = False) -> None:
        super().__init__(name)
        self.name, self.suggestions, self.ambiguous = name, tuple(suggestions), ambiguous

    def __str__(self) -> str:
        names = ", ".join(self.suggestions)
        if self.ambiguous:
            return f"run {self.name!r} could be any of {names}; give more of its id."
        return f"no run {self.name!r}; " + (f"did you mean {names}?" if names else "'atc runs list' shows all.")


class RunTaken(AtcError):
    """A run that another living process works on, or has taken over from this one."""

    exit_code = 2


class RunEnded(AtcError):
    """A run that has come to its end and cannot go on."""

    exit_code = 2


class ToolsChanged(AtcError):
    """A run whose tools are not those that it began with, so that it cannot go on."""

    exit_code = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class RunSummary:
    """One line of `atc runs list`. Times are Unix seconds; `calls` were really made, over all attempts."""

    id: str
    task: str
    created: float
    ended: float | None
    status: str
    """running, solved, failed, paused, error (our side failed) or interrupted (its process is gone)."""
    model: str
    strategy: str
    sandbox: str
    answer: str | None
    error: str | None
    attempts: int
    calls: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredCall:
    """One call as the journal was told of it; not `complete`: sent perhaps, and nobody knows how it came out."""

    execution: int
    call: ToolCall
    complete: bool
    intended: float | None = None
    """When its intent was recorded, in Unix seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Exchange:
    """One prompt and its reply; `reply` is None when none came."""

    purpose: str
    messages: tuple[Message, ...]
    reply: Completion | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StoredRun:
    """A run with everything that is known of it. `calls` has those of unfinished attempts too."""

    summary: RunSummary
    config: Mapping[str, Json]
    tools: tuple[str, ...]
    attempts: tuple[Attempt, ...]
    calls: tuple[StoredCall, ...]
    exchanges: tuple[Exchange, ...]
    usage: Usage = field(default_factory=Usage)
    pins: Pins | None = None
    """What every execution pinned."""
    protocols: Mapping[str, ToolProtocol] = field(default_factory=dict)
    """By alias: the tools that its programs named, as they were then."""
    notes: tuple[str, ...] = ()
    """What was done otherwise than the settings ask for, see `Solution.notes`."""
    identities: Mapping[str, str] = field(default_factory=dict)
    """Of all its tools, by alias, when it began: see `Tool.identity`."""

    @property
    def purpose(self) -> str:
        """The task, or the program where its caller wrote it and there is no task."""
        return self.summary.task or (self.attempts[-1].program.source if self.attempts else "")

    @property
    def unfinished(self) -> list[StoredCall]:
        """Calls of executions that no attempt has: they run, or their process ended while they ran."""
        known = [call for attempt in self.attempts for call in attempt.calls]
        left = []
        for call in self.calls:
            if call.call in known:
                known.remove(call.call)
            else:
                left.append(call)
        return left


class RunStart(TypedDict, total=False):
    """What is known of a run when it begins. `config` holds no secret; `identities` are those of all tools by alias."""

    model: str
    strategy: str
    sandbox: str
    config: Mapping[str, Json]
    tools: Sequence[str]
    pins: Pins
    identities: Mapping[str, str]


class RunStore(Protocol):
    """All runs, written from a run's first moment, so that nothing is lost when its process is killed.

    Safe to share between threads; several processes may have the same store open. Every change is durable when the
    method returns. `with` closes it.

    Raises:
        StoreUnavailable: by every method, where what holds the runs cannot be used.
    """

    def __enter__(self) -> Self: ...

    def __exit__(self, *_: object) -> None: ...

    def create(self, task: str, **about: Unpack[RunStart]) -> str:
        """Record a run that begins now, in this process, and give its id."""

    def observer(self, run: str) -> Observer:
        """Takes a run's events and stores its tools, prompts, replies and attempts."""

    def journal_sink(self, run: str) -> Sink:
        """Stores each intent before its call is sent, durably when this returns, and each outcome after it."""

    def confirm_owned(self, run: str) -> None:
        """Called right before a call is sent: whether the run is still this process's.

        Raises:
            RunTaken: this process was paused or cut off for so long that another one has taken the run.
        """

    def finish(
        self, run: str, solution: Solution | None = None, *, status: str | None = None, error: str | None = None
    ) -> None:
        """Record how a run ended: with a solution, or with `status` (interrupted, error) and the error's sentence.

        That a budget ended it is kept as a sentence, too.
        """

    def list(self, limit: int | None = 20) -> list[RunSummary]:
        """The latest runs, newest first; `limit` None gives all."""

    def changes(self) -> int:
        """A number that is another one whenever somebody else has written."""

    def key(self) -> bytes:
        """A secret of 32 bytes that is the same for all processes over this store, drawn once."""

    def in_doubt(self, tool: str) -> dict[str, tuple[dict[str, Json], ...]]:
        """Arguments of calls of `tool` by the runs that made them and whose callers may not know what became of them.

        Those are calls without an outcome, and all of a run that was interrupted. Some may have been settled later on
        in their run, or be under way: `load` tells.
        """

    def load(self, name: str) -> StoredRun:
        """The run of this id, of the only id that begins or ends so, or the latest for `last`.

        Raises:
            UnknownRun: there is none, or more than one.
        """

    def take(self, name: str, *, ended: bool = False) -> StoredRun:
        """The run of this name, now this process's to go on with: no other process can take it while this one lives.

        With `ended`, one that was solved or has failed can be taken, too: another program is to continue it.

        Raises:
            UnknownRun: there is none, or more than one.
            RunTaken: a living process works on it.
            RunEnded: it was solved, or failed with budget left: there is nothing to go on with.
        """

    def delete(self, names: Sequence[str]) -> int:
        """Forget runs with all that they hold, down to the bytes of the file. Gives how many there were.

        With no names, what an earlier call could not take out of the file is taken out.

        Raises:
            UnknownRun: one of them is not there; nothing was deleted.
            RunTaken: a living process works on one of them; nothing was deleted.
        """


def new_run_id(now: float) -> str:
    """An id that sorts by time (UTC) and can be read aloud: `20261121-010203-k3f9`."""
    stamp = time.strftime("%Y%m%d-%H%M%S", time.gmtime(now))
    return f"{stamp}-{''.join(secrets.choice(_ALPHABET) for _ in range(4))}"


def process_mark(pid: int) -> str | None:
    """A text that stands for this one process (boot, pid, start time), or None when there is no such process."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        return None if Path("/proc/self/stat").exists() else _mark_without_proc(pid)
    except OSError:
        return _mark_without_proc(pid)
    fields_after_name = stat.rpartition(")")[2].split()
    return None if fields_after_name[0] == "Z" else f"{boot}:{pid}:{fields_after_name[19]}"


def _mark_without_proc(pid: int) -> str | None:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return None
    except PermissionError:
        pass  # it exists, as somebody else's
    return f"pid:{pid}"


def used_so_far(exchanges: Sequence[Exchange]) -> Usage:
    """What a run that did not end has used so far."""
    replies = [exchange.reply for exchange in exchanges if exchange.reply is not None]
    return Usage(
        model_calls=len(replies),
        input_tokens=sum(reply.input_tokens for reply in replies),
        output_tokens=sum(reply.output_tokens for reply in replies),
        model_seconds=sum(reply.seconds for reply in replies),
        cached_tokens=sum(reply.cached_tokens for reply in replies),
    )
