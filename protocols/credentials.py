"""Secrets: which hosts may see them, how a request carries them, and how they are kept out of every message."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal
from urllib.parse import quote

from protocols.errors import CredentialMissing
from protocols.jsontypes import Json, dumps
from protocols.origin import Origin
from protocols.placeholder import spellings
from protocols.request import HttpRequest, spelled

MASK = "***"
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
_UNMISTAKABLE = 8  # characters from which a secret found in a result is surely the secret, and not a common word


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """A secret, where it goes in a request, and the only hosts that it is ever sent to. From the user's configuration.

    An entry of `hosts` is exact: `host` means its https port (on loopback also http's port 80), `host:port` that port.
    """

    value: str = field(repr=False)
    hosts: tuple[str, ...]
    place: Literal["header", "query", "cookie"] = "header"
    name: str = "Authorization"
    prefix: str = "Bearer "
    problem: str = ""
    """Why the value cannot be read; empty where it can."""

    def may_go_to(self, origin: Origin) -> bool:
        """Whether `hosts` lists this origin. A bare host never allows clear text over a network."""
        listed = {host.lower() for host in self.hosts}
        secure = origin.scheme == "https" or origin.host in _LOOPBACK
        return f"{origin.host}:{origin.port}" in listed or (secure and origin.netloc in listed)


def chosen(
    names: Iterable[str],
    credentials: Mapping[str, Credential],
    origin: Origin,
    *,
    tool: str,
    places: Mapping[str, Mapping[str, str]] | None = None,
) -> dict[str, Credential]:
    """The credentials that a call to `origin` carries, by name, out of those its binding names.

    Where a binding names several, those that are configured are used: documents list alternatives. `places` says where
    they go, for the advice about one that is missing.

    Raises:
        CredentialMissing: none is configured, or one is for other hosts. Says what to write where.
    """
    wanted = list(names)
    known = {name: credentials[name] for name in wanted if name in credentials}
    found = {name: credential for name, credential in known.items() if not credential.problem}
    place = f"{origin.host}:{origin.port}" if origin.scheme == "http" else origin.netloc
    if wanted and not known:
        line, variable = _setting(wanted[0], place, (places or {}).get(wanted[0], {}))
        raise CredentialMissing(
            f"{tool} needs the credential {wanted[0]!r}, which is not configured; add [credentials.{wanted[0]}] to "
            "your own settings file, which 'atc config show' names, by this line at its top, and set the variable "
            f"{variable}: {line}"
        )
    if wanted and not found:
        raise CredentialMissing(f"{tool}: {next(iter(known.values())).problem}")
    for name, credential in found.items():
        if not credential.may_go_to(origin):
            raise CredentialMissing(
                f"{tool} would send the credential {name!r} to {place!r}, but it is configured for "
                f"{', '.join(map(repr, credential.hosts)) or 'no host'} only; "
                f"if it may go there, add {place!r} to credentials.{name}.hosts in your own settings file."
            )
        if not credential.value or not (credential.prefix + credential.value).isprintable():
            raise CredentialMissing(
                f"the credential {name!r} is empty or has control characters; correct its value in your own settings "
                "file."
            )
    return found


def dress(request: HttpRequest, credentials: Iterable[Credential]) -> HttpRequest:
    """The request with these credentials added; each replaces what an argument put in its place."""
    for credential in credentials:
        own = spelled(credential.name)
        value = credential.prefix + credential.value if credential.place == "header" else credential.value
        match credential.place:
            case "header":
                kept = {k: v for k, v in request.headers.items() if spelled(k) != own}
                request = replace(request, headers=kept | {credential.name: value})
            case "cookie":
                pairs = [pair.strip() for pair in request.headers.get("Cookie", "").split(";")]
                others = [pair for pair in pairs if pair and spelled(pair.partition("=")[0]) != own]
                cookie = "; ".join([*others, f"{credential.name}={value}"])
                request = replace(request, headers={**request.headers, "Cookie": cookie})
            case "query":
                base, _, query = request.url.partition("?")
                pairs = [p for p in query.split("&") if p and spelled(p.partition("=")[0]) != own]
                asked = "&".join([*pairs, f"{quote(credential.name, safe='')}={quote(value, safe='')}"])
                request = replace(request, url=f"{base}?{asked}")
    return request


class Mask:
    """Replaces the values of credentials by `***`, in each spelling that a server may send back."""

    def __init__(self, credentials: Iterable[Credential]) -> None:
        values = {credential.value for credential in credentials if credential.value}
        known = {spelling for value in values for spelling in spellings(value)}
        # The longest first, so that a secret within another's spelling leaves no rest of it standing.
        self._spellings = sorted(known, key=lambda text: (-len(text), text))
        self._unmistakable = [value for value in values if len(value) >= _UNMISTAKABLE]

    def __bool__(self) -> bool:
        return bool(self._spellings)

    def __call__(self, text: str) -> str:
        """`text` without secrets."""
        for spelling in self._spellings:
            text = text.replace(spelling, MASK)
        return text

    def finds(self, text: str) -> bool:
        """Whether `text` holds a secret."""
        return any(spelling in text for spelling in self._spellings)

    def result(self, value: Json) -> Json:
        """A successful result without secrets that the server echoed; shorter than 8 characters they are left."""
        if not self._unmistakable:
            return value
        if isinstance(value, str):
            return self(value) if any(secret in value for secret in self._unmistakable) else value
        if isinstance(value, list):
            return [self.result(item) for item in value]
        if isinstance(value, dict):
            return {self.result(key): self.result(item) for key, item in value.items()}
        return value


def _setting(name: str, host: str, place: Mapping[str, str]) -> tuple[str, str]:
    """A line of TOML that configures the credential, and the environment variable that it reads.

    The table is on one line, for a message is one line. The variable's name is never one that the document chose alone:
    a hostile one could name a variable that holds another secret of the user's.
    """
    variable = "CREDENTIAL_" + re.sub(r"[^A-Z0-9]+", "_", name.upper()).strip("_")
    key = name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else dumps(name)
    entry = {"value": f"env:{variable}", "hosts": [host], **place}
    text = ", ".join(f"{field} = {dumps(value)}" for field, value in entry.items())
    return f"credentials.{key} = {{ {text} }}", variable
