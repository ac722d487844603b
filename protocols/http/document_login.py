"""The user's credentials in the request for a document, such as the OpenAPI document of an API.

Before the document is read, nothing says how a credential is sent. So the user's settings decide,
or the server's challenge, or else it is sent as a bearer token.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from protocols.documentation import docs_page
from protocols.errors import CredentialMissing
from protocols.http.credentials import RequestSecret, host_entry, needs_token
from protocols.http.oauth import Keyring, LoginRequirements
from protocols.response import Answer
from protocols.schema import JsonObject, as_mapping
from protocols.urls import Origin, is_loopback

_BASIC = {"type": "http", "scheme": "basic"}
_WHAT = "the request for the document"


@dataclass(slots=True)
class DocumentLogin:
    """The credentials that the user's settings give for the host of a document.

    They are sent over https, and over http on this machine only. `account` is the name that the
    user gave to the source.
    """

    keyring: Keyring
    origin: Origin
    account: str
    problem: str = field(default="", init=False)
    """Why a credential for the host could not be sent, or ""."""

    def first_secrets(self) -> list[RequestSecret]:
        """Return the secrets for the first request, as far as they need no sign-in."""
        if placed := self.keyring.placed(self._requirements):
            return self._secrets({name: {} for name in placed})
        name = self._unplaced()
        if name is None or not self._is_ready(name):
            return []
        return self._secrets({name: {}})

    def secrets_after(self, answer: Answer) -> list[RequestSecret]:
        """Return the secrets for another request, after `answer` to the first one.

        They suit the server's challenge, or need a sign-in.
        """
        name = self._unplaced()
        if name is None or self.keyring.placed(self._requirements):
            return []
        credential = self.keyring.settings.credentials[name]
        challenge = answer.headers.get("www-authenticate", "").strip().lower()
        if challenge.startswith("basic") and not needs_token(credential, _BASIC):
            return self._secrets({name: _BASIC})
        if credential.token_url and not self._is_ready(name):
            return self._secrets({name: {}})
        return []

    def secrets_of(self, document: JsonObject) -> list[RequestSecret]:
        """Return the secrets for the schemes that a document declares, if they need no sign-in.

        A service may give a smaller document to clients that are not signed in.
        """
        parts = as_mapping(document.get("components")).get("securitySchemes")
        declared = as_mapping(parts or document.get("securityDefinitions"))
        schemes = {name: as_mapping(scheme) for name, scheme in declared.items()}
        found = {}
        for name, scheme in schemes.items():
            login = LoginRequirements(origin=self.origin, offered=(name,), account=self.account)
            for one in self.keyring.chosen(login).values():
                if self._may_send(one) and self._is_ready(one, scheme):
                    found[one] = scheme
        return self._secrets(found)

    def advice(self) -> str:
        """Return a sentence about the login that the document may need."""
        page = docs_page("reference/configuration#documents-behind-a-login")
        if self.problem:
            return f"its credential was not sent: {self.problem}"
        name = self._unplaced()
        names = [*self.keyring.placed(self._requirements), name]
        if names == [name] and name is not None and not self._is_ready(name):
            return (
                f"its credential {name!r} needs a sign-in, whose address only the document has; set"
                f" credentials.{name}.token_url, or its prefix ({page})"
            )
        if sent := next(filter(None, names), None):
            place = self.keyring.place_of(sent)
            return (
                f"the credential {sent!r}{f' ({place})' if place else ''} did not open it; renew"
                f" it, or say how it is sent ({page})"
            )
        entry = host_entry(self.origin)
        return (
            f"if it needs a login, give {entry!r} a credential in your own settings file ({page})"
        )

    @property
    def _requirements(self) -> LoginRequirements:
        return LoginRequirements(origin=self.origin, account=self.account)

    def _unplaced(self) -> str | None:
        """Return a credential for the host of which no setting says how it is sent."""
        credentials = self.keyring.settings.credentials
        names = [name for name in credentials if self._may_send(name)]
        own = [name for name in names if name.partition("/")[2] == self.account]
        return next(iter([*own, *names]), None)

    def _may_send(self, name: str) -> bool:
        """Return True if a credential may be sent to the host of the document."""
        safe = self.origin.scheme == "https" or is_loopback(self.origin.host)
        credential = self.keyring.settings.credentials[name]
        return safe and credential.is_sent and credential.may_go_to(self.origin)

    def _is_ready(self, name: str, scheme: JsonObject | None = None) -> bool:
        """Return True if a credential can be sent at once, without a sign-in."""
        credential = self.keyring.settings.credentials[name]
        return not needs_token(credential, scheme or {}) or self.keyring.access_tokens.has(
            name, credential
        )

    def _secrets(self, schemes: Mapping[str, JsonObject]) -> list[RequestSecret]:
        """Return the secrets of these credentials, keyed by name, with their schemes.

        If one of them is missing, the list is empty, and `problem` says why.
        """
        if not all(map(self._may_send, schemes)):
            return []
        try:
            return [
                self.keyring.secret(name, scheme, self.origin, _WHAT)
                for name, scheme in schemes.items()
            ]
        except CredentialMissing as error:
            self.problem = error.body
            return []
