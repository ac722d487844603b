"""Settings for tool calls: credentials and their hosts, limits, and MCP servers."""

from __future__ import annotations

import shlex
import time
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from protocols.call_limits import (
    CALL_SECONDS,
    MAX_RESPONSE_MB,
    MEGABYTE,
    CallLimits,
    SourceLimits,
)
from protocols.files import MAX_FILE_BYTES
from protocols.secrets.sources import mask_source
from protocols.urls import Origin

Place = Literal["header", "query", "cookie"]
_LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Credential:
    """A secret that tools refer to by name, and the only hosts that it is sent to.

    The fields below can say how a request carries it. If they do not, the document that describes
    the tool says it.
    """

    value: str = field(default="", repr=False)
    """A token, a key, or `user:password`. Empty if a token is fetched."""
    hosts: tuple[str, ...]
    """Exact host names. `host` allows its https port, and on loopback also port 80.

    `host:port` allows only that port.
    """
    header: str = ""
    query: str = ""
    cookie: str = ""
    """`header`, `query` or `cookie` is the name of what carries the secret.

    If one is set, the credential is also sent by tools that name no credential.
    """
    place: Place | None = None
    name: str = ""
    """`place` and `name` are the same in two settings: `place = "cookie"`, `name = "sid"`."""
    prefix: str | None = None
    """Text before the secret in a header. Default: `Bearer ` in `Authorization`, else empty."""
    client_id: str = ""
    """Id of an OAuth 2 client, to be set instead of `value`.

    A token is then fetched from the addresses in the document.
    """
    client_secret: str = field(default="", repr=False)
    """Secret of the OAuth 2 client. With it, a token can be fetched without a sign-in.

    Without it, the user signs in with the browser.
    """
    username: str = ""
    password: str = field(default="", repr=False)
    """`username` and `password` are set instead of `value`, to sign in with them.

    A token is then fetched from the address in the document (OAuth 2 password flow). For HTTP basic
    they are sent with each call.
    """
    scopes: tuple[str, ...] = ()
    """OAuth 2 scopes to request. Default: the scopes in the document."""
    token_url: str = ""
    authorization_url: str = ""
    """`token_url` and `authorization_url` are needed only if the document names no addresses."""
    device_authorization_url: str = ""
    """Address that issues codes for a sign-in on another device (OAuth 2 device flow)."""
    ca: str = ""
    """PEM file with the certificates of an authority that is trusted for `hosts`, and no other."""
    certificate: str = ""
    """PEM file with a client certificate for connections to `hosts`, and perhaps its key."""
    key: str = ""
    """PEM file with the key of `certificate`, if it is not in the same file."""

    @property
    def is_sent(self) -> bool:
        """True if requests carry the credential.

        False if it consists of certificates only, which connections use.
        """
        only_certificates = self.ca or self.certificate
        return bool(self.value or self.client_id or self.password) or not only_certificates

    @property
    def login(self) -> str:
        """`user:password`, as HTTP basic authentication needs it; "" if no password is set."""
        return f"{self.username}:{self.password}" if self.password else ""

    def may_go_to(self, origin: Origin) -> bool:
        """Return True if `hosts` lists this origin.

        A host without a port never allows unencrypted HTTP over a network. `localhost` and
        `127.0.0.1` are one host.
        """
        listed = {host.lower() for host in self.hosts}
        secure = origin.scheme == "https" or origin.host in _LOOPBACK
        return any(
            f"{one.host}:{one.port}" in listed or (secure and one.netloc in listed)
            for one in origin.names
        )

    @property
    def placement(self) -> tuple[Place | None, str]:
        """The location (such as `header`) and the name under which requests carry the credential.

        They are None and "" if the user has not configured them.
        """
        if self.header:
            return "header", self.header
        if self.query:
            return "query", self.query
        if self.cookie:
            return "cookie", self.cookie
        return self.place, self.name

    @property
    def has_placement(self) -> bool:
        """True if the user configured how requests carry the credential, for example the header.

        The credential is then also sent by tools whose document declares no credential.
        """
        return any(self.placement) or self.prefix is not None


def headers_of(headers: Mapping[str, Mapping[str, str]], origin: Origin) -> Mapping[str, str]:
    """Return the headers of every request to an origin, of `headers`, which is keyed by host."""
    return next((headers[one.netloc] for one in origin.names if one.netloc in headers), {})


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceSignIn:
    """The address and the code with which a person signs in on any device."""

    page: str
    code: str


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
        """The command as typed in a shell, or the address, with secrets masked."""
        return mask_source(self._source).removeprefix("mcp:")

    @property
    def has_secrets(self) -> bool:
        """True if the server is given a secret: a credential, a variable, or a part of its text."""
        return bool(self.env or self.credential) or mask_source(self._source) != self._source

    @property
    def _source(self) -> str:
        return f"mcp:{shlex.join(self.command) or self.url}"


@dataclass(frozen=True, slots=True, kw_only=True)
class InvokeSettings:
    """Settings for calls of tools: credentials, limits, MCP servers, and what may be called."""

    credentials: Mapping[str, Credential] = field(default_factory=dict)
    """Credentials from the user's own configuration, keyed by the name that tools use."""
    problems: Mapping[str, str] = field(default_factory=dict)
    """Reasons why credentials and MCP servers cannot be used, keyed by `NAME` and `mcp.NAME`."""
    places: Mapping[str, str] = field(default_factory=dict)
    """Where secrets of credentials were read, such as `the variable TOKEN`, keyed by credential."""
    read_again: Callable[[], tuple[Mapping[str, Credential], Mapping[str, str]]] | None = None
    """Function that reads the secrets again and returns new `credentials` and `problems`.

    It is called after a credential was refused or missing, since a person may have renewed it.
    """
    late: Collection[str] = ()
    """Names of the credentials whose secrets are read when they are first needed."""
    read_late: Callable[[str], Credential] | None = None
    """Function that reads the secrets of such a credential, given its name.

    It raises `CredentialMissing` if they cannot be read.
    """
    headers: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Headers of every request to a host, keyed by host (`api.example.org`, `localhost:8080`)."""
    near_hosts: bool = True
    """True if tools may call services on this machine and its networks."""
    timeout_seconds: float = CALL_SECONDS
    """Time-out of one call with its retries, until the last byte of the body."""
    time_option: str = ""
    """The option that sets `timeout_seconds`, or "" if the setting `call_seconds` sets it."""
    max_body_bytes: int = round(MAX_RESPONSE_MB * MEGABYTE)
    """Maximum size of a response body after decompression. A larger one becomes a file."""
    max_file_bytes: int = MAX_FILE_BYTES
    """Maximum size of a response body that becomes a file, after decompression."""
    requests_per_second: float | None = None
    """Maximum rate of requests to one host or MCP server. None: no limit."""
    concurrent_calls: int | None = None
    """Maximum number of calls of one host or MCP server at the same time. None: no limit."""
    source_limits: Mapping[str, SourceLimits] = field(default_factory=dict)
    """Limits of single sources, keyed by host (as in `headers`) or name of the MCP server."""
    retries: int = 2
    """Maximum number of retries of a read-only call after a temporary failure.

    A service that says how long to wait is asked up to seven times more, within the time-out of the
    call. If the setting is 0, each call is sent once and at once, whatever the service has asked.
    """
    sleep: Callable[[float], object] = time.sleep
    """Function that waits for a number of seconds before a retry."""
    servers: Mapping[str, McpServer] = field(default_factory=dict)
    """MCP servers from the user's own configuration, keyed by the name that tools use."""
    confirm_start: Callable[[McpServer], bool] | None = None
    """Returns True if the command of an MCP server that is not in `servers` may be started.

    If this is None, no such command is started.
    """
    trust_annotations: bool = False
    """True if every MCP server is trusted when it says that a tool only reads."""
    start_seconds: float = 60.0
    """Time-out for an MCP server to start and introduce itself.

    The first start may install packages.
    """
    open_browser: Callable[[str], object] | None = None
    """Function that opens the address of a sign-in page. None if no person can sign in."""
    show_device_code: Callable[[DeviceSignIn], object] | None = None
    """Function that shows a person where to type a code. None if no person can sign in."""
    agreements: Path | None = None
    """File for agreements to send credentials of sibling tools. None keeps them in memory."""
    tokens: Path | None = None
    """File for OAuth tokens. None keeps them in memory."""

    def limits_of(self, *sources: str) -> CallLimits:
        """Return the limits of the calls of a source, which has these names.

        A name is that of a host, such as `localhost:8080`, or of an MCP server.
        """
        limits = CallLimits(
            call_seconds=self.timeout_seconds,
            max_response_mb=self.max_body_bytes / MEGABYTE,
            requests_per_second=self.requests_per_second,
            concurrent_calls=self.concurrent_calls,
            time_option=self.time_option,
        )
        source = next((one for one in sources if one in self.source_limits), None)
        return limits if source is None else limits.replaced_by(self.source_limits[source], source)
