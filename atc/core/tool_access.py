"""The parts of a configuration that tool calls need: credentials, headers and MCP servers."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from atc.core.config import Config, InvalidConfig
from atc.core.limit_settings import LimitSettings, SourceLimitEntry
from atc.core.secret_values import has_command, place_of_secret, read_late, with_secrets
from protocols.call_limits import MEGABYTE
from protocols.errors import CredentialMissing
from protocols.settings import Credential, DeviceSignIn, InvokeSettings, McpServer
from sandbox.limits import Limits

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
    logins: Path | None = None,
) -> InvokeSettings:
    """Return the settings for tool calls that follow from the configuration.

    `logins` is the folder in which tokens and agreements about logins are
    kept. The other arguments are fields of the returned `InvokeSettings`. If a secret cannot be
    read, only the calls that need it fail. If the setting `lend_credentials` is off, tools get no
    credentials, headers or MCP servers.
    """
    settings = InvokeSettings(
        confirm_start=confirm_start,
        trust_annotations=config.trust_annotations,
        near_hosts=config.near_hosts,
        timeout_seconds=config.limits.call_seconds,
        max_body_bytes=round(config.limits.max_response_mb * MEGABYTE),
        max_file_bytes=round(config.limits.max_file_mb * MEGABYTE),
        requests_per_second=config.limits.requests_per_second,
        concurrent_calls=config.limits.concurrent_calls,
        source_limits=config.source_limits,
    )
    if not config.lend_credentials:
        return replace(settings, problems=dict.fromkeys(config.credentials, f"t{WITHHELD[1:]}"))

    def read_again() -> tuple[Mapping[str, Credential], Mapping[str, str]]:
        with_values, problems = with_secrets(config)
        return with_values.credentials, problems

    def complete(name: str) -> Credential:
        try:
            return read_late(config, name)
        except InvalidConfig as error:
            raise CredentialMissing(str(error)) from None

    known, problems = with_secrets(config)
    return replace(
        settings,
        credentials=known.credentials,
        problems=problems,
        places={
            name: place_of_secret(one, config.env_file) for name, one in config.credentials.items()
        },
        read_again=read_again,
        late=frozenset(name for name, one in config.credentials.items() if has_command(one)),
        read_late=complete,
        headers=config.headers,
        servers=known.mcp,
        open_browser=open_browser,
        show_device_code=show_device_code,
        tokens=logins and logins / "sign-ins.json",
        agreements=logins and logins / "agreed-logins.json",
    )


def program_limits(config: Config) -> Limits:
    """Return the limits of a program, which suffice for the limits of its calls.

    A program has at least a minute more than its longest call may take. If calls have a maximum
    rate, it also has the time in which as many as it may make are sent at the lowest rate.
    """
    every: list[LimitSettings | SourceLimitEntry] = [config.limits, *config.source_limits.values()]
    seconds = [one.call_seconds or 0.0 for one in every]
    megabytes = [one.max_response_mb or 0.0 for one in every]
    rates = [one.requests_per_second for one in every if one.requests_per_second]
    usual = Limits()
    turns = config.max_calls / min(rates) if rates else 0.0
    return replace(
        usual,
        tool_calls=config.max_calls,
        wall_seconds=max(usual.wall_seconds, max(seconds) + 60.0) + turns,
        result_bytes=max(usual.result_bytes, round(max(megabytes) * MEGABYTE)),
    )
