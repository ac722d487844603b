"""Output of commands: results on stdout; messages, questions and progress on stderr.

Control characters in text from tools and models are escaped, so they cannot act on the terminal.
"""

from __future__ import annotations

import io
import json
import os
import shutil
import signal
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, redirect_stdout, suppress
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import TextIO

import click

from atc.core.quoting import escape_hidden
from atc.core.text import UNSAFE, clipped, escape_controls
from protocols.schema import Json, dumps

# JSON itself escapes characters below 0x20; these escapes keep the text valid JSON.
_IN_JSON = {
    code: f"\\u{code:04x}" if code < 0x10000 else json.dumps(chr(code))[1:-1]
    for code in UNSAFE
    if code >= 0x20
}


_ANSWERS = {"y": True, "yes": True, "n": False, "no": False, "": False}
"""The meaning of each possible answer to a yes-or-no question. Enter alone means no."""

_INTERRUPTED = "interrupted."


@dataclass
class _OpenQuestion:
    """State of the question that the terminal shows now, if any, and of stdin.

    A question may be asked in any thread, but Ctrl-C interrupts only the main thread, which needs
    this state.
    """

    awaits_answer: bool = False
    """True while the cursor is behind the question, so other text must begin a new line."""
    if_interrupted: str = _INTERRUPTED
    """The sentence that the command prints last if Ctrl-C ends it now."""
    data: TextIO | None = None
    """The stdin that was read as data, because the user gave `-`."""


_question = _OpenQuestion()


def is_terminal(stream: TextIO | None) -> bool:
    """Return True if an output stream is a terminal. A closed stream is None."""
    return stream is not None and stream.isatty()


def has_person() -> bool:
    """Return True if a person can be asked: stdin and stderr are a terminal.

    If stdin was read as data, nobody is asked: what comes after the data is no answer.
    """
    if sys.stdin is None or sys.stdin is _question.data:
        return False
    return is_terminal(sys.stdin) and is_terminal(sys.stderr)


def interrupted_text() -> str:
    """Return the sentence that a command prints last when Ctrl-C ends it.

    If a question is open, the sentence says whether the action that it asks about was carried out.
    """
    return _question.if_interrupted


def confirmed(question: str, *, if_interrupted: str = _INTERRUPTED) -> bool:
    """Ask a yes-or-no question on the terminal; return False if there is no terminal.

    Text that was typed before the question appeared is discarded, because it was not an answer.
    `if_interrupted` is the sentence that the command prints last if Ctrl-C ends it at this
    question.

    Raises:
        KeyboardInterrupt: The person pressed Ctrl-C or Ctrl-D instead of answering.
    """
    if not has_person():
        return False
    with suppress(io.UnsupportedOperation):  # in tests, stdin has no file
        termios.tcflush(sys.stdin.fileno(), termios.TCIFLUSH)
    _question.if_interrupted = if_interrupted
    answer = None
    while answer is None:
        _question.awaits_answer = True
        try:
            typed = click.prompt(
                question, default="", show_default=False, prompt_suffix=" [y/N]: ", err=True
            )
        except click.Abort:
            begin_line()
            # Callers handle this exception as an interrupt, and never as a failed question.
            raise KeyboardInterrupt from None
        _question.awaits_answer = False
        answer = _ANSWERS.get(typed.strip().lower())
        question = "Type y or n."
    _question.if_interrupted = _INTERRUPTED
    return answer


def begin_line() -> None:
    """Begin a new line on the terminal if the last line is a question without an answer."""
    if _question.awaits_answer:
        _question.awaits_answer = False
        os.write(2, b"\n")


@contextmanager
def break_line_on_interrupt() -> Iterator[None]:
    """Within the block, make Ctrl-C begin a new line before it interrupts, if a question is open.

    The question may be asked in another thread. Without this, the text of the interrupted thread
    would follow the question on the same line. If Ctrl-C is ignored, as under nohup, it stays
    ignored.
    """

    def interrupt(number: int, frame: FrameType | None) -> None:
        begin_line()
        signal.default_int_handler(number, frame)

    in_main_thread = threading.current_thread() is threading.main_thread()
    if not in_main_thread or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


def say(sentence: str) -> None:
    """Write one line for the user on stderr, above the progress bar if there is one.

    (`click.echo` would write into the progress bar.)
    """
    if sys.stderr is not None:
        sys.stderr.write(f"{escape_hidden(sentence)}\n")


def note(sentence: str) -> None:
    """Write one line on stderr that the user need not know. With --quiet, it is left out."""
    if not is_quiet():
        say(sentence)


def is_quiet() -> bool:
    """Return True if the running command has the option `--quiet`."""
    context = click.get_current_context(silent=True)
    return context is not None and bool(context.meta.get("quiet"))


@contextmanager
def printing_tools() -> Iterator[None]:
    """Within the block, write to stderr what Python tools print; with --quiet, drop it.

    It is no part of a result.
    """
    with ExitStack() as stack:
        quiet = is_quiet()
        target = stack.enter_context(Path(os.devnull).open("w")) if quiet else sys.stderr
        stack.enter_context(redirect_stdout(target))
        yield


@contextmanager
def bar(description: str, *, total: int) -> Iterator[Callable[..., None]]:
    """Show a progress bar with an estimate of the time left, if stderr is a terminal.

    Yield a function that moves the bar: its first argument is the number of finished items. The
    function ignores further arguments.
    """
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    # Imported only if a bar is drawn, because it is slow.
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
    )

    from atc.observe.terminal_view import stderr_console

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=stderr_console(), transient=True) as progress:
        task = progress.add_task(description, total=total)
        yield lambda done, *_: progress.update(task, completed=done)


def report_tenths() -> Callable[[int, int], None]:
    """Return a function that reports the progress of a download on stderr.

    The function must be called with the number of bytes received and the total. It writes a line
    for each tenth of the total, with an estimate of the time left.
    """
    last_tenth = -1
    began = time.monotonic()
    first = 0

    def progress(done: int, total: int) -> None:
        nonlocal last_tenth, began, first
        if last_tenth < 0:  # a continued download begins with bytes of an earlier one
            began = time.monotonic()
            first = done
        tenth = done * 10 // total
        if tenth <= last_tenth:
            return
        last_tenth = tenth
        left = ""
        if done > first:
            seconds = (time.monotonic() - began) * (total - done) / (done - first)
            left = f", about {seconds:.0f} s left" if seconds else ""
        note(f"fetching the model (once): {done / 1e6:,.0f} of {total / 1e6:,.0f} MB{left}")

    return progress


def print_text(text: str) -> None:
    """Print a text of one or more lines on stdout, with its control characters escaped."""
    click.echo(escape_controls(text, keep_newlines=True))


def print_json(value: Json) -> None:
    """Print a result as JSON on stdout: indented on a terminal, else on one line."""
    indent = 2 if is_terminal(sys.stdout) else None
    click.echo(json_text(value, indent=indent))


def as_json() -> bool:
    """Return True if the running command has the option `--json`."""
    return bool(click.get_current_context().meta.get("as_json"))


def print_result(document: Json, shown: str | Iterable[Sequence[str]] = "") -> None:
    """Print the result of a command: `document` as JSON with `--json`, else `shown`.

    `shown` is a text, or the rows of a table. An empty text prints nothing.
    """
    if as_json():
        print_json(document)
    elif not isinstance(shown, str):
        _print_columns(shown)
    elif shown:
        print_text(shown)


def json_text(value: Json, *, indent: int | None = None) -> str:
    """Return `value` as JSON. Characters that could control a terminal are escaped."""
    return dumps(value, indent=indent).translate(_IN_JSON)


def terminal_width() -> int | None:
    """Return the width of the terminal that stdout is, in characters; None if it is none."""
    return shutil.get_terminal_size().columns if is_terminal(sys.stdout) else None


def _print_columns(rows: Iterable[Sequence[str]]) -> None:
    """Print rows as aligned columns; on a terminal, the last column is cut to fit its width."""
    shown = [list(map(escape_hidden, row)) for row in rows]
    if not shown:
        return
    widths = [max(map(len, column)) for column in zip(*shown, strict=True)][:-1]
    terminal = terminal_width()
    room = terminal - sum(widths) - 2 * len(widths) if terminal is not None else None
    for row in shown:
        cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
        click.echo("  ".join([*cells, clipped(row[-1], room)]).rstrip())


def require_new(path: Path | None, *, force: bool) -> None:
    """Check that the file `path` may be written: it does not exist yet, or `force` is True.

    Nothing is checked if `path` is None, which stands for stdout.

    Raises:
        click.UsageError: `path` is a folder, or an existing file and `force` is False.
    """
    if path is not None and path.is_dir():
        raise click.UsageError(f"{str(path)!r} is a folder; give the name of a file to write")
    if path is not None and path.exists() and not force:
        raise click.UsageError(f"{str(path)!r} exists; give --force to replace it, or another name")


def read_text(name: str) -> str:
    """Return the text of a file, or of stdin if the name is '-'. Then stdin gives no answers.

    Raises:
        click.UsageError: The file cannot be read, or is not UTF-8 text.
    """
    if name == "-" and sys.stdin is None:
        raise click.UsageError("stdin is closed, so '-' reads nothing")
    if name == "-":
        _question.data = sys.stdin
    try:
        with click.open_file(name, encoding="utf-8-sig") as file:
            text: str = file.read()
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise click.UsageError(
            f"cannot read {'stdin' if name == '-' else repr(name)} ({why})"
        ) from error
    return text
