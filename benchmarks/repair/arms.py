"""The arms: each answers one item from the first program that it shares with the others."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from atc.agent import Agent
from atc.attribute import attribute
from atc.config import Config
from atc.meter import BudgetSpent, Meter
from atc.repair import correction
from atc.synthesize import parse
from atc.types import Attempt, Fault, Program, Solution
from protocols.ask import Ask, Completion, Message, Powers, powers
from protocols.jsontypes import JsonObject
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.journal import Journal, canonical
from sandbox.limits import Limits
from sandbox.trace import Pins
from toolflow_bench.runner import Answered, Item
from toolflow_bench.workers import WorldLike, agree_to_all, answered, offered


class Arm(NamedTuple):
    """One way to go on from a program that failed: `way` None is not to; `plain`: without what else atc does."""

    way: str | None
    plain: bool


ARMS: Mapping[str, Arm] = {
    "none": Arm(None, plain=True),
    "traceback": Arm("traceback", plain=True),
    "reflection": Arm("reflection", plain=True),
    "facts": Arm("facts", plain=False),
}
"""`traceback`: a plain code agent; the program runs unchecked, the model reads Python's traceback, and the next program
runs all calls again. `reflection`: the same, with the paper's attributable reflection. `none`: the first program alone.
`facts`: atc as it is."""
_NO_PROGRAM = Fault(kind="syntax", message="The reply held no Python program.")


@dataclass
class FirstGiven:
    """A model whose first reply is `reply` where that is given; all else the model itself answers.

    `messages` is the first question.
    """

    ask: Ask
    reply: Completion | None = None
    messages: tuple[Message, ...] = ()
    name: str = field(init=False)
    prompt_tokens: int = field(init=False)

    def __post_init__(self) -> None:
        self.name, self.prompt_tokens = self.ask.name, self.ask.prompt_tokens

    @property
    def powers(self) -> Powers:
        """The model's."""
        return powers(self.ask)

    def __call__(self, messages: Sequence[Message], **options: Any) -> Completion:
        """As the model itself; see `protocols.ask.Ask`."""
        if self.messages:
            return self.ask(messages, **options)
        self.messages = tuple(messages)
        self.reply = self.reply or self.ask(messages, **options)
        return self.reply


class Bench:
    """Answers items by any arm, one at a time, in one world: one sample a round, every write allowed.

    `programs` are first programs by item's id; an item without one begins with the model's own, asked once.
    """

    def __init__(
        self, world: WorldLike, *, ask: Ask, sandbox: Sandbox, config: Config, programs: Mapping[str, str]
    ) -> None:
        self._world, self._ask, self._sandbox, self._programs = world, ask, sandbox, programs
        self.config = replace(config, samples=1, strategy="chain", allow_writes=("all",))
        self._opened: tuple[str, FirstGiven] | None = None

    def answer(self, arm: Arm, item: Item, /, *, seed: int, repeat: int = 0, max_seconds: float | None) -> Answered:  # noqa: ARG002
        """What becomes of an item in an arm.

        Raises:
            AtcError: an outage, no verdict on the arm.
        """
        self._world.reset()
        toolbox, question = offered(self._world, item), item.question
        if self._opened is None or self._opened[0] != question.id:
            self._opened = question.id, self._opening(question.id, question.question, toolbox)
        first = FirstGiven(self._ask, self._opened[1].reply)
        config = replace(self.config, max_seconds=max_seconds, repair=arm.way or "none")
        if arm.plain:
            solution = self._solve_plainly(question.question, toolbox, first, config, arm.way, seed)
        else:  # never closed: it would close the sandbox that all arms share
            agent = Agent(toolbox, model=first, sandbox=self._sandbox, config=config, ask_person=agree_to_all)
            solution = agent.run(question.question, seed=seed)
        return answered(solution, self._world, toolbox)

    def _opening(self, id_: str, question: str, toolbox: Toolbox) -> FirstGiven:
        """The prompt and the first reply that all arms of an item share."""
        program = self._programs.get(id_)
        given = Completion(text=f"```python\n{program.rstrip()}\n```", model=self._ask.name) if program else None
        first = FirstGiven(self._ask, given)
        Agent(toolbox, model=first, sandbox=self._sandbox, config=self.config).draft(question)
        return first

    def _solve_plainly(
        self, question: str, toolbox: Toolbox, first: FirstGiven, config: Config, way: str | None, seed: int
    ) -> Solution:
        """A plain code agent: each attempt has a journal of its own, so what an earlier one called is called again."""
        assert self._opened is not None
        meter = Meter(first, lambda _: None, max_seconds=config.max_seconds, max_tokens=config.max_tokens)
        messages, pins = list(self._opened[1].messages), Pins(seed=seed, clock=time.time())
        attempts: list[Attempt] = []
        limit: str | None = None
        try:
            while len(attempts) <= (config.max_repairs if way else 0) and not (attempts and attempts[-1].fault is None):
                if attempts:
                    messages += correction(
                        attempts[-1], toolbox, mode=way or "", complete=meter.complete, messages=messages
                    )
                program = parse(meter.complete(messages, purpose="write", temperature=0.0, seed=0).text)
                attempts.append(self._attempt(program, len(attempts), toolbox, meter, config, pins))
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
        self, program: Program | None, number: int, toolbox: Toolbox, meter: Meter, config: Config, pins: Pins
    ) -> Attempt:
        if program is None:
            return Attempt(Program(""), (), None, _NO_PROGRAM, round=number)
        limits, left = Limits(tool_calls=config.max_calls), meter.seconds_left
        if left is not None:
            limits = replace(limits, wall_seconds=max(1.0, min(limits.wall_seconds, left)))
        trace = self._sandbox.run(program.source, toolbox, limits=limits, journal=Journal(pins=pins))
        return Attempt(program, (), trace, attribute(program, (), trace, toolbox), round=number)


def repeated(made: Sequence[JsonObject]) -> int:
    """Calls of all attempts that were sent again: more of one than the attempt that issued most of them did."""
    issued: dict[str, Counter[int]] = {}
    sent: Counter[str] = Counter()
    for call in made:
        key = canonical(call["tool"], call["arguments"])
        issued.setdefault(key, Counter())[call["attempt"]] += 1
        sent[key] += call["outcome"] == "done" and not call["reused"]
    return sum(max(0, count - max(issued[key].values())) for key, count in sent.items())
