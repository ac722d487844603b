"""Recording of a run in progress: its events are stored, traced and shown."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from atc.core.events import Event, NoteAdded, Observer, ProgramWritten, ToolCalled
from atc.core.task import TaskContext
from atc.core.types import Solution
from atc.observe.shown_run import describe_solution
from atc.safety.redaction import Redactor
from atc.store import RunStore
from atc.store.stored import StoredRun
from protocols.errors import AtcError
from protocols.files import FileStore, TemporaryFiles
from protocols.tool import Tool
from sandbox.journal import Journal
from sandbox.lost_writes import WriteRecovery
from sandbox.trace import Pins, ToolCall

TRACES = "OTEL_EXPORTER_OTLP_ENDPOINT"


@dataclass
class RunRecord:
    """Passes the events of one run on to the store, to tracing and to the caller's `watcher`.

    The store and tracing get them unredacted, the watcher redacted. `run` is the id of the run in
    `store`, or "" without a store. `past` is the stored part of a run that is resumed.
    """

    watcher: Observer | None = None
    task: str = ""
    pins: Pins = field(default_factory=Pins)
    store: RunStore | None = None
    run: str = ""
    past: StoredRun | None = None
    context: TaskContext = field(default_factory=TaskContext)
    redact: Redactor = field(default_factory=Redactor)
    solution: Solution | None = None
    files: FileStore = field(default_factory=TemporaryFiles)
    """Where the files lie that tools return, if the run is not stored."""
    _told: list[Observer] = field(default_factory=list)
    _prepared: dict[int, tuple[ToolCall, Event]] = field(default_factory=dict)
    """Calls and their redacted events for the watcher, keyed by `id(call)`."""

    @property
    def words(self) -> str:
        """What the user said: the task, unless it only names the caller's program.

        The earlier tasks that it follows are among these words if the user wrote them.
        """
        return self.context.own_words("" if self.context.names_program else self.task)

    @contextmanager
    def open(self, tools: Mapping[str, Tool]) -> Iterator[None]:
        """Store the events of the run within the block, and how the run ended.

        In a notebook without a watcher, the run is displayed below the cell.
        """
        if self.store is not None:
            self._told.append(self.store.observer(self.run))
        spans = self._open_spans(tools)
        try:
            with ExitStack() as stack:
                if self.watcher is None and _is_notebook():
                    from atc.observe.notebook import NotebookView  # slow to import

                    self.watcher = stack.enter_context(NotebookView())
                yield
        except BaseException as error:
            if spans is not None:
                spans.end(None, self.redact, error)
            if self.store is not None:
                ours = isinstance(error, AtcError)
                status, sentence = ("error", str(error)) if ours else ("interrupted", repr(error))
                self.store.finish(self.run, status=status, error=sentence)
            raise
        if spans is not None:
            spans.end(self.solution, self.redact)
        if self.store is not None:
            self.store.finish(self.run, self.solution)

    def _open_spans(self, tools: Mapping[str, Tool]) -> Any:
        """Return an observer that records the run as OpenTelemetry spans.

        Return None if OTEL_EXPORTER_OTLP_ENDPOINT is not set or the extra `otel` is not installed.
        """
        if not os.environ.get(TRACES):
            return None
        try:
            # Imported only if spans are collected, because OpenTelemetry is an optional dependency.
            from atc.observe.opentelemetry import (
                RunSpans,
            )
        except ModuleNotFoundError:
            self.observer(
                NoteAdded(
                    f"{TRACES} is set, but nothing is sent: pip install"
                    " 'automatic-tool-chain[otel]'."
                )
            )
            return None
        self._told.append(spans := RunSpans(self.task, self.run or None, tools))
        return spans

    def finish(self, solution: Solution) -> Solution:
        """Record the solution of the run, and return it with the run's id."""
        for attempt in solution.attempts:  # the caller may keep thousands of solutions
            attempt.program.forget_tree()
        solution = replace(solution, run_id=self.run or None)
        self.solution = replace(solution, shown=describe_solution(solution, self.redact))
        return self.solution

    def observer(self, event: Event) -> None:
        """Pass an event on: unredacted to the store and to tracing, redacted to the watcher."""
        for tell in self._told:
            tell(event)
        if isinstance(event, ProgramWritten):
            self.redact.learn_program(event.program)
        if self.watcher is not None:
            self.watcher(self.redact.value(event))

    def journal(self, effects: WriteRecovery) -> Journal:
        """Create the run's journal, which records every call and reports it to this object."""
        return Journal(
            sink=self.sink,
            prepare=self.prepare,
            confirm=None if self.store is None else partial(self.store.confirm_owned, self.run),
            pins=self.pins,
            run=self.run or None,
            write_recovery=effects,
            files=self.files if self.store is None else self.store.files(self.run),
        )

    def prepare(self, execution: int, call: ToolCall, complete: bool) -> None:
        """Prepare the event of a call for the watcher, with secrets redacted.

        If the call is finished, secrets in it are redacted from later events, too. The journal
        calls this method as its `prepare` callback.
        """
        if complete:
            self.redact.learn_call(call, execution)
        event = ToolCalled(execution, call, complete)
        self._prepared[id(call)] = call, event if self.watcher is None else self.redact.value(event)

    def sink(self, execution: int, call: ToolCall, complete: bool) -> None:
        """Report a call to the store, then to tracing and to the watcher.

        The journal calls this method as its `Sink` callback.
        """
        if id(call) not in self._prepared:
            self.prepare(execution, call, complete)
        for tell in self._told:
            tell(ToolCalled(execution, call, complete))
        event = self._prepared.pop(id(call))[1]
        if self.watcher is not None:
            self.watcher(event)


def _is_notebook() -> bool:
    """Return True if this process is the kernel of a notebook."""
    shell = getattr(sys.modules.get("IPython"), "get_ipython", lambda: None)()
    return hasattr(shell, "kernel")
