"""The command `atc`: the list of its verbs, and the start and end of the process.

An error is printed as one sentence on stderr, and with --json also as an object on stdout:
`{"error": SENTENCE, "kind": KIND}`. `atc.cli.errors` defines the exit codes.
"""

from __future__ import annotations

import contextlib
import gc
import itertools
import os
import signal
import sys
import threading
import traceback
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import NoReturn

import click

from atc.cli.errors import ExitCode, error_document, explain_error
from atc.cli.output import begin_line, interrupted_text, print_json, say
from atc.core.version import __version__
from protocols.documentation import docs_page

VERBS = {
    "run": (
        "Solve TASK ('-' reads stdin) by one program over the given tools.",
        "start/first-answer",
    ),
    "exec": (
        "Run PROGRAM ('-' reads stdin) over the given tools, without a model.",
        "guides/schedule",
    ),
    "check": ("Check PROGRAM ('-' reads stdin) against the tools that it calls.", "how/check"),
    "probe": ("Write protocols of SRC's tools into DIR, by calling them.", "guides/probe"),
    "tools": ("List, search, call and convert tools.", "reference/protocols"),
    "serve": ("Let another agent act on the tools by programs, over MCP.", "guides/agent"),
    "runs": ("See, resume, export and replay earlier runs.", "reference/errors"),
    "models": ("See, fetch and test language models.", "start/your-model"),
    "bench": ("Measure how many tasks are solved and at what cost.", "reference/toolflow"),
    "doctor": ("Check that everything needed is here and works.", "start/install"),
    "config": ("Show and change the settings.", "reference/configuration"),
    "completion": ("Print the script that completes commands of atc in a shell.", "start/install"),
}
"""The verbs of `atc`, each with its summary for the help and its page of the documentation.

Each verb is a module of this package.
"""


class LazyGroup(click.Group):
    """The click group `atc`, whose subcommands are the verbs.

    The module of a verb is imported only when it is used, so that `atc --help` is fast.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - required by click
        """Return the names of the verbs, in the order of the help."""
        return list(VERBS)

    def get_command(
        self,
        ctx: click.Context,  # noqa: ARG002 - required by click
        cmd_name: str,
    ) -> click.Command | None:
        """Import a verb and return its command; return None if there is no such verb."""
        return _import_verb(cmd_name) if cmd_name in VERBS else None

    def format_commands(
        self,
        ctx: click.Context,  # noqa: ARG002 - required by click
        formatter: click.HelpFormatter,
    ) -> None:
        """Write the verbs and their summaries into the help, without importing their modules."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (summary, _) in VERBS.items()])


@cache
def _import_verb(verb: str) -> click.Command:
    """Import the module of a verb, and return its click command.

    A link to the documentation is added at the end of its help and of its subcommands' help.
    """
    # Imported objects stay alive. Searching them for garbage would take a tenth of the start time.
    gc.disable()
    members = vars(import_module(f"atc.cli.{verb}")).values()
    gc.freeze()
    gc.enable()
    found = next(one for one in members if isinstance(one, click.Command) and one.name == verb)
    _append_to_epilogs(found, f"More: {docs_page(VERBS[verb][1])}")
    return found


def _append_to_epilogs(command: click.Command, text: str) -> None:
    """Append a paragraph to the help of a command and of all its subcommands."""
    command.epilog = f"{command.epilog or ''}\n\n{text}".lstrip()
    for subcommand in getattr(command, "commands", {}).values():
        _append_to_epilogs(subcommand, text)


@click.group(
    cls=LazyGroup,
    # click suggests these names for a misspelled verb.
    commands={name: click.Command(name) for name in VERBS},
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    no_args_is_help=True,
    epilog=f"""Start with: atc run "How many flights left JFK for Boston on 4 July 2013?"

    More: {docs_page("index")}""",
)
@click.version_option(__version__, prog_name="atc", message="%(prog)s %(version)s", help="Show it.")
def cli() -> None:
    """Let a language model act on APIs by writing one dependable program."""


def main(arguments: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and end the process with its exit code.

    `arguments` defaults to the arguments of the process.
    """
    if "_ATC_COMPLETE" in os.environ:  # the shell asks for completions
        end_process(import_module("atc.cli.completion_reply").answer_shell())
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        # A letter that stdout cannot encode must not make printing an answer fail.
        sys.stdout.reconfigure(errors="backslashreplace")
    end_process(_run_guarded(sys.argv[1:] if arguments is None else arguments))


def end_process(code: int) -> NoReturn:
    """Flush stdout and telemetry, then end the process with this exit code.

    It does not wait for threads that are still working.
    """
    # Only clean-up is left; a second Ctrl-C ends it without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):  # reported when the text was printed
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python's own flush at exit goes nowhere
    if (telemetry := sys.modules.get("atc.observe.opentelemetry")) is not None:
        telemetry.close()  # it is imported only if spans are collected
    if threading.active_count() > 1:
        # A thread may still work for a run that has ended. Everything is closed and written by now.
        # The normal exit would unwind its stack, which aborts the process if there is native code
        # on it, such as a validator's, or if it waits for a line of stdin.
        os._exit(code)
    sys.exit(code)


def _run_guarded(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. Errors are reported as a sentence on stderr."""
    try:
        with cli.make_context("atc", list(arguments)) as context:
            cli.invoke(context)
    except click.exceptions.Exit as end:
        return end.exit_code
    except click.exceptions.NoArgsIsHelpError as asked:
        click.echo(asked.format_message(), err=True)
        return asked.exit_code
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except (KeyboardInterrupt, click.Abort) as error:
        return _report_error(interrupted_text(), ExitCode.INTERRUPTED, arguments, error)
    except BrokenPipeError:
        return ExitCode.READER_GONE
    except BaseException as error:  # noqa: BLE001 - every error becomes a sentence
        if os.environ.get("ATC_DEBUG") == "1":
            traceback.print_exception(error)
        return _report_error(*explain_error(error), arguments, error)
    return 0


def _report_error(sentence: str, code: int, arguments: Sequence[str], error: BaseException) -> int:
    """Write a sentence about an error to stderr, and with --json also to stdout.

    The notes of the error, such as the command that goes on, follow on stderr, a line each. Return
    `code`, the exit code of the command.
    """
    line = " ".join(sentence.split())
    with contextlib.suppress(OSError):  # stderr is closed or full: only the exit code is left
        begin_line()
        say(f"atc: {line}")
        for note in getattr(error, "__notes__", ()):
            say(note)
    # click may have failed before it parsed --json, so look for the word itself.
    if "--json" in itertools.takewhile(lambda word: word != "--", arguments):
        with contextlib.suppress(OSError):  # as above, for stdout
            print_json(error_document(line, code))
    return code
