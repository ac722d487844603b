"""ConAgents: agents for grounding, execution, review and observing that correct each other.

After Shi et al. (2024), arXiv:2403.03031. In each step, the grounding agent says what to do next
and with which tool, the execution agent writes the call, and the observing agent extracts what was
wanted from the response. Only the extracted text is known in later steps. The review agent reads
each instruction and each call before it takes effect, and each call that failed. If it rejects one,
it names the agent that must write again. This happens a limited number of times per step. It is the
paper's automatic communication. (In the paper's first version, the tools' own messages are used
instead of a review.) `docs/how/strategies.md` says where this differs from the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Literal

from atc.core.prompts import fill
from atc.core.types import Solution
from atc.models.decode.formats import PYTHON_CALL
from atc.models.decode.parse import ReadCall, write_as
from atc.models.decode.write_call import write_call
from atc.run.conversation import Turn, Turns, build_messages, shorten_texts
from atc.run.single_calls import SingleCallRun, answer_text, finish_tool, reply_tool
from atc.run.strategy_run import Parts
from protocols.model import Message
from protocols.schema import Json, shape
from protocols.toolbox import Toolbox
from protocols.truncate import abridge_value, clip_text, sample_value

MOST_STEPS = 30
"""Maximum number of instructions in a run, the same as the number of ReAct's turns.

The published code has 5; ToolFlow's long tasks need many more.
"""
MOST_ROUNDS = 3
"""Maximum number of rewrites in one step, counted over all agents.

It is the number of times that the published code tries a call.
"""
_LONGEST_CALL = 1_000
"""Maximum length, in characters, of a call in a prompt."""
LONGEST_READ = 4_500
"""Maximum length, in characters, of a response that the model reads itself.

It is about the 1,500 tokens of the published code.
"""
_LONGEST_OBSERVED = 1_024
_LONGEST_SHAPE = 2_000
_LONGEST_SAMPLE = 1_000
_LONGEST_REPLY = 500
"""Maximum length of a reply, in tokens, as in the published code."""
_TEXT = {"type": "string", "minLength": 1}

AgentName = Literal["grounding", "execution"]
"""The agents whose work the review agent may send back."""
_PURPOSES: Mapping[AgentName, str] = {"grounding": "ground", "execution": "execute"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """The outcome of an instruction or a call; `feedback` is its text for the agents.

    `again` is the agent that must write its instruction or call again, or None.
    """

    feedback: str
    again: AgentName | None = None
    paused: bool = False
    answer: str | None = None


def solve(task: str, parts: Parts) -> Solution:
    """Work step by step, with review, until the grounding agent gives the answer.

    The run also ends when a budget is used up.
    """
    return _Team(task, parts).solve()


class _Team(SingleCallRun):
    """One run of ConAgents.

    `known` holds the instruction and the observation of each step; the execution and review agents
    know only these. `rounds` is the number of rewrites that are left in this step.
    """

    def __init__(self, task: str, parts: Parts) -> None:
        super().__init__(task, parts)
        self.stubs = self.describe_tools(self.tools)
        asked = fill("task", stubs=self.stubs, task=self.prompt_task)
        self.turns = Turns(build_messages(fill("conagents_ground"), asked), self.room)
        tool = {"type": "string", "enum": list(self.tools)}
        instruct = reply_tool("instruct", instruction=_TEXT, tool=tool, wanted={"type": "string"})
        self.guiding = Toolbox([instruct, finish_tool()])
        self.known: list[str] = []
        self.rounds = 0

    def act(self) -> None:
        """Work step by step. A step begins with an instruction and ends with an observation.

        The conversation of the grounding agent keeps only accepted work.
        """
        for _ in range(MOST_STEPS):
            self.rounds = MOST_ROUNDS
            said, outcome = self._ask_until_accepted(
                "grounding", self.turns.messages(), self.guiding, self._follow_guidance
            )
            self.turns.taken.append(
                Turn(reply_text=said, feedback=fill("conagents_result", result=outcome.feedback))
            )
            if outcome.paused or outcome.answer is not None:
                self.answer = outcome.answer
                return
        self.limit = f"{MOST_STEPS} steps"

    def _ask_until_accepted(
        self,
        agent: AgentName,
        messages: list[Message],
        tools: Toolbox,
        act: Callable[[ReadCall], _Outcome],
    ) -> tuple[str, _Outcome]:
        """Ask an agent for a call, again and again until the call is accepted.

        Asking also ends if another agent must continue. Return the agent's last reply and its
        outcome. The function `act` carries out a call and returns the outcome.
        """
        while True:
            written = self.constrained_call(write_call, messages, tools, purpose=_PURPOSES[agent])
            call = written.call
            said = written.text.strip() or "(nothing)"
            outcome = (
                act(call) if call.error is None else self._send_back(call.error.message, agent)
            )
            if outcome.again != agent:
                return said, outcome
            messages += [
                Message("assistant", said),
                Message("user", fill("conagents_again", feedback=outcome.feedback)),
            ]

    def _follow_guidance(self, call: ReadCall) -> _Outcome:
        """Act on the grounding agent's reply, which is the answer or an instruction.

        An answer ends the run. An instruction is reviewed, and then carried out by the execution
        agent.
        """
        if call.tool != "instruct":
            attempt = self.finish(answer_text(call.arguments))
            if attempt.answer is None and not attempt.paused:
                return self._send_back("The answer is empty.", "grounding")
            return _Outcome(feedback="", answer=attempt.answer, paused=attempt.paused)
        step = {name: str(value) for name, value in call.arguments.items()}
        question = fill(
            "conagents_choice",
            stubs=self.stubs,
            task=self.prompt_task,
            known=self._format_known(),
            **step,
        )
        if refused := self._review(question, ["grounding"]):
            return refused
        chosen = self.tools.only([step["tool"]])
        about = {
            "stubs": self.describe_tools(chosen),
            "known": self._format_known(),
            "instruction": step["instruction"],
        }
        messages = build_messages(fill("conagents_execute"), fill("conagents_instruction", **about))
        return self._ask_until_accepted(
            "execution", messages, chosen, partial(self._call_and_observe, step)
        )[1]

    def _call_and_observe(self, step: Mapping[str, str], call: ReadCall) -> _Outcome:
        """Review a call, make it, and let the observing agent read the response.

        A failed call is reviewed once more.
        """
        tool = self.tools[call.tool]
        told = {
            "stubs": self.describe_tools(self.tools.only([call.tool])),
            "task": self.prompt_task,
            "known": self._format_known(),
            "instruction": step["instruction"],
            "call": clip_text(write_as(tool, call.arguments, PYTHON_CALL), _LONGEST_CALL),
        }
        if refused := self._review(fill("conagents_call", **told), ["execution", "grounding"]):
            return refused
        seen = self.call(call.tool, call.arguments)
        if seen.paused:
            return _Outcome(feedback=seen.text, paused=True)
        if seen.failed:
            question = fill("conagents_failure", **told, error=seen.text)
            return self._review(question, ["execution", "grounding"], accepts=False) or _Outcome(
                feedback=seen.text
            )
        found = self._observe(seen.value, told["call"], step) or seen.text
        self.known.append(f"{step['instruction']}\n{found}")
        return _Outcome(feedback=found)

    def _observe(self, value: Json, call: str, step: Mapping[str, str]) -> str:
        """Ask the observing agent for the wanted information in a response.

        Return the information in words, or "" if the agent finds none. For a long response, the
        agent writes code that reads it; if that fails, the agent reads a sample of the response.
        """

        def asking(prompt: str, response: str) -> list[Message]:
            about = {"instruction": step["instruction"], "wanted": step["wanted"]}
            return build_messages(
                fill(prompt), fill("conagents_response", call=call, response=response, **about)
            )

        code = []
        if len(repr(value)) > LONGEST_READ:
            form = clip_text(shape(value), _LONGEST_SHAPE)
            sample = sample_value(value, most=_LONGEST_SAMPLE)
            code.append(
                asking("conagents_extract", fill("conagents_structure", shape=form, sample=sample))
            )
        reading = asking("conagents_observe", abridge_value(value, most=LONGEST_READ))
        return self.read_response(
            value, code, reading, purpose="observe", tokens=_LONGEST_REPLY, most=_LONGEST_OBSERVED
        )

    def _review(
        self, question: str, to: Sequence[AgentName], *, accepts: bool = True
    ) -> _Outcome | None:
        """Ask the review agent a question. Return an outcome if it rejects the work, else None.

        To reject, the agent chooses one of the agents in `to`, which must then write again. If
        `accepts` is False, it cannot accept and must choose one. A reply that cannot be parsed
        rejects nothing. If no rewrites are left in this step, the review agent is not asked.
        """
        if not self.rounds:
            return None
        send_back = reply_tool("send_back", feedback=_TEXT, to={"type": "string", "enum": list(to)})
        replies = Toolbox([reply_tool("accept"), send_back] if accepts else [send_back])
        call = self.constrained_call(
            write_call,
            build_messages(fill("conagents_review"), question),
            replies,
            purpose="review",
        ).call
        if call.tool != "send_back" or call.error is not None:
            return None
        back = next(agent for agent in to if agent == call.arguments["to"])
        return self._send_back(str(call.arguments["feedback"]), back)

    def _send_back(self, feedback: str, to: AgentName) -> _Outcome:
        """Return an outcome that lets the agent `to` write its instruction or call again.

        If the step has no rewrites left, the grounding agent continues instead. In both cases the
        agent gets the feedback.
        """
        if not self.rounds:
            return _Outcome(feedback=f"Not done. {feedback}")
        self.rounds -= 1
        return _Outcome(feedback=feedback, again=to)

    def _format_known(self) -> str:
        return "\n".join(shorten_texts(self.known, room=self.room)) or "nothing yet"
