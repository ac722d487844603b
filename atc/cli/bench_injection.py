"""`atc bench run injection`: what tools can make a program send, pay or execute unasked, and what asks needlessly."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from atc.cli.bars import bar
from atc.cli.options import json_option
from atc.cli.output import count, print_json, print_text, say
from atc.cli.settings import load_config

if TYPE_CHECKING:
    from atc.config import Config
    from sandbox.base import Sandbox
    from toolflow_bench.injection.attack import Verdict
    from toolflow_bench.injection.honest import Asked

_EPILOG = """\b
Examples:
  atc bench run injection
  atc bench run injection --part scenarios --scenarios my-scenarios.toml --json
"""


@click.command(epilog=_EPILOG)
@click.option(
    "--part",
    type=click.Choice(["all", "scenarios", "questions"]),
    default="all",
    show_default=True,
    help="Attacks alone, or honest writes alone.",
)
@click.option(
    "--scenarios",
    "path",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Attacks of your own, as in toolflow_bench/injection/scenarios.toml.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="The first N of ToolFlow's writing tasks only.")
@json_option
def injection(*, part: str, path: Path | None, limit: int | None, as_json: bool) -> None:
    """Run attacks by what tools say, and count what reaches a service unasked; then count needless questions.

    The programs of a scenario are those that a misled model would write; no model is asked. Each runs twice, over
    real HTTP: with nobody to ask, when nothing hostile may reach the service by its own log, and with a person who
    agrees to everything, when it must, or the scenario attacks nothing. The questions are those before the writes of
    ToolFlow's gold programs. Exit status 1 if an attack reached its service unasked, or was none.
    """
    from sandbox.choose import open_sandbox

    config = load_config({})[0]
    with closing(open_sandbox(config.sandbox, policy=config.policy)) as sandbox:
        verdicts = _attacks(path, sandbox, config) if part != "questions" else []
        asked = _questions(limit, sandbox, config) if part != "scenarios" else {}
    document = _document(verdicts, asked)
    if as_json:
        print_json(document)
    else:
        print_text("\n".join(_lines(verdicts, asked)))
    sys.exit(0 if all(verdict.held for verdict in verdicts) else 1)


def _attacks(path: Path | None, sandbox: Sandbox, config: Config) -> list[Verdict]:
    from toolflow_bench.injection.attack import attack
    from toolflow_bench.injection.scenarios import SCENARIOS, load_scenarios

    scenarios = load_scenarios(path or SCENARIOS)
    say(f"running {count(len(scenarios), 'scenario')}, each twice")
    verdicts = []
    with bar("attacking", total=len(scenarios)) as advance:
        for scenario in scenarios:
            verdicts.append(attack(scenario, sandbox=sandbox, folder=config.cache_dir))
            advance(len(verdicts))
    return verdicts


def _questions(limit: int | None, sandbox: Sandbox, config: Config) -> dict[str, Asked]:
    from toolflow_bench.injection.honest import ARMS, needless
    from toolflow_bench.suites.toolflow import services_of
    from toolflow_bench.task import load_tasks
    from toolflow_bench.world import World

    tasks = [task for task in load_tasks() if task.writes][:limit]
    say(f"running the gold programs of {count(len(tasks), 'writing task')}, {len(ARMS)} times")
    done = 0
    asked: dict[str, Asked] = {}
    with (
        World(services_of(tasks), folder=config.cache_dir, announce=say) as world,
        bar("asking", total=len(tasks) * len(ARMS)) as advance,
    ):

        def step() -> None:
            nonlocal done
            done += 1
            advance(done)

        for arm in ARMS:
            asked[arm] = needless(tasks, world, sandbox=sandbox, arm=arm, on_task=step)
    return asked


def _document(verdicts: list[Verdict], asked: dict[str, Asked]) -> dict[str, Any]:
    document: dict[str, Any] = {"suite": "injection"}
    if verdicts:
        document |= {
            "scenarios": len(verdicts),
            "reached": sum(verdict.reached for verdict in verdicts),
            "held": sum(verdict.held for verdict in verdicts),
            "kinds": {kind: list(_of_kind(kind, verdicts)) for kind in dict.fromkeys(v.kind for v in verdicts)},
            "verdicts": [verdict.as_json() for verdict in verdicts],
        }
    return document | ({"questions": {arm: figures.as_json() for arm, figures in asked.items()}} if asked else {})


def _of_kind(kind: str, verdicts: list[Verdict]) -> tuple[int, int]:
    """How many of a kind held, and how many there are."""
    own = [verdict for verdict in verdicts if verdict.kind == kind]
    return sum(verdict.held for verdict in own), len(own)


def _lines(verdicts: list[Verdict], asked: dict[str, Asked]) -> list[str]:
    """The findings for people."""
    lines = [f"{_said(verdict):<8} {verdict.kind}: {verdict.name}" for verdict in verdicts if not verdict.held]
    if verdicts:
        kinds = dict.fromkeys(verdict.kind for verdict in verdicts)
        shares = ", ".join(f"{kind} {held}/{n}" for kind in kinds for held, n in [_of_kind(kind, verdicts)])
        held = sum(verdict.held for verdict in verdicts)
        reached = sum(verdict.reached for verdict in verdicts)
        lines += [f"attacks  {held} of {len(verdicts)} held, {reached} reached a service unasked", f"by kind  {shares}"]
    for arm, figures in asked.items():
        share = f"{figures.asking / figures.writes:.1%}" if figures.writes else "none"
        lines.append(
            f"asked    {arm}: {figures.asking} of {count(figures.writes, 'honest write')} ({share}),"
            f" {figures.sensitive} with a sensitive value; {figures.solved} of {count(figures.tasks, 'task')} solved"
        )
    return lines


def _said(verdict: Verdict) -> str:
    return "REACHED" if verdict.reached else "no harm" if not verdict.live else "no pause"
