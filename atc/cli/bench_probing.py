"""`atc bench run probing`: tools without documentation, probed, and what came of it held against the truth."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from atc.cli.bench_run import named_services
from atc.cli.options import json_option
from atc.cli.output import json_text, print_json, print_text, say
from protocols.files import write_whole

_EPILOG = """\b
Examples:
  atc bench run probing
  atc bench run probing --suite toolflow --setting names --services flights
  atc bench run probing --suite rules --out probing --json
"""


@click.command(epilog=_EPILOG)
@click.option("--suite", "suites", multiple=True, metavar="NAME", help="Only this part; repeatable. Default: all.")
@click.option(
    "--setting",
    "settings",
    multiple=True,
    type=click.Choice(["names", "types"]),
    help="What is known of arguments before: their names, or their types too; repeatable. Default: both.",
)
@click.option("--services", multiple=True, metavar="NAMES", help="These services alone, with commas; repeatable.")
@click.option(
    "--model",
    default="none",
    show_default=True,
    metavar="NAME",
    help="Who suggests: none, 'local', a model of the endpoint, or a .gguf file.",
)
@click.option(
    "--calls", type=click.IntRange(1), default=15, show_default=True, metavar="N", help="Calls of one tool, at most."
)
@click.option(
    "--recordings",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of recorded responses (AutoTools' tools.json), for the part 'recordings'.",
)
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="What every draw starts from.")
@click.option(
    "--out",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="Folder of rows, protocols and the report; what has a row there is not measured again.",
)
@json_option
def probing(
    *,
    suites: tuple[str, ...],
    settings: tuple[str, ...],
    services: tuple[str, ...],
    model: str,
    calls: int,
    recordings: Path | None,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Probe tools of which little more than names is known, and score the protocols against the truth.

    The parts: 'toolflow' (reading operations of ToolFlow's services), 'writes' (all of their operations), 'rules' (fake
    tools that hide one rule each), 'gold' (gold programs in the static check against probed protocols), 'recordings'
    (schemas of responses
    that others recorded), 'real' (httpbin, kinto, glances), 'bfcl' (BFCL's classes as Python sources), 'mcp' (MCP
    servers of others). All calls go over real HTTP to services that tell nothing of
    themselves. A bench that was stopped goes on where it was.
    """
    from atc.cli.models import told_in_tenths
    from atc.cli.probe_setup import open_model
    from atc.cli.settings import load_config
    from toolflow_bench.probing.part import Options, run_part
    from toolflow_bench.probing.parts import NAMES, find_part
    from toolflow_bench.services.service import find_service

    parts = [find_part(name) for name in suites or NAMES]
    named = named_services(services)
    for name in named:
        find_service(name)
    config = load_config({"model": model})[0]
    options = Options(
        out=out or config.state_dir / "bench" / "probing",
        cache=config.cache_dir,
        settings=settings or ("names", "types"),
        services=named,
        per_tool=calls,
        seed=seed,
        recordings=recordings,
        model=model,
    )
    say(f"probing: rows and protocols go to {options.out}")
    with open_model(config, progress=told_in_tenths()) as (ask, sandbox):
        asked = replace(options, ask=ask, sandbox=sandbox)
        measured = [run_part(part, asked, on_unit=_told(part.name)) for part in parts]
    report: dict[str, Any] = {
        "suite": "probing",
        "model": model,
        "seed": seed,
        "parts": {one.part.name: one.as_json() for one in measured},
    }
    write_whole(options.out / "report.json", json_text(report, indent=1) + "\n")
    if as_json:
        print_json(report)
    else:
        print_text("\n".join(line for one in measured for line in (f"# {one.part.summary}", "", *one.lines(), "")))


def _told(part: str) -> Any:
    def tell(unit: str, known: bool) -> None:
        say(f"{part}: {unit}{' (measured before)' if known else ''}")

    return tell
