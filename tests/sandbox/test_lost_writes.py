"""What becomes of a write whose answer was lost: judged by what a desk of records holds in the end."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field

import pytest

from protocols.errors import ToolError
from protocols.protocol import HttpBinding, Verify
from protocols.toolbox import Toolbox
from sandbox.lost_writes import PendingWrite, UnconfirmedWrite, WriteRecovery
from sandbox.trace import ToolCall
from tests.labs.tools import record, tool

RECORD = record(watch_id="string", flight="string", note="string")
LIST = {
    "type": "object",
    "properties": {"watches": {"type": "array", "items": RECORD}, "pages": {"type": "integer"}},
    "required": ["watches"],
}
ARGUMENTS = {"flight": "string", "note": "string"}
LOST = "lost after it was applied"
DROPPED = "lost before it was applied"


@dataclass
class Desk:
    """Watches, and what is to go wrong with the next writes and reads."""

    faults: list = field(default_factory=list)
    broken_reads: list = field(default_factory=list)
    watches: list = field(default_factory=list)
    sent: int = 0
    pages: int = 1
    late: dict = field(default_factory=dict)
    _number: itertools.count = field(default_factory=lambda: itertools.count(1))
    _keys: dict = field(default_factory=dict)

    def write(self, change, key):
        """Apply a change, or not, as the next fault has it."""
        self.sent += 1
        fault = self.faults.pop(0) if self.faults else None
        if isinstance(fault, ToolError):
            raise fault
        if fault == DROPPED:
            raise ToolError(None, "connection closed", outcome="unknown")
        answer = self._keys[key] if key in self._keys else change()
        if key is not None:
            self._keys[key] = answer
        if fault == LOST:
            raise ToolError(None, "connection closed", outcome="unknown")
        return answer

    def create(self, arguments, *, idempotency_key=None):
        def change():
            record = {"watch_id": f"w{next(self._number)}", **arguments}
            self.watches.append(record)
            return record

        return self.write(change, idempotency_key)

    def put(self, arguments, *, idempotency_key=None):
        def change():
            self.watches[:] = [w for w in self.watches if w["flight"] != arguments["flight"]]
            self.watches.append({"watch_id": arguments["flight"], **arguments})
            return self.watches[-1]

        return self.write(change, idempotency_key)

    def delete(self, arguments, *, idempotency_key=None):
        def change():
            found = next((w for w in self.watches if w["watch_id"] == arguments["watch_id"]), None)
            if found is None:
                raise ToolError(404, "no such watch")
            self.watches.remove(found)
            return found

        return self.write(change, idempotency_key)

    def list(self, _arguments):
        if self.broken_reads and (problem := self.broken_reads.pop(0)):
            raise problem
        return {"watches": list(self.watches), "pages": self.pages}


def http(method, *, key=None):
    return HttpBinding(method=method, url="https://desk.example/watches", idempotency_header=key)


def boxed(desk, *, verified=True, key=None):
    verify = Verify(tool="list_watches") if verified else None

    def write(name, method, call, arguments=ARGUMENTS):
        binding = http(method, key=key)
        return tool(name, call, arguments, RECORD, reads=False, binding=binding, verified_by=verify)

    return Toolbox(
        [
            write("create_watch", "POST", desk.create),
            write("put_watch", "PUT", desk.put),
            write("delete_watch", "DELETE", desk.delete, {"watch_id": "string"}),
            tool("list_watches", desk.list, output=LIST, binding=http("GET")),
        ]
    )


class Clock:
    """Time that passes only by waiting."""

    def __init__(self):
        self.now, self.waits, self.then = 1000.0, [], []

    def wait(self, seconds):
        self.waits.append(seconds)
        self.now += seconds
        for change in self.then:
            change(self.now)


def send(desk, tool="create_watch", *, earlier=None, results=(), clock=None, **how):
    toolbox, clock = boxed(desk, **how), clock or Clock()
    arguments = {"watch_id": "w1"} if tool == "delete_watch" else {"flight": "f1", "note": "late"}
    intents = []
    effects = WriteRecovery(tools=toolbox, wait=clock.wait, now=lambda: clock.now)

    def make():
        return toolbox[tool].send(arguments, idempotency_key="k1" if how.get("key") else None)

    sending = PendingWrite(
        tool=toolbox[tool],
        arguments=arguments,
        earlier=earlier,
        make=make,
        intend=intents.append,
        results=lambda: list(results),
    )
    try:
        return effects.send(sending)
    finally:
        assert intents  # one before each sending


RECORDED = {"watch_id": "w1", "flight": "f1", "note": "late"}
OOPS = ToolError(500, "oops", outcome="unknown")


@pytest.mark.parametrize(
    ("desk", "how", "response", "sendings", "waited"),
    [
        (Desk(faults=[LOST]), {}, RECORDED, 1, 0),
        (
            Desk(faults=[DROPPED]),
            {},
            RECORDED,
            2,
            10,
        ),  # a service that has not answered may still be at work
        (Desk(faults=[OOPS]), {}, RECORDED, 2, 0),
        (
            Desk(faults=[LOST, DROPPED, LOST]),
            {"verified": False, "key": "Idempotency-Key"},
            RECORDED,
            4,
            0,
        ),
        (Desk(faults=[LOST]), {"tool": "put_watch"}, {**RECORDED, "watch_id": "f1"}, 1, 0),
        (Desk(faults=[DROPPED]), {"tool": "put_watch"}, {**RECORDED, "watch_id": "f1"}, 2, 10),
    ],
    ids=["lost answer", "not done", "answered", "with a key", "replaced", "not replaced"],
)
def test_a_lost_write_is_done_once(desk, how, response, sendings, waited):
    clock = Clock()
    sent = send(desk, clock=clock, **how)
    assert (sent.response.value, desk.sent, desk.watches) == (response, sendings, [response])
    assert sum(clock.waits) >= waited
    assert waited or "key" in how or sum(clock.waits) == 0
    if "key" not in how:
        assert ("list_watches shows it" if sendings == 1 else "sent again") in sent.note


@pytest.mark.parametrize(("fault", "sendings"), [(LOST, 1), (DROPPED, 2)])
def test_a_removal_is_settled_by_its_absence(fault, sendings):
    desk = Desk(faults=[fault], watches=[RECORDED])
    assert send(desk, "delete_watch").response.value == RECORDED
    assert (desk.sent, desk.watches) == (sendings, [])


def test_a_late_write_is_not_repeated():
    desk, clock = Desk(faults=[DROPPED]), Clock()
    late = {**RECORDED, "watch_id": "w9"}
    clock.then.append(
        lambda now: desk.watches.append(late) if now > 1004 and late not in desk.watches else None
    )
    assert send(desk, clock=clock).response.value == late
    assert desk.sent == 1


def test_other_equal_records_prove_no_write():
    desk = Desk(faults=[DROPPED], watches=[{**RECORDED, "watch_id": "w0"}])
    assert send(desk).response.value["watch_id"] == "w1"
    assert (desk.sent, len(desk.watches)) == (2, 2)
    desk, clock, other = Desk(faults=[DROPPED]), Clock(), {**RECORDED, "watch_id": "w7"}
    clock.then.append(lambda now: desk.watches.append(other) if not desk.watches else None)
    assert send(desk, clock=clock, results=[other]).response.value["watch_id"] == "w1"
    assert desk.sent == 2


@pytest.mark.parametrize(
    ("desk", "how", "why"),
    [
        (Desk(faults=[LOST], broken_reads=[ToolError(500, "no")]), {}, "could not be asked before"),
        (Desk(faults=[LOST], broken_reads=[None, *[ToolError(500, "no")] * 99]), {}, "failed"),
        (Desk(faults=[DROPPED], pages=2), {}, "does not tell"),
        (Desk(faults=[LOST]), {"verified": False}, "nothing shows"),
    ],
    ids=["no baseline", "the read fails", "only a page", "neither key nor read"],
)
def test_undecidable_writes_are_left_to_a_person(desk, how, why):
    with pytest.raises(UnconfirmedWrite, match=why):
        send(desk, **how)
    assert desk.sent == 1


def test_conflicts_under_a_lasting_key_are_refusals():
    desk = Desk(faults=[ToolError(409, "taken", outcome="unknown")] * 9)
    with pytest.raises(ToolError) as caught:
        send(desk, verified=False, key="Idempotency-Key")
    assert (caught.value.outcome, caught.value.status, desk.sent) == ("refused", 409, 2)


KILLED = ToolCall(
    index=0,
    tool="create_watch",
    arguments={},
    line=1,
    baseline=[{"watches": []}],
    outcome="unknown",
)


@pytest.mark.parametrize(("watches", "sendings"), [([RECORDED], 0), ([], 1)])
def test_a_killed_executions_call_is_settled_first(watches, sendings):
    desk = Desk(watches=list(watches))
    assert send(desk, earlier=(KILLED, 0.0)).response.value == RECORDED
    assert (desk.sent, desk.watches) == (sendings, [RECORDED])
