"""Control of a running service by a test harness: state, idempotency keys, faults and the log."""

from __future__ import annotations

from collections import deque
from dataclasses import asdict
from typing import NamedTuple

from pydantic import TypeAdapter, ValidationError

from atc.core.specs import demand
from protocols.schema import Json, JsonObject
from toolflow_bench.services.faults import Faults, ServiceFault
from toolflow_bench.services.operation import Refusal
from toolflow_bench.services.reply import ServiceReply
from toolflow_bench.services.state import ServiceState

REMEMBERED_REQUESTS = 10_000
"""Maximum number of requests in the log; older ones are dropped."""


class RequestRecord(NamedTuple):
    """A request in the log.

    Requests for the OpenAPI document are logged; those to `/bench/…` are not.
    """

    method: str
    path: str
    query: str
    """The raw query string of the URL, without the question mark."""
    status: int | None
    """HTTP status that the client received.

    None if the connection was closed without a response.
    """
    operation: str = ""
    """Id of the requested operation; empty for the OpenAPI document and for unknown paths."""
    arguments: JsonObject | None = None
    """Arguments with their types and defaults, or None if they were refused.

    Missing arguments are left out.
    """
    wrote: bool = False
    """True if the request changed the state, even if the client got no response."""
    key: str = ""
    """The idempotency key, for operations that accept one; else empty."""
    fault: str = ""
    """Kind of the injected fault (see `ServiceFault.kind`), or empty.

    It is `stale` if the service was reset during the request.
    """
    change: str = ""
    """What was changed in the response by a fault of the kind `drift`, or empty.

    For example, `renamed flights.airline to airline_value`.
    """


class Control:
    """The controls by which a test harness changes and observes one service.

    They are available as `app.state.control`. `faults` are the active faults, or None. `generation`
    is the number of resets; a request that began before the last reset is stale.
    """

    def __init__(self, state: ServiceState | None) -> None:
        self.state = state
        self.requests: deque[RequestRecord] = deque(maxlen=REMEMBERED_REQUESTS)
        self.faults: Faults | None = None
        self.generation = 0
        self._drawn = 0
        self._done: dict[
            str, tuple[str, ServiceReply]
        ] = {}  # key → what was asked under it, and the answer

    def reset(self) -> None:
        """Return the service to its initial state.

        Written records, idempotency keys and the log of requests are discarded. The configured
        faults stay active, and are drawn again from the beginning. A request that an injected fault
        is delaying at this moment gets no response and writes nothing: its connection is closed.
        """
        self.generation += 1
        self._drawn = 0
        self._done = {}
        if self.state is not None:
            self.state.reset()
        self.requests.clear()

    def snapshot(self) -> dict[str, list[JsonObject]]:
        """Return the records that were written since the last reset, keyed by collection."""
        return self.state.snapshot() if self.state is not None else {}

    def set_faults(self, faults: Faults | None) -> None:
        """Activate these faults, or turn faults off (None), and restart the sequence of faults."""
        self.faults = faults
        self._drawn = 0

    def draw(self) -> ServiceFault | None:
        """Draw the fault of the next request at random, or return None if faults are off."""
        if self.faults is None:
            return None
        self._drawn += 1
        return self.faults.draw(self._drawn)

    def first_answer(self, key: str, asked: str) -> ServiceReply | None:
        """Return the response to the first request with the idempotency key `key`, or None.

        `asked` is the operation of the present request and its arguments, as text.

        Raises:
            Refusal: 422; the key was used for a different request.
        """
        if key not in self._done:
            return None
        before, reply = self._done[key]
        if before != asked:
            raise Refusal(
                422,
                "this Idempotency-Key came before with other arguments; take a new key for a new "
                "request.",
            )
        return reply

    def remember(self, key: str, asked: str, reply: ServiceReply) -> None:
        """Store the response to the first request with the idempotency key `key`."""
        self._done[key] = asked, reply


def steer(control: Control, method: str, path: str, body: Json) -> ServiceReply:
    """Answer a control request from a test harness in another process.

    These requests are `POST /bench/reset`, `GET /bench/state`, `GET /bench/log` and `POST
    /bench/faults`, whose body has the fields of `Faults`; an empty body turns faults off.

    Raises:
        Refusal: 422, the body does not fit the path; 404, there is no such path.
    """
    match method, path:
        case "POST", "/bench/reset":
            control.reset()
            return ServiceReply.from_value(200, {"state": control.snapshot()})
        case "GET", "/bench/state":
            return ServiceReply.from_value(200, {"state": control.snapshot()})
        case "GET", "/bench/log":
            return ServiceReply.from_value(
                200, {"requests": [record._asdict() for record in list(control.requests)]}
            )
        case "POST", "/bench/faults":
            try:
                control.set_faults(_FAULTS.validate_python(body) if body else None)
            except ValidationError as error:
                problem = error.errors()[0]
                raise Refusal(
                    422, f"{'.'.join(map(str, problem['loc']))!r} {demand(problem)}."
                ) from error
            return ServiceReply.from_value(
                200, {"faults": asdict(control.faults) if control.faults else None}
            )
    raise Refusal(
        404, "there are POST /bench/reset, GET /bench/state, GET /bench/log and POST /bench/faults."
    )


_FAULTS: TypeAdapter[Faults] = TypeAdapter(Faults)
