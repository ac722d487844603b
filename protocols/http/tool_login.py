"""The credentials of one tool: which are sent, how they are tested, and what a person must do."""

from __future__ import annotations

import shlex
from dataclasses import replace

from protocols.errors import CredentialMissing
from protocols.http.access_tokens import SignInFailed
from protocols.http.credentials import RequestSecret
from protocols.http.filled_parameters import login_requirements
from protocols.http.oauth import Keyring, LoginRequirements, SignIn
from protocols.protocol import HttpBinding, ToolProtocol


class ToolLogin:
    """The credentials of one tool.

    `account` is the name that the user gave to the tool's source, and `source` the text of it.
    """

    def __init__(
        self,
        protocol: ToolProtocol,
        binding: HttpBinding,
        keyring: Keyring,
        *,
        account: str,
        source: str,
    ) -> None:
        self.account = account
        self.source = source
        self._tool = protocol.name
        self._keyring = keyring
        self._declared = login_requirements(binding, protocol, account)
        self._siblings = replace(self._declared, offered=binding.sibling_credentials)

    @property
    def requirements(self) -> LoginRequirements:
        """The credentials that the document declares for the tool.

        If it declares none and the user agreed to it, they are those of the tool's siblings.
        """
        names = self.sibling_names
        if names and self._keyring.agreements.has(self._declared.origin, names):
            return self._siblings
        return self._declared

    @property
    def needed(self) -> tuple[str, ...]:
        """The names of the credentials that the document declares, whether configured or not."""
        return _names_of(self._declared)

    @property
    def sibling_names(self) -> tuple[str, ...]:
        """The names of the credentials that only siblings of the tool declare.

        They are () unless the user configured them for the host of the tool.
        """
        if not self._siblings.offered:
            return ()
        chosen = self._keyring.chosen(self._siblings)
        known = self._keyring.settings.credentials
        fits = all(known[one].may_go_to(self._siblings.origin) for one in chosen.values())
        return tuple(chosen) if fits else ()

    @property
    def key(self) -> tuple[object, ...] | None:
        """A value that is equal for tools with the same sign-in; None for those without one."""
        requirements = self.requirements
        chosen = tuple(self._keyring.chosen(requirements).values())
        if not (chosen or any(requirements.offered)):
            return None
        return requirements.origin, self.account, requirements.offered, chosen

    @property
    def command(self) -> str:
        """The command that tests the credentials of the tool's source."""
        return f"atc tools login {shlex.quote(self.source) if self.source else 'SOURCE'}"

    def secrets(self) -> list[RequestSecret]:
        """Return the secrets of a call.

        Raises:
            CredentialMissing: one of them is not available.
        """
        try:
            return self._keyring.secrets(self.requirements, tool=self._tool)
        except SignInFailed as failure:
            raise CredentialMissing(f"{failure.body} Test it with: {self.command}") from None

    def sign_in(self) -> list[SignIn]:
        """Sign in anew with each credential of a call that needs a token.

        Raises:
            CredentialMissing: a credential is not available. The earlier tokens are kept.
        """
        return self._keyring.sign_in(self.requirements, tool=self._tool)

    def sibling_question(self) -> str:
        """Return the question if the siblings' credentials may be sent, as a text.

        The text is "" if no sibling declares a credential, or if the user has agreed already.
        """
        names = self.sibling_names
        if not names or self.requirements is self._siblings:
            return ""
        host = self._declared.origin.netloc
        shown = " and ".join(map(repr, names))
        return (
            f"The document of {host} declares the login {shown} for most of its tools, and nothing"
            f" for others. Send it to {host} with these, too?"
        )

    def agree(self) -> None:
        """Record that the user agreed to send the siblings' credentials, for this origin."""
        self._keyring.agreements.add(self._declared.origin, self.sibling_names)

    def sibling_advice(self, status: int) -> str | None:
        """Return what a person can do about a call that was refused without a login, if anything.

        `status` is 401 or 403.
        """
        if not self.sibling_question():
            return None
        shown = " and ".join(map(repr, self.sibling_names))
        return (
            f"{self._tool}: {self._declared.origin.netloc} refused the call without a login (HTTP"
            f" {status}). Its document declares none for this tool, but {shown} for most others;"
            f" if it may be sent with this one, too, agree on a terminal: {self.command}"
        )


def _names_of(requirements: LoginRequirements) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for names in requirements.alternatives for name in names))
