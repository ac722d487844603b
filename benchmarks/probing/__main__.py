"""Tools of which little more than names is known, probed, and what came of it held against the truth.

Suites: 'toolflow' (reading operations of ToolFlow's services), 'writes' (all of their operations), 'rules' (fake tools
that hide one rule each), 'real' (httpbin, kinto, glances with their documents hidden), 'bfcl' (BFCL's classes as Python
sources), 'registry' (services as they come from the registries, with their own documents). All calls of services go
over real HTTP. A bench that was stopped goes on where it was.
"""

from __future__ import annotations

import json
import sys
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from atc.cli.output import json_text, print_json, print_text, say
from atc.cli.probe import open_model
from atc.cli.settings import load_config
from benchmarks.probing import bfcl, real, registry, rules, toolflow
from benchmarks.probing.runs import Options, Rows, Suite, run_suite
from protocols.errors import AtcError
from protocols.files import write_whole
from toolflow_bench.services.service import find_service

SUITES: dict[str, Suite] = {
    one.name: one for one in (toolflow.READS, toolflow.WRITES, rules.SUITE, real.SUITE, bfcl.SUITE, registry.SUITE)
}


@click.command(help=__doc__)
@click.option("--suite", "suites", multiple=True, type=click.Choice(list(SUITES)), help="Repeatable. Default: all.")
@click.option(
    "--setting",
    "settings",
    multiple=True,
    type=click.Choice(["names", "types"]),
    help="What is known of arguments before: their names, or their types too; repeatable. Default: both.",
)
@click.option("--services", multiple=True, metavar="NAME", help="These of ToolFlow's services alone; repeatable.")
@click.option("--model", default="none", show_default=True, help="Who suggests: none, 'local', or a model's name.")
@click.option("--calls", type=click.IntRange(1), default=15, show_default=True, help="Calls of one tool, at most.")
@click.option("--seed", type=int, default=0, show_default=True, help="What every draw starts from.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder of rows, protocols, the report.")
@click.option("--json", "as_json", is_flag=True, help="The report as JSON.")
def main(
    *,
    suites: tuple[str, ...],
    settings: tuple[str, ...],
    services: tuple[str, ...],
    model: str,
    calls: int,
    seed: int,
    out: Path | None,
    as_json: bool,
) -> None:
    """Measure, then print a table a suite, or the report as JSON."""
    named = tuple(name for one in services for name in one.split(",") if name)
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
        model=model,
    )
    say(f"probing: rows and protocols go to {options.out}")
    chosen = [SUITES[name] for name in suites or SUITES]
    with open_model(config) as ask, closing(Rows(options)) as rows:
        parts = {one.name: run_suite(one, replace(options, ask=ask), rows, say=say) for one in chosen}
    report: dict[str, Any] = {"suite": "probing", "model": model, "seed": seed, "parts": parts}
    write_whole(options.out / "report.json", json_text(report, indent=1) + "\n")
    if as_json:
        print_json(report)
        return
    for one in chosen:
        rows_of = list(parts[one.name]["units"].values())
        print_text("\n".join((f"# {one.summary}", "", *one.lines(rows_of, parts[one.name]["total"]), "")))


if __name__ == "__main__":
    try:
        main()
    except AtcError as error:
        say(str(error))
        sys.exit(3)
    except json.JSONDecodeError as error:
        say(f"the file of rows cannot be read ({error}); give another --out.")
        sys.exit(2)
