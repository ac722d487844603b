"""How tools may be called: what the user's configuration says of hosts, secrets, limits and MCP servers."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from protocols.credentials import Credential


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """An MCP server. Either `command` (its words, no shell) or `url` is set."""

    command: tuple[str, ...] = ()
    url: str = ""
    environment: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables of the command, beside a few of ours such as PATH and HOME, which are all that it gets."""
    credential: str = ""
    """Name of the credential that requests to `url` carry; empty for none, or for a sign-in where the server asks."""
    trusted: bool = False
    """Whether the server is believed when it says that a tool only reads."""

    @property
    def shown(self) -> str:
        """The command as one would type it, or the address."""
        return shlex.join(self.command) or self.url


@dataclass(frozen=True, slots=True, kw_only=True)
class InvokeSettings:
    """How tools may be called."""

    credentials: Mapping[str, Credential] = field(default_factory=dict)
    """By the name that bindings use. Only the user's configuration fills this."""
    headers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Fixed headers, by the host (`api.example.org`, `localhost:8080`) whose tools carry them."""
    timeout_seconds: float = 30.0
    """For one call with its retries, from the first byte sent to the last byte of the body."""
    max_body_bytes: int = 8 * 1024 * 1024
    """Of a response, decompressed."""
    retries: int = 2
    """Of a read, after a failure that may pass."""
    sleep: Callable[[float], object] = time.sleep
    """Waits for so many seconds."""
    servers: Mapping[str, McpServer] = field(default_factory=dict)
    """MCP servers by the name that bindings use. Only the user's configuration fills this."""
    confirm_start: Callable[[McpServer], bool] | None = None
    """Asked before a command is started that a source names and `servers` does not; `None`: it is not started."""
    trust_annotations: bool = False
    """Whether every MCP server is believed that says of a tool that it only reads."""
    start_seconds: float = 60.0
    """For an MCP server to start and say what it is: a first start may fetch its packages."""
    open_browser: Callable[[str], object] | None = None
    """Shows a page to sign in on; `None`: there is nobody to sign in."""
    tokens: Path | None = None
    """The file that keeps what was signed in to; `None`: kept for this process only."""
