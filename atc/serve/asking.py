"""How a gateway asks the person at its client, over MCP, and which answer is taken for which question.

Consent is asked in the middle of a request where the connection lets the server ask (protocol versions up to
2025-11-25); since 2026-07-28 the reply says what is asked, the run waits paused, and the client's second request goes
on with it. An answer is for the one question that the reply had, by its id: for any other, the person is asked again.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import CancelledError, Future
from contextlib import AbstractContextManager, nullcontext
from typing import Any, NamedTuple, Self, TypeAlias

import mcp_types as types
from mcp.server.context import ServerRequestContext

from atc.safety.questions import Question, question_text

Context: TypeAlias = ServerRequestContext[Any, Any]

_PERSON_SECONDS = 900.0
"""A question that nobody answers for so long stays open, and the run waits paused."""
_MOST_ROUNDS = 8
"""Questions after which a client is told that its run is paused, and goes on with it: some give up after ten."""
_NO = "no"
_THIS = "this call"
_THESE = "these calls"
"""What a person may answer; the last where a question lists several calls."""


class RequestState(NamedTuple):
    """What a client echoes with its person's answer; sealed, and bound to the arguments of the request."""

    run: str = ""
    """The handle of the run that waits."""
    asked: str = ""
    """The id of the question that the answer is for."""
    agreed: tuple[str, ...] = ()
    """Ids of questions with a yes, whose calls have not come yet."""
    yes: str = ""
    """What the question offered as a yes."""
    rounds: int = 0

    @classmethod
    def of(cls, params: types.CallToolRequestParams) -> Self:
        """That of a request; an empty one where it is no answer."""
        if params.request_state is None:
            return cls()
        run, asked, agreed, yes, rounds = json.loads(params.request_state)
        return cls(run, asked, tuple(agreed), yes, rounds)


class ClientConsent:
    """Asks the person at the client about one request's calls.

    `later` is set where the connection has no way back: the question stays `open`, and the client's next request, with
    the answer, goes on with the paused run. `answers` are those that are known, by the id of their question; None is
    that of a person who has not decided.
    """

    def __init__(self, ctx: Context, params: types.CallToolRequestParams) -> None:
        capabilities = ctx.session.client_capabilities
        self._ctx = ctx
        self._loop = asyncio.get_running_loop()
        asks = capabilities.elicitation if capabilities is not None else None
        self._can = asks is not None and (
            asks.form is not None or asks.url is None
        )  # an empty one means forms
        self._state = RequestState.of(params)
        self.later = self._can and not ctx.session.can_send_request
        self.open: Question | None = None
        self.answers: dict[str, bool | None] = dict.fromkeys(self._state.agreed, True)
        if (response := (params.input_responses or {}).get("consent")) is not None:
            self.answers[self._state.asked] = _decision(response, self._state.yes)
        self._asking: Future[bool | None] | None = None
        self.meanwhile: Callable[[], AbstractContextManager[None]] = nullcontext
        self.gave_way = False

    def give_way(self) -> None:
        """Let go of the open question, which gets no answer, since its client has asked too many others."""
        self.gave_way = True
        self.leave()

    def leave(self) -> None:
        """The client is gone: a question that is open gets no answer."""
        if self._asking is not None:
            self._asking.cancel()

    def ask(self, question: Question) -> bool | None:
        """What the person decides about this call; called from the program's threads, one after the other."""
        if not self._can:
            return None
        if question.id in self.answers:
            return self.answers.pop(question.id)
        if self.later:
            if self._state.rounds < _MOST_ROUNDS:
                self.open = self.open or question
            return None
        self._asking = asyncio.run_coroutine_threadsafe(self._elicit(question), self._loop)
        try:
            with self.meanwhile():
                return self._asking.result(_PERSON_SECONDS)
        except (TimeoutError, CancelledError):  # nobody is there, or the client has gone
            self._asking.cancel()
            return None

    async def _elicit(self, question: Question) -> bool | None:
        found = await self._ctx.session.elicit_form(
            question_text(question), _schema(question), related_request_id=self._ctx.request_id
        )
        return _decision(found, _yes(question))

    def build_question_reply(self, run: str) -> types.InputRequiredResult:
        """The reply that has the client ask its person, and come again."""
        assert self.open is not None
        form = types.ElicitRequestFormParams(
            message=question_text(self.open), requested_schema=_schema(self.open)
        )
        agreed = tuple(one for one, decision in self.answers.items() if decision)
        state = RequestState(run, self.open.id, agreed, _yes(self.open), self._state.rounds + 1)
        return types.InputRequiredResult(
            input_requests={"consent": types.ElicitRequest(params=form)},
            request_state=json.dumps(state),
        )


def _yes(question: Question) -> str:
    """Return the one answer that sends what a question lists."""
    return _THESE if question.others else _THIS


def _schema(question: Question) -> dict[str, Any]:
    """Return the form that a person fills in."""
    title = "Send them?" if question.others else "Send it?"
    allow = {"type": "string", "title": title, "enum": [_NO, _yes(question)], "default": _NO}
    return {"type": "object", "properties": {"allow": allow}, "required": ["allow"]}


def _decision(response: object, yes: str) -> bool | None:
    """Return what the person chose; None if they closed the question, or if it is none of the choices offered."""
    if not isinstance(response, types.ElicitResult):
        return None
    if response.action == "accept":
        chosen = (response.content or {}).get("allow")
        return {_NO: False, yes: True}.get(chosen) if isinstance(chosen, str) else None
    return False if response.action == "decline" else None
