"""Asking the person who uses a client of the gateway for consent to a call, over MCP.

In protocol versions up to 2025-11-25, the server can ask while it handles a request. Since
2026-07-28, the reply contains the question instead: the run is paused, and a second request of the
client continues it with the answer. Each question has an id, and an answer counts only for the
question that has the id in the answer.
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
"""Seconds that a request waits for an answer. Then the run is paused; the question stays open."""
_MOST_ROUNDS = 8
"""Maximum number of questions that are asked for one request. Then the run is paused.

Some clients give up after ten.
"""
_NO = "no"
_THIS = "this call"
_THESE = "these calls"
"""The choices in the form that a person fills in: no, or to send the call (`_THIS`).

If the question lists several calls, `_THESE` takes the place of `_THIS`.
"""


class RequestState(NamedTuple):
    """Data that the server sends with a question, and that the client returns with the answer.

    It is encrypted and valid only with the same arguments, so the client can neither read nor
    change it.
    """

    run: str = ""
    """The handle of the paused run, see `Gateway.handle_of`."""
    asked: str = ""
    """The id of the question that was asked."""
    agreed: tuple[str, ...] = ()
    """Ids of the questions that were answered with yes but whose calls have not been made yet."""
    yes: str = ""
    """The choice in the form that means yes: `_THIS` or `_THESE`."""
    rounds: int = 0
    """Number of questions that were asked so far for the same request."""

    @classmethod
    def of(cls, params: types.CallToolRequestParams) -> Self:
        """Return the state that a client sent back together with its answer to a question.

        The state is empty if the request answers no question.
        """
        if params.request_state is None:
            return cls()
        run, asked, agreed, yes, rounds = json.loads(params.request_state)
        return cls(run, asked, tuple(agreed), yes, rounds)


class ClientConsent:
    """Asks the person who uses a client for consent to the calls of one request.

    Some clients cannot be asked while the server handles their request. Then `later` is True: the
    question is stored in `open`, and the client's next request contains the answer and continues
    the paused run. `answers` has the answers so far, keyed by the id of the question; None means
    that the person has not decided.
    """

    def __init__(self, ctx: Context, params: types.CallToolRequestParams) -> None:
        capabilities = ctx.session.client_capabilities
        self._ctx = ctx
        self._loop = asyncio.get_running_loop()
        asks = capabilities.elicitation if capabilities is not None else None
        # A capability without details means that the client can show forms.
        self._can = asks is not None and (asks.form is not None or asks.url is None)
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
        """Stop waiting for an answer, because the client has too many open questions."""
        self.gave_way = True
        self.leave()

    def leave(self) -> None:
        """Stop waiting for an answer, because the client has cancelled the request."""
        if self._asking is not None:
            self._asking.cancel()

    def ask(self, question: Question) -> bool | None:
        """Return the person's decision about a call, or None if they have not decided.

        It blocks the thread that runs the program; two threads never call it at the same time.
        """
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
        except (TimeoutError, CancelledError):  # no answer in time, or the client is gone
            self._asking.cancel()
            return None

    async def _elicit(self, question: Question) -> bool | None:
        """Let the client show the question to its user, and return the user's decision."""
        response = await self._ctx.session.elicit_form(
            question_text(question), _schema(question), related_request_id=self._ctx.request_id
        )
        return _decision(response, _yes(question))

    def build_question_reply(self, run: str) -> types.InputRequiredResult:
        """Return a reply that contains the question in `open`, and the state for the next request.

        The client asks its user. Then it sends the request again, with the answer and the state.
        """
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
    """Return the choice that means yes in the form with which a person answers the question.

    It is `_THIS` if the question is about one call, or `_THESE` if it lists several.
    """
    return _THESE if question.others else _THIS


def _schema(question: Question) -> dict[str, Any]:
    """Return the JSON Schema of the form in which the person answers the question."""
    title = "Send them?" if question.others else "Send it?"
    allow = {"type": "string", "title": title, "enum": [_NO, _yes(question)], "default": _NO}
    return {"type": "object", "properties": {"allow": allow}, "required": ["allow"]}


def _decision(response: object, yes: str) -> bool | None:
    """Return the person's decision that the client's `response` contains.

    Return None if the person closed the form or chose nothing valid. `yes` is the choice that means
    yes.
    """
    if not isinstance(response, types.ElicitResult):
        return None
    if response.action == "accept":
        chosen = (response.content or {}).get("allow")
        return {_NO: False, yes: True}.get(chosen) if isinstance(chosen, str) else None
    return False if response.action == "decline" else None
