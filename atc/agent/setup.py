"""Checks of an agent's arguments when it is created, so that no run fails later because of them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike
from reprlib import repr as shortened
from typing import Any, Literal

from atc.core.config import Config, InvalidConfig
from atc.core.tool_access import call_settings
from atc.pipeline.retrieve.methods import AUTO
from atc.pipeline.retrieve.methods import read_method as read_method
from atc.store import RunStore, store_at
from atc.strategies import parse_spec as read_strategy
from protocols.client import Invoker
from protocols.errors import AtcError, UnknownTool
from protocols.sources import ToolSource, load_tools
from protocols.sources.factories import Factory
from protocols.sources.flatten import flat_sources
from protocols.toolbox import Toolbox


def check_parts(*, model: object, sandbox: object, config: object, ask_person: object) -> None:
    """Check the model, sandbox, configuration and `ask_person` that an agent was created with.

    Raises:
        InvalidConfig: One of them has a type that cannot be used.
    """
    if not isinstance(config, Config):
        raise InvalidConfig(
            f"config must be a Config, such as Config(max_calls=100), got {shortened(config)}."
        )
    if not (isinstance(model, str | None) or (callable(model) and hasattr(model, "prompt_tokens"))):
        raise InvalidConfig(
            "model must be a name, such as 'local' or 'openai:NAME', or an atc.Ask, got"
            f" {shortened(model)};"
            " an atc.Ask is called with messages and has a name and prompt_tokens."
        )
    if not (isinstance(sandbox, str | None) or callable(getattr(sandbox, "run", None))):
        raise InvalidConfig(
            f"sandbox must be a name, such as 'docker', or a sandbox, got {shortened(sandbox)}."
        )
    if ask_person is not None and not callable(ask_person):
        raise InvalidConfig(
            "ask_person must be a function that takes an atc.Question and returns True,"
            " False or None, got"
            f" {shortened(ask_person)}."
        )


_NAMES = {"allow_writes": "names of tools, or 'all'", "trust": "rules such as 'find_contact'"}


def names_of(argument: Literal["allow_writes", "trust"], given: object) -> tuple[str, ...]:
    """Return the names that were given as an argument of the agent, as a tuple.

    Raises:
        InvalidConfig: `given` is neither a name nor several names.
    """
    if isinstance(given, str):
        return (given,)
    if not isinstance(given, Iterable):
        raise InvalidConfig(f"{argument} must be {_NAMES[argument]}, got {shortened(given)}.")
    return tuple(given)


def configured(config: Config, **settings: Any) -> Config:
    """Return the configuration with the settings that were passed as arguments of the agent.

    An argument that is None leaves its setting as it is.

    Raises:
        InvalidConfig: A setting does not accept its value, or the strategy or search method is
            unknown or has options that it does not accept.
    """
    config = replace(
        config, **{name: value for name, value in settings.items() if value is not None}
    )
    try:
        read_strategy(config.strategy)
        if config.retrieval != AUTO:
            read_method(config.retrieval)
    except AtcError as error:
        raise InvalidConfig(str(error)) from None
    return config


def open_store(store: object, owned: ExitStack) -> RunStore | None:
    """Return the store of runs. If its path or address was passed, open it first.

    A store that is opened here is closed together with the exit stack `owned`.

    Raises:
        InvalidConfig: `store` is neither a store nor a path or address.
        StoreUnavailable: The store cannot be opened.
    """
    if store is None or isinstance(store, RunStore):
        return store
    if not isinstance(store, str | PathLike):
        raise InvalidConfig(
            "store must be an atc.Store, the path of its file, or an address"
            f" postgresql://…, got {shortened(store)}."
        )
    return owned.enter_context(store_at(store))


def open_tools(
    tools: Toolbox | ToolSource | Factory, config: Config, owned: ExitStack
) -> tuple[Toolbox, Config]:
    """Return the toolbox, and the configuration whose setting `tools` names the tools' sources.

    If sources are passed instead of a toolbox, the tools are loaded from them, with the
    credentials, headers and MCP servers of `config`. The exit stack `owned` closes the connections.

    Raises:
        SourceUnavailable, InvalidProtocol: See `load_tools`.
    """
    if isinstance(tools, Toolbox):
        return tools, config
    sources = flat_sources([tools])
    confirm = (lambda _: True) if config.start_servers else None
    invoker = owned.enter_context(Invoker(call_settings(config, confirm_start=confirm)))
    named = tuple(source for source in sources if isinstance(source, str))
    return load_tools(tools, invoker=invoker), replace(config, tools=named)


def require_tools(names: Iterable[str], toolbox: Toolbox) -> None:
    """Check that the toolbox has all tools that are named in an argument of the agent.

    Raises:
        UnknownTool: The toolbox lacks one of them; the error names the most similar tools.
    """
    for name in names:
        if name != "all" and name not in toolbox and not toolbox.find_all(name):
            raise UnknownTool(name, list(toolbox))
