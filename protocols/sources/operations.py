"""What an operation of an OpenAPI document is called, may do, and gives when all is well."""

from __future__ import annotations

import re
from collections.abc import Mapping

from protocols.jsontypes import Json, JsonObject
from protocols.protocol import Annotations


def success_status(responses: JsonObject) -> str | None:
    """The lowest 2xx among the statuses; `default` where it stands without any; else `None`."""
    successes = sorted(s for s in responses if re.fullmatch(r"2(\d\d|XX)", s, re.IGNORECASE))
    return next(iter(successes), None) or ("default" if "default" in responses else None)


def readable_name(method: str, path: str) -> str:
    """A name for an operation that has none: `GET /users/{id}/posts` → `get_users_posts_by_id`."""
    variables = re.findall(r"\{([^{}]+)\}", path)
    fixed = re.sub(r"\{[^{}]*\}", "", path)
    words = [w for w in re.split(r"[^A-Za-z0-9]+", fixed) if w] or ([] if variables else ["root"])
    by = ["by", *(re.sub(r"[^A-Za-z0-9]+", "_", v).strip("_") for v in variables)] if variables else []
    return "_".join([method, *words, *by])


def annotations_of(method: str) -> Annotations:
    """What HTTP says of a method."""
    match method.upper():
        case "GET" | "HEAD" | "OPTIONS":
            return Annotations(read_only=True)
        case "PUT":
            return Annotations(read_only=False, idempotent=True)
        case "DELETE":
            return Annotations(read_only=False, destructive=True, idempotent=True)
        case _:
            return Annotations(read_only=False)


def hints_of(document: Json) -> Annotations:
    """MCP's hints in an object, as far as they are truth values; without any where it is no object."""
    given = document if isinstance(document, Mapping) else {}

    def hint(name: str) -> bool | None:
        return value if isinstance(value := given.get(name), bool) else None

    return Annotations(
        read_only=hint("readOnlyHint"), destructive=hint("destructiveHint"), idempotent=hint("idempotentHint")
    )


def careful_annotations(method: str, hints: Annotations) -> Annotations:
    """The method's annotations; `hints` are heeded only where they ask for more care.

    A document from elsewhere must not be able to pass a write off as a read, and so past the user's consent.
    """
    usual = annotations_of(method)
    return Annotations(
        read_only=False if hints.read_only is False else usual.read_only,
        destructive=True if hints.destructive else usual.destructive,
        idempotent=False if hints.idempotent is False else usual.idempotent,
    )
