"""`atc tools`: list, show, search and call tools, and write them as protocol files or in other
formats.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from atc.archive.learned_schemas import export_tool
from atc.archive.saved_programs import check_saved_tools
from atc.cli import options, output, wiring
from atc.cli.errors import error_document
from atc.cli.settings import load_config
from atc.core.quoting import quote_name
from atc.core.text import count
from atc.pipeline.retrieve.document import documents
from atc.pipeline.retrieve.expand import expand_all
from atc.pipeline.retrieve.finder import open_finder, open_index, resolve_method
from atc.pipeline.retrieve.methods import read_method
from atc.safety.consent import Consent
from atc.safety.held_calls import HeldCalls
from protocols.documentation import docs_page
from protocols.errors import CredentialMissing, ToolError
from protocols.export import mcp_tool, to_openapi
from protocols.private_files import write_whole
from protocols.protocol import HttpBinding, dump, format_binding
from protocols.render import FULL, stubs
from protocols.schema import Json, loads, type_name
from protocols.toolbox import Tool, Toolbox
from protocols.validate import find_violation
from sandbox.arguments import BadArguments, contract
from sandbox.base import Paused
from sandbox.journal import Journal

_METHODS = (
    "How: auto (default), bm25, dense, hybrid, blend, d2q, reinvoke, hyde, q2e, q2d, toolqp, anytool …, with flags as "
    "in reinvoke:queries=5,on=bm25."
)
_embedder_option = click.option(
    "--embedder", metavar="NAME", help="An embedding model of 'atc models list', or openai:NAME."
)


@click.group(cls=options.VerbGroup)
def tools() -> None:
    """List, search, call and convert tools.

    Tools come from --tools, else from the configuration, else from the built-in flights service.
    """


@tools.command("list", examples=["atc tools list --tools openapi.json"])
@options.tools_options
def list_(**flags: Any) -> None:
    """Every tool, and whether it only reads."""
    config = load_config(flags)
    with wiring.open_toolbox(config) as toolbox:
        rows = [(tool.alias, _effect(tool), _summary(tool)) for tool in toolbox.values()]
        output.print_result([_line(tool) for tool in toolbox.values()], rows)
        for name, tool, why in check_saved_tools(toolbox, wiring.saved_folder(config)):
            if tool is None:
                output.say(f"The saved tool {name} is not offered: {why}.")


@tools.command(examples=["atc tools show get_airport --json"])
@click.argument("name")
@options.tools_options
def show(name: str, **flags: Any) -> None:
    """The tool NAME, as programs see it; with --json, its protocol."""
    with wiring.open_toolbox(load_config(flags)) as toolbox:
        tool = toolbox.find(name)
        output.print_result(dump(tool.protocol), _format_tool_page(tool, toolbox))


@tools.command(
    examples=[
        "atc tools search weather at an airport -k 3",
        "atc tools search --method bm25 planes of an airline",
        "atc tools search --explain --method toolqp:queries=6 --model local late flights and their planes",
    ]
)
@click.argument("query", nargs=-1, required=True)
@click.option(
    "-k", type=options.AT_LEAST_ONE, default=10, show_default=True, metavar="N", help="At most N."
)
@click.option("--method", "retrieval", metavar="NAME", help=_METHODS)
@click.option("--explain", is_flag=True, help="Also show how they were found.")
@options.model_option
@_embedder_option
@options.tools_options
def search(query: tuple[str, ...], *, k: int, explain: bool, **flags: Any) -> None:
    """The tools that fit QUERY, best first.

    Those that make the ids which they need follow. A tool that QUERY names comes first. Methods
    from reinvoke on ask a model for each query.
    """
    text = " ".join(query)
    config = load_config(flags)
    with ExitStack() as stack:
        toolbox = stack.enter_context(wiring.open_toolbox(config))
        index = open_index(toolbox, config, method=config.retrieval)
        stack.callback(index.close)
        method = resolve_method(config.retrieval, index)
        ask = (
            stack.enter_context(wiring.open_model(config)) if read_method(method)[0].asks else None
        )
        found = open_finder(method, index, toolbox, ask=ask).search(text, k=k)
        lines = [
            _line(toolbox[hit.tool]) | {"score": round(hit.score, 4), "why": hit.why}
            for hit in found.hits
        ]
        shown = [
            (hit, f"{_summary(toolbox[hit.tool])}{f' [{hit.why}]' if hit.why else ''}")
            for hit in found.hits
        ]
        report = {
            "method": method,
            "transcript": found.transcript,
            "usage": asdict(found.usage),
            "hits": lines,
        }
        output.print_result(
            report if explain else lines,
            [(f"{hit.score:.2f}", hit.tool, said) for hit, said in shown],
        )
        for line in (method, *found.transcript) if explain else ():
            output.say(line)
        if not lines:
            output.say(
                f"None of the {len(toolbox)} tools fits {text!r}; 'atc tools list' shows all."
            )


@tools.command(
    examples=[
        "atc tools index --tools openapi.json",
        "atc tools index --tools openapi.json --expand --model local",
        "atc tools index --tools catalogue/ --workers ray:10.0.0.5:6379",
    ]
)
@_embedder_option
@click.option("--words-only", is_flag=True, help="No vectors: search by words alone.")
@click.option(
    "--expand",
    is_flag=True,
    help="Let the model write questions that each tool answers (Re-Invoke).",
)
@click.option("--queries", type=click.IntRange(1, 50), default=10, show_default=True, metavar="N",
              help="Of --expand: questions a tool.")  # fmt: skip
@options.jobs_option
@options.workers_option
@options.model_option
@options.tools_options
def index(*, words_only: bool, expand: bool, queries: int, jobs: int | None, **flags: Any) -> None:
    """Prepare searching by words, vectors and questions.

    Only what has changed is read again; questions that were kept are not asked for again, and a
    fetch or a model that fails loses nothing. Half a minute a tool with the embedded model;
    --queries 3 is most of the gain in a third of that. The setting 'index' names the folder that
    keeps them, else it is one in the cache for these sources.
    """
    config = load_config(flags)
    began = time.monotonic()
    asked = 0
    with ExitStack() as stack:
        toolbox = stack.enter_context(wiring.open_toolbox(config))
        pool = stack.enter_context(wiring.open_pool(config, jobs))
        embedding = (
            pool if config.workers is not None else None
        )  # here, a model takes all cores by itself
        with output.bar("Reading tools", total=len(toolbox)) as advance:
            method = "bm25" if words_only else "hybrid"
            made = open_index(toolbox, config, method=method, pool=embedding, watch=advance)
        if expand:
            shared = stack.enter_context(wiring.SharedResources(config))
            with output.bar("Asking for questions", total=len(toolbox)) as advance:
                texts = documents(toolbox.values())
                usage = expand_all(
                    texts, made.store, lambda: shared.ask, queries=queries, pool=pool, watch=advance
                )
                asked = usage.model_calls
        report = {
            "tools": len(made.names),
            "embedder": made.dense.embedder.name if made.dense is not None else None,
            "expanded": made.store.expanded_count,
            "model_calls": asked,
            "folder": str(made.folder) if made.folder is not None else None,
            "seconds": round(time.monotonic() - began, 2),
        }
    how = f"vectors by {report['embedder']}" if report["embedder"] else "words alone"
    place = report["folder"] or "memory: tools without a source are indexed anew each time"
    text = f"{report['tools']} tools: {how}, questions for {report['expanded']}; {report['seconds']} s; kept in {place}"
    output.print_result(report, text)


@tools.command(examples=["atc tools call get_airport code=JFK"])
@click.argument("name")
@click.argument("arguments", nargs=-1, metavar="[ARGUMENT=VALUE]...")
@options.allow_writes_option
@options.tools_options
def call(name: str, arguments: tuple[str, ...], **flags: Any) -> None:
    """Call the tool NAME and print its whole response as JSON.

    ARGUMENT=VALUE is read as the argument's schema says, ARGUMENT:=JSON as it stands. --json adds
    time, drift and errors around the response. A call that somebody declined, or that a client of
    'atc serve' waits for, asks on the terminal, whatever is allowed. Exit status 1: the tool said
    no, or a write was not allowed; 3: its credential is missing; 130: interrupted, and it says
    whether the call was sent.
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
        consent = Consent(
            "", toolbox, config, wiring.make_asker(), Journal(), held=HeldCalls(questions)
        )
        guarded = consent.toolbox[tool.alias]
        consent.accept_arguments(guarded, values)  # what a person types is theirs
        began = time.monotonic()
        report: dict[str, Any] = {
            "tool": tool.alias,
            "arguments": values,
            "result": None,
            "error": None,
        }
        report |= {"status": None, "outcome": "done", "curl": None, "drift": ()}
        code, outcome = _call_guarded(guarded, values)
        report |= outcome
        report["seconds"] = round(time.monotonic() - began, 4)
    shown = "" if code else output.json_text(report["result"], indent=2)
    output.print_result(report | error_document(report["error"], code), shown)
    for clause in report["drift"]:
        output.say(f"The response departs from its protocol: {clause}")
    if not code:
        return
    output.say(f"atc: {report['error']}")
    if report["curl"] and not output.as_json():
        output.say(f"Repeat it with: {report['curl']}")
    binding = tool.protocol.binding
    if (
        report["status"] == 401
        and isinstance(binding, HttpBinding)
        and not any(binding.credentials)
    ):
        page = docs_page("reference/configuration#credentials")
        output.say(
            f"Its document declares no credential. If it wants one, {page} shows how to say which."
        )
    sys.exit(code)


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

    The files are to be read, edited and used with '--tools FOLDER'.
    """
    config = load_config({"tools": (source,), **flags})
    learned = wiring.open_learned(config)
    with wiring.open_toolbox(config, saved=False) as declared:
        toolbox = learned.apply_to(declared) if learned is not None else declared
        toolbox = toolbox.map(lambda tool: export_tool(tool, declared[tool.alias]))
        seen = [alias for alias in toolbox if toolbox[alias] is not declared[alias]]
        texts = {
            folder / f"{tool.alias}.json": _text(dump(tool.protocol)) for tool in toolbox.values()
        }
    for path in texts:
        output.require_new(path, force=force)
    for path, text in texts.items():
        write_whole(path, text)
    output.print_result([str(path) for path in texts])
    output.say(f"{count(len(texts), 'tool')} written to {folder}; use them with: --tools {folder}")
    if seen:
        output.say(
            f"What {', '.join(seen)} answered in runs stands in place of what was declared; --no-learn leaves it out."
        )


@tools.command(
    "export", examples=["atc tools export --tools tools/ --format openapi -o openapi.json"]
)
@options.tools_options
@click.option("--format", "format_", type=click.Choice(["openapi", "mcp"]), default="openapi", show_default=True,
              help="An OpenAPI 3.1 document, or MCP tools.")  # fmt: skip
@options.output_option
def export(*, format_: str, path: Path | None, **flags: Any) -> None:
    """Write the tools in another format, as JSON."""
    with wiring.open_toolbox(load_config(flags), saved=False) as toolbox:
        protocols = [tool.protocol for tool in toolbox.values()]
        title = ", ".join(dict.fromkeys(tool.source for tool in toolbox.values())) or "tools"
        text = _text(
            [mcp_tool(one) for one in protocols]
            if format_ == "mcp"
            else to_openapi(protocols, title)
        )
    if path is None:
        output.print_text(text.rstrip("\n"))
        return
    write_whole(path, text)
    output.say(f"{count(len(toolbox), 'tool')} written to {path}")


def _call_guarded(tool: Tool, values: dict[str, Json]) -> tuple[int, dict[str, Any]]:
    """Call a tool behind its gate; return the exit code, and the entries of the report that it
    changes.
    """
    sent = False
    try:
        if tool.admit is not None:
            tool.admit(values)
        sent = True
        result = tool.call(values)
    except ToolError as error:
        failed = {
            "error": str(error),
            "status": error.status,
            "outcome": error.outcome,
            "curl": error.curl,
        }
        return (3 if isinstance(error, CredentialMissing) else 1), failed
    except Paused as pause:
        return 1, {"error": str(pause), "outcome": "not_run"}
    except KeyboardInterrupt:
        return 130, _explain_interrupt(tool, sent=sent)
    broken = find_violation(tool.protocol.output_schema or {}, result)
    drift = [] if broken is None else [f"{broken.path}: {broken.message}".lstrip(": ")]
    return 0, {"result": result, "drift": drift}


def _explain_interrupt(tool: Tool, *, sent: bool) -> dict[str, str]:
    """Return the entries of a call's report if Ctrl-C ended it. `sent` is True once the call went
    to the service.
    """
    if not sent:
        return {"error": "interrupted; nothing was sent.", "outcome": "not_run"}
    if not tool.protocol.writes:
        return {"error": "interrupted.", "outcome": "unknown"}
    return {
        "error": f"interrupted; {quote_name(tool.alias)} was sent and its answer is not known: look at the service"
        " before you repeat it.",
        "outcome": "unknown",
    }


def _line(tool: Tool) -> dict[str, Any]:
    """Return a tool as an object for the JSON of a list."""
    return {
        "alias": tool.alias,
        "name": tool.protocol.name,
        "source": tool.source,
        "writes": tool.protocol.writes,
        "title": tool.protocol.title,
        "description": tool.protocol.description,
        "arguments": list(tool.arguments),
        "required": sorted(tool.required),
    }


def _summary(tool: Tool) -> str:
    """Return what a tool does, on one line."""
    text = tool.protocol.description or tool.protocol.title
    return " ".join(text.partition("\n\n")[0].split())


def _text(document: Any) -> str:
    return output.json_text(document, indent=2) + "\n"


def _effect(tool: Tool) -> str:
    return "writes" if tool.protocol.writes else "reads"


def _format_tool_page(tool: Tool, toolbox: Toolbox) -> str:
    """Return the page of a tool: its stub, how it is called, its errors, and where its ids come
    from.
    """
    protocol = tool.protocol
    how = format_binding(protocol.binding) or "no binding, so it cannot be called"
    lines = [stubs(toolbox.only([tool.alias]), detail=FULL), ""]
    lines.append(f"# {_effect(tool)}; {how}; from {tool.source or 'an unnamed source'}")
    errors = {error.status: " ".join(error.description.split()) for error in protocol.errors}
    lines += [f"# {status}: {meaning}".removesuffix(": ") for status, meaning in errors.items()]
    aliases = {(one.source, one.protocol.name): one.alias for one in toolbox.values()}
    for link in protocol.links:
        producer = aliases.get((tool.source, link.tool), link.tool)
        lines.append(f"# {link.argument}: from {producer} at {link.path} ({link.support})")
    return "\n".join(lines)


def _read_arguments(words: Sequence[str], tool: Tool) -> dict[str, Json]:
    """Return the arguments by original name, checked as those of a program are.

    `name=text` is read as the argument's type says; `name:=JSON` is read as JSON.

    Raises:
        click.UsageError: A word, a name or a value does not fit, or an argument is missing.
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
    name, separator, text = word.partition("=")
    if not separator:
        raise click.UsageError(f"{word!r} is no argument; write NAME=VALUE, or NAME:=JSON")
    plain = name.removesuffix(":")
    alias = aliases.get(plain, plain)
    return alias, _parse_argument_value(text, types.get(alias, ())) if plain == name else _json(
        text, plain
    )


def _parse_argument_value(text: str, kinds: Sequence[str]) -> Json:
    """Return the value that `text` spells for an argument of one of the types `kinds`; no `kinds`
    stand for any type.

    It is read as JSON if that gives one of the types, else it is a text, or a list with the text if
    only lists fit.
    """
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        value = text
    kind = type_name(value)
    if kind != "string" and (
        not kinds or kind in kinds or (kind == "integer" and "number" in kinds)
    ):
        return value
    if not kinds or "string" in kinds:
        return text
    return [text] if "array" in kinds else value


def _json(text: str, name: str) -> Json:
    try:
        return loads(text)
    except (ValueError, RecursionError) as error:
        raise click.UsageError(f"{name!r}: {text[:40]!r} is not JSON ({error})") from error
