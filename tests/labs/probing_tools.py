"""What tests of probing share: tools of a server on loopback, a clock that only sleeping moves, arguments."""

import json
from contextlib import contextmanager
from dataclasses import replace

from probing.caller import Caller
from probing.samples import Log, ProbeSettings, Sample, Value, ValueOrigin
from protocols.client import Invoker, InvokeSettings
from protocols.protocol import Annotations, HttpBinding, ToolProtocol
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from tests.labs.loopback import serving


class Clock:
    """Seconds that pass by sleeping alone; `slept` are the waits, in order."""

    def __init__(self):
        self.time, self.slept = 1000.0, []

    def __call__(self):
        return self.time

    def sleep(self, seconds):
        assert seconds > 0
        self.slept.append(seconds)
        self.time += seconds


def tool(url, name, *, method="GET", arguments=("q",), **changes):
    """A protocol that says no more than name, method, URL and the names of arguments."""
    protocol = ToolProtocol(
        name=name,
        input_schema={"type": "object", "properties": {argument: {} for argument in arguments}},
        annotations=Annotations(read_only=True if method == "GET" else None),
        binding=HttpBinding(method=method, url=f"{url}/{name}"),
    )
    return replace(protocol, **changes)


def given(**arguments):
    """Arguments as if a generator had made them."""
    return {name: Value(value, ValueOrigin(kind="generated")) for name, value in arguments.items()}


def sample(number, response=None, *, tool="find", status=None, error="", outcome=None, **arguments):
    """What a call gave: `response`, or the refusal `error`, in the words of a service that speaks in sentences."""
    return Sample(
        number=number,
        tool=tool,
        arguments={
            name: Value(value, ValueOrigin(kind="response")) for name, value in arguments.items()
        },
        outcome=outcome or ("done" if status is None else "refused"),
        status=status,
        response=response,
        error=error,
        answer=json.dumps({"detail": error}) if error else None,
    )


class Lab:
    """A gate over tools of a server, with what it told those who watch."""

    def __init__(self, server, folder, protocols, *, functions=None, timeout=5.0, **settings):
        self.server, self.clock, self.events = server, Clock(), []
        self.invoker = Invoker(
            InvokeSettings(retries=0, timeout_seconds=timeout, max_body_bytes=8_000_000)
        )
        self.toolbox = Toolbox(
            Tool(protocol=protocol, call=self.invoker.bind(protocol, functions or {}))
            for protocol in protocols
        )
        self.settings = ProbeSettings(timeout_seconds=timeout, **settings)
        self.folder = folder
        self.log = Log(folder)
        self.caller = self._new()

    def _new(self):
        return Caller(
            self.toolbox,
            self.log,
            self.settings,
            watch=self.events.append,
            sleep=self.clock.sleep,
            now=self.clock,
        )

    def call(self, name, *, purpose="discover", **arguments):
        return self.caller.call(name, given(**arguments), purpose=purpose)

    def again(self):
        """The same, as after a kill: all that is known comes from the log."""
        self.log.close()
        self.log = Log(self.folder)
        self.caller = self._new()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.log.close()
        self.invoker.close()

    @property
    def asked(self):
        """What reached the server, in order."""
        return [seen.target for seen in self.server.seen]


@contextmanager
def lab(folder, answer, *names, **options):
    """A `Lab` over reads of these names at a server that answers with `answer(request)`."""
    with (
        serving(answer) as server,
        Lab(server, folder, [tool(server.url, n) for n in names], **options) as opened,
    ):
        yield opened
