"""The credentials of all calls: which are sent with a request, and with which values.

The user's configuration names for each credential the hosts that it may be sent to. Other hosts get
no secret, and their sign-in pages are not opened.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import NoReturn

from protocols.errors import CredentialMissing
from protocols.http.access_tokens import AccessTokens, SignInFailed
from protocols.http.agreements import Agreements
from protocols.http.credentials import (
    Alternatives,
    Mask,
    RequestSecret,
    ambiguous_account_advice,
    build_request_secret,
    missing_credential_advice,
    needs_token,
)
from protocols.http.request_names import same_place
from protocols.http.sign_in_flows import refuse_unlisted_host
from protocols.http.tls_files import TlsFiles, tls_files_for
from protocols.http.token_file import TokenFile
from protocols.http.transport import Transport
from protocols.schema import JsonObject
from protocols.secrets.names import is_secret
from protocols.settings import Credential, InvokeSettings, Place
from protocols.urls import Origin


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginRequirements:
    """The credentials that one tool declares, with the account that the user chose for it."""

    origin: Origin
    """Where its requests go."""
    offered: Alternatives = ()
    """The alternatives that the document declares."""
    schemes: Mapping[str, JsonObject] = field(default_factory=dict)
    """OpenAPI security schemes, keyed by credential."""
    parameters: frozenset[tuple[str, str]] = frozenset()
    """Each header, query parameter and cookie of the tool, as `same_place` returns it."""
    account: str = ""
    """The name that the user gave to the source. It chooses among accounts, see `Keyring`."""

    @property
    def alternatives(self) -> list[tuple[str, ...]]:
        """`offered` as tuples of names."""
        return [(names,) if isinstance(names, str) else names for names in self.offered]


@dataclass(frozen=True, slots=True, kw_only=True)
class SignIn:
    """The result of a sign-in with one credential."""

    credential: str
    """Its name in the settings."""
    place: str
    """Where its secret was read, or ""."""
    token: bool
    """False if the secret itself is sent, so that there is nothing to sign in to."""
    seconds: float | None = None
    """For how many seconds the token is valid; None if that is unknown."""


class Keyring:
    """The settings, connections, secrets and tokens with which tools are called. Thread-safe.

    A credential `github/work` in the settings is the account `work` of the credential `github`. It
    is used for sources that the user named `work`, or if it is the only one.
    """

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
        self.mask = Mask(())
        self._late: dict[str, Credential] = {}
        self._late_lock = threading.Lock()
        self._usable: dict[str, Credential] = {}
        self._take(credentials, settings.problems)
        for known_as, server in settings.servers.items():  # a server may echo its environment
            environment = {} if f"mcp.{known_as}" in settings.problems else server.env
            self.mask.add(*(value for name, value in environment.items() if is_secret(name, value)))
        near = self.homes if settings.near_hosts else None
        self.transport = Transport(
            max_body_bytes=settings.max_body_bytes, homes=near, tls_files=self.tls_files
        )
        self.tokens = TokenFile(settings.tokens)
        self.access_tokens = AccessTokens(settings, self.transport, self.mask, self.tokens)
        self.agreements = Agreements(settings.agreements)
        self._stale = False
        """True if a credential was refused or missing, so that all are read again."""

    def tls_files(self, origin: Origin) -> TlsFiles:
        """Return the user's own certificates for connections to an origin."""
        return tls_files_for(origin, self.settings.credentials.values())

    def secrets(self, login: LoginRequirements, *, tool: str) -> list[RequestSecret]:
        """Return the secrets that a request of `tool` must carry.

        They are the secrets of the first alternative that is configured. The list is empty if no
        alternative is configured and one of them needs no credential. If the document declares no
        credential at all, the list has each secret for this host whose header, query parameter or
        cookie the user has configured. A secret for a place that the tool declares as a parameter
        is always sent.

        Raises:
            CredentialMissing: no alternative is configured, a credential is for other hosts, or a
                token cannot be fetched. The message says what to configure.
        """
        if self._stale:
            self._read_again()
        chosen = self.chosen(login)
        if not chosen and login.alternatives and all(login.alternatives):
            self._raise_missing(login, tool)
        if not any(login.alternatives):
            for base, names in self._placed_accounts(login).items():
                if _pick_account(base, names, login.account) is None:
                    raise CredentialMissing(ambiguous_account_advice(base, names, tool))
        return [
            self.secret(name, login.schemes.get(declared, {}), login.origin, tool)
            for declared, name in chosen.items()
            if self.settings.credentials[name].is_sent
        ]

    def sign_in(self, login: LoginRequirements, *, tool: str) -> list[SignIn]:
        """Sign in anew with each credential that `secrets` sends.

        Raises:
            CredentialMissing: see `secrets`. The earlier tokens are kept.
        """
        chosen = self.chosen(login)
        done = []
        for declared, name in chosen.items():
            scheme = login.schemes.get(declared, {})
            place = self.settings.places.get(name, "")
            if not self.settings.credentials[name].is_sent:
                refuse_unlisted_host(name, self.settings.credentials[name], login.origin, tool)
                done.append(SignIn(credential=name, place=place, token=False))
            elif name in self._usable and needs_token(self._usable[name], scheme):
                refuse_unlisted_host(name, self._usable[name], login.origin, tool)
                credential = self.complete(name)
                self.access_tokens.token(name, credential, scheme, anew=True)
                left = self.access_tokens.seconds_left(name, credential)
                done.append(SignIn(credential=name, place=place, token=True, seconds=left))
            else:
                self.secret(name, scheme, login.origin, tool)
                done.append(SignIn(credential=name, place=place, token=False))
        if not chosen:
            self.secrets(login, tool=tool)  # says what is missing
        return done

    def chosen(self, login: LoginRequirements) -> dict[str, str]:
        """Return the names of the configured credentials that `secrets` sends.

        They are keyed by the name that the document uses, which lacks the account.
        """
        configured = self._configured_alternatives(login)
        usable = [one for one in configured if self._usable.keys() >= set(one.values())]
        if all(login.alternatives):
            usable += configured  # `secrets` says what is wrong with them
        found = usable[0] if usable else {}
        for one in self.placed(login):
            place, key = self.settings.credentials[one].placement
            declared = same_place(place or "header", key or "Authorization") in login.parameters
            if declared or not any(login.alternatives):
                found.setdefault(one, one)
        return found

    def _configured_alternatives(self, login: LoginRequirements) -> list[dict[str, str]]:
        """Return the declared alternatives of which the user has configured every credential.

        Each has the names in the settings, keyed by the name that the document uses.
        """
        configured = []
        for names in login.alternatives:
            known = {name: self._find(name, login.account) for name in names}
            if names and all(known.values()):
                configured.append({name: one for name, one in known.items() if one})
        return configured

    def placed(self, login: LoginRequirements) -> list[str]:
        """Return the credentials for this host of which the user configured how they are sent.

        Of several accounts, there is only the one that the source chooses.
        """
        return [
            picked
            for base, names in self._placed_accounts(login).items()
            if (picked := _pick_account(base, names, login.account))
        ]

    def _placed_accounts(self, login: LoginRequirements) -> dict[str, list[str]]:
        """Return all accounts of the credentials in `placed`, keyed by the credential's name."""
        accounts: dict[str, list[str]] = {}
        for name, credential in self.settings.credentials.items():
            if credential.has_placement and credential.may_go_to(login.origin):
                accounts.setdefault(name.partition("/")[0], []).append(name)
        return accounts

    def placements(self, login: LoginRequirements) -> list[tuple[Place, str]]:
        """Return the location and name of each credential that a request carries."""
        credentials = self.settings.credentials
        secrets = [
            build_request_secret(name, credentials[name], login.schemes.get(declared, {}))
            for declared, name in self.chosen(login).items()
            if credentials[name].is_sent
        ]
        return list(dict.fromkeys((one.place, one.name) for one in secrets))

    def place_of(self, name: str) -> str:
        """Return where the secret of a credential was read, for messages, or ""."""
        known = self.settings.credentials.get(name)
        place = self.settings.places.get(name, "")
        if known is not None and needs_token(known, {}):
            return ", ".join(
                filter(None, (place, "its token is fetched anew when it is sent again"))
            )
        return place

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

    def complete(self, name: str) -> Credential:
        """Return a usable credential with all secrets, for example the output of its command.

        Raises:
            CredentialMissing: the command fails.
        """
        read = self.settings.read_late
        if name not in self.settings.late or read is None:
            return self._usable[name]
        with self._late_lock:
            if name not in self._late:
                credential = read(name)
                self._learn(credential)
                self._late[name] = credential
            return self._late[name]

    def _take(self, credentials: Mapping[str, Credential], problems: Mapping[str, str]) -> None:
        """Use these credentials from now on, except for those with problems."""
        self._usable = {name: known for name, known in credentials.items() if name not in problems}
        self._late.clear()
        for name, known in self._usable.items():
            if name not in self.settings.late:
                self._learn(known)

    def _learn(self, credential: Credential) -> None:
        self.mask.add(credential.value, credential.client_secret, credential.login)

    def _read_again(self) -> None:
        """Read all secrets again, if the settings contain a function for this (`read_again`)."""
        self._stale = False
        if self.settings.read_again is None:
            return
        credentials, problems = self.settings.read_again()
        self._take(credentials, problems)
        self.settings = replace(self.settings, credentials=credentials, problems=problems)

    def _find(self, name: str, account: str) -> str | None:
        """Return the name in the settings of a credential that a document names, or None."""
        known = self.settings.credentials
        return _pick_account(name, [one for one in known if _is_account(one, name)], account)

    def _raise_missing(self, login: LoginRequirements, tool: str) -> NoReturn:
        """Raise the error that says why none of the declared credentials can be sent."""
        missing = [
            name
            for names in login.alternatives
            for name in names
            if self._find(name, login.account) not in self._usable
        ]
        name = missing[0]
        accounts = [one for one in self._usable if _is_account(one, name)]
        if accounts:
            raise CredentialMissing(ambiguous_account_advice(name, accounts, tool))
        scheme = login.schemes.get(name, {})
        raise CredentialMissing(missing_credential_advice(name, scheme, login.origin, tool))

    def secret(self, name: str, scheme: JsonObject, origin: Origin, tool: str) -> RequestSecret:
        """Return the secret for one credential, after checking that `origin` may see it.

        Its value is checked, too. `scheme` is its OpenAPI security scheme.

        Raises:
            CredentialMissing: the credential cannot be sent. The message says why.
        """
        if name not in self._usable:
            self._stale = True
            raise CredentialMissing(f"{tool}: {self.settings.problems[name]}")
        refuse_unlisted_host(name, self._usable[name], origin, tool)
        credential = self.complete(name)
        value = credential.value or credential.client_id or credential.login
        if not value or not f"{credential.prefix or ''}{value}".isprintable():
            problem = "is empty or has control characters; correct it in your own settings file."
            raise CredentialMissing(f"the credential {name!r} {problem}")
        token = ""
        if needs_token(credential, scheme):
            try:
                token = self.access_tokens.token(name, credential, scheme)
            except SignInFailed:
                self._stale = True
                raise
        secret = build_request_secret(name, credential, scheme, token=token)
        self.mask.add(secret.value.rpartition(" ")[2])
        return secret


def _is_account(configured: str, name: str) -> bool:
    """Return True if a configured credential is the one that a document calls `name`.

    Return True also if it is an account of this credential.
    """
    return configured == name or configured.startswith(f"{name}/")


def _pick_account(name: str, configured: Collection[str], account: str) -> str | None:
    """Return one of the configured accounts of a credential; None if the choice is unclear."""
    for one in (f"{name}/{account}", name):
        if one in configured:
            return one
    return next(iter(configured)) if len(configured) == 1 else None
