"""A model with the run's bookkeeping around it: what was asked, what it took, and when to stop."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from atc.events import ModelAsked, ModelReplied, Noted, Observer
from atc.past import Past
from atc.types import Usage
from protocols.ask import Ask, Completion, Message, Powers, powers

PROGRAM_TOKENS = 900
"""Longest program that is waited for; a small model that writes more has begun to repeat itself."""

_FIRST_TO_LATER = 4
"""How many times longer than a later one the first reply is taken to be. Ten and more were seen with the embedded model
and tools that it had not read before."""


class BudgetSpent(Exception):
    """The run's time, tokens or calls are used up; `limit` names which, in words a person set it by."""

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit


class Meter:
    """Asks the model within a budget and counts what it takes. One a run.

    What was asked in the run's `past` is not asked again; it counts towards the usage, not towards the budget's time.
    `redact` takes sensitive values out of every prompt before the model, or anybody else, sees it;
    `restore` puts them in the place of placeholders that the model copied into its reply.
    """

    def __init__(
        self,
        ask: Ask,
        observer: Observer,
        *,
        max_seconds: float | None = None,
        max_tokens: int | None = None,
        max_calls: int | None = None,
        past: Past | None = None,
        redact: Callable[[str], str] = str,
        restore: Callable[[str], str] = str,
    ) -> None:
        self._ask, self._observer, self._past = ask, observer, past or Past()
        self._redact, self._restore = redact, restore
        self._max_seconds, self._max_tokens, self._max_calls = max_seconds, max_tokens, max_calls
        self._began = time.monotonic()
        self._first = self._slowest = 0.0  # seconds of the first reply, and of the slowest one after it
        self._notes: dict[str, None] = {}
        self.usage = self._past.usage

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return time.monotonic() - self._began

    @property
    def seconds_left(self) -> float | None:
        """Of the run's time; None when it has no limit."""
        return None if self._max_seconds is None else max(0.0, self._max_seconds - self.seconds)

    @property
    def powers(self) -> Powers:
        """What the model can be held to. They may become fewer: read them for each request."""
        return powers(self._ask)

    @property
    def notes(self) -> tuple[str, ...]:
        """What `note` was told."""
        return tuple(self._notes)

    def note(self, sentence: str) -> None:
        """Say, once a run, that something is done otherwise than the settings ask for."""
        if sentence not in self._notes:
            self._notes[sentence] = None
            self._observer(Noted(sentence))

    def complete(
        self,
        messages: Sequence[Message],
        *,
        purpose: str,
        temperature: float,
        seed: int,
        max_tokens: int = PROGRAM_TOKENS,
        schema: Mapping[str, Any] | None = None,
        grammar: str | None = None,
        statement: int | None = None,
    ) -> Completion:
        """Ask the model; `statement` numbers the requests of a program that is asked for statement by statement.

        Raises:
            BudgetSpent: there is no time for another reply, or no tokens or requests are left.
            ModelUnavailable: the model gave no reply.
        """
        messages = [replace(message, content=self._redact(message.content)) for message in messages]
        known = self._past.reply(messages, self._redact)
        if known is not None:
            # Whether it was cut is not stored; one that was has as many tokens as it was allowed.
            return replace(known, text=self._restore(known.text), truncated=known.output_tokens >= max_tokens)
        self._require_budget()
        self._observer(ModelAsked(purpose, tuple(messages), statement))
        began = time.monotonic()
        completion = self._ask(
            messages, schema=schema, grammar=grammar, temperature=temperature, seed=seed, max_tokens=max_tokens
        )
        took = time.monotonic() - began
        if self._first:
            self._slowest = max(self._slowest, took)
        else:
            self._first = took
        self.usage = Usage(
            model_calls=self.usage.model_calls + 1,
            input_tokens=self.usage.input_tokens + completion.input_tokens,
            output_tokens=self.usage.output_tokens + completion.output_tokens,
            model_seconds=self.usage.model_seconds + took,
            cached_tokens=self.usage.cached_tokens + completion.cached_tokens,
        )
        completion = replace(completion, seconds=took)
        self._observer(ModelReplied(purpose, completion, statement))
        return replace(completion, text=self._restore(completion.text))

    def asker(self, purpose: str) -> Ask:
        """The model as an `Ask` whose questions are the run's: counted, shown, stored and not asked again."""
        return _Metered(self, self._ask, purpose)

    def _require_budget(self) -> None:
        left = self.seconds_left
        # The first reply took reading the tools; those after it begin where that left off.
        if left is not None and left <= (self._slowest or self._first / _FIRST_TO_LATER):
            raise BudgetSpent(f"max_seconds = {self._max_seconds:g}")
        if self._max_tokens is not None and self.usage.tokens >= self._max_tokens:
            raise BudgetSpent(f"max_tokens = {self._max_tokens}")
        if self._max_calls is not None and self.usage.model_calls >= self._max_calls:
            raise BudgetSpent(f"max_model_calls = {self._max_calls}")


@dataclass(frozen=True, slots=True)
class _Metered:
    """An `Ask` for a part that knows nothing of runs."""

    meter: Meter
    ask: Ask
    purpose: str

    @property
    def name(self) -> str:
        return self.ask.name

    @property
    def prompt_tokens(self) -> int:
        return self.ask.prompt_tokens

    @property
    def powers(self) -> Powers:
        return powers(self.ask)

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
        return self.meter.complete(
            messages,
            purpose=self.purpose,
            temperature=temperature,
            seed=seed,
            max_tokens=max_tokens,
            schema=schema,
            grammar=grammar,
        )
