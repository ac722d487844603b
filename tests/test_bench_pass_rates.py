"""Eq. 1 grows the worse the candidates are, Eq. 2 does not (AnyTool §3.2). Both judges are the real ones."""

from __future__ import annotations

import json
import random

from atc.retrieve.hierarchy.budget import Budget
from atc.retrieve.hierarchy.room import Room
from atc.retrieve.hierarchy.solvable import judge as solvable
from atc.retrieve.hierarchy.tree import Hierarchy
from atc.strategies.judge import Judge
from protocols.ask import Completion
from tests.hierarchy_lab import box
from toolflow_bench.pass_rates import Judged, anytool_pass_rate, toolbench_pass_rate

BOX = box(**{f"c{i}": {f"c{i}tool{j}": 4 for j in range(10)} for i in range(25)})  # 1,000 APIs
TASKS = 200
CANDIDATES = 8


class Honest:
    """A model that judges rightly: a task needs the API that it names, and its answer is that API's secret."""

    name, prompt_tokens = "honest", 4000

    def __call__(self, messages, *, schema=None, **_):
        system, asked = (message.content for message in messages)
        need = asked.partition("Use ")[2].split()[0].strip(".")
        if "Judge whether the request" in system:
            there = f"{need}: " in asked.partition("\n\nRequest")[0]
            said = {"reason": "" if there else f"{need} is missing", "verdict": "Solvable" if there else "Unsolvable"}
        else:
            right = asked.endswith(f"Answer: secret of {need}")
            said = {"reason": "", "verdict": "Solved" if right else "Unsolved"}
        return Completion(text=json.dumps(said), model=self.name, input_tokens=1)


def judged(candidates_of, *, tasks: int = TASKS) -> list[Judged]:
    """What both judges hold of tasks whose solver answers rightly if, and only if, it was given the API."""
    draw, hierarchy, model = random.Random(7), Hierarchy.of(BOX), Honest()
    found = []
    for _ in range(tasks):
        need = draw.choice(list(BOX))
        candidates = candidates_of(need, draw)
        task = f"Use {need}."
        verdict = solvable(task, candidates, hierarchy, model, Budget(10**9), room=Room.of(4000))
        answer = f"secret of {need}" if need in candidates else "I could not find out."
        found.append(Judged(verdict.word, Judge(ask=model)(task, answer).word))
    return found


def at_random(need, draw):
    return draw.sample(list(BOX), CANDIDATES)


def found_by_search(need, draw):
    """A retriever that finds what is needed for three tasks of four."""
    return [*at_random(need, draw)[1:], need] if draw.random() < 0.75 else at_random(need, draw)


def test_random_candidates_inflate_eq_1_and_not_eq_2():
    rows = judged(at_random)
    eq1, eq2 = toolbench_pass_rate(rows), anytool_pass_rate(rows)
    assert eq1 is not None
    assert eq2 is not None
    assert eq1.mean == 1.0  # nearly every task is "non-solvable", and so it passes
    assert eq2.mean < 0.05
    assert sum(row.solved == "Solved" for row in rows) == round(eq2.mean * TASKS)


def test_a_retriever_that_finds_what_is_needed_gains_by_eq_2_alone():
    rows, worse = judged(found_by_search), judged(at_random)
    eq1, eq2 = toolbench_pass_rate(rows), anytool_pass_rate(rows)
    assert eq1.mean <= toolbench_pass_rate(worse).mean
    assert 0.65 < eq2.mean < 0.85
    assert eq2.low > anytool_pass_rate(worse).high


def test_what_counts_in_each():
    rows = [
        Judged("Solvable", "Solved"),
        Judged("Solvable", "Unsolved"),
        Judged("Unsolvable", "Unsolved"),
        Judged("Unsolvable", "Solved"),
        Judged("Unsure", "Unsolved"),
        Judged("Solvable", "Unsure"),
        Judged("Unsure", "Unsure"),
        Judged("Unsure", "Solved"),
    ]
    assert toolbench_pass_rate(rows).mean == 4 / 8
    assert anytool_pass_rate(rows).mean == 3 / 8
    assert toolbench_pass_rate(rows) == toolbench_pass_rate(rows)  # seeded
    assert toolbench_pass_rate([]) is None
    assert anytool_pass_rate([]) is None
