"""A tool as a Python function that calls it without `atc`, or with no more of it than the tool needs."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from protocols.credentials import Credential
from protocols.jsontypes import JsonObject
from protocols.origin import split_url
from protocols.protocol import HttpBinding, PythonBinding
from protocols.schema import resolve, types
from protocols.toolbox import Tool
from sandbox.contract import all_types, contract

_WIDTH = 100
"""Characters of a call in a script, from which it takes a line for each part."""

_BODYLESS = ("GET", "HEAD", "OPTIONS", "DELETE")


class NotCallable(Exception):
    """A tool that no script can call. The text says why."""


@dataclass(frozen=True, slots=True)
class Secret:
    """A credential as a script has it: where it goes in a request, and the environment variable that holds it."""

    place: str
    name: str
    prefix: str
    variable: str
    hosts: tuple[str, ...] = ()


def secrets_of(configured: Mapping[str, Any], names: Sequence[str]) -> list[Secret]:
    """The credentials that a binding names: those that the user has configured, else the first of them."""
    known = [name for name in names if name in configured] or list(names[:1])
    return [_secret(name, configured.get(name, {})) for name in known]


def _secret(name: str, entry: Mapping[str, Any]) -> Secret:
    value = str(entry.get("value", ""))
    variable = value.removeprefix("env:") if value.startswith("env:") else re.sub(r"\W", "_", name).upper()
    return Secret(
        place=entry.get("place", "header"),
        name=entry.get("name", "Authorization"),
        prefix=entry.get("prefix", "Bearer "),
        variable=variable,
        hosts=tuple(entry.get("hosts", ())),
    )


def servers(tools: Sequence[Tool]) -> dict[str, str]:
    """Where the tools' services are: address → the name that a script has for it."""
    urls = [tool.protocol.binding.url for tool in tools if isinstance(tool.protocol.binding, HttpBinding)]
    found = dict.fromkeys("/".join(url.split("/", 3)[:3]) for url in urls)
    return {address: "_SERVER" if number == 1 else f"_SERVER_{number}" for number, address in enumerate(found, start=1)}


def function(tool: Tool, configured: Mapping[str, Any], named: Mapping[str, str]) -> str:
    """The tool as the text of a function. `configured` are credentials by name, `named` the `servers`.

    Raises:
        NotCallable: it has no binding, or one that only `atc` itself can serve.
    """
    match tool.protocol.binding:
        case HttpBinding() as binding:
            return _http(tool, binding, configured, named)
        case PythonBinding():
            return _loaded(tool)
        case None:
            raise NotCallable(f"the tool {tool.alias!r} has no binding, so a script cannot call it")
        case _:
            raise NotCallable(f"the tool {tool.alias!r} belongs to an MCP server, which a script cannot call")


def _loaded(tool: Tool) -> str:
    return "\n".join(
        [
            f"def {tool.alias}(**arguments):",
            f"    tool = _tools.find({tool.protocol.name!r})",
            "    return tool.unwrap(tool.call(tool.original(arguments)))",
        ]
    )


def _http(tool: Tool, binding: HttpBinding, configured: Mapping[str, Any], named: Mapping[str, str]) -> str:
    places = _Places(tool, binding)
    address = "/".join(binding.url.split("/", 3)[:3])
    parts = [repr(binding.method), f"{named[address]} + {binding.url.removeprefix(address)!r}"]
    parts += [f"{place}={{{', '.join(pairs)}}}" for place, pairs in places.sorted().items()]
    if binding.body_argument is not None:
        parts += [f"whole={_alias_of(tool, binding.body_argument)}"]
        media = _schema(tool, binding.body_argument).get("contentMediaType")
        parts += [f"media={media!r}"] if media else []
    if places.nullable:
        parts.append(f"nullable={tuple(places.nullable)!r}")
    if secrets := secrets_of(configured, binding.credentials):
        _check_hosts(tool, binding, secrets)
        parts.append(f"credentials={[(s.place, s.name, s.prefix, s.variable) for s in secrets]!r}")
    if tool.wrapper is not None:
        parts.append(f"field={tool.wrapper!r}")
    output = tool.protocol.output_schema
    if output is not None and types(resolve(output, output)) == ("string",):
        parts.append("text=True")
    star = ["*"] if tool.arguments else []
    signature = ", ".join([*star, *places.parameters])
    call = f"_call({', '.join(parts)})"
    if len(call) > _WIDTH:
        call = "_call(\n" + "".join(f"        {part},\n" for part in parts) + "    )"
    return f"def {tool.alias}({signature}):\n    return {call}"


def _check_hosts(tool: Tool, binding: HttpBinding, secrets: Sequence[Secret]) -> None:
    origin, _ = split_url(binding.url)
    for secret in secrets:
        if secret.hosts and not Credential(value="", hosts=secret.hosts).may_go_to(origin):
            raise NotCallable(
                f"the tool {tool.alias!r} would send a credential to {origin.netloc}, for which it is not"
            )


class _Places:
    """Where each argument of a tool goes. `nullable` are body fields for which None is a value of its own."""

    def __init__(self, tool: Tool, binding: HttpBinding) -> None:
        self._tool, self._binding = tool, binding
        self.nullable: list[str] = []
        self.parameters = [
            *(alias for alias in tool.arguments if alias in tool.required),
            *(f"{alias}=..." for alias in tool.arguments if alias not in tool.required),
            *(["**more"] if contract(tool.protocol).open else []),
        ]
        self._usual = "query" if binding.method in _BODYLESS or binding.body_argument else "body"

    def sorted(self) -> dict[str, list[str]]:
        """Place → `"name in the request": expression`. A tool that has body fields sends a body in any case."""
        found: dict[str, list[str]] = {}
        for alias, name in self._tool.arguments.items():
            if name == self._binding.body_argument:
                continue
            place, wire = self._place(name)
            if place == "path" and f"{{{wire}}}" not in self._binding.url:
                raise NotCallable(f"the tool {self._tool.alias!r} has no place for {name!r} in its address")
            found.setdefault(place, []).append(f"{wire!r}: {self._expression(alias, name)}")
            kinds = all_types(_schema(self._tool, name), self._tool.protocol.input_schema)
            if place == "body" and (not kinds or "null" in kinds):
                self.nullable.append(wire)
        if contract(self._tool.protocol).open:
            found.setdefault(self._usual, []).append("**more")
        if key := self._binding.idempotency_header:
            found.setdefault("header", []).append(f"{key!r}: _key()")
        return found

    def _place(self, name: str) -> tuple[str, str]:
        binding = self._binding
        wire = binding.wire_names.get(name, name)
        in_url = f"{{{wire}}}" in binding.url
        place = binding.locations.get(name, "path" if in_url else self._usual)
        return place, name if place == "path" and not in_url and f"{{{name}}}" in binding.url else wire

    def _expression(self, alias: str, name: str) -> str:
        schema = _schema(self._tool, name)
        kinds = all_types(schema, self._tool.protocol.input_schema)
        if "x-atc-join" in schema:
            return f"_join({alias}, {str(schema['x-atc-join'])!r})"
        return f"_int({alias})" if "integer" in kinds and "number" not in kinds else alias


def _schema(tool: Tool, name: str) -> JsonObject:
    found: JsonObject = resolve(tool.protocol.parameters.get(name, {}), tool.protocol.input_schema)
    return found


def _alias_of(tool: Tool, name: str) -> str:
    return next(alias for alias, original in tool.arguments.items() if original == name)
