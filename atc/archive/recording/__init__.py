"""Recordings: one execution of a program with all results of its calls, made from a stored run, and
replayed.

Sensitive values are replaced by placeholders when a recording is made. A replay needs neither keys
nor network. `document` reads and writes recordings as JSON, `script` writes a solved program as a
script.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, replace
from typing import Annotated, NamedTuple

from pydantic import Field

from atc.core.setting_types import NotNegative
from atc.core.types import Attempt
from atc.safety.redaction import Redactor
from atc.store.stored import StoredRun
from protocols.errors import AtcError
from protocols.protocol import ToolProtocol
from protocols.schema import Json, JsonObject
from protocols.secrets import PLACEHOLDER
from protocols.toolbox import Tool, Toolbox
from sandbox.base import Sandbox
from sandbox.choose import AUTO, automatic, availability, open_sandbox
from sandbox.limits import Limits
from sandbox.replay import ReplayDiverged, replay
from sandbox.trace import Trace


class InvalidRecording(AtcError):
    """A file that cannot be read as a recording, or a run from which none can be made. `where` is
    its name.
    """

    def __init__(self, where: str, problem: str) -> None:
        super().__init__(f"{where}: {problem}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Recording:
    """A program, the results of its calls, and how it ended: enough to replay it without its
    tools.
    """

    run: str
    """Id of the stored run from which it was made."""
    task: str
    answer: str | None
    program: str
    tools: Mapping[str, ToolProtocol]
    """The tools that the program names, by alias. They determine response unwrapping and argument
    validation.
    """
    trace: Annotated[Trace, Field(validation_alias="end")]
    """The calls in order of issue, and how the program ended. Calls answered by the journal have
    their results, too.
    """
    tool_calls: NotNegative = Limits().tool_calls
    """The call limit of the recorded run, since it affects the result. All other limits are those
    of the replaying machine.
    """
    secrets: tuple[str, ...] = ()
    """The placeholders that replace sensitive values in it."""

    @property
    def toolbox(self) -> Toolbox:
        """The tools under their recorded aliases. None of them can be called."""
        return RecordedTools(self.tools)


class RecordedTools(Toolbox):
    """Tools that cannot be called, with fixed aliases. Added to a toolbox with other tools, they
    might get different ones.
    """

    def __init__(self, protocols: Mapping[str, ToolProtocol]) -> None:
        super().__init__()
        self._tools = {
            alias: Tool(protocol, _nothing_behind_it, alias)
            for alias, protocol in protocols.items()
        }


def _nothing_behind_it(arguments: JsonObject) -> Json:  # noqa: ARG001 - the shape of every Call
    raise AssertionError("a replay answers every call from its recording")


def make_recording(stored: StoredRun) -> Recording:
    """Make a recording of a stored run, with the tools that its program names.

    If the run has no answer, its last completed execution is recorded.

    Raises:
        InvalidRecording: no program of the run was completed.
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
    found = dict.fromkeys(
        match[0] for match in PLACEHOLDER.finditer(json.dumps([task, program, asdict(trace)]))
    )
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
        secrets=tuple(name for name in found if name in redact.placeholders),
    )


def find_final_attempt(stored: StoredRun) -> Attempt:
    """Return the attempt whose answer is the run's, or else the last completed one.

    Raises:
        InvalidRecording: no program of the run was completed.
    """
    ended = [attempt for attempt in stored.attempts if attempt.trace is not None]
    if not ended:
        said = f" ({stored.summary.error})" if stored.summary.error else ""
        raise InvalidRecording(
            f"run {stored.summary.run_id}",
            f"it has no program that ran to an end{said}, so there is nothing to replay; 'atc runs"
            " show' has the run.",
        )
    answer = stored.summary.answer
    return (
        [attempt for attempt in ended if answer is not None and attempt.answer == answer] or ended
    )[-1]


def without_secrets(stored: StoredRun) -> StoredRun:
    """Return the run with the same placeholders for secrets as in its prompts."""
    redact = create_redactor(stored)
    return replace(redact.value(replace(stored, protocols={})), protocols=stored.protocols)


def line_without_secrets(stored: StoredRun) -> StoredRun:
    """Return the parts of the run that a list displays (summary and purpose), with the same
    placeholders.
    """
    line = replace(stored, attempts=stored.attempts[-1:], calls=(), exchanges=(), protocols={})
    return create_redactor(stored).value(line)


def create_redactor(stored: StoredRun) -> Redactor:
    """Create a redactor that gives the secrets of a stored run the same placeholders as in its
    prompts.
    """
    redact = Redactor(RecordedTools(stored.protocols))
    redact.learn_sources(sources_of(stored))
    redact.learn_run(stored)
    return redact


def sources_of(stored: StoredRun) -> list[str]:
    """Return the sources of a run's tools, as they were configured."""
    tools = stored.summary.config.get("tools")
    return [one for one in tools if isinstance(one, str)] if isinstance(tools, list | tuple) else []


# --- replay


class ReplayResult(NamedTuple):
    """The result of a replay: where it diverged (None if nowhere), the sandbox used, and the wall
    time in seconds.
    """

    departure: ReplayDiverged | None
    backend: str
    seconds: float


class Replayer(ExitStack):
    """Replays recordings in the sandbox `name`. With `auto`, this is the recorded sandbox if it is
    available.

    A context manager: sandboxes are opened once and closed with it. A recording cannot select a
    sandbox that provides no isolation.
    """

    def __init__(self, name: str = AUTO) -> None:
        super().__init__()
        self._name = name
        self._opened: dict[str, Sandbox] = {}

    def rerun(self, recording: Recording) -> ReplayResult:
        """Run the program, with its calls answered from the recording.

        Raises:
            SandboxUnavailable: there is no sandbox with this name, or it cannot run this program.
        """
        sandbox = self._sandbox(recording.trace.backend)
        limits = replace(Limits(), tool_calls=recording.tool_calls)
        program = recording.program
        tools = recording.toolbox
        trace = recording.trace
        began = time.monotonic()
        departure = None
        backend = sandbox.name
        try:
            backend = replay(
                program, tools, trace, sandbox=sandbox, limits=limits, secrets=recording.secrets
            ).backend
        except ReplayDiverged as error:
            departure = error
        return ReplayResult(departure, backend, time.monotonic() - began)

    def _sandbox(self, recorded: str) -> Sandbox:
        here = (
            self._name == AUTO and recorded in automatic() and availability(recorded).reason is None
        )
        name = recorded if here else self._name
        if name not in self._opened:
            self._opened[name] = open_sandbox(name)
            self.callback(self._opened[name].close)
        return self._opened[name]
