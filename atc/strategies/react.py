"""ReAct: a thought, one call and its result, repeated until the model gives its answer.

After Yao et al. (2023), §2. As in ToolLLM, a step has three lines (thought, action, action input),
and long results are shortened. With `tries=3` it is ReAct@3 (a baseline of the ATC paper): up to
three tries, until one ends with an answer.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import TypeAlias

from atc.core.prompts import fill
from atc.core.types import Solution
from atc.models.decode.formats import REACT
from atc.models.decode.parse import ReadCall
from atc.models.decode.write_call import write_call
from atc.pipeline.retrieve.model_replies import texts
from atc.run import conversation
from atc.run.conversation import Turn, Turns
from atc.run.single_calls import Offer, SingleCallRun, answer_text, offer_tools
from atc.run.strategy_run import Parts
from protocols.model import Message
from protocols.render import Docs
from protocols.toolbox import Toolbox
from protocols.truncate import clip_text

MOST_TURNS = 30
"""Maximum number of turns in a run.

The ReAct paper allows 5 to 7, on tasks of two or three calls; ToolFlow's long tasks need many more.
"""
_LONGEST_SAID = 2_000
"""Maximum length, in characters, of a reply of the model that is kept in the conversation."""
NO_ANSWER = "No way that was tried led to an answer."
_WRITE = partial(write_call, form=REACT, thought=True)


def solve(task: str, parts: Parts, *, tries: int = 1) -> Solution:
    """Call tools one at a time until `finish` gives the answer or the budget is used up."""
    return ByTurns(task, parts, chain_of_turns, tries=tries).solve()


TurnSolver: TypeAlias = Callable[..., str | None]
"""A function that takes turns: `chain_of_turns`, or the `search` of DFSDT.

It returns the limit that ended it, or None if the last turn ended it.
"""


class ByTurns(SingleCallRun):
    """A run in which the model calls one tool per turn, in up to `tries` tries.

    Each try calls the function `way`, which takes the turns; it is a `TurnSolver`. Each try starts
    without history, but calls of earlier tries are not sent again: their recorded responses are
    used. If `back` is True, the model may go back to an earlier turn.
    """

    def __init__(
        self, task: str, parts: Parts, way: TurnSolver, *, tries: int, back: bool = False
    ) -> None:
        super().__init__(task, parts)
        self.way = way
        self.tries = tries
        self.offer = offer_tools(self.tools, back=back, searching=self.tool_search)
        budget = parts.prompt_tokens
        docs = parts.docs
        start = build_react_opening(
            self.prompt_task, self.tools, self.offer, budget=budget, docs=docs
        )
        self.turns = Turns(start, self.room)

    def act(self) -> None:
        """Take turns until a try ends with an answer or is paused."""
        for number in range(self.tries):
            self.round = self.tried = number
            self.standing = ()
            self.turns.back_to(0)
            self.limit = self.way(self.turns, self.offer, self)
            last = self.turns.last
            if last.answer is not None:
                self.answer = self.finish(last.answer).answer
            if self.answer is not None or last.end == "paused":
                return
        # If an answer could not be printed, its attempt describes why.
        if self.limit is None and last.answer is None:
            self.not_run(last.reason or NO_ANSWER, kind="no_answer")


def chain_of_turns(
    turns: Turns, offer: Offer, acting: SingleCallRun, *, most: int = MOST_TURNS
) -> str | None:
    """Take turns until the model ends the task, at most `most` turns.

    Return the limit, such as `30 steps`, if it was reached, or None. This function is a
    `TurnSolver`.
    """
    for _ in range(most):
        turns.taken.append(next_turn(turns, offer, acting))
        if turns.last.end is not None:
            return None
    return f"{most} steps"


def next_turn(turns: Turns, offer: Offer, acting: SingleCallRun, *, then: str = "") -> Turn:
    """Ask the model for the next turn and carry it out.

    The text `then` is appended to the last message of the prompt. If the model's call cannot be
    parsed or fails, the feedback in the turn is an error message.

    Raises:
        BudgetSpent: no time, tokens or calls are left.
        ModelUnavailable: the model gave no reply.
    """
    scope = acting.scope(offer.tools)
    written = acting.constrained_call(_WRITE, turns.messages(then), offer.tools, within=scope.tools)
    said = clip_text(written.text.strip(), _LONGEST_SAID) or "(nothing)"
    turn = Turn(reply_text=said)
    if written.call.error is not None:
        return replace(turn, feedback=format_observation(f"Error: {written.call.error.message}"))
    if written.by_grammar and (problem := scope.problem(written.call.tool)):
        acting.waits = written.call.tool
        return replace(turn, feedback=format_observation(f"Error: {problem}"))
    turn = carry_out_call(turn, written.call, offer, acting)
    if (
        acting.waits
        and turn.end is None
        and (reminder := acting.scope(offer.tools).reminder(acting.waits))
    ):
        acting.waits = ""
        return replace(turn, feedback=turn.feedback + reminder)
    return turn


def carry_out_call(turn: Turn, call: ReadCall, offer: Offer, acting: SingleCallRun) -> Turn:
    """Carry out the valid call of a turn.

    Return the turn with an observation as feedback. If the call ends the task, or a person must
    decide about it, the turn has its `end` set.
    """
    turn = replace(turn, tool=call.tool)
    given = call.arguments
    match next((end for end, alias in offer.ends.items() if alias == call.tool), None):
        case "finish":
            answer = answer_text(given)
            ended = replace(turn, end="answer", answer=answer)
            return (
                ended
                if answer
                else replace(turn, feedback=format_observation("Error: the answer is empty."))
            )
        case "back":
            return replace(turn, end="back", reason=str(given["reason"]))
        case "give_up":
            return replace(
                turn,
                end="give_up",
                reason=str(given["reason"]),
                functions=tuple(texts(given["functions"])),
            )
        case "search" if offer.searching is not None:
            return replace(
                turn,
                feedback=format_observation(offer.searching.run_searches(texts(given["searches"]))),
            )
    seen = acting.call(call.tool, given)
    return replace(
        turn, feedback=format_observation(seen.text), end="paused" if seen.paused else None
    )


def format_observation(text: str) -> str:
    """Return the outcome of a call as the model gets it: as text after the word `Observation:`."""
    return f"Observation: {text}"


def build_react_opening(
    task: str, tools: Toolbox, offer: Offer, *, budget: int, docs: Docs = "full"
) -> list[Message]:
    """Build the first messages of a ReAct conversation: the rules, an example and the task.

    Tool descriptions take at most `budget` tokens.
    """
    rules = fill("react", endings=offer.ending_rules)
    example = fill("react_example", finish=offer.ends["finish"])
    return conversation.build_opening(
        rules, example, task, tools, told=format_observation, budget=budget, docs=docs
    )
