"""A task walked turn by turn, as ReAct has it: a thought and a call, what the tool said, and so on until `finish`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from protocols.abridge import abridged
from protocols.ask import Ask, Message
from protocols.jsontypes import Json, JsonObject
from protocols.protocol import Annotations, ToolProtocol
from protocols.toolbox import Tool, Toolbox
from toolflow_bench import paths
from toolflow_bench.decoding.writing import execute, noted
from toolflow_bench.metrics import Row

FINISH = "finish"
MOST_CALLS = 6
"""Turns of a task; the longest gold path of TMDB has five calls."""
MOST_ERRORS = 3
"""Turns in a row without a call that fits; the model is told what is wrong with each, and then the task is given up."""
MOST_TOKENS = 200
"""Of a turn."""
_THOUGHT_CHARACTERS = 300
_OBSERVED_CHARACTERS = 700
LIMITS = (MOST_CALLS, MOST_ERRORS, MOST_TOKENS, _THOUGHT_CHARACTERS, _OBSERVED_CHARACTERS)


@dataclass(frozen=True, slots=True, kw_only=True)
class Walker:
    """Walks tasks with one model and one set of tools, `finish` among them."""

    ask: Ask
    tools: Toolbox
    docs: Literal["full", "names"]
    decoding: Literal["off", "calls"]
    seed: int = 0

    def opening(self, task: str) -> list[Message]:
        """What stands before the first turn."""
        from atc.decode.instructions import react_instructions

        told = react_instructions(self.tools, self.docs, budget=self.ask.prompt_tokens)
        return [Message("system", told), Message("user", task)]

    def walk(self, row: Row) -> Row:
        """The row of a task, of which `row` says what is asked and which path is gold.

        Raises:
            ModelUnavailable: no reply could be had.
            Undecodable: a tool's schema cannot be held to.
        """
        from atc.decode.calls import Sampling, write_turn
        from atc.decode.formats import REACT

        messages = self.opening(row.question)
        finished = False
        while not finished and len(row.made) < MOST_CALLS and not _lost(row):
            begun = time.perf_counter()
            written = write_turn(
                self.ask,
                messages,
                self.tools,
                form=REACT,
                decoding=self.decoding,
                sampling=Sampling(max_tokens=MOST_TOKENS, seed=self.seed),
                thought_characters=_THOUGHT_CHARACTERS,
            )
            row = noted(row, written, seconds=time.perf_counter() - begun)
            finished = row.made[-1]["tool"] == FINISH and not row.made[-1]["class"]
            if not finished:
                row, observed = self._called(row)
                messages += [Message("assistant", written.text), Message("user", f"Observation: {observed}")]
        return judged(row, finished=finished)

    def _called(self, row: Row) -> tuple[Row, str]:
        """The row with its last call made, and what the model is told of that."""
        begun = time.perf_counter()
        made, result = execute(self.tools, row.made[-1])
        told = made["error"] or abridged(result, most=_OBSERVED_CHARACTERS)
        took = time.perf_counter() - begun
        row = replace(
            row, made=(*row.made[:-1], made), seconds=row.seconds + took, tool_seconds=row.tool_seconds + took
        )
        return row, told


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


def offered(tools: Sequence[Tool]) -> tuple[Toolbox, tuple[str, ...]]:
    """The tools of a task and `finish`, and a sentence for each optional argument that no value conforms to.

    Raises:
        Undecodable: a required argument is one of these.
    """
    from atc.decode.arguments import arguments_grammar

    found = [(tool, clause) for tool in tools for clause in arguments_grammar(tool, "json").left_out]
    notes = tuple(f"{tool.alias}: an argument cannot be given, {clause}." for tool, clause in found)
    return Toolbox([*tools, Tool(_FINISH, _finish)]), notes


def _finish(arguments: JsonObject) -> Json:
    return dict(arguments)


_FINISH = ToolProtocol(
    name=FINISH,
    description="End the task and give the answer.",
    input_schema={
        "type": "object",
        "properties": {"answer": {"type": "string", "maxLength": 300, "description": "the answer to the task"}},
        "required": ["answer"],
        "additionalProperties": False,
    },
    annotations=Annotations(read_only=True, destructive=False, idempotent=True),
)
