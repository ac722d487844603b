"""One run as it is watched while it goes on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from atc.events import CallEnded, CallStarted, Event, Noted, Observer, ProgramWritten
from atc.redaction import Redactor
from atc.store.stored import StoredRun
from atc.types import Solution
from protocols.toolbox import Tool
from sandbox.journal import Sink
from sandbox.trace import Pins, ToolCall

TRACES = "OTEL_EXPORTER_OTLP_ENDPOINT"


@dataclass
class RunRecord:
    """One run as it is watched: by the store, where there is one, whole, and by the caller's observer, redacted."""

    watcher: Observer
    keep: Observer | None = None
    task: str = ""
    pins: Pins = field(default_factory=Pins)
    run: str | None = None
    past: StoredRun | None = None
    stored: Sink | None = None
    confirm: Callable[[], object] | None = None
    """Raises where another process has taken the run."""
    redact: Redactor = field(default_factory=Redactor)
    solution: Solution | None = None
    spans: Observer | None = None
    """Told everything as it is; it leaves out what is sensitive itself."""
    _prepared: dict[int, tuple[ToolCall, Event]] = field(default_factory=dict)
    """Calls, by their identity, and what the watcher will hear of them."""

    def observer(self, event: Event) -> None:
        """An `Observer`: to the store as it is, to the watcher without what is sensitive."""
        if self.keep is not None:
            self.keep(event)
        if self.spans is not None:
            self.spans(event)
        if isinstance(event, ProgramWritten):
            self.redact.learn_program(event.program.source)
        if self.watcher is not ignore:
            self.watcher(self.redact.value(event))

    def prepare(self, execution: int, call: ToolCall, complete: bool) -> None:
        """A journal's `prepare`: find the secrets of a call, and what the watcher will hear of it."""
        if complete:
            self.redact.learn_call(call, execution)
        event = CallEnded(execution, call) if complete else CallStarted(execution, call)
        self._prepared[id(call)] = call, event if self.watcher is ignore else self.redact.value(event)

    def sink(self, execution: int, call: ToolCall, complete: bool) -> None:
        """A journal's `Sink`: a call is stored before anybody hears of it."""
        if id(call) not in self._prepared:
            self.prepare(execution, call, complete)
        if self.stored is not None:
            self.stored(execution, call, complete)
        if self.spans is not None and complete:
            self.spans(CallEnded(execution, call))
        self.watcher(self._prepared.pop(id(call))[1])


@contextmanager
def traced(record: RunRecord, tools: Mapping[str, Tool]) -> Iterator[None]:
    """While it is open, spans of the run are sent where OTEL_EXPORTER_OTLP_ENDPOINT asks for them (extra `otel`)."""
    if not os.environ.get(TRACES):
        yield
        return
    try:
        from atc.telemetry import RunSpans  # OpenTelemetry is imported by those alone who collect
    except ModuleNotFoundError:
        record.observer(Noted(f"{TRACES} is set, but nothing is sent: pip install 'automatic-tool-chain[otel]'."))
        yield
        return
    spans = record.spans = RunSpans(record.task, record.run, tools)
    try:
        yield
    except BaseException as error:
        spans.end(None, record.redact, error)
        raise
    spans.end(record.solution, record.redact)


def ignore(event: Event) -> None:
    """Nobody is watching."""
