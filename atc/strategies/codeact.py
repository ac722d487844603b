"""CodeAct: one block of code per turn, written with the results so far in view.

After Wang et al. (2024). A reply is a block of Python or the answer. There is no live session: the
blocks form a growing program, which is executed again with each new block. The calls of earlier
blocks are not sent again; their recorded responses are used. It behaves like a session: the effects
of a block up to its failure are kept, and earlier output is not shown again. Programs are not
checked, fixed or searched for the cause of a failure: the model sees what its block prints, or the
traceback, as Python shows them.
"""

from __future__ import annotations

import ast
import re
from typing import NamedTuple

from atc.core.program import Program
from atc.core.prompts import fill
from atc.core.replies import program_in_reply
from atc.core.types import Attempt, Solution
from atc.pipeline.repair import traceback_text
from atc.run.attempt import run_unchecked
from atc.run.conversation import (
    Turn,
    Turns,
    build_opening,
    first_paragraph,
    longest_shown,
    room_for_turns,
    shown_value,
)
from atc.run.growing_program import FENCE, GrowingProgram, build_answer_program, first_block
from atc.run.model_budget import BudgetSpent
from atc.run.strategy_run import Parts, Run
from protocols.truncate import abridge_output

MOST_TURNS = 10
"""Maximum number of replies in one run, as in the CodeAct paper on M3ToolEval (section 2.3)."""
_ANSWER = re.compile(r"(?ims)^[ \t*_#]*(?:final\s+)?answer[*_]*\s*:[*_]*\s*(?P<answer>\S.*)")
_EXITS = frozenset({"exit", "quit", "SystemExit"})


def solve(task: str, parts: Parts) -> Solution:
    """Let the model act with blocks of code until it gives its answer on a line of its own.

    The run also ends when the budget is used up.
    """
    return _Session(task, parts).solve()


class CodeActReply(NamedTuple):
    """The model's reply up to the end of its turn: an answer, code, or neither."""

    text: str
    answer: str | None = None
    code: Program | None = None


class _Session(Run):
    """One run of CodeAct. `round` counts the blocks that failed."""

    def __init__(self, task: str, parts: Parts) -> None:
        super().__init__(task, parts)
        rules = fill("codeact", turns=str(MOST_TURNS))
        if not parts.is_small:
            rules = f"{rules}\n{fill('abilities')}"
        example = fill("codeact_example")
        budget = parts.prompt_tokens
        docs = parts.docs
        begun = build_opening(
            rules, example, self.prompt_task, self.tools, told=_shown_as, budget=budget, docs=docs
        )
        self.turns = Turns(begun, room_for_turns(budget))
        self.growing = GrowingProgram(parts.journal)

    def act(self) -> None:
        """Take turns with the model until it gives an answer."""
        for _ in range(MOST_TURNS):
            reply = parse_reply(
                self.write(self.turns.messages(), purpose="act", temperature=0.0, seed=0).text
            )
            if reply.answer is not None:
                self.answer = self._execute_program(
                    build_answer_program(self.growing.program, reply.answer)
                ).answer
                return
            told = fill("codeact_neither") if reply.code is None else self._run(reply.code)
            if self.paused:
                return
            self.turns.taken.append(
                Turn(reply_text=reply.text.strip() or "(nothing)", feedback=told)
            )
        self.limit = f"{MOST_TURNS} turns"

    def _run(self, block: Program) -> str:
        """Execute the program with a new block and return the feedback for the model."""
        whole = self.growing.with_silent_beginning(block)
        result = self._execute_program(whole, look=True)
        trace = result.trace
        assert trace is not None  # there is no check that could prevent execution
        failure = trace.failure
        self.round += failure is not None
        most = longest_shown(self.parts.prompt_tokens)
        value = trace.value
        shown = [abridge_output(trace.stdout, most=most)] if trace.stdout.strip() else []
        shown += [shown_value(value, most=most)] if value is not None else []
        if failure is None or failure.kind == "exception":
            self.growing.take(
                self.growing.with_piece(_without_exit(block, failed=failure is not None)), trace
            )
        if failure is not None and (failure.kind, failure.type) == ("limit", "tool_calls"):
            raise BudgetSpent(f"max_calls = {self.parts.config.max_calls}")
        if failure is not None:
            shown.append(traceback_text(result))
        return _shown_as("\n".join(shown) or "(nothing was printed)")

    def _execute_program(self, program: Program, *, look: bool = False) -> Attempt:
        self.growing.preanswer_calls()
        return run_unchecked(self, program, self.tools, look=look)


def _shown_as(output: str) -> str:
    """Return the output of a block as a message for the model."""
    return fill("codeact_output", output=output.replace("```", "'''"))


def parse_reply(text: str) -> CodeActReply:
    """Parse a reply: take its first block of code, or its answer if that comes first.

    An answer after a block is ignored, because the model had not seen the block's output.
    """
    fence = FENCE.search(text)
    answer = _ANSWER.search(text)
    if answer is not None and (fence is None or answer.start("answer") < fence.start()):
        said = text[: fence.start()] if fence is not None else text
        return CodeActReply(said, answer=first_paragraph(said[answer.start("answer") :]))
    said = first_block(text)
    return CodeActReply(said, code=program_in_reply(said))


def _without_exit(block: Program, *, failed: bool) -> Program:
    """Return a block, wrapped in `try` if it failed or may exit, so that later blocks still run."""
    tree = block.tree
    names = {getattr(node, "id", None) or getattr(node, "attr", None) for node in ast.walk(tree)}
    if not failed and not _EXITS & names:
        return block
    ends = ast.Tuple([ast.Name("Exception"), ast.Name("SystemExit")])
    kept = ast.Try(
        body=tree.body,
        handlers=[ast.ExceptHandler(ends, None, [ast.Pass()])],
        orelse=[],
        finalbody=[],
    )
    return Program(ast.unparse(ast.fix_missing_locations(ast.Module([kept], []))) + "\n")
