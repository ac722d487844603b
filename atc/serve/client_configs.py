"""Configuration texts that a person pastes into an agent's settings to make it use the gateway."""

from __future__ import annotations

import json
import shlex
from collections.abc import Sequence

CLIENTS = ("claude", "cursor", "vscode", "codex")
"""Agents whose configuration format `config_for` knows."""
TOKEN = "ATC_SERVE_TOKEN"  # noqa: S105 - the variable's name


def config_for(client: str, command: Sequence[str], *, url: str) -> str:
    """Return the configuration that makes the agent `client` use the gateway.

    If `url` is not empty, the agent connects to it over HTTP, with the token in the environment
    variable `ATC_SERVE_TOKEN`. Otherwise the agent starts the gateway itself with `command`.
    """
    entry: dict[str, object] = {"command": command[0], "args": command[1:]}
    if url:
        entry = {"url": url, "headers": {"Authorization": f"Bearer ${{env:{TOKEN}}}"}}
    match client:
        case "claude" if url:
            authorization = f'--header "Authorization: Bearer ${TOKEN}"'
            return f"claude mcp add --transport http atc {url} {authorization}"
        case "claude":
            return f"claude mcp add atc -- {shlex.join(command)}"
        case "cursor":
            return "// .cursor/mcp.json\n" + json.dumps({"mcpServers": {"atc": entry}}, indent=2)
        case "vscode":
            typed = {"type": "http" if url else "stdio", **entry}
            return "// .vscode/mcp.json\n" + json.dumps({"servers": {"atc": typed}}, indent=2)
    if url:
        entry = {"url": url, "bearer_token_env_var": TOKEN}
    lines = [f"{name} = {json.dumps(value)}" for name, value in entry.items()]
    return "\n".join(["# ~/.codex/config.toml", "[mcp_servers.atc]", *lines])
