"""`atc bench fresh`: a new split of ToolFlow, with constants that no training set has seen."""

from __future__ import annotations

import json
from pathlib import Path

import click

from atc.cli.bars import bar
from atc.cli.options import json_option
from atc.cli.output import count, print_json, print_text
from atc.cli.settings import load_config

_EPILOG = """\b
Examples:
  atc bench fresh --seed 7 -o fresh-7
  atc bench run toolflow --data fresh-7 --model gpt-5
"""


@click.command(epilog=_EPILOG)
@click.option("--seed", type=int, required=True, metavar="N", help="What constants and wordings are drawn by.")
@click.option("--tasks", "wanted", type=click.IntRange(1, 1000), default=100, show_default=True, metavar="N")
@click.option("-o", "--out", type=click.Path(path_type=Path), required=True, metavar="DIR", help="Folder of the tasks.")
@json_option
def fresh(*, seed: int, wanted: int, out: Path, as_json: bool) -> None:
    """Draw new tasks: known data flows and wordings with new constants.

    Each answer is derived twice, by the program over HTTP and by the query on the data; what does not agree is drawn
    again. Needs a checkout of the project: the wheel does not hold the recipes.
    """
    try:
        from toolflow_bench.recipes.fresh import fresh_tasks
        from toolflow_bench.task import to_document
    except ImportError as error:
        raise click.UsageError(
            "'fresh' needs a checkout of the project: the installed package has no recipes, so that gold programs "
            "are not in it; clone the repository and run it there."
        ) from error
    path = out / f"fresh-{seed}.jsonl"
    if path.exists():
        raise click.UsageError(f"{str(path)!r} is there already; give another -o, or remove it.")
    lines = []
    with bar("drawing", total=wanted) as advance:
        for task in fresh_tasks(wanted, seed=seed, folder=load_config({})[0].cache_dir):
            lines.append(json.dumps(to_document(task), ensure_ascii=False))
            advance(len(lines))
    out.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    if as_json:
        print_json({"tasks": len(lines), "file": str(path)})
    else:
        print_text(f"{path}: {count(len(lines), 'task')}")
