"""RestGPT's executor: a caller that writes the call with its arguments, and the parser that reads what came of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from atc.decode.call import write_call
from atc.decode.schema import BOUNDS
from atc.strategies.restgpt_parts.parser import Wanted, read_response
from atc.strategies.restgpt_parts.prompts import fill
from atc.strategies.turns.acting import Acting
from atc.strategies.turns.asking import held
from atc.strategies.turns.conversation import Turn, Turns, room_for_turns
from protocols.ask import Message
from protocols.protocol import ToolProtocol
from protocols.render import described_within
from protocols.toolbox import Tool, Toolbox
from sandbox.trace import ToolCall

MOST_TURNS = 15
"""Replies of the caller for one plan, as in the paper's published code."""
NOTHING = "(nothing)"
"""What a conversation holds in the place of an empty reply: some endpoints refuse one."""
INSTRUCTIONS = "output_instructions"
_WANTED = {
    "type": "string",
    "minLength": 1,
    "description": "What to read from the response, in words; not sent.",
}


_WRITE = partial(write_call, bounds=replace(BOUNDS, characters=1_000))
"""The caller's last word is all that the planner learns: it may be longer than arguments are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Executed:
    """What came of a plan, in words; or that a person must decide first."""

    result: str = ""
    paused: bool = False


@dataclass(frozen=True, slots=True)
class _Given:
    """What the caller may write: the chosen tools, each with the instructions to the parser, and its last word.

    `instructions` names that argument by tool.
    """

    tools: Toolbox
    last_word: str
    instructions: dict[str, str]


def execute(apis: Sequence[str], plan: str, background: str, acting: Acting) -> Executed:
    """Have the caller carry out a plan with these tools, until it says what came of it."""
    parts, meter = acting.parts, acting.meter
    chosen = parts.toolbox.only(apis)
    given = _given(chosen)
    turns = Turns(_opening(given, chosen, plan, background, acting), room_for_turns(parts.prompt_tokens))
    told = ""
    for _ in range(MOST_TURNS):
        written = held(_WRITE, turns.messages(), given.tools, config=parts.config, meter=meter)
        said = written.text.strip() or NOTHING
        if written.call.error is not None:
            told = fill("call_error", error=written.call.error.message)
            turns.add(Turn(said=said, told=told))
            continue
        tool, arguments = written.call.tool, dict(written.call.arguments)
        if tool == given.last_word:
            return Executed(result=str(arguments["text"]))
        instructions = str(arguments.pop(given.instructions[tool]))
        seen = acting.act(tool, arguments)
        if seen.paused:
            return Executed(paused=True)
        response = seen.text
        if not seen.failed:
            made = ToolCall(index=0, tool=tool, arguments=arguments, line=1)
            wanted = Wanted(call=made, about=plan, instructions=instructions)
            response = read_response(seen.value, wanted, parts, meter)
        told = fill("call_response", response=response)
        turns.add(Turn(said=said, told=told, tool=tool, arguments=arguments))
    return Executed(result=f"the plan was not carried out in {MOST_TURNS} calls. {told}")


def _given(chosen: Toolbox) -> _Given:
    asking = chosen.map(_asking)
    both = asking.also([_last_word()])
    added = {alias: list(tool.arguments)[-1] for alias, tool in asking.items()}
    return _Given(both, list(both)[-1], added)


def _asking(tool: Tool) -> Tool:
    """The tool as the caller sees it: with the instructions to the parser last, and without what it returns."""
    schema, name = dict(tool.protocol.input_schema), INSTRUCTIONS
    while name in tool.protocol.parameters:
        name += "_"
    schema["properties"] = {**tool.protocol.parameters, name: _WANTED}
    schema["required"] = [*schema.get("required", ()), name]
    return replace(tool, protocol=replace(tool.protocol, input_schema=schema, output_schema=None))


def _last_word() -> Tool:
    text = {"type": "string", "minLength": 1}
    schema = {"type": "object", "properties": {"text": text}, "required": ["text"]}
    return Tool(
        ToolProtocol(name="execution_result", description="Say what came of the plan.", input_schema=schema),
        call=lambda _: None,
    )


def _opening(given: _Given, chosen: Toolbox, plan: str, background: str, acting: Acting) -> list[Message]:
    parts = acting.parts
    shown = given.tools.only(chosen)
    functions, _ = described_within(shown, budget=parts.prompt_tokens // 2, docs=parts.config.docs)
    system = fill("call", instructions=INSTRUCTIONS, result=given.last_word)
    return [
        Message("system", system),
        Message("user", fill("call_task", functions=functions, background=background, plan=plan)),
    ]
