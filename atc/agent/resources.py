"""Store, model, sandbox and search index of an agent, passed by the caller or opened on demand."""

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
    """The store, model, sandbox and search index of an agent.

    The exit stack `_owned` closes those that the agent has opened itself. Those that the caller
    passed stay open.
    """

    config: Config
    toolbox: Toolbox
    in_shell: bool = False
    """True if a command uses the agent, so that messages name commands and not methods."""
    _store: RunStore | None
    _model: Ask | None
    _sandbox: Sandbox | None
    _owned: ExitStack

    @property
    def store(self) -> RunStore:
        """The store of runs.

        Raises:
            ValueError: The agent has no store.
        """
        if self._store is None:
            raise ValueError("an agent without a store has no runs to load or to go on with")
        return self._store

    @property
    def model_name(self) -> str:
        """The name of the agent's model, else of the configured model, else ""."""
        return getattr(self._model, "name", self.config.model) or ""

    @cached_property
    def ask(self) -> Ask:
        """The language model. If the caller passed none, it is chosen on first use."""
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
        """The sandbox that runs programs. If the caller passed none, it is opened on first use."""
        if self._sandbox is not None:
            return self._sandbox
        return self._owned.enter_context(
            open_sandbox(self.config.sandbox, policy=self.config.policy)
        )

    def finder(self, ask: Ask | None) -> Retriever:
        """Return the object that searches the toolbox for tools.

        Some search methods ask a model, which is `ask`. If `ask` is None, the configured method is
        used if it needs no model, otherwise the best method that needs none.
        """
        method = method_for(self.config.retrieval, asks=ask is not None)
        return open_finder(method, self._index, self.toolbox, ask=ask, threads=1)

    @cached_property
    def _index(self) -> ToolIndex:
        """The search index of the toolbox. It is built by the first search."""
        index = open_index(self.toolbox, self.config, method=self.config.retrieval)
        self._owned.callback(index.close)
        return index
