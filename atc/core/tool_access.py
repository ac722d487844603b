"""The parts of a configuration that tool calls need: credentials, headers and MCP servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from atc.core.config import Config
from atc.core.secret_values import place_of_secret, with_secrets
from protocols.settings import Credential, DeviceSignIn, InvokeSettings, McpServer

WITHHELD = (
    "These tools get none of your credentials and MCP servers: lend_credentials is off, as it is"
    " for tools that an untrusted atc.toml names ('atc config trust', and a new run)."
)


def call_settings(
    config: Config,
    *,
    confirm_start: Callable[[McpServer], bool] | None = None,
    open_browser: Callable[[str], object] | None = None,
    show_device_code: Callable[[DeviceSignIn], object] | None = None,
    tokens: Path | None = None,
) -> InvokeSettings:
    """Return the settings for tool calls that follow from the configuration.

    The arguments after `config` are fields of the returned `InvokeSettings`. If a secret cannot be
    read, only the calls that need it fail. If the setting `lend_credentials` is off, tools get no
    credentials, headers or MCP servers.
    """
    settings = InvokeSettings(
        confirm_start=confirm_start,
        trust_annotations=config.trust_annotations,
        near_hosts=config.near_hosts,
    )
    if not config.lend_credentials:
        return replace(settings, problems=dict.fromkeys(config.credentials, f"t{WITHHELD[1:]}"))

    def read_again() -> tuple[Mapping[str, Credential], Mapping[str, str]]:
        with_values, problems = with_secrets(config)
        return with_values.credentials, problems

    known, problems = with_secrets(config)
    return replace(
        settings,
        credentials=known.credentials,
        problems=problems,
        places={name: place_of_secret(one) for name, one in config.credentials.items()},
        read_again=read_again,
        headers=config.headers,
        servers=known.mcp,
        open_browser=open_browser,
        show_device_code=show_device_code,
        tokens=tokens,
    )
