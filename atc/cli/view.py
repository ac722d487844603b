"""What a person sees of a run, on stderr: lines as things happen, and on a terminal a moving status below them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from rich.console import Console
from rich.text import Text

from atc.cli.moving import Moving
from atc.cli.output import count, escape_controls
from atc.events import (
    AttemptEnded,
    CallEnded,
    CallStarted,
    Doubted,
    Event,
    ModelAsked,
    ModelReplied,
    Noted,
    ProgramWritten,
    RouteChanged,
    ToolsChosen,
)
from atc.types import Attempt, Finding, Program
from protocols.ask import Completion
from protocols.schema import shape
from sandbox.trace import ToolCall

_LABEL_WIDTH = 9
_LONGEST_LINE = 160
_MANY_TOOLS = 8
_DOING = {
    "retrieve": "looking for tools",
    "write": "writing the program",
    "sample": "writing another program",
    "repair": "repairing the program",
    "act": "choosing the next call",
    "plan": "planning the next step",
    "select": "choosing a tool for it",
    "parse": "reading the response",
    "ground": "choosing the next step",
    "execute": "writing the call",
    "review": "reviewing",
    "observe": "reading the response",
    "judge": "judging the answer",
}


class RunView(Moving):
    """An observer of one run. A context manager, so that the moving status never outlives it."""

    def __init__(self, console: Console) -> None:
        super().__init__(console, first="choosing tools")
        self._statements: list[Completion] = []
        self._before, self._kept = Program(""), 0
        """The program that was shown last, and how many lines of it the one that runs now begins with."""

    def __call__(self, event: Event) -> None:
        """Show one event. The replies that gave a program statement by statement are told together."""
        if not (isinstance(event, ModelAsked | ModelReplied) and event.statement):
            self._replied(self._statements, what=" statement by statement")
            self._statements = []
        match event:
            case ToolsChosen():
                self._chosen(event)
            case ModelAsked():
                where = "" if event.statement is None else f", statement {event.statement + 1}"
                self._now(f"{_DOING.get(event.purpose, event.purpose)}{where} …")
            case ModelReplied(statement=None):
                self._replied([event.completion])
            case ModelReplied():
                self._statements.append(event.completion)
            case ProgramWritten():
                self._program(event)
            case CallStarted():
                self._now(f"calling {event.call.tool} …")
            case CallEnded():
                self._call(event.call)
            case AttemptEnded():
                self._ended(event.result)
            case RouteChanged() | Noted() | Doubted():
                self._remarked(event)

    def _ended(self, result: Attempt) -> None:
        if result.fault is not None and not result.findings and not result.paused:
            self.line("fault", result.fault.message, "red")

    def _remarked(self, event: RouteChanged | Noted | Doubted) -> None:
        match event:
            case RouteChanged():
                name = {"stepwise": "step by step"}.get(event.to, event.to)
                self.line("route", f"changing to {name}: {event.why}", "yellow")
            case Noted():
                self.line("note", event.sentence, "yellow")
            case Doubted():
                self.line("doubt", " ".join(event.doubts), "yellow")

    def _chosen(self, event: ToolsChosen) -> None:
        all_of_many = len(event.tools) == event.total > _MANY_TOOLS
        names = f"all {event.total}" if all_of_many else f"{', '.join(event.tools)} (of {event.total})"
        self.line("tools", names, "cyan")

    def progress(self, done: int, total: int) -> None:
        """A download of the model, in bytes."""
        if self._status is not None:
            self._now(f"fetching the model, {done / 1e6:,.0f} of {total / 1e6:,.0f} MB (once)")
        elif done == 0 or done == total:
            self.line("model", f"fetched {done / 1e6:,.0f} of {total / 1e6:,.0f} MB", "dim")

    def line(self, label: str, text: str, style: str) -> None:
        """One labelled line; foreign text in it cannot move the cursor or colour the screen."""
        self._print(Text.assemble((f"{label:<{_LABEL_WIDTH}} ", style), escape_controls(text)))

    def say(self, sentence: str) -> None:
        """A sentence for the person, outside the run's own lines."""
        self._print(Text(escape_controls(sentence)))

    @contextmanager
    def interrupted(self) -> Iterator[None]:
        """The moving status stands still while a person is asked."""
        if self._status is not None:
            self._status.stop()
        try:
            yield
        finally:
            if self._status is not None:
                self._status.start()

    def _replied(self, replies: Sequence[Completion], *, what: str = "") -> None:
        """What replies took together; nothing where there are none."""
        if replies:
            read = sum(reply.input_tokens - reply.cached_tokens for reply in replies)
            written, seconds = sum(reply.output_tokens for reply in replies), sum(reply.seconds for reply in replies)
            self.line("model", f"{read} tokens read, {written} written{what} in {seconds:.1f} s", "dim")

    def _program(self, event: ProgramWritten) -> None:
        source = event.program.source.rstrip("\n")
        if event.findings:
            self.line("check", f"passed over a program: {_finding(event.findings[0])}", "yellow")
            return
        for finding in event.mended:
            self.line("mended", _finding(finding), "yellow")
        self._kept, self._before = event.program.lines_of(self._before), event.program
        lines = source.splitlines()
        more = f"{count(len(lines) - self._kept, 'line')} more" if self._kept else count(len(lines), "line")
        self.line("program", f"attempt {event.attempt + 1}, {more}", "cyan")
        for number, line in enumerate(lines[self._kept :], self._kept + 1):
            self._print(Text.assemble((f"{number:>{_LABEL_WIDTH}} │ ", "dim"), escape_controls(line)))
        self._now("running the program …")

    def _call(self, call: ToolCall) -> None:
        if call.reused and self._kept:
            return  # it was shown when it was made
        came = call.error if call.error is not None else shape(call.result, depth=1)
        took = "again, from the journal" if call.reused else f"{call.seconds * 1000:.0f} ms"
        style = "red" if call.error is not None else "green"
        self.line("call", f"{told_call(call)} → {_clipped(str(came))} · {took}", style)
        if call.note is not None and not call.reused:
            self.line("settled", call.note, "yellow")

    def _print(self, text: Text) -> None:
        self._console.print(text, soft_wrap=True, highlight=False)

    def _now(self, doing: str) -> None:
        if self._status is not None:
            self._status.update(escape_controls(doing))


def told_call(call: ToolCall) -> str:
    """A call as a program writes it: `send_mail(to="p1")`."""
    arguments = ", ".join(f"{k}={json.dumps(v, ensure_ascii=False)}" for k, v in call.arguments.items())
    return f"{call.tool}({arguments})"


def _finding(finding: Finding) -> str:
    return f"line {finding.line}: {finding.message}" if "line" not in finding.message[:6] else finding.message


def _clipped(text: str) -> str:
    flat = " ".join(text.split())
    return flat if len(flat) <= _LONGEST_LINE else flat[: _LONGEST_LINE - 1] + "…"
