"""A tool called over HTTP: the request, its redirects and retries, and what is known when it fails."""

from __future__ import annotations

import random
import re
import shlex
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from urllib.parse import urljoin

from protocols.credentials import MASK, Alternatives, Carried, Mask, carried, chosen, dress, variable_of
from protocols.errors import Outcome, ToolError
from protocols.jsontypes import Json, JsonObject
from protocols.oauth import SignIn, TokenFile
from protocols.origin import Origin, split_url
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.reply import Answer, Lost, Unreadable, essence, one_line, outcome_of, read, retry_after, text_of
from protocols.request import DEFAULT_HEADERS, HttpRequest, Plan
from protocols.secrets import covered, names_secret
from protocols.settings import InvokeSettings
from protocols.toolbox import idempotency_key
from protocols.transport import Transport

_MOST_REDIRECTS = 5
_REDIRECTS = (301, 302, 303, 307, 308)
_PASSING = (429, 502, 503, 504)
_BACKOFF_SECONDS = 0.25
_LONGEST_RETRY_AFTER = 20.0  # seconds that a read waits for


class Shared:
    """What all tools of one invoker have in common."""

    def __init__(self, settings: InvokeSettings) -> None:
        self.settings, credentials = settings, settings.credentials.values()
        self.homes = {re.sub(r":\d+$", "", host.lower()) for one in credentials for host in one.hosts}
        """Hosts that the user named, and that may be on this machine or its networks (`origin.may_reach`)."""
        self.mask = Mask(secret for one in credentials for secret in (one.value, one.client_secret))
        for server in settings.servers.values():  # which may echo what it was given
            self.mask.add(*(value for name, value in server.environment.items() if names_secret(name, value)))
        self.transport = Transport(max_body_bytes=settings.max_body_bytes, homes=self.homes)
        self.sign_in = SignIn(self.transport, TokenFile(settings.tokens), settings.open_browser)

    def secrets(
        self, offered: Alternatives, schemes: Mapping[str, JsonObject], origin: Origin, *, tool: str
    ) -> list[Carried]:
        """What a request to `origin` carries, tokens got where they are needed; see `protocols.credentials.chosen`."""
        found = []
        for name, credential in chosen(offered, schemes, self.settings.credentials, origin, tool=tool).items():
            scheme = schemes.get(name, {})
            token = credential.value or self.sign_in.token(name, credential, scheme)
            found.append(carried(name, replace(credential, value=token), scheme))
            self.mask.add(found[-1].value.rpartition(" ")[2])
        return found


class HttpCall:
    """The `Call` of a tool with an HTTP binding."""

    def __init__(self, protocol: ToolProtocol, binding: HttpBinding, shared: Shared, *, reads: bool) -> None:
        self._protocol, self._binding, self._shared, self._reads = protocol, binding, shared, reads
        self._plan = Plan(protocol, binding)
        fixed = shared.settings.headers.get(self._plan.origin.netloc, {})
        self._fixed = [Carried(place="header", name=name, value=value) for name, value in fixed.items()]

    def __call__(self, arguments: JsonObject) -> Json:
        """See `Invoker.bind`."""
        request = self._build(arguments)
        schemes, name = self._binding.schemes, self._protocol.name
        secrets = self._shared.secrets(self._binding.credentials, schemes, self._plan.origin, tool=name)
        answer, note, committed = self._with_retries(request, secrets)
        if isinstance(answer, Answer) and 200 <= answer.status < 300:
            try:
                found = read(answer, self._protocol.output_schema, mask=self._shared.mask)
                return self._shared.mask.result(found)
            except Unreadable as error:
                answer = Lost(problem=str(error), sent=True, status=answer.status)
        # Outside of any handler: an exception from below would stay in the error's context, and its text has URLs.
        hidden = covered(dict(arguments), self._protocol.input_schema, lambda _: MASK)
        failure = self._error(answer, note, self._curl(self._build(hidden), secrets))
        failure.outcome = "unknown" if committed else failure.outcome
        raise failure

    def check(self, arguments: JsonObject) -> None:
        """Raise `ToolError` for arguments that no request can be made of. Nothing is sent."""
        self._build(arguments)

    def _build(self, arguments: JsonObject) -> HttpRequest:
        known, schemes = self._shared.settings.credentials, self._binding.schemes
        own = [carried(n, known[n], schemes.get(n, {})) for n in self._binding.credential_names if n in known]
        request = self._plan.build(arguments, reserved=[(one.place, one.name) for one in (*own, *self._fixed)])
        request = dress(request, self._fixed)
        if self._binding.idempotency_header and (key := idempotency_key.get()):
            request = replace(request, headers={**request.headers, self._binding.idempotency_header: key})
        return request

    def _with_retries(self, request: HttpRequest, secrets: list[Carried]) -> tuple[Answer | Lost, str, bool]:
        """The last answer of a call, why a redirect was not followed, and whether one said that a write was done."""
        settings, deadline, attempt = self._shared.settings, time.monotonic() + self._shared.settings.timeout_seconds, 0

        def send(one: HttpRequest) -> Answer | Lost:
            return self._shared.transport.send(dress(one, secrets), self._plan.origin, deadline=deadline)

        while True:
            answer, note, last = follow(request, send)
            wait = self._wait(answer, attempt)
            if wait is None or attempt >= settings.retries or time.monotonic() + wait >= deadline:
                return answer, note, last.method != request.method and not self._reads
            settings.sleep(wait)
            attempt += 1

    def _wait(self, answer: Answer | Lost, attempt: int) -> float | None:
        """Seconds until the same request may be sent again; `None` where it should not be."""
        backoff: float = _BACKOFF_SECONDS * 2**attempt * random.uniform(0.5, 1.5)  # noqa: S311 - spreads clients, hides nothing
        if isinstance(answer, Lost):
            return backoff if answer.passing and self._reads else None
        # 429 is the one failure after which a write with a key is sent again here: the others are the host's to judge.
        keyed = bool(self._binding.idempotency_header and idempotency_key.get())
        if not (answer.status in _PASSING and self._reads) and not (answer.status == 429 and keyed):
            return None
        asked = retry_after(answer)
        return backoff if asked is None else asked if asked <= _LONGEST_RETRY_AFTER else None

    def _error(self, answer: Answer | Lost, note: str, curl: str) -> ToolError:
        mask = self._shared.mask
        if isinstance(answer, Lost):
            # A read that was answered changed nothing.
            refused = answer.status is not None and self._reads
            outcome: Outcome = "refused" if refused else "unknown" if answer.sent else "not_run"
            return ToolError(answer.status, one_line(mask(answer.problem)), outcome=outcome, curl=curl)
        return ToolError(
            answer.status,
            one_line(mask(note or essence(answer))),
            outcome=outcome_of(answer.status, reads=self._reads),
            curl=curl,
            retry_after=retry_after(answer),
            answer=mask(text_of(answer)),
        )

    def _curl(self, request: HttpRequest, secrets: list[Carried]) -> str:
        """`curl …` that repeats the request; each credential is the variable that `variable_of` gives it."""
        mask = self._shared.mask
        method = {"GET": [], "HEAD": ["--head"]}.get(request.method, ["-X", request.method])
        words = ["curl", *method, mask(request.url)]
        for name, value in request.headers.items():
            words += ["-H", f"{name}: {mask(value)}"] if DEFAULT_HEADERS.get(name) != value else []
        if request.body is not None:
            words += ["--data-raw", mask(request.body.decode())]
        return " ".join([*map(shlex.quote, words), *map(_curl_option, secrets)])


def _curl_option(secret: Carried) -> str:
    """How curl is given a credential, whose value is in a variable that the shell fills in between double quotes."""
    variable = f'"${variable_of(secret.credential)}"'
    if secret.prefix == "Basic ":
        return f"-u {variable}"
    option, between = {"header": ("-H", ": "), "cookie": ("-b", "="), "query": ("--url-query", "=")}[secret.place]
    return f"{option} {shlex.quote(f'{secret.name}{between}{secret.prefix}')}{variable}"


def follow(
    request: HttpRequest, send: Callable[[HttpRequest], Answer | Lost], *, upgrade: bool = False
) -> tuple[Answer | Lost, str, HttpRequest]:
    """The answer after redirects within the origin: of GET and HEAD, and of others only a 303.

    Also why the last redirect was not followed, if it was not, and the request that was answered. `upgrade` allows
    https in the place of http.
    """
    for _ in range(_MOST_REDIRECTS + 1):
        answer = send(request)
        if isinstance(answer, Lost) or answer.status not in _REDIRECTS or "location" not in answer.headers:
            return answer, "", request
        home, _ = split_url(request.url)
        try:
            target = urljoin(request.url, answer.headers["location"]).partition("#")[0]
            goal, _ = split_url(target)
        except ValueError:
            return answer, "the redirect leads to no http(s) address", request
        upgraded = upgrade and (home.scheme, home.port) == ("http", 80) and goal == Origin("https", home.host, 443)
        if goal != home and not upgraded:
            note = f"the redirect leads to another origin, {target}; if you trust it, give that address yourself"
            return answer, note, request
        if request.method not in ("GET", "HEAD"):
            if answer.status != 303:
                return answer, f"a {request.method} is not sent on to {target}", request
            kept = {k: v for k, v in request.headers.items() if k != "Content-Type"}
            request = replace(request, method="GET", headers=kept, body=None)
        request = replace(request, url=target)
    return answer, f"more than {_MOST_REDIRECTS} redirects", request
