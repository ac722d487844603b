"""A task walked turn by turn, as ReAct has it: a thought and a call, what the tool said, and so on until `finish`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from protocols.abridge import abridged
from protocols.ask import Ask, Message
from protocols.jsontypes import Json
from protocols.toolbox import Tool, Toolbox
from toolflow_bench import paths
from toolflow_bench.decoding.writing import execute, noted
from toolflow_bench.metrics import Row

if TYPE_CHECKING:
    from atc.strategies.turns.acting import Offer

MOST_CALLS = 6
"""Turns of a task; the longest gold path of TMDB has five calls."""
MOST_ERRORS = 3
"""Turns in a row without a call that fits; the model is told what is wrong with each, and then the task is given up."""
MOST_TOKENS = 200
"""Of a turn."""
_THOUGHT_CHARACTERS = 300
_OBSERVED_CHARACTERS = 700
LIMITS = (MOST_CALLS, MOST_ERRORS, MOST_TOKENS, _THOUGHT_CHARACTERS, _OBSERVED_CHARACTERS)


@dataclass(frozen=True, kw_only=True)
class Walker:
    """Walks tasks with one model and one set of tools, asked as `--strategy react` asks.

    `grounded`: what holds calls takes only ids that the task gives or an earlier result held.
    """

    ask: Ask
    tools: Toolbox
    docs: Literal["requests", "names"]
    decoding: Literal["off", "calls"]
    grounded: bool = False
    seed: int = 0

    @cached_property
    def offer(self) -> Offer:
        """The tools, and `finish`."""
        from atc.strategies.turns.acting import offered

        return offered(self.tools)

    def opening(self, task: str) -> list[Message]:
        """What stands before the first turn."""
        from atc.strategies.react import opening

        return opening(task, self.tools, self.offer, budget=self.ask.prompt_tokens, docs=self.docs)

    def walk(self, row: Row) -> Row:
        """The row of a task, of which `row` says what is asked and which path is gold.

        Raises:
            ModelUnavailable: no reply could be had.
            Undecodable: a tool's schema cannot be held to.
        """
        from atc.decode.call import Sampling, write_turn
        from atc.decode.formats import REACT
        from atc.decode.reach import Reach, Result

        messages = self.opening(row.question)
        reach = Reach(self.offer.tools, row.question) if self.grounded else None
        results: list[Result] = []
        waits = ""
        finished = False
        while not finished and len(row.made) < MOST_CALLS and not _lost(row):
            begun = time.perf_counter()
            scope = reach.after(results) if reach is not None else None
            written = write_turn(
                self.ask,
                messages,
                self.offer.tools,
                form=REACT,
                decoding=self.decoding,
                sampling=Sampling(max_tokens=MOST_TOKENS, seed=self.seed),
                thought_characters=_THOUGHT_CHARACTERS,
                within=scope.tools if scope is not None else None,
            )
            row = noted(row, written, seconds=time.perf_counter() - begun)
            finished = row.made[-1]["tool"] == self.offer.finish and not row.made[-1]["class"]
            if not finished:
                made = row.made[-1]
                problem = scope.problem(made["tool"]) if scope is not None and written.by_grammar else ""
                if problem:
                    waits = made["tool"]
                    row = replace(row, made=(*row.made[:-1], {**made, "error": problem}))
                else:
                    row, result = self._called(row)
                observed = (made := row.made[-1])["error"] or abridged(result, most=_OBSERVED_CHARACTERS)
                if made["error"] is None:
                    results.append((made["tool"], result))
                    if reach is not None and (reminder := reach.after(results).reminder(waits)):
                        observed, waits = observed + reminder, ""
                messages += [Message("assistant", written.text), Message("user", f"Observation: {observed}")]
        return judged(row, finished=finished)

    def _called(self, row: Row) -> tuple[Row, Json]:
        """The row with its last call made, and what that gave."""
        begun = time.perf_counter()
        made, result = execute(self.offer.tools, row.made[-1])
        took = time.perf_counter() - begun
        row = replace(
            row, made=(*row.made[:-1], made), seconds=row.seconds + took, tool_seconds=row.tool_seconds + took
        )
        return row, result


def _lost(row: Row) -> bool:
    last = row.made[-MOST_ERRORS:]
    return len(last) == MOST_ERRORS and all(call["class"] for call in last)


def judged(row: Row, *, finished: bool) -> Row:
    """The row with its path held against the gold path: right is a correct path (CP)."""
    cp = paths.correct_path(row.gold, row.made)
    wrong = next((call["class"] for call in row.made if call["class"]), "")
    return replace(
        row,
        answer=str(row.made[-1]["arguments"].get("answer", "")) if finished else None,
        correct=bool(cp),
        cp=cp,
        path=paths.path_rate(row.gold, row.made),
        precision=paths.precision(row.gold, row.made),
        status="solved" if finished else "failed",
        limit=None if finished else f"max_errors = {MOST_ERRORS}" if _lost(row) else f"max_calls = {MOST_CALLS}",
        calls=len(paths.sent(row.made)),
        failure=wrong or ("" if cp else "wrong_path"),
    )


def callable_tools(tools: Sequence[Tool]) -> tuple[Toolbox, tuple[str, ...]]:
    """The tools of a task, and a sentence for each optional argument that no value conforms to.

    Raises:
        Undecodable: a required argument is one of these.
    """
    from atc.decode.schema import arguments_of

    found = [(tool, clause) for tool in tools for clause in arguments_of(tool).left_out]
    notes = tuple(f"{tool.alias}: an argument cannot be given, {clause}." for tool, clause in found)
    return Toolbox(tools), notes
