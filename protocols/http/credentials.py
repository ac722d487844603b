"""Credentials in requests: how a request carries them and how messages mask them."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from requests.structures import CaseInsensitiveDict

from protocols.documentation import docs_page
from protocols.http.request import HttpRequest
from protocols.http.request_names import normalize_name
from protocols.schema import Json, JsonObject, as_mapping, dumps
from protocols.secrets import encoded_forms, replace_secrets
from protocols.settings import Credential, Place
from protocols.urls import Origin

MASK = "***"
Alternatives = Sequence[str | tuple[str, ...]]
"""The credentials that a tool accepts. Only one of these alternatives is sent with a request.

Each is the name of a credential, or a tuple of names to send together. An empty tuple means that no
credential is needed.
"""
_UNMISTAKABLE = 8  # characters; a shorter secret in a result may be a common word


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSecret:
    """A secret value, and the header, query parameter or cookie in which a request carries it."""

    place: Place
    name: str
    value: str = field(repr=False)
    prefix: str = ""
    """The part of `value` that is not secret, such as `Bearer `."""
    credential: str = ""
    """Name of the credential in the configuration."""


def build_request_secret(
    known_as: str, credential: Credential, scheme: JsonObject, *, token: str = ""
) -> RequestSecret:
    """Build the `RequestSecret` that sends a credential.

    The user's settings say which header, query parameter or cookie carries it, else the OpenAPI
    security scheme does. Without either it is sent as a bearer token. If `token` is not empty, it
    is sent instead of the configured value. `known_as` is the name of the credential.
    """
    value = token or credential.value or credential.login
    prefix = credential.prefix
    if any(credential.placement):
        place = credential.placement[0] or "header"
        name = credential.placement[1] or "Authorization"
    else:
        place, name = _api_key_placement(scheme) or ("header", "Authorization")
        if prefix is None:
            prefix = _declared_prefix(value, scheme)
    if prefix is None:
        prefix = "Bearer " if name.lower() == "authorization" else ""
    if prefix.strip().lower() == "basic" and ":" in value:
        value = base64.b64encode(value.encode()).decode()
    prefix = prefix if place == "header" else ""
    return RequestSecret(
        place=place, name=name, value=prefix + value, prefix=prefix, credential=known_as
    )


def needs_token(credential: Credential, scheme: JsonObject) -> bool:
    """Return True if a token must be fetched for a credential, because no value is configured.

    A password is sent itself, with the user's name, where HTTP basic authentication is declared or
    configured.
    """
    if credential.value:
        return False
    by_basic = (credential.prefix or "").strip().lower() == "basic" or _is_basic(scheme)
    return not (credential.password and by_basic)


def _api_key_placement(scheme: JsonObject) -> tuple[Place, str] | None:
    """Return the location and name of an OpenAPI API key, or None for another security scheme."""
    match scheme:
        case {
            "type": "apiKey",
            "in": "header" | "query" | "cookie" as place,
            "name": str(name),
        } if name:
            return place, name
    return None


def _declared_prefix(value: str, scheme: JsonObject) -> str | None:
    """Return the prefix, such as `Basic `, that a security scheme declares; None if unknown.

    Swagger 2 has no bearer scheme. Its documents instead declare an API key with the name
    Authorization. Documents from Django REST framework describe this key as 'Token-based
    authentication with required prefix "Token"'. If `value`, the configured credential, contains a
    space, it has a prefix already, and the result is "".
    """
    key = _api_key_placement(scheme)
    if key is not None and key[1].lower() == "authorization":
        if " " in value:
            return ""
        described = re.search(r"\bprefix\W+(\w+)", str(scheme.get("description")))
        if described:
            return f"{described[1]} "
    return "Basic " if _is_basic(scheme) else None


def host_entry(origin: Origin) -> str:
    """Return an origin in the form in which users list it in the setting `hosts`.

    This is `HOST` or `HOST:PORT`.
    """
    return f"{origin.host}:{origin.port}" if origin.scheme == "http" else origin.netloc


def missing_credential_advice(name: str, scheme: JsonObject, origin: Origin, tool: str) -> str:
    """Return a one-line message that says how to configure a missing credential.

    The proposed environment variable has a fixed prefix. Otherwise a document could choose the name
    of a variable that contains another secret.
    """
    kind = " (user:password)" if _is_basic(scheme) else ""
    if scheme.get("type") == "oauth2":
        kind = f" (a token{_instead_of_token(as_mapping(scheme.get('flows')))})"
    if scheme.get("type") == "mutualTLS":
        kind = " (a client certificate: certificate = 'FILE.pem' and key = 'FILE.pem' for value)"
    variable = variable_of(name)
    key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else dumps(name)
    secret = f"value = {dumps(f'env:{variable}')}"
    if {*as_mapping(scheme.get("flows"))} == {"password"}:
        secret = f'username = "YOUR NAME", password = {dumps(f"env:{variable}")}'
    return (
        f"{tool} needs the credential {name!r}{kind}, which is not configured "
        f"({docs_page('reference/configuration#credentials')}); add [credentials.{key}] to your "
        f"own settings file, which 'atc config show' names, by this line at its top, and set the "
        f"variable {variable}: credentials.{key} = "
        f"{{ {secret}, hosts = {dumps([host_entry(origin)])} }}"
    )


def ambiguous_account_advice(name: str, accounts: Sequence[str], tool: str) -> str:
    """Return a one-line message that says how to choose one of several accounts."""
    example = accounts[0].partition("/")[2]
    return (
        f"{tool} needs one of your accounts {', '.join(map(repr, accounts))} of {name!r};"
        f" choose it by the name of the source, such as --tools {example}=SRC."
    )


def _instead_of_token(flows: JsonObject) -> str:
    """Return the part of a message that says what can be configured in place of a token."""
    if not flows:
        return ", which a login gives"
    client = "the client_id, with its client_secret where it has one"
    password = "your username and password" if "password" in flows else ""
    others = client if flows.keys() - {"password"} else ""
    return f", or in place of value {' or '.join(filter(None, (password, others)))}"


def refused_credential_remedy(
    tool: str,
    origin: Origin,
    status: int,
    problem: str,
    sent: Mapping[str, str],
    *,
    test: str = "",
) -> str:
    """Return a one-line message that says what a person must do after a 401 or 403.

    `problem` is the message of the service, or "". `sent` are the credentials of the call: where
    the secret of each was read (or ""), keyed by name. `test` is the command that tests them.
    """
    shown = " and ".join(
        f"{name!r} ({place})" if place else f"{name!r}" for name, place in sent.items()
    )
    said = f"(HTTP {status}: {problem.rstrip('.')})" if problem else f"(HTTP {status})"
    and_test = f", and test it with: {test}" if test else "."
    if status == 401:
        return f"{tool}: {origin.netloc} refused the credential {shown} {said}; renew it{and_test}"
    return (
        f"{tool}: {origin.netloc} denies this call to the credential {shown} {said};"
        f" give it the permission, or set one that has it{and_test}"
    )


def _is_basic(scheme: JsonObject) -> bool:
    return scheme.get("type") == "basic" or str(scheme.get("scheme")).lower() == "basic"


def variable_of(name: str) -> str:
    """Return the environment variable that messages propose for a credential.

    Its prefix `CREDENTIAL_` ensures that no other program uses the name.
    """
    return "CREDENTIAL_" + re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_")


def add_secrets(request: HttpRequest, secrets: Iterable[RequestSecret]) -> HttpRequest:
    """Return the request with `secrets` added.

    A secret replaces an argument that has the same name and the same location (such as a header).
    """
    url = request.url
    headers = CaseInsensitiveDict(request.headers)
    for secret in secrets:
        match secret.place:
            case "header":
                for known in [
                    name for name in headers if normalize_name(name) == normalize_name(secret.name)
                ]:
                    del headers[known]
                headers[secret.name] = secret.value
            case "cookie":
                pairs = _without_pair(secret, headers.get("Cookie", "").split(";"))
                headers["Cookie"] = "; ".join([*pairs, f"{secret.name}={secret.value}"])
            case "query":
                base, _, query = url.partition("?")
                own = f"{quote(secret.name, safe='')}={quote(secret.value, safe='')}"
                url = f"{base}?{'&'.join([*_without_pair(secret, query.split('&')), own])}"
    return replace(request, url=url, headers=headers)


def _without_pair(secret: RequestSecret, pairs: Iterable[str]) -> list[str]:
    return [
        pair.strip()
        for pair in pairs
        if pair.strip() and normalize_name(pair.partition("=")[0]) != normalize_name(secret.name)
    ]


class Mask:
    """Replaces secrets by `***`, in every encoding that a server may send back. Thread-safe."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._values: frozenset[str] = frozenset()
        self._spellings: tuple[str, ...] = ()
        self.add(*secrets)

    def add(self, *secrets: str) -> None:
        """Add secrets that are masked from now on, such as a new token.

        For `user:password`, the password and the Base64 form of both are masked, too.
        """
        found = {*filter(None, secrets)}
        for secret in [*found]:
            user, _, password = secret.partition(":")
            if user and password:
                found |= {password, base64.b64encode(secret.encode()).decode()}
        if not found <= self._values:
            self._values |= found
            known = {spelling for value in self._values for spelling in encoded_forms(value)}
            # Longest first: a secret inside another one must not leave the rest of it unmasked.
            self._spellings = tuple(sorted(known, key=lambda text: (-len(text), text)))

    def __call__(self, text: str) -> str:
        """Return `text` with all secrets masked."""
        for spelling in self._spellings:
            text = text.replace(spelling, MASK)
        return text

    @property
    def spelled_bytes(self) -> tuple[bytes, ...]:
        """All spellings of secrets that are too long to be common words, the longest first."""
        surely = [value for value in self._values if len(value) >= _UNMISTAKABLE]
        known = {spelling.encode() for value in surely for spelling in encoded_forms(value)}
        return tuple(sorted(known, key=lambda text: (-len(text), text)))

    def result(self, value: Json) -> Json:
        """Return the result of a successful call with all secrets in it masked.

        Secrets shorter than 8 characters are not masked, because they may be common words.
        """
        surely = [value for value in self._values if len(value) >= _UNMISTAKABLE]

        def clean(leaf: Json) -> Json:
            return (
                self(leaf)
                if isinstance(leaf, str) and any(secret in leaf for secret in surely)
                else leaf
            )

        return replace_secrets(value, None, clean, rest=clean) if surely else value
