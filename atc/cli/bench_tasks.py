"""`atc bench check` and `atc bench fresh`: ToolFlow's tasks, each answer derived anew, and new ones drawn."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import click

from atc.cli.options import FILE, json_option
from atc.cli.output import print_columns, print_json, print_result, print_text, say
from atc.cli.progress import bar
from atc.cli.settings import load_config
from atc.terminal import count
from toolflow_bench.checks.suite import check_tasks
from toolflow_bench.task import load_tasks, require_gold, to_document

_FRESH_EPILOG = """\b
Examples:
  atc bench fresh --seed 7 -o fresh-7
  atc bench run toolflow --data fresh-7 --model gpt-5
"""


@click.command(epilog="Example: atc bench check --tasks my-tasks --json")
@click.option("--tasks", "folder", type=FILE, metavar="DIR", help="A folder of tasks (*.jsonl) of your own.")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, metavar="N", help="Checked at once.")
@json_option
def check(*, folder: Path | None, jobs: int, as_json: bool) -> None:
    """Derive every gold answer anew, twice, and see that tasks are fit to measure with.

    The gold program of each task runs in the sandbox over HTTP, its query runs straight on the data, and both must give
    the answer of the file. Then the result of each call is taken away in turn: the answer must change. Exit status 1
    if a task has a problem.
    """
    tasks = load_tasks(folder)
    require_gold(tasks)
    say(f"checking {count(len(tasks), 'task')}")
    cache = load_config({})[0].cache_dir
    with bar("checking", total=len(tasks)) as advance:
        on_task = lambda _task, done, _total: advance(done)  # noqa: E731 - the bar takes one number
        checked = check_tasks(tasks, folder=cache, jobs=jobs, on_task=on_task)
    if as_json:
        print_json(checked.as_json())
    else:
        for problem in checked.problems:
            print_text(f"problem  {problem}")
        print_columns((name, str(value)) for name, value in checked.as_json().items() if name != "problems")
    sys.exit(1 if checked.problems else 0)


@click.command(epilog=_FRESH_EPILOG)
@click.option("--seed", type=int, required=True, metavar="N", help="What constants and wordings are drawn by.")
@click.option("--tasks", "wanted", type=click.IntRange(1, 1000), default=100, show_default=True, metavar="N")
@click.option("-o", "--out", type=FILE, required=True, metavar="DIR", help="Folder of the tasks.")
@json_option
def fresh(*, seed: int, wanted: int, out: Path, as_json: bool) -> None:
    """Draw new tasks: known data flows and wordings with new constants.

    Each answer is derived twice, by the program over HTTP and by the query on the data; what does not agree is drawn
    again. Needs a checkout of the project: the wheel does not hold the recipes.
    """
    try:
        from toolflow_bench.recipes.fresh import fresh_tasks
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
    told = f"{path}: {count(len(lines), 'task')}"
    print_result({"tasks": len(lines), "file": str(path)}, told, as_json=as_json)
