"""The beginning of a run that all arms of a task share: the prompt, and the first reply."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atc.agent import Agent
from atc.config import Config
from protocols.ask import Ask, Completion, Message, Powers, powers
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox


@dataclass(frozen=True, slots=True)
class Opening:
    """What the model is asked first, and what it says."""

    messages: tuple[Message, ...]
    reply: Completion


class FirstGiven:
    """A model whose first reply is `reply` where that is given; all else the model itself answers.

    `opening` is the first question with its reply, None before it.
    """

    def __init__(self, ask: Ask, reply: Completion | None = None) -> None:
        self._ask, self._reply = ask, reply
        self.name, self.prompt_tokens = ask.name, ask.prompt_tokens
        self.opening: Opening | None = None

    @property
    def powers(self) -> Powers:
        """The model's."""
        return powers(self._ask)

    def __call__(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        grammar: str | None = None,
        temperature: float = 0.0,
        seed: int = 0,
        max_tokens: int = 1024,
    ) -> Completion:
        """As the model itself; see `protocols.ask.Ask`."""
        if self.opening is None and self._reply is not None:
            reply = self._reply
        else:
            options: dict[str, Any] = {"schema": schema, "grammar": grammar, "max_tokens": max_tokens}
            reply = self._ask(messages, temperature=temperature, seed=seed, **options)
        self.opening = self.opening or Opening(tuple(messages), reply)
        return reply


def opening_of(
    question: str, toolbox: Toolbox, *, ask: Ask, sandbox: Sandbox, config: Config, program: str | None = None
) -> Opening:
    """How a run over `toolbox` begins. With `program` the model is not asked: that program is its first reply.

    Raises:
        ModelUnavailable: the model gave no reply.
    """
    given = Completion(text=f"```python\n{program.rstrip()}\n```", model=ask.name) if program is not None else None
    first = FirstGiven(ask, given)
    Agent(toolbox, model=first, sandbox=sandbox, config=config).draft(question)
    assert first.opening is not None
    return first.opening
