"""Algorithm 1: from a request and the tools that it takes to a trajectory of queries that find them."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from atc.retrieve.base import Hit, Ranker, Retriever
from atc.retrieve.document import ToolDocument
from atc.retrieve.plan.conversation import BEGIN, STOP, opening, plan_text, query_text, results, with_definition
from atc.retrieve.plan.found import Found
from protocols.ask import Ask, Message
from toolflow_bench.retrieval.data import RetrievalQuery
from toolflow_bench.toolqp.hints import Hints, definition
from toolflow_bench.toolqp.names import Names
from toolflow_bench.toolqp.prompts import fill
from toolflow_bench.toolqp.settings import DEPTH, ROUNDS, Settings
from toolflow_bench.toolqp.teacher import Teacher

Reason = Literal["no plan", "no sub-goal", "no valid query", "too many queries"]


@dataclass(frozen=True, slots=True)
class SubTask:
    """A step of the plan and the tools that it takes."""

    goal: str
    tools: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Attempt:
    """The best query of a round, what it found, and the mean rank of the sub-task's tools in that, from 1."""

    query: str
    found: tuple[Hit, ...]
    rank: float
    round: int


@dataclass(frozen=True, slots=True)
class Step:
    """A sub-task and the attempts at it; the last one is valid. `kept`: the failed ones stay in the trajectory."""

    task: SubTask
    attempts: tuple[Attempt, ...]
    kept: bool

    @property
    def shown(self) -> tuple[Attempt, ...]:
        """The attempts that the trajectory has."""
        return self.attempts if self.kept else self.attempts[-1:]


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A plan, and queries that find the tools of each of its sub-tasks."""

    query: RetrievalQuery
    plan: str
    steps: tuple[Step, ...]


@dataclass(frozen=True, slots=True)
class Dropped:
    """A request of which no trajectory was made, and why."""

    reason: Reason
    detail: str = ""


class Maker:
    """Makes trajectories over one set of tools; several threads may use it at once."""

    def __init__(
        self, base: Ranker | Retriever, documents: Mapping[str, ToolDocument], ask: Ask, settings: Settings
    ) -> None:
        self._base, self._documents, self._ask, self._settings = base, documents, ask, settings
        self._names = Names(documents)

    def make(self, query: RetrievalQuery, plan: str = "", ask: Ask | None = None) -> Trajectory | Dropped:
        """Algorithm 1; the teacher writes the plan where `plan` is empty. `ask` stands for the maker's, to count it.

        Raises:
            ModelUnavailable: the teacher did not answer.
            RetrievalUnavailable: as the base.
        """
        return _Making(self._base, self._documents, self._names, ask or self._ask, self._settings, query).make(plan)

    def messages(self, trajectory: Trajectory) -> list[Message]:
        """The conversation in which a planner learns the trajectory (Figure 7)."""
        goals = [step.task.goal for step in trajectory.steps]
        said = [
            *opening(trajectory.query.text),
            Message("assistant", plan_text(trajectory.plan, goals)),
            Message("user", BEGIN),
        ]
        for step in trajectory.steps:
            for attempt in step.shown:
                found = attempt.found[: self._settings.shown]
                said += [Message("assistant", query_text(attempt.query)), results(found, self._documents)]
        return [*said, Message("assistant", STOP)]


class _Making:
    """One request's trajectory in the making."""

    def __init__(
        self,
        base: Ranker | Retriever,
        documents: Mapping[str, ToolDocument],
        names: Names,
        ask: Ask,
        settings: Settings,
        query: RetrievalQuery,
    ) -> None:
        self._documents, self._names, self._settings, self._query = documents, names, settings, query
        self._found = Found(base, depth=DEPTH)
        self._teacher = Teacher(ask, names, self._seed)

    def make(self, plan: str) -> Trajectory | Dropped:
        tools = [self._documents[name] for name in self._query.gold]
        plan = plan or self._teacher.plan(self._query.text, tools)
        if not plan:
            return Dropped("no plan")
        steps: list[Step] = []
        tasks = self._aligned(plan, tools)
        if tasks is None:
            return Dropped("no sub-goal")
        for task in tasks:
            step = self._step(plan, task, steps)
            if step is None:
                return Dropped("no valid query", task.goal)
            steps.append(step)
        if sum(len(step.shown) for step in steps) > self._settings.queries:
            steps = [Step(step.task, step.attempts, kept=False) for step in steps]
        if len(steps) > self._settings.queries:
            return Dropped("too many queries", str(len(steps)))
        return Trajectory(self._query, plan, tuple(steps))

    def _aligned(self, plan: str, tools: Sequence[ToolDocument]) -> list[SubTask] | None:
        """The plan's sub-tasks in order, each with its tools; tools of the same goal share a sub-task."""
        grouped: dict[str, list[str]] = {}
        for tool in self._teacher.order(self._query.text, plan, tools):
            goal = self._teacher.sub_goal(plan, tool, list(grouped))
            if not goal:
                return None
            grouped.setdefault(goal, []).append(tool.name)
        return [SubTask(goal, tuple(names)) for goal, names in grouped.items()]

    def _step(self, plan: str, task: SubTask, before: Sequence[Step]) -> Step | None:
        """Rounds until a query is valid; None where none is in the last."""
        tools = [self._documents[name] for name in task.tools]
        hints = Hints(
            task.goal,
            tools,
            plan=plan,
            names=self._names,
            find=self._found.look,
            documents=self._documents,
            shown=self._settings.shown,
        )
        attempts: list[Attempt] = []
        told: list[str] = []
        for number in range(1, ROUNDS + 1):
            told.append(hints.told(number, attempts[-1].query if attempts else ""))
            attempt = self._round(number, self._prompt(plan, before, told), task)
            if attempt is None:
                continue
            attempts.append(attempt)
            if attempt.rank <= self._settings.threshold:
                return self._kept(task, attempts, len(before))
        return None

    def _kept(self, task: SubTask, attempts: Sequence[Attempt], number: int) -> Step:
        kept = random.Random(f"{self._settings.seed} {self._query.id} {number}").random() < self._settings.keep_failed  # noqa: S311 - a draw, not secrecy
        if not self._settings.tool_format:
            return Step(task, tuple(attempts), kept=kept)
        # With the definition in view an earlier query would not have failed: there is nothing to learn from it.
        last = attempts[-1]
        defined = [definition(self._documents[name], self._names) for name in task.tools]
        query = with_definition(last.query, *defined)
        return Step(task, (Attempt(query, tuple(self._found.look(query)), last.rank, last.round),), kept=False)

    def _prompt(self, plan: str, before: Sequence[Step], told: Sequence[str]) -> str:
        done = [
            f'{number}. {step.task.goal} Found by: "{step.attempts[-1].query}"'
            for number, step in enumerate(before, start=1)
        ]
        context = "\n\n".join(filter(None, told))
        return fill("query", query=self._query.text, plan=plan, done="\n".join(done) or "(none)", context=context)

    def _round(self, number: int, prompt: str, task: SubTask) -> Attempt | None:
        """The candidate whose tools rank best on average; None where each candidate is empty or names a tool."""
        best: Attempt | None = None
        for candidate in range(self._settings.candidates):
            query = self._teacher.query(
                prompt, purpose=f"{task.goal} {number} {candidate}", temperature=self._settings.temperature
            )
            if not query or self._names.given_away(query, task.tools):
                continue
            found = self._found.look(query)
            rank = mean_rank(task.tools, found)
            if best is None or rank < best.rank:
                best = Attempt(query, tuple(found), rank, number)
        return best

    def _seed(self, purpose: str) -> int:
        return random.Random(f"{self._settings.seed} {self._query.id} {purpose}").getrandbits(31)  # noqa: S311 - a draw, not secrecy


def mean_rank(tools: Sequence[str], found: Sequence[Hit]) -> float:
    """The mean rank of `tools` in a result, from 1; one that is not in it has the rank behind the last possible."""
    ranks = {hit.tool: rank for rank, hit in enumerate(found, start=1)}
    return sum(ranks.get(tool, DEPTH + 1) for tool in tools) / len(tools)
