"""The model of one run, which enforces the budget, redacts prompts and replays stored replies."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from atc.core.config import Config
from atc.core.events import ModelAsked, ModelReplied, NoteAdded, Observer
from atc.core.parallel import (
    ModelReply,
    ModelRequest,
    ask_once,
    require_completion,
    run_parallel,
    wait_until,
)
from atc.core.replies import is_repeating, without_cut_program
from atc.core.types import Usage
from atc.models.prices import FREE, Price
from atc.run.resume import ResumedRun
from atc.safety.redaction import Redactor
from protocols.errors import OutOfTime
from protocols.model import Ask, Completion, Message, Powers, powers

_RAISE = 4
"""Factor by which the limit of tokens is raised for a reply that was cut."""


class BudgetSpent(Exception):
    """The run has used up its time, tokens, cost or calls.

    `limit` is the setting and its value, such as `max_seconds = 60`.
    """

    def __init__(self, limit: str) -> None:
        super().__init__(limit)
        self.limit = limit


class BudgetedModel:
    """Asks the model within the budget of `config` and counts usage. Each run has its own instance.

    `price` is the model's price. Prompts that are stored in `past`, the earlier part of a resumed
    run, are not sent again; they count towards the usage, but not towards the time budget. `redact`
    removes sensitive values from every prompt before the model or an observer sees it, and restores
    them where the model copied a placeholder into its reply.
    """

    def __init__(
        self,
        ask: Ask,
        observer: Observer,
        config: Config,
        *,
        price: Price = FREE,
        past: ResumedRun | None = None,
        redact: Redactor | None = None,
    ) -> None:
        self._model = ask
        self._observer = observer
        self._config = config
        self._price = price
        self._past = past or ResumedRun()
        self._redact = redact or Redactor()
        self._began = time.monotonic()
        self._notes: dict[str, None] = {}
        self.usage = self._past.usage

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._began

    @property
    def seconds_left(self) -> float | None:
        """Remaining seconds of the run, or None without a time limit."""
        most = self._config.max_seconds
        return None if most is None else max(0.0, most - self.seconds)

    @property
    def spent_time(self) -> str | None:
        """The time limit of the run as text, such as `max_seconds = 60`; None if time is left."""
        most = self._config.max_seconds
        return None if most is None or self.seconds < most else f"max_seconds = {most:.15g}"

    @property
    def powers(self) -> Powers:
        """The constraints on replies that the model can enforce, such as a grammar.

        A constraint can be lost during a run, so read this property anew for each request.
        """
        return powers(self._model)

    @property
    def notes(self) -> tuple[str, ...]:
        """The sentences reported with `note`, without duplicates."""
        return tuple(self._notes)

    def note(self, sentence: str) -> None:
        """Add a sentence to the notes of the run: something was not done as the settings ask.

        A sentence that was added before is ignored.
        """
        if sentence not in self._notes:
            self._notes[sentence] = None
            self._observer(NoteAdded(sentence))

    def complete(
        self,
        messages: Sequence[Message],
        *,
        purpose: str,
        max_tokens: int | None = None,
        **options: Any,
    ) -> Completion:
        """Ask the model and return its reply. `options` are those of `Ask`.

        If the end of a program in the reply is missing, the model is asked once more. A program
        whose end is still missing then is left out of the reply, and the notes of the run say so.
        If `max_tokens` is None, the reply may be as long as a program (`limits.program_tokens`).

        Raises:
            BudgetSpent: the run's time is over, before or while the reply was written; or no tokens
                or requests are left.
            ModelUnavailable: the model gave no reply.
        """
        most = max_tokens or self._config.limits.program_tokens
        request = ModelRequest(messages, max_tokens=most, **options)
        reply = self._ask(request, purpose)
        is_free = request.schema is None and request.grammar is None
        if not is_free or _without_cut_program(reply) is None:
            return reply
        if not is_repeating(reply.text):
            reply = self._ask_for_rest(request, reply, purpose)
        kept = _without_cut_program(reply)
        if kept is None:
            return reply
        self.note("A reply of the model ended before its program did, so that program was not run.")
        return replace(reply, text=kept)

    def _ask(self, request: ModelRequest, purpose: str) -> Completion:
        return require_completion(self._replies([request], map, purpose)[0])

    def _ask_for_rest(self, request: ModelRequest, begun: Completion, purpose: str) -> Completion:
        """Return the whole reply of which `begun` is the beginning.

        The model continues it if the endpoint can do that. Otherwise it is asked again, with a
        larger limit of tokens.
        """
        if not self.powers.continues:
            return self._ask(request._replace(max_tokens=_RAISE * request.max_tokens), purpose)
        before, prefill = list(request.messages), ""
        if before[-1].role == "assistant":
            prefill = before.pop().content
        so_far = Message("assistant", prefill + begun.text)
        rest = self._ask(request._replace(messages=[*before, so_far]), purpose)
        return replace(rest, text=begun.text + rest.text)

    def each(
        self, requests: Sequence[ModelRequest], most: int, *, purpose: str
    ) -> list[ModelReply]:
        """Send several requests, at most `most` at a time, and return the replies in their order.

        The requests are counted and stored in this order, too. If the budget limits requests,
        tokens or cost, they are sent one after another. `atc.core.parallel.ask_each` calls this
        method.

        Raises:
            BudgetSpent: the budget is used up before one of the requests. Replies received until
                then are stored.
        """
        return self._replies(requests, partial(run_parallel, most=most, ordered=True), purpose)

    def _replies(
        self,
        requests: Sequence[ModelRequest],
        each: Callable[..., Iterable[ModelReply]],
        purpose: str,
    ) -> list[ModelReply]:
        """Return the replies to `requests`, in their order.

        The function `each` applies a function to all requests, as `map` does; it may do so in
        parallel.
        """
        requests = [self._redacted(request) for request in requests]
        known = [self._past.reply(request.messages, self._redact) for request in requests]
        config = self._config
        bounded = any(
            most is not None
            for most in (config.max_tokens, config.max_cost, config.max_model_calls)
        )
        new = [request for request, found in zip(requests, known, strict=True) if found is None]
        waiting = iter((map if bounded else each)(self._reply, new))
        replies = list[ModelReply]()
        mark = time.monotonic()
        for request, found in zip(requests, known, strict=True):
            if found is not None:
                replies.append(replace(found, text=self._redact.restore(found.text)))
                continue
            self._require_budget()
            self._observer(ModelAsked(purpose, tuple(request.messages)))
            one = next(waiting)
            took = time.monotonic() - mark
            mark = time.monotonic()  # so that the times add up to the total
            # Only the time is counted for a reply that came too late.
            if isinstance(one, OutOfTime):
                self.usage += Usage(model_seconds=took)
                raise BudgetSpent(f"max_seconds = {config.max_seconds:g}")
            if isinstance(one, Completion):
                one = replace(one, seconds=took)
                self.usage += Usage.of(one)
                self._observer(ModelReplied(purpose, one))
                one = replace(one, text=self._redact.restore(one.text))
            replies.append(one)
        return replies

    def _redacted(self, request: ModelRequest) -> ModelRequest:
        messages = [
            replace(message, content=self._redact(message.content)) for message in request.messages
        ]
        return request._replace(messages=messages)

    def _reply(self, request: ModelRequest) -> ModelReply:
        """Send one request, and wait for the reply at most until the run's deadline.

        The deadline is set here, because this may run in a thread of its own.
        """
        most = self._config.max_seconds
        with wait_until(math.inf if most is None else self._began + most):
            return ask_once(self._model, request)

    def asker(self, purpose: str) -> Ask:
        """Return an object with the interface `Ask` for the run's model.

        Its requests are part of the run: they are counted, stored and replayed like all others.
        """
        return _BudgetedAsk(self, self._model, purpose)

    def _require_budget(self) -> None:
        """Check that no limit of the budget is reached.

        Raises:
            BudgetSpent: a limit is reached.
        """
        spent = {
            "max_seconds": self.seconds,
            "max_tokens": self.usage.tokens,
            "max_model_calls": self.usage.model_calls,
            # Cached tokens are counted at full price, so the real cost may be lower but never
            # higher.
            "max_cost": self._price.of(self.usage.input_tokens, self.usage.output_tokens),
        }
        for name, used in spent.items():
            most = getattr(self._config, name)
            if most is not None and used >= most:
                raise BudgetSpent(f"{name} = {most:.15g}")


def _without_cut_program(reply: Completion) -> str | None:
    """Return the text of a reply without a program whose end is missing, or None if none is."""
    return without_cut_program(reply.text, truncated=reply.truncated)


class _BudgetedAsk:
    """The model for components that know only the interface `Ask`, not the run and its budget.

    Each request counts towards the budget of the run. `purpose` says in the run's events what the
    requests are for.
    """

    def __init__(self, meter: BudgetedModel, ask: Ask, purpose: str) -> None:
        self._meter = meter
        self._purpose = purpose
        self.name = ask.name
        self.prompt_tokens = ask.prompt_tokens

    @property
    def powers(self) -> Powers:
        return self._meter.powers

    def __call__(self, messages: Sequence[Message], **options: Any) -> Completion:
        return self._meter.complete(messages, purpose=self._purpose, **options)

    def each(self, requests: Sequence[ModelRequest], most: int) -> list[ModelReply]:
        return self._meter.each(requests, most, purpose=self._purpose)
