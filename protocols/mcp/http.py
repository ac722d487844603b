"""Streamable HTTP to an MCP server: a limit on what is read, and the SDK's sign-in. Imported only where one is."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager, closing
from typing import Any

import httpx2
from mcp.client.auth import OAuthClientProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import AuthorizationCodeResult, OAuthClientInformationFull, OAuthClientMetadata, OAuthToken

from protocols.errors import CredentialMissing
from protocols.oauth import Redirect, SignInPage
from protocols.origin import may_reach, split_url


@asynccontextmanager
async def http_transport(
    url: str, headers: Mapping[str, str], max_bytes: int, page: SignInPage | None, homes: set[str]
) -> AsyncIterator[Any]:
    """The SDK's transport to `url`. Each request carries `headers`, and follows no redirect to another origin."""
    near = homes | {split_url(url)[0].host}

    async def guard(request: httpx2.Request) -> None:
        """The server names the addresses of its sign-in, and may not send us about in our own network."""
        host, port = request.url.host, request.url.port or 443
        for *_, address in await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM):
            if not may_reach(host, str(address[0]), near):
                raise httpx2.ConnectError(f"{host} is on this machine or its own network, where the server is not")

    async def cap(response: httpx2.Response) -> None:
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        response.stream = _Capped(response.stream, max_bytes)

    hooks: dict[str, list[Any]] = {"request": [guard], "response": [cap]}
    # A tool may take as long as its call may: the time-out is that of the call.
    timeout = httpx2.Timeout(30.0, read=None)
    async with AsyncExitStack() as stack:
        auth = None
        if page is not None and (page.open_browser is not None or page.tokens.get(page.name)):
            kept = _Kept(page)
            auth = _provider(url, page, kept, stack.enter_context(closing(Redirect(kept.port))))
        client = await stack.enter_async_context(
            httpx2.AsyncClient(headers=dict(headers), timeout=timeout, event_hooks=hooks, auth=auth)
        )
        transport = streamable_http_client(url, http_client=client, max_sse_event_size=max_bytes)
        yield await stack.enter_async_context(transport)


def _provider(url: str, page: SignInPage, kept: _Kept, redirect: Redirect) -> OAuthClientProvider:
    """The SDK's own OAuth client, which acts when the server answers 401."""

    async def show(address: str) -> None:
        if page.open_browser is None:
            raise CredentialMissing("it wants a sign-in in a browser; run this command once on a terminal")
        page.open_browser(address)

    async def come_back() -> AuthorizationCodeResult:
        found = await asyncio.to_thread(redirect.wait, None)
        return AuthorizationCodeResult(code=found["code"], state=found.get("state"), iss=found.get("iss"))

    asked = OAuthClientMetadata.model_validate({"client_name": "atc", "redirect_uris": [redirect.url]})
    return OAuthClientProvider(url, asked, kept, redirect_handler=show, callback_handler=come_back)


class _Kept:
    """The SDK's storage, over the file of tokens."""

    def __init__(self, page: SignInPage) -> None:
        self._page = page

    @property
    def port(self) -> int:
        """Of the address under which we were registered; 0 where we were not."""
        uris = self._page.tokens.get(self._page.name).get("client", {}).get("redirect_uris") or ["http://127.0.0.1:0/"]
        return split_url(str(uris[0]))[0].port if ":0/" not in str(uris[0]) else 0

    async def get_tokens(self) -> OAuthToken | None:
        found = self._page.tokens.get(self._page.name).get("token")
        return OAuthToken.model_validate(found) if found else None

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self._put("token", tokens)

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        found = self._page.tokens.get(self._page.name).get("client")
        return OAuthClientInformationFull.model_validate(found) if found else None

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self._put("client", client_info)

    def _put(self, key: str, value: OAuthToken | OAuthClientInformationFull) -> None:
        known = self._page.tokens.get(self._page.name)
        self._page.tokens.put(self._page.name, known | {key: value.model_dump(mode="json", exclude_none=True)})


class _Capped(httpx2.AsyncByteStream):
    """The bytes of a response, up to a limit."""

    def __init__(self, stream: httpx2.AsyncByteStream, limit: int) -> None:
        self._stream, self._limit, self._read = stream, limit, 0

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._stream:
            self._read += len(chunk)
            if self._read > self._limit:
                raise httpx2.StreamError(f"the answer is over the limit of {self._limit:,} bytes")
            yield chunk

    async def aclose(self) -> None:
        await self._stream.aclose()
