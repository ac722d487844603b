"""A model that counts: what a search takes stands in its `Retrieval.usage`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from threading import Lock
from typing import Any

from atc.types import Usage
from protocols.ask import Ask, Completion, Message, Powers, powers
from protocols.ask_each import Reply, Request, ask_each


class Tally:
    """`ask` with a count of what it took, from `usage` on; one a search. Several threads may ask at once."""

    def __init__(self, ask: Ask, usage: Usage | None = None) -> None:
        self._ask = ask
        self._lock = Lock()
        self.usage = usage or Usage()

    @property
    def name(self) -> str:
        """The model's name."""
        return self._ask.name

    @property
    def prompt_tokens(self) -> int:
        """See `Ask.prompt_tokens`."""
        return self._ask.prompt_tokens

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
        """Continue `messages`, see `Ask`; a call that raises is not counted."""
        completion = self._ask(
            messages, schema=schema, grammar=grammar, temperature=temperature, seed=seed, max_tokens=max_tokens
        )
        self._count(completion)
        return completion

    def each(self, requests: Sequence[Request], threads: Executor) -> Sequence[Reply]:
        """The reply to each request, see `ask_each`."""
        replies = ask_each(self._ask, requests, threads)
        for reply in replies:
            if isinstance(reply, Completion):
                self._count(reply)
        return replies

    def _count(self, completion: Completion) -> None:
        with self._lock:
            self.usage = Usage(
                model_calls=self.usage.model_calls + 1,
                input_tokens=self.usage.input_tokens + completion.input_tokens,
                output_tokens=self.usage.output_tokens + completion.output_tokens,
                cached_tokens=self.usage.cached_tokens + completion.cached_tokens,
                model_seconds=self.usage.model_seconds + completion.seconds,
            )
