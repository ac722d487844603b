"""What every strategy works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from atc.config import Config
from atc.events import Observer
from atc.retrieve.base import Retriever
from atc.types import Solution
from protocols.ask import Ask
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.journal import Journal


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The parts that a strategy puts together. Writes in `toolbox` are gated already."""

    toolbox: Toolbox
    retriever: Retriever
    ask: Ask
    sandbox: Sandbox
    journal: Journal
    config: Config
    observer: Observer

    @property
    def prompt_tokens(self) -> int:
        """Tokens that descriptions of tools may take in a prompt."""
        return self.config.prompt_tokens or self.ask.prompt_tokens


Strategy = Callable[[str, Parts], Solution]
"""Solves a task. Raises `ModelUnavailable` or `SandboxUnavailable` for outages, which are no verdict on the task."""
