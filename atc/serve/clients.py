"""What a person pastes into the configuration of an agent so that it finds the gateway."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Sequence

CLIENTS = ("claude", "cursor", "vscode", "codex")
"""Agents whose configuration `config_for` writes."""


def config_for(client: str, command: Sequence[str], *, url: str | None = None, token: str | None = None) -> str:
    """The text for `client`: over stdio by `command`, or over HTTP where `url` and `token` are given."""
    return _WRITERS[client](list(command), url, token)


def _claude(command: list[str], url: str | None, token: str | None) -> str:
    if url is not None:
        return f"claude mcp add --transport http atc {url} --header {shlex.quote(f'Authorization: Bearer {token}')}"
    return f"claude mcp add atc -- {shlex.join(command)}"


def _cursor(command: list[str], url: str | None, token: str | None) -> str:
    return "# .cursor/mcp.json\n" + _json({"mcpServers": {"atc": _entry(command, url, token)}})


def _vscode(command: list[str], url: str | None, token: str | None) -> str:
    kind = {"type": "stdio" if url is None else "http"}
    return "// .vscode/mcp.json\n" + _json({"servers": {"atc": kind | _entry(command, url, token)}})


def _codex(command: list[str], url: str | None, _token: str | None) -> str:
    lines = ["# ~/.codex/config.toml", "[mcp_servers.atc]"]
    if url is None:
        lines += [f"command = {json.dumps(command[0])}", f"args = {json.dumps(command[1:])}"]
    else:
        lines += [f"url = {json.dumps(url)}", 'bearer_token_env_var = "ATC_SERVE_TOKEN"']
    return "\n".join(lines)


def _entry(command: list[str], url: str | None, token: str | None) -> dict[str, object]:
    if url is None:
        return {"command": command[0], "args": command[1:]}
    return {"url": url, "headers": {"Authorization": f"Bearer {token}"}}


def _json(value: object) -> str:
    return json.dumps(value, indent=2)


_WRITERS: dict[str, Callable[[list[str], str | None, str | None], str]] = {
    "claude": _claude,
    "cursor": _cursor,
    "vscode": _vscode,
    "codex": _codex,
}
