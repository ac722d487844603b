"""RestGPT: coarse-to-fine planning with a planner and an executor (Song et al., 2023).

A planner that sees no API says in words what to do next. An API selector picks the API for it, a
caller writes the call, and a parser reads the response. The parser lets the model write a few lines
of Python for the response's schema, and runs them on the response. If they print nothing, or no
schema is known, the model gets a sample of the response and reads it itself. The result goes back
to the planner, which continues the step (`Continue`), plans the next one, or gives the final
answer.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from atc.core.messages import format_tool_call
from atc.core.prompts import fill
from atc.core.types import Solution
from atc.models.decode.bound_schema import BOUNDS
from atc.models.decode.parse import ReadCall
from atc.models.decode.write_call import write_call
from atc.pipeline.repair.responses import escape_fences
from atc.run.conversation import Turn, Turns, build_messages, first_paragraph, shorten_texts
from atc.run.single_calls import SingleCallRun, reply_tool
from atc.run.strategy_run import Parts
from protocols.model import Message
from protocols.render import WITH_RESPONSES, describe_within_budget, token_estimate
from protocols.schema import Json
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from protocols.truncate import abridge_value, clip_text
from sandbox.trace import ToolCall

MOST_STEPS = 15
"""Maximum number of steps in a run, including those that continue a step."""
MOST_TURNS = 15
"""Maximum number of replies of the caller for one plan, as in the paper's published code."""
_MOST_CHOICES = 3
"""Maximum number of replies of the selector for one step."""
_MOST_APIS = 3
_PLAN_TOKENS = _PARSE_TOKENS = 500
_LONGEST_SUMMARY = 160
_SCHEMA_TOKENS = 2_500
_SNIPPET = 1_800
_SAMPLE = 6_000
LONGEST_RESULT = 1_800
"""Maximum length of the parser's result, in characters.

Before it, `_SNIPPET` limits the sample in the second prompt for code, and `_SAMPLE` the sample that
the model reads itself. The paper's published code has 500 tokens for `_SNIPPET`, 2,000 for
`_SAMPLE` and 500 for the result.
"""
INSTRUCTIONS = "output_instructions"
_TEXT = {"type": "string", "minLength": 1}
_WANTED = {**_TEXT, "description": "What to read from the response, in words; not sent."}
_CUT = re.compile(r"^[ \t*]*API response\s*:", re.IGNORECASE | re.MULTILINE)
_STEP = re.compile(r"^[ \t*]*Plan step \d+\s*:[\s*]*", re.IGNORECASE | re.MULTILINE)
_FINAL = re.compile(
    r"^[ \t*#]*Final answer[*_]*\s*:[*_]*\s*(?P<answer>\S.*)",
    re.IGNORECASE | re.MULTILINE | re.DOTALL,
)
_WRITE = partial(write_call, bounds=replace(BOUNDS, characters=1_000))
"""`write_call` for longer strings, because the planner learns only the caller's final text."""


def solve(task: str, parts: Parts) -> Solution:
    """Plan, select, call and parse, step by step, until the planner gives the answer.

    The run also ends when the budget is used up.
    """
    return _RestGPT(task, parts).solve()


class _RestGPT(SingleCallRun):
    """One run of RestGPT.

    `planning` is the planner's conversation, `results` are the results of the steps in words.
    """

    def __init__(self, task: str, parts: Parts) -> None:
        super().__init__(task, parts)
        self.planning = Turns(
            build_messages(fill("restgpt_plan"), fill("restgpt_plan_task", task=self.prompt_task)),
            self.room,
        )
        self.results: list[str] = []

    def act(self) -> None:
        """Plan and carry out steps until there is an answer."""
        for step in range(1, MOST_STEPS + 1):
            messages = self.planning.messages(
                fill("restgpt_plan_next", step=str(step)) if step > 1 else ""
            )
            plan, answer = read_plan(self.ask_text(messages, "plan", _PLAN_TOKENS))
            if answer is not None:
                self.answer = self.finish(answer).answer
                return
            done = self._fulfil(plan)
            if done is None:
                return
            self.results.append(done)
            said = f"Plan step {step}: {plan}"
            self.planning.taken.append(
                Turn(reply_text=said, feedback=fill("restgpt_plan_result", result=done))
            )
        self.limit = f"{MOST_STEPS} steps"

    def _fulfil(self, plan: str) -> str | None:
        """Carry out a step of the plan. Return its result in words.

        Return None if a person must decide about a call first.
        """
        if not plan:
            return fill("restgpt_plan_none")
        background = "\n".join(shorten_texts(self.results, room=self.room // 2)) or "No background"
        call = self._select(plan, background)
        if call.error is not None:
            return f"nothing was called: {call.error.message}"
        if call.tool == "no_call":
            return str(call.arguments["result"])
        return self._execute_choice(call.arguments, background)

    def _select(self, plan: str, background: str) -> ReadCall:
        """Return the API selector's reply: the APIs that it chose for a step of the plan.

        If the reply names no existing API, the selector is asked again, as in the paper's published
        code.
        """
        apis = "\n".join(self.tools)
        if self.parts.docs != "names":
            summaries = "\n".join(
                f"- {alias}: {_summary(tool)}" for alias, tool in self.tools.items()
            )
            apis = summaries if token_estimate(summaries) <= self.parts.prompt_tokens else apis
        task = fill("restgpt_select_task", background=background, step=plan)
        selecting = Turns(build_messages(fill("restgpt_select", apis=apis), task), self.room)
        names = {
            "type": "array",
            "items": {"enum": list(self.tools)},
            "minItems": 1,
            "maxItems": _MOST_APIS,
        }
        offer = Toolbox(
            [reply_tool("call_apis", apis=names, plan=_TEXT), reply_tool("no_call", result=_TEXT)]
        )
        for _ in range(_MOST_CHOICES):
            written = self.constrained_call(
                write_call, selecting.messages(), offer, purpose="select"
            )
            call = written.call
            said = written.text.strip() or "(nothing)"
            if call.error is None:
                break
            selecting.taken.append(
                Turn(
                    reply_text=said, feedback=fill("restgpt_select_error", error=call.error.message)
                )
            )
        return call

    def _execute_choice(self, choice: Mapping[str, Json], background: str) -> str | None:
        """Let the caller carry out a plan with the chosen APIs.

        Return the caller's summary, or None if a person must decide first.
        """
        parts = self.parts
        plan = str(choice["plan"])
        apis = choice["apis"]
        assert isinstance(apis, list)  # guaranteed by the call's schema
        chosen = parts.toolbox.only(dict.fromkeys(map(str, apis)))
        asking = chosen.map(_add_parser_instructions)
        offer = asking.also(
            [reply_tool("execution_result", "Say what came of the plan.", text=_TEXT)]
        )
        last_word = list(offer)[-1]
        functions = self.describe_tools(offer.only(chosen), share=2)
        task = fill("restgpt_call_task", functions=functions, background=background, plan=plan)
        system = fill("restgpt_call", instructions=INSTRUCTIONS, result=last_word)
        turns = Turns(build_messages(system, task), self.room)
        for _ in range(MOST_TURNS):
            written = self.constrained_call(_WRITE, turns.messages(), offer)
            tool = written.call.tool
            arguments = dict(written.call.arguments)
            said = written.text.strip() or "(nothing)"
            if written.call.error is not None:
                told = fill("restgpt_call_error", error=written.call.error.message)
                turns.taken.append(Turn(reply_text=said, feedback=told))
                continue
            if tool == last_word:
                return str(arguments["text"])
            wanted = str(arguments.pop(list(asking[tool].arguments)[-1]))
            seen = self.call(tool, arguments)
            if seen.paused:
                return None
            made = ToolCall(index=0, tool=tool, arguments=arguments, line=1)
            response = (
                seen.text if seen.failed else self._parse_response(seen.value, made, plan, wanted)
            )
            told = fill("restgpt_call_response", response=response)
            turns.taken.append(Turn(reply_text=said, feedback=told))
        return f"the plan was not carried out in {MOST_TURNS} calls. {turns.last.feedback}"

    def _parse_response(self, value: Json, call: ToolCall, about: str, wanted: str) -> str:
        """Return the `wanted` information from the response of a call, in words.

        `about` is the plan for which the call was made.
        """
        parts = self.parts
        tool = parts.toolbox[call.tool]
        made = format_tool_call(call)
        code: list[list[Message]] = []
        if parts.docs in WITH_RESPONSES and tool.protocol.output_schema:
            budget = min(_SCHEMA_TOKENS, parts.prompt_tokens)
            function = describe_within_budget(parts.toolbox.only([tool.alias]), budget=budget)[0]
            snippet = fill(
                "restgpt_parse_sample", data=escape_fences(abridge_value(value, most=_SNIPPET))
            )
            about_call = {"function": function, "call": made, "about": about, "wanted": wanted}
            code = [
                [Message("user", fill("restgpt_parse_code", sample=sample, **about_call))]
                for sample in ("", f"\n\n{snippet}")
            ]
        shown = abridge_value(value, most=min(_SAMPLE, 3 * parts.prompt_tokens))
        reading = [
            Message(
                "user",
                fill("restgpt_parse_read", call=made, about=about, data=shown, wanted=wanted),
            )
        ]
        return self.read_response(
            value, code, reading, purpose="parse", tokens=_PARSE_TOKENS, most=LONGEST_RESULT
        )


def read_plan(text: str) -> tuple[str, str | None]:
    """Return the first step in a reply, and the final answer if the reply contains one.

    The reply is cut where the model begins to invent an API response.
    """
    text = text[: found.start()] if (found := _CUT.search(text)) else text
    text = text[: steps[1].start()] if len(steps := list(_STEP.finditer(text))) > 1 else text
    text = _STEP.sub("", text).strip()
    final = _FINAL.search(text)
    return text, first_paragraph(final["answer"]) if final is not None else None


def _summary(tool: Tool) -> str:
    """Return the first sentence of a tool's description, as the paper's selector gets it."""
    said = " ".join((tool.protocol.description or tool.protocol.title or "").split())
    return clip_text(re.split(r"(?<=[.;!?])\s", said)[0], _LONGEST_SUMMARY)


def _add_parser_instructions(tool: Tool) -> Tool:
    """Return the tool in the form in which it is described to the caller agent.

    It has one more argument at the end, for the instructions to the parser, and no response schema.
    """
    schema = dict(tool.protocol.input_schema)
    name = INSTRUCTIONS
    while name in tool.protocol.parameters:
        name += "_"
    schema["properties"] = {**tool.protocol.parameters, name: _WANTED}
    schema["required"] = [*schema.get("required", ()), name]
    return replace(tool, protocol=replace(tool.protocol, input_schema=schema, output_schema=None))
