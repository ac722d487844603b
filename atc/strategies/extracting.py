"""What a few lines of Python get out of one response: so RestGPT's parser reads, and ConAgents' observing agent."""

from __future__ import annotations

from dataclasses import replace

from atc.meter import Meter
from atc.strategies.base import Parts
from atc.types import Program
from protocols.jsontypes import Json
from protocols.protocol import Annotations, ToolProtocol
from protocols.toolbox import Tool, Toolbox
from sandbox.journal import Journal
from sandbox.limits import Limits

_WALL_SECONDS = 20.0


def extracted(program: Program, data: Json, parts: Parts, meter: Meter) -> str | None:
    """What a program prints that reads the variable `data`; None where it fails, or prints nothing.

    It runs in the sandbox with `data` and nothing else: it can call no tool of the run, and is neither an attempt nor
    part of the run's journal. It gets 20 seconds at most, or what is left of the run's time.

    Raises:
        SandboxUnavailable: nothing was learned about the program.
    """
    limits, left = Limits(tool_calls=1), meter.seconds_left
    limits = replace(limits, wall_seconds=max(1.0, min(_WALL_SECONDS, _WALL_SECONDS if left is None else left)))
    # The response comes by a call, as every value from outside does: no text of it stands in the program's source.
    reads, nothing = Annotations(read_only=True), {"type": "object"}
    protocol = ToolProtocol(name="response", description="The response.", input_schema=nothing, annotations=reads)
    given = Toolbox([Tool(protocol, call=lambda _: data)])
    source = f"data = response()\n{program.source}"
    trace = parts.sandbox.run(source, given, limits=limits, journal=Journal(pins=parts.journal.pins))
    return None if trace.failure is not None else trace.stdout.strip() or None
