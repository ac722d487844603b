"""Tools of which little more than names is known, probed, and what came of it held against the truth.

Suites: 'toolflow' (reading operations of ToolFlow's services), 'writes' (all of their operations), 'real' (httpbin,
kinto, glances with their documents hidden), 'bfcl' (BFCL's classes as Python sources), 'registry' (services as they
come from the registries, with their own documents). All calls of services go over real HTTP.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from atc.cli.output import say
from atc.cli.probe_sources import open_model
from atc.cli.settings import load_config
from benchmarks.catalogues import CLASSES
from benchmarks.probing import suites
from benchmarks.probing.score import Options, Row, summed
from benchmarks.probing.suites import SERVICES
from benchmarks.runner import suite, tracked
from toolflow_bench.services.service import NAMES

MEASURES: dict[str, Callable[[str, Options], Row]] = {
    "toolflow": suites.toolflow,
    "writes": partial(suites.toolflow, writes=True),
    "real": suites.real,
    "bfcl": suites.bfcl,
    "registry": suites.registry,
}


def units(name: str) -> Sequence[str]:
    """What a suite measures one by one."""
    if name in ("toolflow", "writes"):
        return NAMES
    if name == "bfcl":
        return list(CLASSES) if find_spec("bfcl_eval") else []
    if name == "real":
        return [one for one, service in SERVICES.items() if "told" in service and find_spec(one)]
    return [one for one, service in SERVICES.items() if "shows" in service]


def left_behind(rows: Sequence[Row]) -> Row:
    """Records that no report names, and records of others that changed."""
    return {key: sum(row[key] for row in rows) for key in ("unnamed", "foreign")}


@suite
@click.option("--suite", "chosen", multiple=True, type=click.Choice(list(MEASURES)), help="Repeatable. Default: all.")
@click.option("--services", multiple=True, metavar="NAME", help="These services alone; repeatable.")
@click.option("--model", default="none", show_default=True, help="Who suggests: none, 'local', or a model's name.")
@click.option("--calls", type=click.IntRange(1), default=15, show_default=True, help="Calls of one tool, at most.")
@click.option("--out", type=click.Path(path_type=Path), metavar="DIR", help="Folder of the probed protocols.")
def main(
    chosen: tuple[str, ...], services: tuple[str, ...], model: str, calls: int, out: Path | None
) -> dict[str, Any]:
    config = load_config({"model": model})[0]
    folder = out or config.state_dir / "bench" / "probing"
    say(f"probing: protocols go to {folder}")
    parts = {}
    with open_model(config) as ask:
        options = Options(out=folder, cache=config.cache_dir, per_tool=calls, model=model, ask=ask)
        for name in chosen or MEASURES:
            mine, own = (
                [one for one in units(name) if one in services or not services],
                replace(options, out=folder / name),
            )
            rows = {unit: MEASURES[name](unit, own) for unit in tracked(name, mine, total=len(mine))}
            total = left_behind if name == "registry" else summed
            parts[name] = {"units": rows, "total": total(list(rows.values())) if rows else {}}
    return {"suite": "probing", "model": model, **parts}


if __name__ == "__main__":
    main()
