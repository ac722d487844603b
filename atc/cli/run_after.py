"""`atc run --after`: the earlier run that a new run follows, and the settings that it gives."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from atc.agent import Agent
from atc.cli.stored_settings import config_after
from atc.cli.wiring import open_store
from atc.core.config import Config
from atc.run.follow_up import require_program
from atc.settings.reading import load_config
from atc.store.stored import RunRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierRun:
    """The stored run that a new run follows. Its id `run` is None if the new run follows none."""

    run: str | None = None
    needs: Mapping[str, str] = field(default_factory=dict)
    """The identities of its tools, keyed by alias, if the new run is to use these tools."""

    def find(self, agent: Agent) -> str | None:
        """Return the id of the run, after a check that the agent has a tool of it.

        Raises:
            RunRefused: None of the run's tools is there.
        """
        tools = agent.toolbox
        there = (
            alias in tools and tools[alias].identity == self.needs[alias] for alias in self.needs
        )
        if self.needs and not any(there):
            raise RunRefused(
                f"none of the tools of run {self.run} is here, because a Python program began it or"
                " they have changed: name tools with --tools, or use Agent.run(TASK, after=RUN)."
            )
        return self.run


def follow(name: str | None, flags: Mapping[str, Any]) -> tuple[Config, EarlierRun]:
    """Return the configuration of a new run, and the run that it follows.

    `name` is the id of that run, the beginning or end of the id, or `last`; None if the new run
    follows none. `flags` are the options of the command line. Those that name tools replace the
    tools of the earlier run.

    Raises:
        UnknownRun: There is no such run, or more than one.
        RunRefused: See `require_program` and `config_after`.
    """
    if name is None:
        return load_config(flags), EarlierRun()
    with open_store(load_config()) as store:
        stored = store.load(name)
        require_program(stored)
        config = config_after(stored, flags, shared=store.shared)
    needs = {} if flags.get("tools") else stored.summary.identities
    return config, EarlierRun(run=stored.summary.run_id, needs=needs)
