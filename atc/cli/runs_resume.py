"""`atc runs resume`: go on with a run that was paused, killed, or ended by an outage or its budget."""

from __future__ import annotations

from typing import Any

import click

from atc.cli.asking import asker
from atc.cli.options import on_unknown_option, trust_option
from atc.cli.output import say, stderr_console
from atc.cli.settings import load_config
from atc.cli.solving import finish, resumable
from atc.cli.view import RunView
from atc.cli.wiring import open_agent, open_store
from atc.layers import Layer

_OWN = frozenset({"credentials", "mcp", "state_dir", "cache_dir"})
"""Settings of this machine: a stored run's are not taken over."""


@click.command(epilog="Example: atc runs resume last --allow-writes close_ticket")
@click.argument("run")
@click.option(
    "--allow-writes", multiple=True, metavar="TOOL", help="Tool that may change something, or 'all'. Repeatable."
)
@trust_option
@on_unknown_option
@click.option("--resend", is_flag=True, help="The write in doubt did not happen, as you found out: send it again.")
@click.option("--accept-orphans", is_flag=True, help="Writes that the final program does not make may stand.")
@click.option("--yes", is_flag=True, help="Answer questions about writes with yes.")
@click.option("--max-tokens", type=click.IntRange(1), metavar="N", help="Model tokens of the run, with those spent.")
@click.option("--max-model-calls", type=click.IntRange(1), metavar="N", help="Requests to the model, with those made.")
@click.option("--max-seconds", type=click.FloatRange(0, min_open=True), metavar="S", help="Wall time from now on.")
@click.option("--json", "as_json", is_flag=True, help="Print the whole solution as JSON.")
def resume(run: str, *, resend: bool, accept_orphans: bool, yes: bool, as_json: bool, **flags: Any) -> None:
    """Go on with RUN: its id, the beginning or the end of its id, or 'last'.

    A run that was paused or killed, or that an outage or its budget ended (give it more of that). Its task, tools and
    settings are those it was begun with. What the model wrote and what tools answered is not asked
    again, and no write is sent twice: one whose answer was lost is looked up by the read that shows it, sent again only
    under its idempotency key, or left to you. Exit status as of 'atc run'.
    """
    with open_store(load_config()[0]) as store:
        stored = store.load(run)
    known = {key: value for key, value in stored.config.items() if key not in _OWN and value not in (None, [])}
    for key in ("allow_writes", "trust"):  # what was allowed before stays allowed
        if flags[key]:
            flags[key] = (*known.get(key, ()), *flags[key])
    layer = Layer(f"run {stored.summary.id}", known)
    config, _ = load_config(flags, stored=layer)
    view = RunView(stderr_console())
    ask_person = asker(yes=yes, aside=view.interrupted)
    with view, open_agent(config, talk=view.say, progress=view.progress, ask_person=ask_person) as agent:
        if stored.summary.status != "solved":
            say(f"Going on with run {stored.summary.id}: {' '.join(stored.summary.task.split())}")
        with resumable(view, stored.summary.id):
            solution = agent.resume(stored.summary.id, observer=view, accept_orphans=accept_orphans, resend=resend)
    finish(solution, view, agent.toolbox, as_json=as_json)
