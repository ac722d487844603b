"""Errors on the command line: the sentence, exit code and documentation page of each.

Exception classes are defined in other packages, without an exit code or a page. `ERRORS` assigns
both to each class.
"""

from __future__ import annotations

import signal
from enum import IntEnum
from typing import NamedTuple

import click

from atc.cli.extras import extra_of
from protocols.documentation import docs_page
from protocols.errors import AtcError
from protocols.schema import Json


class ExitCode(IntEnum):
    """Exit codes of `atc`.

    With --json, an error is an object whose `kind` is the name of its exit code, in lower case.
    """

    DONE = 0
    FAILED = 1
    """The task or call failed, or was paused."""
    USAGE = 2
    """An option, setting or name is wrong, or a document breaks its format."""
    ENVIRONMENT = 3
    """A tool source, a model, the sandbox or the store is missing or down, or atc has a bug."""
    INTERRUPTED = 130
    READER_GONE = 128 + signal.SIGPIPE
    """The program that reads stdout has closed it. Shells use the same number for this."""


class ErrorEntry(NamedTuple):
    """The exit code of a class of errors, and the documentation page that its message links to."""

    code: ExitCode
    page: str = ""
    """Path of the page, such as `start/your-model`; empty if the message has no link."""


_USAGE = ErrorEntry(ExitCode.USAGE)
_OTHER = ErrorEntry(ExitCode.ENVIRONMENT)
"""The entry of each `AtcError` whose class is not in `ERRORS`."""
ERRORS = {
    "atc.archive.recording.InvalidRecording": _USAGE,
    "atc.archive.saved_programs.CannotSave": _USAGE,
    "atc.core.config.InvalidConfig": ErrorEntry(ExitCode.USAGE, "reference/configuration"),
    "atc.core.task.InvalidTask": _USAGE,
    "atc.core.types.Unsolved": ErrorEntry(ExitCode.FAILED),
    "atc.pipeline.retrieve.methods.UnknownMethod": _USAGE,
    "atc.store.stored.RunRefused": _USAGE,
    "atc.strategies.registry.UnknownStrategy": _USAGE,
    "protocols.errors.InvalidProtocol": _USAGE,
    "protocols.errors.ModelUnavailable": ErrorEntry(ExitCode.ENVIRONMENT, "start/your-model"),
    "protocols.errors.UnknownTool": _USAGE,
    "toolflow_bench.report.runs.InvalidReport": _USAGE,
    "toolflow_bench.rows.InvalidRunFile": _USAGE,
    "toolflow_bench.services.service.UnknownService": _USAGE,
    "toolflow_bench.task.InvalidTask": _USAGE,
}
"""Exit code and page of each exception class and its subclasses, keyed by the class's full name.

The keys are names because importing all the classes would slow down every command.
"""
_DEBUG = "set ATC_DEBUG=1 to see where"
_NUMBERS = {"integer range": "a whole number", "float range": "a number"}
"""What click's names of bounded numbers mean, keyed by name."""


def explain_error(error: BaseException) -> tuple[str, ExitCode]:
    """Return the sentence that explains an error to the user, and the exit code."""
    match error:
        case click.UsageError():
            command = error.ctx.command_path if error.ctx else "atc"
            message = error.format_message()
            for name, plain in _NUMBERS.items():
                message = message.replace(f"is not a valid {name}", f"is not {plain}")
            if not message.endswith("?"):  # else it is click's own "Did you mean …?"
                message = f"{message.rstrip('.')}; '{command} --help' shows how it is used."
            return message, ExitCode.USAGE
        case click.ClickException():
            return error.format_message(), ExitCode.USAGE
        case AtcError():
            entry = find_entry(error)
            sentence = str(error)
            if entry.page and "More: " not in sentence:
                sentence += f" More: {docs_page(entry.page)}"
            return sentence, entry.code
        case ModuleNotFoundError() if extra := extra_of(error.name):
            install = f"pip install 'automatic-tool-chain[{extra}]'"
            sentence = f"this needs {error.name!r}, which is not installed: {install}."
            return sentence, ExitCode.ENVIRONMENT
        case OSError():
            return _explain_os_error(error), ExitCode.ENVIRONMENT
        case _:
            problem = f"a bug in atc: {type(error).__name__}: {error}"
            return f"{problem}; {_DEBUG}, and report it.", ExitCode.ENVIRONMENT


def find_entry(error: AtcError) -> ErrorEntry:
    """Return the entry in `ERRORS` of the class of an error, or of its nearest base class."""
    names = (f"{one.__module__}.{one.__qualname__}" for one in type(error).__mro__)
    return next((ERRORS[name] for name in names if name in ERRORS), _OTHER)


def error_document(sentence: str | None, code: int) -> dict[str, Json]:
    """Return the entries `error` and `kind`, which `--json` prints for an error.

    `sentence` describes the error. If it is empty, there was no error: return an empty object.
    """
    if not sentence:
        return {}
    return {"error": " ".join(sentence.split()), "kind": ExitCode(code).name.lower()}


def _explain_os_error(error: OSError) -> str:
    """Return a sentence about an error of the operating system, and what the user can do next."""
    where = f" ({error.filename})" if error.filename else ""
    binding = "attempting to bind" in str(error.strerror)
    step = "choose another address or port" if binding else _DEBUG
    return f"{error.strerror or error}{where}; {step}."
