"""The credentials of all calls: configured secrets, and OAuth 2 tokens.

Tokens are fetched and refreshed. The OpenAPI document of a service names the addresses that issue
tokens. The user's configuration names the OAuth client, and for each credential the hosts that it
may be sent to. Other hosts get no secret, and their sign-in pages are not opened.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
import secrets
import threading
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote_plus, urlencode

from protocols.errors import CredentialMissing
from protocols.http.credentials import (
    Alternatives,
    Mask,
    RequestSecret,
    build_request_secret,
    host_entry,
    missing_credential_advice,
)
from protocols.http.redirect_page import RedirectPage
from protocols.http.request import DEFAULT_HEADERS, HttpRequest
from protocols.http.transport import Transport
from protocols.private_files import keep_private, write_whole
from protocols.response import one_line, parse_json
from protocols.schema import JsonObject, as_mapping, loads
from protocols.secrets.names import is_secret
from protocols.settings import Credential, InvokeSettings
from protocols.urls import Origin, split_url

_TOKEN_SECONDS = 30.0  # time-out of a token request
_LONGEST_SECONDS = 10 * 365 * 86_400.0  # a longer lifetime of a token is ignored
_EARLY_SECONDS = 30  # a token is refreshed this long before it expires
_DEFAULT_SECONDS = 3600  # lifetime of a token that needs no sign-in, if the server names none


class TokenFile:
    """Stores OAuth tokens, keyed by name, in a file that only the user can read.

    Without a file they are kept in memory.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._known: dict[str, Any] = {}

    def get(self, name: str) -> dict[str, Any]:
        """Return the token that this or another process stored under `name`, or an empty dict."""
        if self._path is not None and self._path.is_file():
            keep_private(self._path)
            with suppress(ValueError, OSError):
                self._known = dict(loads(self._path.read_text()))
        return dict(self._known.get(name, {}))

    def save(self, name: str, token: JsonObject) -> None:
        """Store an OAuth token under `name`, and keep the other tokens in the file."""
        with self._lock:
            self.get(name)  # reload, to keep what another process has stored since
            self._known[name] = dict(token)
            if self._path is not None:
                write_whole(self._path, json.dumps(self._known))


class Keyring:
    """The settings, connections, secrets and tokens with which tools are called. Thread-safe."""

    def __init__(self, settings: InvokeSettings) -> None:
        self.settings = settings
        credentials = settings.credentials
        self.homes = {
            re.sub(r":\d+$", "", host.lower())
            for credential in credentials.values()
            for host in credential.hosts
        }
        """Hosts that the user named.

        They may be on this machine or its networks (`urls.may_reach`).
        """
        self._usable = {
            name: credential
            for name, credential in credentials.items()
            if name not in settings.problems
        }
        self.mask = Mask(
            secret
            for credential in self._usable.values()
            for secret in (credential.value, credential.client_secret)
        )
        for known_as, server in settings.servers.items():  # a server may echo its environment
            environment = {} if f"mcp.{known_as}" in settings.problems else server.env
            self.mask.add(*(value for name, value in environment.items() if is_secret(name, value)))
        near = self.homes if settings.near_hosts else None
        self.transport = Transport(max_body_bytes=settings.max_body_bytes, homes=near)
        self.tokens = TokenFile(settings.tokens)
        self._lock = threading.Lock()
        self._stale = False
        """True if a credential was refused or missing, so that all are read again."""

    def secrets(
        self, offered: Alternatives, schemes: Mapping[str, JsonObject], origin: Origin, *, tool: str
    ) -> list[RequestSecret]:
        """Return the secrets that a request to `origin` must carry.

        `offered` lists alternatives, each with the names of credentials to send together. The
        result has the secrets of the first alternative that is configured. It is empty if none is
        configured and one alternative needs no credential. If `offered` names no credential at all,
        the result has each secret for this host whose header, query parameter or cookie the user
        has configured. `schemes` are OpenAPI security schemes, keyed by credential.

        Raises:
            CredentialMissing: no alternative is configured, a credential is for other hosts, or a
                token cannot be fetched. The message says what to configure.
        """
        if self._stale:
            self._read_again()
        usable = self._usable
        alternatives = self._alternatives(offered, origin)
        names = self._choose(alternatives)
        if not names and all(alternatives):
            missing = [name for names in alternatives for name in names if name not in usable]
            problem = next(filter(None, map(self.settings.problems.get, missing)), "")
            if problem:
                self._stale = True
                raise CredentialMissing(f"{tool}: {problem}")
            scheme = schemes.get(missing[0], {})
            raise CredentialMissing(missing_credential_advice(missing[0], scheme, origin, tool))
        return [
            self._request_secret(name, usable[name], schemes.get(name, {}), origin, tool)
            for name in names
        ]

    def names(self, offered: Alternatives, origin: Origin) -> tuple[str, ...]:
        """Return the names of the credentials that `secrets` sends; () if it sends none."""
        return self._choose(self._alternatives(offered, origin))

    def place_of(self, name: str) -> str:
        """Return where the secret of a credential was read, for messages, or ""."""
        known = self.settings.credentials.get(name)
        if known is not None and known.client_id and not known.value:
            return "its token is fetched anew when it is sent again"
        return self.settings.places.get(name, "")

    def reject(self, names: Iterable[str]) -> None:
        """Record that a service refused these credentials with 401.

        All secrets are read again before the next call. Tokens that were fetched for these
        credentials are dropped.
        """
        self._stale = True
        for name in names:
            credential = self._usable.get(name)
            if credential is not None and not credential.value:
                key = _token_key(name, credential)
                kept = {k: v for k, v in self.tokens.get(key).items() if k == "refresh_token"}
                self.tokens.save(key, kept)

    def _read_again(self) -> None:
        """Read all secrets again, if the settings contain a function for this (`read_again`)."""
        self._stale = False
        if self.settings.read_again is None:
            return
        credentials, problems = self.settings.read_again()
        self._usable = {name: known for name, known in credentials.items() if name not in problems}
        for known in self._usable.values():
            self.mask.add(known.value, known.client_secret)
        self.settings = replace(self.settings, credentials=credentials, problems=problems)

    def _alternatives(self, offered: Alternatives, origin: Origin) -> list[tuple[str, ...]]:
        """Return the alternatives in `offered` as tuples of names, else the placed credentials."""
        alternatives = [(names,) if isinstance(names, str) else names for names in offered]
        return alternatives if any(alternatives) else [self._placed_credentials(origin)]

    def _choose(self, alternatives: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
        """Return the first alternative whose credentials are all configured, or ()."""
        usable = self._usable.keys()
        return next((names for names in alternatives if names and usable >= set(names)), ())

    def _placed_credentials(self, origin: Origin) -> tuple[str, ...]:
        """Return the names of the credentials that are sent to `origin` for every tool.

        They are those for which the user configured a header, query parameter or cookie.
        """
        return tuple(
            name
            for name, credential in self.settings.credentials.items()
            if credential.has_placement and credential.may_go_to(origin)
        )

    def _request_secret(
        self, name: str, credential: Credential, scheme: JsonObject, origin: Origin, tool: str
    ) -> RequestSecret:
        """Return the secret for one credential, after checking that `origin` may see it.

        Its value is checked, too.
        """
        _refuse_unlisted_host(name, credential, origin, tool)
        value = credential.value or credential.client_id
        if not value or not f"{credential.prefix or ''}{value}".isprintable():
            problem = "is empty or has control characters; correct it in your own settings file."
            raise CredentialMissing(f"the credential {name!r} {problem}")
        token = credential.value or self._token(name, credential, scheme)
        secret = build_request_secret(name, credential, scheme, token=token)
        self.mask.add(secret.value.rpartition(" ")[2])
        return secret

    def _token(self, name: str, credential: Credential, scheme: JsonObject) -> str:
        """Return a valid access token for a credential.

        It is read from the token file, refreshed, or fetched, if necessary after a sign-in.
        """
        with self._lock:
            key = _token_key(name, credential)
            stored = self.tokens.get(key)
            if (
                stored.get("access_token")
                and stored.get("expires_at", float("inf")) > time.time() + _EARLY_SECONDS
            ):
                return str(stored["access_token"])
            token_url, page, scope = _flow(name, credential, scheme)
            client = {"client_id": credential.client_id, "client_secret": credential.client_secret}
            ask = partial(
                self._request_token,
                name,
                token_url,
                **{key: value for key, value in client.items() if value},
            )
            token: JsonObject | None = None
            if refresh_token := stored.get("refresh_token"):
                with suppress(CredentialMissing):  # it has expired: sign in again
                    token = ask(grant_type="refresh_token", refresh_token=str(refresh_token))
            if token is None and page:
                fields = self._through_browser(
                    name, page, {"client_id": credential.client_id, **scope}
                )
                token = ask(grant_type="authorization_code", **fields)
            elif token is None:
                token = ask(grant_type="client_credentials", **scope)
            kept = {"refresh_token": refresh_token, **token}
            lifetime: Any = token.get("expires_in") or (None if page else _DEFAULT_SECONDS)
            with suppress(TypeError, ValueError):  # some servers send a text
                seconds = float(lifetime)
                if 0 <= seconds <= _LONGEST_SECONDS:  # False for NaN and infinity
                    kept["expires_at"] = time.time() + seconds
            self.tokens.save(key, kept)
            return str(token["access_token"])

    def _through_browser(self, name: str, page: str, asked: dict[str, str]) -> dict[str, str]:
        """Sign in with the browser (OAuth with PKCE) at the address `page`.

        Return the authorization code and the other fields of the token request.
        """
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
        """Send `form` to the token endpoint and return its response.

        If the endpoint rejects client credentials in the form, send them again as HTTP Basic.
        """
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


def _token_key(name: str, credential: Credential) -> str:
    """Return the name under which the token of a credential is stored."""
    return f"{name} {credential.client_id} {' '.join(credential.hosts)}"


def _refuse_unlisted_host(name: str, credential: Credential, origin: Origin, what: str) -> None:
    """Check that a credential may be sent to `origin`, according to the hosts that it lists.

    Raises:
        CredentialMissing: the host is not among them.
    """
    if not credential.may_go_to(origin):
        place = host_entry(origin)
        hosts = ", ".join(map(repr, credential.hosts)) or "no host"
        problem = (
            f"{what} would send the credential {name!r} to {place!r},"
            f" but it is configured for {hosts} only"
        )
        advice = (
            f"if it may go there, add {place!r} to credentials.{name}.hosts"
            " in your own settings file"
        )
        raise CredentialMissing(f"{problem}; {advice}.")


def _flow(name: str, credential: Credential, scheme: JsonObject) -> tuple[str, str, dict[str, str]]:
    """Return the token endpoint, the sign-in page and the scope parameter of an OAuth 2 flow.

    The page is "" for the client credentials flow. The user's settings override the document.

    Raises:
        CredentialMissing: there is no token endpoint, or the credential does not list the host of
            one of the addresses.
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
        problem = (
            f"the credential {name!r} has a client_id,"
            " but the document names no address that gives tokens"
        )
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
