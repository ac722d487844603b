"""Several requests to a model side by side, where one that fails does not take the others' replies along."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, runtime_checkable

from protocols.ask import Ask, Completion, Message
from protocols.errors import ModelUnavailable


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What a model is asked: a prompt, what holds the reply, and how long it may be. See `Ask`."""

    messages: Sequence[Message]
    schema: Mapping[str, Any] | None = None
    grammar: str | None = None
    temperature: float = 0.0
    seed: int = 0
    max_tokens: int = 1024


Reply: TypeAlias = Completion | ModelUnavailable


@runtime_checkable
class AskEach(Protocol):
    """An `Ask` that keeps a record of what it was asked: it is given all requests at once, to record them in order."""

    def each(self, requests: Sequence[Request], threads: Executor) -> Sequence[Reply]:
        """See `ask_each`."""


def ask_each(ask: Ask, requests: Sequence[Request], threads: Executor) -> Sequence[Reply]:
    """The reply to each request, asked on `threads`; an outage stands in the place of the reply it prevented."""
    if isinstance(ask, AskEach):
        return ask.each(requests, threads)
    return list(threads.map(lambda request: reply(ask, request), requests))


def reply(ask: Ask, request: Request) -> Reply:
    """The reply to one request, or the outage that prevented it."""
    try:
        return ask(
            request.messages,
            schema=request.schema,
            grammar=request.grammar,
            temperature=request.temperature,
            seed=request.seed,
            max_tokens=request.max_tokens,
        )
    except ModelUnavailable as error:
        return error


def require(reply: Reply) -> Completion:
    """A reply that was had. Raises the outage that prevented it."""
    if isinstance(reply, ModelUnavailable):
        raise reply
    return reply
