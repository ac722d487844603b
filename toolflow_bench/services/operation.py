"""One operation of a service: what it takes, what it gives, and reading its arguments from a request by exact type."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from protocols.jsontypes import Json, JsonObject

Arguments = Mapping[str, Any]
"""Every parameter of an operation by name, typed; `None` where an optional one without default was not given."""

Headers = tuple[tuple[bytes, bytes], ...]
"""HTTP headers as ASGI has them, names in lower case."""


class Refusal(Exception):
    """An answer other than success: HTTP `status`, the sentence that becomes `{"detail": …}`, and headers."""

    def __init__(self, status: int, detail: str, *, headers: Headers = ()) -> None:
        super().__init__(status, detail)
        self.status, self.detail, self.headers = status, detail, headers


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One argument. An optional one may have a `default` in its schema."""

    name: str
    schema: JsonObject
    description: str
    required: bool = True

    @property
    def default(self) -> Json:
        """The value that stands in for an absent argument; `None` where there is none."""
        return self.schema.get("default")


@dataclass(frozen=True, slots=True, kw_only=True)
class Operation:
    """One operation over HTTP.

    `path` names path parameters in braces; the others travel in the query, or in a JSON body where the method has one.
    `tag` is the group that it belongs to, `returns` names a schema of the service. `missing` says when the answer is
    404; empty where that cannot be; `conflict` likewise for 409. `links` are OpenAPI's: which operations take which
    values of the response.

    A writing operation (any method but GET) may take a key (`takes_key`: sent again with the same `Idempotency-Key`
    header, it gives its first answer and changes nothing), or be verified by a read (`verified_by` names the operation
    that shows what was written), or neither: then nobody can know whether one whose answer was lost took effect.
    """

    id: str
    path: str
    description: str
    returns: str
    handler: Callable[[Any, Arguments], JsonObject]
    method: str = "GET"
    tag: str = ""
    parameters: tuple[Parameter, ...] = ()
    missing: str = ""
    conflict: str = ""
    takes_key: bool = False
    verified_by: str = ""
    links: JsonObject = field(default_factory=dict)

    @property
    def success(self) -> int:
        """HTTP status of success."""
        return 201 if self.method == "POST" else 200

    @property
    def writes(self) -> bool:
        """Whether it may change the state."""
        return self.method != "GET"

    @property
    def has_body(self) -> bool:
        """Whether its arguments travel in a JSON body, those of the path apart."""
        return self.method in ("POST", "PUT", "PATCH")

    def location(self, parameter: Parameter) -> str:
        """Where `parameter` travels: path, query or body."""
        if "{" + parameter.name + "}" in self.path:
            return "path"
        return "body" if self.has_body else "query"


_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_LARGEST = 2**63 - 1


def read_texts(parameters: Iterable[Parameter], given: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Arguments from the text of path and query, converted, checked and completed by defaults.

    Raises:
        Refusal: 422; an argument is missing, unknown, given twice or not allowed.
    """
    values: dict[str, Json] = {}
    known = {parameter.name: parameter for parameter in parameters}
    for name, text in given:
        if name in values:
            raise Refusal(422, f"argument {name!r} is given twice; give it once.")
        values[name] = _from_text(known[name], text) if name in known else text
    return check(known.values(), values)


def check(parameters: Iterable[Parameter], given: Mapping[str, Json]) -> dict[str, Any]:
    """`given` completed by defaults, each value checked against its schema.

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
            _check_value(parameter, given[name])
            arguments[name] = given[name]
        elif parameter.required:
            raise Refusal(422, f"argument {name!r} is missing; it must be {_wanted(parameter.schema)}.")
        else:
            arguments[name] = parameter.default
    return arguments


def _from_text(parameter: Parameter, text: str) -> Json:
    match parameter.schema["type"]:
        case "integer" if re.fullmatch(r"-?[0-9]{1,9}", text):
            return int(text)
        case "number" if re.fullmatch(r"-?[0-9]{1,9}(\.[0-9]{1,9})?", text):
            return float(text)
        case "boolean" if text in ("true", "false"):
            return text == "true"
        case "string":
            return text
    raise _refused(parameter, text)


def _check_value(parameter: Parameter, value: Json) -> None:
    schema = parameter.schema
    match schema["type"]:
        case "string":
            fits = isinstance(value, str) and _string_fits(schema, value)
        case "boolean":
            fits = isinstance(value, bool)
        case "integer":
            fits = isinstance(value, int) and not isinstance(value, bool) and _number_fits(schema, value)
        case _:
            fits = isinstance(value, int | float) and not isinstance(value, bool) and _number_fits(schema, value)
    if not fits:
        raise _refused(parameter, value)


def _string_fits(schema: JsonObject, value: str) -> bool:
    if "enum" in schema and value not in schema["enum"]:
        return False
    if not value.isascii() and _HALF_CHARACTER.search(value):
        return False  # JSON can say it (`"\\ud800"`), no database can keep it
    if not schema.get("minLength", 0) <= len(value) <= schema.get("maxLength", math.inf):
        return False
    if "pattern" in schema and not re.fullmatch(schema["pattern"], value):
        return False
    return schema.get("format") != "date" or _is_date(value)


def _number_fits(schema: JsonObject, value: float) -> bool:
    # Without limits of its own a number is one that a database can keep: JSON knows no largest, and 1e999 is infinite.
    return bool(schema.get("minimum", -_LARGEST) <= value <= schema.get("maximum", _LARGEST))


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _refused(parameter: Parameter, value: Json) -> Refusal:
    shown = repr(value) if len(repr(value)) <= 60 else repr(value)[:57] + "..."
    return Refusal(422, f"argument {parameter.name!r} must be {_wanted(parameter.schema)}, got {shown}.")


def _wanted(schema: JsonObject) -> str:
    """What a schema allows, in words: `one of EWR, JFK, LGA`; `an integer from 0 to 23`; `a string such as '9E'`."""
    if "enum" in schema:
        return "one of " + ", ".join(map(str, schema["enum"]))
    examples = " or ".join(repr(example) for example in schema.get("examples", ()))
    if schema["type"] == "string":
        noun = schema.get("title") or "a string"
        if "maxLength" in schema:
            noun += f" of {schema.get('minLength', 0)} to {schema['maxLength']} characters"
        return noun + (f" such as {examples}" if examples else "")
    if schema["type"] == "boolean":
        return "true or false"
    noun = "an integer" if schema["type"] == "integer" else "a number"
    if "minimum" in schema and "maximum" in schema:
        return f"{noun} from {schema['minimum']} to {schema['maximum']}"
    return f"{noun} of at least {schema['minimum']}" if "minimum" in schema else noun
