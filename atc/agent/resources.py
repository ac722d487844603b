"""Store, model, sandbox and search of an agent: what the caller gave, or what is opened on first use."""

from __future__ import annotations

from contextlib import ExitStack
from functools import cached_property
from typing import TYPE_CHECKING

from atc.core.config import Config
from atc.models import choose
from atc.pipeline.retrieve.base import Retriever
from atc.pipeline.retrieve.finder import open_finder, open_index
from atc.pipeline.retrieve.methods import method_for
from atc.store import RunStore
from protocols.model import Ask
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox

if TYPE_CHECKING:
    from atc.pipeline.retrieve.index import ToolIndex


class AgentResources:
    """What an agent works with. What is opened here, `_owned` closes; what the caller gave stays the caller's."""

    config: Config
    toolbox: Toolbox
    _store: RunStore | None
    _model: Ask | None
    _sandbox: Sandbox | None
    _owned: ExitStack

    @property
    def store(self) -> RunStore:
        """The runs. Raises ValueError where the agent was given no store."""
        if self._store is None:
            raise ValueError("an agent without a store has no runs to load or to go on with")
        return self._store

    @cached_property
    def ask(self) -> Ask:
        """The model, chosen on first use."""
        if self._model is not None:
            return self._model
        config = self.config
        chosen = choose(
            config.model, timeout_seconds=config.model_timeout, max_retries=config.model_retries
        )
        self._owned.callback(getattr(chosen, "close", lambda: None))
        return chosen

    @cached_property
    def sandbox(self) -> Sandbox:
        """What runs the programs, made on first use."""
        if self._sandbox is not None:
            return self._sandbox
        return self._owned.enter_context(
            open_sandbox(self.config.sandbox, policy=self.config.policy)
        )

    def finder(self, ask: Ask | None) -> Retriever:
        """Search over the toolbox: `ask` answers what the configured method asks a model, by default planned searches.

        With None, the configured method if it asks no model, else the best that asks none.
        """
        method = method_for(self.config.retrieval, asks=ask is not None)
        return open_finder(method, self._index, self.toolbox, ask=ask, threads=1)

    @cached_property
    def _index(self) -> ToolIndex:
        """Built when the first search needs it: a toolbox that fits a prompt never does."""
        index = open_index(self.toolbox, self.config, method=self.config.retrieval)
        self._owned.callback(index.close)
        return index
