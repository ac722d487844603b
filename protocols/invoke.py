"""Calling tools: `Invoker` binds a protocol to a plain function, under the user's rules about hosts and secrets."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import TYPE_CHECKING, Self

from protocols.credentials import Credential, Mask
from protocols.errors import InvalidProtocol, ToolError
from protocols.exchange import HttpCall, Shared
from protocols.idempotency import idempotency_key
from protocols.jsontypes import Json, JsonObject
from protocols.pacing import Pacing
from protocols.plain import python_call, to_json
from protocols.protocol import HttpBinding, McpBinding, ProgramBinding, PythonBinding, ToolProtocol
from protocols.secret_names import fits, kind_of
from protocols.toolbox import Call

if TYPE_CHECKING:
    from protocols.mcp.server import McpServer
    from protocols.mcp.servers import Servers
    from protocols.transport import Transport

_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


@dataclass(frozen=True, slots=True, kw_only=True)
class InvokeSettings:
    """How tools may be called."""

    credentials: Mapping[str, Credential] = field(default_factory=dict)
    """By the name that bindings use. Only the user's configuration fills this."""
    timeout_seconds: float = 30.0
    """For one call with its retries, from the first byte sent to the last byte of the body. Waiting for a turn with
    the host comes on top."""
    max_body_bytes: int = 8 * 1024 * 1024
    """Of a response, decompressed."""
    retries: int = 2
    """Of a read, after a failure that may pass."""
    concurrency_per_host: int = 4
    requests_per_second: float | None = None
    """To one host, over all tools. `None`: no limit."""
    max_retry_after_seconds: float = 20.0
    """Longest `Retry-After` that a read waits for."""
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


class Invoker:
    """Binds protocols to callables. They share its connections and its limits per host, and are safe for threads."""

    def __init__(self, settings: InvokeSettings | None = None) -> None:
        self._settings = settings = settings or InvokeSettings()
        self._lock = threading.Lock()
        self._transport: Transport | None = None
        self._servers: Servers | None = None
        self.homes = {re.sub(r":\d+$", "", host.lower()) for one in settings.credentials.values() for host in one.hosts}
        """Hosts that the user named, and that may be on this machine or its networks (`protocols.origin.may_reach`)."""
        self._shared = Shared(
            settings=settings,
            pacing=Pacing(
                concurrency=settings.concurrency_per_host,
                requests_per_second=settings.requests_per_second,
                sleep=settings.sleep,
            ),
            mask=Mask([*settings.credentials.values(), *_given_to(settings.servers.values())]),
            transport=self._opened,
            key=idempotency_key.get,
        )

    def bind(self, protocol: ToolProtocol, functions: Mapping[str, Callable[..., object]] | None = None) -> Call:
        """A function of the arguments, by original name, that calls the tool and gives its full response.

        It raises `ToolError` for every failure of the call. `functions` are those of modules that the user named, by
        `module:function` or by the tool's name; a Python binding that is not among them is refused when called.

        Raises:
            InvalidProtocol: the protocol has no binding that can be called.
        """
        match protocol.binding:
            case HttpBinding() as binding:
                reads = _only_reads(protocol, binding.method in _SAFE_METHODS)
                return HttpCall(protocol, binding, self._shared, reads=reads)
            case PythonBinding() as binding:
                known = functions or {}
                function = known.get(f"{binding.module}:{binding.function}") or known.get(protocol.name)
                if function is None:
                    return _refusing(protocol.name, binding)
                reads = _only_reads(protocol, safe=False)
                return python_call(protocol.name, function, reads=reads, mask=self._shared.mask)
            case McpBinding() as binding:
                from protocols.mcp.call import mcp_call

                reads = _only_reads(protocol, safe=False)
                return mcp_call(protocol, binding, self.servers, reads=reads, mask=self._shared.mask)
            case ProgramBinding():  # a source of tools must not bring code along
                problem = "it is a saved program: put its file into the folder of saved tools instead."
                raise InvalidProtocol(protocol.name, problem, path="binding.program")
            case None:
                raise InvalidProtocol(protocol.name, "it has no binding, so it cannot be called.", path="binding")

    @property
    def settings(self) -> InvokeSettings:
        """The settings that it was made with."""
        return self._settings

    @property
    def servers(self) -> Servers:
        """The MCP servers that are configured or were opened. Nothing is started by asking for them."""
        if self._servers is None:
            from protocols.mcp.servers import Servers

            with self._lock:
                if self._servers is None:
                    self._servers = Servers(self._settings, self._shared.pacing)
        return self._servers

    def close(self) -> None:
        """Close idle connections and end the MCP servers that were started; a later call opens new ones."""
        if self._servers is not None:
            self._servers.close()
        with self._lock:
            if self._transport is not None:
                self._transport.close()
                self._transport = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _opened(self) -> Transport:
        if self._transport is None:
            from protocols.transport import Transport  # `requests` costs more to import than all of this package

            with self._lock:
                if self._transport is None:
                    self._transport = Transport(
                        connections_per_host=self._settings.concurrency_per_host,
                        max_body_bytes=self._settings.max_body_bytes,
                        mask=self._shared.mask,
                        homes=self.homes,
                    )
        return self._transport


def _given_to(servers: Iterable[McpServer]) -> Iterator[Credential]:
    """The variables of MCP servers whose names say that they are secrets: a server may echo them."""
    for server in servers:
        for name, value in server.environment.items():
            if (kind := kind_of(name)) is not None and fits(kind, value):
                yield Credential(value=value, hosts=())


def _only_reads(protocol: ToolProtocol, safe: bool) -> bool:
    declared = protocol.annotations.read_only
    return safe if declared is None else declared


def _refusing(tool: str, binding: PythonBinding) -> Call:
    def call(arguments: JsonObject) -> Json:  # noqa: ARG001 - the shape of every Call
        raise ToolError(
            None,
            f"{tool} runs {binding.function!r} of the Python module {binding.module!r}, which you did not name; "
            "name the module itself as a tool source if you trust it.",
            outcome="not_run",
        )

    return call


__all__ = ["Credential", "InvokeSettings", "Invoker", "idempotency_key", "to_json"]
