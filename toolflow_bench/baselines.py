"""Baselines that need no model: three that should solve nothing, and the gold programs.

- `echo` answers with the question.
- `first` calls the first candidate tool with arguments made from its schema and the question's
  words, and answers with the response.
- `random` calls random candidates with arguments made from schemas, the question and earlier
  responses, and answers with the last response or a value in a response.
- `gold` runs the gold program of the task, and must solve every task.

Each baseline is a program that runs in the sandbox, as a model's program would. A task that
`echo`, `first` or `random` solves is too easy.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal, get_args

from atc.core.program import Program
from atc.core.types import Attempt, Solution
from atc.pipeline.attribute import attribute
from protocols.schema import resolve
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.journal import Journal
from sandbox.limits import Limits
from sandbox.trace import Pins
from toolflow_bench.runner import AnsweredItem, Item, OpenWorker, Worker
from toolflow_bench.workers import OpenWorld, build_answered_item, tools_for_item

Baseline = Literal["echo", "first", "random", "gold"]
BASELINES: tuple[Baseline, ...] = get_args(Baseline)

RANDOM_CALLS = 20
"""Number of calls that `random` makes. The gold programs of ToolFlow make 1 to about 30 calls."""

_HINTS = ("type", "enum", "examples", "format", "minimum", "maximum", "pattern", "minLength")


def baseline_worker(name: Baseline, open_world: OpenWorld, *, sandbox: Sandbox) -> OpenWorker:
    """Return a function that opens workers, which answer questions with the baseline `name`.

    Each worker has its own services.
    """

    @contextmanager
    def open_worker() -> Iterator[Worker]:
        with open_world() as world:

            def work(
                item: Item, /, *, seed: int, repeat: int, max_seconds: float | None
            ) -> AnsweredItem:
                world.reset(f"{seed} {repeat} {item.question.id}")
                toolbox = tools_for_item(world, item)
                program = program_of(name, item, toolbox, seed=1_000_003 * seed + repeat)
                solution = run(
                    program,
                    item.question.question,
                    toolbox,
                    sandbox=sandbox,
                    max_seconds=max_seconds,
                )
                return build_answered_item(solution, world, toolbox)

            yield work

    return open_worker


def run(
    program: Program,
    question: str,
    toolbox: Toolbox,
    *,
    sandbox: Sandbox,
    max_seconds: float | None = None,
) -> Solution:
    """Run one program without a static check or a repair, and return the result as a solution."""
    begun = time.monotonic()
    limits = (
        Limits()
        if max_seconds is None
        else Limits(wall_seconds=min(Limits().wall_seconds, max_seconds))
    )
    trace = sandbox.run(
        program.source, toolbox, limits=limits, journal=Journal(pins=Pins(clock=time.time()))
    )
    attempt = Attempt(program, (), trace, attribute(program, (), trace, toolbox))
    unsolved: Literal["paused", "failed"] = "paused" if attempt.paused else "failed"
    return Solution(
        task=question,
        attempts=(attempt,),
        status="solved" if attempt.answer is not None else unsolved,
        answer=attempt.answer,
        tools=tuple(toolbox),
        seconds=time.monotonic() - begun,
    )


def program_of(name: Baseline, item: Item, toolbox: Toolbox, *, seed: int) -> Program:
    """Return the source of the program with which a baseline answers a question (an item)."""
    question = item.question.question
    match name:
        case "echo":
            return Program(f"print({question!r})\n")
        case "gold":
            return Program(item.program)
        case "first":
            chosen = list(toolbox.values())[:1]
            calls = 1
        case "random":
            chosen = list(toolbox.values())
            calls = RANDOM_CALLS
    tools = "\n".join(f"    ({tool.alias}, {_describe_arguments(tool)!r})," for tool in chosen)
    constants = (
        f"QUESTION = {question!r}\nSEED = {f'{item.question.id} {seed}'!r}\nCALLS = "
        f"{calls}\nTOOLS = [\n{tools}\n]\n"
    )
    return Program(constants + _BLIND)


def _describe_arguments(tool: Tool) -> Mapping[str, Any]:
    """Return, for each argument, the schema keywords from which the baselines choose a value.

    `_BLIND`, the program of the baselines, reads them. The key `required` is added: it is True if
    the argument is required.
    """
    described = {}
    for alias, original in tool.arguments.items():
        schema = resolve(tool.protocol.parameters[original], tool.protocol.input_schema)
        hints = {key: schema[key] for key in _HINTS if key in schema}
        described[alias] = {**json.loads(json.dumps(hints)), "required": alias in tool.required}
    return described


_BLIND = r"""import random
import re

chance = random.Random(SEED)
seen = re.findall(r"[0-9]+(?:[-.:][0-9]+)*|[A-Z][\w'-]*(?: [A-Z][\w'-]*)*|[\w'-]+", QUESTION)
fresh = []


def harvest(value, into):
    if isinstance(value, dict):
        for inner in value.values():
            harvest(inner, into)
    elif isinstance(value, list):
        for inner in value[:20]:
            harvest(inner, into)
    elif value is not None and value != "":
        into.append(value)


def numbers(least, most):
    for value in [*fresh, *seen]:
        try:
            number = float(value)
        except (TypeError, ValueError):
            continue
        if least <= number <= most:
            yield number


def fits(text, hints):
    is_long_enough = len(text) >= hints.get("minLength", 0)
    return is_long_enough and re.search(hints.get("pattern", ""), text) is not None


def value_for(hints):
    least, most = hints.get("minimum", 0), hints.get("maximum", 10**6)
    if hints.get("enum"):
        named = [one for one in hints["enum"] if str(one).lower() in QUESTION.lower()]
        return chance.choice(named or hints["enum"])
    kind = hints.get("type", "string")
    if kind in ("integer", "number"):
        number = chance.choice([*numbers(least, most), *hints.get("examples", []), least])
        return int(number) if kind == "integer" else float(number)
    if hints.get("format") == "date":
        dates = [one for one in map(str, [*seen, *fresh]) if re.fullmatch(r"\d{4}-\d\d-\d\d", one)]
        return chance.choice(dates or hints.get("examples") or ["2013-01-01"])
    texts = [one for one in fresh if isinstance(one, str) and fits(one, hints)]
    words = [one for one in [*seen, *hints.get("examples", [])] if fits(one, hints)]
    return chance.choice((texts if texts and chance.random() < 0.7 else words) or texts or seen)


answered = False
for _ in range(CALLS):
    tool, arguments = chance.choice(TOOLS)
    given = {
        name: value_for(hints)
        for name, hints in arguments.items()
        if hints["required"] or (name not in ("page", "page_size") and chance.random() < 0.2)
    }
    try:
        last = tool(**given)
    except ToolError:
        continue
    answered = True
    fresh = fresh[-500:]
    harvest(last, fresh)
if answered:
    print(last if CALLS == 1 or not fresh or chance.random() < 0.5 else chance.choice(fresh))
"""
