"""The secrets that calls carry: those of the configuration, and tokens of OAuth 2 that are got, kept and refreshed.

A document names the addresses that give tokens, the user's configuration the client and the hosts: neither a secret nor
the user is sent to a host that the credential does not list.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from functools import partial
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote_plus, urlencode, urlsplit

from protocols.errors import CredentialMissing
from protocols.http.credentials import (
    Alternatives,
    Mask,
    RequestSecret,
    build_request_secret,
    host_entry,
    missing_credential_advice,
)
from protocols.http.request import DEFAULT_HEADERS, HttpRequest
from protocols.http.transport import Transport
from protocols.private_files import keep_private, write_whole
from protocols.response import one_line, parse_json
from protocols.schema import JsonObject, as_mapping, loads
from protocols.secrets.names import is_secret
from protocols.settings import Credential, InvokeSettings
from protocols.urls import Origin, split_url

SIGN_IN_SECONDS = 300.0
REDIRECT_PORT = 38457
"""Of the address to which a browser comes back, for those who register a client: always this one, where it is free."""
_TOKEN_SECONDS = 30.0  # for an address to answer
_LONGEST_SECONDS = 10 * 365 * 86_400.0  # that a token is believed to last
_EARLY_SECONDS = 30  # before its end, a token is refreshed


class TokenFile:
    """What was signed in to, by name, in a file that only its user can read; without one, for this process only."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._known: dict[str, Any] = {}

    def get(self, name: str) -> dict[str, Any]:
        """What was kept under a name, by another process too; empty where nothing was."""
        if self._path is not None and self._path.is_file():
            keep_private(self._path)
            with suppress(ValueError, OSError):
                self._known = dict(loads(self._path.read_text()))
        return dict(self._known.get(name, {}))

    def save(self, name: str, token: JsonObject) -> None:
        """Keep it."""
        with self._lock:
            self.get(name)  # what another process has put there since stays
            self._known[name] = dict(token)
            if self._path is not None:
                write_whole(self._path, json.dumps(self._known))


class _RedirectHandler(BaseHTTPRequestHandler):
    server: RedirectPage
    timeout = 1  # browsers open connections on which they send nothing

    def do_GET(self) -> None:
        parts = urlsplit(self.path)
        if parts.path == "/callback":
            self.server.answer = dict(parse_qsl(parts.query))
        done = "code" in self.server.answer
        self.send_response(200 if done else 400)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        said = (
            "Signed in. This page can be closed."
            if done
            else "Not signed in. The program says why."
        )
        self.wfile.write(f"<p>{said}</p>".encode())

    def log_message(self, *_: object) -> None:
        return


class RedirectPage(HTTPServer):
    """A page on loopback, for this sign-in alone, to which the browser comes back."""

    def __init__(self) -> None:
        self.answer: dict[str, str] = {}
        try:
            super().__init__(("127.0.0.1", REDIRECT_PORT), _RedirectHandler)
        except OSError:  # another sign-in is under way
            super().__init__(("127.0.0.1", 0), _RedirectHandler)
        self.url = f"http://127.0.0.1:{self.server_port}/callback"

    def wait(self, state: str | None) -> dict[str, str]:
        """What the browser brought: `code`, and `state` where it is the one given.

        Raises:
            CredentialMissing: nothing came in time, the sign-in was refused, or it was another one's answer.
        """
        deadline = time.monotonic() + SIGN_IN_SECONDS
        try:
            while not self.answer and (left := deadline - time.monotonic()) > 0:
                self.timeout = left
                self.handle_request()
        finally:
            self.server_close()
        if "code" not in self.answer:
            said = (
                self.answer.get("error_description")
                or self.answer.get("error")
                or "no answer came in time"
            )
            said = one_line(said, limit=200)
            raise CredentialMissing(
                f"the sign-in did not succeed: {said}; run the command again to repeat it."
            )
        if state is not None and not secrets.compare_digest(self.answer.get("state", ""), state):
            raise CredentialMissing(
                "the sign-in came back with another sign-in's state; run the command again."
            )
        return self.answer


class Keyring:
    """What the calls of one invoker share: settings, connections, secrets and the tokens got for them. Thread-safe."""

    def __init__(self, settings: InvokeSettings) -> None:
        self.settings = settings
        known = settings.credentials
        self.homes = {
            re.sub(r":\d+$", "", host.lower()) for one in known.values() for host in one.hosts
        }
        """Hosts that the user named, and that may be on this machine or its networks (`origin.may_reach`)."""
        self._usable = {name: one for name, one in known.items() if name not in settings.problems}
        self.mask = Mask(
            secret for one in self._usable.values() for secret in (one.value, one.client_secret)
        )
        for known_as, server in settings.servers.items():  # which may echo what it was given
            given = {} if f"mcp.{known_as}" in settings.problems else server.env
            self.mask.add(*(value for name, value in given.items() if is_secret(name, value)))
        near = self.homes if settings.near_hosts else None
        self.transport = Transport(max_body_bytes=settings.max_body_bytes, homes=near)
        self.tokens = TokenFile(settings.tokens)
        self._lock = threading.Lock()

    def secrets(
        self, offered: Alternatives, schemes: Mapping[str, JsonObject], origin: Origin, *, tool: str
    ) -> list[RequestSecret]:
        """What a request to `origin` carries: the first of the alternatives that is configured.

        Where an alternative is to send nothing, nothing need be configured. A tool whose document names none gets those
        for its host of which the user said how they are sent, also where the document says that there is none.

        Raises:
            CredentialMissing: no alternative is configured, one is for other hosts, or a token cannot be got. Says what
                to write where.
        """
        usable = self._usable
        known = self.settings.credentials
        alternatives = [(one,) if isinstance(one, str) else one for one in offered]
        if not any(alternatives):
            alternatives = [
                tuple(
                    name
                    for name, one in known.items()
                    if one.has_placement and one.may_go_to(origin)
                )
            ]
        names = next((names for names in alternatives if names and usable.keys() >= set(names)), ())
        if not names and all(alternatives):
            missing = [name for names in alternatives for name in names if name not in usable]
            problem = next(filter(None, map(self.settings.problems.get, missing)), "")
            told = missing_credential_advice(missing[0], schemes.get(missing[0], {}), origin, tool)
            raise CredentialMissing(f"{tool}: {problem}" if problem else told)
        return [
            self._request_secret(name, usable[name], schemes.get(name, {}), origin, tool)
            for name in names
        ]

    def _request_secret(
        self, name: str, credential: Credential, scheme: JsonObject, origin: Origin, tool: str
    ) -> RequestSecret:
        _refuse_unlisted_host(name, credential, origin, tool)
        value = credential.value or credential.client_id
        if not value or not f"{credential.prefix or ''}{value}".isprintable():
            problem = "is empty or has control characters; correct it in your own settings file."
            raise CredentialMissing(f"the credential {name!r} {problem}")
        token = credential.value or self._token(name, credential, scheme)
        found = build_request_secret(name, credential, scheme, token=token)
        self.mask.add(found.value.rpartition(" ")[2])
        return found

    def _token(self, name: str, credential: Credential, scheme: JsonObject) -> str:
        with self._lock:
            key = f"{name} {credential.client_id} {' '.join(credential.hosts)}"
            known = self.tokens.get(key)
            if (
                known.get("access_token")
                and known.get("expires_at", float("inf")) > time.time() + _EARLY_SECONDS
            ):
                return str(known["access_token"])
            token_url, page, scope = _flow(name, credential, scheme)
            client = {"client_id": credential.client_id, "client_secret": credential.client_secret}
            ask = partial(
                self._request_token,
                name,
                token_url,
                **{key: value for key, value in client.items() if value},
            )
            found: JsonObject | None = None
            if again := known.get("refresh_token"):
                with suppress(CredentialMissing):  # it has ended: sign in anew
                    found = ask(grant_type="refresh_token", refresh_token=str(again))
            if found is None and page:
                came = self._through_browser(
                    name, page, {"client_id": credential.client_id, **scope}
                )
                found = ask(grant_type="authorization_code", **came)
            elif found is None:
                found = ask(grant_type="client_credentials", **scope)
            kept = {"refresh_token": again, **found}
            lasts: Any = found.get("expires_in") or (
                None if page else 3600
            )  # untold: an hour, if nobody must sign in
            with suppress(TypeError, ValueError):  # some send a text
                seconds = float(lasts)
                if 0 <= seconds <= _LONGEST_SECONDS:  # which NaN and ∞ are not
                    kept["expires_at"] = time.time() + seconds
            self.tokens.save(key, kept)
            return str(found["access_token"])

    def _through_browser(self, name: str, page: str, asked: dict[str, str]) -> dict[str, str]:
        """The code that the page gives, with what the token's address wants to see beside it."""
        if self.settings.open_browser is None:
            problem = "needs a sign-in in a browser; run this command once on a terminal."
            raise CredentialMissing(f"the credential {name!r} {problem}")
        redirect = RedirectPage()
        state = secrets.token_urlsafe(24)
        verifier = secrets.token_urlsafe(64)
        challenge = (
            base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest())
            .decode()
            .rstrip("=")
        )
        asked |= {"response_type": "code", "redirect_uri": redirect.url, "state": state}
        asked |= {"code_challenge": challenge, "code_challenge_method": "S256"}
        self.settings.open_browser(f"{page}{'&' if '?' in page else '?'}{urlencode(asked)}")
        return {
            "code": redirect.wait(state)["code"],
            "redirect_uri": redirect.url,
            "code_verifier": verifier,
        }

    def _request_token(self, name: str, url: str, basic: str = "", **form: str) -> JsonObject:
        """What the token's address answers to a form; one that takes the client by HTTP Basic alone is sent it so."""
        headers = {**DEFAULT_HEADERS, "Content-Type": "application/x-www-form-urlencoded"}
        headers |= {"Authorization": f"Basic {basic}"} if basic else {}
        request = HttpRequest(
            method="POST", url=url, headers=headers, body=urlencode(form).encode()
        )
        origin, _ = split_url(url)
        answer = self.transport.send(request, origin, deadline=time.monotonic() + _TOKEN_SECONDS)
        if (
            answer.status in (400, 401)
            and b"invalid_client" in answer.body
            and "client_secret" in form
        ):
            client = f"{quote_plus(form.pop('client_id'))}:{quote_plus(form.pop('client_secret'))}"
            return self._request_token(
                name, url, base64.b64encode(client.encode()).decode(), **form
            )
        if answer.status is None:
            problem = answer.trouble
        elif answer.status != 200:
            problem = (
                f"{origin.netloc} answered {answer.status}: {one_line(answer.problem, limit=200)}"
            )
        else:
            problem = f"{url} answered without access_token"
            with suppress(ValueError):
                found = parse_json(answer.text())
                if isinstance(found, dict) and isinstance(found.get("access_token"), str):
                    return found
        raise CredentialMissing(f"no token for the credential {name!r}: {problem}.")


def _refuse_unlisted_host(name: str, credential: Credential, origin: Origin, what: str) -> None:
    if not credential.may_go_to(origin):
        place = host_entry(origin)
        known = ", ".join(map(repr, credential.hosts)) or "no host"
        problem = f"{what} would send the credential {name!r} to {place!r}, but it is configured for {known} only"
        advice = f"if it may go there, add {place!r} to credentials.{name}.hosts in your own settings file"
        raise CredentialMissing(f"{problem}; {advice}.")


def _flow(name: str, credential: Credential, scheme: JsonObject) -> tuple[str, str, dict[str, str]]:
    """Where a token is got, the page of the sign-in (empty for client credentials), and the scope to ask for.

    By the user's settings, or else by what the document declares, at hosts that the credential lists.
    """
    flows = as_mapping(scheme.get("flows"))
    code = as_mapping(flows.get("authorizationCode"))
    own = as_mapping(flows.get("clientCredentials"))
    with_browser = bool(credential.authorization_url or code) and not (
        credential.client_secret and own
    )
    flow = code if with_browser else own
    page = (
        credential.authorization_url or str(flow.get("authorizationUrl", ""))
        if with_browser
        else ""
    )
    token_url = credential.token_url or str(flow.get("tokenUrl", ""))
    if not token_url:
        problem = f"the credential {name!r} has a client_id, but the document names no address that gives tokens"
        advice = (
            f"set credentials.{name}.token_url, and authorization_url for a sign-in in the browser"
        )
        raise CredentialMissing(f"{problem}; {advice}.")
    for url in filter(None, (token_url, page)):
        try:
            origin, _ = split_url(url)
        except ValueError as error:
            raise CredentialMissing(f"the credential {name!r} cannot be got: {error}.") from None
        _refuse_unlisted_host(name, credential, origin, "the sign-in")
    scopes = credential.scopes or tuple(as_mapping(flow.get("scopes")))
    return token_url, page, {"scope": " ".join(scopes)} if scopes else {}
