"""Agents of a gateway's clients: they run programs and search tools with the resources of the agent
that the gateway was given, and leave that agent as it is.
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
"""How long the first search waits for the index."""


class GatewayAgent(ProgramRunner):
    """Runs the programs of clients with the tools, the sandbox and the store of `agent`.

    `own_tools` are added to the tools of `agent`. `learned` are the response schemas that the
    programs of these clients have shown.
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
        """The name of the model of the agent, which is asked nothing."""
        return self._agent.model_name

    @cached_property
    def sandbox(self) -> Sandbox:
        """The sandbox of the agent."""
        return self._agent.sandbox

    def run(self, source: str, options: RunOptions, *, continues: str | None = None) -> Solution:
        """Run a client's program. See `Agent.execute`."""
        return self._execute(source, options, continues=continues)

    def resume(self, run: str, options: RunOptions) -> Solution:
        """Run the last program of a paused run again. See `Agent.resume`."""
        return self._execute(last_program(self.store.load(run)), options, continues=run)

    def close(self) -> None:
        """Close the search index. What the agent has opened stays open."""
        self._owned.close()


class ClientAgents:
    """The agents of all clients, by the response schemas that they share. Thread-safe.

    The client over stdio, whose name is empty, is the user who runs the gateway: it uses what
    `agent` has learned. Other clients learn separately, or all together with `share_learned`. `key`
    hides their names in the folder of what they have learned.
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
        """Return the agent of one client."""
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
    """The search of a gateway: by words until the index of the configured method is built.
    Thread-safe.
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
        """Return a search by words alone. It is ready at once, while an index by meaning takes
        minutes.
        """
        toolbox = self._agent.toolbox
        config = replace(self._agent.config, index=None, tools=())
        index = open_index(toolbox, config, method="bm25")
        return open_finder("bm25", index, toolbox, ask=NoModel(), threads=1)
