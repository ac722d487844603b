"""What a run sent, by the log that the services keep themselves."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from protocols.toolbox import Tool, Toolbox
from sandbox.contract import contract
from sandbox.trace import ToolCall
from toolflow_bench.services.control import reset
from toolflow_bench.services.log import RequestRecord
from toolflow_bench.world import World

Executions = Sequence[Sequence[ToolCall]]
"""The calls that each execution of a program issued, those answered by a journal included."""


class LoggedWorld(World):
    """A world whose log begins anew with each task."""

    def reset(self) -> None:
        """Forget what the last task wrote, and what it asked."""
        for served in self.services.values():
            reset(served.app, log=True)

    @property
    def requests(self) -> tuple[RequestRecord, ...]:
        """What all services have been asked since."""
        return tuple(record for served in self.services.values() for record in served.app.state.requests)


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """Calls that took effect by the services' log.

    `repeated`: sent again although made before; `repeated_writes` among these. A program may make one call several
    times: of equal calls, those are repeated that are more than the execution which issued most of them did.
    `own_reads`: sent by the host and not by a program, to know what stood there before a write; never `repeated`.
    """

    sent: int = 0
    repeated: int = 0
    repeated_writes: int = 0
    own_reads: int = 0


def counted(requests: Iterable[RequestRecord], executions: Executions, toolbox: Toolbox) -> Sent:
    """How many of `requests` succeeded, and how many of those a run with these executions had made before."""
    done = [record for record in requests if record.operation and record.status is not None and record.status < 400]
    sent = Counter(map(_of_request, done))
    wrote = Counter(_of_request(record) for record in done if record.wrote)
    needed: Counter[str] = Counter()
    by_programs: Counter[str] = Counter()
    for calls in executions:
        known = [(call, _of_call(call, toolbox[call.tool])) for call in calls if call.tool in toolbox]
        needed |= Counter(key for _, key in known)
        by_programs += Counter(key for call, key in known if call.outcome == "done" and not call.reused)
    own = {key: count - by_programs[key] for key, count in sent.items() if key not in wrote}
    own = {key: count for key, count in own.items() if count > 0}
    return Sent(
        sent=sent.total(),
        repeated=sum(max(0, count - own.get(key, 0) - max(1, needed[key])) for key, count in sent.items()),
        repeated_writes=sum(max(0, count - max(1, needed[key])) for key, count in wrote.items()),
        own_reads=sum(own.values()),
    )


def _of_call(call: ToolCall, tool: Tool) -> str:
    return _key(tool.protocol.name, tool.original({**contract(tool.protocol).defaults, **call.arguments}))


def _of_request(record: RequestRecord) -> str:
    return _key(record.operation, record.arguments or {})


def _key(operation: str, arguments: Mapping[str, Any]) -> str:
    """One text for equal calls: absent is null, 3 is 3.0."""
    given = {name: _plain(value) for name, value in arguments.items() if value is not None}
    return json.dumps([operation, given], sort_keys=True, default=str)


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value
