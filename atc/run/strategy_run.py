"""One run of a strategy: the parts it works with, the tools it begins with, what it has tried, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from atc.core.config import Config, InvalidConfig
from atc.core.events import AttemptEnded, Observer, ToolsChosen
from atc.core.types import Attempt, Fault, FaultKind, Program, Solution, Status
from atc.models.prices import FREE, Price, price_of
from atc.pipeline.retrieve.base import Retriever
from atc.pipeline.retrieve.planned import in_turns
from atc.run.model_budget import BudgetedModel, BudgetSpent
from atc.run.output_type import OutputType
from atc.run.resume import ResumedRun
from atc.run.tool_search import ToolSearch
from atc.safety.consent import Consent
from atc.safety.redaction import Redactor
from protocols.model import Ask
from protocols.render import DETAILS, Docs, describe_within_budget, stubs, token_estimate
from protocols.schema import Json
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.journal import Journal
from sandbox.trace import ToolCall

_FEW = 4
"""So few tools are never searched: the prompt sheds detail instead."""
_FOUND = 12
"""Tools that further searches of the model give together."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The parts that a strategy puts together. Writes in `toolbox` are gated already.

    `past` is what the run did before it was interrupted or paused; `accept_orphans`: a person has said that writes
    which the final program does not make may stand.
    """

    toolbox: Toolbox
    finder: Callable[[Ask | None], Retriever]
    """Gives the search over `toolbox`; a method that asks a model asks the one given, with None none is asked."""
    ask: Ask
    sandbox: Sandbox
    journal: Journal
    config: Config
    observer: Observer
    consent: Consent
    past: ResumedRun
    redact: Redactor
    accept_orphans: bool = False
    output: OutputType[Any] | None = None
    """The type of an answer, where the caller asked for one."""

    @property
    def prompt_tokens(self) -> int:
        """Tokens that descriptions of tools may take in a prompt."""
        return self.config.prompt_tokens or self.ask.prompt_tokens

    @property
    def samples(self) -> int:
        """Replies that may be drawn to one prompt: the setting, or else what suits the model."""
        return self.config.samples or int(getattr(self.ask, "samples", 1))

    def meter(self) -> BudgetedModel:
        """The model of this run with its budget."""
        price = FREE if self.config.max_cost is None else _price(self.config, self.ask.name)
        return BudgetedModel(
            self.ask, self.observer, self.config, price=price, past=self.past, redact=self.redact
        )


Strategy = Callable[[str, Parts], Solution]
"""Solves a task. Raises `ModelUnavailable` or `SandboxUnavailable` for outages, which are no verdict on the task."""


def _price(config: Config, model: str) -> Price:
    """What the model costs, without which a cap on the cost could not hold."""
    if (price := price_of(model, config.model_price)) is None:
        raise InvalidConfig(
            f"max_cost = {config.max_cost:g} needs a price, and none is known for the model {model!r}: set model_price"
            " to USD for a million tokens of prompts and of replies, such as [0.25, 2.0]."
        )
    return price


class Run:
    """A strategy at work on one task; each says in `act` what it does.

    `tools` (else they are retrieved), `meter` and `attempts` are those of a run that another strategy began. `round`
    counts how often the strategy began anew, or was told what went wrong; attempts carry it.
    """

    def __init__(
        self,
        task: str,
        parts: Parts,
        *,
        tools: Toolbox | None = None,
        meter: BudgetedModel | None = None,
        attempts: Sequence[Attempt] = (),
    ) -> None:
        self.task = task
        self.parts = parts
        self.meter = meter or parts.meter()
        self.tools = retrieve(task, parts, self.meter) if tools is None else tools
        self.attempts = list(attempts)
        self.round = 0
        self.answer: str | None = None
        self.limit: str | None = None

    def act(self) -> None:
        """Go on until there is an `answer`, a person must decide, or a `limit` is reached.

        Raises:
            BudgetSpent: so is the run's budget.
        """
        raise NotImplementedError

    def choose_answer(self) -> None:
        """Decide which answer stands, after the last step, also where the budget ended the run."""

    def solve(self) -> Solution:
        """Act, and say how it ended."""
        try:
            self.act()
        except BudgetSpent as spent:
            self.limit = spent.limit
        self.choose_answer()
        return self.solution()

    def solution(self) -> Solution:
        """How the run ended.

        One with an answer is not solved while writes of earlier attempts stand that the answer's program does not make
        (orphans): it is paused until they are undone, or accepted by a person.
        """
        parts = self.parts
        journal = self.parts.journal
        orphans = (
            drop_undone(journal.orphans(), journal.completed_calls(), parts.toolbox)
            if self.answer
            else ()
        )
        status: Status = "failed"
        if self.paused or (orphans and not parts.accept_orphans):
            status = "paused"
        elif self.answer is not None:
            status = "solved"
        return Solution(
            task=self.task,
            attempts=tuple(self.attempts),
            status=status,
            answer=self.answer,
            tools=tuple(self.tools),
            usage=self.meter.usage,
            seconds=self.meter.seconds,
            limit=self.limit,
            orphans=orphans,
            unknown_writes=journal.unconfirmed_writes(),
            notes=self.meter.notes,
        )

    @property
    def paused(self) -> bool:
        """Whether a person must decide about what the last attempt would do."""
        return bool(self.attempts) and self.attempts[-1].paused

    def not_run(
        self,
        said: str,
        program: Program = Program(""),  # noqa: B008
        *,
        kind: FaultKind = "syntax",
    ) -> Attempt:
        """An attempt of which nothing ran, and why: whoever reads of the run is told."""
        attempt = Attempt(program, (), None, Fault(kind=kind, message=said), round=self.round)
        self.parts.observer(AttemptEnded(len(self.attempts), attempt))
        self.attempts.append(attempt)
        return attempt


def retrieve(task: str, parts: Parts, meter: BudgetedModel) -> Toolbox:
    """The tools that the prompt will hold: all where what is told of them fits it, else the best hits with producers.

    All is better than a choice: no search can miss a tool, and the same beginning of every prompt is read only once.
    Else the model may go on searching (`Meter.searching`).
    """
    toolbox = parts.toolbox
    budget = parts.prompt_tokens
    most = parts.config.max_tools
    names: Sequence[str] = list(toolbox)
    docs = parts.config.docs
    if len(names) > _FEW and not _is_fitting(toolbox, budget, docs):
        names = names[:most]
        with suppress(
            BudgetSpent
        ):  # nor is anything left to act with: the strategy's next request ends the run
            found = parts.finder(meter.asker("retrieve")).search(task, k=most)
            names = [hit.tool for hit in found.hits] or names
    kept = describe_within_budget(toolbox.only(names), budget=budget, docs=docs)[1]
    if len(kept) < len(toolbox) and docs == "full":

        def search(queries: Sequence[str]) -> list[str]:
            finder = parts.finder(None)
            hits = [finder.search(query, k=most).hits for query in queries]
            return [hit.tool for hit in in_turns(hits, toolbox, k=_FOUND)]

        meter.searching = ToolSearch(toolbox, kept, search, budget)
    parts.observer(ToolsChosen(tuple(kept), len(toolbox)))
    return kept


def _is_fitting(toolbox: Toolbox, budget: int, docs: Docs) -> bool:
    """Whether the least that can be said of each tool fits; of very many that need not be written out."""
    if len(toolbox) > budget:
        return False
    least = "\n".join(toolbox) if docs == "names" else stubs(toolbox, detail=DETAILS[-1])
    return token_estimate(least) <= budget


def drop_undone(
    orphans: Sequence[ToolCall], made: Sequence[ToolCall], tools: Toolbox
) -> tuple[ToolCall, ...]:
    """The orphans that no later call has undone.

    A call undoes a write when its tool is declared destructive and it is given, under the same name, a value that the
    write answered with, or was itself given where it answered with nothing of that name.
    """
    return tuple(
        orphan for orphan in orphans if not any(_is_undoing(call, orphan, tools) for call in made)
    )


def _is_undoing(call: ToolCall, orphan: ToolCall, tools: Toolbox) -> bool:
    tool = tools.get(call.tool)
    if tool is None or not tool.protocol.annotations.destructive or call.tool == orphan.tool:
        return False
    answered = dict(orphan.arguments) | _fields(orphan.result)
    given = [(name, value) for name, value in call.arguments.items() if name in tool.required]
    return bool(given) and all(
        name in answered and answered[name] == value for name, value in given
    )


def _fields(value: Json) -> dict[str, Json]:
    """The fields of an answer, those of an object that it only wraps included."""
    if not isinstance(value, Mapping):
        return {}
    inner = next(iter(value.values())) if len(value) == 1 else None
    return {**value, **inner} if isinstance(inner, Mapping) else dict(value)
