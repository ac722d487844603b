"""`atc bench`: measure how many questions of a benchmark are solved, and prepare its tasks.

ToolFlow is the project's own benchmark.
"""

from __future__ import annotations

import json
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from atc.cli.bench_run import flights, toolflow
from atc.cli.options import FILE, VerbGroup, force_option
from atc.cli.output import as_json, bar, print_result, require_new, say
from atc.cli.serve import serve as serve_tools
from atc.core.text import count
from atc.settings.reading import load_config
from protocols.private_files import write_whole
from toolflow_bench.checks.suite import check_tasks
from toolflow_bench.services.serve import serve as start
from toolflow_bench.services.service import NAMES, find_service
from toolflow_bench.task import load_tasks, require_gold, to_document


@click.group(cls=VerbGroup)
def bench() -> None:
    """Measure how many tasks are solved and at what cost."""


@bench.group(cls=VerbGroup, subcommand_metavar="SUITE [OPTIONS]", no_args_is_help=True)
def run() -> None:
    """Measure with a suite, which is a set of tasks."""


run.add_command(toolflow)
run.add_command(flights)


@bench.command("list", examples=["atc bench list --json"])
def list_() -> None:
    """List the suites (sets of tasks) of the benchmark."""
    suites = {name: suite.get_short_help_str(100) for name, suite in run.commands.items()}
    print_result(
        [{"name": name, "summary": summary} for name, summary in suites.items()], suites.items()
    )


@bench.command(
    examples=[
        "atc bench report chain.jsonl react.jsonl -o report.html",
        "atc bench report rows.jsonl --json",
    ]
)
@click.argument("runs", nargs=-1, required=True, type=FILE, metavar="RUN...")
@click.option(
    "-o",
    "--out",
    type=FILE,
    metavar="FILE",
    help="The page (report.html, with --json none); replaced if there.",
)
def report(*, runs: tuple[Path, ...], out: Path | None) -> None:
    """Compare runs on one page of HTML.

    Each RUN is a file of results that 'atc bench run' wrote, even if it has not finished. All runs
    are compared with the first one; more than twelve are shown as a leaderboard. The page needs no
    network and no other file.
    """
    # needs the extra `toolflow`
    from toolflow_bench.report.page import check_target, compared, document, render
    from toolflow_bench.report.runs import load_runs

    target = out or (None if as_json() else Path("report.html"))
    if target is not None:
        check_target(target)
    loaded = load_runs(runs)
    against_first = compared(loaded)
    if target is not None:
        # If the target is a link, the file behind it is replaced and the link is kept.
        write_whole(target.resolve(), render(loaded, against_first))
    path = None if target is None else str(target)
    rows = count(sum(len(run.rows) for run in loaded), "row")
    text = f"{target}: {count(len(loaded), 'run')}, {rows}"
    print_result({"report": path} | document(loaded, against_first), text)


@bench.command(examples=["atc bench check --tasks my-tasks --json"])
@click.option(
    "--tasks", "folder", type=FILE, metavar="DIR", help="A folder of tasks (*.jsonl) of your own."
)
@click.option(
    "--jobs",
    type=click.IntRange(1, 64),
    default=2,
    show_default=True,
    metavar="N",
    help="Checked at once.",
)
def check(*, folder: Path | None, jobs: int) -> None:
    """Check each correct answer of ToolFlow by deriving it again in two ways.

    This shows whether the tasks are fit for measuring. The reference program of each task runs in
    the sandbox over HTTP, and its query runs directly on the data; both must give the answer in the
    task's file. Then, for one line of the program after another, the results of its calls are
    removed; each time, the answer must change. Exit status 1 if a task has a problem.
    """
    tasks = load_tasks(folder)
    require_gold(tasks)
    say(f"checking {count(len(tasks), 'task')}")
    with bar("checking", total=len(tasks)) as advance:
        checked = check_tasks(tasks, folder=load_config().cache_dir, jobs=jobs, on_task=advance)
    lines = [f"problem  {problem}" for problem in checked.problems]
    lines += [
        f"{name:<12}  {value}" for name, value in checked.as_json().items() if name != "problems"
    ]
    print_result(checked.as_json(), "\n".join(lines))
    sys.exit(1 if checked.problems else 0)


@bench.command(
    examples=[
        "atc bench fresh --seed 7 -o fresh-7",
        "atc bench run toolflow --data fresh-7 --model gpt-5",
    ]
)
@click.option(
    "--seed", type=int, required=True, metavar="N", help="What constants and wordings are drawn by."
)
@click.option(
    "--tasks", "wanted", type=click.IntRange(1, 1000), default=100, show_default=True, metavar="N"
)
@click.option("-o", "--out", type=FILE, required=True, metavar="DIR", help="Folder of the tasks.")
@force_option
def fresh(*, seed: int, wanted: int, out: Path, force: bool) -> None:
    """Make new tasks for ToolFlow.

    They have known data flows and wordings, but new constants. Each answer is derived in two ways,
    by the program over HTTP and by the query on the data. If the two differ, another task is made
    instead. The command needs a checkout of the project, because the installed package does not
    contain the recipes.
    """
    try:
        from toolflow_bench.recipes.fresh import fresh_tasks
    except ImportError as error:
        raise click.UsageError(
            "'fresh' needs a checkout of the project: the installed package has no recipes, so that"
            " gold programs are not in it; clone the repository and run it there."
        ) from error
    path = out / f"fresh-{seed}.jsonl"
    require_new(path, force=force)
    lines = []
    with bar("drawing", total=wanted) as advance:
        for task in fresh_tasks(wanted, seed=seed, folder=load_config().cache_dir):
            lines.append(json.dumps(to_document(task), ensure_ascii=False))
            advance(len(lines))
    write_whole(path.resolve(), "\n".join(lines) + "\n")  # as above: a link is kept
    print_result({"tasks": len(lines), "file": str(path)}, f"{path}: {count(len(lines), 'task')}")


@bench.command(
    examples=[
        "atc bench serve",
        "atc bench serve flights movies --port 8000",
        "atc bench serve --mcp",
    ]
)
@click.argument("services", nargs=-1, metavar="[SERVICE]...")
@click.option(
    "--port",
    type=click.IntRange(0, 65535 - len(NAMES)),
    default=0,
    metavar="P",
    help="Port of the first service, the others get the next ones; without it, free ports.",
)
@click.option(
    "--mcp",
    type=click.IntRange(1, 65535),
    is_flag=False,
    flag_value=8790,
    metavar="P",
    help="Offer all operations as MCP tools, too, at http://127.0.0.1:P/mcp (8790).",
)
def serve(services: tuple[str, ...], *, port: int, mcp: int | None) -> None:
    """Serve ToolFlow's services on this machine.

    The services named by SERVICE, by default all, answer on 127.0.0.1 until Ctrl-C. The address of
    each service's OpenAPI document is printed. In addition to its operations, a service answers
    POST /bench/reset, GET /bench/state, GET /bench/log and POST /bench/faults.
    """
    chosen = [find_service(name) for name in dict.fromkeys(services or NAMES)]
    # All data is loaded first, so that a missing package is reported before any service answers.
    databases = [service.database(None, announce=say) for service in chosen]
    with ExitStack() as stack:
        rows: list[dict[str, Any]] = []
        for number, (service, database) in enumerate(zip(chosen, databases, strict=True)):
            served = stack.enter_context(start(service.app(database), port=port and port + number))
            row = {"name": service.name, "operations": len(service.operations)}
            rows.append(row | {"url": served.url, "document": served.document_url})
        document: dict[str, Any] = {"services": rows}
        if mcp is not None:
            document["mcp"] = f"http://127.0.0.1:{mcp}/mcp"
        table = [(r["name"], count(r["operations"], "operation"), r["document"]) for r in rows]
        print_result(document, table)
        say("Ctrl-C ends it.")
        if mcp is None:
            threading.Event().wait()
        else:  # each call is a request to its service; a write needs no consent here
            context = click.get_current_context()
            context.meta["as_json"] = False  # the JSON is printed above
            context.invoke(
                serve_tools,
                tools=tuple(f"{row['name']}={row['document']}" for row in rows),
                address=("127.0.0.1", mcp),
                as_="tools",
                allow_writes=("all",),
            )
