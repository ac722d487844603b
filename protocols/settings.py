"""Settings for tool calls: credentials and their hosts, limits, and MCP servers."""

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
    """A secret that tools may name, and the only hosts that it is sent to.

    The document of the tool says how it is sent.
    """

    value: str = field(default="", repr=False)
    """A token, a key, or `user:password`. Empty if a token is fetched with `client_id`."""
    hosts: tuple[str, ...]
    """Exact hosts. `host` is its https port, on loopback also port 80; `host:port` only that port.
    """
    header: str = ""
    query: str = ""
    """Name of the header or query parameter, if the document declares none.

    The credential then also goes with tools that name no credential.
    """
    place: Place | None = None
    name: str = ""
    """With `place`, an alternative to `header` and `query` that also allows cookies."""
    prefix: str | None = None
    """Text before the secret in a header. Default: `Bearer ` in `Authorization`, else empty."""
    client_id: str = ""
    """OAuth 2 client, in place of `value`.

    A token is fetched from the addresses in the document.
    """
    client_secret: str = field(default="", repr=False)
    """With it, a token is fetched without a person.

    Without it, the user signs in with the browser.
    """
    scopes: tuple[str, ...] = ()
    """Default: the scopes in the document."""
    token_url: str = ""
    authorization_url: str = ""
    """Both are for documents that name no addresses."""

    def may_go_to(self, origin: Origin) -> bool:
        """Return True if `hosts` lists this origin.

        A bare host never allows plain HTTP over a network.
        """
        listed = {host.lower() for host in self.hosts}
        secure = origin.scheme == "https" or origin.host in _LOOPBACK
        return f"{origin.host}:{origin.port}" in listed or (secure and origin.netloc in listed)

    @property
    def placement(self) -> tuple[Place | None, str]:
        """Location (`header`, `query`, `cookie`) and name in the request; None and "" if not
        configured.
        """
        if self.header:
            return "header", self.header
        if self.query:
            return "query", self.query
        return self.place, self.name

    @property
    def has_placement(self) -> bool:
        """True if the user configured how the credential is sent.

        It is then also sent by tools whose document declares no credential.
        """
        return any(self.placement) or self.prefix is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class McpServer:
    """An MCP server. Either `command` (a list of words, without a shell) or `url` is set."""

    command: tuple[str, ...] = ()
    url: str = ""
    """Address of a server with streamable HTTP."""
    env: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Variables for the command. It inherits only HOME, LOGNAME, PATH, SHELL, TERM and USER."""
    credential: str = ""
    """Name of the credential for requests to `url`."""
    trusted: bool = False
    """True if the server is trusted when it says that a tool only reads."""

    @property
    def masked_text(self) -> str:
        """The command as typed in a shell, or the address, without secrets."""
        return mask_source(f"mcp:{shlex.join(self.command) or self.url}").removeprefix("mcp:")


@dataclass(frozen=True, slots=True, kw_only=True)
class InvokeSettings:
    """Settings for calls of tools."""

    credentials: Mapping[str, Credential] = field(default_factory=dict)
    """By the name that bindings use. Comes only from the user's configuration."""
    problems: Mapping[str, str] = field(default_factory=dict)
    """Why credentials and servers cannot be used, by name. Servers have the name `mcp.NAME`."""
    headers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Fixed headers by host (`api.example.org`, `localhost:8080`)."""
    near_hosts: bool = True
    """True if tools may call services on this machine and its networks."""
    timeout_seconds: float = 30.0
    """Time-out of one call with its retries, until the last byte of the body."""
    max_body_bytes: int = 8 * 1024 * 1024
    """Limit for a response after decompression."""
    retries: int = 2
    """Retries of a read after a temporary failure."""
    sleep: Callable[[float], object] = time.sleep
    """Waits for a number of seconds."""
    servers: Mapping[str, McpServer] = field(default_factory=dict)
    """MCP servers by the name that bindings use. Comes only from the user's configuration."""
    confirm_start: Callable[[McpServer], bool] | None = None
    """Asked before starting a command that is not in `servers`. None never starts it."""
    trust_annotations: bool = False
    """True if every MCP server is trusted when it says that a tool only reads."""
    start_seconds: float = 60.0
    """Time-out for an MCP server to start and introduce itself.

    The first start may install packages.
    """
    open_browser: Callable[[str], object] | None = None
    """Opens a sign-in page. None if no person can sign in."""
    tokens: Path | None = None
    """File for OAuth tokens. None keeps them in memory."""
