"""RestBench's TMDB tasks, call by call: is the gold path walked with names alone (ToolDec's table 5)?

A task is walked as `--strategy react` asks: a thought and a call, what the tool said, and so on until `finish`. Right
is a correct path (CP).
"""

from __future__ import annotations

import time
from dataclasses import replace
from pathlib import Path

from atc.decode.call import Sampling, write_turn
from atc.decode.formats import REACT
from atc.decode.reach import Reach, Result
from atc.strategies.acting import offered
from atc.strategies.react import opening
from benchmarks.decoding.arms import Arm, Case, Row
from benchmarks.restbench.data import RestWorld, items, load_restbench
from protocols.abridge import abridged
from protocols.ask import Ask, Message
from protocols.errors import ToolError
from toolflow_bench import paths

TASKS = 10
"""Where no sample is given; the paper asks all 100."""
ARMS = [("grounded", "names"), ("calls", "names"), ("free", "full"), ("calls", "full")]
_MOST_CALLS = 6
"""Turns of a task; the longest gold path of TMDB has five calls."""
_MOST_ERRORS = 3
"""Turns in a row without a call that fits; then the task is given up."""
_OBSERVED_CHARACTERS = 700


class Asked:
    """Walks one task in one arm; see `arms.Asked`."""

    def __init__(self, ask: Ask, data: Path, *, seed: int) -> None:
        bench = load_restbench(data, ("tmdb",))
        self.ask, self.seed, self.world = ask, seed, RestWorld(bench, seed=seed)
        self._offer = offered(self.world.toolbox)
        self.cases = [
            Case(id=item.question.id, question=item.question.question, gold=item.gold)
            for item in items(bench, self.world.toolbox, seed=seed)
        ]

    def prompt(self, arm: Arm, /) -> list[Message]:
        """What all tasks begin with."""
        return self._opening("", arm)

    def _opening(self, task: str, arm: Arm) -> list[Message]:
        docs = "names" if arm.docs == "names" else "requests"
        return opening(task, self.world.toolbox, self._offer, budget=self.ask.prompt_tokens, docs=docs)

    def __call__(self, arm: Arm, case: Case, /) -> Row:
        """The row of a task."""
        self.world.reset()
        messages, row, finished, errors, waits = (
            self._opening(case.question, arm),
            Row(id=case.id, arm=arm.name),
            False,
            0,
            "",
        )
        reach = Reach(self._offer.tools, case.question) if arm.mode == "grounded" else None
        results: list[Result] = []
        while not finished and len(row.texts) < _MOST_CALLS and errors < _MOST_ERRORS:
            begun = time.perf_counter()
            scope = reach.after(results) if reach is not None else None
            written = write_turn(
                self.ask,
                messages,
                self._offer.tools,
                form=REACT,
                decoding="off" if arm.mode == "free" else "calls",
                sampling=Sampling(max_tokens=200, seed=self.seed),
                thought_characters=300,
                within=scope.tools if scope is not None else None,
            )
            row = row.heard(written, time.perf_counter() - begun)
            call = written.call
            if not call.valid:
                errors, observed = errors + 1, call.error.message if call.error else ""
            elif call.tool == self._offer.ends["finish"]:
                finished, row = True, replace(row, answer=str(call.arguments.get("answer", "")))
            elif scope is not None and written.by_grammar and (problem := scope.problem(call.tool)):
                errors, observed, waits = 0, problem, call.tool
            else:
                errors, row, tool = 0, replace(row, calls=(*row.calls, call.tool)), self._offer.tools[call.tool]
                try:
                    value = tool.unwrap(tool.call(tool.original(call.arguments)))
                    results.append((call.tool, value))
                    observed = abridged(value, most=_OBSERVED_CHARACTERS)
                except ToolError as error:
                    observed = str(error)
                if reach is not None and waits and (reminder := reach.after(results).reminder(waits)):
                    observed, waits = observed + reminder, ""
            if not finished:
                messages += [Message("assistant", written.text), Message("user", f"Observation: {observed}")]
        made = [{"tool": tool, "outcome": "done", "reused": False} for tool in row.calls]
        right = bool(paths.correct_path(case.gold, made))
        return replace(row, correct=right, failure=row.kind or ("" if right else "wrong_path"))
