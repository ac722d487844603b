"""HTTP operations as tools: arguments, names and annotations, for all kinds of sources."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from protocols.effects import SAFE
from protocols.http.path_arguments import PATH_MARK
from protocols.naming import FreeNames
from protocols.protocol import Annotations, HttpBinding, Location, ToolProtocol
from protocols.response import is_json_media
from protocols.response_headers import RESPONSE_HEADERS, declared_headers
from protocols.schema import Json, JsonObject

FORM_TYPES = ("application/x-www-form-urlencoded", "multipart/form-data")
_SEPARATORS = {
    "spaceDelimited": " ",
    "pipeDelimited": "|",
    "ssv": " ",
    "pipes": "|",
    "csv": ",",
    "tsv": "\t",
    "deepObject": "[]",
}


@dataclass
class OperationArguments:
    """The arguments of one operation, with their schemas and locations in the request.

    The fields are those of the tool's input schema (`properties`, `required`) and of `HttpBinding`.
    """

    properties: dict[str, Any] = field(default_factory=dict)
    required: list[str] = field(default_factory=list)
    locations: dict[str, Location] = field(default_factory=dict)
    wire_names: dict[str, str] = field(default_factory=dict)
    body_argument: str | None = None
    media: str = ""

    def add(self, name: str, location: Location, schema: Any, *, required: bool) -> None:
        """Add an argument with its location in the request. An empty name means the whole body.

        If another argument has the name, the location becomes a prefix of it (`query_id`).
        """
        chosen = name or "body"
        if chosen in self.properties:
            chosen = FreeNames(self.properties)(f"{location}_{chosen}")
        self.properties[chosen] = schema
        self.locations[chosen] = location
        if required:
            self.required.append(chosen)
        if not name:
            self.body_argument = chosen
        elif chosen != name:
            self.wire_names[chosen] = name

    def mark_paths(self, variables: Collection[str]) -> None:
        """Mark the arguments for these URL variables, whose values may be paths with slashes.

        The slashes are sent unencoded.
        """
        for name, location in self.locations.items():
            if location == "path" and self.wire_names.get(name, name) in variables:
                self.properties[name] = {**self.properties[name], PATH_MARK: True}

    def protocol(
        self,
        name: str,
        method: str,
        url: str,
        *,
        bound: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> ToolProtocol:
        """Return the description of a tool that has these arguments.

        `bound` has further fields of its `HttpBinding`, `more` has further fields of
        `ToolProtocol`.
        """
        schema = {"type": "object", "properties": self.properties}
        binding = HttpBinding(
            method=method,
            url=url,
            locations=self.locations,
            wire_names=self.wire_names,
            body_argument=self.body_argument,
            media=self.media,
            **(bound or {}),
        )
        return ToolProtocol(
            name=name,
            input_schema=schema | ({"required": self.required} if self.required else {}),
            binding=binding,
            **{"annotations": annotations_of(method), **more},
        )


def readable_name(method: str, path: str) -> str:
    """Return a name for an operation that has none, made of its method and path.

    For example `get_users_posts_by_id` for `GET /users/{id}/posts`.
    """
    variables = re.findall(r"\{([^{}]+)\}", path)
    words = re.findall(r"[A-Za-z0-9]+", re.sub(r"\{[^{}]*\}", "", path)) or (
        [] if variables else ["root"]
    )
    by = (
        ["by", *(re.sub(r"[^A-Za-z0-9]+", "_", variable).strip("_") for variable in variables)]
        if variables
        else []
    )
    return "_".join([method.lower(), *words, *by])


def annotations_of(method: str) -> Annotations:
    """Return the annotations of a tool that follow from its HTTP method.

    For example, a DELETE is destructive. `read_only` stays None for GET, because
    `protocols.effects` decides about it.
    """
    return Annotations(
        read_only=None if method in SAFE else False,
        destructive=True if method == "DELETE" else None,
        idempotent=True if method in ("PUT", "DELETE") else None,
    )


def is_json(media: str) -> bool:
    """Return True if a media type is one of JSON, or a pattern that includes JSON.

    Examples: `application/json`, `application/problem+json`, `*/*`.
    """
    kind = media.split(";")[0].strip().lower()
    return kind in ("*/*", "application/*") or is_json_media(kind)


def operation_names(operations: Mapping[tuple[str, str], JsonObject]) -> Iterator[str]:
    """Yield a name for each operation: its `operationId`, or a name made of method and path.

    `operations` are keyed by (method, path). FastAPI appends path and method to the name of a
    function; this is undone: `list_orders_orders__id__get` → `list_orders`.
    """
    ids = {place: plain_text(one.get("operationId")) for place, one in operations.items()}
    added = {
        (method, path): re.sub(r"\W", "_", path) + f"_{method.lower()}"
        for method, path in operations
    }
    brief = {place: name.removesuffix(added[place]) for place, name in ids.items()}
    count = Counter(brief.values())
    taken = {*ids.values()}
    free = FreeNames()
    for place, name in ids.items():
        short = brief[place]
        yield free(
            (short if count[short] == 1 and short not in taken else name) or readable_name(*place)
        )


def plain_text(value: Json) -> str:
    """Return `value` without surrounding space if it is a text, else ""."""
    return value.strip() if isinstance(value, str) else ""


def list_separator(parameter: JsonObject) -> str | None:
    """Return how the value of a query parameter is sent, as its OpenAPI description says.

    The result is the separator between the items of a list; None means that the name is repeated
    for each item. Two results are not separators: `[]` means that an object is sent as
    `name[field]=…`, and `{}` means that the value is sent as JSON. A name that ends in `[]` is
    repeated unless the description says otherwise.
    """
    if "content" in parameter:
        return "{}"
    says_how = parameter.keys() & {"style", "explode", "collectionFormat"}
    if str(parameter.get("name")).endswith("[]") and not says_how:
        return None
    if "type" in parameter and not parameter.keys() & {"style", "explode"}:
        return _SEPARATORS.get(str(parameter.get("collectionFormat", "csv")))
    style = str(parameter.get("style", "form"))
    explode = str(parameter.get("explode")).lower()
    if style == "form" and explode == "false":
        return ","
    if style in ("spaceDelimited", "pipeDelimited") and explode == "true":
        return None
    return _SEPARATORS.get(style)


def extra_of(operation: JsonObject, success: JsonObject) -> dict[str, Any]:
    """Return the further keys of a tool's document. `success` is the response of a success."""
    extra: dict[str, Any] = {"deprecated": True} if operation.get("deprecated") is True else {}
    if headers := declared_headers(success):
        extra[RESPONSE_HEADERS] = list(headers)
    return extra
