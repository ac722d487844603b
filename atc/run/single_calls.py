"""Base class for strategies that call one tool at a time.

ReAct, DFSDT, RestGPT, ConAgents and AnyTool's solver use it. Each call is appended to the earlier
ones, and all of them are executed again as one program. The run's journal, which records all
calls, returns the responses of the earlier ones, so only the new call is sent. In this way single
calls are validated, ask for consent, and are stored, resumed and replayed like the calls of any
program, and the final solution is a program, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from atc.core.program import Program
from atc.core.prompts import fill
from atc.core.replies import program_in_reply
from atc.core.types import Attempt
from atc.models.decode.errors import Undecodable
from atc.models.decode.known_ids import IdScope, KnownIds
from atc.models.decode.write_call import Sampling, WrittenCall
from atc.pipeline.response_notes import describe_unread
from atc.pipeline.retrieve.model_replies import an_object
from atc.run.attempt import run_unchecked
from atc.run.conversation import longest_shown, room_for_turns
from atc.run.model_budget import BudgetSpent
from atc.run.strategy_run import Parts, Run
from atc.run.tool_search import MOST_SEARCHES, ToolSearch
from protocols.model import Message
from protocols.protocol import Annotations, ToolProtocol
from protocols.render import describe_within_budget
from protocols.schema import Json, JsonObject
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from protocols.truncate import abridge_output, abridge_value, clip_text
from sandbox.journal import Journal
from sandbox.limits import Limits

_EXTRACT_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """The outcome of a call: `text` for the model, and the whole `value` as a program would get it.

    `failed` is True if the call failed and was therefore not added to the program. `paused` is True
    if a person must decide about the call first; the run then ends.
    """

    text: str
    failed: bool = False
    paused: bool = False
    value: Json = None


class Action(NamedTuple):
    """A call in the program: the alias of a tool, and its arguments keyed by their aliases."""

    tool: str
    arguments: Mapping[str, Json]


class SingleCallRun(Run):
    """A run that calls one tool at a time.

    `standing` are the calls of its current program; `attempts` contain every call ever made. A
    strategy may remove a call from the program. If that call wrote something, the write is not
    undone, but the solution reports it.
    """

    def __init__(self, task: str, parts: Parts, *, tools: Toolbox | None = None) -> None:
        super().__init__(task, parts, tools=tools)
        self.standing: tuple[Action, ...] = ()
        self.room = room_for_turns(parts.prompt_tokens)
        """Number of tokens for the conversation's turns, in addition to the tool descriptions."""
        self.tried = 0
        """Number of tries that ended without an answer.

        If it is not 0, sampling is not greedy, so that the model tries something else.
        """
        self.waits = ""
        """The tool whose last call was refused for lack of an id that is not known yet, or ""."""

    @property
    def calls_made(self) -> int:
        """Number of calls that reached a tool, over all attempts.

        Repeated calls, whose responses were taken from the journal, do not count; nor do calls that
        were refused before they were sent.
        """
        calls = (call for attempt in self.attempts for call in attempt.calls)
        return sum(not call.reused and call.outcome != "not_run" for call in calls)

    def scope(self, tools: Toolbox) -> IdScope:
        """Return an object that knows which ids the next call of these tools may contain.

        These are the ids that occur in the task or in the result of an earlier call.
        """
        calls = self.attempts[-1].calls if self.attempts and self.standing else ()
        results = [
            (call.tool, self.parts.toolbox[call.tool].unwrap(call.result))
            for call in calls
            if call.outcome == "done"
        ]
        return KnownIds(tools, self.prompt_task).after(results)

    def call(self, tool: str, arguments: Mapping[str, Json]) -> Observation:
        """Call a tool with arguments keyed by alias, and return the observation.

        If the call succeeds, it is added to the program. If it fails, it is not added, and the
        observation describes the error.

        Raises:
            BudgetSpent: the run has made the maximum number of calls.
        """
        most = longest_shown(self.parts.prompt_tokens)
        if self.calls_made >= (allowed := self.parts.config.max_calls):
            raise BudgetSpent(f"max_calls = {allowed}")
        before = len(self.standing)
        actions = (*self.standing, Action(tool, arguments))
        result = self._execute(actions, self._source(actions), look=True)
        said = result.fault.message if result.fault is not None else "no call was made"
        if result.paused:
            return Observation(text=said, failed=True, paused=True)
        # A limit of the sandbox stopped the program before the call.
        if len(result.calls) <= before:
            return Observation(text=clip_text(f"Error: {said}", most), failed=True)
        call = result.calls[before]
        if call.error is not None:
            status = f" (HTTP {call.status})" if call.status is not None else ""
            return Observation(text=clip_text(f"Error{status}: {call.error}", most), failed=True)
        self.standing = actions
        value = self.parts.toolbox[tool].unwrap(call.result)
        text = abridge_value(value, most=most)
        if more := describe_unread(self.parts.toolbox[tool], call):
            text = f"{text}\n{more}"
        return Observation(text=text, value=value)

    def finish(self, text: str) -> Attempt:
        """Execute all successful calls as one program that ends by printing the answer `text`.

        This program is the solution of the task.
        """
        return self._execute(
            self.standing, f"{self._source(self.standing)}print({text!r})\n", look=False
        )

    def constrained_call(
        self,
        write: Callable[..., WrittenCall],
        messages: Sequence[Message],
        tools: Toolbox,
        *,
        purpose: str = "act",
        within: Toolbox | None = None,
    ) -> WrittenCall:
        """Ask the model for one call of one of `tools`.

        The model's reply is constrained to valid calls unless the setting `decoding` is "off".
        `write` is the function `write_call`, possibly with some arguments set. `within` are
        versions of the tools that allow fewer values; if not None, the grammar is built from them.
        If a tool's schema is too complex for a grammar, the call is written without constraints,
        and the solution has a note about this.

        Raises:
            BudgetSpent: no time or tokens are left.
            ModelUnavailable: the model gave no reply.
        """
        config = self.parts.config
        ask = self.meter.asker(purpose)
        warmth = config.temperature if self.tried else 0.0
        sampling = Sampling(temperature=warmth, again=config.temperature, seed=10 * self.tried)
        decoding: Literal["off", "calls"] = "off" if config.decoding == "off" else "calls"
        try:
            return write(ask, messages, tools, decoding=decoding, sampling=sampling, within=within)
        except Undecodable as error:
            self.meter.note(f"decoding: {error}; calls are written freely.")
            return write(ask, messages, tools, decoding="off", sampling=sampling, within=None)

    def ask_text(self, messages: Sequence[Message], purpose: str, most: int) -> str:
        """Ask the model for free text of at most `most` tokens."""
        return self.meter.complete(
            messages, purpose=purpose, temperature=0.0, seed=0, max_tokens=most
        ).text

    def describe_tools(self, tools: Toolbox, *, share: int = 1) -> str:
        """Return a description of the tools for a prompt.

        Its maximum length is the number of tokens that a prompt may use for tool descriptions,
        divided by `share`.
        """
        return describe_within_budget(
            tools, budget=self.parts.prompt_tokens // share, docs=self.parts.docs
        )[0]

    def read_response(
        self,
        value: Json,
        code: Iterable[Sequence[Message]],
        reading: Sequence[Message],
        *,
        purpose: str,
        tokens: int,
        most: int,
    ) -> str:
        """Return the wanted information from a response `value`, in at most `most` characters.

        Each prompt in `code` asks the model for a program that reads the response. The output of
        the first program that works is returned. If none works, the model answers the prompt
        `reading`, which contains the response, instead. A reply of the model has at most `tokens`
        tokens.
        """
        for messages in code:
            program = program_in_reply(self.ask_text(messages, purpose, tokens))
            found = self.extract_text(program, value) if program is not None else None
            if found is not None:
                return abridge_output(found, most=most)
        return abridge_output(self.ask_text(reading, purpose, tokens).strip(), most=most)

    def extract_text(self, program: Program, data: Json) -> str | None:
        """Execute a program that reads the variable `data`. Return what it prints.

        Return None if the program failed or printed nothing. It runs in the sandbox with `data` and
        nothing else: it can call no tool of the run, and is neither an attempt nor recorded with
        the run's calls. Its time limit is 20 seconds, or the rest of the run's time if that is
        less.

        Raises:
            SandboxUnavailable: the sandbox failed; this says nothing about the program.
        """
        left = self.meter.seconds_left
        seconds = _EXTRACT_SECONDS if left is None else max(1.0, min(_EXTRACT_SECONDS, left))
        limits = Limits(tool_calls=1, wall_seconds=seconds)
        # The program gets the response by a call, so that no text of it appears in the program's
        # source.
        reads = Annotations(read_only=True)
        nothing = {"type": "object"}
        protocol = ToolProtocol(
            name="response", description="The response.", input_schema=nothing, annotations=reads
        )
        given = Toolbox([Tool(protocol, call=lambda _: data)])
        source = f"data = response()\n{program.source}"
        trace = self.parts.sandbox.run(
            source, given, limits=limits, journal=Journal(pins=self.parts.journal.pins)
        )
        return None if trace.failure is not None else trace.stdout.strip() or None

    def _source(self, actions: Iterable[Action]) -> str:
        """Return the source of a program that makes these calls."""
        lines = []
        for number, action in enumerate(actions, start=1):
            given = ", ".join(f"{name}={value!r}" for name, value in action.arguments.items())
            lines.append(f"result_{number} = {action.tool}({given})\n")
        return "".join(lines)

    def _execute(self, actions: Iterable[Action], source: str, *, look: bool) -> Attempt:
        tools = self.parts.toolbox.only(dict.fromkeys(action.tool for action in actions))
        return run_unchecked(self, Program(source), tools, look=look)


_TEXT: JsonObject = {"type": "string"}
_TEXTS: JsonObject = {"type": "array", "items": _TEXT}
# Any JSON. Stating `items` allows lists within a list in grammars, too.
_ANSWER: JsonObject = {
    "type": ["string", "number", "boolean", "null", "array", "object"],
    "items": {},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Offer:
    """The tools that the model may call in one turn, including pseudo tools.

    By calling a pseudo tool, the model ends the task, goes back to an earlier turn, gives up or
    searches for tools. `ends` maps `finish`, `back`, `give_up` and `search` to the aliases of the
    pseudo tools that are offered.
    """

    initial_tools: Toolbox
    ends: Mapping[str, str]
    searching: ToolSearch | None = None

    @property
    def tools(self) -> Toolbox:
        """The tools that can be called now, including those found by searches."""
        found = self.searching.known_tools.values() if self.searching is not None else ()
        return self.initial_tools.also(
            tool for tool in found if tool.alias not in self.initial_tools
        )

    @property
    def ending_rules(self) -> str:
        """The part of the prompt that explains when to call each of the pseudo tools."""
        rules = [
            fill(f"act_{end}", **{end: alias})
            for end, alias in self.ends.items()
            if end != "search"
        ]
        if self.searching is not None:
            shown = str(len(self.searching.shown))
            everything = f"{len(self.searching.toolbox):,}"
            search = self.ends["search"]
            most = str(MOST_SEARCHES)
            rules.append(fill("act_search", search=search, shown=shown, all=everything, most=most))
        return "\n".join(rules)


def offer_tools(
    tools: Toolbox,
    *,
    back: bool = False,
    give_up: bool = False,
    searching: ToolSearch | None = None,
) -> Offer:
    """Return `tools` together with pseudo tools, such as one with which the model ends the task.

    `tools` keep their aliases. There is always a pseudo tool to finish with an answer. There are
    others to go back to an earlier turn if `back` is True, to give up if `give_up` is True, and to
    search for tools if `searching` is not None.
    """
    ends = {"finish": finish_tool()}
    if back:
        ends["back"] = reply_tool(
            "go_back", "Leave this way and try another from an earlier step.", reason=_TEXT
        )
    if give_up:
        ends["give_up"] = reply_tool(
            "give_up", "End without an answer.", reason=_TEXT, functions=_TEXTS
        )
    if searching is not None:
        searches: JsonObject = {**_TEXTS, "minItems": 1, "maxItems": 6}
        ends["search"] = reply_tool(
            "search_tools", "Find functions that are not shown.", searches=searches
        )
    offer = tools.also(ends.values())
    return Offer(
        initial_tools=offer,
        searching=searching,
        ends=dict(zip(ends, list(offer)[len(tools) :], strict=True)),
    )


def finish_tool() -> Tool:
    """Return the pseudo tool `finish(answer)`, which ends the task."""
    return reply_tool("finish", "End with the answer to the task.", answer=_ANSWER)


def answer_text(arguments: Mapping[str, Json]) -> str:
    """Return the answer in a call of `finish` as a program would print it; "" if it is blank."""
    answer = arguments["answer"]
    return answer.strip() if isinstance(answer, str) else repr(answer)


def reply_tool(name: str, description: str = "", /, **properties: JsonObject) -> Tool:
    """Return a pseudo tool that the model "calls" in order to reply; atc never invokes it."""
    return Tool(
        ToolProtocol(name=name, description=description, input_schema=an_object(properties)),
        call=dict,
    )
