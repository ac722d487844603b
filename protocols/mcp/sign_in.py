"""The sign-in to an MCP server in a browser, with the SDK's OAuth client."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from mcp.client.auth import OAuthClientProvider
from mcp.shared.auth import (
    AuthorizationCodeResult,
    OAuthClientInformationFull,
    OAuthClientMetadata,
    OAuthToken,
)
from pydantic import BaseModel

from protocols.errors import CredentialMissing
from protocols.http.oauth import Keyring
from protocols.http.redirect_page import RedirectPage


class BrowserSignIn:
    """Token storage and browser access for the SDK's OAuth client.

    The client signs in when the server answers with status 401.
    """

    def __init__(
        self,
        url: str,
        keyring: Keyring,
        redirect: RedirectPage,
        require_allowed: Callable[[str], Awaitable[None]],
    ) -> None:
        """Prepare to sign in to the server at `url`.

        `require_allowed` raises an error if the browser may not be sent to an address.
        """
        self._url = url
        self._name = f"mcp {url}"
        self._redirect = redirect
        self._require_allowed = require_allowed
        self._tokens = keyring.tokens
        self._open = keyring.settings.open_browser

    def client(self) -> OAuthClientProvider:
        """Return the SDK's OAuth client."""
        asked = OAuthClientMetadata.model_validate(
            {"client_name": "atc", "redirect_uris": [self._redirect.url]}
        )
        return OAuthClientProvider(
            self._url,
            asked,
            self,
            redirect_handler=self._open_sign_in_page,
            callback_handler=self._wait_for_redirect,
        )

    async def _open_sign_in_page(self, address: str) -> None:
        if self._open is None:
            raise CredentialMissing(
                "it wants a sign-in in a browser; run this command once on a terminal"
            )
        await self._require_allowed(address)  # the browser could be sent to a local service
        self._open(address)

    async def _wait_for_redirect(self) -> AuthorizationCodeResult:
        found = await asyncio.to_thread(self._redirect.wait, None)
        return AuthorizationCodeResult(
            code=found["code"], state=found.get("state"), iss=found.get("iss")
        )

    async def get_tokens(self) -> OAuthToken | None:
        """Return the stored tokens, or None."""
        found = self._tokens.get(self._name).get("token")
        return OAuthToken.model_validate(found) if found else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        """Store the tokens of a sign-in."""
        self._save("token", tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        """Return the stored registration of this client, or None."""
        found = self._tokens.get(self._name).get("client")
        return OAuthClientInformationFull.model_validate(found) if found else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        """Store the registration of this client with the server."""
        self._save("client", client_info)

    def _save(self, key: str, value: BaseModel) -> None:
        kept = self._tokens.get(self._name)
        self._tokens.save(
            self._name, kept | {key: value.model_dump(mode="json", exclude_none=True)}
        )
