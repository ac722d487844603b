"""`atc tools call`: call one tool once, with arguments from the command line."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from atc.cli import options, output, wiring
from atc.cli.errors import ExitCode, error_document
from atc.cli.saved_tool import run_saved
from atc.core.messages import describe_result_headers
from atc.core.quoting import quote_name
from atc.pipeline.response_notes import describe_unread
from atc.run.saved_files import save_files
from atc.safety.consent import Consent
from atc.safety.held_calls import HeldCalls
from atc.settings.reading import load_config
from protocols.documentation import docs_page
from protocols.errors import CredentialMissing, ToolError
from protocols.files import FileInfo, FileValue, TemporaryFiles
from protocols.protocol import HttpBinding, ProgramBinding
from protocols.response import ToolResponse
from protocols.schema import Json, loads, type_name
from protocols.tool import Tool
from protocols.validate import find_violation
from sandbox.arguments import BadArguments, contract
from sandbox.base import Paused
from sandbox.journal import Journal
from sandbox.trace import ToolCall


@click.command("call", cls=options.Verb, examples=["atc tools call get_airport code=JFK"])
@click.argument("name")
@click.argument("arguments", nargs=-1, metavar="[ARGUMENT=VALUE]...")
@options.allow_writes_option
@options.tools_options
@options.call_limit_options
@options.files_option
def call(name: str, arguments: tuple[str, ...], files: Path | None, **flags: Any) -> None:
    """Call the tool NAME and print its whole response as JSON.

    In ARGUMENT=VALUE, the value is converted to the type in the argument's schema; in
    ARGUMENT:=JSON, it is read as JSON. --json also prints the duration, the error, the drift (how
    the response differs from the declared schema), and notes on pages and headers.

    A saved tool ('atc runs save') runs without a model: it is checked, runs in the sandbox, asks
    for consent as in 'atc run', and is stored as a run.

    If a person declined the same call before, or if a client of 'atc serve' waits for a decision
    about it, you are asked on the terminal before it is sent, even if your options allow it.

    The exit status is 1 if the call failed or was not allowed, 3 if a credential is missing, and
    130 if you interrupted the call. After an interruption, a message says whether the call was
    sent.
    """
    config = load_config(flags)
    with (
        wiring.open_toolbox(config) as toolbox,
        wiring.open_store(config) as store,
        wiring.open_questions(config, store) as questions,
    ):
        tool = toolbox.find(name)
        values = _read_arguments(arguments, tool)
        config = wiring.drop_outdated_consent(config, toolbox)
        if isinstance(tool.protocol.binding, ProgramBinding):
            run_saved(tool, values, toolbox, config, store, questions)
        consent = Consent(
            "", toolbox, config, wiring.make_asker(), Journal(), held=HeldCalls(questions)
        )
        guarded = consent.toolbox[tool.alias]
        consent.accept_arguments(guarded, values)  # a person typed them, so they are trusted
        began = time.monotonic()
        report: dict[str, Any] = {
            "tool": tool.alias,
            "arguments": values,
            "result": None,
            "error": None,
            "notes": (),
        }
        report |= {"status": None, "outcome": "done", "curl": None, "remedy": None, "drift": ()}
        code, outcome = _call_guarded(guarded, values)
        saved = _save(outcome.pop("files", ()), files)
        report |= outcome
        report["seconds"] = round(time.monotonic() - began, 4)
    shown = "" if code else output.json_text(report["result"], indent=2)
    output.print_result(report | error_document(report["error"], code), shown)
    for sentence in saved:
        output.say(sentence)
    for clause in report["drift"]:
        output.say(f"The response departs from its protocol: {clause}")
    for note in report["notes"]:
        output.say(note)
    if not code:
        return
    output.say(f"atc: {report['error']}")
    if report["remedy"] and report["status"] is not None:  # else it is the error itself
        output.say(report["remedy"])
    if report["curl"] and not output.as_json():
        output.say(f"Repeat it with: {report['curl']}")
    if report["status"] == 401 and _declares_no_credential(tool):
        page = docs_page("reference/configuration#credentials")
        output.say(
            f"Its document declares no credential. If it wants one, {page} shows how to say which."
        )
    sys.exit(code)


def _declares_no_credential(tool: Tool) -> bool:
    """Return True if a tool is called over HTTP and its protocol declares no credential."""
    binding = tool.protocol.binding
    return isinstance(binding, HttpBinding) and not any(binding.credentials)


def _call_guarded(tool: Tool, values: dict[str, Json]) -> tuple[ExitCode, dict[str, Any]]:
    """Call a tool if consent and the other checks allow it.

    Return the exit code, and the part of the JSON report that says how the call ended: its result
    or its error.
    """
    sent = False
    try:
        if tool.admit is not None:
            tool.admit(values)
        sent = True
        # What a Python tool prints is not part of the result.
        with redirect_stdout(sys.stderr):
            response = tool.send(values)
    except ToolError as error:
        failed = {
            "error": str(error),
            "status": error.status,
            "outcome": error.outcome,
            "curl": error.curl,
            "remedy": error.remedy,
        }
        missing = isinstance(error, CredentialMissing)
        return (ExitCode.ENVIRONMENT if missing else ExitCode.FAILED), failed
    except Paused as pause:
        return ExitCode.FAILED, {"error": str(pause), "outcome": "not_run"}
    except KeyboardInterrupt:
        return ExitCode.INTERRUPTED, _explain_interrupt(tool, sent=sent)
    if response.files:
        files = response.files.values()
        return ExitCode.DONE, {"result": response.value, "files": files}
    broken = find_violation(tool.protocol.output_schema or {}, response.value)
    drift = [] if broken is None else [f"{broken.path}: {broken.message}".lstrip(": ")]
    notes = _notes(tool, values, response)
    return ExitCode.DONE, {"result": response.value, "drift": drift, "notes": notes}


def _notes(tool: Tool, values: dict[str, Json], response: ToolResponse) -> list[str]:
    """Return sentences on what the response announces beside its body: pages, and its headers."""
    arguments = {alias: values[name] for alias, name in tool.arguments.items() if name in values}
    made = ToolCall(
        index=0,
        tool=tool.alias,
        arguments=arguments,
        line=1,
        result=response.value,
        headers=response.headers,
    )
    return [note for note in (describe_unread(tool, made), describe_result_headers(made)) if note]


def _describe_file(info: FileInfo) -> str:
    """Return a sentence about a file that is not written."""
    if not info.is_text:
        return f"{info.name} is a file, whose bytes --files DIR writes."
    return (
        f"{info.name} is a file, whose bytes --files DIR writes: a response over"
        " limits.max_response_mb (--max-response-mb) is one."
    )


def _save(files: Iterable[FileValue], folder: Path | None) -> list[str]:
    """Write the files of a response to a folder, if there is one. Return a sentence about each.

    Raises:
        CannotWrite: the folder or a file cannot be written.
    """
    kept = TemporaryFiles()
    for file in files:
        kept.add(file)
    infos = [file.info for file in files]
    if folder is None:
        return [_describe_file(info) for info in infos]
    return [f"Written: {path}" for path in save_files(infos, kept, folder)]


def _explain_interrupt(tool: Tool, *, sent: bool) -> dict[str, str]:
    """Return the entries of the JSON report about a call that Ctrl-C interrupted.

    `sent` is True if the call may have reached the service.
    """
    if not sent:
        return {"error": "interrupted; nothing was sent.", "outcome": "not_run"}
    if not tool.protocol.writes:
        return {"error": "interrupted.", "outcome": "unknown"}
    problem = (
        f"interrupted; {quote_name(tool.alias)} was sent and its answer is not known:"
        " look at the service before you repeat it."
    )
    return {"error": problem, "outcome": "unknown"}


def _read_arguments(words: Sequence[str], tool: Tool) -> dict[str, Json]:
    """Return the arguments of a call, checked, and keyed by their names in the API.

    Each of `words` is `name=text`, whose text is converted to the argument's type, or `name:=JSON`.

    Raises:
        click.UsageError: A word, a name or a value is invalid, or an argument is missing.
    """
    terms = contract(tool.protocol)
    aliases = {name: alias for alias, name in terms.arguments.items()}
    given = [_read_word(word, aliases, terms.types) for word in words]
    if len(dict(given)) < len(given):
        raise click.UsageError("an argument is given twice; write a list as NAME:=JSON")
    try:
        return tool.original_arguments(terms.accept(dict(given)))
    except BadArguments as problem:
        raise click.UsageError(f"{tool.alias}: {problem}") from None


def _read_word(
    word: str, aliases: Mapping[str, str], types: Mapping[str, Sequence[str]]
) -> tuple[str, Json]:
    """Return the alias and the value of one argument that was typed as `word`.

    `aliases` has the alias of each argument, keyed by its name in the API. `types` has the JSON
    types that each argument may have, keyed by alias.

    Raises:
        click.UsageError: `word` is neither `NAME=VALUE` nor `NAME:=JSON`.
    """
    name, separator, text = word.partition("=")
    if not separator:
        raise click.UsageError(f"{word!r} is no argument; write NAME=VALUE, or NAME:=JSON")
    plain = name.removesuffix(":")
    alias = aliases.get(plain, plain)
    if plain != name:
        return alias, parse_json(text, plain)
    return alias, _parse_argument_value(text, types.get(alias, ()))


def _parse_argument_value(text: str, kinds: Sequence[str]) -> Json:
    """Convert the text of an argument to a JSON value.

    `kinds` are the JSON types that the value may have; if empty, it may have any. `text` is read as
    JSON if this gives a value of one of the types. Otherwise the value is `text` itself, or a list
    that contains the text if the argument takes lists but no strings.
    """
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        value = text
    kind = type_name(value)
    fits = not kinds or kind in kinds or (kind == "integer" and "number" in kinds)
    if kind != "string" and fits:
        return value
    if not kinds or "string" in kinds:
        return text
    return [text] if "array" in kinds else value


def parse_json(text: str, name: str) -> Json:
    """Return the value of a JSON text. The argument's `name` is for the error message.

    Raises:
        click.UsageError: The text is not JSON.
    """
    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"{name!r}: {text[:40]!r} is not JSON ({error})") from error
