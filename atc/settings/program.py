"""The user's settings for a Python program: they count as they do for `atc run`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from atc.core.config import Config
from atc.core.tool_access import call_settings
from atc.settings.reading import load_config
from protocols.client import Invoker
from protocols.schema import Json
from protocols.sources import ToolSource
from protocols.sources import load_tools as load_sources
from protocols.sources.factories import Factory
from protocols.sources.kinds import Which
from protocols.toolbox import Toolbox

_NAMED_HERE = "named by the program"
Credentials = Mapping[str, Mapping[str, Any]]
"""Credentials of a program, keyed by name: tables as in the settings, such as `{"value":
"env:TOKEN", "hosts": ["api.example.org"]}`."""


def user_config() -> Config:
    """Return the configuration that the user's files and `ATC_*` variables give a program.

    The program names its tools itself, so those of the settings are left out.

    Raises:
        InvalidConfig: A file or variable is invalid, or an untrusted `atc.toml` has a setting that
            it may not decide.
    """
    # Named as if on the command line: then an untrusted atc.toml has not named them.
    return replace(load_config({"tools": (_NAMED_HERE,)}), tools=())


def with_credentials(config: Config, credentials: Credentials | None) -> Config:
    """Return the configuration with further credentials, which replace those of the same names.

    Raises:
        InvalidConfig: One of the credentials is invalid.
    """
    if credentials is None:
        return config
    known: dict[str, Any] = {**config.credentials, **credentials}
    return replace(config, credentials=known)


def open_invoker(config: Config, *, is_users: bool) -> Invoker:
    """Return an invoker for tools that a program calls with a configuration.

    `is_users` is True if the configuration is that of the user. Then the tokens of sign-ins are
    shared with the commands of `atc`.
    """
    confirm = (lambda _: True) if config.start_servers else None
    state = config.state_dir if is_users and config.lend_credentials else None
    return Invoker(call_settings(config, confirm_start=confirm, logins=state))


def load_tools(
    *sources: ToolSource | Factory,
    credentials: Credentials | None = None,
    factory: Factory | None = None,
    reads: Which = (),
    pure: Which = (),
    session: Which = (),
    failed: Callable[[Json], bool] | None = None,
    invoker: Invoker | None = None,
) -> Toolbox:
    """Return the tools of all `sources`, ready to be called with the user's settings.

    The settings are those of `atc run`: credentials, headers, MCP servers, and what may be reached.
    `credentials` are further ones, keyed by name: tables as in the settings file, such as `{"crm":
    {"value": "env:CRM_TOKEN", "hosts": ["crm.example.org"]}}`. With an `invoker`, its settings
    apply instead of these. The other arguments are described in `protocols.sources.load_tools`.

    Raises:
        InvalidConfig: a setting or one of the `credentials` is invalid.
        SourceUnavailable, InvalidProtocol, UnknownTool, ValueError: see
            `protocols.sources.load_tools`.
    """
    if invoker is None:
        invoker = open_invoker(with_credentials(user_config(), credentials), is_users=True)
    return load_sources(
        *sources,
        factory=factory,
        reads=reads,
        pure=pure,
        session=session,
        failed=failed,
        invoker=invoker,
    )
