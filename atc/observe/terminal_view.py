"""The view of a run on stderr: lines as things happen, and on a terminal a moving status below
them.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from rich.console import Console
from rich.status import Status
from rich.text import Text

from atc.core.events import (
    AttemptEnded,
    Event,
    ModelAsked,
    ModelReplied,
    NoteAdded,
    ProgramWritten,
    ToolCalled,
    ToolsChosen,
)
from atc.core.messages import format_tool_call
from atc.core.quoting import escape_hidden
from atc.core.text import clipped, count
from atc.core.types import Finding, Program
from protocols.schema import shape
from sandbox.trace import ToolCall

_LABEL_WIDTH = 9
_LONGEST_LINE = 160
_MANY_TOOLS = 8
_ALIKE = 3
"""Calls of one tool in a row that are shown on a line each. Further ones are only counted."""
_LONG_PROMPT = 1_000
"""Tokens of a prompt above which its reading is shown."""
_BAR = 24
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


def stderr_console() -> Console:
    """Return the console for remarks and progress. It is plain if stderr is no terminal, and
    respects NO_COLOR.
    """
    return Console(stderr=True, highlight=False, markup=False, emoji=False)


class RunView:
    """An observer that shows one run. It is a context manager, so that the moving status always
    ends.
    """

    def __init__(self, console: Console) -> None:
        self._console = console
        self._status: Status | None = None
        """The moving line; None where there is no terminal."""
        self._doing = ""
        self._before = Program("")
        self._kept = 0
        """The program that was shown last, and how many lines of it the one that runs now begins with."""
        self._last_tool = ""
        self._alike = 0
        """The tool that was called last, and how many calls of it came before, in a row."""

    def __enter__(self) -> Self:
        if self._console.is_terminal:
            self._status = self._console.status("choosing tools", spinner="dots")
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def __call__(self, event: Event) -> None:
        """Show one event."""
        if not isinstance(event, ToolCalled):
            self._fold()
        match event:
            case ToolsChosen():
                all_of_many = len(event.tools) == event.total > _MANY_TOOLS
                names = (
                    f"all {event.total}"
                    if all_of_many
                    else f"{', '.join(event.tools)} (of {event.total})"
                )
                self.line("tools", names, "cyan")
            case ModelAsked():
                self._doing = f"{_DOING.get(event.purpose, event.purpose)} …"
                self._set_status(self._doing)
            case ModelReplied(completion=reply):
                read = reply.input_tokens - reply.cached_tokens
                self.line(
                    "model",
                    f"{read} tokens read, {reply.output_tokens} written in {reply.seconds:.1f} s",
                    "dim",
                )
            case ProgramWritten():
                self._show_program(event)
            case ToolCalled(complete=False):
                self._set_status(f"calling {event.call.tool} …")
            case ToolCalled():
                self._show_call(event.call)
            case AttemptEnded(result=end) if (
                end.fault is not None and not end.findings and not end.paused
            ):
                self.line("fault", end.fault.message, "red")
            case NoteAdded():
                self.line("note", event.sentence, "yellow")
            case AttemptEnded(result=end) if end.doubts:
                self.line("doubt", " ".join(end.doubts), "yellow")

    def show_reading(self, done: int, total: int, seconds: float) -> None:
        """Show that the embedded model has read `done` of `total` tokens of a prompt after so many
        seconds.
        """
        if total >= _LONG_PROMPT:
            self._set_status(format_reading(done, total, seconds) if done < total else self._doing)

    def line(self, label: str, text: str, style: str) -> None:
        """Write one labelled line. Foreign text in it cannot control the terminal."""
        self._print(Text.assemble((f"{label:<{_LABEL_WIDTH}} ", style), escape_hidden(text)))

    @contextmanager
    def pause_status(self) -> Iterator[None]:
        """Stop the moving status within the block, while a person is asked."""
        if self._status is not None:
            self._status.stop()
        try:
            yield
        finally:
            if self._status is not None:
                self._status.start()

    def _show_program(self, event: ProgramWritten) -> None:
        source = event.program.source.rstrip("\n")
        if event.findings:
            self.line(
                "check", f"passed over a program: {_format_finding(event.findings[0])}", "yellow"
            )
            return
        for finding in event.mended:
            self.line("mended", _format_finding(finding), "yellow")
        self._kept = event.program.lines_of(self._before)
        self._before = event.program
        lines = source.splitlines()
        more = (
            f"{count(len(lines) - self._kept, 'line')} more"
            if self._kept
            else count(len(lines), "line")
        )
        self.line("program", f"attempt {event.attempt + 1}, {more}", "cyan")
        for number, line in enumerate(lines[self._kept :], self._kept + 1):
            self._print(Text.assemble((f"{number:>{_LABEL_WIDTH}} │ ", "dim"), escape_hidden(line)))
        self._set_status("running the program …")

    def _show_call(self, call: ToolCall) -> None:
        if call.reused and self._kept:
            return  # it was shown when it was made
        if call.tool != self._last_tool or call.error is not None:
            self._fold()
        self._alike += self._last_tool != ""
        self._last_tool = call.tool if call.error is None else ""
        if self._alike >= _ALIKE:
            self._set_status(f"calling {call.tool}, {self._alike + 1} times so far …")
            return
        came = str(call.error if call.error is not None else shape(call.result, depth=1))
        took = "again, from the journal" if call.reused else f"{call.seconds * 1000:.0f} ms"
        style = "red" if call.error is not None else "green"
        made = format_whole_call(call)
        room = _LONGEST_LINE
        if self._console.is_terminal:  # a line each
            room = max(40, self._console.width - _LABEL_WIDTH - len(f"{made} →  · {took} "))
        self.line("call", f"{made} → {clipped(came, room)} · {took}", style)
        if call.note is not None and not call.reused:
            self.line("settled", call.note, "yellow")

    def _fold(self) -> None:
        """Write how many calls of the last tool were not shown."""
        if (more := self._alike + 1 - _ALIKE) > 0:
            self.line("call", f"… {count(more, 'more call')} of {self._last_tool}", "green")
        self._last_tool = ""
        self._alike = 0

    def _print(self, text: Text) -> None:
        self._console.print(text, soft_wrap=True, highlight=False)

    def _set_status(self, doing: str) -> None:
        if self._status is not None:
            self._status.update(escape_hidden(doing))


def format_reading(done: int, total: int, seconds: float) -> str:
    """Return a bar of how many tokens of a prompt are read, with an estimate of the time left."""
    filled = _BAR * done // total
    left = f", about {seconds * (total - done) / done:.0f} s left" if done else ""
    return f"reading the tools {'━' * filled}{'╌' * (_BAR - filled)} {done:,} of {total:,} tokens{left}"


def format_whole_call(call: ToolCall) -> str:
    """Return a call as a program writes it, with whole values."""
    return format_tool_call(call, most=sys.maxsize)


def _format_finding(finding: Finding) -> str:
    return (
        f"line {finding.line}: {finding.message}"
        if "line" not in finding.message[:6]
        else finding.message
    )
