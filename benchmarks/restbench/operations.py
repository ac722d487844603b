"""The operations of an API document that the mock answers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from protocols.protocol import HttpBinding
from protocols.schema import Json, resolve
from protocols.tool import Tool

_IRREGULAR = {"movies": "movie", "series": "series", "people": "person"}
DEEPEST = 5
"""Maximum number of levels of nested objects in a response."""


def singular(word: str) -> str:
    """Return the singular of a plural word: `companies` → `company`, `tracks` → `track`."""
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("ies"):
        return word[:-3] + "y"
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word


@dataclass(frozen=True, slots=True)
class MockOperation:
    """An operation of the API document. `path` lacks the server's own path, such as `/3`."""

    tool: Tool
    method: str
    path: str
    response: Mapping[str, Any]

    @classmethod
    def of(cls, tool: Tool) -> MockOperation:
        binding = tool.protocol.binding
        assert isinstance(binding, HttpBinding)
        path = re.sub(r"^https?://[^/]+(/v?\d+)?", "", binding.url.split("?")[0])
        response = tool.protocol.output_schema or {}
        return cls(tool, binding.method, path, _inline_references(response, response, DEEPEST + 1))

    @property
    def name(self) -> str:
        """Method and path as in gold paths, such as `GET /search/person`."""
        return f"{self.method} {self.path}"

    @property
    def segments(self) -> list[str]:
        """The segments of the operation's path. A parameter is in braces."""
        return [part for part in self.path.split("/") if part]

    @property
    def words(self) -> list[str]:
        """The words in the path, in the singular and from last to first.

        Parameters are left out.
        """
        fixed = [part for part in self.segments if not part.startswith("{")]
        return [
            singular(word) for part in reversed(fixed) for word in reversed(re.split(r"[_-]", part))
        ]


def _inline_references(part: Json, root: Mapping[str, Any], depth: int) -> Any:
    """Replace each `$ref` in a schema with the schema to which it refers, up to a depth."""
    if isinstance(part, list):
        return [_inline_references(one, root, depth) for one in part]
    if not isinstance(part, Mapping):
        return part
    if "$ref" in part:
        return _inline_references(resolve(part, root), root, depth - 1) if depth else {}
    if "" in part:  # a list to which TMDB's document gives no name
        part = {
            **{key: value for key, value in part.items() if key},
            "results": {"items": part[""]},
        }
    return {
        key: _inline_references(value, root, depth) for key, value in part.items() if key != "$defs"
    }
