"""Calling tools: `Invoker` binds a protocol to a plain function, under the user's rules about hosts and secrets."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import NoReturn, Self

from protocols.credentials import Credential
from protocols.errors import InvalidProtocol, ToolError
from protocols.http import HttpCall, Shared
from protocols.jsontypes import JsonObject
from protocols.mcp.servers import Servers
from protocols.plain import python_call, to_json
from protocols.protocol import HttpBinding, McpBinding, ProgramBinding, PythonBinding, ToolProtocol
from protocols.settings import InvokeSettings
from protocols.toolbox import Call, idempotency_key

_SAFE_METHODS = ("GET", "HEAD", "OPTIONS")


class Invoker:
    """Binds protocols to callables. They share its connections and its limits per host, and are safe for threads."""

    def __init__(self, settings: InvokeSettings | None = None) -> None:
        self._shared = Shared(settings or InvokeSettings())
        self.settings, self.homes = self._shared.settings, self._shared.homes
        self.servers = Servers(self._shared)
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
                    return partial(_refuse, protocol.name, binding)
                return python_call(protocol.name, function, reads=bool(declared), mask=self._shared.mask)
            case McpBinding() as binding:
                return self.servers.bind(protocol, binding, reads=bool(declared))
            case ProgramBinding():  # a source of tools must not bring code along
                problem = "it is a saved program: put its file into the folder of saved tools instead."
                raise InvalidProtocol(protocol.name, problem, path="binding.program")
            case None:
                raise InvalidProtocol(protocol.name, "it has no binding, so it cannot be called.", path="binding")

    def close(self) -> None:
        """Close idle connections and end the MCP servers that were started; a later call opens new ones."""
        self.servers.close()
        self._shared.transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _refuse(tool: str, binding: PythonBinding, _arguments: JsonObject) -> NoReturn:
    raise ToolError(
        None,
        f"{tool} runs {binding.function!r} of the Python module {binding.module!r}, which you did not name; "
        "name the module itself as a tool source if you trust it.",
        outcome="not_run",
    )


__all__ = ["Credential", "InvokeSettings", "Invoker", "idempotency_key", "to_json"]
