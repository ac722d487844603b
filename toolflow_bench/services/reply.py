"""Responses of a service, and functions that send them whole, cut short or not at all."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any

from protocols.schema import Json
from toolflow_bench.services.operation import Headers, Refusal
from toolflow_bench.services.serve import CLOSE

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

_JSON = (b"content-type", b"application/json")


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceReply:
    """A response before it is sent.

    `body` is JSON. `wrote` is True if the request changed the state.
    """

    status: int
    body: bytes
    headers: Headers = ()
    wrote: bool = False

    @classmethod
    def from_value(
        cls, status: int, value: Json, *, headers: Headers = (), wrote: bool = False
    ) -> ServiceReply:
        """Return a response whose JSON body is `value`."""
        body = json.dumps(
            value, ensure_ascii=False, allow_nan=False, separators=(",", ":")
        ).encode()
        return cls(status=status, body=body, headers=headers, wrote=wrote)

    @classmethod
    def from_refusal(cls, refusal: Refusal) -> ServiceReply:
        """Return the error response for a refused request."""
        return cls.from_value(refusal.status, {"detail": refusal.detail}, headers=refusal.headers)


async def send_reply(send: Send, reply: ServiceReply, *, share: float = 1.0) -> None:
    """Send a response. If `share` is below 1, send only this part of its body.

    In that case the caller must close the connection afterwards.
    """
    length = (b"content-length", b"%d" % len(reply.body))
    await send(
        {
            "type": "http.response.start",
            "status": reply.status,
            "headers": [_JSON, length, *reply.headers],
        }
    )
    sent = reply.body[: max(1, int(len(reply.body) * share))]
    await send({"type": "http.response.body", "body": sent, "more_body": share < 1})


async def close_connection(scope: Scope, receive: Receive) -> None:
    """Close the client's connection. Data that were sent before still arrive."""
    close = scope.get("extensions", {}).get(CLOSE)
    if close is None:
        raise RuntimeError(
            "only toolflow_bench.services.serve can drop connections; serve the application with it"
        )
    close()
    while (await receive())["type"] != "http.disconnect":
        pass
