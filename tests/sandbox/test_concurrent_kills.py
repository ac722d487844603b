"""Programs with concurrent calls whose host dies at each moment: resumed and replayed, nothing is repeated or lost."""

from __future__ import annotations

import threading

import pytest

from benchmarks.kills.concurrent_programs import ANSWER, CONCURRENT_PROGRAMS, FLIGHTS
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


@pytest.mark.parametrize("form", CONCURRENT_PROGRAMS)
def test_nothing_is_repeated_or_lost(sandbox, form):
    source = CONCURRENT_PROGRAMS[form]
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
        assert sorted(one["flight"] for one in desk.notes) == [*FLIGHTS], moment
        again = replay(source, resumed.tools, trace, sandbox=sandbox, limits=Limits())
        assert again.stdout == trace.stdout, moment
