"""What a service remembers of the requests that it was sent."""

from __future__ import annotations

from typing import Any, NamedTuple

from protocols.jsontypes import JsonObject

REMEMBERED_REQUESTS = 10_000
"""How many of the latest requests a service remembers."""


class RequestRecord(NamedTuple):
    """One request, the document's own included; those to `/bench/…` leave no record."""

    method: str
    path: str
    query: str
    """As it came, without the question mark."""
    status: int | None
    """What the client was told; `None` where the connection was closed without an answer."""
    operation: str = ""
    """Operation id; empty for the document and for paths that lead nowhere."""
    arguments: JsonObject | None = None
    """Typed and completed by defaults, absent ones left out; `None` where they were refused."""
    wrote: bool = False
    """Whether it changed the state, whatever the client was told."""
    key: str = ""
    """The idempotency key, of operations that take one."""
    fault: str = ""
    """The fault that was switched on for it, by `Fault.kind`; `stale` where a reset came between it and its answer."""
    change: str = ""
    """What a drift did to the answer: `renamed flights.airline to airline_value`."""
    milliseconds: float = 0.0
    """From the request's arrival to the answer's first byte, added latency included."""

    def as_json(self) -> dict[str, Any]:
        """Every field by name."""
        return self._asdict()
