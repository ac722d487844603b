"""`Invoker`, which turns descriptions of tools into functions that call them.

Calls follow the user's settings: credentials, allowed hosts and limits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import NoReturn, Self

from protocols.documentation import docs_page
from protocols.effects import SAFE
from protocols.errors import InvalidProtocol, ToolError
from protocols.http.call import HttpCall
from protocols.http.document_login import DocumentLogin
from protocols.http.filled_parameters import without_filled
from protocols.http.oauth import Keyring
from protocols.mcp import Servers
from protocols.pace import Paces
from protocols.protocol import HttpBinding, McpBinding, ProgramBinding, PythonBinding, ToolProtocol
from protocols.python_call import python_call
from protocols.response import to_json
from protocols.schema import JsonObject
from protocols.settings import Credential, InvokeSettings
from protocols.tool import Call, Tool
from protocols.urls import Origin


class Invoker:
    """Makes functions that call tools, from the tools' descriptions (`ToolProtocol`).

    All of these functions share the connections and limits of the invoker. Thread-safe.
    """

    def __init__(self, settings: InvokeSettings | None = None) -> None:
        self.settings = settings or InvokeSettings()
        self._keyring = Keyring(self.settings)
        self.homes = self._keyring.homes
        self.started: set[str] = set()
        """Origins of services that this process has started, whose ports differ from run to run."""
        self._paces = Paces(sleep=self.settings.sleep)
        self.fills = True
        """True if tools lack the arguments that the settings fill; False to describe them whole."""
        self.servers = Servers(self._keyring, self._paces)
        """The MCP servers that are configured or were opened. Reading this starts no server."""

    def bind(
        self,
        protocol: ToolProtocol,
        functions: Mapping[str, Callable[..., object]] | None = None,
        *,
        account: str = "",
        source: str = "",
    ) -> Call:
        """Return the function that calls a tool.

        The function takes arguments keyed by original name and returns the full response. It raises
        `ToolError` for every failed call. `functions` are the functions of the modules that the
        user named, keyed by `module:function` or by the tool's name. All calls fail if a Python
        tool is not among these functions, or if a tool has no binding, that is, if its description
        does not say how it is called. `account` is the name that the user gave to the tool's
        source; it chooses among several accounts of one API. `source` is the text of the source,
        for messages.

        Raises:
            InvalidProtocol: the tool is a saved program, or it calls a service on this machine or
                its networks and the setting `near_hosts` forbids that.
        """
        declared = protocol.annotations.read_only
        match protocol.binding:
            case HttpBinding() as binding:
                reads = binding.method in SAFE if declared is None else declared
                return HttpCall(
                    protocol,
                    binding,
                    self._keyring,
                    self._paces,
                    reads=reads,
                    account=account,
                    source=source,
                )
            case PythonBinding() as binding:
                known = functions or {}
                function = known.get(f"{binding.module}:{binding.function}") or known.get(
                    protocol.name
                )
                if function is None:
                    named = f"{binding.function!r} of the Python module {binding.module!r}"
                    advice = "name the module itself as a tool source if you trust it."
                    return partial(
                        _raise_not_run,
                        f"{protocol.name} runs {named}, which you did not name; {advice}",
                    )
                return python_call(
                    protocol.name,
                    function,
                    reads=bool(declared),
                    mask=self._keyring.mask,
                    most_bytes=self.settings.max_file_bytes,
                )
            case McpBinding() as binding:
                return self.servers.bind(protocol, binding, reads=bool(declared))
            case ProgramBinding():  # a tool source must not contain code
                problem = (
                    "it is a saved program: put its file into the folder of saved tools instead."
                )
                raise InvalidProtocol(protocol.name, problem, path="binding.program")
            case None:
                shown = docs_page("reference/protocols#bindings")
                problem = f"the tool {protocol.name!r} has no binding, so it cannot be called"
                return partial(_raise_not_run, f"{problem}; {shown} shows one.")

    def document_login(self, origin: Origin, account: str) -> DocumentLogin:
        """Return the credentials with which a document at `origin` is fetched."""
        return DocumentLogin(self._keyring, origin, account)

    def hide_filled(self, protocol: ToolProtocol, account: str) -> ToolProtocol:
        """Return a tool without the arguments that the settings fill, such as a key in a header.

        `account` is that of `bind`.
        """
        return without_filled(protocol, self._keyring, account) if self.fills else protocol

    def rebind(self, tool: Tool) -> Tool:
        """Return an HTTP tool that calls with these settings. Other tools are returned unchanged.

        Services on this machine and its networks that the tool could reach stay within its reach.
        """
        call = tool.call
        if not isinstance(call, HttpCall) or tool.fresh is not None:
            return tool
        self.homes |= call.homes
        protocol = self.hide_filled(tool.protocol, call.login.account)
        bound = self.bind(protocol, account=call.login.account, source=call.login.source)
        return replace(tool, protocol=protocol, call=bound)

    def close(self) -> None:
        """Close idle connections and end the MCP servers. A later call opens new ones."""
        self.servers.close()
        self._keyring.transport.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _raise_not_run(problem: str, _arguments: JsonObject) -> NoReturn:
    raise ToolError(None, problem, outcome="not_run")


__all__ = ["Credential", "InvokeSettings", "Invoker", "to_json"]
