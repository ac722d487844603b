"""What every strategy works with."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from atc.config import Config, InvalidConfig
from atc.consent import Consent
from atc.events import Observer
from atc.meter import Meter
from atc.models.prices import Price, price_of
from atc.past import Past
from atc.redaction import Redactor
from atc.retrieve.base import Retriever
from atc.typed import Problem
from atc.types import Solution
from protocols.ask import Ask
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.journal import Journal


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The parts that a strategy puts together. Writes in `toolbox` are gated already.

    `past` is what the run did before it was interrupted or paused; `accept_orphans`: a person has said that writes
    which the final program does not make may stand.
    """

    toolbox: Toolbox
    finder: Callable[[Ask | None], Retriever]
    """Gives the search over `toolbox`; a method that asks a model asks the one given, with None none is asked."""
    ask: Ask
    sandbox: Sandbox
    journal: Journal
    config: Config
    observer: Observer
    consent: Consent
    past: Past
    redact: Redactor
    accept_orphans: bool = False
    problem: Problem | None = None
    """Says what is wrong with the form of an answer, where the caller asked for one."""

    @property
    def prompt_tokens(self) -> int:
        """Tokens that descriptions of tools may take in a prompt."""
        return self.config.prompt_tokens or self.ask.prompt_tokens

    @property
    def samples(self) -> int:
        """Replies that may be drawn to one prompt: the setting, or else what suits the model."""
        return self.config.samples or int(getattr(self.ask, "samples", 1))

    def meter(self) -> Meter:
        """The model of this run with its budget."""
        config = self.config
        return Meter(
            self.ask,
            self.observer,
            max_seconds=config.max_seconds,
            max_tokens=config.max_tokens,
            max_calls=config.max_model_calls,
            max_cost=config.max_cost,
            price=None if config.max_cost is None else _price(config, self.ask.name),
            past=self.past,
            redact=self.redact,
            restore=self.redact.restored,
        )


Strategy = Callable[[str, Parts], Solution]
"""Solves a task. Raises `ModelUnavailable` or `SandboxUnavailable` for outages, which are no verdict on the task."""


def _price(config: Config, model: str) -> Price:
    """What the model costs, without which a cap on the cost could not hold."""
    price = Price(*config.model_price) if config.model_price else price_of(model)
    if price is None:
        raise InvalidConfig(
            f"max_cost = {config.max_cost:g} needs a price, and none is known for the model {model!r}: set model_price"
            " to USD for a million tokens of prompts and of replies, such as [0.25, 2.0]."
        )
    return price
