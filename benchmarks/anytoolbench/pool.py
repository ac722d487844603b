"""The APIs for which queries are generated, grouped by category."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace

from atc.pipeline.retrieve.document import ToolDocument
from atc.pipeline.retrieve.hierarchy import Hierarchy
from protocols.errors import AtcError, ToolError
from protocols.schema import Json, JsonObject
from protocols.tool import Tool
from protocols.toolbox import Toolbox
from sandbox.arguments import BadArguments, contract


class TooFewApis(AtcError):
    """The APIs belong to fewer than two categories, but a query needs several."""


class CallFailed(Exception):
    """A call returned no response.

    `outage` is True if the service failed, and False if the call itself was wrong.
    """

    def __init__(self, text: str, *, outage: bool = False) -> None:
        super().__init__(text)
        self.outage = outage


@dataclass(frozen=True)
class Api:
    """One API: the document that describes it, and the tool that calls it.

    In this benchmark an API is identified by the name in its document.
    """

    document: ToolDocument
    tool: Tool

    def call(self, arguments: JsonObject) -> Json:
        """Call the API and return its response. The arguments are keyed by their original names.

        Raises:
            CallFailed: the arguments are invalid, or the call failed.
        """
        aliases = {name: alias for alias, name in self.tool.arguments.items()}
        try:
            given = {aliases.get(name, name): value for name, value in arguments.items()}
            return self.tool.call(
                self.tool.original_arguments(contract(self.tool.protocol).accept(given))
            )
        except BadArguments as problem:
            raise CallFailed(str(problem)) from None
        except ToolError as error:
            outage = error.status is None or error.status == 429 or error.status >= 500
            raise CallFailed(str(error), outage=outage) from error


class ApiPool(dict[str, Api]):
    """APIs, keyed by the names of their documents.

    Raises:
        TooFewApis: the APIs belong to fewer than two categories.
    """

    def __init__(self, apis: Iterable[Api]) -> None:
        super().__init__((api.document.name, api) for api in apis)
        self.hierarchy = Hierarchy.of({name: api.document for name, api in self.items()})
        places = self.hierarchy.places()
        self._categories = {
            name: place.category for place in places for name in self.hierarchy.apis([place])
        }
        if len(self.hierarchy.tools) < 2:
            raise TooFewApis(
                f"a query takes APIs of 2 categories at least, and the {len(self)} that can be "
                "called without writing "
                f"are of {len(self.hierarchy.tools)}; give more sources of tools."
            )

    def categories(self, names: Iterable[str]) -> list[str]:
        return list(dict.fromkeys(self._categories[name] for name in names))


def pool_of(toolbox: Toolbox) -> ApiPool:
    """Return an `ApiPool` of all tools in a toolbox that only read.

    A tool without category and collection belongs to a category named after its source.
    """
    apis = []
    for tool in toolbox.values():
        document = ToolDocument.of(tool)
        if not tool.protocol.writes:
            placed = document.category or document.collection
            apis.append(Api(document if placed else replace(document, category=tool.source), tool))
    return ApiPool(apis)
