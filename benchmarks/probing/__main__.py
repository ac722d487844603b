"""Tools of which little more than names is known, probed, and what came of it held against the truth.

Suites: 'toolflow' (reading operations of ToolFlow's services), 'writes' (all of their operations), 'rules' (fake tools
that hide one rule each), 'real' (httpbin, kinto, glances with their documents hidden), 'bfcl' (BFCL's classes as Python
sources), 'registry' (services as they come from the registries, with their own documents). All calls of services go
over real HTTP. A bench that was stopped goes on where it was.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from atc.cli.output import say
from atc.cli.probe import open_model
from atc.cli.settings import load_config
from benchmarks.probing import bfcl, real, registry, rules, toolflow
from benchmarks.probing.runs import Options, Suite
from benchmarks.runner import suite
from toolflow_bench.services.service import find_service

SUITES: dict[str, Suite] = {
    one.name: one for one in (toolflow.READS, toolflow.WRITES, rules.SUITE, real.SUITE, bfcl.SUITE, registry.SUITE)
}


@suite
@click.option("--suite", "suites", multiple=True, type=click.Choice(list(SUITES)), help="Repeatable. Default: all.")
@click.option("--services", multiple=True, metavar="NAME", help="These of ToolFlow's services alone; repeatable.")
@click.option("--model", default="none", show_default=True, help="Who suggests: none, 'local', or a model's name.")
@click.option("--calls", type=click.IntRange(1), default=15, show_default=True, help="Calls of one tool, at most.")
@click.option("--seed", type=int, default=0, show_default=True, help="What every draw starts from.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder of rows and protocols.")
def main(
    suites: tuple[str, ...],
    services: tuple[str, ...],
    model: str,
    calls: int,
    seed: int,
    out: Path | None,
) -> dict[str, Any]:
    for name in services:
        find_service(name)
    config = load_config({"model": model})[0]
    options = Options(
        out=out or config.state_dir / "bench" / "probing", cache=config.cache_dir, services=services, seed=seed,
        per_tool=calls, model=model,
    )  # fmt: skip
    say(f"probing: rows and protocols go to {options.out}")
    with open_model(config) as ask, options.rows() as rows:
        parts = {name: SUITES[name].run(replace(options, ask=ask), rows) for name in suites or SUITES}
    return {"suite": "probing", "model": model, "seed": seed, **parts}


if __name__ == "__main__":
    main()
