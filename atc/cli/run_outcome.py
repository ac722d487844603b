"""The end of `atc run` and `atc runs resume`: the answer on stdout, the last lines on stderr."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from dataclasses import asdict, fields
from pathlib import Path
from typing import Literal, NamedTuple

import click
from rich.console import Console
from rich.text import Text

from atc.cli import output
from atc.cli.answer_table import NoTable, describe_no_table, format_csv, format_table, make_table
from atc.cli.earlier_runs import budget_option, runs_command
from atc.cli.errors import ExitCode, error_document
from atc.core.quoting import escape_hidden
from atc.core.task import TaskContext
from atc.core.text import count, escape_controls
from atc.core.types import Solution
from atc.observe.terminal_view import LABEL_WIDTH, RunView, format_whole_call, stderr_console
from atc.run.output_type import final_value
from protocols.files import FileInfo
from protocols.schema import JsonValue

SCHEMA = 1
"""Version of the JSON documents of a run. It changes if a key changes its meaning or goes away."""


AnswerFormat = Literal["text", "json", "csv", "table"]


class Presentation(NamedTuple):
    """The form in which a command shows a run and its answer."""

    form: AnswerFormat
    values: bool
    """True if the lines of calls show the values that came, and not only their shape."""
    files: Path | None = None
    """The folder to which the files of the answer are written, or None."""


def read_presentation(
    *, as_csv: bool, as_table: bool, values: bool, files: Path | None = None
) -> Presentation:
    """Return how the running command shows the run, from its options.

    Raises:
        click.UsageError: More than one of `--json`, `--csv` and `--table` was given.
    """
    given: dict[AnswerFormat, bool] = {"json": output.as_json(), "csv": as_csv, "table": as_table}
    chosen = [form for form, is_given in given.items() if is_given]
    if len(chosen) > 1:
        both = " and ".join(f"--{form}" for form in chosen[:2])
        raise click.UsageError(f"{both} exclude each other; give one of them")
    return Presentation(chosen[0] if chosen else "text", values, files)


def print_answer(
    solution: Solution,
    shown: Solution,
    context: TaskContext,
    form: AnswerFormat,
    saved: Sequence[Path] = (),
) -> bool:
    """Print the answer of a run on stdout, or with `--json` the whole solution.

    The answer is printed as it is, in JSON with the type that `context` asks for. Everything else
    is taken from `shown`, in which secrets are replaced by placeholders. Return False if the answer
    cannot be printed in this form. It is then part of a message on stderr. `saved` are the paths to
    which the files of the answer were written.
    """
    value = final_value(solution.answer, solution.attempts, context)
    if form == "json":
        _print_document(value, solution, shown, saved)
    elif solution.answer is not None and solution.status in ("solved", "unsure"):
        if form == "text":
            _print_labelled(solution.answer)
            return True
        return _print_table(value, solution.answer, form)
    return True


def _print_document(
    value: JsonValue, solution: Solution, shown: Solution, saved: Sequence[Path]
) -> None:
    """Print the JSON document of a run, whose answer is `value`."""
    whole = asdict(shown)
    keys = [field.name for field in fields(Solution) if field.compare]
    document = {"schema": SCHEMA} | {key: whole[key] for key in keys}
    document |= {
        "answer": value,
        "files": file_documents(solution.files, saved),
        "call_count": solution.call_count,
        "repairs": solution.repairs,
    }
    output.print_json(document | error_document(_explain_failure(shown), ExitCode.FAILED))


def file_documents(files: Sequence[FileInfo], saved: Sequence[Path]) -> list[dict[str, object]]:
    """Return the files of an answer as JSON, each with the path to which it was written, if any."""
    documents: list[dict[str, object]] = [asdict(file) for file in files]
    for document, path in zip(documents, saved, strict=False):
        document["path"] = str(path)
    return documents


def tell_files(solution: Solution, view: RunView, saved: Sequence[Path]) -> None:
    """Say on stderr where the files of an answer are, or how the user gets them."""
    for file, path in zip(solution.files, saved, strict=False):
        view.line("file", f"{escape_hidden(str(file))} → {path}", "green")
    if solution.files and not saved:
        names = ", ".join(file.name for file in solution.files[:3])
        more = ", …" if len(solution.files) > 3 else ""
        command = runs_command("files", solution.run_id or "", "-o", "DIR")
        output.say(f"Kept with the run: {escape_hidden(names)}{more}. To have them: {command}")


def _print_labelled(text: str) -> None:
    """Print an answer or a table; on a terminal, with a label as on the lines of the run.

    Further lines are then indented like the first one. A program that reads stdout gets the text
    alone.
    """
    if not output.is_terminal(sys.stdout):
        output.print_text(text)
        return
    console = Console(highlight=False, markup=False, emoji=False)
    indent = " " * (LABEL_WIDTH + 1)
    lines = escape_controls(text, keep_newlines=True).split("\n")
    console.print(Text.assemble((f"{'answer':<{LABEL_WIDTH}} ", "green"), (lines[0], "bold")))
    for line in lines[1:]:
        console.print(Text(f"{indent}{line}"), soft_wrap=True)


def _print_table(value: JsonValue, answer: str, form: AnswerFormat) -> bool:
    """Print an answer as CSV or as aligned columns; return False if it is no table."""
    try:
        table = make_table(value)
    except NoTable as error:
        output.say(describe_no_table(form, error, answer))
        return False
    if not table.columns:
        output.say("The answer is empty: it has no record.")
    elif form == "csv":
        click.echo(format_csv(table), nl=False)
    else:
        is_terminal = output.is_terminal(sys.stdout)
        room = shutil.get_terminal_size().columns - LABEL_WIDTH - 1 if is_terminal else None
        _print_labelled(format_table(table, width=room))
    return True


_COLORS = {"solved": "green", "unsure": "yellow"}


def conclude(solution: Solution, view: RunView, sent: Sequence[str]) -> None:
    """Write the last lines on stderr: how the run ended, and what the user can do next.

    The lines also give the time, calls and tokens of the run, and the writes that need attention.
    `sent` are sentences about writes that were sent. With --quiet, there are only lines about what
    went wrong.
    """
    seconds = f"{solution.seconds:.1f} s ({solution.usage.model_seconds:.1f} s model)"
    steps = f"{count(solution.call_count, 'call')}, {count(solution.repairs, 'repair')}"
    took = f"{seconds}, {steps}, {solution.usage.tokens} tokens · run {solution.run_id}"
    view.line(solution.status, took, _COLORS.get(solution.status, "red"))
    if output.is_quiet() and solution.status != "solved":
        view = RunView(stderr_console())
    for call in solution.orphans:
        view.line(
            "left",
            f"{format_whole_call(call)}: an earlier program made it, the answer's does not",
            "yellow",
        )
    for skipped in solution.skipped_questions:
        view.line("unasked", escape_hidden(skipped.why), "yellow")
    for call in solution.unknown_writes:
        view.line(
            "unknown", f"{format_whole_call(call)}: nobody knows whether it took effect", "yellow"
        )
    if (why := _explain_failure(solution)) is None:
        return
    output.say(why)
    for sentence in sent:
        output.say(sentence)
    run = solution.run_id or ""
    resume = runs_command("resume", run)
    if resume in why and solution.status == "paused":
        return
    if solution.status in ("failed", "unsure"):
        output.say(f"See every attempt with: {runs_command('show', run)}")
    elif solution.unknown_writes:
        output.say(
            f"Look at the service. If it did not happen: {resume} --resend. If it did: {resume}"
            f" --on-unknown done. To go on without it: {resume} --on-unknown skip. To look once"
            " more: the command without either."
        )
    else:
        output.say(
            f"Go on with: {resume}"
            + (" --accept-orphans, which lets them stand" if solution.orphans else "")
        )


def _explain_failure(solution: Solution) -> str | None:
    """Return why there is no answer, or why it is doubtful; None if the task was solved."""
    option = budget_option(solution.limit or "")
    if solution.status == "failed" and option:
        command = runs_command("resume", solution.run_id or "", *option)
        return f"The run's budget is spent: {solution.limit}. Go on with: {command}"
    return solution.problem
