"""The credentials of all calls: configured secrets, and OAuth 2 tokens.

The user's configuration names for each credential the hosts that it may be sent to. Other hosts get
no secret, and their sign-in pages are not opened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import replace

from protocols.errors import CredentialMissing
from protocols.http.access_tokens import AccessTokens
from protocols.http.credentials import (
    Alternatives,
    Mask,
    RequestSecret,
    build_request_secret,
    missing_credential_advice,
    needs_token,
)
from protocols.http.sign_in_flows import refuse_unlisted_host
from protocols.http.token_file import TokenFile
from protocols.http.transport import Transport
from protocols.schema import JsonObject
from protocols.secrets.names import is_secret
from protocols.settings import Credential, InvokeSettings
from protocols.urls import Origin


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
            for secret in (credential.value, credential.client_secret, credential.login)
        )
        for known_as, server in settings.servers.items():  # a server may echo its environment
            environment = {} if f"mcp.{known_as}" in settings.problems else server.env
            self.mask.add(*(value for name, value in environment.items() if is_secret(name, value)))
        near = self.homes if settings.near_hosts else None
        self.transport = Transport(max_body_bytes=settings.max_body_bytes, homes=near)
        self.tokens = TokenFile(settings.tokens)
        self.access_tokens = AccessTokens(settings, self.transport, self.mask, self.tokens)
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
        if known is not None and needs_token(known, {}):
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
            if credential is not None and needs_token(credential, {}):
                self.access_tokens.drop(name, credential)

    def _read_again(self) -> None:
        """Read all secrets again, if the settings contain a function for this (`read_again`)."""
        self._stale = False
        if self.settings.read_again is None:
            return
        credentials, problems = self.settings.read_again()
        self._usable = {name: known for name, known in credentials.items() if name not in problems}
        for known in self._usable.values():
            self.mask.add(known.value, known.client_secret, known.login)
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
        refuse_unlisted_host(name, credential, origin, tool)
        value = credential.value or credential.client_id or credential.login
        if not value or not f"{credential.prefix or ''}{value}".isprintable():
            problem = "is empty or has control characters; correct it in your own settings file."
            raise CredentialMissing(f"the credential {name!r} {problem}")
        token = ""
        if needs_token(credential, scheme):
            token = self.access_tokens.token(name, credential, scheme)
        secret = build_request_secret(name, credential, scheme, token=token)
        self.mask.add(secret.value.rpartition(" ")[2])
        return secret
