"""The view of a run on stderr: a line for each event, and on a terminal an animated status line."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from rich.console import Console
from rich.status import Status
from rich.text import Text

from atc.core.answer_print import count_kept_lines
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
from atc.core.program import Program
from atc.core.quoting import escape_hidden
from atc.core.text import clipped, count
from atc.core.types import Finding
from atc.observe.colors import highlight_lines
from protocols.schema import dumps, shape
from sandbox.trace import ToolCall

LABEL_WIDTH = 9
"""Width of the label at the beginning of a line. A space follows it."""
_LONGEST_LINE = 160
_LONGEST_VALUE = 2_000
"""Maximum number of characters of a value that a call returned."""
_MANY_TOOLS = 8
_SHOWN_IN_A_ROW = 3
"""Maximum number of consecutive calls of one tool that get a line each.

Further calls are only counted.
"""
_LONG_PROMPT = 1_000
"""Minimum number of tokens of a prompt for which a progress bar is shown while a model reads it."""
_BAR = 24
"""Width of that progress bar in characters."""
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


def stderr_console(*, quiet: bool = False) -> Console:
    """Return a console that writes messages and progress to stderr, or nothing if it is `quiet`.

    It writes plain text if stderr is not a terminal. The environment variable NO_COLOR turns
    colours off.
    """
    return Console(stderr=True, quiet=quiet, highlight=False, markup=False, emoji=False)


class RunView:
    """An observer that shows the events of one run on the terminal.

    Use it as a context manager: its animated status line is shown only within the block. With
    `values`, each call is shown with the value that it returned, instead of the value's shape.
    """

    def __init__(self, console: Console, *, values: bool = False) -> None:
        self._console = console
        self._values = values
        self._status: Status | None = None
        """The animated status line; None if stderr is no terminal."""
        self._doing = ""
        """What the model was asked for last, as text of the status line."""
        self._shown = Program("")
        """The program that was shown last."""
        self._kept = 0
        """Number of first lines that this program has in common with the one shown before it."""
        self._last_tool = ""
        """The tool that was called last; empty if that call failed or is not the last event."""
        self._in_a_row = 0
        """Number of consecutive calls of that tool before the last call."""

    def __enter__(self) -> Self:
        if self._console.is_terminal and not self._console.quiet:
            self._status = self._console.status("loading tools", spinner="dots")
            self._status.start()
        return self

    def __exit__(self, *_: object) -> None:
        if self._status is not None:
            self._status.stop()
            self._status = None

    def __call__(self, event: Event) -> None:
        """Show one event of the run: write a line, or change the status line."""
        if not isinstance(event, ToolCalled):
            self._fold()
        match event:
            case ToolsChosen():
                names = f"{', '.join(event.tools)} (of {event.total})"
                if len(event.tools) == event.total > _MANY_TOOLS:
                    names = f"all {event.total}"
                self.line("tools", names, "cyan")
            case ModelAsked():
                self._doing = f"{_DOING.get(event.purpose, event.purpose)} …"
                self._set_status(self._doing)
            case ModelReplied(completion=reply):
                read = reply.input_tokens - reply.cached_tokens
                written = f"{reply.output_tokens} written in {reply.seconds:.1f} s"
                self.line("model", f"{read} tokens read, {written}", "dim")
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
        """Show that the embedded model has read `done` of the `total` tokens of a long prompt.

        `seconds` is the time that this took.
        """
        if total >= _LONG_PROMPT:
            self._set_status(format_reading(done, total, seconds) if done < total else self._doing)

    def line(self, label: str, text: str, style: str) -> None:
        """Write one line with a coloured label. Control characters in `text` are escaped."""
        self._print(Text.assemble((f"{label:<{LABEL_WIDTH}} ", style), escape_hidden(text)))

    @contextmanager
    def pause_status(self) -> Iterator[None]:
        """Hide the status line within the block, in which a person is asked."""
        if self._status is not None:
            self._status.stop()
        try:
            yield
        finally:
            if self._status is not None:
                self._status.start()

    def _show_program(self, event: ProgramWritten) -> None:
        """Show a program, without its first lines if the program before began with the same lines.

        If the check rejected the program, show only the reason.
        """
        source = event.program.source.rstrip("\n")
        if event.findings:
            reason = _format_finding(event.findings[0])
            self.line("check", f"passed over a program: {reason}", "yellow")
            return
        for finding in event.mended:
            self.line("mended", _format_finding(finding), "yellow")
        self._kept = count_kept_lines(event.program, self._shown)
        self._shown = event.program
        lines = source.splitlines()
        length = count(len(lines) - self._kept, "line") + (" more" if self._kept else "")
        self.line("program", f"attempt {event.attempt + 1}, {length}", "cyan")
        shown = [Text(escape_hidden(line)) for line in lines]
        if self._console.is_terminal and not self._console.no_color:
            shown = highlight_lines(lines)
        for number, line in enumerate(shown[self._kept :], self._kept + 1):
            self._print(Text.assemble((f"{number:>{LABEL_WIDTH}} │ ", "dim"), line))
        self._set_status("running the program …")

    def _show_call(self, call: ToolCall) -> None:
        """Show a completed call on one line; after many calls of the same tool, only count it."""
        if call.reused and self._kept and (call.earlier is None or call.line <= self._kept):
            return  # it was shown when it was made
        if call.tool != self._last_tool or call.error is not None:
            self._fold()
        self._in_a_row += self._last_tool != ""
        self._last_tool = call.tool if call.error is None else ""
        if self._in_a_row >= _SHOWN_IN_A_ROW and not self._values:
            self._set_status(f"calling {call.tool}, {self._in_a_row + 1} times so far …")
            return
        style = "red" if call.error is not None else "green"
        self.line("call", self._describe_call(call), style)
        if call.note is not None and not call.reused:
            self.line("settled", call.note, "yellow")

    def _describe_call(self, call: ToolCall) -> str:
        """Return a call, its result and how long it took, cut to fit one line of a terminal."""
        text = format_whole_call(call)
        took = f"{call.seconds * 1000:.0f} ms"
        if call.reused:
            took = "again, from the journal" if call.earlier is None else "from the earlier run"
        room = _LONGEST_LINE
        if self._console.is_terminal:
            room = max(40, self._console.width - LABEL_WIDTH - len(f"{text} →  · {took} "))
        if call.error is not None:
            result = clipped(call.error, room)
        elif self._values:
            result = clipped(dumps(call.result), _LONGEST_VALUE)
        else:
            result = clipped(shape(call.result, depth=1), room)
        return f"{text} → {result} · {took}"

    def _fold(self) -> None:
        """End a series of calls of one tool.

        Only the first calls of a series are shown. Write how many more there were.
        """
        if (more := self._in_a_row + 1 - _SHOWN_IN_A_ROW) > 0 and not self._values:
            self.line("call", f"… {count(more, 'more call')} of {self._last_tool}", "green")
        self._last_tool = ""
        self._in_a_row = 0

    def _print(self, text: Text) -> None:
        """Print one line. If it is too long, the terminal wraps it."""
        self._console.print(text, soft_wrap=True, highlight=False)

    def _set_status(self, doing: str) -> None:
        """Change the text of the status line."""
        if self._status is not None:
            self._status.update(escape_hidden(doing))


def format_reading(done: int, total: int, seconds: float) -> str:
    """Return a text with a progress bar of the tokens that a model has read of a prompt.

    `seconds` is the time so far. It ends with an estimate of the time left.
    """
    filled = _BAR * done // total
    bar = "━" * filled + "╌" * (_BAR - filled)
    left = f", about {seconds * (total - done) / done:.0f} s left" if done else ""
    return f"reading the tools {bar} {done:,} of {total:,} tokens{left}"


def format_whole_call(call: ToolCall) -> str:
    """Return a call as a program writes it, such as `get_film(film_id=7)`, with uncut values."""
    return format_tool_call(call, most=sys.maxsize)


def _format_finding(finding: Finding) -> str:
    """Return the message of an error that the check found, beginning with the line number."""
    if "line" in finding.message[:6]:
        return finding.message
    return f"line {finding.line}: {finding.message}"
