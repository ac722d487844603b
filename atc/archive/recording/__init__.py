"""Recordings of stored runs: a program with all results of its calls, which can be replayed.

Sensitive values are replaced by placeholders when a recording is made. A replay needs neither
credentials nor a network. The module `document` reads and writes recordings as JSON, `script`
writes a solved program as a Python script.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field, replace
from typing import Annotated, NamedTuple

from pydantic import Field

from atc.core.setting_types import NotNegative
from atc.core.task import TaskContext
from atc.core.types import Attempt
from atc.safety.redaction import Redactor
from atc.store.stored import StoredRun
from protocols.errors import AtcError
from protocols.protocol import ToolProtocol
from protocols.schema import Json, JsonObject
from protocols.secrets import PLACEHOLDER
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.choose import AUTO, automatic, availability, open_sandbox
from sandbox.limits import Limits
from sandbox.replay import ReplayDiverged, replay
from sandbox.trace import Trace


class InvalidRecording(AtcError):
    """A file cannot be read as a recording, or no recording can be made from a run.

    `where` names the file or the run in the message.
    """

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A program, the results of its calls, and how it ended: enough to replay it offline."""

    run: str
    """Id of the stored run."""
    task: str
    answer: str | None
    """The answer of the run; None if it has none."""
    program: str
    """Source of the program."""
    tools: Mapping[str, ToolProtocol]
    """The protocols of the tools that the program names, keyed by alias.

    A replay uses them to validate arguments, and to extract from each response what programs get.
    """
    trace: Annotated[Trace, Field(validation_alias="end")]
    """The calls in the order in which they were made, their results, and how the program ended."""
    tool_calls: NotNegative = Limits().tool_calls
    """Maximum number of calls that the recorded run was allowed to make.

    A replay has the same limit. All other limits of a replay are the defaults.
    """
    context: TaskContext = field(default_factory=TaskContext)
    """The rules and the date that the caller gave beside the task."""
    secrets: tuple[str, ...] = ()
    """The placeholders in the recording that replace sensitive values."""

    @property
    def toolbox(self) -> Toolbox:
        """The recorded tools with their aliases. None of them can be called."""
        return RecordedTools(self.tools)


class RecordedTools(Toolbox):
    """A toolbox of tools that cannot be called. Their aliases are the keys of `protocols`.

    (An ordinary toolbox makes the aliases itself, so they could differ from the recorded ones.)
    """

    def __init__(self, protocols: Mapping[str, ToolProtocol]) -> None:
        super().__init__()
        self._tools = {
            alias: Tool(protocol, _refuse_call, alias) for alias, protocol in protocols.items()
        }


def _refuse_call(arguments: JsonObject) -> Json:  # noqa: ARG001 - required by Call
    """Raise an error, because a replay never calls a tool."""
    raise AssertionError("a replay answers every call from its recording")


def make_recording(stored: StoredRun) -> Recording:
    """Make a recording of a stored run, with the tools that its program names.

    If the run has no answer, its last completed execution is recorded.

    Raises:
        InvalidRecording: No program of the run was completed.
    """
    attempt = find_final_attempt(stored)
    config = stored.summary.config
    assert attempt.trace is not None
    # A saved tool calls tools that the program does not name.
    named = dict.fromkeys([*(call.tool for call in attempt.calls), *attempt.program.names])
    redact = create_redactor(stored)
    # The trace comes first: secrets found in its calls are also replaced in the texts.
    trace = redact.value(attempt.trace)
    task = redact(stored.summary.task)
    program = redact(attempt.program.source)
    context = redact.value(stored.summary.context)
    text = json.dumps([task, program, asdict(context), asdict(trace)])
    found = dict.fromkeys(match[0] for match in PLACEHOLDER.finditer(text))
    return Recording(
        run=stored.summary.run_id,
        task=task,
        answer=None if attempt.answer is None else redact(attempt.answer),
        program=program,
        tools={
            name: replace(stored.protocols[name], examples=())
            for name in named
            if name in stored.protocols
        },
        trace=trace,
        tool_calls=config.get("max_calls", Limits().tool_calls),
        context=context,
        secrets=tuple(name for name in found if name in redact.placeholders),
    )


def find_final_attempt(stored: StoredRun) -> Attempt:
    """Return the attempt that gave the answer of the run, or else the last one that was executed.

    Raises:
        InvalidRecording: No program of the run was completed.
    """
    ended = [attempt for attempt in stored.attempts if attempt.trace is not None]
    if not ended:
        error = f" ({stored.summary.error})" if stored.summary.error else ""
        raise InvalidRecording(
            f"run {stored.summary.run_id}",
            f"it has no program that ran to an end{error}, so there is nothing to replay;"
            " 'atc runs show' has the run.",
        )
    answer = stored.summary.answer
    answered = [one for one in ended if answer is not None and one.answer == answer]
    return (answered or ended)[-1]


def without_secrets(stored: StoredRun) -> StoredRun:
    """Return the stored run with its secrets replaced by placeholders, as in its prompts."""
    redact = create_redactor(stored)
    return replace(redact.value(replace(stored, protocols={})), protocols=stored.protocols)


def line_without_secrets(stored: StoredRun) -> StoredRun:
    """Return a stored run with only those parts that one line of a list of runs shows.

    Secrets are replaced by placeholders.
    """
    attempts = [one for one in stored.attempts[:-1] if one is stored.answered]
    line = replace(
        stored,
        attempts=(*attempts, *stored.attempts[-1:]),
        calls=(),
        exchanges=(),
        protocols={},
    )
    return create_redactor(stored).value(line)


def create_redactor(stored: StoredRun) -> Redactor:
    """Return a redactor that replaces a run's secrets by the placeholders that its prompts have."""
    redact = Redactor(RecordedTools(stored.protocols))
    redact.learn_placeholders(stored.summary.context.secrets)
    redact.learn_sources(sources_of(stored))
    redact.learn_run(stored)
    return redact


def sources_of(stored: StoredRun) -> list[str]:
    """Return the sources of a stored run's tools, such as URLs and files, as configured."""
    tools = stored.summary.config.get("tools")
    return [one for one in tools if isinstance(one, str)] if isinstance(tools, list | tuple) else []


class ReplayResult(NamedTuple):
    """The outcome of a replay: how it differs from the recording, its sandbox and its duration."""

    departure: ReplayDiverged | None
    """How the replay differs from the recording; None if it made the same calls and ended alike."""
    backend: str
    """Name of the sandbox that ran the program."""
    seconds: float
    """How long the replay took."""


class Replayer(ExitStack):
    """Replays recordings in the sandbox with the given name.

    The name `auto` means the sandbox in which the recording was made if it is available here. A
    recording cannot select a sandbox without isolation. Each sandbox is opened once, and closed
    with this context manager.
    """

    def __init__(self, name: str = AUTO) -> None:
        super().__init__()
        self._name = name
        self._opened: dict[str, Sandbox] = {}

    def rerun(self, recording: Recording) -> ReplayResult:
        """Run the program of a recording, and answer its calls from the recording.

        Raises:
            SandboxUnavailable: The sandbox is unknown, or cannot run this program.
        """
        sandbox = self._sandbox(recording.trace.backend)
        limits = replace(Limits(), tool_calls=recording.tool_calls)
        began = time.monotonic()
        departure = None
        backend = sandbox.name
        try:
            backend = replay(
                recording.program,
                recording.toolbox,
                recording.trace,
                sandbox=sandbox,
                limits=limits,
                secrets=recording.secrets,
            ).backend
        except ReplayDiverged as error:
            departure = error
        return ReplayResult(departure, backend, time.monotonic() - began)

    def _sandbox(self, recorded: str) -> Sandbox:
        """Return the sandbox to replay in.

        `recorded` is the name of the sandbox in which the recording was made.
        """
        automatically = self._name == AUTO and recorded in automatic()
        usable = automatically and availability(recorded).reason is None
        name = recorded if usable else self._name
        if name not in self._opened:
            self._opened[name] = open_sandbox(name)
            self.callback(self._opened[name].close)
        return self._opened[name]
