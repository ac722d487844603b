"""The start of a new or continued run: recording its events, and preparing its components."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from atc.core.config import Config, public
from atc.core.events import ConsentWaived, NoteAdded, Observer
from atc.core.task import TaskContext
from atc.pipeline.retrieve.base import Retriever
from atc.run.follow_up import earlier_reads
from atc.run.output_type import stored_type
from atc.run.record import RunRecord
from atc.run.resume import ResumedRun, repeat_unfinished
from atc.run.strategy_run import Parts
from atc.run.worlds import open_worlds
from atc.safety.consent import Consent
from atc.safety.held_calls import HeldCalls
from atc.safety.questions import AskPerson
from atc.safety.redaction import Redactor
from atc.safety.unattended import ConsentMode
from atc.store import RunStore
from atc.store.questions import Questions
from atc.store.stored import RunRefused, StoredRun
from atc.strategies.provided import GIVEN
from protocols.files import FileStore
from protocols.model import Ask
from protocols.schema import JsonObject
from protocols.sources import absolute_source
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox
from sandbox.journal import Journal
from sandbox.lost_writes import WriteRecovery
from sandbox.trace import Pins

BeforeWrite = Callable[[str, Tool, JsonObject], None]
"""A function that is called before a write. It may raise `Paused`.

Its arguments are the id of the run, the tool, and the tool's arguments keyed by original name.
"""


@dataclass(frozen=True, kw_only=True)
class GatewayClient:
    """The client of a gateway that has sent the program of a run.

    A call that needs consent waits until a person has decided. Unlike in other runs, no message
    names the shell command that would allow the call, because the client could run that command
    itself.
    """

    name: str
    """Name of the client, unique among all clients of the store."""
    before_write: BeforeWrite
    answered: Collection[str] = ()
    """Ids of questions that earlier programs of the run asked, and that `ask_person` can answer."""


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """The options of one run, in addition to the agent's settings."""

    observer: Observer | None = None
    max_seconds: float | None = None
    """If not None, replaces the setting of the same name."""
    ask_person: AskPerson | None = None
    """If not None, replaces the agent's function that asks a person."""
    accept_orphans: bool = False
    """True if writes that the final program does not make may remain."""
    resend: bool = False
    """True if a person has found out that the writes of unknown outcome did not take effect."""
    took_effect: bool = False
    """True if a person has found out that the writes of unknown outcome took effect."""
    client: GatewayClient | None = None
    """The client that has sent the program, if a gateway runs it."""
    insists: bool = False
    """True if the caller has sent the program before and knows the findings about it."""
    context: TaskContext = field(default_factory=TaskContext)
    """The rules and the date of a new run. A continued run keeps those that it began with."""
    follows: StoredRun | None = None
    """The stored run that a new run follows, whose reads may answer equal reads."""

    def __post_init__(self) -> None:
        """Check the time limit.

        Raises:
            InvalidConfig: The time limit is not a positive number.
        """
        if self.max_seconds is not None:
            Config(max_seconds=self.max_seconds)


def begin_run(
    task: str,
    options: RunOptions,
    *,
    store: RunStore | None,
    config: Config,
    toolbox: Toolbox,
    model: str,
    seed: int | None = None,
    given: bool = False,
    files: FileStore,
) -> RunRecord:
    """Begin a new run, and return the object that records its events.

    If there is a store, it lists the run from now on. `given` is True if the caller, not the model,
    writes the programs. Then `toolbox` has only the tools that the first program names. `files`
    keeps the files of a run that is not stored.
    """
    context = options.context
    clock = time.time() if context.clock is None else context.clock
    pins = Pins(seed=secrets.randbits(64) if seed is None else seed, clock=clock)
    if store is None:
        return RunRecord(options.observer, task, pins, context=context, files=files)
    run = store.create(
        task,
        model=model,
        strategy=GIVEN if given else config.strategy,
        sandbox=config.sandbox,
        config=public(config) | {"tools": [*map(absolute_source, config.tools)]},
        tools=tuple(toolbox)[:1000],
        pins=pins,
        identities={alias: tool.identity for alias, tool in toolbox.items()},
        gateway=given and options.client is not None,
        context=context,
    )
    return RunRecord(options.observer, task, pins, store, run, context=context)


def continue_run(
    stored: StoredRun,
    observer: Observer | None,
    *,
    store: RunStore,
    toolbox: Toolbox,
    task: str = "",
    ended: bool = False,
) -> RunRecord:
    """Continue a stored run: reserve it for this process, and return the object that records it.

    The programs of a run, and the permissions for it, name tools. So each name must still refer to
    the same tool as when the run began. If `ended` is True, a run that was solved or has failed can
    be continued, too.

    Raises:
        RunRefused: The run's tools have changed, or another process works on the run.
    """
    begun = stored.summary
    run = begun.run_id
    known = begun.identities
    if changed := [a for a, tool in known.items() if a in toolbox and toolbox[a].identity != tool]:
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        raise RunRefused(
            f"run {run} cannot go on: {', '.join(changed[:3])}{more} would call something"
            " else than when it began"
            " (another source, method or address, or no factory). Restore these tools, or begin a"
            " new run."
        )
    if known and not any(alias in toolbox for alias in known):
        raise RunRefused(
            f"run {run} cannot go on: none of its tools is here. Where a Python program"
            " began it: Agent.resume."
        )
    stored = store.take(run, ended=ended)
    return RunRecord(
        observer,
        task or begun.task,
        begun.pins or Pins(),
        store,
        run,
        past=stored,
        context=replace(begun.context, names_program=begun.context.names_program and not task),
    )


def last_program(stored: StoredRun) -> str:
    """Return the last program of a run, with which the run can be continued.

    The run was started by `Agent.execute`, so its programs come from the caller and not from a
    model. To continue such a run, its last program is executed once more. This is possible if the
    run was paused or interrupted. It is also possible if the run failed, and it is unknown whether
    one of its calls took effect.

    Raises:
        RunRefused: the run has ended in another way, or has no program.
    """
    run = stored.summary
    doubtful = run.status == "failed" and any(one.call.outcome == "unknown" for one in stored.calls)
    if not (doubtful or run.status in ("paused", "interrupted")) or not stored.attempts:
        raise RunRefused(
            f"run {run.run_id} is {run.status}, not paused; correct its program and run that."
        )
    return stored.attempts[-1].program.source


def make_parts(
    record: RunRecord,
    options: RunOptions,
    *,
    toolbox: Toolbox,
    finder: Callable[[Ask | None], Retriever],
    ask: Ask,
    sandbox: Sandbox,
    config: Config,
    questions: Sequence[Questions],
    ask_person: AskPerson | None = None,
    given: bool = False,
    mode: ConsentMode = "ask",
    in_shell: bool = False,
    before_write: BeforeWrite | None = None,
) -> Parts:
    """Return the components of one run. Its tools ask for consent before they are called.

    If `mode` is `none`, they do not ask, and writes that the final program does not make remain.

    `given` is True if the caller writes the programs. In such a run, consent that was stored
    earlier does not count, and tools may be used that the first program did not name. `in_shell` is
    True if a command has started the run. `before_write` is called before each write; that of a
    gateway's client replaces it.
    """
    if options.max_seconds is not None:
        config = replace(config, max_seconds=options.max_seconds)
    toolbox = open_worlds(toolbox)
    client = options.client
    if client is not None:
        before_write = client.before_write
    held = HeldCalls(questions, run=record.run, client=None if client is None else client.name)
    held.begin(() if client is None else client.answered)
    effects = WriteRecovery(
        tools=toolbox,
        on_unknown=config.on_unknown,
        took_effect_before=time.time() if options.took_effect else None,
        settle_seconds=config.settle_seconds,
    )
    journal = record.journal(effects)
    consent = Consent(
        record.words,
        toolbox,
        config,
        options.ask_person or ask_person,
        journal,
        past=None if given else record.past,
        before_write=None if before_write is None else partial(before_write, record.run),
        held=held,
        given=record.context.arguments,
        mode=mode if client is None else "ask",
        agent=client is not None or (record.past is not None and record.past.summary.gateway),
        in_shell=in_shell,
        cover=lambda text: record.redact(text),
    )
    record.redact = Redactor(consent.toolbox)
    record.redact.learn_placeholders(record.context.secrets)
    record.redact.learn_sources(config.tools)
    if record.past is not None:
        _restore_calls(journal, record.past, consent.toolbox, given=given)
        record.redact.learn_run(record.past)
    if options.follows is not None and record.store is not None:
        journal.find_earlier = earlier_reads(options.follows, consent.toolbox, record.store)
    _report_consent(consent, record)
    if options.resend:
        journal.mark_not_sent()
    return Parts(
        toolbox=consent.toolbox,
        finder=finder,
        ask=ask,
        sandbox=sandbox,
        journal=journal,
        config=config,
        observer=record.observer,
        consent=consent,
        past=ResumedRun(record.past),
        redact=record.redact,
        accept_orphans=options.accept_orphans or consent.mode == "none",
        context=record.context,
        output=stored_type(record.context),
    )


def _restore_calls(journal: Journal, past: StoredRun, tools: Toolbox, *, given: bool) -> None:
    """Fill the journal with the calls of the earlier executions of a run.

    Unless the caller writes the programs (`given`), the execution that broke off is repeated.
    """
    journal.restore(past.calls, tools)
    if not given:
        repeat_unfinished(journal, past)


def _report_consent(consent: Consent, record: RunRecord) -> None:
    """Report that nobody is asked, and each trust rule that has more than one meaning."""
    if consent.mode == "none":
        record.observer(ConsentWaived())
    for problem in consent.ambiguous_rules:
        record.observer(NoteAdded(f"trust: {problem} Until then, it allows nothing."))
