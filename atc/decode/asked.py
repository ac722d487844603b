"""Requests to a model while one call is written, and what they took together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from protocols.ask import Ask, Completion, Message, Powers, powers


class Tally:
    """Asks the model and adds up what its replies took."""

    def __init__(self, ask: Ask) -> None:
        self.ask = ask
        self._replies: list[Completion] = []

    def __call__(
        self,
        messages: Sequence[Message],
        *,
        schema: Mapping[str, Any] | None = None,
        grammar: str | None = None,
        temperature: float,
        seed: int,
        max_tokens: int,
    ) -> Completion:
        """One reply, see `protocols.ask.Ask`."""
        completion = self.ask(
            messages, schema=schema, grammar=grammar, temperature=temperature, seed=seed, max_tokens=max_tokens
        )
        return self.add(completion)

    def add(self, completion: Completion) -> Completion:
        """Count a reply that was had otherwise."""
        self._replies.append(completion)
        return completion

    @property
    def powers(self) -> Powers:
        """What the endpoint enforces, as it says now: a refusal may have taught it better."""
        return powers(self.ask)

    def counts(self) -> dict[str, Any]:
        """`requests`, tokens and seconds of all replies."""
        return {
            "requests": len(self._replies),
            "input_tokens": sum(reply.input_tokens for reply in self._replies),
            "output_tokens": sum(reply.output_tokens for reply in self._replies),
            "cached_tokens": sum(reply.cached_tokens for reply in self._replies),
            "seconds": sum(reply.seconds for reply in self._replies),
        }


def going_on(messages: Sequence[Message], text: str) -> list[Message]:
    """The conversation after the assistant wrote `text`, which goes on from its last words where those came last."""
    if messages and messages[-1].role == "assistant":
        return [*messages[:-1], Message("assistant", messages[-1].content + text)]
    return [*messages, Message("assistant", text)]
