"""Checks of an agent's arguments when it is created, so that no run fails later because of them."""

from __future__ import annotations

import warnings
from collections.abc import Container, Iterable, Mapping
from contextlib import ExitStack
from dataclasses import replace
from os import PathLike
from reprlib import repr as shortened
from typing import Any, Literal

from atc.core.config import Config, InvalidConfig
from atc.pipeline.retrieve.methods import AUTO
from atc.pipeline.retrieve.methods import read_method as read_method
from atc.safety.settings_consent import KEYS, drop_reassigned_consent
from atc.settings.program import open_invoker
from atc.store import RunStore, store_at
from atc.strategies import parse_spec as read_strategy
from protocols.errors import AtcError, UnknownTool
from protocols.private_files import check_folder
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
    tools: Toolbox | ToolSource | Factory,
    config: Config,
    owned: ExitStack,
    *,
    is_users: bool,
    rebind: bool,
) -> tuple[Toolbox, Config]:
    """Return the toolbox, and the configuration whose setting `tools` names the tools' sources.

    If sources are passed instead of a toolbox, the tools are loaded from them, with the
    credentials, headers and MCP servers of `config`. With `rebind`, the HTTP tools of a toolbox are
    called with these, too. `is_users` is True if `config` is that of the user. The exit stack
    `owned` closes the connections.

    Raises:
        SourceUnavailable, InvalidProtocol: See `load_tools`.
    """
    if isinstance(tools, Toolbox):
        if rebind:
            tools = tools.map(owned.enter_context(open_invoker(config, is_users=is_users)).rebind)
        return tools, config
    sources = flat_sources([tools])
    invoker = owned.enter_context(open_invoker(config, is_users=is_users))
    named = tuple(source for source in sources if isinstance(source, str))
    return load_tools(tools, invoker=invoker), replace(config, tools=named)


def drop_outdated_consent(
    config: Config, standing: Config, toolbox: Toolbox, given: Mapping[str, Container[str]]
) -> Config:
    """Return the configuration without consent for tool names that now belong to another tool.

    In the user's settings `standing`, consent and trust refer to a tool by its name. If another
    tool has that name now, both are dropped with a warning, unless the program itself gave them:
    `given` has these names, keyed by setting.
    """
    kept: dict[str, Any] = {}
    for key in KEYS:
        names = given.get(key, ())
        kept[key] = tuple(name for name in getattr(standing, key) if name not in names)
    if not any(kept.values()):
        return config
    book = standing.state_dir / "consents.json"
    check_folder(standing.state_dir)
    return drop_reassigned_consent(config, replace(standing, **kept), toolbox, book, say=_warn)


def _warn(message: str) -> None:
    warnings.warn(message, UserWarning, stacklevel=5)  # the line that makes the Agent


def require_tools(names: Iterable[str], toolbox: Toolbox) -> None:
    """Check that the toolbox has all tools that are named in an argument of the agent.

    Raises:
        UnknownTool: The toolbox lacks one of them; the error names the most similar tools.
    """
    for name in names:
        if name != "all" and name not in toolbox and not toolbox.find_all(name):
            raise UnknownTool(name, list(toolbox))
