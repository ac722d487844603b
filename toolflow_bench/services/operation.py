"""Operations of a service, and the parser and checks of their arguments."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from protocols.schema import Json, JsonObject
from protocols.validate import validator

Arguments = Mapping[str, Any]
"""The values of all parameters of an operation, keyed by name.

An optional parameter that was not sent and has no default is None.
"""

Headers = tuple[tuple[bytes, bytes], ...]
"""HTTP headers as in ASGI, with names in lower case."""


class Refusal(Exception):
    """An error response: the HTTP status, the message for `{"detail": …}`, and headers."""

    def __init__(self, status: int, detail: str, *, headers: Headers = ()) -> None:
        super().__init__(status, detail)
        self.status = status
        self.detail = detail
        self.headers = headers


@dataclass(frozen=True, kw_only=True)
class Parameter:
    """One parameter of an operation. The schema of an optional parameter may have a `default`."""

    name: str
    schema: JsonObject
    required: bool = False

    def allows(self, value: Json) -> bool:
        """Return True if the schema allows `value`.

        Unlike in JSON Schema, `2.0` is not an integer.
        """
        try:
            return self._checks.is_valid(value) and (self.schema["type"], type(value)) != (
                "integer",
                float,
            )
        except ValueError:
            return False  # a lone surrogate, which no database can store

    @cached_property
    def _checks(self) -> Any:
        return validator(self.schema)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation over HTTP. `entry` is its description in the service's OpenAPI document.

    `path` has path parameters in braces. The other parameters are sent in the query, or in a JSON
    body if the method has one.

    A writing operation (any method but GET) may accept an idempotency key (`takes_key`): if it is
    sent again with the same `Idempotency-Key` header, it returns its first response and changes
    nothing. Or a read may show what was written (`verified_by` is the id of that operation). If
    neither is the case, a client that lost the response cannot find out whether the write took
    effect.
    """

    path: str
    method: str
    entry: JsonObject
    handler: Callable[[Any, Arguments], JsonObject]
    parameters: tuple[Parameter, ...] = ()
    takes_key: bool = False

    @property
    def id(self) -> str:
        """The operation's id in the OpenAPI document."""
        return str(self.entry["operationId"])

    @property
    def verified_by(self) -> str:
        """Id of the reading operation that shows what was written, or ""."""
        return str(self.entry.get("x-atc-verified-by", ""))

    @property
    def success(self) -> int:
        """HTTP status of a successful response."""
        return 201 if self.method == "POST" else 200

    @property
    def writes(self) -> bool:
        """True if the operation may change the state."""
        return self.method != "GET"

    @property
    def has_body(self) -> bool:
        """True if all arguments that are not in the path are sent in a JSON body."""
        return self.method in ("POST", "PUT", "PATCH")

    def location(self, parameter: Parameter) -> str:
        """Return where a parameter is sent: "path", "query" or "body"."""
        if "{" + parameter.name + "}" in self.path:
            return "path"
        return "body" if self.has_body else "query"


def read_texts(parameters: Iterable[Parameter], given: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Parse arguments from the text of a URL's path and query, check them and add defaults.

    Raises:
        Refusal: 422; an argument is missing, unknown, given twice or not allowed.
    """
    values: dict[str, Json] = {}
    known = {parameter.name: parameter for parameter in parameters}
    for name, text in given:
        if name in values:
            raise Refusal(422, f"argument {name!r} is given twice; give it once.")
        values[name] = _from_text(known[name], text) if name in known else text
    return complete_arguments(known.values(), values)


def complete_arguments(
    parameters: Iterable[Parameter], given: Mapping[str, Json]
) -> dict[str, Any]:
    """Check the given arguments against their schemas and add defaults.

    Raises:
        Refusal: 422; an argument is missing, unknown or not allowed.
    """
    known = {parameter.name: parameter for parameter in parameters}
    for name in given:
        if name not in known:
            allowed = ", ".join(known) or "none"
            raise Refusal(422, f"unknown argument {name!r}; this operation's arguments: {allowed}.")
    arguments: dict[str, Any] = {}
    for name, parameter in known.items():
        if name in given:
            if not parameter.allows(given[name]):
                raise _argument_refusal(parameter, given[name])
            arguments[name] = given[name]
        elif parameter.required:
            raise Refusal(
                422,
                f"argument {name!r} is missing; it must be {_describe_schema(parameter.schema)}.",
            )
        else:
            arguments[name] = parameter.schema.get("default")
    return arguments


def _from_text(parameter: Parameter, text: str) -> Json:
    if parameter.schema["type"] == "string":
        return text
    try:
        value: Json = json.loads(text)
    except (ValueError, RecursionError):
        return text  # which is then refused
    return value


def _argument_refusal(parameter: Parameter, value: Json) -> Refusal:
    shown = repr(value) if len(repr(value)) <= 60 else repr(value)[:57] + "..."
    return Refusal(
        422,
        f"argument {parameter.name!r} must be {_describe_schema(parameter.schema)}, got {shown}.",
    )


def _describe_schema(schema: JsonObject) -> str:
    """Describe the values that a schema allows.

    For example: `one of EWR, JFK, LGA`, `an integer from 0 to 23` or `a string such as '9E'`.
    """
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    examples = " or ".join(repr(example) for example in schema.get("examples", ()))
    if schema["type"] == "string":
        noun = schema.get("title") or "a string"
        if "maxLength" in schema:
            noun += f" of {schema.get('minLength', 0)} to {schema['maxLength']} characters"
        return noun + (f" such as {examples}" if examples else "")
    noun = "an integer" if schema["type"] == "integer" else "a number"
    return f"{noun} from {schema['minimum']} to {schema['maximum']}"
