"""Execution of programs that a caller wrote, and the setup of all runs of an agent."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import date, datetime
from os import PathLike
from pathlib import Path
from reprlib import repr as shortened

from atc.agent.program_arguments import place_arguments, program_context
from atc.agent.resources import AgentResources
from atc.agent.run_start import BeforeWrite, RunOptions, begin_run, continue_run, make_parts
from atc.archive.learned_schemas import LearnedSchemas
from atc.core.config import Config
from atc.core.events import Observer
from atc.core.program import Program
from atc.core.task import TaskContext
from atc.core.types import Finding, Solution
from atc.pipeline.check import check
from atc.run.follow_up import FollowUp, follow_solution, follow_stored
from atc.run.record import RunRecord
from atc.run.saved_files import save_files
from atc.run.strategy_run import Parts
from atc.safety.questions import AskPerson
from atc.safety.unattended import ConsentMode
from atc.store import RunStore, UnknownRun
from atc.store.questions import Questions
from atc.store.stored import StoredRun
from atc.strategies.provided import NoModel, named_tools, run_given
from protocols.files import TemporaryFiles
from protocols.schema import JsonObject
from protocols.tool import Tool
from protocols.toolbox import Toolbox


class ProgramRunner(AgentResources):
    """Runs programs that a caller wrote, with the tools and the store of an agent.

    `declared` are the tools as their sources describe them. `toolbox` are the same tools with the
    response schemas that were learned. If `mode` is `none`, no person is asked about calls.
    """

    def __init__(
        self,
        declared: Toolbox,
        config: Config,
        *,
        store: RunStore | None,
        learned: LearnedSchemas | None,
        ask_person: AskPerson | None,
        questions: Sequence[Questions] | None,
        mode: ConsentMode = "ask",
    ) -> None:
        self.consent = mode
        self.declared = declared
        self.config = config
        self.toolbox = declared if learned is None else learned.apply_to(declared)
        self.learned = learned
        self.ask_person = ask_person
        if questions is None:
            questions = [] if store is None else [store.questions]
        self.questions = questions
        self.before_write: BeforeWrite | None = None
        """If not None, called before each write of a run that no gateway's client has sent."""
        self.run_id = ""
        """Id of the stored run that this agent began or continued last."""
        self._store = store
        self._learning = threading.Lock()
        self._files = TemporaryFiles()
        """The files of the runs that are not stored."""

    def save_files(self, solution: Solution, folder: str | PathLike[str]) -> list[Path]:
        """Write the files that the program printed or returned, and return their paths.

        `solution` is that of a run of this agent. The folder is made if it is missing. A file gets
        the name that the service gave it, without anything that leads elsewhere, and never takes
        the place of another file: beside `report.pdf` it becomes `report-2.pdf`.

        Raises:
            AtcError: The folder or a file cannot be written, or its bytes are not stored any more.
        """
        stored = self._store is not None and solution.run_id is not None
        files = self.store.files(str(solution.run_id)) if stored else self._files
        return save_files(solution.files, files, Path(folder))

    def _follow(self, after: Solution | str | None, context: TaskContext) -> FollowUp:
        """Return what a new run takes from the run that it follows.

        `after` is the solution or the id of that run; None if there is none. `context` is what the
        caller gives beside the new task.

        Raises:
            TypeError: `after` is something else.
            UnknownRun, RunRefused: See `Agent.run`.
        """
        if after is None:
            return FollowUp(context=context)
        if not isinstance(after, str | Solution):
            raise TypeError(f"after must be a Solution or the id of a run, got {shortened(after)}.")
        stored = self._load_earlier(after)
        if stored is not None:
            return follow_stored(stored, context, shared=self.store.shared)
        assert isinstance(after, Solution)
        return follow_solution(after, context, self.toolbox)

    def _load_earlier(self, after: Solution | str) -> StoredRun | None:
        """Return the stored run with this id or solution.

        Return None for a solution that is not in the agent's store.
        """
        if isinstance(after, str):
            return self.store.load(after)
        if self._store is None or after.run_id is None:
            return None
        with suppress(UnknownRun):  # it may be in another store
            return self._store.load(after.run_id)
        return None

    def execute(
        self,
        source: str,
        *,
        arguments: JsonObject | None = None,
        task: str = "",
        name: str = "",
        now: datetime | date | str | None = None,
        insist: bool = False,
        continues: str | None = None,
        observer: Observer | None = None,
        max_seconds: float | None = None,
        ask_person: AskPerson | None = None,
        accept_orphans: bool = False,
        resend: bool = False,
    ) -> Solution:
        """Run a program that the caller wrote. No model is asked.

        `arguments` are values of variables that the program reads and does not set. They count as
        the user's, each as a whole; literals of the program do not. `task` says what the program is
        for; values that occur in it count as chosen by the user. `name` is shown in its place, and
        is not the user's words. With `insist`, problems that the check derives from response
        schemas, which may be wrong, do not stop the program.

        `continues` is the id of a stored run whose completed calls are not made again: `source` is
        a corrected or longer version of its program. All other arguments are those of `resume` and
        `run`.

        Raises:
            InvalidTask: The program does not read an argument, or sets it; or `now` is no date.
            UnknownRun, RunRefused: `continues` names no run, or one that another process works on.
            SandboxUnavailable: An outage, which says nothing about the program.
        """
        options = RunOptions(
            observer=observer,
            max_seconds=max_seconds,
            ask_person=ask_person,
            accept_orphans=accept_orphans,
            resend=resend,
            insists=insist,
            context=program_context(arguments, now, names_program=not task, continues=continues),
        )
        placed = place_arguments(source, options.context.arguments, self.toolbox)
        shown = task if continues is not None else task or name
        return self._execute(placed, options, task=shown, continues=continues)

    def call_saved(self, tool: Tool, arguments: JsonObject) -> Solution:
        """Run a saved tool, as a program that only calls it. No model is asked.

        `arguments` are keyed by alias. Their values count as the user's, each as a whole. The
        result is the value of the program.

        Raises:
            SandboxUnavailable: An outage, which says nothing about the tool.
        """
        source = self.saved_call(tool, arguments)
        context = TaskContext(arguments=dict(arguments), names_program=True)
        return self._execute(source, RunOptions(context=context), task=source)

    @staticmethod
    def saved_call(tool: Tool, arguments: JsonObject) -> str:
        """Return the program that only calls a saved tool. `arguments` are keyed by alias."""
        words = ", ".join(f"{alias}={value!r}" for alias, value in arguments.items())
        return f"{tool.alias}({words})"

    def check(self, source: str) -> tuple[Finding, ...]:
        """Return the findings (problems) in a program, sorted by line. No program or tool is run.

        `execute` does not run a program with a finding that is `certain`. Other findings depend on
        the data, such as a field that can be null.
        """
        return check(Program(source), self.toolbox)

    def _execute(
        self, source: str, options: RunOptions, *, task: str = "", continues: str | None = None
    ) -> Solution:
        """Run a program that the caller wrote, see `execute`."""
        program = Program(source)
        named = named_tools(program, self.toolbox)
        if continues is None:
            record = self._begin_record(task, options, given=named)
        else:
            stored = self.store.load(continues)
            record = continue_run(
                stored,
                options.observer,
                store=self.store,
                toolbox=self.toolbox,
                task=task,
                ended=True,
            )
        past = record.past
        with self._open_record(record, given=True):
            called = [found.call.tool for found in past.calls] if past else []
            made = [alias for alias in called if alias in self.toolbox]
            needed = self.toolbox.only(dict.fromkeys([*named, *made]))
            parts = self._build_parts(record, options, given=needed)
            if past is not None:
                program = Program(parts.redact.restore(source))
            earlier = past.attempts if past else ()
            solution = run_given(
                program,
                record.words,
                parts,
                everything=self.toolbox,
                earlier=earlier,
                insists=options.insists,
            )
            return record.finish(replace(solution, task=record.task))

    def _build_parts(
        self, record: RunRecord, options: RunOptions, *, given: Toolbox | None = None
    ) -> Parts:
        """Return the components of one run, such as its tools, model, sandbox and journal of calls.

        If a caller wrote the program, `given` are the tools that the program may call, and no model
        is needed. If the model writes the programs, `given` is None.
        """
        return make_parts(
            record,
            options,
            toolbox=self.toolbox if given is None else given,
            finder=self.finder,
            ask=self.ask if given is None else NoModel(),
            sandbox=self.sandbox,
            config=self.config,
            ask_person=self.ask_person,
            questions=self.questions,
            given=given is not None,
            mode=self.consent,
            in_shell=self.in_shell,
            before_write=self.before_write,
        )

    def _begin_record(
        self,
        task: str,
        options: RunOptions,
        *,
        seed: int | None = None,
        given: Toolbox | None = None,
    ) -> RunRecord:
        """Begin a new run, and return the object that records its events.

        If a caller wrote the program, `given` are the tools that the program names. If the model
        writes the programs, `given` is None.
        """
        return begin_run(
            task,
            options,
            store=self._store,
            config=self.config,
            toolbox=self.toolbox if given is None else given,
            model=self.model_name,
            seed=seed,
            given=given is not None,
            files=self._files,
        )

    @contextmanager
    def _open_record(self, record: RunRecord, *, given: bool = False) -> Iterator[None]:
        """Record the events of a run within the block; then learn response schemas from its calls.

        `given` is True if a caller, not the model, wrote the program.
        """
        self.run_id = record.run
        with record.open(self.toolbox):
            yield
        if self.learned is None or record.solution is None:
            return
        if record.solution.status == "paused" and not given:
            # The same prompts must be built again when the run is resumed.
            return
        past = record.past.calls if record.past is not None else ()
        calls = [recorded.call for recorded in past]
        calls += [call for attempt in record.solution.attempts for call in attempt.calls]
        with self._learning:
            self.toolbox = self.learned.learn(self.toolbox, calls, record.redact)
