"""AnyTool: agents collect tools, a solver uses them, and after a failure the agents search again.

After Du et al. (2024), §4. The tools that the agents have collected are called the pool.

1. *Retriever* (§4.1): agents for category, collection and tool fill the pool
   (`atc.pipeline.retrieve.anytool`).
2. *Solver* (§4.2): DFSDT, or one turn after another (CoT), with the pool's tools and `finish`,
   `go_back` and `give_up`.
3. *Self-reflection* (§4.3): the solver gives up, with a reason and the names of useless functions,
   or a judge rejects its answer. The useless functions are removed from the pool, and their calls
   from the solver's history. Then the agents that have not finished get the reason and search
   again: the tool agents, the category agents and the meta agent, in this order, until the pool
   suffices. The solver continues with the reason, the new pool and the rest of its history.

A run ends with an answer that is not rejected, after the last round, or when the tokens are used
up. The agents, the solver and the judge share one limit of tokens (appendix A.1). If there is no
other answer, a rejected one is returned, with the rejection as a doubt.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from atc.core.events import AttemptEnded, ToolsChosen
from atc.core.messages import format_tool_call
from atc.core.prompts import fill
from atc.core.types import Attempt, Solution
from atc.pipeline.retrieve import anytool
from atc.pipeline.retrieve.document import ToolDocument
from atc.pipeline.retrieve.hierarchy import resolve_name
from atc.pipeline.retrieve.model_replies import a_text, an_object, json_object, one_text
from atc.pipeline.retrieve.search_agents import AnyToolOptions
from atc.run.conversation import Turn, Turns, build_messages
from atc.run.model_budget import BudgetSpent
from atc.run.single_calls import Action, SingleCallRun, offer_tools
from atc.run.strategy_run import Parts
from atc.strategies import dfsdt, react
from protocols.model import Ask
from protocols.render import describe_within_budget
from protocols.toolbox import Toolbox
from protocols.truncate import abridge_value, clip_text
from sandbox.trace import ToolCall

_LONGEST_REASON = 600


@dataclass(frozen=True, kw_only=True)
class Options(AnyToolOptions):
    """Options of AnyTool. The defaults are those of the paper; its ablations use other values."""

    solver: Literal["dfsdt", "cot"] = "dfsdt"
    """Solver with backtracking (`dfsdt`) or without (`cot`), see Table 3 of the paper."""
    rounds: int = field(default=6, metadata={"least": 0})
    """Maximum number of self-reflections. 0 is the ablation without any (Table 3 of the paper)."""
    turns: int = 10
    """Maximum number of turns of the solver in one round (the paper's calls, appendix A.1)."""


def solve(task: str, parts: Parts, *, options: Options | None = None) -> Solution:
    """Solve a task with AnyTool: find tools, try to solve, reflect, and repeat."""
    config = parts.config
    options = options or Options()
    tokens = min(options.tokens, config.max_tokens or options.tokens)
    return _AnyTool(
        task, replace(parts, config=replace(config, max_tokens=tokens)), options
    ).solve()


class _FailedRound(NamedTuple):
    """The reason why a round failed, and the functions that, says the solver, did not help."""

    reason: str
    functions: tuple[str, ...] = ()


class _AnyTool(SingleCallRun):
    """One run of AnyTool.

    `given` has the names of all tools that the solver has had so far, `turns` its conversation with
    them. `best` is its last answer, with the calls that led to it.
    """

    def __init__(self, task: str, parts: Parts, options: Options) -> None:
        super().__init__(task, parts, tools=Toolbox())
        self.options = options
        self.given: tuple[str, ...] = ()
        self.turns: Sequence[Turn] = ()
        self.best: tuple[Attempt, tuple[Action, ...]] | None = None
        threads = options.threads if self.meter.powers.parallel else 1
        limits = replace(options, threads=threads, prompt_tokens=parts.prompt_tokens)
        documents = {alias: ToolDocument.of(tool) for alias, tool in parts.toolbox.items()}
        self.search = anytool.AnyTool(
            documents, self.meter.asker("retrieve"), options=limits
        ).start(task)

    def act(self) -> None:
        """Run rounds until an answer is accepted or another round would change nothing.

        Another round would change nothing if the last one failed like the one before and no agent
        that looks for tools was started again.
        """
        failed: _FailedRound | None = None
        self.search.run()
        for round_ in range(self.options.rounds + 1):
            self.round = round_
            before = failed
            failed = self._round(failed)
            if failed is None:
                return
            if round_ == self.options.rounds or not (self._reflect(failed) or failed != before):
                break
        if failed is not None and self.best is None:
            self.not_run(failed.reason, kind="no_answer")

    def choose_answer(self) -> None:
        """Return to the last rejected answer if the run ended without an accepted one.

        The program that gave this answer becomes the last one of the run.
        """
        if self.answer is not None or self.best is None or self.paused:
            return
        attempt, self.standing = self.best
        if self.attempts[-1] is not attempt:
            self.finish(attempt.answer or "")
            self._replace_doubts(*attempt.doubts)
        self.answer = self.attempts[-1].answer

    def _round(self, failed: _FailedRound | None) -> _FailedRound | None:
        """Let the solver work on the task with the tools found so far.

        Return why this failed, or None if the run is over. If this is not the first round, `failed`
        says why the previous one failed.
        """
        if self.search.ended == "budget":
            raise BudgetSpent(f"max_tokens = {self.options.tokens}")
        tools = self._candidates()
        if not tools:
            return _FailedRound("No function was found that helps with the task.")
        offer = offer_tools(tools, back=self.options.solver == "dfsdt", give_up=True)
        budget = self.parts.prompt_tokens
        docs = self.parts.docs
        opening = react.build_react_opening(
            self.prompt_task, tools, offer, budget=budget, docs=docs
        )
        if failed is not None:
            again = fill("anytool_again", reason=failed.reason)
            opening[-1] = replace(opening[-1], content=f"{opening[-1].content}\n\n{again}")
        turns = Turns(opening, self.room, list(self.turns))
        solver = dfsdt.search if self.options.solver == "dfsdt" else react.chain_of_turns
        limit = solver(turns, offer, self, most=self.options.turns)
        last = turns.last
        self.turns = [turn for turn in turns.taken if turn.end is None]
        if last.answer is not None:
            return self._judge_answer(last.answer)
        if limit is not None:
            return _FailedRound(f"No answer was found within {limit}.")
        if last.end == "paused":
            return None
        reason = clip_text(last.reason or react.NO_ANSWER, _LONGEST_REASON)
        named = [resolve_name(name.removesuffix("()"), self.search.pool) for name in last.functions]
        return _FailedRound(
            reason, tuple(dict.fromkeys(name for name in named if name is not None))
        )

    def _judge_answer(self, text: str) -> _FailedRound | None:
        """Ask the judge about an answer.

        Return None if the answer is accepted, or why it is rejected.
        """
        attempt = self.finish(text)
        if attempt.answer is None or attempt.trace is None:
            said = attempt.fault.message if attempt.fault is not None else "The answer is empty."
            return None if self.paused else _FailedRound(clip_text(said, _LONGEST_REASON))
        self.best = (attempt, self.standing)
        calls = format_calls(attempt.trace.calls, self.parts.toolbox)
        warmth = self.parts.config.temperature
        word, why = judge_answer(
            self.meter.asker("judge"),
            self.prompt_task,
            attempt.answer,
            calls=calls,
            temperature=warmth,
        )
        if word != "Unsolved":  # an unsure verdict gives no hint for improvement
            self.answer = attempt.answer
            return None
        reason = why or "The answer does not settle the task."
        self.best = (self._replace_doubts(f"A judge holds: {reason}"), self.standing)
        return _FailedRound(clip_text(reason, _LONGEST_REASON))

    def _replace_doubts(self, *doubts: str) -> Attempt:
        """Replace the reasons to doubt the answer of the last attempt, and return the attempt."""
        self.attempts[-1] = replace(self.attempts[-1], doubts=doubts)
        self.parts.observer(AttemptEnded(len(self.attempts) - 1, self.attempts[-1]))
        return self.attempts[-1]

    def _reflect(self, failed: _FailedRound) -> bool:
        """Drop the functions that did not help, and let the agents search for tools again.

        Agents that have finished do not search again. The others get the reason for the failure.
        Return True if at least one of them asked the model. A call that wrote something stays in
        the history and in the program even if its tool is dropped, because the write did happen.
        """
        before = self.search.ask.usage.model_calls
        if failed.functions:
            self.search.prune(failed.functions)
            wrote = {
                one.tool for one in self.standing if self.parts.toolbox[one.tool].protocol.writes
            }
            gone = [name for name in failed.functions if name not in wrote]
            self.standing = tuple(action for action in self.standing if action.tool not in gone)
            self.turns = [turn for turn in self.turns if turn.tool not in gone]
        self.search.resume(failed.reason)
        return self.search.ask.usage.model_calls > before

    def _candidates(self) -> Toolbox:
        """Return the tools found so far that fit a prompt.

        Tools that the solver has not tried come first.
        """
        pool = self.search.pool
        parts = self.parts
        names = [
            *(name for name in pool if name not in self.given),
            *(name for name in self.given if name in pool),
        ]
        chosen = parts.toolbox.only(names)
        if names:
            chosen = describe_within_budget(chosen, budget=parts.prompt_tokens, docs=parts.docs)[1]
        parts.observer(ToolsChosen(tuple(chosen), len(parts.toolbox)))
        self.given = tuple(names)
        self.tools = chosen
        return chosen


JudgeWord = Literal["Solved", "Unsolved", "Unsure"]

WORDS: tuple[JudgeWord, ...] = ("Solved", "Unsolved", "Unsure")
_SCHEMA = an_object({"reason": a_text(300), "verdict": {"type": "string", "enum": list(WORDS)}})
_VOTES = 3
_REPLY_TOKENS = 250
_LONGEST_ANSWER = 2000
_LONGEST_CALL = 500
"""Maximum length, in characters, of a call's result shown to the judge."""
_MOST_CALLS = 12
"""Maximum number of calls shown to the judge: the last ones, which lead to the answer."""


def judge_answer(
    ask: Ask, task: str, answer: str, *, calls: str = "", temperature: float = 0.7
) -> tuple[JudgeWord, str]:
    """Ask a model whether an answer settles its task; return the verdict and the reason.

    See §3.2 and §5.1 of the AnyTool paper. `calls` describes the calls that the answer is based on.
    The model votes up to three times, at the run's temperature and with a different seed each time,
    as in the published code. The verdict is the word with more than half of the votes, or *Unsure*
    without a majority. A reply that cannot be parsed is a vote for *Unsure*. (ToolEval draws at
    random for each *Unsure* and accepts a tie, so its figures are not reproducible and too high.)

    Raises:
        ModelUnavailable: the model did not answer.
    """
    said = fill(
        "judge_task",
        task=task,
        calls=calls or "(none)",
        answer=clip_text(answer.strip(), _LONGEST_ANSWER),
    )
    messages = build_messages(fill("judge"), said)
    words: list[JudgeWord] = []
    reasons: dict[JudgeWord, str] = {}
    for seed in range(_VOTES):
        reply = ask(
            messages, schema=_SCHEMA, temperature=temperature, seed=seed, max_tokens=_REPLY_TOKENS
        )
        word, reason = read_vote(reply.text)
        words.append(word)
        reasons[word] = reasons.get(word) or reason
        if 2 * words.count(word) > _VOTES:
            return word, reasons[word]
    return "Unsure", reasons.get("Unsure") or "the votes differ"


def read_vote(text: str) -> tuple[JudgeWord, str]:
    """Return the vote in a reply and its reason; `Unsure` if the reply cannot be parsed."""
    said = json_object(text)
    return (
        (said["verdict"], one_text(said.get("reason")))
        if said.get("verdict") in WORDS
        else ("Unsure", "")
    )


def format_calls(calls: Sequence[ToolCall], tools: Toolbox) -> str:
    """Return the last calls and their results as text for the judge, one per line."""
    lines = []
    for call in calls[-_MOST_CALLS:]:
        if call.error is not None:
            returned = f"error: {clip_text(call.error, _LONGEST_CALL)}"
        else:
            returned = abridge_value(tools[call.tool].unwrap(call.result), most=_LONGEST_CALL)
        lines.append(f"- {format_tool_call(call)} → {returned}")
    return "\n".join(lines)
