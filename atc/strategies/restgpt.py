"""RestGPT: coarse-to-fine planning, step by step, and an executor (Song et al., 2023).

A planner that sees no API says in words what is to be done next; an API selector picks the API for it; a caller writes
the call, and a parser reads the response by its schema. What came of it goes back to the planner, which goes on with
the step (`Continue`), plans the next one, or gives the final answer.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from atc.decode.call import write_call
from atc.meter import BudgetSpent, Meter
from atc.strategies.base import Parts
from atc.strategies.chain import retrieve
from atc.strategies.programs.conclusion import conclusion
from atc.strategies.restgpt_parts.executor import NOTHING, Executed, execute
from atc.strategies.restgpt_parts.prompts import fill
from atc.strategies.turns.acting import Acting
from atc.strategies.turns.asking import held
from atc.strategies.turns.conversation import Turn, Turns, briefer, first_paragraph, room_for_turns
from atc.types import Solution
from protocols.abridge import clipped
from protocols.ask import Message
from protocols.protocol import ToolProtocol
from protocols.render import names_only, token_estimate
from protocols.toolbox import Tool, Toolbox

MOST_STEPS = 15
"""Steps of a run, those that continue one included."""
_MOST_CHOICES = 3
"""Replies of the selector for one step."""
_MOST_APIS = 3
_PLAN_TOKENS = 300
_LONGEST_SUMMARY = 160
_NO_BACKGROUND = "No background"
_CUT = re.compile(r"^[ \t*]*API response\s*:", re.IGNORECASE | re.MULTILINE)
_STEP = re.compile(r"^[ \t*]*Plan step \d+\s*:[\s*]*", re.IGNORECASE | re.MULTILINE)
_FINAL = re.compile(r"^[ \t*#]*Final answer[*_]*\s*:[*_]*\s*(?P<answer>\S.*)", re.IGNORECASE | re.MULTILINE | re.DOTALL)
_CONTINUE = re.compile(r"\W*continue\b", re.IGNORECASE)


def solve(task: str, parts: Parts) -> Solution:
    """Plan, select, call and parse, step after step, until the planner gives the answer or the budget is spent."""
    meter = parts.meter()
    return _RestGPT.begun(task, parts, retrieve(task, parts, meter), meter).solve()


@dataclass(frozen=True, slots=True)
class Plan:
    """What the planner wrote: the next step in words, or the answer."""

    text: str
    answer: str | None = None

    @property
    def continues(self) -> bool:
        """Whether it goes on with the step before."""
        return _CONTINUE.match(self.text) is not None


@dataclass(frozen=True, slots=True)
class _Choice:
    """What the selector wrote for a step: tools and what to call them for, or a result that needs no call."""

    said: str
    apis: tuple[str, ...] = ()
    plan: str = ""
    result: str = ""


@dataclass
class _RestGPT:
    """One run. `planning` is the planner's conversation, `selecting` the selector's about the step that is under way.

    `results` are what came of the steps, `chosen` what the selector said last, and what came of that.
    """

    task: str
    parts: Parts
    tools: Toolbox
    meter: Meter
    acting: Acting
    planning: Turns
    selecting: Turns
    results: list[str] = field(default_factory=list)
    chosen: tuple[str, str] | None = None

    @classmethod
    def begun(cls, task: str, parts: Parts, tools: Toolbox, meter: Meter) -> _RestGPT:
        """A run that has planned nothing yet."""
        room = room_for_turns(parts.prompt_tokens)
        opening = [Message("system", fill("plan")), Message("user", fill("plan_task", task=task))]
        return cls(task, parts, tools, meter, Acting(parts, meter), Turns(opening, room), Turns([], room))

    def solve(self) -> Solution:
        """Step after step."""
        answer: str | None = None
        limit: str | None = f"{MOST_STEPS} steps"
        try:
            for step in range(1, MOST_STEPS + 1):
                plan = self._plan(step)
                if plan.answer is not None:
                    answer, limit = self.acting.answer(plan.answer).answer, None
                    break
                done = self._fulfilled(plan)
                if done.paused:
                    limit = None
                    break
                self.results.append(done.result)
                told = fill("plan_result", result=done.result)
                self.planning.add(Turn(said=f"Plan step {step}: {plan.text}", told=told))
        except BudgetSpent as spent:
            limit = spent.limit
        attempts = self.acting.attempts
        return conclusion(self.task, attempts, self.tools, self.parts, self.meter, answer=answer, limit=limit)

    def _plan(self, step: int) -> Plan:
        messages = self.planning.messages(fill("plan_next", step=str(step)) if step > 1 else "")
        reply = self.meter.complete(messages, purpose="plan", temperature=0.0, seed=0, max_tokens=_PLAN_TOKENS)
        return read_plan(reply.text)

    def _fulfilled(self, plan: Plan) -> Executed:
        """What came of a step."""
        if not plan.text:
            return Executed(result=fill("plan_none"))
        background = self._background()
        choice = self._select(plan, background)
        done = Executed(result=choice.result)
        if choice.apis:
            done = execute(choice.apis, choice.plan, background, self.acting)
        self.chosen = (choice.said, done.result)
        return done

    def _background(self) -> str:
        """What came of the steps so far, the earliest in brief where room is short."""
        room = self.planning.room // 2
        return "\n".join(briefer(self.results, beside=0, room=room)) or _NO_BACKGROUND

    def _select(self, plan: Plan, background: str) -> _Choice:
        """The selector's choice; of a step that goes on, in the conversation about that step.

        A reply that names no API that there is, is asked for again, as in the paper's published code.
        """
        if plan.continues and self.chosen is not None:
            said, result = self.chosen
            self.selecting.add(Turn(said=said, told=fill("select_next", result=result, step=plan.text)))
        else:
            opening = selector_opening(plan.text, background, self.tools, self.parts)
            self.selecting = Turns(opening, self.selecting.room)
        offer, wrong = choices(self.tools), ""
        for _ in range(_MOST_CHOICES):
            written = held(
                write_call,
                self.selecting.messages(),
                offer,
                config=self.parts.config,
                meter=self.meter,
                purpose="select",
            )
            call, said = written.call, written.text.strip() or NOTHING
            if call.error is None:
                break
            wrong = call.error.message
            self.selecting.add(Turn(said=said, told=fill("select_error", error=wrong)))
        else:
            return _Choice(said, result=f"nothing was called: {wrong}")
        given = call.arguments
        if call.tool == "no_call":
            return _Choice(said, result=str(given["result"]))
        apis = given["apis"]
        assert isinstance(apis, list)  # the call is valid
        return _Choice(said, apis=tuple(dict.fromkeys(map(str, apis))), plan=str(given["plan"]))


def read_plan(text: str) -> Plan:
    """The first step of a reply, or the answer; a response that the model made up ends it."""
    text = text[: found.start()] if (found := _CUT.search(text)) else text
    text = text[: steps[1].start()] if len(steps := list(_STEP.finditer(text))) > 1 else text
    text = _STEP.sub("", text).strip()
    final = _FINAL.search(text)
    if final is None:
        return Plan(text)
    return Plan(text, first_paragraph(final["answer"]))


def selector_opening(step: str, background: str, tools: Toolbox, parts: Parts) -> list[Message]:
    """The conversation that asks for the API of one step: their names, and what each is for."""
    apis = names_only(tools)
    if parts.config.docs != "names":
        summaries = "\n".join(f"- {alias}: {_summary(tool)}" for alias, tool in tools.items())
        apis = summaries if token_estimate(summaries) <= parts.prompt_tokens else apis
    return [
        Message("system", fill("select", apis=apis)),
        Message("user", fill("select_task", background=background, step=step)),
    ]


def choices(tools: Toolbox) -> Toolbox:
    """What the selector may say, as calls: so a reply can be held to the names that there are."""
    text = {"type": "string", "minLength": 1}
    apis = {"type": "array", "items": {"enum": list(tools)}, "minItems": 1, "maxItems": _MOST_APIS}
    calling = [_saying("call_apis", apis=apis, plan=text)] if tools else []
    return Toolbox([*calling, _saying("no_call", result=text)])


def _saying(name: str, **arguments: Any) -> Tool:
    schema = {"type": "object", "properties": arguments, "required": list(arguments)}
    return Tool(ToolProtocol(name=name, description=name, input_schema=schema), call=lambda _: None)


def _summary(tool: Tool) -> str:
    """The first sentence of a tool's description, as the paper's selector is told it."""
    said = " ".join((tool.protocol.description or tool.protocol.title or "").split())
    return clipped(re.split(r"(?<=[.;!?])\s", said)[0], _LONGEST_SUMMARY)
