"""The agents that run the programs of a gateway's clients, and search tools for them.

They use the tools, the sandbox and the store of the agent of the gateway, but do not change it.
"""

from __future__ import annotations

import hmac
import threading
from contextlib import ExitStack
from dataclasses import replace
from functools import cached_property
from hashlib import sha256

from atc.agent import Agent
from atc.agent.program_runner import ProgramRunner
from atc.agent.run_start import RunOptions, last_program
from atc.archive.learned_schemas import LearnedSchemas
from atc.core.types import Solution
from atc.pipeline.retrieve.base import Retriever
from atc.pipeline.retrieve.finder import open_finder, open_index
from atc.strategies.provided import NoModel
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox

_INDEX_SECONDS = 5.0
"""Seconds that the first search waits until the index is built."""


class GatewayAgent(ProgramRunner):
    """Runs the programs of clients with the tools, the sandbox and the store of `agent`.

    `own_tools` are added to the tools of `agent`. `learned` has the response schemas that were
    learned from the calls of these clients.
    """

    def __init__(self, agent: Agent, own_tools: Toolbox, learned: LearnedSchemas | None) -> None:
        super().__init__(
            agent.declared.also(own_tools.values()),
            agent.config,
            store=agent.store,
            learned=learned,
            ask_person=agent.ask_person,
            questions=agent.questions,
        )
        self._agent = agent
        self._owned = ExitStack()

    @property
    def model_name(self) -> str:
        """The name of the agent's model. Running the programs of clients never uses the model."""
        return self._agent.model_name

    @cached_property
    def sandbox(self) -> Sandbox:
        """The sandbox that `agent` uses."""
        return self._agent.sandbox

    def run(self, source: str, options: RunOptions, *, continues: str | None = None) -> Solution:
        """Run a client's program. The arguments and errors are those of `Agent.execute`."""
        return self._execute(source, options, continues=continues)

    def resume(self, run: str, options: RunOptions) -> Solution:
        """Run the last program of a paused run again. The arguments are those of `Agent.resume`."""
        return self._execute(last_program(self.store.load(run)), options, continues=run)

    def close(self) -> None:
        """Close the search index. The sandbox and the store belong to `agent` and stay open."""
        self._owned.close()


class ClientAgents:
    """The agents of all clients, each with its own learned response schemas. Thread-safe.

    The user who runs the gateway connects over stdio; this client has the name "", and uses the
    schemas that `agent` has learned. Each other client has an agent of its own, or all share one
    agent if `share_learned` is True. `key` is used to hide the names of clients in the names of the
    folders that store their schemas.
    """

    def __init__(
        self, agent: Agent, own_tools: Toolbox, *, key: bytes, share_learned: bool
    ) -> None:
        self._agent = agent
        self._own_tools = own_tools
        self._key = key
        self._share_learned = share_learned
        self._lock = threading.Lock()
        self._agents: dict[str, GatewayAgent] = {}
        self.of_user = GatewayAgent(agent, own_tools, agent.learned)

    def of(self, client: str) -> GatewayAgent:
        """Return the agent for a client; make it if the client has none yet."""
        if not client:
            return self.of_user
        digest = hmac.new(self._key, client.encode(), sha256).hexdigest()[:32]
        name = "shared" if self._share_learned else digest
        with self._lock:
            if name not in self._agents:
                learned = self._agent.learned
                if learned is not None:
                    learned = learned.open_separate(name, shared=self._share_learned)
                self._agents[name] = GatewayAgent(self._agent, self._own_tools, learned)
            return self._agents[name]


class GatewaySearch:
    """Searches tools for the clients of a gateway. Thread-safe.

    Until the index of the configured search method is built, it compares words only.
    """

    def __init__(self, agent: GatewayAgent) -> None:
        self._agent = agent
        self._lock = threading.Lock()
        self._search: Retriever | None = None

    def find(self, query: str, limit: int) -> list[str]:
        """Return the aliases of the tools that fit a query, best first."""
        with self._lock:
            return [hit.tool for hit in self._finder().search(query, k=limit).hits]

    def _finder(self) -> Retriever:
        if self._search is None:
            self._search = self._word_finder()
            building = threading.Thread(target=self._build, daemon=True)
            building.start()
            building.join(_INDEX_SECONDS)
        return self._search

    def _build(self) -> None:
        self._search = self._agent.finder(None)

    def _word_finder(self) -> Retriever:
        """Return a search that compares words only.

        It is ready at once, while an index for search by meaning takes minutes to build.
        """
        toolbox = self._agent.toolbox
        config = replace(self._agent.config, index=None, tools=())
        index = open_index(toolbox, config, method="bm25")
        return open_finder("bm25", index, toolbox, ask=NoModel(), threads=1)
