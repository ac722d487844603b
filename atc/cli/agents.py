"""Builds an agent from the configuration, for the verbs that run programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

from atc.agent import Agent
from atc.cli.output import say
from atc.cli.state import open_learned, open_store
from atc.cli.wiring import Progress, Reading, Talk, choose_model, open_toolbox
from atc.config import Config
from atc.consent import AskPerson
from atc.strategies.given import NoModel
from sandbox.choose import open_sandbox


@contextmanager
def open_agent(
    config: Config,
    *,
    talk: Talk = say,
    progress: Progress | None = None,
    reading: Reading | None = None,
    ask_person: AskPerson | None = None,
    given: bool = False,
    warm: bool = True,
) -> Iterator[Agent]:
    """An agent over the configured tools, with its runs stored; where `given`, its callers write the programs.

    `warm`: the sandbox starts while the tools are read.
    """
    with ExitStack() as stack:
        store = stack.enter_context(open_store(config))
        model = NoModel() if given else choose_model(config, progress=progress, talk=talk, reading=reading)
        sandbox = None
        if warm:
            sandbox = open_sandbox(config.sandbox, policy=config.policy)
            stack.callback(sandbox.close)
            sandbox.warm()
        toolbox = stack.enter_context(open_toolbox(config, talk=talk))
        agent = Agent(
            toolbox,
            model=model,
            sandbox=sandbox,
            config=config,
            ask_person=ask_person,
            store=store,
            learned=open_learned(config),
        )
        yield stack.enter_context(agent)
