"""Gets OAuth 2 access tokens for credentials, keeps them, and gets new ones once they expire."""

from __future__ import annotations

import base64
import hashlib
import secrets
import threading
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any
from urllib.parse import quote_plus, urlencode, urljoin

from protocols.errors import CredentialMissing
from protocols.http.credentials import Mask
from protocols.http.redirect_page import RedirectPage
from protocols.http.redirects import REDIRECTS
from protocols.http.request import DEFAULT_HEADERS, HttpRequest
from protocols.http.sign_in_flows import SignInFlow, choose_flow, require_listed
from protocols.http.token_file import TokenFile
from protocols.http.transport import Transport
from protocols.response import Answer, one_line, parse_json
from protocols.schema import JsonObject
from protocols.settings import Credential, DeviceSignIn, InvokeSettings
from protocols.urls import is_url, split_url

_TOKEN_SECONDS = 30.0  # time-out of a token request
_LONGEST_SECONDS = 10 * 365 * 86_400.0  # a longer lifetime of a token is ignored
_EARLY_SECONDS = 30.0  # a token is replaced at most this long before it expires
_EARLY_PART = 0.1  # and at most this part of its lifetime before
_DEFAULT_SECONDS = 3600  # lifetime of a token that needs no person, if the server names none
_REFUSED_SECONDS = 60.0  # time for which refused secrets are not sent again
_DEVICE_GRANT = "urn:ietf:params:oauth:grant-type:device_code"
_POLL_SECONDS = 5.0  # time between two questions for a device's token, if the server names none
_LEAST_POLL_SECONDS = 1.0
_DEVICE_SECONDS = 900.0  # lifetime of a device code, if the server names none
_LONGEST_DEVICE_SECONDS = 3600.0


class _Refused(Exception):
    """An endpoint gave no token. `error` is its error code or "", and `problem` says why.

    `is_final` is True if the endpoint would refuse the same request again.
    """

    def __init__(self, error: str, problem: str, *, is_final: bool = False) -> None:
        super().__init__(problem)
        self.error = error
        self.problem = problem
        self.is_final = is_final


class SignInFailed(CredentialMissing):
    """A token endpoint gave no token for a credential."""


class AccessTokens:
    """The access tokens of the credentials that have a client or a password. Thread-safe.

    `mask` learns each password and token before anything is sent.
    """

    def __init__(
        self, settings: InvokeSettings, transport: Transport, mask: Mask, file: TokenFile
    ) -> None:
        self._file = file
        self._settings = settings
        self._transport = transport
        self._mask = mask
        self._lock = threading.Lock()
        self._refusals: dict[str, tuple[Credential, str, float]] = {}
        """Secrets that a server refused, with its message and the time, keyed like tokens."""

    def token(
        self, name: str, credential: Credential, scheme: JsonObject, *, anew: bool = False
    ) -> str:
        """Return a valid access token for a credential.

        The token is read from the token file. If none is valid there, it is refreshed or fetched,
        which may need a sign-in. `name` is the name of the credential, and `scheme` is its OpenAPI
        security scheme. If `anew` is True, the stored token is not used, but it is kept until a new
        one is available.

        Raises:
            CredentialMissing: no token is available. The message says why.
            SignInFailed: the token endpoint refuses it.
        """
        with self._lock:
            key = _key(name, credential)
            stored = self._file.get(key)
            if stored.get("access_token") and not _is_over(stored) and not anew:
                return str(stored["access_token"])
            if not anew and (problem := self._recent_refusal(key, credential)):
                raise SignInFailed(problem)
            flow = choose_flow(name, credential, scheme)
            self._mask.add(credential.login, credential.client_secret)
            try:
                token = None if anew else self._refresh(flow, credential, stored)
                token = token or self._begin(name, flow, credential)
            except _Refused as refusal:
                place = self._settings.places.get(name, "")
                shown = f"{name!r} ({place})" if place else repr(name)
                problem = f"no token for the credential {shown}: {refusal.problem}."
                if refusal.is_final:
                    self._refusals[key] = (credential, problem, time.monotonic())
                raise SignInFailed(problem) from None
            # Only these fields: some servers name others as this file does.
            renewal = token.get("refresh_token") or stored.get("refresh_token")
            kept = {"access_token": token["access_token"], "refresh_token": renewal}
            self._file.save(key, kept | _expiry(token, flow))
            return str(token["access_token"])

    def _recent_refusal(self, key: str, credential: Credential) -> str:
        """Return why the same secrets were refused a moment ago; "" if they were not.

        A program that calls again and again must not have the account locked.
        """
        refused, problem, at = self._refusals.get(key, (None, "", 0.0))
        recent = refused == credential and time.monotonic() - at < _REFUSED_SECONDS
        return problem if recent else ""

    def has(self, name: str, credential: Credential) -> bool:
        """Return True if a token is stored that has not expired."""
        stored = self._file.get(_key(name, credential))
        return bool(stored.get("access_token")) and not _is_over(stored)

    def seconds_left(self, name: str, credential: Credential) -> float | None:
        """Return for how many seconds the stored token is valid, or None if that is unknown."""
        expires_at = self._file.get(_key(name, credential)).get("expires_at")
        return max(expires_at - time.time(), 0) if isinstance(expires_at, int | float) else None

    def drop(self, name: str, credential: Credential) -> None:
        """Forget the access token of a credential, but keep the token that renews it."""
        key = _key(name, credential)
        kept = {k: v for k, v in self._file.get(key).items() if k == "refresh_token"}
        self._file.save(key, kept)

    def _refresh(
        self, flow: SignInFlow, credential: Credential, stored: Mapping[str, Any]
    ) -> JsonObject | None:
        """Return a new token for the refresh token in `stored`.

        Return None if `stored` has no refresh token, or if the server refuses it. Then it has
        expired, and the user must sign in again.
        """
        refresh_token = stored.get("refresh_token")
        if not refresh_token:
            return None
        self._mask.add(str(refresh_token))
        form = {"grant_type": "refresh_token", "refresh_token": str(refresh_token)}
        with suppress(_Refused):
            return self._ask(flow.refresh_url, credential, form)
        return None

    def _begin(self, name: str, flow: SignInFlow, credential: Credential) -> JsonObject:
        """Sign in by the flow of a credential, and return the response with the token."""
        match flow.kind:
            case "password":
                form = {"username": credential.username, "password": credential.password}
                form |= flow.scope_field
            case "authorizationCode":
                form = self._through_browser(name, flow, credential)
            case "deviceAuthorization":
                return self._with_device_code(name, flow, credential)
            case "clientCredentials":
                form = flow.scope_field
        grant = {
            "password": "password",
            "authorizationCode": "authorization_code",
            "clientCredentials": "client_credentials",
        }[flow.kind]
        return self._ask(flow.token_url, credential, {"grant_type": grant, **form})

    def _through_browser(
        self, name: str, flow: SignInFlow, credential: Credential
    ) -> dict[str, str]:
        """Sign in with the browser (OAuth with PKCE).

        Return the authorization code and the other fields of the token request.
        """
        if self._settings.open_browser is None:
            problem = "needs a sign-in in a browser; run this command once on a terminal."
            raise CredentialMissing(f"the credential {name!r} {problem}")
        redirect = RedirectPage()
        state = secrets.token_urlsafe(24)
        verifier = secrets.token_urlsafe(64)
        digest = hashlib.sha256(verifier.encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        asked = {"client_id": credential.client_id, **flow.scope_field}
        asked |= {"response_type": "code", "redirect_uri": redirect.url, "state": state}
        asked |= {"code_challenge": challenge, "code_challenge_method": "S256"}
        page = flow.page
        self._settings.open_browser(f"{page}{'&' if '?' in page else '?'}{urlencode(asked)}")
        return {
            "code": redirect.wait(state)["code"],
            "redirect_uri": redirect.url,
            "code_verifier": verifier,
        }

    def _with_device_code(self, name: str, flow: SignInFlow, credential: Credential) -> JsonObject:
        """Sign in on another device (RFC 8628), and return the response with the token."""
        show = self._settings.show_device_code
        if show is None:
            problem = "needs a sign-in by a person; run this command once on a terminal."
            raise CredentialMissing(f"the credential {name!r} {problem}")
        issued = self._ask(flow.page, credential, flow.scope_field, wanted="device_code")
        code = str(issued["device_code"])
        self._mask.add(code)
        page = str(issued.get("verification_uri") or issued.get("verification_url") or "")
        require_listed(name, credential, page)
        show(DeviceSignIn(page=page, code=str(issued.get("user_code", ""))))
        lifetime = min(_seconds(issued.get("expires_in"), _DEVICE_SECONDS), _LONGEST_DEVICE_SECONDS)
        seconds = max(_seconds(issued.get("interval"), _POLL_SECONDS), _LEAST_POLL_SECONDS)
        seconds = min(seconds, lifetime)
        deadline = time.monotonic() + lifetime
        form = {"grant_type": _DEVICE_GRANT, "device_code": code}
        while time.monotonic() < deadline:
            self._settings.sleep(seconds)
            try:
                return self._ask(flow.token_url, credential, form)
            except _Refused as refusal:
                if refusal.error == "slow_down":
                    seconds += _POLL_SECONDS
                elif refusal.error != "authorization_pending":
                    raise
        raise _Refused("expired_token", "nobody signed in before the code expired")

    def _ask(
        self,
        url: str,
        credential: Credential,
        form: Mapping[str, str],
        *,
        wanted: str = "access_token",
    ) -> JsonObject:
        """Send `form` and the client's id and secret to an endpoint, and return its response.

        If the endpoint rejects the client in the form, send it again as HTTP Basic. `wanted` is the
        field that the response must have.

        Raises:
            _Refused: the endpoint gave no such response.
        """
        client = {"client_id": credential.client_id, "client_secret": credential.client_secret}
        client = {key: value for key, value in client.items() if value}
        answer = self._post(url, {**form, **client})
        by_header = answer.status in (400, 401) and b"invalid_client" in answer.body
        if by_header and "client_secret" in client and credential.client_id:
            answer = self._post(url, form, basic=(client["client_id"], client["client_secret"]))
        found = _json_object(answer)
        token = found.get(wanted)
        if answer.succeeded and isinstance(token, str) and token and token.isprintable():
            return found
        error = found.get("error")
        raise _Refused(
            error if isinstance(error, str) else "",
            self._explain(url, answer, wanted),
            is_final=answer.status in (400, 401, 403, 422),
        )

    def _post(
        self, url: str, form: Mapping[str, str], *, basic: tuple[str, str] | None = None
    ) -> Answer:
        """Send a form, with a client's id and secret as HTTP Basic if given.

        One redirect is followed, and only within the origin: web frameworks add a slash by it.
        """
        headers = {**DEFAULT_HEADERS, "Content-Type": "application/x-www-form-urlencoded"}
        if basic is not None:
            client = ":".join(map(quote_plus, basic)).encode()
            headers["Authorization"] = f"Basic {base64.b64encode(client).decode()}"
        request = HttpRequest(
            method="POST", url=url, headers=headers, body=urlencode(form).encode()
        )
        origin, _ = split_url(url)
        deadline = time.monotonic() + _TOKEN_SECONDS
        answer = self._transport.send(request, origin, deadline=deadline)
        place = urljoin(url, answer.headers.get("location", ""))
        if answer.status not in (307, 308) or not is_url(place):
            return answer
        with suppress(ValueError):
            if split_url(place)[0] == origin:
                request = replace(request, url=place.partition("#")[0])
                return self._transport.send(request, origin, deadline=deadline)
        return answer

    def _explain(self, url: str, answer: Answer, wanted: str) -> str:
        """Return why a response has no token. Secrets that the service repeats are masked."""
        origin, _ = split_url(url)
        if answer.status is None:
            return self._mask(answer.trouble)
        if answer.status in REDIRECTS:
            place = self._mask(one_line(answer.headers.get("location", ""), limit=200))
            return f"{url} redirects to {place!r}, where no secret is sent; set its token_url"
        if answer.succeeded and not isinstance(_json_object(answer).get("error"), str):
            return f"{url} answered without {wanted}"
        problem = one_line(self._mask(answer.problem), limit=200).rstrip(".")
        return f"{origin.netloc} answered {answer.status}: {problem}"


def _key(name: str, credential: Credential) -> str:
    """Return the name under which the token of a credential is stored."""
    who = " ".join(filter(None, (credential.client_id, credential.username)))
    return f"{name} {who} {' '.join(credential.hosts)}"


def _is_over(stored: Mapping[str, Any]) -> bool:
    """Return True if a stored token has expired, or will in a moment."""
    expires_at = stored.get("expires_at", float("inf"))
    early = min(_EARLY_SECONDS, _EARLY_PART * stored.get("lifetime", float("inf")))
    return bool(expires_at <= time.time() + early)


def _expiry(token: JsonObject, flow: SignInFlow) -> dict[str, float]:
    """Return the fields of a stored token that say when it expires; {} if that is unknown."""
    default = float("inf") if flow.needs_person else _DEFAULT_SECONDS
    seconds = _seconds(token.get("expires_in"), default)
    if seconds > _LONGEST_SECONDS:
        return {}
    return {"expires_at": time.time() + seconds, "lifetime": seconds}


def _seconds(value: Any, default: float) -> float:
    """Return a number of seconds in a response, which may be a text; else `default`."""
    try:
        found = float(value)
    except (TypeError, ValueError):
        return default
    return found if found > 0 else default  # False for NaN


def _json_object(answer: Answer) -> dict[str, Any]:
    """Return the JSON object in a response, or {} if it has none."""
    with suppress(ValueError):
        found = parse_json(answer.text())
        if isinstance(found, dict):
            return found
    return {}
