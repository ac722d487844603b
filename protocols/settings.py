"""What the user's configuration says of calls: secrets and their hosts, limits and MCP servers."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from protocols.secrets.sources import mask_source
from protocols.urls import Origin

Place = Literal["header", "query", "cookie"]
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """A secret that tools may name, and the only hosts it is sent to. How it is sent, their document says."""

    value: str = field(default="", repr=False)
    """A token, a key, or `user:password`; empty where a token is got with the client's id."""
    hosts: tuple[str, ...]
    """Each is exact: `host` means its https port (on loopback also http's port 80), `host:port` that port."""
    header: str = ""
    query: str = ""
    """Where it goes, for documents that declare nothing; then also with the tools that name no credential."""
    place: Place | None = None
    name: str = ""
    """The same in two settings, for cookies too."""
    prefix: str | None = None
    """Stands before the secret in a header; `Bearer ` in `Authorization`, else empty."""
    client_id: str = ""
    """Of OAuth 2, in place of `value`: a token is got at the addresses that the document names."""
    client_secret: str = field(default="", repr=False)
    """With it the client signs in by itself; without it you do, in the browser."""
    scopes: tuple[str, ...] = ()
    """Those that the document lists where empty."""
    token_url: str = ""
    authorization_url: str = ""
    """For documents that name none."""

    def may_go_to(self, origin: Origin) -> bool:
        """Whether `hosts` lists this origin. A bare host never allows clear text over a network."""
        listed = {host.lower() for host in self.hosts}
        secure = origin.scheme == "https" or origin.host in _LOOPBACK
        return f"{origin.host}:{origin.port}" in listed or (secure and origin.netloc in listed)

    @property
    def placement(self) -> tuple[Place | None, str]:
        """Where in a request it goes and under what name, as far as the user said it."""
        place: Place | None = "header" if self.header else "query" if self.query else self.place
        return place, self.header or self.query or self.name

    @property
    def has_placement(self) -> bool:
        """Whether the user said how it is sent, so that it can go with tools whose document declares nothing."""
        return any(self.placement) or self.prefix is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """An MCP server. Either `command` (its words, no shell) or `url` is set."""

    command: tuple[str, ...] = ()
    url: str = ""
    """Of a server that speaks streamable HTTP."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables of the command, which inherits only HOME, LOGNAME, PATH, SHELL, TERM and USER."""
    credential: str = ""
    """The credential that requests to `url` carry."""
    trusted: bool = False
    """Whether it is believed when it says that a tool only reads."""

    @property
    def masked_text(self) -> str:
        """The command as one would type it, or the address, without secrets."""
        return mask_source(f"mcp:{shlex.join(self.command) or self.url}").removeprefix("mcp:")


@dataclass(frozen=True, slots=True, kw_only=True)
class InvokeSettings:
    """How tools may be called."""

    credentials: Mapping[str, Credential] = field(default_factory=dict)
    """By the name that bindings use. Only the user's configuration fills this."""
    problems: Mapping[str, str] = field(default_factory=dict)
    """Why credentials and servers cannot be used, by their names, those of servers as `mcp.NAME`."""
    headers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Fixed headers, by the host (`api.example.org`, `localhost:8080`) whose tools carry them."""
    near_hosts: bool = True
    """Whether tools may call services of this machine and of its own networks."""
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
