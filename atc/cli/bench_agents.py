"""What the agents of one run of a benchmark share: a model, a sandbox and a store, opened when one of them is asked."""

from __future__ import annotations

from contextlib import ExitStack, closing
from functools import cached_property
from typing import TYPE_CHECKING

from atc.cli.models import told_in_tenths
from atc.cli.output import say
from atc.cli.state import open_store
from atc.cli.wiring import choose_model
from atc.config import Config

if TYPE_CHECKING:
    from atc.store import Store
    from protocols.ask import Ask
    from sandbox.base import Sandbox
    from toolflow_bench.runner import OpenWorker
    from toolflow_bench.workers import OpenWorld


class Agents(ExitStack):
    """Workers for the arms of one run, each with a configuration of its own; `config` chooses what they share."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self._config = config

    def workers(self, open_world: OpenWorld, config: Config) -> tuple[str, OpenWorker]:
        """The model's name, and workers that give each item to an agent with this configuration."""
        from toolflow_bench.workers import agent_worker

        ask, store = self._model
        return ask.name, agent_worker(open_world, ask=ask, sandbox=self.sandbox, config=config, store=store)

    @cached_property
    def sandbox(self) -> Sandbox:
        """For programs of any arm, those without a model among them."""
        from sandbox.choose import open_sandbox

        return self.enter_context(closing(open_sandbox(self._config.sandbox, policy=self._config.policy)))

    @cached_property
    def _model(self) -> tuple[Ask, Store]:
        store = self.enter_context(open_store(self._config))
        return choose_model(self._config, progress=told_in_tenths(), talk=say), store
