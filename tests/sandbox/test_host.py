"""The host's side against children that do what no honest child does."""

from __future__ import annotations

import json
import socket
import threading
import time
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from benchmarks.sandbox.shop import shop
from protocols.errors import ToolError
from protocols.toolbox import Toolbox
from sandbox.base import SandboxUnavailable
from sandbox.exits import Exit
from sandbox.frames import FRAME_BYTES, fingerprint
from sandbox.host import serve_program
from sandbox.journal import Journal
from sandbox.limits import Limits, waiting_on_person
from sandbox.lost_writes import WriteRecovery
from sandbox.replay import ReplayDiverged
from sandbox.testing import make_tool
from sandbox.trace import Trace
from tests.labs.patience import PATIENCE


class FakeChild:
    """A child whose every byte is scripted: it sends `data` at once and then hangs up, or stays silent."""

    def __init__(
        self, data: bytes = b"", *, hangs: bool = False, exit_: Exit | None = None
    ) -> None:
        self.channel, self.theirs = socket.socketpair()
        self.exit = exit_ or Exit(0, None, 0.0)
        self.ended = 0
        self.sender = threading.Thread(target=self._send, args=(data, hangs), daemon=True)
        self.sender.start()

    def _send(self, data: bytes, hangs: bool) -> None:
        try:
            self.theirs.sendall(data)
            if not hangs:
                self.theirs.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def finish(self) -> None:
        self.end()

    def end(self) -> Exit:
        self.ended += 1
        self.channel.close()
        self.sender.join()
        self.theirs.close()
        return self.exit


def serve_bytes(
    data: bytes, *, tools: Toolbox | None = None, child: FakeChild | None = None, **limits
) -> Trace:
    child = child or FakeChild(data)
    within = Limits(**{"wall_seconds": PATIENCE, **limits})
    trace = serve_program(
        child, "print(1)\n", shop() if tools is None else tools,
        limits=within, journal=Journal(), backend="fake",
    )  # fmt: skip
    assert child.ended == 1
    return trace


def lines(*documents) -> bytes:
    return b"".join(
        d if isinstance(d, bytes) else json.dumps(d).encode() + b"\n" for d in documents
    )


def call(number=0, tool="get_item", args=None, line=1, **more):
    return {
        "call": number,
        "tool": tool,
        "args": {"id": 1} if args is None else args,
        "line": line,
        **more,
    }


def fail(**changed):
    return {
        "fail": {
            "kind": "exception",
            "type": "E",
            "message": "m",
            "frames": [],
            "call": None,
            **changed,
        }
    }


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"\xff\x00\n", "not JSON"),
        (b'{"done": NaN}\n', "not JSON"),
        (b'{"done": 1e999}\n', "not JSON"),
        (b'{"done": "\\ud800"}\n', "not JSON"),
        (b'{"stdout": "\\uD83D"}\n', "not JSON"),
        (b'{"done": ' + b"9" * 5000 + b"}\n", "not JSON"),
        (b'{"done": ' + b"[" * 200_000 + b"]" * 200_000 + b"}\n", "not JSON"),
        (b"\n", "not JSON"),
        (b"[]\n", "no object"),
        (b"{}\n", "unknown frame"),
        (lines({"done": 1, "stdout": "x"}), "unknown frame"),
        (lines({"stdout": 5}), "unknown frame"),
        (lines(call(1)), "numbered its call 1 where 0 was due"),
        (lines(call(0), call(0)), "numbered its call 0 where 1 was due"),
        (lines(call(True)), "wrong shape"),
        (lines(call(args=[])), "wrong shape"),
        (lines(call(line="1")), "wrong shape"),
        (lines(call(unsendable={"id": 3})), "wrong shape"),
        (lines(call(waits=0)), "wrong shape"),
        (lines(call(more=1)), "unknown frame"),
        (lines(call(waits=False), call(2, waits=False)), "numbered its call 2 where 1 was due"),
        (lines(call(tool="admin_wipe")), "undeclared tool 'admin_wipe'"),
        (lines({"fail": []}), "unknown frame"),
        (lines({"fail": {}}), "wrong shape"),
        (lines(fail(kind="policy")), "wrong shape"),
        (lines(fail(type=1)), "wrong shape"),
        (lines(fail(frames=[[True, "f"]])), "wrong shape"),
        (lines(fail(frames=[[1, "f"]] * 65)), "wrong shape"),
        (lines(fail(call="0")), "wrong shape"),
        (lines(fail(call=True)), "wrong shape"),
        (lines(fail(more=1)), "wrong shape"),
        (lines(fail(frames=[[1, "f", 0, 1, -1]])), "wrong shape"),
        (lines(fail(hints={})), "wrong shape"),
        (lines(fail(hints=[[0, 1, 0, 1, 1, True, [], 0]])), "wrong shape"),
        (lines(fail(hints=[[0, 1, 0, 1, 1, 0, [-1], 0]])), "wrong shape"),
        (lines(fail(hints=[[0, 1, 0, 1, 1, 0, [], True]])), "wrong shape"),
        (lines(fail(hints=[[0, 1, 0, 1, 1, 0, ["x" * 201], 0]])), "wrong shape"),
        (lines(fail(hints=[[0, 1, 0, 1, 1, 0, [0] * 41, 0]])), "wrong shape"),
        (lines(fail(hints=[[0, 1, 0, 1, 1, 0, [], 0]] * 65)), "wrong shape"),
        (lines(fail(kind="limit", type="wall_seconds")), "claims a limit"),
        (lines(call(args={"id": json.loads("[" * 200 + "]" * 200)})), "nested more than 100 levels"),
        (b"A" * (FRAME_BYTES + 70_000), "a frame of more than"),
        (b"A" * (FRAME_BYTES + 10) + b"\n", "a frame of more than"),
    ],
)  # fmt: skip
def test_a_breach_of_protocol_ends_the_run(data, said):
    failure = serve_bytes(data).failure
    assert (failure.kind, failure.type) == ("policy", "ProtocolViolation")
    assert said in failure.message


def test_a_flood_of_output_ends_at_the_limit():
    trace = serve_bytes(lines(*[{"stdout": "é" * 100}] * 50), output_bytes=999)
    assert (trace.failure.type, trace.stdout) == ("output_bytes", "é" * 499)


def test_a_flood_of_bytes_that_print_nothing_ends():
    trace = serve_bytes(lines({"stdout": ""}) * 200_000, output_bytes=10, wall_seconds=PATIENCE)
    assert "more than the host takes" in trace.failure.message


def test_a_silent_child_runs_into_the_wall():
    child = FakeChild(hangs=True)
    trace = serve_bytes(b"", child=child, wall_seconds=0.05)
    assert (trace.failure.type, trace.seconds < PATIENCE) == ("wall_seconds", True)


def test_a_child_not_reading_meets_the_limit():
    tools = Toolbox([make_tool("big", {}, lambda: "x" * 4_000_000)])
    child = FakeChild(lines(call(tool="big", args={})), hangs=True)
    assert (
        serve_bytes(b"", tools=tools, child=child, wall_seconds=0.2).failure.type == "wall_seconds"
    )


def test_hints_without_evidence_are_dropped():
    def hint(path, value, number=0):
        return [0, 1, 0, 1, 5, number, path, fingerprint(value)]

    item = {"id": 1, "name": "item 1", "price": 1.5}
    told = [
        hint(["name"], "item 1"),
        hint([], item),
        hint(["name"], "other"),
        hint(["nme"], None),
        hint([0], 1),
    ]
    told += [
        hint(["name", 0], "i"),
        hint([], item, 1),
        hint([], None, 2),
        hint([], {**item, "more": 1}),
    ]
    data = lines(call(0), call(1, args={"id": -1}), fail(frames=[[1, "f", 0, 1, 5]], hints=told))
    assert [hint.path for hint in serve_bytes(data).failure.hints] == [("name",), ()]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(st.characters(), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=10,
)
KEYS = [
    "stdout",
    "done",
    "fail",
    "id",
    "call",
    "tool",
    "args",
    "line",
    "unsendable",
    "waits",
    "more",
]
near_frames = st.one_of(
    st.binary(max_size=60).map(lambda b: b + b"\n"),
    st.builds(
        lambda frame, key, value: json.dumps({**frame, key: value}).encode() + b"\n",
        st.sampled_from([{}, call()]), st.sampled_from(KEYS), json_values,
    ),
    st.builds(
        lambda key, value: json.dumps(fail(**{key: value})).encode() + b"\n",
        st.sampled_from(["kind", "type", "message", "frames", "call", "more"]), json_values,
    ),
)  # fmt: skip


@given(st.lists(near_frames, max_size=5).map(b"".join))
def test_whatever_a_child_sends_gives_a_trace(data):
    trace = serve_bytes(data)
    assert trace.failure is not None or b"done" in data
    document = json.loads(json.dumps(asdict(trace), ensure_ascii=False).encode("utf-8"))
    assert TypeAdapter(Trace).validate_python(document) == trace


class Broken(Journal):
    def open(self):
        raise ReplayDiverged(0, "a", "b")


def raising(error):
    def fail(*_):
        raise error

    return fail


@pytest.mark.parametrize(
    ("tool", "journal", "error"),
    [
        (raising(KeyboardInterrupt()), Journal(), KeyboardInterrupt),
        (raising(ReplayDiverged(0, "a", "b")), Journal(), ReplayDiverged),
        (lambda: 1, Journal(sink=raising(OSError(28, "disk full"))), OSError),
        (lambda: 1, Broken(), ReplayDiverged),
    ],
    ids=["ctrl-c", "a tool's replay", "the journal's sink", "the journal"],
)
def test_host_failures_raise_and_end_the_child(tool, journal, error):
    child = FakeChild(lines(call(tool="f", args={})), hangs=True)
    with pytest.raises(error):
        serve_program(
            child,
            "",
            Toolbox([make_tool("f", {}, tool)]),
            limits=Limits(),
            journal=journal,
            backend="fake",
        )
    assert child.ended == 1


def test_a_lost_child_is_no_verdict():
    class Lost(FakeChild):
        def end(self) -> Exit:
            super().end()
            raise SandboxUnavailable("gone")

    with pytest.raises(SandboxUnavailable):
        serve_bytes(b"", child=Lost())


def test_a_wait_on_a_person_does_not_count():
    def ask():
        with waiting_on_person():
            time.sleep(1.2)
        return "yes"

    data = lines(call(tool="ask", args={}), {"done": 1})
    trace = serve_bytes(data, tools=Toolbox([make_tool("ask", {}, ask)]), wall_seconds=1.0)
    assert (trace.failure, trace.calls[0].result) == (None, "yes")
    assert trace.calls[0].seconds >= 1.2


def test_results_must_be_json():
    trace = serve_bytes(
        lines(call(tool="f", args={})), tools=Toolbox([make_tool("f", {}, lambda: {1, 2})])
    )
    assert trace.calls[0].error == "TypeError: Object of type set is not JSON serializable"


def test_recorded_results_are_independent_copies():
    stock = [1]
    tools = Toolbox(
        [make_tool("f", {}, lambda: stock), make_tool("g", {}, lambda: stock.append(2))]
    )
    trace = serve_bytes(
        lines(call(tool="f", args={}), call(1, tool="g", args={}), {"done": 0}), tools=tools
    )
    assert trace.calls[0].result == [1]


def test_waiting_calls_are_dropped_at_a_limit():
    released, begun = threading.Event(), []

    def work(id):  # noqa: A002 - the tool\'s argument
        begun.append(id)
        released.wait(PATIENCE)

    tools = Toolbox([make_tool("work", {"id": {"type": "integer"}}, work, writes=True)])
    data = lines(
        *[call(number, tool="work", args={"id": number}, waits=False) for number in range(5)]
    )
    child = FakeChild(data, hangs=True)
    # The limit has struck when the journal hears of a call that is not made.
    journal = Journal(sink=lambda _, made, complete: made.outcome == "not_run" and released.set())
    within = Limits(wall_seconds=PATIENCE, tool_calls=4, concurrent_calls=1)
    trace = serve_program(child, "", tools, limits=within, journal=journal, backend="fake")
    assert trace.failure.type == "tool_calls"
    assert len(begun) <= 1  # none, where the limit struck before the first was sent
    assert [made.outcome for made in trace.calls] == ["done"] * len(begun) + ["not_run"] * (
        4 - len(begun)
    )


class Begun(Journal):
    """A journal that tells when a number of calls was begun."""

    def __init__(self, number: int) -> None:
        super().__init__(write_recovery=WriteRecovery(tools=Toolbox()))
        self.left = number
        self.all = threading.Event()

    def find_answer(self, *args, **options):
        self.left -= 1
        if self.left == 0:
            self.all.set()
        return super().find_answer(*args, **options)


def test_writes_beside_a_lost_one_are_made():
    """They were begun at the same time, so none of them depends on its result."""
    journal = Begun(4)

    def work(id):  # noqa: A002 - the tool\'s argument
        if id == 0:
            assert journal.all.wait(PATIENCE)
            raise ToolError(None, "connection closed", outcome="unknown")
        return id

    tools = Toolbox([make_tool("work", {"id": {"type": "integer"}}, work, writes=True)])
    data = lines(
        *[call(number, tool="work", args={"id": number}, waits=False) for number in range(4)]
    )
    within = Limits(wall_seconds=PATIENCE, concurrent_calls=1)
    child = FakeChild(data, hangs=True)
    trace = serve_program(child, "", tools, limits=within, journal=journal, backend="fake")
    assert (trace.failure.kind, trace.failure.type, trace.failure.call) == (
        "paused",
        "UnknownOutcome",
        0,
    )
    assert [made.outcome for made in trace.calls] == ["unknown", "done", "done", "done"]


def test_late_tools_change_nothing():
    released, back = threading.Event(), threading.Event()
    heard = []

    def late():
        released.wait(PATIENCE)
        back.set()
        return "too late"

    journal = Journal(sink=lambda execution, made, complete: heard.append((made.outcome, complete)))
    child = FakeChild(lines(call(tool="late", args={})), hangs=True)
    tools = Toolbox([make_tool("late", {}, late, writes=True)])
    trace = serve_program(
        child, "", tools, limits=Limits(wall_seconds=0.5), journal=journal, backend="fake"
    )
    released.set()
    assert back.wait(PATIENCE)
    assert (trace.failure.type, trace.calls[0].outcome) == ("wall_seconds", "unknown")
    assert "no answer within the run's 0.5 s" in trace.calls[0].error
    assert heard == [("unknown", False), ("unknown", True)]


def test_a_printed_object_must_fit_the_output():
    output = {"stdout": "[1]\n"}
    assert serve_bytes(lines(output, {"done": None, "printed": [[1], 3]})).printed == ([1],)
    assert serve_bytes(lines(output, {"done": None, "printed": [[2, 3], 6]})).printed == ()
    assert serve_bytes(lines({"done": None, "printed": [5, 1]})).printed == ()


@pytest.mark.parametrize("after", [0, 5])
def test_a_page_must_follow_one_with_more(after):
    """A hostile child can neither ask on after a plain call, nor after one that is not there."""
    first = {"call": 0, "tool": "list_items", "args": {"page": 1}, "line": 1}
    further = {"call": 1, "tool": "list_items", "args": {}, "line": 1, "after": after}
    trace = serve_bytes(lines(first, further))
    assert trace.failure is not None
    assert trace.failure.type == "ProtocolViolation"
    assert len(trace.calls) == 1
