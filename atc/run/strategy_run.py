"""Base class of strategies: the components of a run, its tools, its attempts, and how it ends."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from atc.core.config import Config, InvalidConfig
from atc.core.events import AttemptEnded, Observer, ToolsChosen
from atc.core.program import Program
from atc.core.task import TaskContext
from atc.core.types import Attempt, Fault, FaultKind, Solution, Status
from atc.models.prices import FREE, Price, price_of
from atc.pipeline.guessed_links import drop_contradicted_links
from atc.pipeline.repair.open_effects import note_open_effects, raised_writes
from atc.pipeline.response_notes import response_notes
from atc.pipeline.retrieve.base import Retriever
from atc.pipeline.retrieve.finder import READ, describe_words_alone, named_in_docs
from atc.pipeline.retrieve.planned import in_turns
from atc.run.focus import NEAREST, ShownTools, rank_by_words, select_full
from atc.run.model_budget import BudgetedModel, BudgetSpent
from atc.run.output_type import OutputType
from atc.run.resume import ResumedRun, ran_out_of_time
from atc.run.tool_search import ToolSearch
from atc.run.undone_writes import drop_undone
from atc.run.worlds import worlds_of
from atc.safety.consent import Consent
from atc.safety.redaction import Redactor
from protocols.model import Ask, Completion, Message
from protocols.render import (
    WITH_RESPONSES,
    Docs,
    call_form,
    describe_within_budget,
    is_fitting,
)
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.journal import Journal
from sandbox.trace import ToolCall

_FEW = 4
"""With at most this number of tools, no search is made.

The prompt describes all of them, in less detail if necessary.
"""
_FOUND = 12
"""Maximum number of tools that one tool search of the model returns."""


@dataclass(frozen=True, kw_only=True)
class Parts:
    """The components of a run, which its strategy uses.

    The writing tools in `toolbox` ask for consent before they are called. `past` is the stored part
    of a resumed run. Earlier attempts may have made writes that the final program does not make
    (orphans). `accept_orphans` is True if a person has agreed that these remain.
    """

    toolbox: Toolbox
    finder: Callable[[Ask | None], Retriever]
    """Returns the search over `toolbox`.

    Search methods that need a model use the one that is passed. If None is passed, a method that
    needs no model is used.
    """
    ask: Ask
    sandbox: Sandbox
    journal: Journal
    config: Config
    observer: Observer
    consent: Consent
    past: ResumedRun
    redact: Redactor
    accept_orphans: bool = False
    context: TaskContext = field(default_factory=TaskContext)
    """The rules and the date that the caller gave beside the task."""
    output: OutputType[Any] | None = None
    """The type that the answer must have, or None."""

    @property
    def prompt_tokens(self) -> int:
        """Number of tokens of a prompt that tool descriptions may take."""
        return self.config.prompt_tokens or self.ask.prompt_tokens

    @property
    def docs(self) -> Docs:
        """What prompts say about each tool: the setting, or else what suits the model."""
        suited: Docs = getattr(self.ask, "docs", "full")
        return self.config.docs or suited

    @property
    def samples(self) -> int:
        """Number of replies that may be sampled for one prompt.

        It is the setting, or else a number that suits the model.
        """
        return self.config.samples or int(getattr(self.ask, "samples", 1))

    @property
    def is_small(self) -> bool:
        """True for a small model, whose replies are cheap enough to request several at once.

        It gets prompts of a fixed form.
        """
        return self.samples > 1

    def meter(self) -> BudgetedModel:
        """Return the model for one run, which enforces the run's budget and counts its usage."""
        price = FREE if self.config.max_cost is None else _price(self.config, self.ask.name)
        return BudgetedModel(
            self.ask, self.observer, self.config, price=price, past=self.past, redact=self.redact
        )


Solve = Callable[[str, Parts], Solution]
"""Solves a task with the components of a run.

Raises `ModelUnavailable` or `SandboxUnavailable` for outages, which say nothing about the task.
"""


def _price(config: Config, model: str) -> Price:
    """Return the price of the model's tokens, which is needed to enforce a limit on the cost.

    Raises:
        InvalidConfig: the price is not known.
    """
    if (price := price_of(model, config.model_price)) is None:
        raise InvalidConfig(
            f"max_cost = {config.max_cost:g} needs a price, and none is known for the"
            f" model {model!r}: set model_price"
            " to USD for a million tokens of prompts and of replies, such as [0.25, 2.0]."
        )
    return price


class Run:
    """One task that is being solved. Each strategy is a subclass that implements `act`.

    `tools` are those that the prompt describes, and `tool_search` finds further ones. If `tools`
    are not passed, they are chosen by `retrieve`. A run that continues another strategy's run gets
    the tools, `meter` (model with budget) and `attempts` of that run. `round` counts restarts and
    repairs and is stored in each attempt.
    """

    def __init__(
        self,
        task: str,
        parts: Parts,
        *,
        tools: Toolbox | None = None,
        tool_search: ToolSearch | None = None,
        meter: BudgetedModel | None = None,
        attempts: Sequence[Attempt] = (),
    ) -> None:
        self.task = task
        self.parts = parts
        self.prompt_task = parts.context.add_to(task)
        """The task as prompts show it, with the caller's rules and date; `task` lacks them."""
        self.meter = meter or parts.meter()
        if tools is None:
            tools, tool_search = retrieve(task, parts, self.meter)
        self.tools = tools
        self.tool_search = tool_search
        self.attempts = list(attempts)
        self.round = 0
        self.answer: str | None = None
        self.open_doubts: tuple[str, ...] = ()
        """Doubts about `answer` that the model has not answered."""
        self.limit: str | None = None

    def act(self) -> None:
        """Work on the task until it is solved, a limit is reached, or a person must decide.

        Afterwards `answer` or `limit` is set, or the last attempt is paused.

        Raises:
            BudgetSpent: the run's budget is used up.
        """
        raise NotImplementedError

    def write(
        self, messages: Sequence[Message], *, purpose: str, temperature: float, seed: int
    ) -> Completion:
        """Ask the model for a program or a piece of one.

        If the reply asks for tool searches first, they are made and the model is asked again.

        Raises:
            BudgetSpent, ModelUnavailable: See `BudgetedModel.complete`.
        """
        while self.tool_search is not None:
            told = self.tool_search.add_searches(messages)
            completion = self.meter.complete(
                told, purpose=purpose, temperature=temperature, seed=seed
            )
            if not self.tool_search.handle_reply(completion.text, messages):
                return completion
        return self.meter.complete(messages, purpose=purpose, temperature=temperature, seed=seed)

    def choose_answer(self) -> None:
        """Set `answer` to the answer that counts. By default, it stays as it is.

        Called after the last step, also if the budget ended the run.
        """

    def solve(self) -> Solution:
        """Run the strategy and return the solution."""
        try:
            self.act()
        except BudgetSpent as spent:
            self.limit = spent.limit
        if self.limit is None and self.attempts and ran_out_of_time(self.attempts[-1]):
            self.limit = self.meter.spent_time  # so that the run can go on with more
        self.choose_answer()
        return self.solution()

    def solution(self) -> Solution:
        """Return the outcome of the run.

        An answer about which a doubt is open makes the run `unsure`.

        A run with an answer is not solved while there are orphans, that is, writes of earlier
        attempts that the final program does not make. It is then paused until they are undone or a
        person accepts them.
        """
        parts = self.parts
        journal = self.parts.journal
        self._settle_worlds()
        orphans = (
            drop_undone(self._orphans(), journal.completed_calls(), parts.toolbox)
            if self.answer
            else ()
        )
        for note in note_open_effects(raised_writes(self.attempts, parts.toolbox), orphans):
            self.meter.note(note)
        for attempt in [one for one in self.attempts if one.answer is not None][-1:]:
            for note in response_notes(attempt, parts.toolbox, task=self.task):
                self.meter.note(note)
        for note in parts.toolbox.notes:
            self.meter.note(note)
        status: Status = "failed"
        if self.paused or (orphans and not parts.accept_orphans):
            status = "paused"
        elif self.answer is not None:
            status = "unsure" if self.open_doubts else "solved"
        return Solution(
            task=self.task,
            attempts=tuple(self.attempts),
            status=status,
            answer=self.answer,
            doubts=self.open_doubts if status == "unsure" else (),
            tools=tuple(self.tools),
            usage=self.meter.usage,
            seconds=self.meter.seconds,
            limit=self.limit,
            orphans=orphans,
            unknown_writes=journal.unconfirmed_writes(),
            notes=self.meter.notes,
            skipped_questions=tuple(parts.consent.skipped),
        )

    def _settle_worlds(self) -> None:
        """If the last program gave the answer, bring each world to the state after this program.

        A world is the state behind tools. It may have had calls of earlier programs, too.
        """
        for world in worlds_of(self.parts.toolbox):
            if self.answer is not None and world.can_restart:
                world.settle()
            if world.note is not None:
                self.meter.note(world.note)

    def _orphans(self) -> list[ToolCall]:
        """Return the writes whose effects remain although the last program does not make them.

        Writes of a factory's tools are left out. Each program has a fresh world of these tools, so
        the effects of earlier programs are gone.
        """
        tools = self.parts.toolbox
        return [
            call
            for call in self.parts.journal.orphans()
            if call.tool not in tools or tools[call.tool].fresh is None
        ]

    def shown_tools(self) -> ShownTools:
        """Return the tools that the next prompt shows.

        Before the first program, these are all of `tools`. If a search has ranked them, those after
        the nearest ones are shown briefly. After the first program, only the tools that matter for
        the programs so far are shown in full.
        """
        if self.parts.is_small or self.parts.docs != "full":
            return ShownTools(self.tools)
        is_ranked = self.tool_search is not None
        sources = [attempt.program.source for attempt in self.attempts]
        if not any(sources):
            return ShownTools(self.tools, nearest=NEAREST if is_ranked else None)
        wanted = self.parts.context.with_earlier_tasks(self.task)
        ranked = list(self.tools) if is_ranked else rank_by_words(wanted, self.tools)
        full = select_full(self.tools, ranked[:NEAREST], sources)
        by_name = tuple(call_form(tool) for alias, tool in self.tools.items() if alias not in full)
        calls = [call for attempt in self.attempts for call in attempt.calls]
        return ShownTools(drop_contradicted_links(full, calls), by_name)

    @property
    def paused(self) -> bool:
        """True if the last attempt waits for a person, see `Attempt.paused`."""
        return bool(self.attempts) and self.attempts[-1].paused

    @property
    def denied(self) -> bool:
        """True if the last program and an earlier one failed because a permission is missing.

        The model then had the chance to write a program that does not need the permission.
        """
        faults = [attempt.fault for attempt in self.attempts if attempt.fault is not None]
        denials = [fault for fault in faults if fault.cure == "permission"]
        return len(denials) > 1 and self.attempts[-1].fault is denials[-1]

    def not_run(
        self,
        said: str,
        program: Program = Program(""),  # noqa: B008
        *,
        kind: FaultKind = "syntax",
    ) -> Attempt:
        """Add an attempt whose program was not executed, and report it to the observer.

        `said` is the reason, `kind` the kind of fault.
        """
        attempt = Attempt(program, (), None, Fault(kind=kind, message=said), round=self.round)
        self.parts.observer(AttemptEnded(len(self.attempts), attempt))
        self.attempts.append(attempt)
        return attempt


class RetrievedTools(NamedTuple):
    """The tools that a prompt describes, and the search for other tools, if there is one."""

    tools: Toolbox
    search: ToolSearch | None


def retrieve(task: str, parts: Parts, meter: BudgetedModel) -> RetrievedTools:
    """Return the tools for the prompt: all tools if they fit, else the best search hits.

    Hits come with the tools that produce the ids that they need, and with those that the
    documentation of the best ones names, which are described briefly. Describing all tools is
    preferred: then no search can miss one, and the beginning of the prompt is constant and cached.
    If not all are described, the model may search for more.
    """
    toolbox = parts.toolbox
    budget = parts.prompt_tokens
    most = parts.config.max_tools
    names: Sequence[str] = list(toolbox)
    docs = parts.docs
    if len(names) > _FEW and not is_fitting(toolbox, budget, docs):
        names = names[:most]
        # Without a budget, the strategy's next request ends the run anyway.
        with suppress(BudgetSpent):
            wanted = parts.context.with_earlier_tasks(task)
            found = parts.finder(meter.asker("retrieve")).search(wanted, k=most)
            names = [hit.tool for hit in found.hits] or names
        names = list(dict.fromkeys([*_named_before(parts), *names]))
        if note := describe_words_alone(parts.config):
            meter.note(note)
    named = named_in_docs(names, toolbox) if len(names) < len(toolbox) else []
    # Before the hits that follow the ones that name them: what does not fit is left out at the end.
    order = [*names[:READ], *named, *names[READ:]]
    shown = toolbox.only(order).map(lambda tool: replace(tool, brief=tool.alias in named))
    kept = describe_within_budget(shown, budget=budget, docs=docs)[1]
    parts.observer(ToolsChosen(tuple(kept), len(toolbox)))
    if len(kept) == len(toolbox) or docs not in WITH_RESPONSES:
        return RetrievedTools(kept, None)

    def search(queries: Sequence[str]) -> list[str]:
        finder = parts.finder(None)
        hits = [finder.search(query, k=most).hits for query in queries]
        return [hit.tool for hit in in_turns(hits, toolbox, k=_FOUND)]

    return RetrievedTools(kept, ToolSearch(toolbox, kept, search, budget))


def _named_before(parts: Parts) -> list[str]:
    """Return the tools that programs of earlier tasks call, see `TaskContext.earlier`."""
    programs = [Program(one.program) for one in parts.context.earlier]
    return [name for program in programs for name in program.names if name in parts.toolbox]
