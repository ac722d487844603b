"""`atc tools`: list and show tools, and export them as protocol files or in other formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from atc.archive.learned_schemas import export_tool
from atc.archive.saved_programs import check_saved_tools
from atc.cli import options, output, wiring
from atc.cli.tool_call import call
from atc.cli.tool_login import login
from atc.cli.tool_search import index, search
from atc.cli.tool_text import describe_tool, effect, format_tool, tool_document
from atc.core.text import count
from atc.settings.reading import load_config
from protocols.export import mcp_tool, to_openapi
from protocols.private_files import write_whole
from protocols.protocol import dump


@click.group(cls=options.VerbGroup)
def tools() -> None:
    """List, search, call and convert tools.

    Tools come from --tools, else from the configuration, else from the built-in flights service.
    """


for command in (search, index, call, login):
    tools.add_command(command)


@tools.command("list", examples=["atc tools list --tools openapi.json"])
@options.tools_options
def list_(**flags: Any) -> None:
    """List every tool, and whether it only reads."""
    config = load_config(flags)
    with wiring.open_toolbox(config) as toolbox:
        rows = [(tool.alias, effect(tool), describe_tool(tool)) for tool in toolbox.values()]
        output.print_result([tool_document(tool) for tool in toolbox.values()], rows)
        for sentence in (*toolbox.notes, *toolbox.repairs):
            output.say(f"{sentence[:1].upper()}{sentence[1:]}")
        for name, tool, why in check_saved_tools(toolbox, wiring.saved_folder(config)):
            if tool is None:
                output.say(f"The saved tool {name} is not offered: {why}.")


@tools.command(examples=["atc tools show get_airport --json"])
@click.argument("name")
@options.tools_options
def show(name: str, **flags: Any) -> None:
    """Show the tool NAME as programs see it; with --json, its protocol."""
    with wiring.open_toolbox(load_config(flags)) as toolbox:
        tool = toolbox.find(name)
        output.print_result(dump(tool.protocol), format_tool(tool, toolbox))


@tools.command("import", examples=["atc tools import https://example.org/openapi.json -o tools/"])
@click.argument("source")
@click.option(
    "-o", "--output", "folder", type=options.FILE, required=True, help="Folder of the files."
)
@options.force_option
@options.learn_option
@options.servers_options
def import_(source: str, *, folder: Path, force: bool, **flags: Any) -> None:
    """Write each tool of SOURCE as a protocol file.

    You can read and edit the files, and use them with '--tools FOLDER'.
    """
    config = load_config({"tools": (source,), **flags})
    learned = wiring.open_learned(config)
    with wiring.open_toolbox(config, saved=False, whole=True) as declared:
        toolbox = learned.apply_to(declared) if learned is not None else declared
        toolbox = toolbox.map(lambda tool: export_tool(tool, declared[tool.alias]))
        seen = [alias for alias in toolbox if toolbox[alias] is not declared[alias]]
        texts = {
            folder / f"{tool.alias}.json": _json_text(dump(tool.protocol))
            for tool in toolbox.values()
        }
    for path in texts:
        output.require_new(path, force=force)
    for path, text in texts.items():
        write_whole(path, text)
    output.print_result([str(path) for path in texts])
    output.say(f"{count(len(texts), 'tool')} written to {folder}; use them with: --tools {folder}")
    if seen:
        output.say(
            f"What {', '.join(seen)} answered in runs stands in place of what was declared;"
            " --no-learn leaves it out."
        )


@tools.command(
    "export", examples=["atc tools export --tools tools/ --format openapi -o openapi.json"]
)
@options.tools_options
@click.option(
    "--format",
    "format_",
    type=click.Choice(["openapi", "mcp"]),
    default="openapi",
    show_default=True,
    help="An OpenAPI 3.1 document, or MCP tools.",
)
@options.output_option
def export(*, format_: str, path: Path | None, **flags: Any) -> None:
    """Write the tools as an OpenAPI document, or as MCP tools, in JSON."""
    with wiring.open_toolbox(load_config(flags), saved=False, whole=True) as toolbox:
        protocols = [tool.protocol for tool in toolbox.values()]
        title = ", ".join(dict.fromkeys(tool.source for tool in toolbox.values())) or "tools"
        text = _json_text(
            [mcp_tool(one) for one in protocols]
            if format_ == "mcp"
            else to_openapi(protocols, title)
        )
    if path is None:
        output.print_text(text.rstrip("\n"))
        return
    write_whole(path, text)
    output.say(f"{count(len(toolbox), 'tool')} written to {path}")


def _json_text(document: Any) -> str:
    """Return a document as indented JSON that ends with a newline."""
    return output.json_text(document, indent=2) + "\n"
