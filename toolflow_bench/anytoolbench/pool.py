"""The APIs that queries are made of: what is told of each, and how it is called."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property

from atc.retrieve.document import ToolDocument
from atc.retrieve.hierarchy.tree import Hierarchy, Place
from protocols.alias import argument_aliases
from protocols.errors import AtcError, ToolError
from protocols.jsontypes import Json, JsonObject
from protocols.toolbox import Tool, Toolbox
from sandbox.contract import BadArguments, contract

_LONGEST_SCHEMA = 4000
"""Characters of a schema of arguments that a reply is held to; one that is longer is checked when the call comes."""
_ANY_ARGUMENTS: JsonObject = {"type": "object"}


class TooFewApis(AtcError):
    """The APIs cannot make a query that takes several categories. Says how many there are of what."""


class CallFailed(Exception):
    """A call that gave no response; its text says why. `outage`: the service failed, and not the call."""

    def __init__(self, text: str, *, outage: bool = False) -> None:
        super().__init__(text)
        self.outage = outage


@dataclass(frozen=True)
class Api:
    """One API: its document, by whose name it is known here, and the tool that is called."""

    document: ToolDocument
    tool: Tool

    @property
    def schema(self) -> JsonObject:
        """What a model's arguments are held to."""
        given = self.tool.protocol.input_schema
        text = json.dumps(given)
        return given if len(text) <= _LONGEST_SCHEMA and '"$ref"' not in text else _ANY_ARGUMENTS

    def call(self, arguments: JsonObject) -> Json:
        """The response, arguments by their original names.

        Raises:
            CallFailed: the arguments break the API's protocol, or the call failed.
        """
        aliases = {name: alias for alias, name in argument_aliases(list(self.tool.protocol.parameters)).items()}
        try:
            given = {aliases.get(name, name): value for name, value in arguments.items()}
            accepted = contract(self.tool.protocol).accept(given)
            return self.tool.call(self.tool.original(accepted))
        except BadArguments as problem:
            raise CallFailed(str(problem)) from None
        except ToolError as error:
            outage = error.status is None or error.status == 429 or error.status >= 500
            raise CallFailed(str(error), outage=outage) from error


class ApiPool(Mapping[str, Api]):
    """APIs by the names of their documents. `notes` say what was left out, a sentence each.

    Raises:
        TooFewApis: they are of fewer than two categories.
    """

    def __init__(self, apis: Iterable[Api], *, notes: Iterable[str] = ()) -> None:
        self._apis = {api.document.name: api for api in apis}
        self.notes = tuple(notes)
        self.hierarchy = Hierarchy.of({name: api.document for name, api in self._apis.items()})
        self._categories = {name: place.category for place in self.hierarchy.places() for name in self._of(place)}
        if len(self.hierarchy.tools) < 2:
            raise TooFewApis(
                f"a query takes APIs of 2 categories at least, and the {len(self)} that can be called without writing "
                f"are of {len(self.hierarchy.tools)}; give more sources of tools. {' '.join(self.notes)}".strip()
            )

    def __getitem__(self, name: str) -> Api:
        return self._apis[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._apis)

    def __len__(self) -> int:
        return len(self._apis)

    def categories(self, names: Iterable[str]) -> list[str]:
        """The categories of APIs, each once."""
        return list(dict.fromkeys(self._categories[name] for name in names))

    @cached_property
    def digest(self) -> str:
        """Changes when what is told of an API or what it takes does."""
        said = [[name, api.document.digest, api.tool.protocol.input_schema] for name, api in self._apis.items()]
        return hashlib.sha256(json.dumps(said, sort_keys=True, default=str).encode()).hexdigest()[:16]

    def _of(self, place: Place) -> tuple[str, ...]:
        return self.hierarchy.apis([place])


def pool_of_toolbox(toolbox: Toolbox) -> ApiPool:
    """The tools of a toolbox that only read: they are called many times, and again when a solution is verified.

    A tool with neither category nor collection stands in a category that is called like its source.

    Raises:
        TooFewApis: as `ApiPool`.
    """
    reading = [tool for tool in toolbox.values() if not tool.protocol.writes]
    left = len(toolbox) - len(reading)
    notes = [f"Left out, since they may write: {left:,} of {len(toolbox):,} tools."] if left else []
    return ApiPool((Api(_placed(tool), tool) for tool in reading), notes=notes)


def _placed(tool: Tool) -> ToolDocument:
    document = ToolDocument.of(tool)
    return document if document.category or document.collection else replace(document, category=tool.source)
