"""An `httpx2` transport for the OpenAI client. It sends requests with the transport for tool calls.

So the same limits apply to a model endpoint as to a tool: one deadline for the whole exchange, a
maximum number of bytes, and no redirects to another origin.
"""

from __future__ import annotations

import time
from collections.abc import Mapping

import httpx2

from protocols.http.decoding import ACCEPTED
from protocols.http.redirects import follow_redirects
from protocols.http.request import HttpRequest
from protocols.http.transport import Transport
from protocols.response import Answer
from protocols.urls import Origin, split_url

_LONGEST_SECONDS = 600.0  # if a request sets no time-out


class UnusableReply(httpx2.TransportError):
    """The endpoint gave an answer that cannot be used. Repeating the request would not help."""


class ModelTransport(httpx2.BaseTransport):
    """An httpx2 transport without streaming: requests and answers are sent as a whole.

    The body of an answer is converted to UTF-8.
    """

    def __init__(self, origin: Origin, *, max_bytes: int) -> None:
        """Create a transport for the endpoint at `origin`.

        The endpoint may be on this machine, since the user configured it. An answer has at most
        `max_bytes` after decompression.
        """
        context = httpx2.create_ssl_context()
        self._transport = Transport(
            max_body_bytes=max_bytes, homes={origin.host}, ssl_context=context
        )

    def handle_request(self, request: httpx2.Request) -> httpx2.Response:
        """Send a request and return its answer. The read time-out applies to the entire exchange.

        Raises:
            httpx2.ReadTimeout: the answer did not come in time.
            httpx2.ConnectError: the endpoint cannot be reached, or the connection broke.
            UnusableReply: the answer is too large, or a redirect that is not followed.
        """
        timeout: Mapping[str, float | None] = request.extensions.get("timeout", {})
        deadline = time.monotonic() + (timeout.get("read") or _LONGEST_SECONDS)
        try:
            origin, _ = split_url(str(request.url))
        except ValueError as error:
            raise UnusableReply(str(error)) from None
        headers = {
            name: value
            for name, value in request.headers.items()
            if name.lower() not in _OWN_HEADERS
        }
        headers["Accept-Encoding"] = ACCEPTED
        sent = HttpRequest(
            method=request.method,
            url=str(request.url),
            headers=headers,
            body=request.read() or None,
        )
        answer, _ = follow_redirects(
            sent, lambda one: self._transport.send(one, origin, deadline=deadline)
        )
        if answer.status is None:
            if time.monotonic() >= deadline:
                raise httpx2.ReadTimeout(answer.trouble, request=request)
            raise httpx2.ConnectError(answer.trouble, request=request)
        if answer.trouble:
            raise UnusableReply(answer.trouble, request=request)
        return httpx2.Response(
            answer.status,
            headers=_remaining_headers(answer),
            content=answer.text().encode(),
            request=request,
        )

    def close(self) -> None:
        """Close idle connections."""
        self._transport.close()


_OWN_HEADERS = ("host", "content-length", "connection", "transfer-encoding", "accept-encoding")
"""Request headers that the transport sets itself."""


def _remaining_headers(answer: Answer) -> dict[str, str]:
    """Return the headers that still apply after the body was decompressed and decoded."""
    kept = {
        name: answer.headers[name]
        for name in ("retry-after", "retry-after-ms")
        if name in answer.headers
    }
    return kept | {"content-type": answer.media_type or "application/json"}
