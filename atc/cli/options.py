"""The click classes of `atc`'s commands, and the options that several commands share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from atc.strategies import STRATEGIES
from protocols.call_limits import CALL_SECONDS, MAX_RESPONSE_MB

FC = TypeVar("FC", bound=Callable[..., Any])


class Verb(click.Command):
    """A click command with the option `--json`, and with `examples` at the end of its help.

    `atc.cli.output.as_json` returns whether the option was given.
    """

    def __init__(self, name: str | None, *, examples: Sequence[str], **more: Any) -> None:
        many = "\n  ".join(["\b\nExamples:", *examples])
        super().__init__(
            name, epilog=f"Example: {examples[0]}" if len(examples) == 1 else many, **more
        )
        flag = click.Option(
            ["--json", "as_json"],
            is_flag=True,
            expose_value=False,
            callback=lambda ctx, _, value: ctx.meta.update(as_json=value),
            help="Print the result as JSON.",
        )
        self.params.append(flag)


class VerbGroup(click.Group):
    """A click group whose subcommands are of the class `Verb`."""

    command_class = Verb


def combine_options(*options: Callable[[FC], FC]) -> Callable[[FC], FC]:
    """Return one decorator that adds several click options, in this order in the help."""

    def decorate(verb: FC) -> FC:
        for option in reversed(options):
            verb = option(verb)
        return verb

    return decorate


def _with_base_url(
    ctx: click.Context, _: click.Parameter, sources: tuple[str, ...]
) -> tuple[str, ...]:
    """Return the sources of --tools. If --base-url is given, append `@URL` to the only source.

    Raises:
        click.UsageError: --base-url is given, but not exactly one source.
    """
    base_url = ctx.meta.get("base_url")
    if base_url and len(sources) != 1:
        raise click.UsageError(
            "--base-url goes with exactly one --tools; of several, write 'SRC@URL'."
        )
    return tuple(f"{source}@{base_url}" for source in sources) if base_url else sources


def _read_base_url(ctx: click.Context, _: click.Parameter, url: str | None) -> None:
    """Store the value of --base-url, which `_with_base_url` reads.

    Raises:
        click.UsageError: The value is not an http or https address.
    """
    if url is not None and not url.lower().startswith(("http://", "https://")):
        raise click.UsageError(
            f"--base-url must begin with http:// or https://, and {url!r} does not"
        )
    ctx.meta.update(base_url=url)


POSITIVE = click.FloatRange(0, min_open=True)
AT_LEAST_ONE = click.IntRange(1)
FILE = click.Path(path_type=Path)

servers_options = combine_options(
    click.option(
        "--start-servers",
        is_flag=True,
        default=None,
        help="Start commands of MCP servers without asking.",
    ),
    click.option(
        "--trust-annotations",
        is_flag=True,
        default=None,
        help="Believe MCP servers which tools only read.",
    ),
)
tools_options = combine_options(
    click.option(
        "--tools",
        multiple=True,
        metavar="SRC",
        callback=_with_base_url,
        help="OpenAPI file or URL, protocol folder, Python module, HAR recording, MCP server"
        " ('mcp:COMMAND', 'mcp:URL'); repeatable. Default: the configured ones, else the built-in"
        " flights service.",
    ),
    click.option(
        "--base-url",
        metavar="URL",
        expose_value=False,
        is_eager=True,
        callback=_read_base_url,
        help="Where the service of the one source runs, as 'SRC@URL' says it.",
    ),
    servers_options,
)
strategy_option = click.option(
    "--strategy", metavar="NAME", help=f"How the task is solved: {', '.join(STRATEGIES)} (auto)."
)
jobs_option = click.option(
    "--jobs", type=AT_LEAST_ONE, metavar="N", help="At once (1, or two for each CPU of a cluster)."
)
workers_option = click.option(
    "--workers",
    metavar="ray[:ADDRESS]",
    help="Work on a Ray cluster: HOST:PORT, RAY_ADDRESS or this machine.",
)
model_option = click.option(
    "--model", metavar="NAME", help="'local', a model of the endpoint, or a .gguf file."
)
sandbox_option = click.option(
    "--sandbox", metavar="NAME", help="auto, zygote, docker, monty or unconfined."
)
allow_writes_option = click.option(
    "--allow-writes",
    multiple=True,
    metavar="TOOL",
    help="Tool that may change something, or 'all'. Repeatable.",
)
trust_option = click.option(
    "--trust",
    multiple=True,
    metavar="RULE",
    help="Where sensitive arguments may come from: TOOL, TOOL:PATH (contacts[].email) or"
    " value=TEXT; TOOL.ARGUMENT (query.sql) opens one argument to any value. Repeatable.",
)
consent_option = click.option(
    "--consent",
    type=click.Choice(["ask", "none"]),
    default="ask",
    help="none: a simulated world without a person, where no call asks; only for tools on this"
    " machine without a credential.",
)
learn_option = click.option(
    "--learn/--no-learn", default=None, help="Learn response schemas from calls (on)."
)
on_unknown_option = click.option(
    "--on-unknown",
    type=click.Choice(["stop", "skip"]),
    help="If nothing shows whether a write took effect: pause (default), or go on without it.",
)
after_option = click.option(
    "--after",
    metavar="RUN",
    help="Earlier run that TASK builds on: its id, the beginning or end of it, or 'last'. The new"
    " run gets its tools, model and settings unless options say otherwise, but no permission.",
)
_max_calls_option = click.option(
    "--max-calls",
    type=click.IntRange(0),
    metavar="N",
    help="Tool calls of one execution (500).",
)
_max_seconds_option = click.option(
    "--max-seconds",
    type=POSITIVE,
    metavar="S",
    help="Wall time of the run; of one resumed, from now.",
)
budget_options = combine_options(
    _max_calls_option,
    click.option("--max-tokens", type=AT_LEAST_ONE, metavar="N", help="Model tokens of the run."),
    click.option(
        "--max-model-calls", type=AT_LEAST_ONE, metavar="N", help="Requests to the model."
    ),
    _max_seconds_option,
    click.option(
        "--max-cost",
        type=POSITIVE,
        metavar="USD",
        help="What the model may cost, by its list price.",
    ),
)
call_limit_options = combine_options(
    click.option(
        "--call-seconds",
        type=POSITIVE,
        metavar="S",
        help=f"Seconds that one call may take ({CALL_SECONDS:g}).",
    ),
    click.option(
        "--max-response-mb",
        type=POSITIVE,
        metavar="MB",
        help=f"Size of a response in megabytes ({MAX_RESPONSE_MB:g}).",
    ),
)
program_budget_options = combine_options(_max_calls_option, _max_seconds_option)
now_option = click.option(
    "--now",
    metavar="TIME",
    help="Date and time of the programs' clock, such as 2023-11-30T09:15; UTC unless it says else.",
)
quiet_option = click.option(
    "--quiet",
    is_flag=True,
    expose_value=False,
    callback=lambda ctx, _, value: ctx.meta.update(quiet=value),
    help="Write nothing to stderr but errors and questions.",
)
files_option = click.option(
    "--files",
    metavar="DIR",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the files that the program prints or returns; none is replaced.",
)
answer_options = combine_options(
    click.option(
        "--csv",
        "as_csv",
        is_flag=True,
        help="Print the answer, a list of records, as CSV with a header.",
    ),
    click.option(
        "--table", "as_table", is_flag=True, help="Print the answer as a table in aligned columns."
    ),
    click.option(
        "--values", is_flag=True, help="Show the values that calls return, not only their shape."
    ),
    files_option,
)
output_option = click.option(
    "-o", "--output", "path", type=FILE, help="File to write, else stdout."
)
force_option = click.option("--force", is_flag=True, help="Replace files that are there.")
