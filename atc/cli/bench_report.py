"""`atc bench report`: one page that shows and compares runs."""

from __future__ import annotations

from pathlib import Path

import click

from atc.cli.options import FILE, json_option
from atc.cli.output import print_json, print_text
from atc.terminal import count
from toolflow_bench.report.page import check_target, compared, document, render, write_report
from toolflow_bench.report.runs import load_runs

_DEFAULT = Path("report.html")
_EPILOG = """\b
Examples:
  atc bench report chain.jsonl react.jsonl -o report.html
  atc bench report rows.jsonl --json
"""


@click.command(epilog=_EPILOG)
@click.argument("runs", nargs=-1, required=True, type=FILE, metavar="RUN...")
@click.option(
    "-o", "--out", type=FILE, metavar="FILE", help="The page (report.html, with --json none); replaced if there."
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
    against_first = compared(loaded)
    said = {"report": None if target is None else str(target)} | document(loaded, against_first)
    if target is not None:
        write_report(target, render(loaded, against_first))
        if not as_json:
            print_text(f"{target}: {count(len(loaded), 'run')}, {count(sum(len(run.rows) for run in loaded), 'row')}")
    if as_json:
        print_json(said)
