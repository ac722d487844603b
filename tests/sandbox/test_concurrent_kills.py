"""Programs with concurrent calls whose host dies at each moment: resumed and replayed, nothing is repeated or lost."""

from __future__ import annotations

import threading

import pytest

from protocols.protocol import HttpBinding
from protocols.toolbox import Toolbox
from sandbox.journal import Journal
from sandbox.journal_entries import RecordedCall
from sandbox.limits import Limits
from sandbox.lost_writes import WriteRecovery
from sandbox.replay import replay
from sandbox.zygote import unavailable
from tests.labs.tools import record, tool

pytestmark = pytest.mark.skipif(unavailable() is not None, reason=str(unavailable()))
NOTE = record(flight="string", note="string")
FLIGHTS = ["f0", "f1", "f2"]
BODY = """
import asyncio
from concurrent.futures import ThreadPoolExecutor, as_completed

def report(flight):
    made = add_note(flight=flight, note="late")
    return [made["flight"], len(list_notes(flight=flight)["notes"]), made["note"]]

async def report_later(flight):
    await asyncio.sleep(0)
    made = await add_note(flight=flight, note="late")
    found, _ = await asyncio.gather(list_notes(flight=flight), list_notes(flight="f9"))
    return [made["flight"], len(found["notes"]), made["note"]]

flights = ["f0", "f1", "f2"]
"""
ENDS = {
    "gather": "print(sorted(await asyncio.gather(*map(report_later, flights))))",
    "task group": (
        "async with asyncio.TaskGroup() as group:\n"
        "    tasks = [group.create_task(report_later(one)) for one in flights]\n"
        "print(sorted(task.result() for task in tasks))"
    ),
    "as completed": (
        "print(sorted([await one for one in asyncio.as_completed(map(report_later, flights))]))"
    ),
    "plain calls": "print(sorted(await asyncio.gather(*[report(one) for one in flights])))",
    "threads": "print(sorted(await asyncio.gather(*[asyncio.to_thread(report, f) for f in flights])))",
    "thread pool": (
        "with ThreadPoolExecutor(2) as pool:\n"
        "    futures = [pool.submit(report, one) for one in flights]\n"
        "print(sorted(future.result() for future in as_completed(futures)))"
    ),
}
ANSWER = "[['f0', 1, 'late'], ['f1', 1, 'late'], ['f2', 1, 'late']]"


class Killed(BaseException):
    """The end of the host."""


class Desk:
    """Notes on flights. A write is applied once for each idempotency key."""

    def __init__(self):
        self.notes = []
        self.answers = {}
        self.lock = threading.Lock()

    def add(self, arguments, *, idempotency_key=None):
        with self.lock:
            if idempotency_key not in self.answers:
                self.answers[idempotency_key] = dict(arguments)
                self.notes.append(dict(arguments))
            return self.answers[idempotency_key]

    def list(self, arguments):
        with self.lock:
            return {"notes": [one for one in self.notes if one["flight"] == arguments["flight"]]}

    def tools(self):
        url = "https://desk.example/notes"
        binding = HttpBinding(method="POST", url=url, idempotency_header="Idempotency-Key")
        return Toolbox(
            [
                tool(
                    "add_note",
                    self.add,
                    {"flight": "string", "note": "string"},
                    NOTE,
                    reads=False,
                    binding=binding,
                ),
                tool("list_notes", self.list, {"flight": "string"}),
            ]
        )


class Host:
    """Runs a program, and dies when it stores something: the intent or the outcome with number `moment`."""

    def __init__(self, desk, stored, moment=None):
        self.desk, self.stored, self.moment = desk, stored, moment
        self.tools = desk.tools()
        self.journal = Journal(
            sink=self.store, run="run", write_recovery=WriteRecovery(tools=self.tools)
        )
        self.journal.restore(list(stored), self.tools)
        self.is_dead = False
        self.events = 0

    def store(self, execution, call, complete):
        if self.is_dead:
            return
        number = self.events
        self.events += 1
        if number == self.moment and complete:  # its reply is lost
            self.die()
        self.stored[:] = [
            one for one in self.stored if (one.execution, one.call.index) != (execution, call.index)
        ]
        self.stored.append(RecordedCall(execution=execution, call=call, complete=complete))
        self.stored.sort(key=lambda one: (one.execution, one.call.index))
        if number == self.moment:  # it is not sent
            self.die()

    def die(self):
        self.is_dead = True
        raise Killed

    def run(self, sandbox, source):
        return sandbox.run(source, self.tools, limits=Limits(), journal=self.journal)


@pytest.mark.parametrize("end", ENDS)
def test_nothing_is_repeated_or_lost(sandbox, end):
    source = BODY + ENDS[end]
    host = Host(Desk(), [])
    undisturbed = host.run(sandbox, source)
    assert undisturbed.stdout.strip() == ANSWER, undisturbed
    for moment in range(host.events):
        desk = Desk()
        stored = []
        with pytest.raises(Killed):
            Host(desk, stored, moment).run(sandbox, source)
        resumed = Host(desk, stored)
        trace = resumed.run(sandbox, source)
        assert trace.stdout == undisturbed.stdout, (moment, trace)
        assert [call.arguments for call in trace.calls] == [
            call.arguments for call in undisturbed.calls
        ], moment
        assert sorted(one["flight"] for one in desk.notes) == FLIGHTS, moment
        again = replay(source, resumed.tools, trace, sandbox=sandbox, limits=Limits())
        assert again.stdout == trace.stdout, moment
