"""What a harness steers of a running service: its state, its idempotency keys, its faults and its log."""

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


class Control:
    """One service's steering; `app.state.control` is it.

    `faults` are those in force. `generation` counts the resets: a request that began in another one is stale.
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
        """Forget every write, every key and the log, and start the faults anew.

        Faults that are on stay on. A request that is still being answered closes its connection and writes nothing.
        """
        self.generation += 1
        self._drawn = 0
        self._done = {}
        if self.state is not None:
            self.state.reset()
        self.requests.clear()

    def snapshot(self) -> dict[str, list[JsonObject]]:
        """What was written since the last reset."""
        return self.state.snapshot() if self.state is not None else {}

    def set_faults(self, faults: Faults | None) -> None:
        """Switch faults on or off, from the first draw on."""
        self.faults = faults
        self._drawn = 0

    def draw(self) -> ServiceFault | None:
        """What is to go wrong with the next request."""
        if self.faults is None:
            return None
        self._drawn += 1
        return self.faults.draw(self._drawn)

    def first_answer(self, key: str, asked: str) -> ServiceReply | None:
        """The first answer under `key`, if there was one; `asked` is the operation and its arguments as text.

        Raises:
            Refusal: 422; what was asked under this key was something else.
        """
        if key not in self._done:
            return None
        before, reply = self._done[key]
        if before != asked:
            raise Refusal(
                422,
                "this Idempotency-Key came before with other arguments; take a new key for a new request.",
            )
        return reply

    def remember(self, key: str, asked: str, reply: ServiceReply) -> None:
        """Keep the first answer under `key`."""
        self._done[key] = asked, reply


def steer(control: Control, method: str, path: str, body: Json) -> ServiceReply:
    """The answer to a harness outside of this process.

    `POST /bench/reset`, `GET /bench/state`, `GET /bench/log`, `POST /bench/faults` (the fields of `Faults`; without
    any: off).

    Raises:
        Refusal: 422, the body is not what the path takes; 404, there is no such path.
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
