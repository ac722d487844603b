"""`atc runs resume`: go on with a run that was paused, killed, or ended by an outage or its budget."""

from __future__ import annotations

from typing import Any

import click

from atc.agent import Agent
from atc.cli.options import (
    allow_writes_option,
    budget_options,
    json_option,
    on_unknown_option,
    trust_option,
    yes_option,
)
from atc.cli.output import say
from atc.cli.settings import load_config
from atc.cli.solving import solve
from atc.cli.state import open_store
from atc.layers import Layer
from atc.types import Solution
from atc.view import RunView

_OWN = frozenset({"credentials", "mcp", "state_dir", "cache_dir"})
"""Settings of this machine: a stored run's are not taken over."""


@click.command(epilog="Example: atc runs resume last --allow-writes close_ticket")
@click.argument("run")
@allow_writes_option
@trust_option
@on_unknown_option
@click.option("--resend", is_flag=True, help="The write in doubt did not happen, as you found out: send it again.")
@click.option("--accept-orphans", is_flag=True, help="Writes that the final program does not make may stand.")
@yes_option
@budget_options
@json_option
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
    run = stored.summary.id
    config, _ = load_config(flags, stored=Layer(f"run {run}", known))
    if stored.summary.status != "solved":
        say(f"Going on with run {run}: {' '.join(stored.summary.task.split())}")

    def go_on(agent: Agent, view: RunView) -> Solution:
        return agent.resume(run, observer=view, accept_orphans=accept_orphans, resend=resend)

    solve(config, go_on, yes=yes, as_json=as_json, name=run)
