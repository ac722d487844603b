"""`atc bench run decoding`: what holding a model to its tools is worth, against free replies and the paper's rivals."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import click

from atc.cli.models import told_in_tenths
from atc.cli.options import json_option
from atc.cli.output import escape_controls, json_text, print_json, print_text, say, stderr_console
from atc.cli.settings import load_config
from atc.cli.wiring import choose_model
from atc.config import Config

if TYPE_CHECKING:
    from protocols.ask import Ask
    from toolflow_bench.decoding.frame import Arm
    from toolflow_bench.metrics import Row

_SUITES = ("funcqa", "kamel", "restbench", "random")
_REPORT = "report.json"
_EPILOG = """\b
Examples:
  atc bench run decoding --suite funcqa --model local --model smollm2
  atc bench run decoding --suite kamel --relations 30 --sample 20 --model local --out kamel
  atc bench run decoding --suite random --sample 1000 --json
"""


@click.command(epilog=_EPILOG)
@click.option("--suite", required=True, type=click.Choice(_SUITES), help="What is asked.")
@click.option("--model", "models", multiple=True, metavar="NAME", help="As everywhere; repeatable: one after another.")
@click.option(
    "--modes", multiple=True, metavar="NAMES", help="Ways of decoding, with commas. Default: the suite's own."
)
@click.option("--docs", multiple=True, metavar="NAMES", help="full, names, or both with a comma. Default: the suite's.")
@click.option("--sample", type=click.IntRange(1), metavar="N", help="N questions (calls, of random), drawn by --seed.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Another name of --sample.")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="What is drawn by.")
@click.option(
    "--relations",
    multiple=True,
    type=click.IntRange(1),
    metavar="N",
    help="Of kamel: the first N relations; repeatable. Default: 10, 20 and 30.",
)
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Folder or file of the suite's data. Default: its folder in ../shared/data.",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    help="Folder of rows, a file an arm, continued if there. Default: one in the state folder, until it is done.",
)
@click.option("--restart", is_flag=True, help="Empty the files in --out first.")
@json_option
def decoding(
    *,
    suite: str,
    models: tuple[str, ...],
    modes: tuple[str, ...],
    docs: tuple[str, ...],
    sample: int | None,
    limit: int | None,
    seed: int,
    relations: tuple[int, ...],
    data: Path | None,
    out: Path | None,
    restart: bool,
    as_json: bool,
) -> None:
    """Measure calls of a model that is held to its tools.

    funcqa: arithmetic in words, one call each. kamel: relations by their names. restbench: TMDB's paths, call by call.
    random: calls by random logits, no model. A run that was stopped goes on where
    it was when the same command is given again. Exit status 3 if anything is left that failed on our side.
    """
    from toolflow_bench.decoding.frame import Wanted
    from toolflow_bench.decoding.suites import find_suite

    config = load_config()[0]
    wanted = Wanted(
        suite=suite,
        folder=out or _own_folder(config, suite, seed),
        models=models or ((config.model or "local",) if suite != "random" else ()),
        modes=_named(modes, _known_modes(suite), "--modes"),
        docs=_named(docs, ("full", "names"), "--docs"),
        data=data,
        sample=sample or limit,
        seed=seed,
        relations=relations,
        restart=restart,
    )
    try:
        with Progress() as watch:
            report = find_suite(suite)(wanted, partial(_opened, config), config, watch, say)
    except KeyboardInterrupt:
        say(f"Stopped; the same command with --out {wanted.folder} goes on.")
        raise
    told = {"suite": f"decoding-{suite}", "rows": str(wanted.folder), "seed": seed, **report.as_json()}
    if not report.left:
        _keep(told, wanted.folder)
    if as_json:
        print_json(told)
    else:
        print_text("\n".join(report.lines()))
    if report.left:
        say(f"{report.left} answers failed on our side; the same command with --out {wanted.folder} asks them again.")
    sys.exit(3 if report.left else 0)


@contextmanager
def _opened(config: Config, name: str) -> Iterator[Ask]:
    """A model, and the end of it: the weights of one are in memory at a time."""
    ask = choose_model(replace(config, model=name), progress=told_in_tenths(), talk=say)
    try:
        yield ask
    finally:
        getattr(ask, "close", lambda: None)()


def _keep(report: dict[str, Any], folder: Path) -> None:
    """The figures beside the rows, as a sign too that the run is over."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / _REPORT).write_text(json_text(report, indent=2), encoding="utf-8")


def _named(given: tuple[str, ...], known: tuple[str, ...], option: str) -> tuple[str, ...]:
    names = tuple(dict.fromkeys(name.strip() for text in given for name in text.split(",") if name.strip()))
    for name in names:
        if known and name not in known:
            raise click.BadParameter(f"there is no {name!r}; there is {', '.join(known)}.", param_hint=option)
    return names


def _known_modes(suite: str) -> tuple[str, ...]:
    """The modes of the suites of calls; the other suites know their own."""
    from toolflow_bench.decoding.restbench.suite import MODES as TURNS
    from toolflow_bench.decoding.writing import MODES

    return {"funcqa": MODES, "kamel": MODES, "restbench": TURNS}.get(suite, ())


def _own_folder(config: Config, suite: str, seed: int) -> Path:
    """The newest folder of a run that was not ended, else a new one."""
    stem, folder = f"decoding-{suite}-{seed}", config.state_dir / "bench"
    begun = [found for found in sorted(folder.glob(f"{stem}-*")) if not (found / _REPORT).exists()]
    return begun[-1] if begun else folder / f"{stem}-{time.strftime('%Y%m%d-%H%M%S', time.gmtime())}"


class Progress:
    """Shows each row as it comes: a bar with an estimate on a terminal, a line a row.

    Of what gives no rows, a line tells of each tenth where there is no terminal for a bar.
    """

    def __init__(self) -> None:
        from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
        from rich.progress import Progress as Bars

        columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
        self._bar = Bars(*columns, console=stderr_console(), disable=not sys.stderr.isatty())
        self._task = self._bar.add_task("asking", total=None)
        self._tenth = ("", 0)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bar.stop()

    def __call__(self, arm: Arm, row: Row | None, done: int, total: int) -> None:
        """Show a row; `done` of `total` are."""
        if row is not None:
            verdict = "right" if row.correct else (row.failure or "wrong") if row.graded else row.status
            said = row.error or (row.programs[-1] if row.programs else "")
            line = f"{done:>4}/{total}  {arm.name:<24} {verdict:<16} {row.seconds:6.2f} s  {row.id}: {said[:100]}"
            self._bar.console.print(escape_controls(line), soft_wrap=True)
        elif self._bar.disable and (tenth := (arm.name, done * 10 // max(total, 1))) > self._tenth:
            self._tenth = tenth
            say(f"{arm.suite}: {done:,} of {total:,}")
        self._bar.update(self._task, completed=done, total=total, description=arm.name)
