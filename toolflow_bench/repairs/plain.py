"""A plain code agent: it runs each program from its first line, unchecked, and shows the model what went wrong."""

from __future__ import annotations

import time
from dataclasses import replace

from atc.attribute import attribute
from atc.config import Config
from atc.meter import BudgetSpent, Meter
from atc.repair import Way, correction
from atc.synthesize import parse
from atc.types import Attempt, Fault, Program, Solution
from protocols.ask import Ask
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Pins
from toolflow_bench.repairs.first import FirstGiven, Opening

_NO_PROGRAM = Fault(kind="syntax", message="The reply held no Python program.")


def solve_plainly(
    question: str,
    toolbox: Toolbox,
    *,
    opening: Opening,
    way: Way | None,
    ask: Ask,
    sandbox: Sandbox,
    config: Config,
    seed: int = 0,
) -> Solution:
    """The solution of a task that begins with `opening`; without a `way` there is no repair.

    Each attempt has a journal of its own: what an earlier one called is called again.

    Raises:
        ModelUnavailable, SandboxUnavailable: an outage.
    """
    meter = Meter(
        FirstGiven(ask, opening.reply), lambda _: None, max_seconds=config.max_seconds, max_tokens=config.max_tokens
    )
    messages = list(opening.messages)
    attempts: list[Attempt] = []
    limit: str | None = None
    pins = Pins(seed=seed, clock=time.time())
    try:
        while True:
            reply = meter.complete(messages, purpose="write", temperature=0.0, seed=0)
            program = parse(reply.text)
            attempts.append(_attempt(program, len(attempts), toolbox, sandbox, meter, config, pins))
            if attempts[-1].fault is None or way is None or len(attempts) > config.max_repairs:
                break
            messages += correction(attempts[-1], toolbox, mode=way, complete=meter.complete, messages=messages)
    except BudgetSpent as spent:
        limit = spent.limit
    answer = attempts[-1].answer if attempts else None
    return Solution(
        task=question,
        attempts=tuple(attempts),
        status="failed" if answer is None else "solved",
        answer=answer,
        tools=tuple(toolbox),
        usage=meter.usage,
        seconds=meter.seconds,
        limit=limit,
    )


def _attempt(
    program: Program | None,
    number: int,
    toolbox: Toolbox,
    sandbox: Sandbox,
    meter: Meter,
    config: Config,
    pins: Pins,
) -> Attempt:
    if program is None:
        return Attempt(Program(""), (), None, _NO_PROGRAM, round=number)
    limits, left = Limits(tool_calls=config.max_calls), meter.seconds_left
    if left is not None:
        limits = replace(limits, wall_seconds=max(1.0, min(limits.wall_seconds, left)))
    trace = sandbox.run(program.source, toolbox, limits=limits, journal=Journal(pins=pins))
    return Attempt(program, (), trace, attribute(program, (), trace, toolbox), round=number)
