"""Where a verb's work is done, this process or a Ray cluster, and what the workers of one process share there."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import replace
from functools import cached_property
from typing import Any
from uuid import uuid4

from atc.agent import Agent
from atc.cli.output import say
from atc.cli.progress import told_in_tenths
from atc.cli.settings import server_environment, with_secrets
from atc.cli.wiring import choose_model, open_agent, open_store
from atc.config import Config
from atc.side_by_side import Pool, Threads
from atc.store import RunStore
from protocols.ask import Ask, Completion, Message
from sandbox.base import Sandbox
from sandbox.choose import open_sandbox
from sandbox.errors import SandboxUnavailable

_VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST")
"""What a model is reached by; workers elsewhere get these from here."""


@contextmanager
def open_pool(config: Config, jobs: int | None = None) -> Iterator[Pool]:
    """Where the configuration wants work to be done, `jobs` pieces at once.

    Raises:
        ModuleNotFoundError: Ray is wanted and not installed.
        ClusterUnavailable: the cluster cannot be used.
    """
    if config.workers is None:
        yield Threads(jobs or 1)
        return
    from atc.cluster import RayPool, connected  # Ray takes a second to import

    with connected(config.workers):
        environment = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
        yield RayPool(jobs, environment=environment, talk=say)


def portable(config: Config) -> Config:
    """The configuration for workers on other machines: each secret read here, where its variable or file is.

    Raises:
        InvalidConfig: a secret cannot be read.
    """
    credentials = {name: with_secrets(name, one) for name, one in config.credentials.items()}
    servers = {name: replace(one, env=server_environment(name, one)) for name, one in config.mcp.items()}
    return replace(config, credentials=credentials, mcp=servers)


class Shared(AbstractContextManager["Shared"]):
    """What all workers of one process share, each opened when it is first asked for.

    A copy in another process, where this value was sent, opens its own; copies of one value are one there. A context
    manager: its end closes what was opened. `away`: this is another process, which takes no programs without a
    boundary.
    """

    def __init__(self, config: Config, *, away: bool = False) -> None:
        self.config, self._away = config, away
        self._name = uuid4().hex
        self._stack = ExitStack()

    @cached_property
    def sandbox(self) -> Sandbox:
        """What runs programs.

        Raises:
            SandboxUnavailable: there is none; in another process, none with a boundary.
        """
        sandbox = open_sandbox(self.config.sandbox, policy=self.config.policy)
        self._stack.callback(sandbox.close)
        if self._away:
            sandbox.warm()
            if not sandbox.boundary:
                told = f"its sandbox {sandbox.name!r} is no boundary; take another with --sandbox, or ATC_SANDBOX."
                raise SandboxUnavailable(told)
        return sandbox

    @cached_property
    def ask(self) -> Ask:
        """The model."""
        ask = choose_model(self.config, progress=told_in_tenths(), talk=say)
        self._stack.callback(getattr(ask, "close", lambda: None))
        return ask

    @cached_property
    def store(self) -> RunStore:
        """The runs."""
        return self._stack.enter_context(open_store(self.config))

    @cached_property
    def agent(self) -> Agent:
        """An agent over the configured tools, with services of its own."""
        if self._away:
            _ = self.sandbox
        return self._stack.enter_context(open_agent(self.config, talk=say, progress=told_in_tenths()))

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    def __reduce__(self) -> tuple[Callable[..., Shared], tuple[Any, ...]]:
        return _arrived, (self._name, portable(self.config))


class SharedModel:
    """The model of a `Shared` as an `Ask` that can be sent elsewhere."""

    def __init__(self, shared: Shared) -> None:
        self._shared = shared
        self.name, self.prompt_tokens = shared.ask.name, shared.ask.prompt_tokens

    def __call__(self, messages: Sequence[Message], **options: Any) -> Completion:
        """As the model itself; see `protocols.ask.Ask`."""
        return self._shared.ask(messages, **options)


_there: dict[str, Shared] = {}


def _arrived(name: str, config: Config) -> Shared:
    """The copy of a `Shared` in another process."""
    if name not in _there:
        _there[name] = Shared(config, away=True)
    return _there[name]
