"""The class `Agent`, which solves tasks with a toolbox, a model and a sandbox."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from dataclasses import replace
from datetime import date, datetime
from functools import partial
from os import PathLike
from typing import Any, Self, TypeVar, overload

from atc.agent.program_runner import ProgramRunner
from atc.agent.run_start import RunOptions, continue_run, last_program
from atc.agent.setup import (
    check_parts,
    configured,
    drop_outdated_consent,
    names_of,
    open_store,
    open_tools,
    require_tools,
)
from atc.archive.learned_schemas import LearnedSchemas
from atc.core.config import Config
from atc.core.draft import Draft
from atc.core.events import Observer
from atc.core.task import readable
from atc.core.types import Solution
from atc.run.output_type import OutputType, TypedSolution, as_output_type, context_of
from atc.run.record import RunRecord
from atc.safety.questions import AskPerson
from atc.safety.taint.trusted import require_trusted_tools
from atc.safety.unattended import ConsentMode, read_consent, require_closed_world
from atc.settings.program import Credentials, user_config, with_credentials
from atc.store import RunStore
from atc.store.questions import Questions
from atc.strategies import strategy
from atc.strategies.chain import draft
from atc.strategies.provided import GIVEN
from protocols.model import Ask
from protocols.sources import ToolSource
from protocols.sources.factories import Factory
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox

T = TypeVar("T")


class Agent(ProgramRunner):
    """Solves tasks with one toolbox.

    The agent is a context manager; `close` closes what it has opened. `tools` is a toolbox, or what
    `load_tools` accepts: an address, a path, a function, a list of these, or a factory, which makes
    fresh tools for each run. They are loaded with the credentials and MCP servers of `config`.

    `config` has the settings. By default they are those of the user, as for `atc run`: `ATC_*`
    variables, `./atc.toml` and the user's own file, except for the tools. `credentials` are further
    credentials, keyed by name: tables as in the settings file, such as `{"crm": {"value":
    "env:CRM_TOKEN", "hosts": ["crm.example.org"]}}`. They apply also to a ready-made toolbox.

    `model` is an object with the interface `Ask`, or a model name as for `atc run --model`. None
    means the configured model, else the endpoint in OPENAI_BASE_URL or OPENAI_API_KEY, else the
    embedded model. `sandbox` is a `Sandbox` or the name of one.

    Tools that may change something are called only if `allow_writes` (or the configuration) names
    them, or if `ask_person` returns True; else the run ends `paused`. A call that a person declined
    before, or that a gateway left undecided, always asks a person; `questions` records these calls,
    by default in the store. `trust` says where values of recipients, URLs, commands and amounts may
    come from, as `atc run --trust` does: `"find_contact"`, `"find_contact:email"`, `"value=bob"`,
    or `"query.sql"`, which opens this argument of this tool to any value.

    `consent="none"` is for a simulated world without a person: no call asks, neither a write nor a
    value, and writes that the final program does not make may remain. `Solution.skipped_questions`
    and `Solution.orphans` list them. Only this argument and `atc run --consent none` turn questions
    off, no setting does. A call that a person declined earlier is still not sent.

    With a `store`, which may be the path of its file or the address of its database, each run is
    recorded from its first moment. With `learned`, tools without a response schema get one from the
    responses of their calls. Budgets such as `max_seconds=60` apply to each run; if one is None,
    the configured budget applies.

    Raises:
        InvalidConfig: An argument or a setting cannot be used, or `consent` is `none` and a tool
            has a credential or leads beyond this machine.
        UnknownTool: `allow_writes` or `trust` names a tool that does not exist.
        SourceUnavailable, InvalidProtocol: A source of `tools` cannot be read, see `load_tools`.
    """

    def __init__(
        self,
        tools: Toolbox | ToolSource | Factory,
        *,
        model: Ask | str | None = None,
        sandbox: Sandbox | str | None = None,
        config: Config | None = None,
        credentials: Credentials | None = None,
        ask_person: AskPerson | None = None,
        store: RunStore | str | PathLike[str] | None = None,
        learned: LearnedSchemas | None = None,
        allow_writes: str | Iterable[str] = (),
        trust: str | Iterable[str] = (),
        consent: ConsentMode = "ask",
        questions: Sequence[Questions] | None = None,
        max_seconds: float | None = None,
        max_calls: int | None = None,
        max_tokens: int | None = None,
        max_model_calls: int | None = None,
        max_cost: float | None = None,
    ) -> None:
        standing: Config | None = None
        if config is None:
            config = standing = user_config()
        check_parts(model=model, sandbox=sandbox, config=config, ask_person=ask_person)
        allowed = names_of("allow_writes", allow_writes)
        trusted = names_of("trust", trust)
        mode = read_consent(consent)
        config = configured(
            with_credentials(config, credentials),
            model=model if isinstance(model, str) else None,
            sandbox=sandbox if isinstance(sandbox, str) else None,
            allow_writes=(*config.allow_writes, *allowed),
            trust=(*config.trust, *trusted),
            max_seconds=max_seconds,
            max_calls=max_calls,
            max_tokens=max_tokens,
            max_model_calls=max_model_calls,
            max_cost=max_cost,
        )
        with ExitStack() as owned:
            declared, config = open_tools(
                tools,
                config,
                owned,
                is_users=standing is not None,
                rebind=credentials is not None,
            )
            if standing is not None:
                named = {"allow_writes": allowed, "trust": trusted}
                config = drop_outdated_consent(config, standing, declared, named)
            require_tools(allowed, declared)
            require_trusted_tools(trusted, declared)
            if mode == "none":
                require_closed_world(declared, config)
            opened = open_store(store, owned)
            if opened is not None and opened is not store:
                opened.keep_days = config.keep_days
            self._owned = owned.pop_all()
        super().__init__(
            declared,
            config,
            store=opened,
            learned=learned,
            ask_person=ask_person,
            questions=questions,
            mode=mode,
        )
        self._model = None if isinstance(model, str) else model
        self._sandbox = None if isinstance(sandbox, str) else sandbox

    @overload
    def run(
        self,
        task: str,
        *,
        output_type: type[T] | OutputType[T],
        rules: str = "",
        now: datetime | date | str | None = None,
        after: Solution | str | None = None,
        observer: Observer | None = None,
        seed: int | None = None,
        max_seconds: float | None = None,
    ) -> TypedSolution[T]: ...

    @overload
    def run(
        self,
        task: str,
        *,
        output_type: None = None,
        rules: str = "",
        now: datetime | date | str | None = None,
        after: Solution | str | None = None,
        observer: Observer | None = None,
        seed: int | None = None,
        max_seconds: float | None = None,
    ) -> Solution: ...

    def run(
        self,
        task: str,
        *,
        output_type: type[T] | OutputType[T] | None = None,
        rules: str = "",
        now: datetime | date | str | None = None,
        after: Solution | str | None = None,
        observer: Observer | None = None,
        seed: int | None = None,
        max_seconds: float | None = None,
    ) -> Solution:
        """Solve one task and return the solution. In a notebook the run is shown as it happens.

        `max_seconds` replaces the setting of the same name. With an `output_type`, such as a
        pydantic model, the answer must be JSON of that type, and the solution has the value as
        `output`. An answer of another form is a fault that the model is asked to correct.

        `rules` are given in addition to the task, such as a policy. The model must follow them, but
        they do not count as the user's words. So conditions and codes in them raise no doubts about
        the answer. If only they contain a value, a person is still asked before it is sent as a
        recipient or an amount. `now` is the date and time at which the programs' clock starts, such
        as `"2023-11-30T09:15"`, in UTC if it names no zone; prompts show this date. By default, the
        clock starts when the run does. A stored run keeps `rules` and `now`.

        `after` is an earlier solution, or the id of a stored run, which the task follows ("and for
        JFK?"). Prompts begin with the earlier task, its program, its answer and the shapes of its
        results. Its rules and its date apply unless new ones are given. If the agent's store has
        the earlier run, its reads answer equal reads for an hour, as long as nothing was written.

        `seed` initialises `random`, `uuid` and `secrets` in the programs. By default each run draws
        its own seed and stores it, so that a password or an id that a program makes cannot be
        guessed.

        Raises:
            InvalidTask, TypeError: The task is empty or too long, the rules are too long, `now` is
                no date, or `output_type` is not a type.
            UnknownRun, RunRefused: There is no run `after`, it is still going, or has no program.
            ModelUnavailable, SandboxUnavailable: An outage, which says nothing about the task. The
                task may be run again.
        """
        output = as_output_type(output_type)
        taken = self._follow(after, context_of(rules, now, output))
        options = RunOptions(
            observer=observer, max_seconds=max_seconds, context=taken.context, follows=taken.stored
        )
        record = self._begin_record(readable(task), options, seed=seed)
        with self._open_record(record):
            parts = self._build_parts(record, options)
            parts = parts if output is None else replace(parts, output=output)
            solution = record.finish(strategy(self.config.strategy)(record.task, parts))
        return solution if output is None else output.to_typed(solution)

    @overload
    async def arun(
        self,
        task: str,
        *,
        output_type: type[T] | OutputType[T],
        rules: str = "",
        now: datetime | date | str | None = None,
        after: Solution | str | None = None,
        observer: Observer | None = None,
        seed: int | None = None,
        max_seconds: float | None = None,
    ) -> TypedSolution[T]: ...

    @overload
    async def arun(
        self,
        task: str,
        *,
        output_type: None = None,
        rules: str = "",
        now: datetime | date | str | None = None,
        after: Solution | str | None = None,
        observer: Observer | None = None,
        seed: int | None = None,
        max_seconds: float | None = None,
    ) -> Solution: ...

    async def arun(
        self,
        task: str,
        *,
        output_type: type[T] | OutputType[T] | None = None,
        rules: str = "",
        now: datetime | date | str | None = None,
        after: Solution | str | None = None,
        observer: Observer | None = None,
        seed: int | None = None,
        max_seconds: float | None = None,
    ) -> Solution:
        """Solve one task in a thread, so that the event loop is not blocked.

        The arguments are those of `run`. Several tasks can be solved at once. `observer` is called
        in the thread. If the asyncio task is cancelled, the run ends at its next step, as after
        Ctrl-C; `resume` continues it.

        Raises:
            InvalidTask, TypeError, ModelUnavailable, SandboxUnavailable: See `run`.
        """
        # Imports asyncio, which whoever awaits this has already.
        from atc.core.run_in_thread import run_in_thread

        given: dict[str, Any] = {"rules": rules, "now": now, "after": after, "seed": seed}
        solve = partial(self.run, task, output_type=output_type, max_seconds=max_seconds, **given)
        return await run_in_thread(lambda watch: solve(observer=watch), observer)

    def resume(
        self,
        run: str,
        *,
        observer: Observer | None = None,
        max_seconds: float | None = None,
        ask_person: AskPerson | None = None,
        accept_orphans: bool = False,
        resend: bool = False,
        took_effect: bool = False,
    ) -> Solution:
        """Continue a stored run that was paused, or whose process ended. The agent needs a `store`.

        Model replies and tool responses that the run already has are not requested again. If the
        response of a write was lost, it is first determined whether the write took effect. If the
        run was started by `execute`, its last program runs again. `max_seconds` and `ask_person`
        replace the settings of the agent.

        A run is normally not solved if earlier programs made writes that the final program does not
        make. If `accept_orphans` is True, such writes may remain. If `resend` is True, writes of
        unknown outcome are sent again, because a person has found out that they did not take
        effect. If `took_effect` is True, a person has found out that they did: they count as done,
        with the result None.

        Raises:
            UnknownRun, RunRefused: There is no such run, or it cannot be continued, for example
                because its tools have changed.
            ModelUnavailable, SandboxUnavailable: An outage. The run may be resumed again.
        """
        options = RunOptions(
            observer=observer,
            max_seconds=max_seconds,
            ask_person=ask_person,
            accept_orphans=accept_orphans,
            resend=resend,
            took_effect=took_effect,
        )
        stored = self.store.load(run)
        if stored.summary.strategy == GIVEN:
            return self._execute(last_program(stored), options, continues=stored.summary.run_id)
        record = continue_run(stored, observer, store=self.store, toolbox=self.toolbox)
        with self._open_record(record):
            return record.finish(
                strategy(self.config.strategy)(record.task, self._build_parts(record, options))
            )

    def draft(
        self,
        task: str,
        *,
        output_type: type[T] | OutputType[T] | None = None,
        rules: str = "",
        now: datetime | date | str | None = None,
        after: Solution | str | None = None,
        observer: Observer | None = None,
    ) -> Draft:
        """Return what `run` would begin with: tools, a first program and its findings.

        No tool is called, and nothing is recorded. The arguments are those of `run`.

        Raises:
            InvalidTask: The task is empty or too long, the rules are too long, or `now` is no date.
            UnknownRun, RunRefused: See `run`.
            ModelUnavailable: An outage.
        """
        taken = self._follow(after, context_of(rules, now, output_type))
        record = RunRecord(observer, context=taken.context)
        return draft(readable(task), self._build_parts(record, RunOptions()))

    def close(self) -> None:
        """Close what the agent has opened: tool connections, store, model, sandbox and index.

        A toolbox, store, model or sandbox that the caller passed stays open. Calling this again
        does nothing.
        """
        self._owned.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
