"""Calling tools: `Invoker` binds a protocol to a plain function, under the user's rules about hosts and secrets."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from types import TracebackType
from typing import Self

from protocols.credentials import Credential, Mask
from protocols.errors import InvalidProtocol, ToolError
from protocols.http import HttpCall, Shared, fetch_token
from protocols.jsontypes import Json, JsonObject
from protocols.mcp.servers import Servers, mcp_call
from protocols.oauth import SignIn, TokenFile
from protocols.plain import python_call, to_json
from protocols.protocol import HttpBinding, McpBinding, ProgramBinding, PythonBinding, ToolProtocol
from protocols.secrets import names_secret
from protocols.settings import InvokeSettings, McpServer
from protocols.toolbox import Call, idempotency_key
from protocols.transport import Pacing, Transport

_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class Invoker:
    """Binds protocols to callables. They share its connections and its limits per host, and are safe for threads."""

    def __init__(self, settings: InvokeSettings | None = None) -> None:
        self.settings = settings = settings or InvokeSettings()
        self.homes = {re.sub(r":\d+$", "", host.lower()) for one in settings.credentials.values() for host in one.hosts}
        """Hosts that the user named, and that may be on this machine or its networks (`protocols.origin.may_reach`)."""
        mask = Mask([*_secrets_of(settings.credentials.values()), *_given_to(settings.servers.values())])
        self._transport = Transport(
            connections_per_host=settings.concurrency_per_host,
            max_body_bytes=settings.max_body_bytes,
            mask=mask,
            homes=self.homes,
        )
        tokens = TokenFile(settings.tokens)
        self._shared = Shared(
            settings=settings,
            pacing=Pacing(
                concurrency=settings.concurrency_per_host,
                requests_per_second=settings.requests_per_second,
                sleep=settings.sleep,
            ),
            mask=mask,
            transport=self._transport,
            key=idempotency_key.get,
            sign_in=SignIn(tokens, lambda url, form: fetch_token(self._transport, url, form), settings.open_browser),
        )
        self.servers = Servers(settings, self._shared.pacing, self._shared.sign_in, tokens, self.homes)
        """The MCP servers that are configured or were opened. Nothing is started by asking for them."""

    def bind(self, protocol: ToolProtocol, functions: Mapping[str, Callable[..., object]] | None = None) -> Call:
        """A function of the arguments, by original name, that calls the tool and gives its full response.

        It raises `ToolError` for every failure of the call. `functions` are those of modules that the user named, by
        `module:function` or by the tool's name; a Python binding that is not among them is refused when called.

        Raises:
            InvalidProtocol: the protocol has no binding that can be called.
        """
        declared = protocol.annotations.read_only
        match protocol.binding:
            case HttpBinding() as binding:
                reads = binding.method in _SAFE_METHODS if declared is None else declared
                return HttpCall(protocol, binding, self._shared, reads=reads)
            case PythonBinding() as binding:
                known = functions or {}
                function = known.get(f"{binding.module}:{binding.function}") or known.get(protocol.name)
                if function is None:
                    return _refusing(protocol.name, binding)
                return python_call(protocol.name, function, reads=bool(declared), mask=self._shared.mask)
            case McpBinding() as binding:
                return mcp_call(protocol, binding, self.servers, reads=bool(declared), mask=self._shared.mask)
            case ProgramBinding():  # a source of tools must not bring code along
                problem = "it is a saved program: put its file into the folder of saved tools instead."
                raise InvalidProtocol(protocol.name, problem, path="binding.program")
            case None:
                raise InvalidProtocol(protocol.name, "it has no binding, so it cannot be called.", path="binding")

    def close(self) -> None:
        """Close idle connections and end the MCP servers that were started; a later call opens new ones."""
        self.servers.close()
        self._transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _secrets_of(credentials: Iterable[Credential]) -> Iterator[str]:
    for credential in credentials:
        yield from (credential.value, credential.client_secret)


def _given_to(servers: Iterable[McpServer]) -> Iterator[str]:
    """The variables of MCP servers whose names say that they are secrets: a server may echo them."""
    for server in servers:
        yield from (value for name, value in server.environment.items() if names_secret(name, value))


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
