"""`atc bench report`: one page that shows and compares runs."""

from __future__ import annotations

from pathlib import Path

import click

from atc.cli.options import json_option
from atc.cli.output import count, print_json, print_text, say
from toolflow_bench.report.page import check_target, compared, document, render, write_report
from toolflow_bench.report.runs import load_runs

_DEFAULT = Path("report.html")
_MANY_ROWS = 500
_EPILOG = """\b
Examples:
  atc bench report chain.jsonl react.jsonl -o report.html
  atc bench report rows.jsonl --json
"""


@click.command(epilog=_EPILOG)
@click.argument("runs", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="RUN...")
@click.option(
    "-o",
    "--out",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The page; a report that is there is replaced. Default: report.html, with --json none.",
)
@json_option
def report(*, runs: tuple[Path, ...], out: Path | None, as_json: bool) -> None:
    """Show and compare runs on one page, which needs no network and no other file.

    Each RUN is a file of rows of 'atc bench run', finished or not. All are compared with the first; more than twelve
    are a leaderboard.
    """
    target = out or (None if as_json else _DEFAULT)
    if target is not None:
        check_target(target)
    loaded = load_runs(runs)
    rows = sum(len(run.rows) for run in loaded)
    if rows > _MANY_ROWS:
        say(f"{count(len(loaded), 'run')}, {count(rows, 'row')}: computing the intervals …")
    against_first = compared(loaded)
    said = {"report": None if target is None else str(target)} | document(loaded, against_first)
    if target is not None:
        page = render(loaded, against_first)
        write_report(target, page)
        if not as_json:
            print_text(f"{target}: {count(len(loaded), 'run')}, {count(rows, 'row')}, {_size(page)}")
    if as_json:
        print_json(said)


def _size(page: str) -> str:
    size = len(page.encode())
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.0f} kB"
