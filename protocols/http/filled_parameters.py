"""Parameters of a tool that the user's settings fill, so that they are no arguments.

Documents often declare a key, or a fixed header, as a plain parameter. If the settings have its
value, the host sends it, and the model never sees it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from protocols.http.credentials import RequestSecret
from protocols.http.oauth import Keyring, LoginRequirements
from protocols.http.request_names import same_place
from protocols.protocol import HttpBinding, ToolProtocol
from protocols.settings import InvokeSettings, headers_of
from protocols.urls import Origin, split_url

_PLACES = ("header", "query", "cookie")


def login_requirements(
    binding: HttpBinding, protocol: ToolProtocol, account: str
) -> LoginRequirements:
    """Return what a tool says about its credentials.

    Raises:
        ValueError: the tool's URL is not a plain http(s) URL.
    """
    names = {name: binding.location(name) for name in (*protocol.parameters, *binding.locations)}
    return LoginRequirements(
        origin=split_url(binding.url)[0],
        offered=binding.credentials,
        schemes=binding.schemes,
        parameters=frozenset(
            same_place(place, binding.wire_name(name))
            for name, place in names.items()
            if place in _PLACES
        ),
        account=account,
    )


def fixed_headers(settings: InvokeSettings, origin: Origin) -> list[RequestSecret]:
    """Return the headers that the user has configured for all requests to an origin."""
    fixed = headers_of(settings.headers, origin)
    return [RequestSecret(place="header", name=name, value=value) for name, value in fixed.items()]


def without_filled(protocol: ToolProtocol, keyring: Keyring, account: str) -> ToolProtocol:
    """Return a tool without the arguments whose places the user's settings fill.

    Its binding keeps them, so it remains the same tool for earlier runs.
    """
    binding = protocol.binding
    settings = keyring.settings
    fills_nothing = not settings.credentials and not settings.headers
    if fills_nothing or not isinstance(binding, HttpBinding):
        return protocol
    try:
        login = login_requirements(binding, protocol, account)
    except ValueError:  # reported when the tool is bound
        return protocol
    sent = [(one.place, one.name) for one in fixed_headers(settings, login.origin)]
    sent += keyring.placements(login)
    places = {same_place(place, name) for place, name in sent}
    filled = {
        name
        for name in protocol.parameters
        if same_place(binding.location(name), binding.wire_name(name)) in places
    }
    return _without(protocol, filled) if filled else protocol


def _without(protocol: ToolProtocol, names: set[str]) -> ToolProtocol:
    """Return a tool without these arguments, also in its links and examples."""
    schema: dict[str, Any] = {**protocol.input_schema}
    schema["properties"] = _without_names(schema.get("properties", {}), names)
    required = [name for name in schema.pop("required", ()) if name not in names]
    if required:
        schema["required"] = required
    return replace(
        protocol,
        input_schema=schema,
        links=tuple(link for link in protocol.links if link.argument not in names),
        examples=tuple(
            replace(one, arguments=_without_names(one.arguments, names))
            for one in protocol.examples
        ),
    )


def _without_names(values: Mapping[str, Any], names: set[str]) -> dict[str, Any]:
    return {name: value for name, value in values.items() if name not in names}
