"""`atc bench check`: ToolFlow's tasks, each gold answer derived anew, twice."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from atc.cli.bars import bar
from atc.cli.options import json_option
from atc.cli.output import count, print_json, print_text, say
from atc.cli.settings import load_config
from toolflow_bench.checks.suite import Checked, check_tasks
from toolflow_bench.task import load_tasks, require_gold

_EPILOG = """\b
Examples:
  atc bench check
  atc bench check --tasks my-tasks --quick --json
"""


@click.command(epilog=_EPILOG)
@click.option(
    "--tasks",
    "folder",
    type=click.Path(path_type=Path),
    metavar="DIR",
    help="A folder of tasks (*.jsonl) of your own; the totals that ToolFlow must reach are not asked of it.",
)
@click.option("--quick", is_flag=True, help="Replace the results of whole lines only, not of single calls.")
@click.option("--jobs", type=click.IntRange(1, 64), default=2, show_default=True, metavar="N", help="Checked at once.")
@json_option
def check(*, folder: Path | None, quick: bool, jobs: int, as_json: bool) -> None:
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
        checked = check_tasks(
            tasks,
            whole=folder is None,
            thorough=not quick,
            folder=cache,
            jobs=jobs,
            on_task=lambda _task, done, _total: advance(done),
        )
    if as_json:
        print_json(checked.as_json())
    else:
        print_text("\n".join(_lines(checked)))
    sys.exit(1 if checked.problems else 0)


def _lines(checked: Checked) -> list[str]:
    """The findings for people."""
    shares = f"success {checked.success:.0%}, path {checked.path:.0%}, precision {checked.precision:.0%}"
    return [
        *(f"problem  {problem}" for problem in checked.problems),
        f"tasks    {checked.tasks}, {checked.calls:,} calls, {checked.patterns} data flows, {checked.operations} tools",
        f"gold     {shares}, {checked.seconds:.1f} s of programs",
        f"{'failed' if checked.problems else 'passed'}   {count(len(checked.problems), 'problem')}",
    ]
