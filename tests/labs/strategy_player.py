"""One plan, played for whichever strategy asks: a scripted model that answers every role by what its prompt says.

A `Player` keeps no state but the tools of a pool: what it replies depends on the prompt (and the seed) alone, so that a
run that goes on in another process finds the same model. Every reply says which move it is; the next move is the one
after the last that a conversation shows.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from atc.agent import Agent
from atc.core.config import Config
from atc.pipeline.retrieve.base import Hit, Retrieval, Retriever
from atc.store import Store
from protocols.errors import ModelUnavailable, ToolError
from protocols.model import Ask, Completion, Message, Powers
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from tests.labs.tools import TEXT, fenced, record, tool

TASK = "What does the note of p0 say?"
SEARCH = "What is to be searched for"


@dataclass
class World:
    """Tools that read, one that writes, and three in trouble: one is down, one breaks its schema, and of what the one
    that sends mail does nobody hears. `sent` is what reached them; `described`: they say what they answer.
    """

    sent: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    marks: int = 0
    described: bool = True

    @property
    def toolbox(self) -> Toolbox:
        text, person = record(text=TEXT), {"person": TEXT}

        def made(
            name: str, answer: Any, parameters: Any, output: Any, *, reads: bool = True
        ) -> Tool:
            about = {"description": f"{name} does it.", "category": "people", "collection": "notes"}
            described = output if self.described else None
            return tool(name, answer, parameters, described, reads=reads, sent=self.sent, **about)

        return Toolbox(
            [
                made(
                    "list_people",
                    {"people": ["p0", "p1"]},
                    {},
                    record(people={"type": "array", "items": TEXT}),
                ),
                made("get_note", {"text": "milk"}, person, text),
                made("add_mark", self._mark, person, record(mark=TEXT), reads=False),
                made("send_mail", self._lost, {"text": TEXT}, record(sent=TEXT), reads=False),
                made("get_trouble", self._down, {}, text),
                made("get_odd", {"words": 7}, {}, text),
            ]
        )

    def _mark(self, _: Any) -> Any:
        self.marks += 1
        return {"mark": f"m{self.marks}"}

    def _lost(self, _: Any) -> Any:
        raise ToolError(None, "timed out", outcome="unknown")

    def _down(self, _: Any) -> Any:
        raise ToolError(501, "the server cannot do that")


@dataclass(frozen=True)
class Move:
    """A call. `fails`: it is known to, and whoever plans goes on with the next one."""

    tool: str
    arguments: Mapping[str, Any] = field(default_factory=dict)
    fails: bool = False

    @property
    def code(self) -> str:
        return f"{self.tool}({', '.join(f'{name}={value!r}' for name, value in self.arguments.items())})"


@dataclass(frozen=True, eq=False)
class Plan:
    """Moves, then the answer; or, `endless`, the same moves for ever. Each is its own."""

    moves: tuple[Move, ...]
    answer: str = "milk"
    endless: bool = False

    def move(self, number: int) -> Move | None:
        """The move of this number; None where the answer is given."""
        if self.endless:
            return self.moves[number % len(self.moves)]
        return self.moves[number] if number < len(self.moves) else None

    def calls(self) -> list[tuple[str, dict[str, Any]]]:
        """What reaches the tools."""
        return [(move.tool, dict(move.arguments)) for move in self.moves]


READS = Plan((Move("list_people"), Move("get_note", {"person": "p0"})))
MARKS = Plan((Move("list_people"), Move("add_mark", {"person": "p0"})))
LOST = Plan((Move("send_mail", {"text": "milk"}),))
TROUBLE = Plan((Move("get_trouble", fails=True), Move("get_note", {"person": "p0"})))
ODD = Plan((Move("get_odd"), Move("get_note", {"person": "p0"})))

Play = Callable[[Plan, Sequence[Message], int], str]
"""What a role replies to a prompt, with the seed it is asked with."""


def _shown(messages: Sequence[Message], role: str = "assistant") -> int | None:
    """The last move that a conversation shows, in turns of this role."""
    found = re.findall(r"\bmove (\d+)", "\n".join(m.content for m in messages if m.role == role))
    return int(found[-1]) if found else None


def _next(messages: Sequence[Message]) -> int:
    last = _shown(messages)
    return 0 if last is None else last + 1


def _json(name: str, **arguments: Any) -> str:
    return json.dumps({"name": name, "arguments": arguments})


def _program(plan: Plan, messages: Sequence[Message], _: int) -> str:
    """From the next move on up to one that fails, or all: programs before it were told of their failures."""
    number, lines = _next(messages), ["while True:"] if plan.endless else []
    while (move := plan.move(number)) is not None:
        lines.append(f"{'    ' * plan.endless}result = {move.code}  # move {number}")
        if move.fails or plan.endless:
            break
        number += 1
    answer = f"{plan.answer!r} if result is not None else None" if lines else repr(plan.answer)
    return fenced("\n".join([*lines, f"print({answer})"]))


def _piece(plan: Plan, messages: Sequence[Message], _: int) -> str:
    move = plan.move(number := _next(messages))
    return fenced(
        f"print({move.code})  # move {number}" if move else f"print('ANSWER:', {plan.answer!r})"
    )


def _block(plan: Plan, messages: Sequence[Message], seed: int) -> str:
    return _piece(plan, messages, seed) if plan.move(_next(messages)) else f"Answer: {plan.answer}"


def _turn(plan: Plan, messages: Sequence[Message], _: int) -> str:
    move = plan.move(number := _next(messages)) or Move("finish", {"answer": plan.answer})
    return f"Thought: move {number}\nAction: {move.tool}\nAction Input: {json.dumps(dict(move.arguments))}"


def _planned(plan: Plan, messages: Sequence[Message], _: int) -> str:
    number = _next(messages)
    return f"make move {number}" if plan.move(number) else f"Final Answer: {plan.answer}"


def _chosen(plan: Plan, messages: Sequence[Message]) -> tuple[int, Move]:
    """The move that others have chosen, by its number."""
    number = _shown(messages, "user") or 0
    move = plan.move(number)
    assert move is not None
    return number, move


def _selected(plan: Plan, messages: Sequence[Message], _: int) -> str:
    number, move = _chosen(plan, messages[-1:])
    return _json("call_apis", apis=[move.tool], plan=f"make move {number}")


def _called(plan: Plan, messages: Sequence[Message], _: int) -> str:
    if any(message.role == "assistant" for message in messages):
        return _json("execution_result", text="that was done")
    _, move = _chosen(plan, messages)
    return _json(move.tool, **move.arguments, output_instructions="all of it")


def _instructed(plan: Plan, messages: Sequence[Message], _: int) -> str:
    move = plan.move(number := _next(messages))
    if move is None:
        return _json("finish", answer=plan.answer)
    return _json("instruct", instruction=f"make move {number}", tool=move.tool, wanted="all of it")


def _executed(plan: Plan, messages: Sequence[Message], _: int) -> str:
    _, move = _chosen(plan, messages)
    return _json(move.tool, **move.arguments)


def _reviewed(_: Plan, messages: Sequence[Message], __: int) -> str:
    if "Error" in messages[-1].content:
        return _json("send_back", feedback="make another move", to="grounding")
    return _json("accept")


def _searched(plan: Plan, messages: Sequence[Message], _: int) -> str:
    said = any(message.role == "assistant" for message in messages)
    tools = sorted({move.tool for move in plan.moves})
    call = (
        {"function": "finish_search"}
        if said
        else {"function": "add_API_into_API_pool", "apis": tools}
    )
    return json.dumps({"thought": "", "call": call})


def _always(text: str) -> Play:
    return lambda *_: text


ROLES: Mapping[str, Play] = {
    "You answer a task by writing one Python program": _program,
    "You answer a task by a Python program that grows": _piece,
    "You solve a task by acting on real services with Python": _block,
    "You solve a task by calling functions": _turn,
    "You plan how a request": _planned,
    "You pick the API": _selected,
    "You carry out one step": _called,
    "You write a few lines of Python that get": _always(fenced("print('read')")),
    "An API was called as": _always("read"),
    "You guide the work": _instructed,
    "You carry out an instruction": _executed,
    "You review the work": _reviewed,
    "You read": _always("observed"),
    "Judge whether the request": _always(json.dumps({"reason": "", "verdict": "Solvable"})),
    "Judge whether the answer": _always(json.dumps({"reason": "", "verdict": "Solved"})),
    SEARCH: _always("notes"),
    "You search": _searched,
}
"""By what stands in the first message of a prompt."""


@dataclass
class Player:
    """A model that plays a plan. `down` are the numbers of requests that end in an outage; `reply` replaces all."""

    plan: Plan = READS
    down: frozenset[int] = frozenset()
    reply: str | None = None
    prompts: list[list[Message]] = field(default_factory=list)

    name = "player"
    prompt_tokens = 4000
    powers = Powers()

    def __call__(self, messages: Sequence[Message], *, seed: int = 0, **_: Any) -> Completion:
        self.prompts.append(list(messages))
        if len(self.prompts) - 1 in self.down:
            raise ModelUnavailable("the model is down")
        text = self.reply if self.reply is not None else self._played(messages, seed)
        return Completion(
            text=text, model=self.name, input_tokens=50, output_tokens=len(text.split())
        )

    def _played(self, messages: Sequence[Message], seed: int) -> str:
        play = next((play for part, play in ROLES.items() if part in messages[0].content), None)
        assert play is not None, f"nobody plays this role: {messages[0].content[:200]}"
        return play(self.plan, messages, seed)


class Searching(Agent):
    """An agent whose search for tools asks the model twice, and finds what the toolbox begins with."""

    def finder(self, ask: Ask) -> Retriever:
        return _Search(ask, list(self.toolbox))


@dataclass(frozen=True)
class _Search:
    ask: Ask
    names: Sequence[str]

    def search(self, query: str, *, k: int) -> Retrieval:
        for number in range(2):
            self.ask([Message("user", f"{SEARCH} {number}: {query}")])
        return Retrieval(hits=tuple(Hit(name, 1.0) for name in self.names[:k]))


@dataclass
class Stage:
    """Runs strategies by name over one world."""

    sandbox: Sandbox
    world: World = field(default_factory=World)

    def agent(
        self,
        strategy: str,
        model: Any,
        *,
        store: Store | None = None,
        kind: type[Agent] = Agent,
        **settings: Any,
    ) -> Agent:
        config = Config(**{"samples": 1, "decoding": "off", "strategy": strategy, **settings})
        return kind(
            self.world.toolbox, model=model, sandbox=self.sandbox, config=config, store=store
        )
