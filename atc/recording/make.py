"""From a stored run to its recording: the execution whose answer stands, with sensitive values replaced."""

from __future__ import annotations

import json
import platform
from collections.abc import Mapping
from dataclasses import asdict, replace

from atc import __version__
from atc.recording.document import CALL_FIELDS
from atc.recording.recording import InvalidRecording, RecordedTools, Recording, named_in
from atc.redaction import Redactor
from atc.store.stored import StoredRun
from atc.types import Attempt
from protocols.protocol import ToolProtocol
from protocols.secrets import PLACEHOLDER
from sandbox.limits import Limits
from sandbox.trace import ToolCall, Trace


def record(stored: StoredRun, protocols: Mapping[str, ToolProtocol]) -> Recording:
    """The recording of a stored run. `protocols` are its tools by alias; those that the program names are kept.

    Of a run without an answer it is the last execution that came to an end.

    Raises:
        InvalidRecording: no program of the run came to an end, or a tool that it called is not in `protocols`.
    """
    attempt = standing(stored)
    assert attempt.trace is not None
    where = f"run {stored.summary.id}"
    if [call.index for call in attempt.trace.calls] != list(range(len(attempt.trace.calls))):
        raise InvalidRecording(where, "some calls of its program were not stored, so it cannot be replayed.")
    tools = _named(attempt, protocols, where)
    hide = _Hiding(stored, protocols)
    config = stored.config
    trace = hide.trace(attempt.trace)  # first: what it finds to be a secret is one in the texts too
    task, program = hide.text(stored.summary.task), hide.text(attempt.program.source)
    return Recording(
        run=stored.summary.id,
        task=task,
        status=stored.summary.status,
        answer=None if attempt.answer is None else hide.text(attempt.answer),
        program=program,
        tools={alias: replace(protocol, examples=()) for alias, protocol in tools.items()},
        trace=trace,
        limits=replace(Limits(), tool_calls=config.get("max_calls", Limits().tool_calls)),
        policy=config.get("policy") is True,
        versions={"atc": __version__, "python": platform.python_version()},
        secrets=hide.standing(task, program, json.dumps(asdict(trace))),
    )


def standing(stored: StoredRun) -> Attempt:
    """The attempt whose answer is the run's, or else the last one that was executed to an end."""
    ended = [attempt for attempt in stored.attempts if attempt.trace is not None]
    if not ended:
        said = f" ({stored.summary.error})" if stored.summary.error else ""
        raise InvalidRecording(
            f"run {stored.summary.id}",
            f"it has no program that ran to an end{said}, so there is nothing to replay; 'atc runs show' has the run.",
        )
    answer = stored.summary.answer
    standing = [attempt for attempt in ended if answer is not None and attempt.answer == answer]
    return standing[-1] if standing else ended[-1]


def _named(attempt: Attempt, protocols: Mapping[str, ToolProtocol], where: str) -> dict[str, ToolProtocol]:
    called = dict.fromkeys(call.tool for call in (attempt.trace.calls if attempt.trace else ()))
    for alias in called:
        if alias not in protocols:
            raise InvalidRecording(
                where, f"the tool {alias!r} that it called is not known any more; give its source with --tools SRC."
            )
    return {alias: protocols[alias] for alias in {**called, **named_in(attempt.program.source)} if alias in protocols}


class _Hiding:
    """Replaces the sensitive values of a run by placeholders."""

    def __init__(self, stored: StoredRun, protocols: Mapping[str, ToolProtocol]) -> None:
        self._redact = Redactor(RecordedTools(protocols))
        self._redact.learn_run(stored)

    def text(self, text: str) -> str:
        return self._redact(text)

    def trace(self, trace: Trace) -> Trace:
        """What a replay needs of it."""
        failure = trace.failure
        return replace(
            trace,
            calls=tuple(map(self._call, trace.calls)),
            stdout=self.text(trace.stdout),
            value=self._redact.value(trace.value),
            failure=failure and replace(failure, message=self.text(failure.message)),
        )

    def _call(self, call: ToolCall) -> ToolCall:
        """Neither when it was made, nor how it could be repeated by hand."""
        hidden = self._redact.value(call)
        return ToolCall(**{name: getattr(hidden, name) for name in CALL_FIELDS}, index=call.index)

    def standing(self, *texts: str) -> tuple[str, ...]:
        """The placeholders that stand in these texts, in order."""
        found = dict.fromkeys(match[0] for text in texts for match in PLACEHOLDER.finditer(text))
        return tuple(name for name in found if name in self._redact.placeholders)
