"""What a person pastes into the configuration of an agent so that it finds the gateway."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

CLIENTS = ("claude", "cursor", "vscode", "codex")
"""Agents whose configuration `config_for` writes."""


def config_for(client: str, command: Sequence[str], *, url: str | None = None, token: str | None = None) -> str:
    """The text for `client`: over stdio by `command`, or over HTTP where `url` and `token` are given."""
    bearer = f"Bearer {token}"
    entry: dict[str, object] = {"command": command[0], "args": command[1:]}
    if url:
        entry = {"url": url, "headers": {"Authorization": bearer}}
    match client:
        case "claude" if url:
            return f"claude mcp add --transport http atc {url} --header {shlex.quote(f'Authorization: {bearer}')}"
        case "claude":
            return f"claude mcp add atc -- {shlex.join(command)}"
        case "cursor":
            return "# .cursor/mcp.json\n" + json.dumps({"mcpServers": {"atc": entry}}, indent=2)
        case "vscode":
            typed = {"type": "http" if url else "stdio", **entry}
            return "// .vscode/mcp.json\n" + json.dumps({"servers": {"atc": typed}}, indent=2)
    if url:
        entry = {"url": url, "bearer_token_env_var": "ATC_SERVE_TOKEN"}
    lines = [f"{name} = {json.dumps(value)}" for name, value in entry.items()]
    return "\n".join(["# ~/.codex/config.toml", "[mcp_servers.atc]", *lines])
