"""`HttpCall`, which calls a tool over HTTP: it sends its requests and reads the responses."""

from __future__ import annotations

import math
import random
import time
from dataclasses import replace

from protocols.errors import InvalidProtocol, ToolError
from protocols.http.credentials import (
    MASK,
    RequestSecret,
    add_secrets,
    refused_credential_remedy,
)
from protocols.http.curl import curl_command
from protocols.http.filled_parameters import fixed_headers
from protocols.http.oauth import Keyring
from protocols.http.received_files import FileReceiver
from protocols.http.redirects import follow_redirects
from protocols.http.request import HttpRequest, RequestBuilder
from protocols.http.tool_login import ToolLogin
from protocols.http.transport import LATE
from protocols.pace import Paces, announced_pause
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.response import Answer, ToolResponse, UnreadableBody, one_line, read_body
from protocols.response_headers import kept_headers
from protocols.schema import Json, JsonObject
from protocols.secrets import replace_secrets
from protocols.secrets.names import is_secret
from protocols.urls import claims_to_be_near

_BACKOFF_SECONDS = 0.25
_MOST_PAUSES = 7  # retries of a call if the service says each time how long to wait


class HttpCall:
    """A callable that sends the HTTP requests of one tool and returns the full response."""

    def __init__(
        self,
        protocol: ToolProtocol,
        binding: HttpBinding,
        keyring: Keyring,
        paces: Paces,
        *,
        reads: bool,
        account: str,
        source: str,
    ) -> None:
        self._protocol = protocol
        self._binding = binding
        self._keyring = keyring
        self._reads = reads
        self._plan = RequestBuilder(protocol, binding)
        if not keyring.settings.near_hosts and claims_to_be_near(self._plan.origin.host):
            raise InvalidProtocol(
                protocol.name,
                f"it calls {self._plan.origin.url}, on this machine or its own networks,"
                " which these tools may not.",
                path="binding.http.url",
                hint="Give its source yourself with --tools. near_hosts is off, as it is for tools"
                " that an untrusted atc.toml names ('atc config trust').",
            )
        names = [one.netloc for one in self._plan.origin.names]
        self._limits = keyring.settings.limits_of(*names)
        self._pace = paces.of(min(names), self._limits)
        self._files = FileReceiver.of(
            protocol, keyring.mask, most_bytes=keyring.settings.max_file_bytes
        )
        self._fixed = fixed_headers(keyring.settings, self._plan.origin)
        self._secret_headers = tuple(
            one.name for one in self._fixed if is_secret(one.name, one.value)
        )
        self._login = ToolLogin(protocol, binding, keyring, account=account, source=source)
        self._reserved = [
            *keyring.placements(self._login.requirements),
            *((one.place, one.name) for one in self._fixed),
        ]

    def __call__(self, arguments: JsonObject, *, idempotency_key: str | None = None) -> Json:
        """Call the tool with arguments keyed by original name, and return the value of `respond`.

        Raises:
            ToolError: see `respond`.
        """
        return self.respond(arguments, idempotency_key=idempotency_key).value

    def respond(
        self,
        arguments: JsonObject,
        *,
        idempotency_key: str | None = None,
        query: JsonObject | None = None,
    ) -> ToolResponse:
        """Call the tool with arguments keyed by original name, and return the full response.

        `query` has further values for the query of the request.

        Raises:
            ToolError: the call failed. It says what is known about the effect of the call.
        """
        request = self._build(arguments, idempotency_key, query)
        mask = self._keyring.mask
        secrets = self._login.secrets()
        answer, committed = self._exchange(request, secrets)
        if answer.status == 401 and secrets and not committed:  # refused, so nothing was done
            self._keyring.reject(secret.credential for secret in secrets)
            renewed = self._login.secrets()
            if renewed != secrets:
                secrets = renewed
                answer, committed = self._exchange(request, secrets)
        if answer.succeeded:
            try:
                return self._response(answer, request.url)
            except UnreadableBody as error:
                answer = Answer(status=answer.status, trouble=str(error))
        # Raised outside of `except`: the context of the error would contain URLs.
        hidden = replace_secrets(dict(arguments), self._protocol.input_schema, lambda _: MASK)
        raise ToolError(
            answer.status,
            one_line(mask(answer.problem)),
            outcome="unknown" if committed else answer.outcome(reads=self._reads),
            curl=curl_command(self._build(hidden, idempotency_key, query), secrets, mask),
            retry_after=answer.retry_after,
            answer=mask(answer.text()) if answer.headers or answer.body else None,
            remedy=self._remedy(
                answer, tuple(one.credential for one in secrets) or self._secret_headers
            ),
        )

    @property
    def homes(self) -> set[str]:
        """Hosts that calls may reach although they are on this machine or its networks."""
        return self._keyring.homes

    def _response(self, answer: Answer, url: str) -> ToolResponse:
        """Return the response for the answer to a successful request to `url`.

        Raises:
            UnreadableBody: the body is text that cannot be read as the tool's document says.
        """
        mask = self._keyring.mask
        headers = mask.result(kept_headers(answer.headers))
        file = self._files.file_of(answer, url)
        if file is None:
            try:
                value = mask.result(read_body(answer, self._protocol.output_schema, mask=mask))
                return ToolResponse(value, answer.status, headers)
            except UnreadableBody:
                file = self._files.binary_of(answer, url)
                if file is None:
                    raise
        return ToolResponse(file, answer.status, headers, {(): file})

    @property
    def login(self) -> ToolLogin:
        """The credentials of the tool."""
        return self._login

    @property
    def credentials(self) -> tuple[str, ...]:
        """The names of the credentials that a call sends.

        A call without credentials may send headers with secrets; then these are their names.
        """
        chosen = self._keyring.chosen(self._login.requirements)
        return tuple(chosen.values()) or self._secret_headers

    @property
    def has_secrets(self) -> bool:
        """True if a call sends a credential, or headers from the user's settings."""
        return bool(self.credentials or self._fixed)

    def _remedy(self, answer: Answer, sent: tuple[str, ...]) -> str | None:
        """Return what a person must do so that the call can succeed; None if that is not known.

        `sent` are the names of the credentials of the call, see `credentials`.
        """
        tool = self._protocol.name
        problem = one_line(self._keyring.mask(answer.problem))
        if answer.unreachable:
            return f"{tool}: {problem}."
        if answer.status not in (401, 403):
            return None
        if not sent:
            return self._login.sibling_advice(answer.status)
        places = {name: self._keyring.place_of(name) for name in sent}
        if sent == self._secret_headers:
            places = dict.fromkeys(sent, "a header of your settings")
        elif answer.status == 401:
            self._keyring.reject(sent)
        return refused_credential_remedy(
            tool, self._plan.origin, answer.status, problem, places, test=self._login.command
        )

    def check(self, arguments: JsonObject) -> None:
        """Check that these arguments can be sent, without sending anything.

        Raises:
            ToolError: they cannot.
        """
        self._build(arguments)

    def _build(
        self,
        arguments: JsonObject,
        idempotency_key: str | None = None,
        query: JsonObject | None = None,
    ) -> HttpRequest:
        """Return the request for `arguments`, without credentials.

        It includes the headers that the user has configured for the host. `query` has further
        values for its query.
        """
        plain = self._plan.build(arguments, reserved=self._reserved, query=query)
        request = add_secrets(plain, self._fixed)
        header = self._binding.idempotency_header
        if header is None or idempotency_key is None:
            return request
        return replace(request, headers={**request.headers, header: idempotency_key})

    def _exchange(self, request: HttpRequest, secrets: list[RequestSecret]) -> tuple[Answer, bool]:
        """Send a request and return the last response. Temporary failures of reads are retried.

        The second item of the result is True if a write was accepted before that response. A
        service may accept a write and redirect to its result. If fetching the result then fails,
        the write has not failed.
        """
        settings = self._keyring.settings
        attempt = 0
        deadline = math.inf  # the time of a call begins when its turn has come

        def send(one: HttpRequest) -> Answer:
            sent = add_secrets(one, secrets)
            origin = self._plan.origin
            return self._keyring.transport.send(
                sent, origin, deadline=deadline, limits=self._limits, files=self._files
            )

        while True:
            left = min(self._limits.call_seconds, deadline - time.monotonic())
            with self._pace.call(most_seconds=left):
                deadline = min(deadline, time.monotonic() + self._limits.call_seconds)
                answer, last = follow_redirects(request, send)
            if answer.trouble.endswith(LATE):
                within = f" within {self._limits.call_seconds:g} s; {self._limits.time_advice}"
                answer = replace(answer, trouble=answer.trouble.removesuffix(LATE) + within)
            pause = self._heed_pause(answer)
            jitter = random.uniform(0.5, 1.5)  # noqa: S311 - not used for security
            wait = pause if pause is not None else _BACKOFF_SECONDS * 2**attempt * jitter
            late = time.monotonic() + wait >= deadline
            most = settings.retries if pause is None else settings.retries and _MOST_PAUSES
            if not (answer.passing and self._reads) or late or attempt >= most:
                return answer, last.method != request.method and not self._reads
            if pause is None:
                settings.sleep(wait)
            attempt += 1

    def _heed_pause(self, answer: Answer) -> float | None:
        """Slow down the calls of the service if an answer of it asks for that.

        Return the seconds after which it takes the next call, or None if it does not say so.
        """
        asks = answer.status == 429 or (answer.status == 503 and answer.retry_after is not None)
        pause = announced_pause(answer.headers)
        if asks and answer.retry_after is not None:
            pause = answer.retry_after
        if self._keyring.settings.retries:
            if asks:
                self._pace.slow_down()
            elif answer.status is not None:
                self._pace.speed_up()
            if pause is not None:
                self._pace.pause(pause)
        return pause
