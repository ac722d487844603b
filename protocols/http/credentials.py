"""Secrets: which hosts may see them, how a request carries them, and how they are kept out of every message."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from requests.structures import CaseInsensitiveDict

from protocols.documentation import docs_page
from protocols.http.request import HttpRequest, normalize_name
from protocols.schema import Json, JsonObject, dumps
from protocols.secrets import encoded_forms, replace_secrets
from protocols.settings import Credential, Place
from protocols.urls import Origin

MASK = "***"
Alternatives = Sequence[str | tuple[str, ...]]
"""Names of credentials of which one is to be sent; those of a tuple together, and for an empty one none."""
_UNMISTAKABLE = 8  # characters from which a secret found in a result is surely the secret, and not a common word


@dataclass(frozen=True, slots=True, kw_only=True)
class RequestSecret:
    """A secret in its place in a request."""

    place: Place
    name: str
    value: str = field(repr=False)
    prefix: str = ""
    """What of the value is no secret, such as `Bearer `."""
    credential: str = ""
    """Its name in the configuration."""


def build_request_secret(
    known_as: str, credential: Credential, scheme: JsonObject, *, token: str = ""
) -> RequestSecret:
    """How a request carries a credential, or the `token` got for it: by the user's settings, or else by an OpenAPI
    security scheme.

    Without either it is a bearer token.
    """
    place = credential.placement[0] or "header"
    name = credential.placement[1] or "Authorization"
    value = token or credential.value
    prefix = credential.prefix
    if not any(credential.placement):
        match scheme:
            case {
                "type": "apiKey",
                "in": "header" | "query" | "cookie" as where,
                "name": str(key),
            } if key:
                place = where
                name = key
                # Swagger 2 has no bearer scheme, so its documents declare a key called Authorization.
                # Django REST framework's say: 'Token-based authentication with required prefix "Token"'.
                if key.lower() == "authorization" and prefix is None:
                    named = re.search(r"\bprefix\W+(\w+)", str(scheme.get("description")))
                    prefix = "" if " " in value else f"{named[1]} " if named else None
        if prefix is None and _is_basic(scheme):
            prefix = "Basic "
    if prefix is None:
        prefix = "Bearer " if name.lower() == "authorization" else ""
    if prefix.strip().lower() == "basic" and ":" in value:
        value = base64.b64encode(value.encode()).decode()
    prefix = prefix if place == "header" else ""
    return RequestSecret(
        place=place, name=name, value=prefix + value, prefix=prefix, credential=known_as
    )


def host_entry(origin: Origin) -> str:
    """An origin as `hosts` lists it."""
    return f"{origin.host}:{origin.port}" if origin.scheme == "http" else origin.netloc


def missing_credential_advice(name: str, scheme: JsonObject, origin: Origin, tool: str) -> str:
    """What to write where for a credential that is missing, on one line.

    The variable's name is never one that the document chose alone: a hostile one could name a variable that holds
    another secret of the user's.
    """
    kind = " (user:password)" if _is_basic(scheme) else ""
    if scheme.get("type") == "oauth2":
        got = ", or in place of value the client_id, with its client_secret where it has one"
        kind = f" (a token{got if scheme.get('flows') else ', which a login gives'})"
    variable = variable_of(name)
    key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else dumps(name)
    return (
        f"{tool} needs the credential {name!r}{kind}, which is not configured "
        f"({docs_page('reference/configuration#credentials')}); add [credentials.{key}] to your own settings file, "
        f"which 'atc config show' names, by this line at its top, and set the variable {variable}: credentials.{key} = "
        f"{{ value = {dumps(f'env:{variable}')}, hosts = {dumps([host_entry(origin)])} }}"
    )


def _is_basic(scheme: JsonObject) -> bool:
    return scheme.get("type") == "basic" or str(scheme.get("scheme")).lower() == "basic"


def variable_of(name: str) -> str:
    """The variable that messages propose for a credential: never one that has a meaning elsewhere."""
    return "CREDENTIAL_" + re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_")


def add_secrets(request: HttpRequest, secrets: Iterable[RequestSecret]) -> HttpRequest:
    """The request with these secrets added; each replaces what an argument put in its place."""
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
    """Replaces secrets by `***`, in each spelling that a server may send back. Safe for threads."""

    def __init__(self, secrets: Iterable[str]) -> None:
        self._values: frozenset[str] = frozenset()
        self._spellings: tuple[str, ...] = ()
        self.add(*secrets)

    def add(self, *secrets: str) -> None:
        """More secrets, such as a token that was got. Of `user:password` the password is one, and its Basic form."""
        found = {*filter(None, secrets)}
        for secret in [*found]:
            user, _, password = secret.partition(":")
            if user and password:
                found |= {password, base64.b64encode(secret.encode()).decode()}
        if not found <= self._values:
            self._values |= found
            known = {spelling for value in self._values for spelling in encoded_forms(value)}
            # The longest first, so that a secret within another's spelling leaves no rest of it standing.
            self._spellings = tuple(sorted(known, key=lambda text: (-len(text), text)))

    def __call__(self, text: str) -> str:
        """`text` without secrets."""
        for spelling in self._spellings:
            text = text.replace(spelling, MASK)
        return text

    def result(self, value: Json) -> Json:
        """A successful result without secrets that the server echoed; shorter than 8 characters they are left."""
        surely = [value for value in self._values if len(value) >= _UNMISTAKABLE]

        def clean(leaf: Json) -> Json:
            return (
                self(leaf)
                if isinstance(leaf, str) and any(secret in leaf for secret in surely)
                else leaf
            )

        return replace_secrets(value, None, clean, rest=clean) if surely else value
