"""`atc tools`: list, show and call tools, and write them as protocol files or in other formats."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import click

from atc.cli import options
from atc.cli.output import (
    error_document,
    json_text,
    print_columns,
    print_json,
    print_or_say,
    print_result,
    print_text,
    read_text,
    require_new,
    say,
)
from atc.cli.settings import load_config
from atc.cli.tools_search import index, line_of, search, summary
from atc.cli.wiring import asker, open_learned, open_toolbox, saved_folder
from atc.consent import Consent
from atc.saved import examined
from atc.terminal import count
from protocols.errors import CredentialMissing, ToolError, docs_page
from protocols.export import mcp_tool, to_openapi
from protocols.files import write_whole
from protocols.jsontypes import Json, loads
from protocols.judge import violations
from protocols.protocol import HttpBinding, ToolProtocol, dump, spelled
from protocols.render import FULL, stubs
from protocols.toolbox import Tool, Toolbox
from protocols.words import alike
from sandbox.errors import Paused
from sandbox.journal import Journal


@click.group()
def tools() -> None:
    """List, search, call and convert tools.

    Tools come from --tools, else from the configuration, else from the built-in flights service.
    """


tools.add_command(search)
tools.add_command(index)


@tools.command("list", epilog="Example: atc tools list --tools openapi.json")
@options.tools_options
@options.json_option
def list_(*, as_json: bool, **flags: Any) -> None:
    """Every tool, and whether it only reads."""
    config = load_config(flags)[0]
    with open_toolbox(config) as toolbox:
        if as_json:
            print_json([line_of(tool) for tool in toolbox.values()])
        else:
            print_columns((tool.alias, _effect(tool), summary(tool)) for tool in toolbox.values())
        for name, tool, why in examined(toolbox, saved_folder(config)):
            if tool is None:
                say(f"The saved tool {name} is not offered: {why}.")


@tools.command(epilog="Example: atc tools show get_airport --json")
@click.argument("name")
@options.tools_options
@options.json_option
def show(name: str, *, as_json: bool, **flags: Any) -> None:
    """The tool NAME, as programs see it; with --json, its protocol."""
    with open_toolbox(load_config(flags)[0]) as toolbox:
        tool = toolbox.find(name)
        print_result(dump(tool.protocol), _page(tool, toolbox), as_json=as_json)


@tools.command(epilog="Example: atc tools call get_airport code=JFK")
@click.argument("name")
@click.argument("arguments", nargs=-1, metavar="[ARGUMENT=VALUE]...")
@options.allow_writes_option
@options.tools_options
@options.json_option
def call(name: str, arguments: tuple[str, ...], *, as_json: bool, **flags: Any) -> None:
    """Call the tool NAME and print its whole response as JSON.

    ARGUMENT=VALUE is read as the argument's schema says, ARGUMENT:=JSON as it stands. A single '-' reads all of them
    from stdin, as one JSON object. --json adds time, drift and errors around the response. Exit status 1: the tool said
    no, or a write was not allowed; 3: its credential is missing.
    """
    config = load_config(flags)[0]
    with open_toolbox(config) as toolbox:
        tool = toolbox.find(name)
        values = read_arguments(arguments, tool)
        consent = Consent(task="", config=config, ask_person=asker(yes=False), journal=Journal())
        guarded = consent.guard(toolbox)[tool.alias]
        consent.given(guarded, values)  # what a person types is theirs
        began, code = time.monotonic(), 1
        report: dict[str, Any] = {"tool": tool.alias, "arguments": values, "result": None, "error": None}
        report |= {"status": None, "outcome": "done", "curl": None, "drift": []}
        try:
            if guarded.admit is not None:
                guarded.admit(values)
            report["result"] = guarded.call(values)
        except ToolError as error:
            code = 3 if isinstance(error, CredentialMissing) else 1
            report |= {"error": str(error), "status": error.status, "outcome": error.outcome, "curl": error.curl}
        except Paused as pause:
            report |= {"error": str(pause), "outcome": "not_run"}
        else:
            code, schema = 0, tool.protocol.output_schema
            found = violations(schema, report["result"]) if schema is not None else []
            report["drift"] = [f"{violation.path}: {violation.message}".lstrip(": ") for violation in found]
        report["seconds"] = round(time.monotonic() - began, 4)
    if as_json:
        print_json(report | (error_document(report["error"], code) if code else {}))
    elif not code:
        print_text(json_text(report["result"], indent=2))
    for clause in report["drift"]:
        say(f"The response departs from its protocol: {clause}")
    if not code:
        return
    say(f"atc: {report['error']}")
    if report["curl"] and not as_json:
        say(f"Repeat it with: {report['curl']}")
    binding = tool.protocol.binding
    if report["status"] == 401 and isinstance(binding, HttpBinding) and not any(binding.credentials):
        page = docs_page("reference/configuration#credentials")
        say(f"Its document declares no credential. If it wants one, {page} shows how to say which.")
    sys.exit(code)


@tools.command("import", epilog="Example: atc tools import https://example.org/openapi.json -o tools/")
@click.argument("source")
@click.option("-o", "--output", "folder", type=options.FILE, required=True, help="Folder of the files.")
@options.force_option
@options.learn_option
@options.servers_options
@options.json_option
def import_(source: str, *, folder: Path, force: bool, as_json: bool, **flags: Any) -> None:
    """Write each tool of SOURCE as a protocol file.

    The files are to be read, edited and used with '--tools FOLDER'.
    """
    config = load_config({"tools": (source,), **flags})[0]
    learned = open_learned(config)
    with open_toolbox(config) as declared:
        toolbox = learned.over(declared) if learned is not None else declared
        seen = [alias for alias in toolbox if toolbox[alias] is not declared[alias]]
        texts = {folder / f"{tool.alias}.json": _text(dump(tool.protocol)) for tool in toolbox.values()}
    for path in texts:
        require_new(path, force=force)
    for path, text in texts.items():
        write_whole(path, text)
    told = f"{count(len(texts), 'tool')} written to {folder}; use them with: --tools {folder}"
    print_or_say([str(path) for path in texts], told, as_json=as_json)
    if seen:
        say(f"What {', '.join(seen)} answered in runs stands in place of what was declared; --no-learn leaves it out.")


@tools.command("export", epilog="Example: atc tools export --tools tools/ --format openapi -o openapi.json")
@options.tools_options
@click.option("--format", "format_", type=click.Choice(["openapi", "mcp"]), default="openapi", show_default=True,
              help="An OpenAPI 3.1 document, or MCP tools.")  # fmt: skip
@options.output_option
@options.json_option
def export(*, format_: str, path: Path | None, as_json: bool, **flags: Any) -> None:  # noqa: ARG001 - it is JSON anyway
    """Write the tools in another format, as JSON."""
    with open_toolbox(load_config(flags)[0]) as toolbox:
        protocols = [tool.protocol for tool in toolbox.values()]
        title = ", ".join(dict.fromkeys(tool.source for tool in toolbox.values())) or "tools"
        text = _text([mcp_tool(one) for one in protocols] if format_ == "mcp" else to_openapi(protocols, title))
    if path is None:
        print_text(text.rstrip("\n"))
        return
    write_whole(path, text)
    say(f"{count(len(toolbox), 'tool')} written to {path}")


def _text(document: Any) -> str:
    return json_text(document, indent=2) + "\n"


def _effect(tool: Tool) -> str:
    return "writes" if tool.protocol.writes else "reads"


def _page(tool: Tool, toolbox: Toolbox) -> str:
    """The tool's stub, how it is called, its errors, and where its ids come from."""
    protocol = tool.protocol
    how = spelled(protocol.binding) or "no binding, so it cannot be called"
    lines = [stubs(toolbox.only([tool.alias]), detail=FULL), ""]
    lines.append(f"# {_effect(tool)}; {how}; from {tool.source or 'an unnamed source'}")
    errors = {error.status: " ".join(error.description.split()) for error in protocol.errors}
    lines += [f"# {status}: {meaning}".removesuffix(": ") for status, meaning in errors.items()]
    aliases = {(one.source, one.protocol.name): one.alias for one in toolbox.values()}
    for link in protocol.links:
        producer = aliases.get((tool.source, link.tool), link.tool)
        lines.append(f"# {link.argument}: from {producer} at {link.path} ({link.support})")
    return "\n".join(lines)


def read_arguments(words: Sequence[str], tool: Tool) -> dict[str, Json]:
    """The arguments by original name, each value read as its schema says, and checked against it.

    `name=text` reads text as the schema's type; `name:=JSON` takes JSON as it is. A single `-` reads one JSON object
    from stdin.

    Raises:
        click.UsageError: a word, a name or a value that does not fit, or one that is missing.
    """
    protocol, values = tool.protocol, dict[str, Json]()
    for name, value, spelled_out in _given(words):
        original = name if name in protocol.parameters else tool.arguments.get(name)
        if original is None:
            near = alike(name, protocol.parameters)
            takes = ", ".join(map(repr, protocol.parameters)) or "none"
            hint = f"did you mean {near[0]!r}?" if near else f"it takes {takes}"
            raise click.UsageError(f"{tool.alias} has no argument {name!r}; {hint}")
        if original in values:
            raise click.UsageError("an argument is given twice; write a list as NAME:=JSON")
        values[original] = value if spelled_out else _spelled(str(value), original, protocol)
    if missing := [name for name in protocol.parameters if name in protocol.required - set(values)]:
        raise click.UsageError(f"{tool.alias} needs {', '.join(map(repr, missing))}; write {missing[0]}=VALUE")
    for violation in violations(protocol.input_schema, values):
        where = f"the argument {violation.path!r}: " if violation.path else ""
        raise click.UsageError(f"{where}{violation.message}")
    return values


def _given(words: Sequence[str]) -> Iterator[tuple[str, Json, bool]]:
    """Each argument's name and value, and whether that is JSON; else it is text that the schema says how to read."""
    if list(words) == ["-"]:
        document = _json(read_text("-"), "stdin")
        if not isinstance(document, dict):
            raise click.UsageError("the arguments on stdin must be one JSON object")
        yield from ((name, value, True) for name, value in document.items())
        return
    for word in words:
        name, separator, text = word.partition("=")
        if not separator:
            raise click.UsageError(f"{word!r} is no argument; write NAME=VALUE, or NAME:=JSON")
        plain = name.removesuffix(":")
        yield plain, (text if plain == name else _json(text, plain)), plain != name


def _spelled(text: str, name: str, protocol: ToolProtocol) -> Json:
    """What `text` spells: JSON where the argument takes that value, else a text, or a list of one text."""
    root = protocol.input_schema
    schema = {**{key: root[key] for key in ("$defs", "definitions") if key in root}, **protocol.parameters[name]}
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        value = text
    if isinstance(value, str):
        value = text  # a quoted text keeps its quotes, as `name:=` would take them
    return next((one for one in (value, text, [text]) if not violations(schema, one)), value)


def _json(text: str, name: str) -> Json:
    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"{name!r}: {text[:40]!r} is not JSON ({error})") from error
