"""A recorded execution runs again with nothing behind it, on every backend, and says where it departs."""

from __future__ import annotations

import threading
from contextlib import closing
from dataclasses import replace

import pytest

from protocols.errors import ToolError
from protocols.files import TemporaryFiles
from protocols.toolbox import Toolbox
from sandbox.choose import availability, open_sandbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.replay import ReplayDiverged, replay
from sandbox.testing import make_tool
from sandbox.trace import Pins
from tests.labs.patience import PATIENCE

BACKENDS = [name for name in ("zygote", "monty") if availability(name).reason is None]
FILES = TemporaryFiles()
LIMITS = Limits(wall_seconds=PATIENCE, result_bytes=5000)


@pytest.fixture(scope="module", params=BACKENDS)
def sandbox(request):
    with closing(open_sandbox(request.param)) as opened:
        yield opened


@pytest.fixture(scope="module")
def any_sandbox():
    with closing(open_sandbox(BACKENDS[0])) as opened:
        yield opened


class World:
    """Tools that answer otherwise each time, so that a replay that reached one would show it."""

    def __init__(self):
        self.made = []
        rows = {"type": "object", "properties": {"rows": {"type": "array"}}, "required": ["rows"]}
        text, number = {"type": "string"}, {"type": "integer"}
        self.toolbox = Toolbox(
            [
                make_tool(
                    "note",
                    {"id": text, "page": {**number, "default": 1}},
                    self.note,
                    required=("id",),
                ),
                make_tool("rows", {"count": number}, self.rows, output=rows),
                make_tool("send", {"to": text}, self.send, writes=True),
            ]
        )

    def note(self, **arguments):
        self.made.append(arguments)
        if arguments["id"] == "none":
            raise ToolError(404, "there is no such note")
        text = "æøå \ud7ff 🎈" if arguments["id"] == "odd" else arguments["id"]
        return {
            "text": text,
            "serial": len(self.made),
            "half": 0.1 + 0.2,
            "none": None,
            "big": 10**30,
        }

    def rows(self, count):
        self.made.append(count)
        return {"rows": [{"n": n, "made": len(self.made)} for n in range(count)]}

    def send(self, to):
        self.made.append(to)
        return {"sent": len(self.made)}


def ran(source, sandbox, *, pins=None, limits=LIMITS):
    """The program's first execution, what it called, and the toolbox that no replay may call."""
    world = World()
    trace = sandbox.run(
        source,
        world.toolbox,
        limits=limits,
        journal=Journal(pins=pins or Pins(seed=7, clock=1e9), files=FILES),
    )
    return trace, world, world.toolbox.map(lambda found: replace(found, call=_not_now))


def _not_now(arguments):
    raise AssertionError("a replay made a call")


def again(source, sandbox, *, recorded=None, limits=LIMITS, **options):
    """The first execution, and the second from its record."""
    first, world, offline = ran(source, sandbox, limits=limits)
    calls = len(world.made)
    second = replay(
        source,
        offline,
        recorded or first,
        sandbox=sandbox,
        limits=limits,
        files=FILES,
        **options,
    )
    assert len(world.made) == calls
    return first, second


PROGRAMS = {
    "values": "n = note(id='odd')\nprint(n['text'], n['half'], n['none'], n['big'], n['serial'])",
    "a failed call that is caught": "try:\n    note(id='none')\nexcept ToolError as e:\n    print(e)",
    "a failed call that is not caught": "note(id='none')",
    "bad arguments, caught": "try:\n    note(id=5)\nexcept ToolError as e:\n    print('no', note(id='a')['serial'])",
    "a file, since it is too large": "big = rows(count=900)\nprint(big, len(big.json()))",
    "writes": "print(send(to='a')['sent'], send(to='a')['sent'], note(id='x')['serial'])",
    "clock and chance": (
        "import random, time, uuid, datetime\n"
        "print(time.time(), random.random(), uuid.uuid4(), datetime.datetime.now(), note(id='a')['serial'])"
    ),
    "syntax": "print(note(id='a')",
}
FAILS = ("a failed call that is not caught", "syntax")


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_same_calls_and_the_same_end(name, sandbox):
    source = PROGRAMS[name]
    if sandbox.name == "monty":
        source = (
            source.replace(", uuid,", ",")
            .replace(" uuid.uuid4(),", "")
            .replace("ToolError", "Exception")
        )  # it has none
    first, second = again(source, sandbox)
    assert (first.failure is None) == (name not in FAILS)
    assert (second.stdout, second.value, second.failure) == (
        first.stdout,
        first.value,
        first.failure,
    )
    assert [(c.tool, c.arguments, c.result, c.error, c.status) for c in second.calls] == [
        (c.tool, c.arguments, c.result, c.error, c.status) for c in first.calls
    ]
    assert all(call.reused for call in second.calls if not (call.error or "").startswith("tool "))


def test_simultaneous_calls_are_answered_in_order(sandbox):
    if sandbox.name == "monty":
        pytest.skip("it has no asyncio.to_thread")
    source = (
        "import asyncio\n"
        "async def main():\n"
        "    return await asyncio.gather(*[asyncio.to_thread(note, id=f'n{i}') for i in range(12)])\n"
        "print([one['serial'] for one in asyncio.run(main())])"
    )
    first, second = again(source, sandbox)
    assert len(second.calls) == 12
    assert second.stdout == first.stdout


def test_a_timed_out_run_ends_alike(any_sandbox):
    _, world, offline = ran("note(id='a')", any_sandbox)
    held = threading.Event()
    slow = world.toolbox.map(
        lambda found: replace(found, call=lambda arguments: held.wait(PATIENCE))
    )
    source = "note(id='a')\nprint(note(id='b'))"
    limits = replace(LIMITS, wall_seconds=1.0)  # it has to reach its second call
    ended = any_sandbox.run(source, slow, limits=limits, journal=Journal())
    held.set()
    assert ended.failure.type == "wall_seconds"
    second = replay(
        source, offline, ended, sandbox=any_sandbox, limits=replace(LIMITS, wall_seconds=20.0)
    )
    assert (second.failure.type, second.stdout) == ("wall_seconds", "")


@pytest.mark.parametrize(
    ("other", "index", "expected", "got"),
    [
        ("note(id='a')\nnote(id='c')\nprint(1)", 1, 'note(id="b")', 'note(id="c")'),
        ("note(id='a')\nrows(count=1)\nprint(1)", 1, 'note(id="b")', "rows(count=1)"),
        ("note(id='a')\nnote(id='b', page=2)\nprint(1)", 1, 'note(id="b")', 'note(id="b", page=2)'),
        (
            "note(id='a')\nnote(id='b')\nnote(id='c')\nprint(1)",
            2,
            "no further call",
            'note(id="c")',
        ),
        ("note(id='a')\nprint(1)", 1, 'note(id="b")', "the end of the program"),
        ("note(id='a')\nnote(id='b')\nprint(2)", 2, "the answer 1", "the answer 2"),
        (
            "note(id='a')\nnote(id='b')\n1 / 0",
            2,
            "the answer 1",
            "ZeroDivisionError: division by zero (line 3)",
        ),
        (
            "note(id='a')\ntry:\n    note(id=5)\nexcept ToolError:\n    print(1)",
            1,
            'note(id="b")',
            "which fails with",
        ),
    ],
    ids=[
        "arguments",
        "tool",
        "one argument more",
        "a call more",
        "a call less",
        "answer",
        "failure",
        "refused",
    ],
)
def test_a_departure_says_where_what_and_what_instead(any_sandbox, other, index, expected, got):
    first, _, offline = ran("note(id='a')\nnote(id='b')\nprint(1)", any_sandbox)
    with pytest.raises(ReplayDiverged) as caught:
        replay(other, offline, first, sandbox=any_sandbox, limits=LIMITS)
    assert (caught.value.index, caught.value.expected) == (index, expected)
    assert got in caught.value.got
    assert not caught.value.redacted


class TestSecrets:
    """The record holds `<secret-8>` where the tool gave `hunter-2`."""

    def hidden(self, trace):
        call = replace(trace.calls[0], result={**trace.calls[0].result, "text": "<secret-8>"})
        calls = [
            replace(c, arguments={"id": c.arguments["id"].replace("hunter-2", "<secret-8>")})
            for c in trace.calls
        ]
        return replace(
            trace, calls=(call, *calls[1:]), stdout=trace.stdout.replace("hunter-2", "<secret-8>")
        )

    SECRET = "s = note(id='hunter-2')['text']\n"

    def test_secrets_merely_passed_on_do_not_matter(self, any_sandbox):
        # The first call's own argument is a literal of the program, so the program is hidden too.
        source = "s = note(id='<secret-8>')['text']\nprint(note(id=s)['serial'], s)"
        trace, _, offline = ran(source, any_sandbox)
        secrets = ["<secret-8>", "<secret-9>"]
        second = replay(
            source, offline, self.hidden(trace), sandbox=any_sandbox, limits=LIMITS, secrets=secrets
        )
        assert second.stdout == "2 <secret-8>\n"

    @pytest.mark.parametrize(
        "use",
        ["note(id=s[:3])", "print(s.upper())", "note(id=str(sum(map(ord, s))))", "int(s[-1]) / 0"],
    )
    def test_one_whose_characters_are_needed_says_so(self, any_sandbox, use):
        trace, _, offline = ran(self.SECRET + use, any_sandbox)
        hidden = replace(self.hidden(trace), calls=(self.hidden(trace).calls[0], *trace.calls[1:]))
        hidden = replace(
            hidden,
            calls=(replace(hidden.calls[0], arguments={"id": "hunter-2"}), *hidden.calls[1:]),
        )
        with pytest.raises(ReplayDiverged) as caught:
            replay(
                self.SECRET + use,
                offline,
                hidden,
                sandbox=any_sandbox,
                limits=LIMITS,
                secrets=["<secret-8>"],
            )
        assert (caught.value.redacted, caught.value.index) == (True, 1)
        assert str(caught.value).endswith(
            "; the program may need the characters of a secret, of which it holds a placeholder"
        )

    def test_departures_before_secrets_are_ordinary(self, any_sandbox):
        trace, _, offline = ran(self.SECRET, any_sandbox)
        with pytest.raises(ReplayDiverged) as caught:
            replay(
                "note(id='x')",
                offline,
                trace,
                sandbox=any_sandbox,
                limits=LIMITS,
                secrets=["<secret-8>"],
            )
        assert not caught.value.redacted
