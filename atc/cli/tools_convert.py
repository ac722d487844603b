"""`atc tools import` and `export`: tools as protocol files, and as other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from atc.cli.options import force_option, json_option, learn_option, output_option, servers_options, tools_option
from atc.cli.output import json_text, print_json, print_text, say
from atc.cli.settings import load_config
from atc.cli.state import open_learned
from atc.cli.wiring import open_toolbox
from atc.terminal import count
from protocols.export import to_mcp, to_openapi
from protocols.files import write_whole
from protocols.protocol import McpBinding, PythonBinding, dump
from protocols.render import FULL, stubs
from protocols.toolbox import Toolbox


@click.command("import", epilog="Example: atc tools import https://example.org/openapi.json -o tools/")
@click.argument("source")
@click.option("-o", "--output", "folder", type=click.Path(path_type=Path), required=True, help="Folder of the files.")
@force_option
@learn_option
@servers_options
@json_option
def import_(source: str, *, folder: Path, force: bool, as_json: bool, **flags: Any) -> None:
    """Write each tool of SOURCE as a protocol file, to be read, edited and used with '--tools FOLDER'."""
    config = load_config({"tools": (source,), **flags})[0]
    learned = open_learned(config)
    with open_toolbox(config) as declared:
        toolbox = learned.over(declared) if learned is not None else declared
        seen = [alias for alias in toolbox if toolbox[alias] is not declared[alias]]
        texts = {folder / f"{tool.alias}.json": _text(dump(tool.protocol)) for tool in toolbox.values()}
        refused = [tool for tool in toolbox.values() if isinstance(tool.protocol.binding, PythonBinding)]
        served = {b.server for tool in toolbox.values() if isinstance(b := tool.protocol.binding, McpBinding)}
    there = [str(path) for path in texts if path.exists()]
    if there and not force:
        raise click.UsageError(f"{there[0]!r} exists; give --force to replace it, or another folder")
    for path, text in texts.items():
        write_whole(path, text)
    if as_json:
        print_json([str(path) for path in texts])
    else:
        say(f"{count(len(texts), 'tool')} written to {folder}; use them with: --tools {folder}")
    if seen:
        say(f"What {', '.join(seen)} answered in runs stands in place of what was declared; --no-learn leaves it out.")
    if refused:
        module = getattr(refused[0].protocol.binding, "module", "")
        say(f"A folder may not name Python code: name the module {module!r} as a source beside it.")
    for server in sorted(served - config.mcp.keys()):
        say(f"To call them, name their MCP server in your settings: [mcp.{server}] with its command or url.")


@click.command(epilog="Example: atc tools export --tools tools/ --format openapi -o openapi.json")
@tools_option
@servers_options
@click.option(
    "--format",
    "format_",
    type=click.Choice(["openapi", "mcp", "protocols", "stubs"]),
    default="openapi",
    show_default=True,
    help="An OpenAPI 3.1 document, MCP tools, protocols as one list, or Python stubs.",
)
@output_option
@json_option
def export(*, format_: str, path: Path | None, as_json: bool, **flags: Any) -> None:
    """Write the tools in another format. The formats but stubs are JSON; with --json stubs are one JSON text."""
    with open_toolbox(load_config(flags)[0]) as toolbox:
        result = _exported(toolbox, format_)
    plain = isinstance(result, str) and not as_json
    text = result if plain else _text(result)
    if path is None and plain:
        print_text(text.rstrip("\n"))
    elif path is None:
        click.echo(text, nl=False)
    else:
        write_whole(path, text)
        say(f"{count(len(toolbox), 'tool')} written to {path}")


def _exported(toolbox: Toolbox, format_: str) -> Any:
    protocols = [tool.protocol for tool in toolbox.values()]
    match format_:
        case "openapi":
            title = ", ".join(dict.fromkeys(tool.source for tool in toolbox.values())) or "tools"
            return to_openapi(protocols, title)
        case "mcp":
            return to_mcp(protocols)
        case "protocols":
            return [dump(protocol) for protocol in protocols]
        case _:
            return "from typing import Any, Literal, NotRequired, TypedDict\n\n" + stubs(toolbox, detail=FULL) + "\n"


def _text(document: Any) -> str:
    return json_text(document, indent=2) + "\n"
